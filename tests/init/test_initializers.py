"""Initialisers of special weights, and by name."""

from pathlib import Path
from typing import Any

import numpy
import pytest

from forerun import gluon, init, np, npx
from tests.support.comparison.tolerances import assert_close


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_bilinear_weights_are_tents(n: int) -> None:
    w = np.zeros((2, 3, n, n))
    init.create("bilinear")(w)
    f = -(-n // 2)
    c = (2 * f - 1 - f % 2) / (2 * f)
    tent = [1 - abs(i / f - c) for i in range(n)]
    assert_close(w[1, 2], numpy.outer(tent, tent))
    assert_close(w[0, 0], w[1, 2].asnumpy())


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


def test_parameters_start_from_values_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = {"arg:weight": np.array([[1.0, 2.0]]), "aux:other": np.ones(3)}
    npx.save(str(tmp_path / "x.params"), values)
    for param in (values, str(tmp_path / "x.params")):
        layer = gluon.nn.Dense(1, in_units=2, bias_initializer=init.Load(param, "ones", verbose=True))
        layer.initialize(init.Load(param))
        assert layer.weight.data().tolist() == [[1.0, 2.0]]
        assert layer.bias.data().tolist() == [1.0]
    assert capsys.readouterr().out == "bias: by default_init\n" * 2
    with pytest.raises(ValueError, match=r"Load: weight must have shape \(3,\), got \(1, 2\)"):
        init.Load(values)(np.zeros(3), "weight")
    with pytest.raises(ValueError, match="Load: there must be a value or a default_init for bias, got none"):
        init.Load(values)(np.zeros(3), "bias")


def test_custom_initializers_have_names() -> None:
    class Halves(init.Initializer):
        def _init_weight(self, name: str, data: Any) -> None:
            data[...] = 0.5

    try:
        assert init.register(Halves) is Halves
        assert init.alias("half")(Halves) is Halves
        for name in ("halves", "half"):
            layer = gluon.nn.Dense(1, in_units=2, weight_initializer=name)
            layer.initialize()
            assert layer.weight.data().tolist() == [[0.5, 0.5]]
    finally:
        for name in ("halves", "half"):
            del init.base._by_name[name]
    described = init.InitDesc("weight", global_init=init.One())
    assert (described, described.attrs, type(described.global_init)) == ("weight", {}, init.One)
