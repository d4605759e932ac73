"""Norms of examples, activations with settings, blocks side by side, reflection: against NumPy and differences."""

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import autograd, np, npx
from forerun.gluon import nn
from tests.support.comparison.formulas import sigmoid, standardized
from tests.support.comparison.gradients import check_gradients
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import RNG, array, parameter_values, with_data


def along(v: numpy.ndarray, axis: int, ndim: int) -> numpy.ndarray:
    return v.reshape([-1 if i == axis else 1 for i in range(ndim)])


@pytest.mark.parametrize("shape", [(3, 4), (2, 4, 3), (2, 4, 2, 3)], ids=str)
def test_group_norm(shape: tuple[int, ...]) -> None:
    layer, x = with_data(nn.GroupNorm(2), *shape)
    rows, v = numpy.asarray(x), parameter_values(layer)
    assert v["gamma"].shape == v["beta"].shape == (4,)
    grouped = standardized(rows.reshape(shape[0], 2, -1), (2,)).reshape(shape)
    assert_close(layer(x), grouped * along(v["gamma"], 1, len(shape)) + along(v["beta"], 1, len(shape)))
    check_gradients(lambda: layer(x), x, layer.gamma.data(), layer.beta.data())
    with pytest.raises(ValueError, match="GroupNorm: data must have 4 channels on axis 1"):
        layer(np.ones((2, 6)))


@pytest.mark.parametrize(("axis", "others"), [(1, (2, 3)), (-1, (1, 2)), (2, (1, 3))])
def test_instance_norm(axis: int, others: tuple[int, ...]) -> None:
    layer, x = with_data(nn.InstanceNorm(axis, scale=True), 2, 3, 4, 2)
    rows, v = numpy.asarray(x), parameter_values(layer)
    expected = standardized(rows, others) * along(v["gamma"], axis % 4, 4) + along(v["beta"], axis % 4, 4)
    assert v["gamma"].shape == (rows.shape[axis],)
    assert_close(layer(x), expected)
    check_gradients(lambda: layer(x), x, layer.gamma.data(), layer.beta.data())
    with pytest.raises(ValueError, match=f"InstanceNorm: data must have {rows.shape[axis]} channels"):
        layer(np.ones((5, 5, 5, 5)))


def test_norms_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="GroupNorm: in_channels must be a multiple of num_groups, got 3 for 2"):
        nn.GroupNorm(2, in_channels=3)
    for layer, shape in ((nn.GroupNorm(2), (2, 3)), (nn.InstanceNorm(), (2, 3)), (nn.InstanceNorm(0), (2, 3, 4))):
        layer.initialize()
        with pytest.raises(ValueError, match=f"{type(layer).__name__}: data must have .* got shape"):
            layer(np.ones(shape))
    assert nn.InstanceNorm().gamma.grad_req == "null"
    assert repr(nn.GroupNorm(2, in_channels=4)) == "GroupNorm(num_groups=2, eps=1e-05, in_channels=4)"


@pytest.mark.parametrize("axis", [1, -1, 2])
def test_batch_norm_along_an_axis(axis: int) -> None:
    layer, x = with_data(nn.BatchNorm(axis), 4, 3, 2, 5)
    rows, v = numpy.asarray(x), parameter_values(layer)
    axes = tuple(i for i in range(4) if i != axis % 4)
    with autograd.train_mode():
        assert_close(
            layer(x), standardized(rows, axes) * along(v["gamma"], axis % 4, 4) + along(v["beta"], axis % 4, 4)
        )
    assert_close(layer.running_mean.data(), 0.1 * rows.mean(axes))


def test_batch_norm_may_keep_to_its_running_statistics() -> None:
    layer, x = with_data(nn.BatchNorm(use_global_stats=True), 4, 3)
    before = parameter_values(layer)
    with autograd.train_mode():
        y = layer(x)
    assert_close(y, numpy.asarray(x) / math.sqrt(1 + 1e-5) * before["gamma"] + before["beta"])
    for name, value in parameter_values(layer).items():
        assert_close(value, before[name])


def phi(x: numpy.ndarray) -> numpy.ndarray:
    return numpy.array([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x.flat]).reshape(x.shape)


