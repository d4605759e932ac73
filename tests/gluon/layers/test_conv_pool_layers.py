"""Layers that convolve and pool: against plain loops, and the errors of invalid arguments."""

from typing import Any

import numpy
import pytest

from forerun import autograd, gluon, np, npx
from forerun.gluon import nn
from tests.support.comparison import conv_pool_reference
from tests.support.comparison.gradients import check_gradients
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import RNG, parameter_values, with_data

CONVOLUTIONS = [
    (lambda: nn.Conv1D(4, 3), (2, 3, 6), (4, 3, 3), {}),
    (
        lambda: nn.Conv2D(4, (3, 2), (2, 1), padding=1, dilation=(1, 2), groups=2, activation="tanh"),
        (2, 2, 5, 6),
        (4, 1, 3, 2),
        {"stride": (2, 1), "pad": 1, "dilate": (1, 2), "num_group": 2},
    ),
    (lambda: nn.Conv2D(2, 2, in_channels=3), (1, 3, 3, 3), (2, 3, 2, 2), {}),
    (
        lambda: nn.Conv1D(3, 2, 2, 1, 2, 3, use_bias=False),
        (2, 6, 6),
        (3, 2, 2),
        {"stride": 2, "pad": 1, "dilate": 2, "num_group": 3},
    ),
    (lambda: nn.Conv3D(2, 2, padding=1, strides=2), (1, 2, 2, 3, 2), (2, 2, 2, 2, 2), {"stride": 2, "pad": 1}),
]

TRANSPOSES = [
    (lambda: nn.Conv1DTranspose(4, 3), (2, 3, 4), (3, 4, 3), {}),
    (
        lambda: nn.Conv2DTranspose(4, (3, 2), (2, 1), 1, (1, 0), (1, 2), 2, activation="sigmoid"),
        (2, 2, 3, 4),
        (2, 2, 3, 2),
        {"stride": (2, 1), "pad": 1, "adj": (1, 0), "dilate": (1, 2), "num_group": 2},
    ),
    (lambda: nn.Conv3DTranspose(2, 2, strides=2, use_bias=False), (1, 2, 2, 1, 2), (2, 2, 2, 2, 2), {"stride": 2}),
]


def activated(layer: Any, y: numpy.ndarray) -> numpy.ndarray:
    kind = layer.act and layer.act._act_type
    return numpy.tanh(y) if kind == "tanh" else 1 / (1 + numpy.exp(-y)) if kind else y


@pytest.mark.parametrize(("make", "shape", "weight", "settings"), CONVOLUTIONS)
def test_convolutions(make: Any, shape: Any, weight: Any, settings: dict[str, Any]) -> None:
    layer, x = with_data(make(), *shape)
    v = parameter_values(layer)
    assert v["weight"].shape == weight
    expected = conv_pool_reference.convolution(numpy.asarray(x), v["weight"], v.get("bias"), **settings)
    assert_close(layer(x), activated(layer, expected))
    check_gradients(lambda: layer(x), x, *[p.data() for p in layer.collect_params().values()])


@pytest.mark.parametrize(("make", "shape", "weight", "settings"), TRANSPOSES)
def test_transposed_convolutions(make: Any, shape: Any, weight: Any, settings: dict[str, Any]) -> None:
    layer, x = with_data(make(), *shape)
    v = parameter_values(layer)
    assert v["weight"].shape == weight
    rows = numpy.asarray(x)
    expected = conv_pool_reference.deconvolution(rows, v["weight"], v.get("bias"), no_bias=False, **settings)
    assert_close(layer(x), activated(layer, expected))
    check_gradients(lambda: layer(x), x, *[p.data() for p in layer.collect_params().values()])


EXTENTS = {"1D": (7,), "2D": (5, 7), "3D": (4, 3, 5)}


@pytest.mark.parametrize("axes", EXTENTS)
@pytest.mark.parametrize("kind", ["Max", "Avg"])
def test_pooling(kind: str, axes: str) -> None:
    x = RNG.normal(size=(2, 3, *EXTENTS[axes]))
    make = getattr(nn, f"{kind}Pool{axes}")
    for given, settings in [
        ({}, {"kernel": 2, "stride": 2}),
        ({"pool_size": 3, "strides": 1, "padding": 1}, {"kernel": 3, "stride": 1, "pad": 1}),
        ({"ceil_mode": True}, {"kernel": 2, "stride": 2, "pooling_convention": "full"}),
    ]:
        assert_close(make(**given)(np.array(x)), conv_pool_reference.pooling(x, pool_type=kind.lower(), **settings))
    everything = getattr(nn, f"Global{kind}Pool{axes}")()(np.array(x))
    assert everything.ndim == x.ndim
    assert_close(everything, conv_pool_reference.pooling(x, pool_type=kind.lower(), global_pool=True))


