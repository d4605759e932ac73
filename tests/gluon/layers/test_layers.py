"""Layers against NumPy's formulas, and their gradients against differences."""

from collections.abc import Callable

import numpy
import pytest

from forerun import autograd, np
from forerun.gluon import nn
from tests.support.comparison.gradients import check_gradients
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import parameter_values, with_data


@pytest.mark.parametrize(
    ("make", "shape", "inputs"),
    [
        (lambda: nn.Dense(3), (2, 4), 4),
        (lambda: nn.Dense(3, activation="tanh"), (2, 2, 5), 10),
        (lambda: nn.Dense(3, flatten=False), (2, 5, 4), 4),
        (lambda: nn.Dense(3, use_bias=False), (6,), 1),
    ],
    ids=["matrix", "flatten", "last axis", "vector"],
)
def test_dense(make: Callable[[], nn.Dense], shape: tuple[int, ...], inputs: int) -> None:
    layer, x = with_data(make(), *shape)
    v, rows = parameter_values(layer), numpy.asarray(x)
    rows = rows if not layer._flatten else rows.reshape(shape[0], -1)
    expected = rows @ v["weight"].T + v.get("bias", 0)
    assert v["weight"].shape == (3, inputs)
    assert_close(layer(x), numpy.tanh(expected) if layer.act is not None else expected)
    check_gradients(lambda: layer(x), x, *[p.data() for p in layer.collect_params().values()])


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 2, 2)], ids=str)
def test_batch_norm_while_training(shape: tuple[int, ...]) -> None:
    layer, x = with_data(nn.BatchNorm(), *shape)
    rows, wide = numpy.asarray(x), (-1, *(1,) * (len(shape) - 2))
    axes = tuple(i for i in range(len(shape)) if i != 1)
    mean, var = rows.mean(axes, keepdims=True), rows.var(axes, keepdims=True)
    v = parameter_values(layer)
    expected = (rows - mean) / numpy.sqrt(var + 1e-5) * v["gamma"].reshape(wide) + v["beta"].reshape(wide)
    with autograd.train_mode():
        assert_close(layer(x), expected)
    assert_close(layer.running_mean.data(), 0.1 * mean.ravel())
    assert_close(layer.running_var.data(), 0.9 + 0.1 * var.ravel())
    check_gradients(lambda: layer(x), x, layer.gamma.data(), layer.beta.data())


def test_batch_norm_otherwise_uses_the_running_statistics() -> None:
    layer, x = with_data(nn.BatchNorm(scale=False), 5, 3)
    layer.running_mean.set_data([1.0, 2.0, 3.0])
    layer.running_var.set_data([4.0, 4.0, 4.0])
    expected = (numpy.asarray(x) - [1, 2, 3]) / numpy.sqrt(4 + 1e-5) + parameter_values(layer)["beta"]
    assert_close(layer(x), expected)
    assert_close(layer.running_mean.data(), [1, 2, 3])
    assert layer.gamma.grad_req == "null"
    with pytest.raises(ValueError, match=r"batch_norm: array must have axis 1, got shape \(3,\)"):
        layer(np.ones(3))


def test_layer_norm() -> None:
    layer, x = with_data(nn.LayerNorm(), 4, 2, 3)
    rows, v = numpy.asarray(x), parameter_values(layer)
    scaled = (rows - rows.mean(-1, keepdims=True)) / numpy.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    assert_close(layer(x), scaled * v["gamma"] + v["beta"])
    check_gradients(lambda: layer(x), x, layer.gamma.data(), layer.beta.data())


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_embedding(dtype: str) -> None:
    layer = nn.Embedding(5, 2)
    layer.initialize()
    layer.cast("float64")
    positions = np.array([[1, 4], [4, 0]], dtype=dtype)
    assert_close(layer(positions), parameter_values(layer)["weight"][[[1, 4], [4, 0]]])
    check_gradients(lambda: layer(positions), layer.weight.data())


def test_dropout_is_for_training() -> None:
    layer, x = nn.Dropout(0.25), np.ones((100, 100))
    assert layer(x) is x
    with autograd.train_mode():
        y = layer(x).asnumpy()
    assert_close(numpy.unique(y), [0, 4 / 3])
    assert abs((y == 0).mean() - 0.25) < 0.05
    with pytest.raises(ValueError, match=r"Dropout: rate must be in \[0, 1\), got 1"):
        nn.Dropout(1)


def test_functions_as_blocks() -> None:
    x = np.ones((2, 3, 4)) * -1
    assert nn.Flatten()(x).shape == (2, 12)
    assert nn.Identity()(x) is x
    assert_close(nn.Lambda("relu")(x), numpy.zeros((2, 3, 4)))
    assert_close(nn.HybridLambda(lambda a: a + 1)(x), numpy.zeros((2, 3, 4)))
    assert_close(nn.Activation("sigmoid")(np.zeros(1)), [0.5])
    with pytest.raises(ValueError, match="Lambda: name must be a function of np or npx, got 'nothing'"):
        nn.Lambda("nothing")
