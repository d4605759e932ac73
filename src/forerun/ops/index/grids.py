"""Coordinates of grids; and grids and rows written as slices: mgrid, ogrid, r_, c_, s_ and index_exp."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from ..._runtime.device import resolve
from .._base import core as _core
from .._base.convert import (
    NUMBERS,
    as_dtype,
    asarray,
    asarray_like_device,
    asarrays,
    broadcast_shapes,
    cast,
    copy,
    count_of,
    device_of,
    is_array,
    promote,
    unsupported,
    vector_of,
)
from ..create.like import ones_like
from ..create.ranges import arange, linspace
from ..elementwise.arithmetic import multiply
from ..shape.axis_order import moveaxis
from ..shape.broadcast import broadcast_to
from ..shape.join import concatenate, stack
from ..shape.reshape import reshape
from .setitem import fit

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike

__all__ = [
    "c_", "fromfunction", "index_exp", "indices", "meshgrid", "mgrid", "ogrid", "r_", "s_", "vander",
]  # fmt: skip

s_, index_exp = numpy.s_, numpy.index_exp
_copied = copy  # `copy` is a parameter of meshgrid()


class _Grid:
    """Coordinates of a grid, one slice for each axis: `np.mgrid[0:2, 0:3]`.

    A step that is imaginary is a number of points, and the end is one of them. Coordinates are int64, or of the
    default float if a slice has floats. mgrid gives one array with the axes' coordinates along its first axis, ogrid
    a tuple of arrays that broadcast together; both a vector for a single slice.

    >>> from forerun import np
    >>> np.mgrid[0:2, 0:3].tolist()
    [[[0, 0, 0], [1, 1, 1]], [[0, 1, 2], [0, 1, 2]]]
    >>> [x.tolist() for x in np.ogrid[0:2, 0:1:3j]]
    [[[0.0], [1.0]], [[0.0, 0.5, 1.0]]]
    """

    def __init__(self, name: str, numpy_grid: Any) -> None:
        self._name = name
        self._numpy_grid = numpy_grid

    def __getitem__(self, key: Array) -> Any:
        try:
            found = self._numpy_grid[key]
        except (TypeError, AttributeError) as error:
            raise type(error)(f"{self._name}: an index must be slices of numbers, got {key!r}") from None
        if isinstance(found, tuple):
            return tuple(_as_array(x) for x in found)
        return _as_array(found)

    def __repr__(self) -> str:
        return f"<forerun {self._name}>"


def _as_array(x: numpy.ndarray) -> Array:
    return asarray(x, float if x.dtype.kind == "f" else None)


mgrid, ogrid = _Grid("mgrid", numpy.mgrid), _Grid("ogrid", numpy.ogrid)


class _Row:
    """Arrays, numbers and slices put together along an axis, written as an index.

    A slice is a range (an imaginary step: a number of points, with the end). A first entry of text says how: up to
    three numbers are the axis, the least number of axes, and at which of those the axes of smaller arrays begin.
    r_ joins along the first axis; c_ makes columns of vectors and joins along the last.

    >>> from forerun import np
    >>> np.r_[1:4, 0, [5, 6]].tolist(), np.c_[[1, 2], [3, 4]].tolist()
    ([1, 2, 3, 0, 5, 6], [[1, 3], [2, 4]])
    >>> np.r_["0,2", [1, 2], [3, 4]].tolist()
    [[1, 2], [3, 4]]
    """

    def __init__(self, name: str, how: tuple[int, int, int]) -> None:
        self._name = name
        self._how = how  # the axis, the least number of axes, and where those of smaller arrays begin

    def __getitem__(self, key: Any) -> Array:
        if self._how is _ROW and type(key) is tuple and (vectors := _vectors(key)):
            return concatenate(vectors)
        if self._how is _COLUMNS and type(key) is tuple and (matrices := _matrices(key)):
            return concatenate(matrices, 1)
        entries = list(key) if isinstance(key, tuple) else [key]
        how = list(self._how)
        if entries and isinstance(entries[0], str):
            given = self._directive(entries.pop(0))
            how[: len(given)] = given
        if not entries:
            raise ValueError(f"{self._name}: there must be at least one array, got none")
        for e in entries:
            if isinstance(e, str):
                raise ValueError(f"{self._name}: text must be the first entry, got {e!r}")
        there = device_of(*entries)
        entries = [asarray(_range(e), device=there) if isinstance(e, slice) else e for e in entries]
        pieces = [e if type(e) in NUMBERS else asarray_like_device(e, *entries) for e in entries]
        dtype = _together([x.dtype for x in pieces if is_array(x)], [x for x in pieces if not is_array(x)])
        return concatenate([self._deep(self._array(x, dtype, there), how[1], how[2]) for x in pieces], how[0])

    def _array(self, x: Array, dtype: numpy.dtype, device: Any) -> Array:
        return asarray(x, dtype) if is_array(x) else asarray(fit(self._name, dtype, x), dtype, device)

    def _directive(self, text: str) -> list[int]:
        try:
            numbers = [int(word) for word in text.split(",")]
            if len(numbers) > 3:
                raise ValueError
            return numbers
        except ValueError:
            raise ValueError(
                f"{self._name}: text must be one to three numbers with commas between them, got {text!r}"
            ) from None

    def _deep(self, x: Array, ndim: int, begin: int) -> Array:
        """Return x with at least so many axes, its own ones from `begin` on."""
        more = ndim - x.ndim
        if more <= 0:
            return x
        was = x.ndim
        x = reshape(x, (1,) * more + x.shape)
        at = begin if begin >= 0 else begin + more + 1
        if not 0 <= at <= more:
            raise ValueError(f"{self._name}: axes must begin at one from 0 to {more}, got {begin}")
        return moveaxis(x, list(range(more, ndim)), [at + i for i in range(was)])

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<forerun {self._name}>"


_HELD: dict[str, tuple[type, ...]] = {  # by dtype, the classes of numbers that do not change it
    "?": (bool,),
    **dict.fromkeys("bBhHiIlL", (bool, int)),
    **dict.fromkeys("fd", (bool, int, float)),
    **dict.fromkeys("FD", NUMBERS),
}
_ENDS = {char: (int(numpy.iinfo(char).min), int(numpy.iinfo(char).max)) for char in "bBhHiIlL"}  # of integers
_ROW, _COLUMNS = (0, 1, -1), (-1, 2, 0)  # as r_ and c_ put together


def _vectors(entries: tuple[Any, ...]) -> list[Any]:
    """The entries of r_ as vectors of one dtype, where they are such vectors and numbers that it holds; else none."""
    first = next((e for e in entries if isinstance(e, _core.Array)), None)
    if first is None:
        return []
    dtype, device, found = first.dtype, first.device, []
    held, (least, most) = _HELD.get(dtype.char, ()), _ENDS.get(dtype.char, _ENDS["l"])
    for e in entries:
        if type(e) in held and (type(e) is not int or least <= e <= most):
            e = asarray([e], dtype, device)
        elif not isinstance(e, _core.Array) or e.ndim != 1 or e.dtype is not dtype or e.device is not device:
            return []
        found.append(e)
    return found


def _matrices(entries: tuple[Any, ...]) -> list[Any]:
    """The entries of c_ as matrices, where all are vectors and matrices of one dtype; else none."""
    first = entries[0] if entries else None
    if not isinstance(first, _core.Array):
        return []
    for e in entries:
        if not isinstance(e, _core.Array) or e.ndim not in (1, 2) or e.dtype is not first.dtype:
            return []
        if e.device is not first.device:
            return []
    return [e if e.ndim == 2 else reshape(e, (*e.shape, 1)) for e in entries]


def _together(dtypes: list[numpy.dtype], numbers: list[Any]) -> numpy.dtype:
    """The dtype of arrays and Python numbers together: a number counts only if it is of a kind above the arrays'."""
    if not dtypes:
        return promote(*(asarray(x).dtype for x in numbers))
    strong = promote(*dtypes)
    found = numpy.result_type(strong, *numbers)
    if found.kind == strong.kind or strong.kind == "f":
        return found
    return as_dtype("r_", {"f": float, "c": complex}.get(found.kind, found))