def test_padding_may_count_in_averages() -> None:
    x = RNG.normal(size=(1, 2, 4, 4))
    layer = nn.AvgPool2D(3, 2, 1, count_include_pad=False)
    settings = {"kernel": 3, "stride": 2, "pad": 1, "pool_type": "avg"}
    assert_close(layer(np.array(x)), conv_pool_reference.pooling(x, count_include_pad=False, **settings))


def test_descriptions() -> None:
    layer = nn.Conv2D(6, 5, groups=2, dilation=2, use_bias=False, activation="relu")
    description = "6, kernel_size=(5, 5), stride=(1, 1), dilation=(2, 2), groups=2, bias=False, Activation(relu))"
    assert repr(layer) == f"Conv2D(-1 -> {description}"
    layer.initialize()
    layer(np.ones((1, 4, 9, 9)))
    assert repr(layer) == f"Conv2D(4 -> {description}"
    layer = nn.Conv1DTranspose(3, 4, 2, 1, 1, in_channels=2)
    description = "kernel_size=(4,), stride=(2,), padding=(1,), output_padding=(1,)"
    assert repr(layer) == f"Conv1DTranspose(2 -> 3, {description})"
    assert repr(nn.AvgPool1D(3)) == "AvgPool1D(size=(3,), stride=(3,), padding=(0,), ceil_mode=False)"
    assert repr(nn.GlobalMaxPool2D()) == "GlobalMaxPool2D()"


@pytest.mark.parametrize(
    ("make", "shape", "message"),
    [
        (lambda: nn.Conv2D(2, 3), (1, 2, 5), r"Conv2D: data must have 4 axes .*, got shape \(1, 2, 5\)"),
        (lambda: nn.Conv2D(2, 3, in_channels=4), (1, 2, 5, 5), r"Conv2D: data must have 4 channels"),
        (lambda: nn.Conv2D(2, 3, groups=2), (1, 3, 5, 5), r"Conv2D: data must have a multiple of 2 channels"),
        (lambda: nn.Conv1D(2, 9), (1, 2, 5), r"kernel must fit into the padded data, got \(9,\) for \(5,\)"),
        (lambda: nn.Conv2D(3, 3, groups=2), None, "Conv2D: channels must be positive multiples of groups, got 3"),
        (lambda: nn.Conv2D(0, 3), None, "Conv2D: channels must be positive"),
        (lambda: nn.Conv2D(1, (3, 3, 3)), None, "Conv2D: kernel_size must be 2 integers from 1"),
        (lambda: nn.Conv3D(1, 1, padding=-1), None, "Conv3D: padding must be 3 integers from 0, got -1"),
        (lambda: nn.Conv1DTranspose(1, 2, output_padding=1), None, "Conv1DTranspose: output_padding must be less"),
        (lambda: nn.MaxPool2D(), (1, 4, 4), "MaxPool2D: data must have 4 axes"),
        (lambda: nn.MaxPool2D(5), (1, 1, 4, 4), r"kernel must fit into the padded data .* got \(5, 5\)"),
        (lambda: nn.AvgPool1D(2, padding=2), None, r"AvgPool1D: padding must be less than pool_size, got \(2,\)"),
        (lambda: nn.GlobalAvgPool2D(), (1, 4), "GlobalAvgPool2D: data must have 4 axes"),
    ],
)
def test_invalid_arguments_raise(make: Any, shape: Any, message: str) -> None:
    def run() -> None:
        layer = make()
        layer.initialize()
        layer(np.ones(shape))

    with pytest.raises(ValueError, match=message):
        run()


MAKES = [lambda: nn.Conv2D(1, 1, layout="NWC"), lambda: nn.MaxPool2D(layout="NWC")]


@pytest.mark.parametrize("make", MAKES)
def test_other_layouts_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="2D: layout must be NCHW or NHWC, got 'NWC'"):
        make()


