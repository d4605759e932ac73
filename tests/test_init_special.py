"""Initialisers of special weights, and by name."""

import numpy
import pytest

from forerun import gluon, init, np
from gluon_tools import close


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_bilinear_weights_are_tents(n: int) -> None:
    w = np.zeros((2, 3, n, n))
    init.create("bilinear")(w)
    f = -(-n // 2)
    c = (2 * f - 1 - f % 2) / (2 * f)
    tent = [1 - abs(i / f - c) for i in range(n)]
    close(w[1, 2], numpy.outer(tent, tent))
    close(w[0, 0], w[1, 2].asnumpy())


def test_forget_gates_start_open() -> None:
    layer = gluon.rnn.LSTM(2, input_size=3, i2h_bias_initializer=init.LSTMBias(1.5))
    layer.initialize()
    assert layer.l0_i2h_bias.data().tolist() == [0, 0, 1.5, 1.5, 0, 0, 0, 0]
    with pytest.raises(ValueError, match=r"LSTMBias: array must be a vector of four equal parts, got shape \(6,\)"):
        init.LSTMBias()(np.zeros(6))


def test_parameters_start_by_their_names() -> None:
    layer = gluon.nn.Dense(2, in_units=2, bias_initializer=None)
    layer.initialize(init.Mixed(["bias", ".*"], [init.Constant(3), "ones"]))
    assert layer.bias.data().tolist() == [3, 3]
    assert layer.weight.data().tolist() == [[1, 1], [1, 1]]
    with pytest.raises(ValueError, match="Mixed: a pattern must match each name, got 'weight'"):
        init.Mixed(["bias"], ["ones"])(np.zeros(1))
    with pytest.raises(ValueError, match="Mixed: patterns and initializers must be as many, got 1 and 2"):
        init.Mixed(["bias"], ["ones", "zeros"])