def _range(s: slice) -> Array:
    start, step = 0 if s.start is None else s.start, 1 if s.step is None else s.step
    if isinstance(step, complex):
        result: Array = linspace(start, s.stop, int(abs(step)))
        return result
    return arange(start, s.stop, step)


r_, c_ = _Row("r_", _ROW), _Row("c_", _COLUMNS)


# --- coordinates ---


def meshgrid(*xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Array, ...]:
    """Return coordinates of a grid: one array per vector, in a tuple.

    Parameters
    ----------
    *xi : array_like
        The vectors.
    copy : bool, optional
        False for views of the vectors.
    sparse : bool, optional
        Arrays have extent 1 but along their own axis, and broadcast to the grid.
    indexing : str, optional
        "xy" (the first vector along columns) or "ij" (along rows).

    Returns
    -------
    tuple of arrays
        Coordinates of a grid.

    Raises
    ------
    ValueError
        For another `indexing`.

    Examples
    --------
    >>> from forerun import np
    >>> [c.tolist() for c in np.meshgrid([1, 2], [3, 4, 5], indexing="ij")]
    [[[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f'meshgrid: indexing must be "xy" or "ij", got {indexing!r}')
    arrays = asarrays(*xi)
    axes = list(range(len(arrays)))
    if indexing == "xy" and len(axes) > 1:
        axes[:2] = [1, 0]
    placed = [reshape(a, tuple(a.size if i == at else 1 for i in range(len(arrays)))) for a, at in zip(arrays, axes)]
    if not sparse:
        shape = broadcast_shapes("meshgrid", *(p.shape for p in placed))
        placed = [p if p.shape == shape else broadcast_to(p, shape) for p in placed]
    return tuple(map(_copied, placed) if copy else placed)


_POSITIONS = numpy.dtype("int64")


@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike = int, sparse: Literal[False] = False, *, device: DeviceLike = None
) -> Array: ...
@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike = int, *, sparse: Literal[True], device: DeviceLike = None
) -> tuple[Array, ...]: ...
def indices(
    dimensions: Sequence[int], dtype: DTypeLike = int, sparse: bool = False, *, device: DeviceLike = None
) -> Any:
    """Return positions in a grid: one array of shape `dimensions` per axis, along a new first axis. int64 by default.

    Parameters
    ----------
    dimensions : tuple of ints
        The shape of the grid.
    dtype : dtype, optional
        The dtype of the positions.
    sparse : bool, optional
        A tuple of arrays instead, with extent 1 but along their own axis.
    device : device, optional
        The device of the result; by default the current one.

    Returns
    -------
    array, or tuple of arrays
        The positions.

    Examples
    --------
    >>> from forerun import np
    >>> np.indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    want = _POSITIONS if dtype is int else as_dtype("indices", dtype)
    where = resolve(device)
    if sparse:
        return tuple(_core.from_numpy(x, where) for x in numpy.indices(tuple(dimensions), want, True))
    return _core.taken(numpy.indices(tuple(dimensions), want), where)


