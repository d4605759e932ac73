"""Layers and two orders of their gradients beside PyTorch's CPU build, where it is installed."""

from typing import Any

import numpy
import pytest

from forerun import autograd, np
from forerun.gluon import nn, rnn
from tests.support.comparison.tolerances import assert_close

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with", exc_type=ImportError)

RNG = numpy.random.default_rng(7)
# A name, our layer, PyTorch's, the shape of the data.
PAIRS: list[tuple[str, Any, Any, tuple[int, ...]]] = [
    ("conv1d", lambda: nn.Conv1D(6, 3, 2, 1, 2, 2), lambda t: t.Conv1d(4, 6, 3, 2, 1, 2, 2), (3, 4, 11)),
    ("conv2d", lambda: nn.Conv2D(5, (3, 2), 2, (1, 0)), lambda t: t.Conv2d(4, 5, (3, 2), 2, (1, 0)), (3, 4, 7, 6)),
    ("depthwise", lambda: nn.Conv2D(4, 3, groups=4), lambda t: t.Conv2d(4, 4, 3, groups=4), (2, 4, 5, 6)),
    ("conv3d", lambda: nn.Conv3D(2, 2, padding=1), lambda t: t.Conv3d(3, 2, 2, padding=1), (2, 3, 3, 4, 2)),
    (
        "transposed 1d",
        lambda: nn.Conv1DTranspose(4, 3, 2, 1, 1, 2, 2),
        lambda t: t.ConvTranspose1d(6, 4, 3, 2, 1, 1, 2, dilation=2),
        (2, 6, 5),
    ),
    (
        "transposed 2d",
        lambda: nn.Conv2DTranspose(3, 4, 2, 1),
        lambda t: t.ConvTranspose2d(2, 3, 4, 2, 1),
        (2, 2, 4, 3),
    ),
    ("transposed 3d", lambda: nn.Conv3DTranspose(2, 2), lambda t: t.ConvTranspose3d(3, 2, 2), (1, 3, 2, 2, 3)),
    ("max 1d", lambda: nn.MaxPool1D(3, 2, 1), lambda t: t.MaxPool1d(3, 2, 1), (2, 3, 9)),
    ("max 2d", lambda: nn.MaxPool2D((3, 2), 2, (1, 0)), lambda t: t.MaxPool2d((3, 2), 2, (1, 0)), (2, 3, 7, 6)),
    ("max, ceil", lambda: nn.MaxPool2D(2, ceil_mode=True), lambda t: t.MaxPool2d(2, ceil_mode=True), (2, 2, 5, 7)),
    ("max 3d", lambda: nn.MaxPool3D(), lambda t: t.MaxPool3d(2), (1, 2, 4, 5, 6)),
    ("avg 1d", lambda: nn.AvgPool1D(3, 2, 1), lambda t: t.AvgPool1d(3, 2, 1), (2, 3, 8)),
    (
        "avg 2d, ceil",
        lambda: nn.AvgPool2D(3, 2, 1, ceil_mode=True),
        lambda t: t.AvgPool2d(3, 2, 1, ceil_mode=True),
        (2, 3, 6, 8),
    ),
    (
        "avg 2d, without padding",
        lambda: nn.AvgPool2D(3, 2, 1, count_include_pad=False),
        lambda t: t.AvgPool2d(3, 2, 1, count_include_pad=False),
        (2, 3, 6, 7),
    ),
    ("avg 3d", lambda: nn.AvgPool3D(), lambda t: t.AvgPool3d(2), (1, 2, 4, 4, 5)),
    ("global max", lambda: nn.GlobalMaxPool2D(), lambda t: t.AdaptiveMaxPool2d(1), (2, 3, 4, 5)),
    ("global avg", lambda: nn.GlobalAvgPool2D(), lambda t: t.AdaptiveAvgPool2d(1), (2, 3, 4, 5)),
    ("batch norm", lambda: nn.BatchNorm(), lambda t: t.BatchNorm2d(3), (4, 3, 2, 5)),
    ("layer norm", lambda: nn.LayerNorm(), lambda t: t.LayerNorm(5), (4, 3, 5)),
    ("group norm", lambda: nn.GroupNorm(2), lambda t: t.GroupNorm(2, 4), (3, 4, 2, 3)),
    ("instance norm", lambda: nn.InstanceNorm(scale=True), lambda t: t.InstanceNorm2d(3, affine=True), (2, 3, 4, 3)),
    ("leaky relu", lambda: nn.LeakyReLU(0.1), lambda t: t.LeakyReLU(0.1), (3, 4)),
    ("prelu", lambda: nn.PReLU(in_channels=4), lambda t: t.PReLU(4), (3, 4, 2)),
    ("elu", lambda: nn.ELU(0.7), lambda t: t.ELU(0.7), (3, 4)),
    ("selu", lambda: nn.SELU(), lambda t: t.SELU(), (3, 4)),
    ("gelu", lambda: nn.GELU(), lambda t: t.GELU(), (3, 4)),
    ("gelu by tanh", lambda: nn.GELU("tanh"), lambda t: t.GELU("tanh"), (3, 4)),
    ("silu", lambda: nn.SiLU(), lambda t: t.SiLU(), (3, 4)),
    ("reflection", lambda: nn.ReflectionPad2D(2), lambda t: t.ReflectionPad2d(2), (2, 2, 4, 3)),
    ("dense", lambda: nn.Dense(3), lambda t: t.Linear(5, 3), (4, 5)),
    ("max 1d, global", lambda: nn.GlobalMaxPool1D(), lambda t: t.AdaptiveMaxPool1d(1), (2, 3, 5)),
    ("max 3d, global", lambda: nn.GlobalMaxPool3D(), lambda t: t.AdaptiveMaxPool3d(1), (2, 3, 2, 3, 2)),
    ("avg 1d, global", lambda: nn.GlobalAvgPool1D(), lambda t: t.AdaptiveAvgPool1d(1), (2, 3, 5)),
    ("avg 3d, global", lambda: nn.GlobalAvgPool3D(), lambda t: t.AdaptiveAvgPool3d(1), (2, 3, 2, 3, 2)),
    ("flatten", lambda: nn.Flatten(), lambda t: t.Flatten(), (2, 3, 4)),
    ("identity", lambda: nn.Identity(), lambda t: t.Identity(), (2, 3)),
    ("swish", lambda: nn.Swish(), lambda t: t.SiLU(), (2, 3)),
    ("activation", lambda: nn.Activation("softrelu"), lambda t: t.Softplus(), (2, 3)),
    ("dropout of none", lambda: nn.Dropout(0), lambda t: t.Dropout(0), (2, 3)),
    ("pixels", lambda: nn.PixelShuffle2D(2), lambda t: t.PixelShuffle(2), (2, 8, 3, 2)),
    ("rnn", lambda: rnn.RNN(4, activation="tanh"), lambda t: t.RNN(3, 4), (5, 2, 3)),
    ("rnn, relu", lambda: rnn.RNN(4, 2), lambda t: t.RNN(3, 4, 2, "relu"), (5, 2, 3)),
    ("lstm", lambda: rnn.LSTM(4, 2, bidirectional=True), lambda t: t.LSTM(3, 4, 2, bidirectional=True), (5, 2, 3)),
    ("gru", lambda: rnn.GRU(4, 2, bidirectional=True), lambda t: t.GRU(3, 4, 2, bidirectional=True), (5, 2, 3)),
]
NAMES = {"gamma": "weight", "beta": "bias", "alpha": "weight"}  # PyTorch's


