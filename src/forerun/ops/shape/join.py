"""Arrays put together, cut into parts, and made larger from their own elements."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    as_dtype,
    asarray,
    asarrays,
    axes_of,
    axis_of,
    cast,
    check_choice,
    copy,
    counts_of,
    is_whole,
    promote,
    write_out,
)
from .._base.host_task import host, quiet
from .._base.primitive import direct, numpy_when_small, primitive
from .._base.registry import register
from .views import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_to,
    expand_dims,
    moveaxis,
    reshape,
)

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis, DTypeLike, Out

__all__ = [
    "array_split", "column_stack", "concatenate", "dstack", "hsplit", "hstack", "pad", "repeat", "roll",
    "split", "stack", "tile", "unstack", "vsplit", "vstack",
]  # fmt: skip


# --- putting together, taking apart ---------------------------------------------------------------


def _part(axis: int, begin: int, end: int) -> tuple[slice, ...]:
    """Return the index of a part along an axis."""
    return (*(slice(None),) * axis, slice(begin, end))


class _Concatenate:
    """Concatenation takes any number of arrays, so it records itself."""

    name = "concatenate"
    stateless = True

    def gradients(self, g: Array, inputs: tuple[Any, ...], axis: int) -> list[Any]:
        """Return the parts that the inputs had."""
        ends = list(itertools.accumulate(x.shape[axis] for x in inputs))
        return [g[_part(axis, end - x.shape[axis], end)] for x, end in zip(inputs, ends)]

    def exported_attributes(self, axis: int) -> int:
        """Return the arguments of `repeated` besides the inputs."""
        return axis

    def repeated(self, inputs: Sequence[Any], axis: int) -> Array:
        """Return the op once more."""
        return self(inputs, axis)

    def __call__(self, arrays: Sequence[Any], axis: int) -> Array:
        out = _core.concatenate(arrays, axis)
        if _core.recording():
            _core.record(self, tuple(arrays), (out,), axis, 0)
        return out


_concatenate = _Concatenate()


class _Split:
    """The parts of an array, which it is all of: their gradients are put together at once."""

    name = "split"
    stateless = True

    def gradients(self, g: Array, inputs: tuple[Any, ...], attrs: tuple[list[int], int]) -> tuple[Any]:
        """Return all parts' gradients, one after the other."""
        return (_concatenate(g if isinstance(g, tuple) else (g,), attrs[1]),)

    def exported_attributes(self, attrs: tuple[list[int], int]) -> tuple[list[int], int]:
        """Return the arguments of `repeated` besides the inputs."""
        return attrs

    def repeated(self, inputs: Sequence[Any], attrs: tuple[list[int], int]) -> Any:
        """Return the op once more."""
        parts = self(inputs[0], *attrs)
        return parts if len(parts) > 1 else parts[0]

    def __call__(self, x: ArrayLike, bounds: list[int], axis: int) -> tuple[Any, ...]:
        parts = tuple(_core.getitem(x, _part(axis, i, j)) for i, j in itertools.pairwise(bounds))
        if _core.recording():
            _core.record(self, (x,), parts, (bounds, axis), 0)
        return parts


_split = _Split()
register(__name__, _concatenate, _split)


def _some(op: str, arrays: Sequence[Any]) -> list[Any]:
    """Return the operands as arrays. ValueError without any."""
    all_ = asarrays(*arrays)
    if not all_:
        raise ValueError(f"{op}: there must be at least one array, got none")
    return all_


def _common(op: str, arrays: list[Any], out: Any, dtype: Any, casting: Any) -> list[Any]:
    """Return arrays of one dtype: the one asked for, or what theirs give together. TypeError if casting forbids it."""
    if out is not None and dtype is not None:
        raise TypeError(f"{op}: out and dtype must not both be given, got {dtype}")
    want = as_dtype(op, dtype) if dtype is not None else promote(*(a.dtype for a in arrays))
    into = want if out is None else out.dtype
    for a in arrays:
        if (dtype is not None or out is not None) and not numpy.can_cast(a.dtype, into, casting):
            raise TypeError(f"{op}: casting must be possible by rule {casting!r}, got {a.dtype} to {into}")
    return [a if a.dtype == want else cast(a, want) for a in arrays]


