"""Random numbers that NumPy has no name for: `npx.random`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from .._base.convert import as_dtype, asarray, broadcast_shapes, is_array
from .._base.host_task import host_op
from ..elementwise.exponential import log
from ..index.getitem import take_along_axis
from ..shape.reshape import reshape
from .arguments import _shape
from .conditions import known
from .families.counts import bernoulli
from .limits import NOT_NEGATIVE
from .seeding import seed as _seed
from .uniform_normal import normal, uniform

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Shape

__all__ = ["bernoulli", "categorical", "multinomial", "normal_n", "seed", "uniform_n"]


def seed(seed: ArrayLike | None = None, device: str = "all") -> None:
    """Seed the stream of random numbers, as `np.random.seed` does; all devices share it.

    Parameters
    ----------
    seed : int or array_like, optional
        An integer, or integers along one axis; None takes a seed from the system's randomness.
    device : str, optional
        Must be "all".

    Raises
    ------
    TypeError
        If the seed is something else than integers.
    ValueError
        If the device is another one than "all", or for a sequence that `np.random.seed` refuses.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.random.seed(1)
    """
    if device != "all":
        raise ValueError(f'seed: device must be "all", as one stream serves all devices, got {device}')
    _seed(seed)


def _batched(op: str, batch: Shape | None, *parameters: Any) -> tuple[int, ...]:
    """Return the shape of a batch, followed by that of parameters together."""
    return (() if batch is None else _shape(op, batch)) + broadcast_shapes(op, *(numpy.shape(p) for p in parameters))


def uniform_n(
    low: ArrayLike = 0.0, high: ArrayLike = 1.0, batch_shape: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers evenly spread over [low, high): as many as `batch_shape` says for each element of these together.

    It is otherwise as `np.random.uniform`.

    Parameters
    ----------
    low : array_like, optional
        The lower end.
    high : array_like, optional
        The upper end.
    batch_shape : int or tuple of ints, optional
        The shape of the numbers for each element; None for one number each.
    dtype : dtype, optional
        The dtype of the result, of floats; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for device.

    Returns
    -------
    array
        The numbers, of shape `batch_shape` followed by that of `low` and `high` together.

    Raises
    ------
    TypeError
        If `dtype` is not a float.
    ValueError
        If `low` and `high` do not broadcast together, or an extent of `batch_shape` is negative.
    OverflowError
        If high - low is not finite: where the result is read, if they are forerun arrays.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.random.uniform_n(np.zeros(3), 1.0, batch_shape=(2,)).shape
    (2, 3)
    """
    return uniform(low, high, _batched("uniform_n", batch_shape, low, high), dtype, device=device, ctx=ctx)