def torch_name(name: str) -> str:
    """PyTorch's name of a parameter."""
    if not name.endswith(("_weight", "_bias")):
        return NAMES.get(name, name)
    place, what, kind = name.split("_")
    return f"{kind}_{what[0]}h_l{place[1]}" + "_reverse" * (place[0] == "r")


def randomize_both(layer: Any, torch_layer: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """Gives both layers, in float64, the same random parameters; forerun's by PyTorch's names."""
    layer.initialize()
    layer(np.zeros(shape))
    layer.cast("float64")
    torch_layer.double().train()
    found = {}
    for name, parameter in layer.collect_params().items():
        if parameter.grad_req != "null":
            found[torch_name(name)] = parameter.data()
            parameter.set_data(RNG.normal(size=parameter.shape))
            with torch.no_grad():
                getattr(torch_layer, torch_name(name)).copy_(torch.from_numpy(parameter.data().asnumpy().copy()))
    return found


@pytest.mark.parametrize(("name", "make", "make_torch", "shape"), PAIRS, ids=[p[0] for p in PAIRS])
def test_layers(name: str, make: Any, make_torch: Any, shape: tuple[int, ...]) -> None:
    """Results; gradients of data and parameters; and gradients of the sum of the squared gradient of the data."""
    layer, torch_layer = make(), make_torch(torch.nn)
    parameters = randomize_both(layer, torch_layer, shape)
    assert parameters.keys() == dict(torch_layer.named_parameters()).keys()
    x = np.array(RNG.normal(size=shape), dtype="float64")
    x.attach_grad()
    tx = torch.tensor(x.asnumpy().copy(), requires_grad=True)
    ty = torch_layer(tx)
    ty = ty[0] if isinstance(ty, tuple) else ty  # of recurrent layers, beside the states
    rates = RNG.normal(size=tuple(ty.shape))
    (tg,) = torch.autograd.grad((ty * ty * torch.from_numpy(rates)).sum(), tx, create_graph=True)
    with autograd.record():
        y = layer(x)
        (g,) = autograd.grad((y * y * np.array(rates, dtype="float64")).sum(), [x], create_graph=True)
        loss = (g * g).sum() + y.sum()
    loss.backward()
    ((tg * tg).sum() + ty.sum()).backward()
    assert_close(y, ty.detach().numpy(), 1e-9)
    assert_close(g, tg.detach().numpy(), 1e-9)
    assert_close(x.grad, tx.grad.numpy(), 1e-8)
    for key, array in parameters.items():
        assert_close(array.grad, getattr(torch_layer, key).grad.numpy(), 1e-8)


def test_running_statistics() -> None:
    layer, other = nn.BatchNorm(in_channels=3), torch.nn.BatchNorm2d(3).double()
    randomize_both(layer, other, (2, 3, 2, 2))
    x = RNG.normal(size=(4, 3, 2, 5))
    with autograd.train_mode():
        layer(np.array(x, dtype="float64"))
    other(torch.from_numpy(x))
    assert_close(layer.running_mean.data(), other.running_mean.numpy(), 1e-9)
    n = 40  # PyTorch divides by n - 1 there, and MXNet and we by n
    assert_close((layer.running_var.data() - 0.9) * n / (n - 1), other.running_var.numpy() - 0.9, 1e-9)


def test_every_layer_is_compared() -> None:
    """But for containers, layers made of functions, layers that are others with more axes or a relu, and `Embedding`,
    which has a test beside the losses."""
    blocks = "Block HybridBlock SymbolBlock Sequential HybridSequential Concatenate HybridConcatenate"
    functions = "Lambda HybridLambda Embedding BatchNormReLU SyncBatchNorm PixelShuffle1D PixelShuffle3D"
    functions += (
        " DeformableConvolution ModulatedDeformableConvolution"  # beside a loop in tests/ops/cases/mxnet_only/mxnet.py
    )
    made_of_others = {*blocks.split(), *functions.split()}
    layers = {name for module in (nn, rnn) for name in dir(module) if isinstance(getattr(module, name), type)}
    cells = {
        name for name in layers if name.endswith("Cell")
    }  # tests/gluon/layers/test_rnn_layers.py has these beside the layers
    assert layers - cells - made_of_others == {type(make()).__name__ for _, make, _, _ in PAIRS}
