"""Shapes: views where memory allows, and the ops that put arrays together."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy

from .. import _core
from .base import primitive
from .convert import asarray, axes_of, cast, counts_of, one_of, promote, together

__all__ = [
    "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to",
    "column_stack", "concatenate", "dstack", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "hstack",
    "imag", "matrix_transpose", "moveaxis", "pad", "ravel", "real", "repeat", "reshape", "roll", "rollaxis",
    "rot90", "split", "squeeze", "stack", "swapaxes", "tile", "transpose", "vsplit", "vstack",
]  # fmt: skip

Axis = int | Sequence[int] | None


@primitive(lambda g, shape: reshape(g, shape))
def reshape(x: Any, shape: Any) -> Any:
    """x with another shape of the same size: a view where memory allows. One extent may be -1."""
    return _core.reshape(x, shape)


@primitive(lambda g, axes: transpose(g, tuple(int(i) for i in numpy.argsort(axes))))
def _transpose(x: Any, axes: tuple[int, ...]) -> Any:
    return _core.transpose(x, axes)


def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    """A view of x with its axes in another order; by default reversed."""
    x = asarray(x)
    if axes is None:
        axes = tuple(range(x.ndim))[::-1]
    elif not hasattr(axes, "__len__") or len(axes) != x.ndim:
        raise ValueError(f"transpose: axes must name each of {x.ndim} axes, got {axes}")
    return _transpose(x, axes_of("transpose", tuple(axes), x.ndim))


@primitive(lambda g: g)
def broadcast_to(x: Any, shape: Any) -> Any:
    """A view of x repeated to a larger shape. Not to be written to."""
    return _core.broadcast_to(x, shape)


def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """Views of the arrays with the shape that they have together."""
    all_ = [asarray(a) for a in arrays]
    shape = together("broadcast_arrays", *(a.shape for a in all_))
    return tuple(a if a.shape == shape else broadcast_to(a, shape) for a in all_)


def expand_dims(x: Any, axis: int | Sequence[int]) -> Any:
    """A view with axes of extent 1 put in at `axis` (positions in the result)."""
    x = asarray(x)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    at = axes_of("expand_dims", axis, x.ndim + count)
    rest = iter(x.shape)
    return reshape(x, tuple(1 if i in at else next(rest) for i in range(x.ndim + count)))


def squeeze(x: Any, axis: Axis = None) -> Any:
    """A view without axes of extent 1: all, or those named. ValueError if a named one is longer."""
    x = asarray(x)
    at = axes_of("squeeze", axis, x.ndim)
    if axis is not None and any(x.shape[a] != 1 for a in at):
        raise ValueError(f"squeeze: axes must have extent 1, got axis {axis} of shape {x.shape}")
    return reshape(x, tuple(n for i, n in enumerate(x.shape) if not (i in at and n == 1)))


def moveaxis(x: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    """A view with some axes moved to other positions; the others keep their order."""
    x = asarray(x)
    a, b = axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim)
    if len(a) != len(b):
        raise ValueError(
            f"moveaxis: source and destination must be of one length, got {source} and {destination}"
        )
    order = [i for i in range(x.ndim) if i not in a]
    for to, axis in sorted(zip(b, a)):
        order.insert(to, axis)
    return transpose(x, order)


def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """A view with two axes exchanged."""
    x = asarray(x)
    a, b = axes_of("swapaxes", axis1, x.ndim)[0], axes_of("swapaxes", axis2, x.ndim)[0]
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return transpose(x, order)


def rollaxis(x: Any, axis: int, start: int = 0) -> Any:
    """A view with `axis` moved back until it lies before `start`."""
    x = asarray(x)
    a = axes_of("rollaxis", axis, x.ndim)[0]
    to = start + x.ndim if start < 0 else start
    return moveaxis(x, a, to - 1 if to > a else to)


def matrix_transpose(x: Any) -> Any:
    """A view with the last two axes exchanged."""
    return swapaxes(x, -1, -2)


def ravel(x: Any) -> Any:
    """x with one axis; a view where memory allows."""
    return reshape(asarray(x), (-1,))


def atleast_1d(x: Any) -> Any:
    """x with at least one axis."""
    x = asarray(x)
    return x if x.ndim else reshape(x, (1,))


def atleast_2d(x: Any) -> Any:
    """x with at least two axes, new ones in front."""
    x = asarray(x)
    return x if x.ndim > 1 else reshape(x, (1, x.size) if x.ndim else (1, 1))


def atleast_3d(x: Any) -> Any:
    """x with at least three axes, as NumPy adds them."""
    x = atleast_2d(x) if asarray(x).ndim < 2 else asarray(x)
    if x.ndim > 2:
        return x
    return reshape(x, (*x.shape, 1)) if x.shape[0] != 1 else reshape(x, (1, x.shape[1], 1))


# --- reversing, repeating -------------------------------------------------------------------------


def flip(x: Any, axis: Axis = None) -> Any:
    """A view with the order of elements reversed along the axes; by default all."""
    x = asarray(x)
    at = axes_of("flip", axis, x.ndim)
    return x[tuple(slice(None, None, -1) if i in at else slice(None) for i in range(x.ndim))]


def fliplr(x: Any) -> Any:
    """Reversed along axis 1."""
    return flip(x, 1)


def flipud(x: Any) -> Any:
    """Reversed along axis 0."""
    return flip(x, 0)


def rot90(x: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Turned by 90 degrees k times in the plane of two axes."""
    k %= 4
    if k == 0:
        return asarray(x)
    if k == 2:
        return flip(x, axes)
    return swapaxes(flip(x, axes[1]), *axes) if k == 1 else flip(swapaxes(x, *axes), axes[1])