def fromfunction(
    function: Callable[..., Any], shape: Sequence[int], *, dtype: DTypeLike = float, like: None = None, **kwargs: Any
) -> Array:
    """Call a function once with the coordinates of a grid, one array per axis, and return its result.

    Positions are of the default float unless dtype is given.

    Parameters
    ----------
    function : callable
        A function of one array for each axis.
    shape : int or tuple of ints
        The shape of the grid.
    dtype : dtype, optional
        The dtype of the coordinates.
    like : None, optional
        Must not be given.
    **kwargs : any
        Keyword arguments of the function.

    Returns
    -------
    array
        The result of the function.

    Examples
    --------
    >>> from forerun import np
    >>> np.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int).tolist()
    [[0, 1, 2], [10, 11, 12]]
    """
    unsupported("fromfunction", like=like)
    grid = indices(shape, as_dtype("fromfunction", dtype))
    result: Array = function(*(grid[i] for i in range(len(shape))), **kwargs)
    return result


_MOST_STEPS = 64  # columns that are made one from the other, as NumPy does


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """Return powers of a vector's elements as N columns, from power N - 1 down to 0, or up with `increasing`.

    N: as many as there are elements, unless given. x's dtype, but small integers give int64.

    Parameters
    ----------
    x : array_like
        The vector.
    N : int, optional
        The number of rows.
    increasing : bool, optional
        Whether the powers rise.

    Returns
    -------
    array
        Powers of a vector's elements as N columns.

    Raises
    ------
    ValueError
        If `x` is not a vector, or `N` is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.vander([1, 2, 3], increasing=True).tolist()
    [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    """
    x = vector_of("vander", x)
    if x.dtype.kind in "biu":
        x = cast(x, promote(x.dtype, numpy.dtype("int64")))
    count = x.size if N is None else count_of("vander", "N", N)
    powers = numpy.arange(count) if increasing else numpy.arange(count)[::-1]
    if count and not (_core.recording() and x.node is not None) and count <= _MOST_STEPS:
        columns = [ones_like(x), *itertools.accumulate([x] * (count - 1), multiply)]
        return stack(columns if increasing else columns[::-1], 1)
    exponents = cast(_core.from_numpy(powers.copy(), x.device), x.dtype)
    return reshape(x, (x.size, 1)) ** exponents