def normal_n(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, batch_shape: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw normal numbers: as many as `batch_shape` says for each element of `loc` and `scale` together.

    It is otherwise as `np.random.normal`.

    Parameters
    ----------
    loc : array_like, optional
        The mean.
    scale : array_like, optional
        The standard deviation.
    batch_shape : int or tuple of ints, optional
        The shape of the numbers for each element; None for one number each.
    dtype : dtype, optional
        The dtype of the result, of floats; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for device.

    Returns
    -------
    array
        The numbers, of shape `batch_shape` followed by that of `loc` and `scale` together.

    Raises
    ------
    TypeError
        If `dtype` is not a float.
    ValueError
        If `loc` and `scale` do not broadcast together, or an extent of `batch_shape` is negative; if `scale` is
        negative: where the result is read, if it is a forerun array.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.random.normal_n(np.zeros(3), 1.0, batch_shape=(2,)).shape
    (2, 3)
    """
    return normal(loc, scale, _batched("normal_n", batch_shape, loc, scale), dtype, device=device, ctx=ctx)


@overload
def categorical(
    prob: ArrayLike, shape: int | Sequence[int] | None = None, get_prob: Literal[False] = False,
    dtype: DTypeLike = "int32", *, size: int | Sequence[int] | None = None, device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> Array: ...  # fmt: skip
@overload
def categorical(
    prob: ArrayLike, shape: int | Sequence[int] | None = None, *, get_prob: Literal[True], dtype: DTypeLike = "int32",
    size: int | Sequence[int] | None = None, device: DeviceLike = None, ctx: DeviceLike = None,
) -> tuple[Array, Array]: ...  # fmt: skip
def categorical(
    prob: ArrayLike, shape: int | Sequence[int] | None = None, get_prob: bool = False, dtype: DTypeLike = "int32", *,
    size: int | Sequence[int] | None = None, device: DeviceLike = None, ctx: DeviceLike = None,
) -> Any:  # fmt: skip
    """Draw class numbers by probabilities along the last axis of an array.

    Parameters
    ----------
    prob : array_like
        The probabilities of the classes, of shape (..., classes). They must not be negative, and are divided by their
        sums for the draws.
    shape : int or tuple of ints, optional
        The shape of the draws from each row of probabilities; None for one draw.
    get_prob : bool, optional
        True returns log(prob) of each number drawn, too, through which gradients flow to `prob`.
    dtype : dtype, optional
        The dtype of the numbers.
    size : int or tuple of ints, optional
        Another name for `shape`.
    device : device, optional
        The device of the result, unless `prob` is a forerun array: then it is the device of `prob`.
    ctx : device, optional
        MXNet's name for device.

    Returns
    -------
    array or tuple of arrays
        The class numbers, counted from 0, of shape prob.shape[:-1] + shape; with `get_prob` these, and log(prob) of
        each in the same shape.

    Raises
    ------
    ValueError
        If `prob` has no classes, both names of the shape are given, or an extent is negative. If probabilities are
        negative, or their sum is 0 or not finite: where the result is read, if `prob` is a forerun array.
    TypeError
        For a dtype that arrays cannot have.

    Examples
    --------
    >>> from forerun import np, npx
    >>> prob = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> npx.random.categorical(prob).tolist(), npx.random.categorical(prob, 3).tolist()
    ([1, 0], [[1, 1, 1], [0, 0, 0]])
    """
    if shape is not None and size is not None:
        raise ValueError(f"categorical: shape and size must not both be given, got {shape} and {size}")
    wanted, want = shape if size is None else size, as_dtype("categorical", dtype)
    p = asarray(prob, device=None if is_array(prob) else device or ctx)
    if p.ndim == 0 or not p.shape[-1]:
        raise ValueError(f"categorical: prob must have classes along its last axis, got shape {p.shape}")
    extents = p.shape[:-1] + (() if wanted is None else _shape("categorical", wanted))
    if known(prob):
        _check_classes(prob)
    chances = uniform(size=extents, dtype="float64", device=p.device)
    found = host_op("categorical", lambda v, u: _classes(v, u).astype(want), [p, chances], extents, want)
    return (found, _log_prob(p, found)) if get_prob else found


multinomial = categorical  # MXNet's older name


def _log_prob(p: Array, found: Array) -> Array:
    rows = reshape(found.astype("int64"), (*p.shape[:-1], found.size // max(p.size // p.shape[-1], 1)))
    return log(reshape(take_along_axis(p, rows, -1), found.shape))


def _check_classes(prob: ArrayLike) -> None:
    p = numpy.asarray(prob)
    NOT_NEGATIVE.check("categorical", "prob", p)
    total = p.sum(-1, dtype="float64")
    if (wrong := ~((total > 0) & numpy.isfinite(total))).any():
        raise ValueError(f"categorical: prob must have positive sums, got {float(total[wrong].flat[0])}")


def _classes(p: numpy.ndarray, u: numpy.ndarray) -> numpy.ndarray:
    """Return the class that each chance u falls on; those of row i by p[i]."""
    _check_classes(p)
    shares = numpy.cumsum(p.reshape(-1, p.shape[-1]), -1, "float64")
    total = shares[:, -1:]
    last = (shares < total).sum(-1, keepdims=True)  # with a probability above 0
    at = u.reshape(len(shares), u.size // max(len(shares), 1)) * total
    if at.shape[1] < len(shares):
        columns = [(shares <= at[:, j : j + 1]).sum(-1) for j in range(at.shape[1])]
        found = numpy.stack(columns, -1) if columns else numpy.empty(at.shape, "int64")
    else:
        rows = [numpy.searchsorted(row, t, "right") for row, t in zip(shares, at)]
        found = numpy.stack(rows) if rows else numpy.empty(at.shape, "int64")
    kept: numpy.ndarray = numpy.minimum(found, last).reshape(u.shape)
    return kept