LAYOUTS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
KINDS: dict[str, dict[str, Any]] = {
    "Conv": {"channels": 4, "kernel_size": 2, "strides": 2, "padding": 1, "groups": 2, "activation": "tanh"},
    "Conv plain": {"channels": 3, "kernel_size": 3, "dilation": 2, "padding": 2, "use_bias": False},
    "Conv Transpose": {"channels": 4, "kernel_size": 3, "strides": 2, "output_padding": 1, "groups": 2},
    "MaxPool": {"pool_size": 3, "strides": 2, "padding": 1, "ceil_mode": True},
    "AvgPool": {"pool_size": 2, "padding": 1, "count_include_pad": False},
    "GlobalMaxPool": {},
    "GlobalAvgPool": {},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", LAYOUTS)
@pytest.mark.parametrize("hybrid", [False, True])
def test_channels_may_be_last(kind: str, n: int, hybrid: bool) -> None:
    """Results and gradients are the transposed ones of channels in second place."""
    first, _, end = kind.partition(" ")
    make = getattr(nn, f"{first}{n}D{end if end == 'Transpose' else ''}")
    one, other = make(**KINDS[kind]), make(**KINDS[kind], layout=LAYOUTS[n])
    rng = numpy.random.default_rng(n)
    x = rng.normal(size=(2, 4, *range(6, 6 + n)))
    found = []
    for layer, turned in ((one, False), (other, True)):
        put = lambda a, turned=turned: numpy.ascontiguousarray(numpy.moveaxis(a, 1, -1)) if turned else a
        back = lambda a, turned=turned: numpy.moveaxis(a, -1, 1) if turned and a.ndim > 1 else a
        layer.cast("float64")
        layer.initialize()
        data = np.array(put(x), dtype="float64")
        layer(data)  # shapes
        draw = numpy.random.default_rng(7)
        params = layer.collect_params()
        for name, parameter in params.items():
            shape = back(numpy.empty(parameter.shape)).shape
            value = draw.normal(size=shape)
            parameter.set_data(np.array(put(value) if name == "weight" else value))
        if hybrid:
            layer.hybridize()
        data.attach_grad()
        with autograd.record():
            y = layer(data)
            loss = (y * y).sum()
        loss.backward()
        found.append([back(a.asnumpy()) for a in (y, data.grad, *[p.grad() for p in params.values()])])
    assert found[0][0].shape == found[1][0].shape
    for a, b in zip(*found):
        numpy.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-10)
        assert abs(a).max() > 0


def test_errors_of_layers_with_channels_last() -> None:
    layer = nn.Conv2D(2, 3, layout="NHWC", in_channels=4)
    layer.initialize()
    assert layer.weight.shape == (2, 3, 3, 4)
    assert nn.Conv2DTranspose(6, 3, layout="NHWC", in_channels=4, groups=2).weight.shape == (4, 3, 3, 3)
    assert repr(layer) == "Conv2D(4 -> 2, kernel_size=(3, 3), stride=(1, 1))"
    with pytest.raises(ValueError, match=r"Conv2D: data must have 4 channels, got shape \(1, 4, 5, 5\)"):
        layer(np.ones((1, 4, 5, 5)))
    with pytest.raises(ValueError, match=r"data must have 4 axes \(batch, ..., channels\)"):
        layer(np.ones((1, 4, 5)))
    with pytest.raises(ValueError, match="pooling: layout must be NCW or NWC, got 'NHWC'"):
        npx.pooling(np.ones((1, 2, 3)), kernel=1, layout="NHWC")
    with pytest.raises(ValueError, match="convolution: layout must be NCHW or NHWC, got 'HWCN'"):
        npx.convolution(np.ones((1, 2, 3, 3)), np.ones((1, 2, 1, 1)), layout="HWCN")


def test_a_network_for_images_learns_alike_when_hybridized() -> None:
    def losses(hybrid: bool) -> list[float]:
        net = nn.HybridSequential()
        net.add(nn.Conv2D(4, 3, padding=1, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(3, 2, 1))
        net.add(nn.Conv2D(4, 3), nn.AvgPool2D(), nn.Flatten(), nn.Dense(2))
        net.initialize(init="ones")
        net(np.ones((1, 1, 8, 8)))
        rng = numpy.random.default_rng(4)
        for parameter in net.collect_params().values():
            if parameter.grad_req != "null":
                parameter.set_data(rng.normal(size=parameter.shape) * 0.3)
        if hybrid:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        x, label = np.array(rng.normal(size=(8, 1, 8, 8)), dtype="float32"), np.array(rng.integers(0, 2, 8))
        loss, found = gluon.loss.SoftmaxCrossEntropyLoss(), []
        for _ in range(12):
            with autograd.record():
                y = loss(net(x), label).mean()
            y.backward()
            trainer.step(1)
            found.append(y.item())
        return found

    plain, hybrid = losses(False), losses(True)
    assert_close(np.array(hybrid), plain, 1e-4)
    assert plain[-1] < 0.5 * plain[0]
