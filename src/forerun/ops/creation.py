"""New arrays from shapes, numbers and other arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import _core
from ..device import Device, resolve
from . import convert
from .convert import (
    as_dtype,
    cast,
    copy,
    count_of,
    default_float,
    ints_become_floats,
    is_array,
    is_inexact,
    one_of,
    together,
    unsupported,
    vector_of,
)
from .shape import broadcast_to, dense, fortran, reshape, transpose

__all__ = [
    "array", "asarray", "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like",
    "arange", "linspace", "logspace", "geomspace", "eye", "identity", "tri", "meshgrid", "indices",
    "fromfunction", "vander",
]  # fmt: skip

Where = Device | str | None
_copied = copy  # `copy` is a parameter of array()


def _device(device: Where, ctx: Where) -> Device:
    """MXNet's `ctx` is another word for `device`."""
    return resolve(device if device is not None else ctx)


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, (int, numpy.integer)) else tuple(shape)


def _new(op: str, shape: Any, order: Any, like: None, make: Callable[[tuple[int, ...]], Any]) -> Any:
    """What make(shape) gives; with order "F", so that the first axis runs fastest in memory."""
    if order == "C" and like is None:
        return make(_shape(shape))
    unsupported(op, like=like)
    order = order or "C"
    one_of(op, "order", order, ("C", "F", "A", "K"))
    return transpose(make(_shape(shape)[::-1])) if order == "F" else make(_shape(shape))


def array(
    object: Any, dtype: Any = None, *, copy: bool | None = True, order: str = "K", subok: bool = False,
    ndmin: int = 0, ndmax: int = 0, like: None = None, device: Where = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """A new array with the values of numbers, nested lists, NumPy arrays or arrays.

    Python floats get the default float (float32), Python integers int64; arrays keep their dtype. copy: None
    returns an array as it is if its dtype and device fit, False does so or raises ValueError. ndmin: as many axes
    at least, new ones in front. order: "F" for an array whose first axis runs fastest in memory, "C" for one whose last
    does. like and ndmax must not be given, subok changes nothing.
    ValueError if lists at one depth differ in length, TypeError if values are no numbers.

    >>> from forerun import np
    >>> np.array([[1, 2], [3, 4]]).dtype, np.array([1.5]).dtype
    (dtype('int64'), dtype('float32'))
    """
    unsupported("array", like=like, ndmax=ndmax or None)
    where = _device(device, ctx) if device is not None or ctx is not None else None
    result = _made("array", object, dtype, where, copy, order)
    missing = ndmin - result.ndim
    return reshape(result, (1,) * missing + result.shape) if missing > 0 else result


def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, device: Where = None, copy: bool | None = None,
    like: None = None,
) -> Any:  # fmt: skip
    """`a` as an array: itself if it is one of that dtype and device, otherwise a new one.

    Python floats get the default float; Python integers int64 (the default float after `npx.set_np()`);
    NumPy arrays keep their dtype. copy: True for a new one in any case, False for ValueError if it takes a new one.
    Other errors: as for `array`.

    >>> from forerun import np
    >>> x = np.asarray([1, 2, 3])
    >>> np.asarray(x) is x, np.asarray(x, dtype=float).tolist()
    (True, [1.0, 2.0, 3.0])
    """
    unsupported("asarray", like=like)
    return _made("asarray", a, dtype, device, copy, order)


def _made(op: str, x: Any, dtype: Any, device: Where, copy: bool | None, order: str | None) -> Any:
    result = convert.asarray(x, dtype, device, op)
    if order is not None:
        one_of(op, "order", order, ("C", "F", "A", "K"))
        if order == "F" and result.ndim > 1 and not fortran(result):
            result = transpose(_copied(transpose(result)))
        elif order == "C" and not dense(result):
            result = _copied(result)
    if copy is False and result is not x:
        raise ValueError(f"{op}: copy must not be False where values are copied, got {type(x).__name__}")
    return _copied(result) if result is x and copy else result