@direct("concatenate")
def concatenate(
    arrays: Sequence[Any], /, axis: int | None = 0, out: Out = None, *, dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> Array:  # fmt: skip
    """Return the arrays one after the other along an existing axis; None: all flat. Their dtypes are promoted.

    Parameters
    ----------
    arrays : sequence of arrays
        The arrays to put together.
    axis : int, optional
        The axis to put arrays together along; None for all flat.
    out : array, optional
        An array for it.
    dtype : dtype, optional
        That of the result.
    casting : str, optional
        NumPy's rule for either (TypeError if it forbids that).

    Returns
    -------
    array
        The arrays one after the other along an existing axis.

    Raises
    ------
    ValueError
        If there is none, or if they differ in shape along another axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.concatenate([[[1, 2]], [[3, 4], [5, 6]]]).tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    all_ = _some("concatenate", arrays)
    if axis is None:
        all_, axis = [reshape(a, -1) for a in all_], 0
    all_ = _common("concatenate", all_, out, dtype, casting)
    result = _concatenate(all_, axis_of("concatenate", axis, all_[0].ndim))
    return result if out is None else write_out("concatenate", cast(result, out.dtype), out)


@direct("stack")
def stack(
    arrays: Sequence[Any], axis: int = 0, out: Out = None, *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> Array:
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of arrays
        The arrays to put together.
    axis : int, optional
        The position of the new axis in the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    dtype : dtype, optional
        The dtype of the result.
    casting : str, optional
        NumPy's rule for casts that are allowed.

    Returns
    -------
    array
        The joined array.

    Raises
    ------
    ValueError
        If shapes differ or there is no array.

    Examples
    --------
    >>> from forerun import np
    >>> np.stack([[1, 2], [3, 4]]).tolist(), np.stack([[1, 2], [3, 4]], axis=1).tolist()
    ([[1, 2], [3, 4]], [[1, 3], [2, 4]])
    """
    all_ = _some("stack", arrays)
    if any(a.shape != all_[0].shape for a in all_):
        raise ValueError(f"stack: arrays must have one shape, got {sorted({a.shape for a in all_})}")
    wide = [expand_dims(a, axis) for a in all_]
    return concatenate(wide, axis, out, dtype=dtype, casting=casting)


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Split x into views of its slices along an axis, without that axis. `stack` is the inverse.

    Parameters
    ----------
    x : array_like
        The values.
    axis : int, optional
        The axis to split along.

    Returns
    -------
    tuple of arrays
        The views.

    Raises
    ------
    ValueError
        For an array without axes.

    Examples
    --------
    >>> from forerun import np
    >>> [v.tolist() for v in np.unstack([[1, 2], [3, 4]], axis=1)]
    [[1, 3], [2, 4]]
    """
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError("unstack: array must have at least one axis, got shape ()")
    return tuple(_slices(moveaxis(x, axis, 0)))


def _slices(x: Array) -> list[Array]:
    """Return views of x at each position of the first axis.

    By halves where it is recorded: the gradient of a view is as large as what it is a view of, so that n views of the
    whole would cost n times the whole, and these cost its size times log n.
    """
    n = x.shape[0]
    if n < 3 or not _core.recording():
        rows: list[Array] = list(x)
        return rows
    return _slices(x[: n // 2]) + _slices(x[n // 2 :])


@direct("vstack")
def vstack(tup: Sequence[Any], *, dtype: DTypeLike = None, casting: str = "same_kind", out: Out = None) -> Array:
    """Stack arrays row by row; vectors count as rows.

    dtype, casting, out: as for `concatenate`.

    Parameters
    ----------
    tup : sequence of arrays
        The arrays to put together.
    dtype : dtype, optional
        The dtype of the result.
    casting : str, optional
        NumPy's rule for casts that are allowed.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The joined array.

    Raises
    ------
    ValueError
        If widths differ or there is no array.

    Examples
    --------
    >>> from forerun import np
    >>> np.vstack([[1, 2], [[3, 4], [5, 6]]]).tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    rows = [atleast_2d(a) for a in _some("vstack", tup)]
    return concatenate(rows, 0, out, dtype=dtype, casting=casting)


@direct("hstack")
def hstack(tup: Sequence[Any], *, dtype: DTypeLike = None, casting: str = "same_kind") -> Array:
    """Stack arrays column by column; vectors end to end.

    Parameters
    ----------
    tup : sequence of arrays
        The arrays to put together.
    dtype : dtype, optional
        The dtype of the result.
    casting : str, optional
        NumPy's rule for casts that are allowed.

    Returns
    -------
    array
        The joined array.

    Raises
    ------
    ValueError
        If shapes do not fit or there is no array.

    Examples
    --------
    >>> from forerun import np
    >>> np.hstack([[1, 2], [3]]).tolist(), np.hstack([[[1], [2]], [[3], [4]]]).tolist()
    ([1, 2, 3], [[1, 3], [2, 4]])
    """
    all_ = [atleast_1d(a) for a in _some("hstack", tup)]
    return concatenate(all_, 0 if all_[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Sequence[Any]) -> Array:
    """Return arrays put together along the third axis; those with fewer axes as `atleast_3d` makes them.

    Parameters
    ----------
    tup : sequence of arrays
        The arrays to put together.

    Returns
    -------
    array
        Arrays put together along the third axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.dstack([[1, 2], [3, 4]]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return concatenate([atleast_3d(a) for a in _some("dstack", tup)], 2)


def column_stack(tup: Sequence[Any]) -> Array:
    """Stack vectors as the columns of a matrix; matrices are joined along their second axis.

    Parameters
    ----------
    tup : sequence of arrays
        The arrays to put together.

    Returns
    -------
    array
        The matrix.

    Examples
    --------
    >>> from forerun import np
    >>> np.column_stack([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    all_ = _some("column_stack", tup)
    return concatenate([reshape(a, (a.size, 1)) if a.ndim < 2 else a for a in all_], 1)


def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Return views of ary cut along `axis`: into so many parts, as even as can be, or before the given positions.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.
    axis : int, optional
        The axis to cut along.

    Returns
    -------
    list of arrays
        Views of ary cut along `axis`.

    Raises
    ------
    ValueError
        If the number of parts is not positive.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.array_split(np.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    x = asarray(ary)
    a = axis_of("split", axis, x.ndim)
    n = x.shape[a]
    if is_whole(indices_or_sections):
        k = operator.index(indices_or_sections)
        if k < 1:
            raise ValueError(f"split: number of sections must be positive, got {k}")
        sizes = [n // k + (i < n % k) for i in range(k)]
        cuts = [sum(sizes[:i]) for i in range(1, k)]
    elif numpy.ndim(indices_or_sections) != 1:
        raise TypeError(f"split: sections must be an integer or positions, got {indices_or_sections}")
    else:
        cuts = [int(i) for i in indices_or_sections]
    bounds = [0, *cuts, n]
    if bounds == sorted(bounds):
        return list(_split(x, bounds, a))
    return [x[_part(a, i, j)] for i, j in itertools.pairwise(bounds)]


def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Return views of ary cut along `axis` into equal parts, or before the given positions.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.
    axis : int, optional
        The axis to cut along.

    Returns
    -------
    list of arrays
        Views of ary cut along `axis` into equal parts.

    Raises
    ------
    ValueError
        If parts are not equal.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.split(np.arange(4), 2)]
    [[0, 1], [2, 3]]
    >>> [a.tolist() for a in np.split(np.arange(4), [1, 3])]
    [[0], [1, 2], [3]]
    """
    x = asarray(ary)
    n = x.shape[axis_of("split", axis, x.ndim)]
    whole = is_whole(indices_or_sections) and indices_or_sections > 0
    if whole and n % int(indices_or_sections):
        raise ValueError(f"split: axis must divide into equal parts, got extent {n} into {indices_or_sections}")
    return array_split(x, indices_or_sections, axis)


def hsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | Array) -> list[Any]:
    """Return views cut along the second axis, or the only one; as `split`.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.

    Returns
    -------
    list of arrays
        Views cut along the second axis.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.hsplit(np.arange(4).reshape(2, 2), 2)]
    [[[0], [2]], [[1], [3]]]
    """
    return split(ary, indices_or_sections, 1 if asarray(ary).ndim > 1 else 0)


def vsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | Array) -> list[Any]:
    """Return views of an array of two axes or more, cut along the first one; as `split`.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.

    Returns
    -------
    list of arrays
        Views of an array of two axes or more.

    Raises
    ------
    ValueError
        If the array has fewer than two axes.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.vsplit(np.arange(4).reshape(2, 2), 2)]
    [[[0, 1]], [[2, 3]]]
    """
    x = asarray(ary)
    if x.ndim < 2:
        raise ValueError(f"vsplit: array must have at least two axes, got shape {x.shape}")
    return split(x, indices_or_sections, 0)


# --- moving, repeating, adding --------------------------------------------------------------------


def roll(a: ArrayLike, shift: int | Sequence[int], axis: Axis = None) -> Array:
    """Return `a` with elements moved along axes; those that leave at one end come in at the other.

    Without an axis: the flat array is moved.

    Parameters
    ----------
    a : array_like
        The values.
    shift : int or Sequence
        One number, or one for each axis (ValueError if not as many).
    axis : int or tuple of ints, optional
        The axis or axes; None for the flat array.

    Returns
    -------
    array
        `a` with elements moved along axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.roll([1, 2, 3, 4], 1).tolist(), np.roll([[1, 2], [3, 4]], 1, axis=0).tolist()
    ([4, 1, 2, 3], [[3, 4], [1, 2]])
    """
    x = asarray(a)
    if axis is None:
        return reshape(roll(reshape(x, -1), shift, 0), x.shape)
    at = axes_of("roll", axis, x.ndim)
    shifts: Any = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,) * len(at)
    if len(at) == 1:
        at = at * len(shifts)
    if len(at) != len(shifts):
        raise ValueError(f"roll: shift and axis must be of one length, got {shift} and {axis}")
    moved = False
    for i, s in zip(at, shifts):
        n = x.shape[i]
        s = s % n if n else 0
        if s:
            head = (slice(None),) * i
            x = concatenate([x[(*head, slice(n - s, None))], x[(*head, slice(0, n - s))]], i)
            moved = True
    return x if moved else copy(x)


@numpy_when_small(numpy.ndarray.repeat, "a repeats axis", "aci", "biufc")
def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None) -> Array:
    """Repeat each element along `axis`; without an axis, of the flat array.

    Parameters
    ----------
    a : array_like
        The values.
    repeats : array_like
        One number, or one for each position along the axis.
    axis : int, optional
        The axis; None for the flat array.

    Returns
    -------
    array
        The repeated elements.

    Raises
    ------
    ValueError
        If a number of repeats is negative, or their count does not fit the axis.
    TypeError
        If repeats are not integers.

    Examples
    --------
    >>> from forerun import np
    >>> np.repeat([1, 2], 2).tolist(), np.repeat([1, 2], [1, 3]).tolist()
    ([1, 1, 2, 2], [1, 2, 2, 2])
    """
    x = asarray(a)
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        return repeat(reshape(x, -1), repeats, 0)
    a = axis_of("repeat", axis, x.ndim)
    if type(repeats) is int and repeats >= 0:
        return _repeated(x, repeats, a)
    counts = counts_of("repeat", "repeats", repeats, (x.shape[a],))
    index = numpy.repeat(numpy.arange(x.shape[a]), counts)
    return x[(*(slice(None),) * a, index)]


def _repeated(x: Array, times: int, axis: int) -> Array:
    """Each element so many times along an axis, from a view that repeats them."""
    before, n, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    view = broadcast_to(reshape(x, (*before, n, 1, *after)), (*before, n, times, *after))
    return reshape(copy(view), (*before, n * times, *after))


_FEW_TIMES = 8  # that an operation is given the same array


@numpy_when_small(numpy.tile, "A reps", "ac", "biufc")
def tile(A: ArrayLike, reps: int | Sequence[int]) -> Array:
    """Return the whole array several times along each axis; axes that it lacks are put in front.

    Parameters
    ----------
    A : array_like
        The values.
    reps : int or Sequence
        The number of repetitions along each axis.

    Returns
    -------
    array
        The whole array several times along each axis.

    Raises
    ------
    ValueError
        If a number of times is negative.
    TypeError
        If a number of times is not an integer.

    Examples
    --------
    >>> from forerun import np
    >>> np.tile([1, 2], (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    x = asarray(A)
    if type(reps) is int and 0 < reps <= _FEW_TIMES and x.ndim == 1 and x.size:
        return concatenate([x] * reps)
    given = numpy.atleast_1d(numpy.asarray(reps))
    counts = tuple(counts_of("tile", "reps", reps, given.shape).tolist())
    n = max(x.ndim, len(counts))
    shape = (1,) * (n - x.ndim) + x.shape
    counts = (1,) * (n - len(counts)) + counts
    inner = tuple(v for s in shape for v in (1, s))
    outer = tuple(v for s, c in zip(shape, counts) for v in (c, s))
    repeated = broadcast_to(reshape(x, inner), outer)  # a view, which must not be written: its elements repeat
    return reshape(copy(repeated), tuple(s * c for s, c in zip(shape, counts)))


_PAD_MODES: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",), "edge": (), "empty": (), "linear_ramp": ("end_values",),
    "maximum": ("stat_length",), "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",),
    "reflect": ("reflect_type",), "symmetric": ("reflect_type",), "wrap": (),
}  # fmt: skip


@numpy_when_small(numpy.pad, "array pad_width mode", "acs", "biufc")
def pad(array: ArrayLike, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Array:
    """Return an array with elements added before and after along each axis, in its dtype.

    A function as mode is called as by NumPy, with NumPy's vectors, in a worker.

    Parameters
    ----------
    array : array_like
        The values.
    pad_width : int, tuple or dict
        How many, for all axes and sides, as (before, after), as a pair for each axis, or a dict of axes.
    mode : str or callable, optional
        "constant" (with constant_values=0), "edge", "reflect" or another of NumPy's, with its options; only constant
        mode with one number has a gradient.
    **kwargs : any
        The options of the mode.

    Returns
    -------
    array
        An array with elements added before and after along each axis.

    Raises
    ------
    ValueError
        For another mode or option, or a negative width.

    Examples
    --------
    >>> from forerun import np
    >>> np.pad([1, 2], 1).tolist(), np.pad([1, 2], (0, 2), "edge").tolist()
    ([0, 1, 2, 0], [1, 2, 2, 2])
    """
    x = asarray(array)
    if isinstance(pad_width, dict):
        given = {axis_of("pad", axis, x.ndim): width for axis, width in pad_width.items()}
        pad_width = [numpy.broadcast_to(given.get(i, 0), (2,)) for i in range(x.ndim)]
    widths = counts_of("pad", "widths", pad_width, (x.ndim, 2))
    shape = tuple(int(n + a + b) for n, (a, b) in zip(x.shape, widths))
    if callable(mode):
        return host(lambda v: quiet(numpy.pad, v, widths, mode, **kwargs), [x], [(shape, x.dtype)], name="pad")[0]
    check_choice("pad", "mode", mode, tuple(_PAD_MODES))
    if other := set(kwargs) - set(_PAD_MODES[mode]):
        raise ValueError(f"pad: options must be those of mode {mode!r}, got {sorted(other)}")
    if x.ndim == 0:
        return copy(x)
    value = kwargs.get("constant_values", 0)
    if mode == "constant" and isinstance(value, (int, float, complex)):
        return _pad(x, tuple((int(a), int(b)) for a, b in widths), value)
    if mode == "edge" and x.size and not (_core.recording() and x.node is not None):
        return _with_edges(x, widths, shape)
    return host(lambda v: quiet(numpy.pad, v, widths, mode, **kwargs), [x], [(shape, x.dtype)], name="pad")[0]


def _with_edges(x: Array, widths: numpy.ndarray, shape: tuple[int, ...]) -> Array:
    """Return x between copies of its outermost slices along each axis, those along the last axis first."""
    out = _core.empty(shape, x.dtype, x.device)
    inside = [slice(a, a + n) for n, (a, _) in zip(x.shape, widths.tolist())]
    _core.assign(_core.getitem(out, tuple(inside)), x)
    for i in reversed(range(x.ndim)):
        n, (before, after) = x.shape[i], widths[i].tolist()
        for width, start, edge in ((before, 0, 0), (after, before + n, n - 1)):
            if not width:
                continue
            if i == x.ndim - 1:
                source = _core.getitem(x, (..., slice(edge, edge + 1)))
            else:
                at = slice(before + edge, before + edge + 1)
                source = _core.getitem(out, (*inside[:i], at, *inside[i + 1 :]))
            target = _core.getitem(out, (*inside[:i], slice(start, start + width), *inside[i + 1 :]))
            _core.assign(target, broadcast_to(source, target.shape))
        inside[i] = slice(None)
    return out


def _unpad(g: Array, widths: tuple[tuple[int, int], ...]) -> Array:
    return g[tuple(slice(a, g.shape[i] - b) for i, (a, b) in enumerate(widths))]


@primitive(lambda g, widths: _unpad(g, widths), op="pad")
def _pad(x: Array, widths: tuple[tuple[int, int], ...], value: ArrayLike) -> Array:
    shape = tuple(n + a + b for n, (a, b) in zip(x.shape, widths))
    if x.ndim == 1 and x.size:
        ends = [_core.full((n,), value, x.dtype, x.device) for n in widths[0]]
        return _core.concatenate([part for part in (ends[0], x, ends[1]) if part.size], 0)
    out = _core.full(shape, value, x.dtype, x.device)
    _core.assign(_core.getitem(out, tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths))), x)
    return out