@pytest.mark.parametrize(
    ("make", "function", "description"),
    [
        (lambda: nn.LeakyReLU(0.1), lambda x: numpy.where(x > 0, x, 0.1 * x), "LeakyReLU(0.1)"),
        (lambda: nn.ELU(0.5), lambda x: numpy.where(x > 0, x, 0.5 * numpy.expm1(x)), "ELU(0.5)"),
        (
            lambda: nn.SELU(),
            lambda x: 1.0507009873554805 * numpy.where(x > 0, x, 1.6732632423543772 * numpy.expm1(x)),
            "SELU()",
        ),
        (lambda: nn.GELU(), lambda x: x * phi(x), "GELU(erf)"),
        (
            lambda: nn.GELU("tanh"),
            lambda x: 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
            "GELU(tanh)",
        ),
        (lambda: nn.Swish(1.5), lambda x: x * sigmoid(1.5 * x), "Swish(1.5)"),
        (lambda: nn.SiLU(), lambda x: x * sigmoid(x), "SiLU()"),
    ],
    ids=lambda p: p if isinstance(p, str) else "",
)
def test_activations(make: Any, function: Callable[[Any], Any], description: str) -> None:
    x = array(RNG.normal(size=(3, 4)))
    x.attach_grad()
    layer = make()
    assert_close(layer(x), function(numpy.asarray(x)))
    check_gradients(lambda: layer(x), x)
    assert repr(layer) == description


def test_the_error_function_at_the_ends() -> None:
    x = numpy.array([numpy.nan, numpy.inf, -numpy.inf, 1e300, -1e300, 1e-300, 0.0, -0.0, 5.9, 6.1])
    y = npx.erf(array(x)).asnumpy()
    expected = numpy.array([math.erf(v) for v in x])
    numpy.testing.assert_allclose(y, expected, rtol=1e-15)
    assert numpy.array_equal(numpy.signbit(y[1:]), numpy.signbit(expected[1:]))
    assert npx.erf(np.array([1.0], dtype="float16")).dtype == "float16"
    assert npx.erf([1]).dtype == "float32"


@pytest.mark.parametrize("channels", [1, 3])
def test_prelu(channels: int) -> None:
    layer, x = with_data(nn.PReLU(in_channels=channels), 2, 3, 4)
    rows, alpha = numpy.asarray(x), parameter_values(layer)["alpha"]
    assert alpha.shape == (channels,)
    assert_close(layer(x), numpy.where(rows > 0, rows, alpha.reshape(-1, 1) * rows))
    check_gradients(lambda: layer(x), x, layer.alpha.data())


def test_settings_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="LeakyReLU: alpha must not be negative, got -1"):
        nn.LeakyReLU(-1)
    with pytest.raises(ValueError, match="GELU: approximation must be"):
        nn.GELU("none")
    with pytest.raises(ValueError, match="PReLU: in_channels must be positive, got 0"):
        nn.PReLU(in_channels=0)
    layer = nn.PReLU(in_channels=3)
    layer.initialize()
    with pytest.raises(ValueError, match=r"PReLU: data must have 3 channels on axis 1, got shape \(2, 4\)"):
        layer(np.ones((2, 4)))


@pytest.mark.parametrize("kind", [nn.Concatenate, nn.HybridConcatenate])
def test_blocks_side_by_side(kind: Any) -> None:
    net = kind(axis=1)
    net.add(nn.Identity(), nn.Lambda(lambda x: x * 2), nn.Lambda(lambda x: x[:, :1]))
    x = np.array(RNG.normal(size=(2, 3, 4)))
    rows = numpy.asarray(x)
    assert_close(net(x), numpy.concatenate([rows, rows * 2, rows[:, :1]], 1))
    assert_close(net[1:](x), numpy.concatenate([rows * 2, rows[:, :1]], 1))
    with pytest.raises(ValueError, match="Concatenate: there must be a block to run, got none"):
        kind()(x)


@pytest.mark.parametrize("padding", [1, (0, 0, 0, 0, 1, 2, 3, 0)], ids=str)
def test_reflection(padding: Any) -> None:
    x = array(RNG.normal(size=(2, 2, 3, 4)))
    x.attach_grad()
    layer = nn.ReflectionPad2D(padding)
    widths = [(1, 1), (1, 1)] if padding == 1 else [(1, 2), (3, 0)]
    assert_close(layer(x), numpy.pad(numpy.asarray(x), [(0, 0), (0, 0), *widths], "reflect"))
    check_gradients(lambda: layer(x), x)
    with pytest.raises(ValueError, match=r"ReflectionPad2D: data must have 4 axes.* got shape \(1, 1, 1, 1\)"):
        layer(np.ones((1, 1, 1, 1)))


@pytest.mark.parametrize("padding", [(1, 1), (0, 0, 1, 1, 1, 1, 1, 1), -1])
def test_reflection_refuses(padding: Any) -> None:
    with pytest.raises(ValueError, match="ReflectionPad2D: padding must be"):
        nn.ReflectionPad2D(padding)