def roll(x: Any, shift: int | Sequence[int], axis: Axis = None) -> Any:
    """Elements moved along axes; those that leave at one end come in at the other."""
    x = asarray(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    at = axes_of("roll", axis, x.ndim)
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,) * len(at)
    if len(at) == 1:
        at = at * len(shifts)
    if len(at) != len(shifts):
        raise ValueError(f"roll: shift and axis must be of one length, got {shift} and {axis}")
    for a, s in zip(at, shifts):
        n = x.shape[a]
        s = s % n if n else 0
        if s:
            head = (slice(None),) * a
            x = concatenate([x[(*head, slice(n - s, None))], x[(*head, slice(0, n - s))]], a)
    return x


def repeat(x: Any, repeats: int | Sequence[int], axis: int | None = None) -> Any:
    """Each element several times along `axis`; without an axis of the flat array."""
    x = asarray(x)
    if axis is None:
        return repeat(ravel(x), repeats, 0)
    a = axes_of("repeat", axis, x.ndim)[0]
    counts = counts_of("repeat", "repeats", repeats, (x.shape[a],))
    index = numpy.repeat(numpy.arange(x.shape[a]), counts)
    from .indexing import take

    return take(x, index, a)


def tile(x: Any, reps: int | Sequence[int]) -> Any:
    """The whole array several times along each axis."""
    x = asarray(x)
    given = numpy.atleast_1d(numpy.asarray(reps))
    counts = tuple(counts_of("tile", "reps", reps, given.shape).tolist())
    n = max(x.ndim, len(counts))
    shape = (1,) * (n - x.ndim) + x.shape
    counts = (1,) * (n - len(counts)) + counts
    inner = tuple(v for s in shape for v in (1, s))
    outer = tuple(v for s, c in zip(shape, counts) for v in (c, s))
    return reshape(broadcast_to(reshape(x, inner), outer), tuple(s * c for s, c in zip(shape, counts)))


_PAD_MODES = (
    "constant", "edge", "empty", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect",
    "symmetric", "wrap",
)  # fmt: skip


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    """x with elements added before and after along each axis, as NumPy's pad.

    Only constant mode has a gradient.
    """
    x = asarray(x)
    widths = counts_of("pad", "widths", pad_width, (x.ndim, 2))
    one_of("pad", "mode", mode, _PAD_MODES)
    if mode == "constant":
        return _pad(x, tuple((int(a), int(b)) for a, b in widths), constant_values)
    from .host import host

    shape = tuple(int(n + a + b) for n, (a, b) in zip(x.shape, widths))
    return host(lambda v: numpy.pad(v, widths, mode), [x], [(shape, x.dtype)], name="pad")[0]


def _unpad(g: Any, widths: tuple[tuple[int, int], ...]) -> Any:
    return g[tuple(slice(a, g.shape[i] - b) for i, (a, b) in enumerate(widths))]


@primitive(lambda g, widths: _unpad(g, widths))
def _pad(x: Any, widths: tuple[tuple[int, int], ...], value: Any) -> Any:
    shape = tuple(n + a + b for n, (a, b) in zip(x.shape, widths))
    out = _core.full(shape, value, x.dtype, x.device)
    _core.assign(_core.getitem(out, tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths))), x)
    return out


# --- putting together, taking apart ---------------------------------------------------------------


def _part(g: Any, i: int, inputs: tuple[Any, ...], axis: int) -> Any:
    start = sum(a.shape[axis] for a in inputs[:i])
    return g[(slice(None),) * axis + (slice(start, start + inputs[i].shape[axis]),)]


