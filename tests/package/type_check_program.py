"""Types of arrays for type checkers: mypy reads this file in `make lint`, pyright in test_typing.py."""

from collections.abc import Callable
from typing import Any, assert_type

import numpy

import forerun
from forerun import autograd, gluon, image, np, npx, torch
from forerun.typing import Array, ArrayLike, Axis, DeviceLike, DTypeLike, Out, Shape

x = np.ones((2, 3))
assert_type(x, Array)
assert_type(forerun.np.zeros(3), Array)
assert_type(x + 1, Array)
assert_type(2 * x - x / 2, Array)
assert_type(-x[0], Array)
assert_type(x @ x.T, Array)
assert_type(x < 1, Array)
assert_type(np.add(x, 1), Array)
assert_type(np.sin(x).sum(axis=0), Array)
assert_type(np.add.reduce(x), Array)
assert_type(x.reshape(3, 2).mean(), Array)
assert_type(np.linalg.inv(np.eye(2)), Array)
assert_type(np.fft.fft(x), Array)
assert_type(np.random.normal(size=3), Array)
assert_type(npx.softmax(x), Array)


def shifted(
    values: ArrayLike, shape: Shape, axis: Axis = None, dtype: DTypeLike = None, device: DeviceLike = None
) -> Array:
    """The names are those of annotations of parameters."""
    return np.asarray(values, dtype, device=device).reshape(shape).sum(axis)


shifted(x, 6)
shifted([[1.0, 2.0]], (2, 1), (0, 1), "float64", "cpu:0")
shifted(3, (), None, float, forerun.cpu())


# Arguments of functions: forerun arrays and NumPy's, numbers, and lists of these.
unary: Callable[[ArrayLike], Array] = np.sin
binary: Callable[[ArrayLike, ArrayLike], Array] = np.add
reduction: Callable[[ArrayLike, Axis, DTypeLike, Out, bool], Array] = np.sum
creation: Callable[[Shape, DTypeLike], Array] = np.zeros
layer: Callable[[ArrayLike, Array, ArrayLike | None], Array] = npx.fully_connected
assert_type(np.sum([1, 2.5], axis=(0,), keepdims=True), Array)
assert_type(np.mean(numpy.ones((2, 3)), axis=-1, out=numpy.ones(2)), Array)
assert_type(np.concatenate([x, np.zeros((1, 3), "float64")], axis=0), Array)
assert_type(np.where(x > 0, x, 0), Array)
assert_type(np.where(x > 0), tuple[Array, ...])
assert_type(np.clip(x, 0, 1), Array)
assert_type(np.take(range(3), [[0, 1], [2, 0]]), Array)
assert_type(np.einsum("ij,kj->ik", x, x), Array)
assert_type(np.linalg.norm(x, axis=1), Array)
assert_type(np.fft.rfft([1.0, 2.0], n=4), Array)
assert_type(np.random.uniform(0, x, size=(2, 3), device=forerun.cpu()), Array)
assert_type(np.random.default_rng(0).normal(size=3), Array)
assert_type(np.multiply.reduce(x, axis=0), Array)
assert_type(npx.one_hot([0, 1], 3), Array)
assert_type(npx.relu([-1.0, 1.0]), Array)
assert_type(x.sum(axis=0).astype("float16"), Array)
assert_type(x.view("int32").copy(), Array)
assert_type(np.ones_like(x, dtype=int).shape, tuple[int, ...])
assert_type(np.shape([[1, 2]]), tuple[int, ...])
assert_type(gluon.loss.L2Loss()(x, x), Any)
assert_type(gluon.Parameter("weight", shape=3).data(), Array)

# Results that depend on an argument.
assert_type(np.linspace(0, 1), Array)
assert_type(np.linspace(0, 1, retstep=True), tuple[Array, Array])
assert_type(np.average(x), Array)
assert_type(np.average(x, returned=True), tuple[Array, Array])
assert_type(np.unique(x), Array)
assert_type(np.unique(x, return_counts=True), tuple[Array, ...])
assert_type(np.atleast_2d(1), Array)
assert_type(np.atleast_2d(1, x), tuple[Array, ...])
assert_type(np.linalg.svd(x).S, Array)
assert_type(np.linalg.svd(x, compute_uv=False), Array)
assert_type(np.linalg.qr(x, "r"), Array)
assert_type(np.intersect1d([1], [1]), Array)
assert_type(npx.layer_norm(x, np.ones(3), np.zeros(3)), Array)
assert_type(npx.topk(x), Array)
assert_type(npx.topk(x, ret_typ="both"), list[Array])
assert_type(autograd.grad(x, x), Array)
assert_type(autograd.grad(x, [x]), list[Array])
assert_type(torch.max(x), Array)
assert_type(torch.max(x, 0).values, Array)
assert_type(torch.tensor([1.0]), Array)


@torch.no_grad
def halved(values: Array) -> Array:
    """A decorated function keeps its type."""
    return values / 2


assert_type(halved(x), Array)
assert_type(image.imresize(x, 1, 1), Array)
gluon.data.DataLoader([1, 2, 3], batch_size=2, sampler=[2, 0])


def refused_calls() -> None:
    """Calls that type checkers refuse: where one is accepted, they say that its comment has no use."""
    np.sum("a")  # type: ignore[arg-type]
    np.sum(x, axis="b")  # type: ignore[arg-type]
    np.sum(x, dtype=3)  # type: ignore[arg-type]
    np.sum(x, out=[0.0])  # type: ignore[arg-type]
    np.sum(x, axes=0)  # type: ignore[call-arg]
    np.zeros("3")  # type: ignore[arg-type]
    np.ones(2, device=1)  # type: ignore[arg-type]
    np.add("a", x)  # type: ignore[arg-type]
    np.concatenate(x, "0")  # type: ignore[arg-type]
    np.linalg.inv("a")  # type: ignore[arg-type]
    np.fft.fft(x, n="8")  # type: ignore[arg-type]
    np.random.normal(size="3")  # type: ignore[arg-type]
    npx.softmax(x, axis="0")  # type: ignore[arg-type]
    x.reshape(2, 3, order=1)  # type: ignore[arg-type]
    x.mean(axis=0.5)  # type: ignore[arg-type]
    gluon.data.DataLoader(3)  # type: ignore[arg-type]
    torch.distributed.all_reduce("a")  # type: ignore[arg-type]
    image.imresize("a", 1, 1)  # type: ignore[type-var]
