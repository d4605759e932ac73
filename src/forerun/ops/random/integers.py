"""Integers evenly spread over a range; random bytes."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import as_dtype, as_index_array, count_of, is_array
from .._base.host_task import host_op
from .._base.random_stream import current
from .arguments import _numbers, _shape, device_for, draw_into
from .conditions import check_integers

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["randint", "integers", "bytes", "random_integers", "tomaxint"]


def randint(
    low: ArrayLike,
    high: ArrayLike | None = None,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
    out: Out = None,
) -> Array:
    """Return integers evenly spread over [low, high), or [0, low) without high. int64 unless dtype is given.

    low and high may be arrays, which broadcast. Without a size: of their shape.

    Parameters
    ----------
    low : array_like
        The smallest integer, or the upper end if `high` is not given.
    high : array_like, optional
        The upper end.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default int64.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        The integers.

    Raises
    ------
    ValueError
        If there are no such integers (where the result is read, if one is a forerun array).
    TypeError
        If dtype is of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.randint(3, 4, size=2).tolist(), np.random.randint(10, size=(2, 3)).shape
    ([3, 3], (2, 3))
    """
    return draw_into("randint", out, size, dtype, lambda s, d: _integers(low, high, s, d, device or ctx))


def _integers(low: Any, high: Any, size: Shape | None, dtype: Any, device: DeviceLike) -> Array:
    if high is None:
        low, high = 0, low
    want = numpy.dtype("int64") if dtype is None or dtype is int else as_dtype("randint", dtype)
    shape, where = _shape("randint", size, low, high), device_for(device, low, high)
    if _numbers(low, high):
        result = current().fill("integers", shape, want, where, int(low), int(high))
        return _core.as_scalar(result) if size is None else result
    if want.kind not in "iub":
        raise TypeError(f"randint: dtype must be of integers, got {want}")
    check_integers("randint", low, high)
    ends = [as_index_array(v, device=None if is_array(v) else where) for v in (low, high)]
    make = current().generator()

    def draw(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
        check_integers("randint", a, b)
        return make().integers(a, b, shape, want)

    return host_op("randint", draw, ends, shape, want)


def integers(
    low: Array | float,
    high: Array | float | None = None,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    endpoint: bool = False,
    *,
    device: DeviceLike = None,
) -> Array:
    """Return integers evenly spread over [low, high), with `endpoint` up to and including high. Otherwise as `randint`.

    Parameters
    ----------
    low : array_like
        The smallest integer, or the upper end if `high` is not given.
    high : array_like, optional
        The upper end.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default int64.
    endpoint : bool, optional
        Whether `high` can be drawn.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The integers.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.integers(3, 3, size=2, endpoint=True).tolist()
    [3, 3]
    """
    if high is None:
        low, high = 0, low
    return randint(low, high + 1 if endpoint else high, size, dtype, device=device)


def random_integers(
    low: int, high: int | None = None, size: Shape | None = None, *, device: DeviceLike = None
) -> Array:
    """Return integers evenly spread over low to high, both included, or 1 to low. int64.

    Parameters
    ----------
    low : int
        The smallest integer, or the upper end if `high` is not given.
    high : int, optional
        The upper end.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The integers.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.random_integers(1, size=2).tolist()
    [1, 1]
    """
    low, high = (1, low) if high is None else (low, high)
    return randint(low, high + 1, size, device=device)


def tomaxint(size: Shape | None = None, *, device: DeviceLike = None) -> Array:
    """Return integers evenly spread over all that are not negative. int64.

    Parameters
    ----------
    size : int or tuple of ints, optional
        The shape of the result; by default one number, without axes.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        Integers evenly spread over all that are not negative.

    Examples
    --------
    >>> from forerun import np
    >>> (np.random.tomaxint(3) >= 0).all().item()
    True
    """
    return randint(0, 2**63, size, device=device)


def bytes(length: int) -> builtins.bytes:
    """Return random bytes, as Python's bytes: this waits.

    Parameters
    ----------
    length : int
        The number of bytes.

    Returns
    -------
    bytes
        The bytes.

    Examples
    --------
    >>> from forerun import np
    >>> len(np.random.bytes(10))
    10
    """
    drawn = randint(0, 256, count_of("bytes", "length", length), "uint8")
    return drawn.numpy().tobytes()