class _Concatenate:
    """Concatenation takes any number of arrays, so it records itself."""

    name = "concatenate"

    def gradient(self, i: int, g: Any, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> Any:
        return _part(g, i, inputs, attrs["axis"])

    def __call__(self, arrays: Sequence[Any], axis: int) -> Any:
        out = _core.concatenate(arrays, axis)
        if _core.recording():
            _core.record(self, tuple(arrays), (out,), {"axis": axis}, 0)
        return out


_concatenate = _Concatenate()


def _some(op: str, arrays: Sequence[Any]) -> list[Any]:
    """What is to be put together, as arrays. ValueError if there is nothing."""
    all_ = [asarray(a) for a in arrays]
    if not all_:
        raise ValueError(f"{op}: there must be at least one array, got none")
    return all_


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """The arrays side by side along an existing axis; None: all flat. Their dtypes are promoted."""
    all_ = _some("concatenate", arrays)
    if axis is None:
        return concatenate([ravel(a) for a in all_], 0)
    dtype = promote(*(a.dtype for a in all_))
    all_ = [a if a.dtype == dtype else cast(a, dtype) for a in all_]
    return _concatenate(all_, axes_of("concatenate", axis, all_[0].ndim)[0])


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of one shape put together along a new axis."""
    all_ = _some("stack", arrays)
    if any(a.shape != all_[0].shape for a in all_):
        raise ValueError(f"stack: arrays must have one shape, got {sorted({a.shape for a in all_})}")
    return concatenate([expand_dims(a, axis) for a in all_], axis)


def vstack(arrays: Sequence[Any]) -> Any:
    """Rows below one another."""
    return concatenate([atleast_2d(a) for a in _some("vstack", arrays)], 0)


def hstack(arrays: Sequence[Any]) -> Any:
    """Columns beside one another; vectors end to end."""
    all_ = [atleast_1d(a) for a in _some("hstack", arrays)]
    return concatenate(all_, 0 if all_[0].ndim == 1 else 1)


def dstack(arrays: Sequence[Any]) -> Any:
    """Put together along the third axis."""
    return concatenate([atleast_3d(a) for a in _some("dstack", arrays)], 2)


def column_stack(arrays: Sequence[Any]) -> Any:
    """Vectors as the columns of a matrix."""
    all_ = _some("column_stack", arrays)
    return concatenate([reshape(a, (a.size, 1)) if a.ndim < 2 else a for a in all_], 1)


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Views of x cut along `axis`: into so many parts, as even as can be, or before the given positions."""
    x = asarray(x)
    a = axes_of("split", axis, x.ndim)[0]
    n = x.shape[a]
    if isinstance(indices_or_sections, (int, numpy.integer)):
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
    head = (slice(None),) * a
    return [x[(*head, slice(i, j))] for i, j in itertools.pairwise(bounds)]


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Views of x cut along `axis` into equal parts, or before the given positions.

    ValueError if parts are not equal.
    """
    x = asarray(x)
    n = x.shape[axes_of("split", axis, x.ndim)[0]]
    if isinstance(indices_or_sections, (int, numpy.integer)) and n % int(indices_or_sections):
        raise ValueError(
            f"split: axis must divide into equal parts, got extent {n} into {indices_or_sections}"
        )
    return array_split(x, indices_or_sections, axis)


def hsplit(x: Any, indices_or_sections: Any) -> list[Any]:
    """Cut along the second axis, or the only one."""
    return split(x, indices_or_sections, 1 if asarray(x).ndim > 1 else 0)


def vsplit(x: Any, indices_or_sections: Any) -> list[Any]:
    """Cut along the first axis."""
    return split(x, indices_or_sections, 0)


# --- parts of complex numbers: views --------------------------------------------------------------


def _parts(x: Any) -> Any:
    """The real and imaginary parts of a complex array side by side on a last axis, as values."""
    from .host import host

    dtype = numpy.dtype("float32" if x.dtype == numpy.complex64 else "float64")
    return host(lambda v: numpy.stack([v.real, v.imag], -1), [x], [((*x.shape, 2), dtype)], name="parts")[0]


@primitive(lambda g: g)
def _real(x: Any) -> Any:
    return _core.getitem(_parts(x), (..., 0))


@primitive(lambda g: -1j * g if g.dtype.kind != "c" else g * -1j)
def _imag(x: Any) -> Any:
    return _core.getitem(_parts(x), (..., 1))


def real(x: Any) -> Any:
    """The real part."""
    x = asarray(x)
    return _real(x) if x.dtype.kind == "c" else x


def imag(x: Any) -> Any:
    """The imaginary part; zeros for real arrays."""
    x = asarray(x)
    return _imag(x) if x.dtype.kind == "c" else _core.full(x.shape, 0, x.dtype, x.device)
