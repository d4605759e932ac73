"""Parameters that were accepted and ignored once: each one works, or raises."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np, npx, safetensors, torch
from forerun.gluon import data, nn, rnn
from forerun.gluon.model_zoo.vision import resnet


def test_a_bias_of_a_deconvolution_is_used(engine: str) -> None:
    x, w, bias = np.array([[[1.0, 2.0]]]), np.ones((1, 2, 2)), np.array([10.0, 20.0])
    plain = npx.deconvolution(x, w)
    assert (npx.deconvolution(x, w, bias) - plain).tolist() == [[[10.0] * 3, [20.0] * 3]]
    assert npx.deconvolution(x, w, bias, no_bias=True).tolist() == plain.tolist()
    bias.attach_grad()
    with autograd.record():
        npx.deconvolution(x, w, bias).sum().backward()
    assert bias.grad.tolist() == [3.0, 3.0]


def test_orders_of_copies() -> None:
    x = np.arange(6).reshape(2, 3)
    turned = np.asfortranarray(x)
    for made, strides in (
        (x.copy("F"), (8, 16)), (x.copy("A"), (24, 8)), (turned.copy("A"), (8, 16)), (turned.copy(), (24, 8)),
        (np.array(turned, order="F"), (8, 16)), (np.copy(x, "F"), (8, 16)), (x.astype("int64", order="F"), (8, 16)),
        (turned.astype("int64", order="A"), (8, 16)), (np.require(turned, None, ["O", "F"]), (8, 16)),
        (np.asarray_chkfinite(x, float, "F"), (4, 8)),
    ):  # fmt: skip
        assert made.strides == strides
        assert made.tolist() == x.tolist()
        assert not np.shares_memory(made, x)
        assert not np.shares_memory(made, turned)


def test_channels_of_residual_blocks_are_known_before_data() -> None:
    for block in (resnet.BasicBlockV1, resnet.BottleneckV1, resnet.BasicBlockV2, resnet.BottleneckV2):
        made = block(8, 1, True, in_channels=4)
        first = ("body.0.weight", "downsample.0.weight", "conv1.weight", "downsample.weight")
        shapes = [p.shape for name, p in made.collect_params().items() if name in first]
        assert [shape[1] for shape in shapes] == [4, 4]
        made.initialize()
        assert made(np.ones((1, 4, 3, 3))).shape == (1, 8, 3, 3)
        made = block(8, 1, True, in_channels=4)
        made.initialize()
        with pytest.raises(ValueError, match=r"got .*\(1, 5, 3, 3\)"):
            made(np.ones((1, 5, 3, 3)))


def test_verbose_initialisation_prints(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "forerun"):
        nn.Dense(2, in_units=3).initialize("ones")
        assert caplog.messages == []
        nn.Dense(2, in_units=3).initialize("ones", verbose=True)
    assert caplog.messages == [
        "weight of shape (2, 3): initialised by ones", "bias of shape (2,): initialised by zeros",
    ]  # fmt: skip


def array_of_flat(copy: bool | None) -> Any:
    return np.arange(3).flat.__array__(copy=copy)


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: npx.embedding(np.array([0]), np.ones((3, 2)), input_dim=4), ValueError,
     r"embedding: weight must have shape \(input_dim, output_dim\), got \(3, 2\) for \(4, 2\)"),
    (lambda: npx.embedding(np.array([0]), np.ones((3, 2)), 3, 1), ValueError, r"got \(3, 2\) for \(3, 1\)"),
    (lambda: npx.set_np(shape=False), NotImplementedError, "set_np: shape and array must be True, got False and True"),
    (lambda: npx.set_np(array=False), NotImplementedError, "set_np: shape and array must be True, got True and False"),
    (lambda: array_of_flat(False), ValueError, "flat: copy must not be False, as elements are copied, got False"),
    (lambda: nn.HybridSequential().hybridize(static=True), TypeError, "hybridize: settings must be .* got static"),
    (lambda: data.vision.transforms.ToTensor().hybridize(static=True), TypeError, "hybridize: settings must be among"),
    (lambda: torch.nn.GELU("erf"), ValueError, "GELU: approximate must be one of none, tanh, got 'erf'"),
    (lambda: torch.nn.functional.gelu(torch.ones(1), "erf"), ValueError, 'gelu: approximate must be "none" or "tanh"'),
    (lambda: torch.nn.Embedding(10, 3, 0), TypeError, "positional"),
    (lambda: torch.nn.LayerNorm(3, 1e-5, False), TypeError, "positional"),
    (lambda: np.add(np.ones(2), 1, foo=2), TypeError, "add: keywords must be those of a ufunc, got foo"),
    (lambda: np.add(np.ones(2), 1, axis=0), TypeError, "add: keywords must be those of a ufunc, got axis"),
    (lambda: np.multiply.outer(np.ones(2), np.ones(2), foo=None), TypeError, "multiply: keywords must be those"),
    (lambda: rnn.LSTM(3, state_clip_min=0.0), NotImplementedError, "LSTM: settings must be .*state_clip_min"),
    (lambda: rnn.LSTM(3, statesize=None), TypeError, "LSTM: settings must be .*statesize"),
    (lambda: np.ones(3).copy("X"), ValueError, "copy: order must be one of C, F, A, K, got 'X'"),
    (lambda: np.vsplit(np.ones(3), 1), ValueError, r"vsplit: array must have at least two axes, got shape \(3,\)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_unsupported_argument_values_raise(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_arguments_without_effect_are_accepted() -> None:
    net = nn.HybridSequential()
    net.hybridize(static_alloc=True, static_shape=True, inline_limit=2)
    assert npx.embedding(np.array([1]), np.ones((3, 2)), input_dim=3, output_dim=2).shape == (1, 2)
    assert array_of_flat(True).tolist() == array_of_flat(None).tolist() == [0, 1, 2]


def test_frameworks_of_safetensors(tmp_path: Path) -> None:
    safetensors.save_file({"x": np.arange(3)}, tmp_path / "x")
    with safetensors.safe_open(tmp_path / "x", "pt") as file:
        assert file.get_tensor("x").tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"safe_open: framework must be one of np, .*, got 'pytroch'"):
        safetensors.safe_open(tmp_path / "x", "pytroch")


# --- PyTorch's spelling ---------------------------------------------------------------------------


def test_activations_have_their_settings() -> None:
    x = torch.tensor([-2.0, 3.0, 50.0])
    near = lambda found, wanted: numpy.allclose(found.numpy(), wanted, rtol=1e-6)
    assert near(torch.nn.LeakyReLU(0.5)(x), [-1, 3, 50])
    assert near(torch.nn.LeakyReLU()(x), [-0.02, 3, 50])
    assert near(torch.nn.functional.leaky_relu(x), [-0.02, 3, 50])
    assert near(torch.nn.Softplus(2.0)(x), [math.log1p(math.exp(-4)) / 2, math.log1p(math.exp(6)) / 2, 50])
    assert near(torch.nn.Softplus(1.0, 2.0)(x), [math.log1p(math.exp(-2)), 3, 50])
    exact = [v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in (-2, 3, 50)]
    assert near(torch.nn.GELU()(x), exact)
    tanh = [v / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) for v in (-2, 3, 50)]
    assert near(torch.nn.GELU("tanh")(x), tanh)


@pytest.mark.parametrize("layer", [torch.nn.ReLU, torch.nn.SiLU, torch.nn.LeakyReLU])
def test_activations_in_place(layer: type[torch.nn.Module], engine: str) -> None:
    x = torch.tensor([-2.0, 3.0])
    wanted = layer()(x).tolist()
    assert x.tolist() == [-2.0, 3.0]
    assert layer(inplace=True)(x) is x
    assert x.tolist() == wanted
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="must not be written in place while recording"):
        layer(inplace=True)(w * 2)


@pytest.mark.parametrize("to_none", [True, False])
def test_gradients_that_count_as_none(to_none: bool, engine: str) -> None:
    used, idle = (torch.ones(1, requires_grad=True) for _ in range(2))
    optimizer = torch.optim.SGD([used, idle], lr=0.5, momentum=0.5)
    (2 * used + idle).sum().backward()
    optimizer.step()
    assert (used.tolist(), idle.tolist()) == ([0.0], [0.5])
    optimizer.zero_grad(set_to_none=to_none)
    (2 * used).sum().backward()
    optimizer.step()
    assert used.tolist() == [-1.5]
    assert idle.tolist() == [0.5 if to_none else 0.25]  # its momentum goes on, or not


def test_a_gradient_written_by_hand_counts() -> None:
    w = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    optimizer.zero_grad()
    w.grad[...] = 1
    optimizer.step()
    assert w.tolist() == [0.5]
    forerun.waitall()
