"""Layer, group and instance norm as one operation: gradients to second order, dtypes, sizes, and saved arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np, npx
from forerun.gluon import nn
from forerun.testing import check_grads
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import array, shifted_leaves

RNG = numpy.random.default_rng(11)
Norm = Callable[[Any, Any, Any], Any]

# The function, the shape of x, how many elements gamma and beta have.
CASES: dict[str, tuple[Norm, tuple[int, ...], int]] = {
    "layer": (npx.layer_norm, (3, 2, 5), 5),
    "layer, first axis": (lambda *a: npx.layer_norm(*a, axis=0), (4, 3), 4),
    "layer, axis between": (lambda *a: npx.layer_norm(*a, axis=1), (2, 3, 4), 3),
    "layer, one factor": (npx.layer_norm, (3, 5), 1),
    "layer, one element": (npx.layer_norm, (3, 1), 1),
    "group": (lambda *a: npx.group_norm(*a, num_groups=2), (3, 4, 2, 2), 4),
    "group, nothing else": (lambda *a: npx.group_norm(*a, num_groups=2), (3, 6), 6),
    "group, one factor": (lambda *a: npx.group_norm(*a, num_groups=2), (2, 4, 3), 1),
    "group, each channel": (lambda *a: npx.group_norm(*a, num_groups=3), (2, 3, 4), 3),
    "instance": (npx.instance_norm, (2, 3, 4), 3),
    "instance, last axis": (lambda *a: npx.instance_norm(*a, axis=-1), (2, 3, 2, 4), 4),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str) -> None:
    norm, shape, n = CASES[name]
    x, gamma, beta = shifted_leaves(shape, (n,), (n,))
    check_grads(norm, x, gamma, beta)


@pytest.mark.parametrize("name", ["layer", "layer, first axis", "group", "instance"])
def test_gradients_of_gradients(name: str) -> None:
    norm, shape, n = CASES[name]
    x, gamma, beta = shifted_leaves(shape, (n,), (n,))
    check_grads(norm, x, gamma, beta, order=2)


@pytest.mark.parametrize("name", CASES)
def test_recorded_gradients_equal_unrecorded_ones(name: str) -> None:
    norm, shape, n = CASES[name]
    x, gamma, beta = shifted_leaves(shape, (n,), (n,))
    rates = array(RNG.normal(size=shape))
    with autograd.record():
        loss = (norm(x, gamma, beta) * rates).sum()
        recorded = autograd.grad(loss, [x, gamma, beta], create_graph=True, retain_graph=True)
    loss.backward()
    for leaf, g in zip((x, gamma, beta), recorded, strict=True):
        assert_close(leaf.grad, g.asnumpy(), 1e-12)


@pytest.mark.parametrize("layer", ["BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm"])
def test_a_hybridized_block_gives_the_same_bits(layer: str) -> None:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, in_channels=2), getattr(nn, layer)(), nn.Activation("relu"))
    net.initialize()
    x = np.array(RNG.normal(size=(4, 2, 6, 6)))

    def gradients() -> list[numpy.ndarray]:
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        return [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]

    plain = gradients()
    net.hybridize()
    for _ in range(3):
        assert all(map(numpy.array_equal, gradients(), plain))


@pytest.mark.parametrize("norm", [npx.layer_norm, npx.group_norm, npx.instance_norm])
def test_norms_save_only_their_data(norm: Norm) -> None:
    x, gamma, beta = np.array(RNG.normal(size=(8, 50, 4, 50))), np.ones(50), np.zeros(50)
    for leaf in (x, gamma, beta):
        leaf.attach_grad()
    npx.waitall()
    before = forerun.memory()["live"]
    with autograd.record():
        y = norm(x, gamma, beta)
    npx.waitall()
    assert forerun.memory()["live"] - before < 1.2 * y.nbytes
    y.backward()


def test_a_large_mean_does_not_cancel_digits() -> None:
    rows = RNG.normal(size=(6, 40)).astype("float32") + numpy.float32(1000)
    rates = RNG.normal(size=(6, 40))
    found = []
    for dtype in ("float32", "float64"):
        x, one, zero = np.array(rows, dtype=dtype), np.ones(40, dtype=dtype), np.zeros(40, dtype=dtype)
        x.attach_grad()
        with autograd.record():
            y = npx.layer_norm(x, one, zero)
        y.backward(np.array(rates, dtype=dtype))
        found.append((y.asnumpy(), x.grad.asnumpy()))
    for single, double in zip(*found, strict=True):
        numpy.testing.assert_allclose(single, double, atol=2e-4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bits_are_computed_in_32(dtype: str) -> None:
    """The squares of these deviations are beyond float16, and the mean of their sum."""
    x, one, zero = np.array([[-60000.0, 60000.0] * 8], dtype=dtype), np.ones(16, dtype=dtype), np.zeros(16, dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = npx.layer_norm(x, one, zero)
    y.backward()
    assert (y.dtype, x.grad.dtype) == (x.dtype, x.dtype)
    assert y.tolist() == [[-1.0, 1.0] * 8]
    assert x.grad.tolist() == [[0.0] * 16]


@pytest.mark.parametrize(
    ("data", "factors", "expected"),
    [("int64", "float32", "float32"), ("float16", "float32", "float32"), ("float32", "float64", "float64"),
     ("float64", "float16", "float64")],
)  # fmt: skip
def test_dtypes_are_promoted(data: str, factors: str, expected: str) -> None:
    x, gamma = np.array([[[1, 3]]], dtype=data), np.ones(2, dtype=factors)
    for y in (npx.layer_norm(x, gamma, gamma), npx.group_norm(x, gamma[:1], gamma[:1]),
              npx.instance_norm(x, gamma[:1], gamma[:1])):  # fmt: skip
        assert y.dtype == expected
        assert_close(y, [[[0, 2]]], 1e-3)


@pytest.mark.parametrize("shape", [(0, 4), (2, 0), (0, 4, 3), (2, 4, 0)], ids=str)
def test_norms_of_empty_arrays(shape: tuple[int, ...]) -> None:
    n = shape[1]
    for norm in (lambda *a: npx.layer_norm(*a, axis=1), npx.group_norm, npx.instance_norm)[: len(shape)]:
        x, gamma, beta = shifted_leaves(shape, (n,), (n,))
        with autograd.record():
            y = norm(x, gamma, beta)
        y.backward()
        assert y.shape == x.grad.shape == shape
        assert gamma.grad.tolist() == [0.0] * n


def test_invalid_gamma_beta_and_dtype_raise() -> None:
    x, two = np.ones((2, 4, 3)), np.ones(2)
    for op in ("layer_norm", "group_norm", "instance_norm"):
        n = 3 if op == "layer_norm" else 4
        for vectors in ((two, two[:1]), (two[:1], two)):
            with pytest.raises(ValueError, match=rf"{op}: gamma and beta must have {n} elements, or one, got shapes"):
                getattr(npx, op)(x, *vectors)
        with pytest.raises(TypeError, match=f"{op}: arrays must be real, got complex64"):
            getattr(npx, op)(x + 1j, two[:1], two[:1])