def empty(
    shape: int | Sequence[int], dtype: Any = None, order: str = "C", *, device: Where = None, like: None = None,
    ctx: Where = None,
) -> Any:  # fmt: skip
    """A new array of any values; memory is taken when it is first written or read.

    The default float unless dtype is given. order: "F" for an array whose first axis runs fastest in memory. like must
    not be given. ValueError if an extent is negative.

    >>> from forerun import np
    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    want, where = _float_or(dtype, "empty"), _device(device, ctx)
    return _new("empty", shape, order, like, lambda extents: _core.empty(extents, want, where))


def _float_or(dtype: Any, op: str) -> numpy.dtype:
    return default_float() if dtype is None else as_dtype(op, dtype)


def full(
    shape: int | Sequence[int], fill_value: Any, dtype: Any = None, order: str = "C", *, device: Where = None,
    like: None = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """A new array with one value everywhere, or with values that broadcast to the shape.

    The dtype is that of the value (a Python float: the default float) unless given; a float loses its fraction in
    integers. order, like: as for `empty`.
    ValueError if an extent is negative or shapes do not fit, OverflowError for an integer that does not fit
    into the dtype.

    >>> from forerun import np
    >>> np.full((2, 2), 7).tolist(), np.full(2, [1.5, 2.0]).tolist()
    ([[7, 7], [7, 7]], [1.5, 2.0])
    """
    where = _device(device, ctx)
    kind = type(fill_value)
    if kind in (bool, int, float, complex):
        want = as_dtype("full", (float if kind is int and ints_become_floats() else kind) if dtype is None else dtype)
        if _core_takes(kind, want):
            return _new("full", shape, order, like, lambda extents: _core.full(extents, fill_value, want, where))
        fill_value, dtype = numpy.asarray(fill_value), want
    value = convert.asarray(fill_value, dtype, where, "full")
    wide = broadcast_to(value, _shape(shape))
    return _new("full", wide.shape, order, like, lambda _: copy(transpose(wide) if order == "F" else wide))


def _core_takes(kind: type, dtype: numpy.dtype) -> bool:
    """Whether a Python number becomes one of a dtype without losing a part."""
    return kind in (bool, int) or dtype.kind in "bc" or (kind is float and is_inexact(dtype))


def zeros(
    shape: int | Sequence[int], dtype: Any = None, order: str = "C", *, device: Where = None, like: None = None,
    ctx: Where = None,
) -> Any:  # fmt: skip
    """A new array of zeros, of the default float (float32) unless dtype is given.

    order, like: as for `empty`. ValueError if an extent is negative, TypeError for a dtype that arrays cannot have.

    >>> from forerun import np
    >>> np.zeros((2, 2)).tolist(), np.zeros(2, int).tolist()
    ([[0.0, 0.0], [0.0, 0.0]], [0, 0])
    """
    want, where = _float_or(dtype, "zeros"), _device(device, ctx)
    return _new("zeros", shape, order, like, lambda extents: _core.full(extents, 0, want, where))


def ones(
    shape: int | Sequence[int], dtype: Any = None, order: str = "C", *, device: Where = None, like: None = None,
    ctx: Where = None,
) -> Any:  # fmt: skip
    """A new array of ones, of the default float (float32) unless dtype is given. Errors: as `zeros`.

    >>> from forerun import np
    >>> np.ones(3).tolist()
    [1.0, 1.0, 1.0]
    """
    want, where = _float_or(dtype, "ones"), _device(device, ctx)
    return _new("ones", shape, order, like, lambda extents: _core.full(extents, 1, want, where))


def _as(
    op: str, x: Any, dtype: Any, order: str | None, shape: Any, device: Where
) -> tuple[Any, numpy.dtype, str, Device]:
    """Shape, dtype, order and device of an array that is like another, but for what is given."""
    x = convert.asarray(x)
    order = order or "K"
    one_of(op, "order", order, ("C", "F", "A", "K"))
    if order != "C":
        order = "F" if order == "F" or fortran(x) else "C"
    want = x.dtype if dtype is None else as_dtype(op, dtype)
    where = x.device if device is None else resolve(device)
    return (x.shape if shape is None else _shape(shape)), want, order, where


def empty_like(
    prototype: Any, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Where = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """A new array of any values with the shape, dtype and device of another one unless given.

    order: "K" for the layout of that array, "C" or "F". subok changes nothing.

    >>> from forerun import np
    >>> np.empty_like(np.arange(6).reshape(2, 3)).shape
    (2, 3)
    """
    extents, want, how, where = _as("empty_like", prototype, dtype, order, shape, device or ctx)
    return empty(extents, want, how, device=where)


def zeros_like(
    a: Any, dtype: Any = None, order: str | None = "K", subok: bool = True, shape: Any = None, *,
    device: Where = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """Zeros with the shape, dtype, layout and device of an array unless given.

    >>> from forerun import np
    >>> np.zeros_like(np.arange(3)).tolist(), np.zeros_like(np.arange(3), shape=(1, 2)).tolist()
    ([0, 0, 0], [[0, 0]])
    """
    extents, want, how, where = _as("zeros_like", a, dtype, order, shape, device or ctx)
    return zeros(extents, want, how, device=where)


def ones_like(
    a: Any, dtype: Any = None, order: str | None = "K", subok: bool = True, shape: Any = None, *,
    device: Where = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """Ones with the shape, dtype, layout and device of an array unless given.

    >>> from forerun import np
    >>> np.ones_like(np.arange(3), dtype=float).tolist()
    [1.0, 1.0, 1.0]
    """
    extents, want, how, where = _as("ones_like", a, dtype, order, shape, device or ctx)
    return ones(extents, want, how, device=where)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str | None = "K", subok: bool = True, shape: Any = None, *,
    device: Where = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """One value everywhere, with the shape, dtype, layout and device of an array unless given.

    A float loses its fraction in integers. OverflowError for an integer that does not fit into the dtype.

    >>> from forerun import np
    >>> np.full_like(np.arange(3), 7).tolist()
    [7, 7, 7]
    """
    extents, want, how, where = _as("full_like", a, dtype, order, shape, device or ctx)
    return full(extents, fill_value, want, how, device=where)


def _placed(values: numpy.ndarray, dtype: Any, device: Where, ctx: Where, op: str) -> Any:
    """Values that NumPy made, in the default float if they are floats and nothing else is asked for."""
    if dtype is not None:
        values = values.astype(as_dtype(op, dtype), copy=False)
    elif values.dtype.kind == "f" or (values.dtype.kind == "i" and ints_become_floats() and op == "arange"):
        values = values.astype(default_float())
    elif values.dtype.kind == "c":
        values = values.astype(as_dtype(op, complex))
    return _core.from_numpy(values, _device(device, ctx))


def arange(
    start: Any = None, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Where = None, like: None = None,
    ctx: Where = None,
) -> Any:  # fmt: skip
    """Numbers from start (by default 0) up to, not including, stop: a vector.

    int64 from integers, otherwise the default float, unless dtype is given. start by keyword must come with stop.
    ZeroDivisionError if step is 0, TypeError if neither start nor stop is given or one has axes.

    >>> from forerun import np
    >>> np.arange(3).tolist(), np.arange(1, 2, 0.5).tolist()
    ([0, 1, 2], [1.0, 1.5])
    """
    unsupported("arange", like=like)
    if start is None and stop is None:
        raise TypeError("arange: start or stop must be given, got none")
    if any(getattr(v, "ndim", 0) for v in (start, stop, step)):
        raise TypeError(f"arange: numbers must have no axes, got {start!r}, {stop!r}, {step!r}")
    if stop is None:
        start, stop = 0, start
    start = 0 if start is None else start
    if step == 0:
        raise ZeroDivisionError("arange: step must not be zero, got 0")
    want = None if dtype is None else as_dtype("arange", dtype)
    whole = want is not None and want.kind in "iub"  # NumPy counts in these; floats are rounded once, at the end
    return _placed(numpy.arange(start, stop, step, want if whole else None), want, device, ctx, "arange")


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Where = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """num numbers at equal distances from start to stop, which is the last one unless `endpoint` is False.

    The default float unless dtype is given; start and stop may be arrays, and the numbers lie along a new axis
    `axis`. retstep: also returns the distance. ValueError if num is negative.

    >>> from forerun import np
    >>> np.linspace(0, 1, 5).tolist(), np.linspace(0, 1, 4, endpoint=False).tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.25, 0.5, 0.75])
    """
    num = count_of("linspace", "num", num)
    want = None if dtype is None else as_dtype("linspace", dtype)
    exact = None if want is None or is_inexact(want) else want
    values, step = numpy.linspace(_known(start), _known(stop), num, endpoint, True, exact, axis)
    placed = _placed(values, want, device, ctx, "linspace")
    return (placed, step) if retstep else placed


def _known(x: Any) -> Any:
    """Values of an array argument that decides what is made: reading them waits."""
    return x.numpy() if is_array(x) else x


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None,
    axis: int = 0, *, device: Where = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """base to the power of each number of `linspace(start, stop, num)`; the default float unless dtype is given.

    >>> from forerun import np
    >>> np.logspace(0, 3, 4, base=2).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    num = count_of("logspace", "num", num)
    values = numpy.logspace(_known(start), _known(stop), num, endpoint, _known(base), None, axis)
    return _placed(values, dtype, device, ctx, "logspace")


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0, *,
    device: Where = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """num numbers at equal ratios from start to stop; the default float unless dtype is given.

    ValueError if start or stop is 0, or num is negative.

    >>> from forerun import np
    >>> np.geomspace(1, 8, 4).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    num, start, stop = count_of("geomspace", "num", num), _known(start), _known(stop)
    if not (numpy.all(start) and numpy.all(stop)):
        raise ValueError(f"geomspace: start and stop must not be zero, got {start} and {stop}")
    return _placed(numpy.geomspace(start, stop, num, endpoint, None, axis), dtype, device, ctx, "geomspace")


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, order: str = "C", *, device: Where = None,
    like: None = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """Ones on diagonal k (above the main one if positive) of an N by M matrix, zeros elsewhere.

    M is N and the dtype the default float unless given. ValueError if an extent is negative.

    >>> from forerun import np
    >>> np.eye(2, 3, 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    unsupported("eye", like=like)
    if order == "F":
        return transpose(eye(N if M is None else M, N, -k, dtype, device=device, ctx=ctx))
    one_of("eye", "order", order, ("C", "F"))
    columns = N if M is None else M
    result = zeros((N, columns), dtype, device=device, ctx=ctx)
    length = max(0, min(N + min(k, 0), columns - max(k, 0)))
    if length:
        size = result.itemsize
        start = (max(-k, 0) * columns + max(k, 0)) * size
        _core.assign(_core.view(result, (length,), ((columns + 1) * size,), start), 1)
    return result


def identity(
    n: int, dtype: Any = None, *, like: None = None, device: Where = None, ctx: Where = None
) -> Any:
    """The n by n identity matrix, of the default float unless dtype is given.

    >>> from forerun import np
    >>> np.identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=dtype, device=device, like=like, ctx=ctx)


def tri(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Where = None,
    like: None = None, ctx: Where = None,
) -> Any:  # fmt: skip
    """Ones at and below diagonal k of an N by M matrix, zeros above; the default float unless dtype is given.

    >>> from forerun import np
    >>> np.tri(2, 3, dtype=int).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    unsupported("tri", like=like)
    return _core.from_numpy(numpy.tri(N, M, k, _float_or(dtype, "tri")), _device(device, ctx))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Coordinates of a grid: one array per vector, in a tuple.

    indexing: "xy" (the first vector along columns) or "ij" (along rows); ValueError if another. sparse: arrays
    have extent 1 but along their own axis, and broadcast to the grid. copy: False for views of the vectors.

    >>> from forerun import np
    >>> [c.tolist() for c in np.meshgrid([1, 2], [3, 4, 5], indexing="ij")]
    [[[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f'meshgrid: indexing must be "xy" or "ij", got {indexing!r}')
    arrays = [convert.asarray(v) for v in xi]
    axes = list(range(len(arrays)))
    if indexing == "xy" and len(axes) > 1:
        axes[:2] = [1, 0]
    placed = [
        reshape(a, tuple(a.size if i == at else 1 for i in range(len(arrays)))) for a, at in zip(arrays, axes)
    ]
    if not sparse:
        shape = together("meshgrid", *(p.shape for p in placed))
        placed = [broadcast_to(p, shape) for p in placed]
    return tuple(map(_copied, placed) if copy else placed)


def indices(dimensions: Sequence[int], dtype: Any = int, sparse: bool = False, *, device: Where = None) -> Any:
    """Positions in a grid: one array of shape `dimensions` per axis, along a new first axis. int64 by default.

    sparse: a tuple of arrays instead, with extent 1 but along their own axis.

    >>> from forerun import np
    >>> np.indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    want, where = as_dtype("indices", dtype), resolve(device)
    if sparse:
        return tuple(_core.from_numpy(x, where) for x in numpy.indices(tuple(dimensions), want, True))
    return _core.from_numpy(numpy.indices(tuple(dimensions), want), where)


def fromfunction(
    function: Any, shape: Sequence[int], *, dtype: Any = float, like: None = None, **kwargs: Any
) -> Any:
    """What a function returns for the positions in a grid: it is called once, with an array per axis.

    Positions are of the default float unless dtype is given.

    >>> from forerun import np
    >>> np.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int).tolist()
    [[0, 1, 2], [10, 11, 12]]
    """
    unsupported("fromfunction", like=like)
    grid = indices(shape, as_dtype("fromfunction", dtype))
    return function(*(grid[i] for i in range(len(shape))), **kwargs)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers of a vector's elements as N columns, from power N - 1 down to 0, or up with `increasing`.

    N: as many as there are elements, unless given. x's dtype, but small integers give int64. ValueError if x is no
    vector or N is negative.

    >>> from forerun import np
    >>> np.vander([1, 2, 3], increasing=True).tolist()
    [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    """
    x = vector_of("vander", x)
    if x.dtype.kind in "biu":
        x = cast(x, convert.promote(x.dtype, numpy.dtype("int64")))
    count = x.size if N is None else count_of("vander", "N", N)
    powers = numpy.arange(count) if increasing else numpy.arange(count)[::-1]
    exponents = cast(_core.from_numpy(powers.copy(), x.device), x.dtype)
    return reshape(x, (x.size, 1)) ** exponents
