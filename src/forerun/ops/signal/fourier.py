"""Discrete Fourier transforms, computed by the loops of NumPy's.

A transform is linear: its gradient is the conjugate transposed one, which is the transform in the other
direction with the scale at the other end.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..._runtime.device import Device, resolve
from .._base import core as _core
from .._base.convert import (
    as_dtype,
    asarray,
    axes_of,
    axis_of,
    cast,
    check_choice,
    copy,
    default_float,
    is_whole,
    write_out,
)
from .._base.primitive import numpy_when_small, primitive
from ..elementwise.arithmetic import conjugate
from ..index.getitem import getitem
from ..shape.join import pad, roll
from ..shape.views import real

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...typing import Array, ArrayLike, Axis, DeviceLike, DTypeLike, Out

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

Extents = Sequence[int] | None
Norm = str | None
_PIECE, _MOST_PIECES = 1 << 21, 64  # butterflies that are worth a call of their own; calls of one transform
# Generalized ufuncs. They are NumPy's own affair: where it has no such module its public functions are called.
_LOOPS: Any = vars(numpy.fft).get("_pocketfft_umath") or sys.modules.get("numpy.fft._pocketfft_umath")
_OTHER_END = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _wide(op: str, x: Array) -> Array:
    """Return x with numbers of single or double precision: integers as the default float, float16 as float32."""
    x = asarray(x, op=op)
    if x.dtype.kind in "biu":
        return cast(x, default_float())
    return x if x.dtype.char in "fdFD" else cast(x, numpy.dtype("float32"))


def _complex(op: str, x: Array) -> Array:
    """Return x as complex64 or complex128, whichever holds its precision."""
    x = _wide(op, x)
    return x if x.dtype.kind == "c" else cast(x, numpy.dtype("complex128" if x.dtype.itemsize == 8 else "complex64"))


def _real(op: str, x: Array) -> Array:
    """Return x as float32 or float64. TypeError if it is complex."""
    x = _wide(op, x)
    if x.dtype.kind == "c":
        raise TypeError(f"{op}: array must be real, got {x.dtype}")
    return x


def _fitted(x: Array, shape: tuple[int, ...]) -> Array:
    """Return x cut off or continued with zeros at the end of each axis."""
    if any(n > m for n, m in zip(x.shape, shape)):
        x = getitem(x, tuple(slice(0, m) for m in shape))
    if x.shape == shape:
        return x
    return pad(x, tuple((0, m - n) for n, m in zip(x.shape, shape)))


def _with(shape: tuple[int, ...], axis: int, n: int) -> tuple[int, ...]:
    return (*shape[:axis], n, *shape[axis + 1 :])


# --- the three kinds: complex to complex, real to half of complex, and back -----------------------


def _lines_by_numpy(op: str, fn: Callable[..., Any], x: Array, axis: int, n: int, dtype: numpy.dtype) -> Array:
    """Submit a transform of lines along an axis to n elements by a public function of NumPy's, as a task; many are cut
    along another axis, so that idle workers help. (Not recorded.)"""
    shape = _with(x.shape, axis, n)
    others = [a for a in range(x.ndim) if a != axis]
    along = max(others, key=lambda a: shape[a] if a else shape[a] + 0.5, default=0)
    work = max(x.size, math.prod(shape)) * (n.bit_length() + 1)
    pieces = min(shape[along] if others else 1, _MOST_PIECES, work // _PIECE)
    cut = {"pieces": pieces, "axis": along} if pieces > 1 else {}
    return _core.host(fn, [x], [(shape, dtype)], None, op, **cut, cheap=True)[0]


@functools.cache
def _factor(n: int, norm: str, inverse: bool, single: bool) -> Any:
    """Return the normalization factor of n terms, as in NumPy: 1, or a scalar of the transform's precision."""
    norm = _OTHER_END[norm] if inverse else norm
    if norm == "backward":
        return 1
    exact = numpy.dtype("float32" if single else "float64")
    return numpy.reciprocal(numpy.sqrt(n, dtype=exact) if norm == "ortho" else n, dtype=exact)


@functools.cache
def _loop(name: str, dtype: numpy.dtype, plain: bool) -> tuple[Any, numpy.dtype]:
    """The ufunc of that name, and the dtype that it takes in place of one: where the factor is a plain number, NumPy
    computes in double precision."""
    ufunc = getattr(_LOOPS, name)
    factor: Any = int if plain else numpy.dtype(dtype.char.lower())
    return ufunc, ufunc.resolve_dtypes((dtype, factor, None))[0]


def _issue(op: str, loop: str, x: Array, axis: int, extents: tuple[int, int], norm: str) -> Array:
    """A transform of lines along an axis by a loop of NumPy's, without the interpreter lock; extents: of the transform,
    and of its results. (Not recorded.)"""
    n, m = extents
    single = x.dtype in (numpy.float32, numpy.complex64)
    whole = op in ("fft", "ifft")
    dtype = numpy.dtype(
        ("float32" if single else "float64") if op == "irfft" else "complex64" if single else "complex128"
    )
    if _LOOPS is None:
        function = getattr(numpy.fft, op)
        return _lines_by_numpy(op, lambda v: function(v, None if whole else n, axis, norm), x, axis, m, dtype)
    factor = _factor(n, norm, op.startswith("i"), single)
    ufunc, wide = _loop(loop, x.dtype, isinstance(factor, int))
    per_line = 100 + n * n.bit_length() // (2 if whole else 4)
    made: Any = _core.transform(ufunc, op, cast(x, wide), axis, m, factor, per_line)
    return cast(made, dtype)


@primitive(lambda g, axis, inverse, norm: _fft(g, axis, not inverse, _OTHER_END[norm]), op="fft.fft")
def _fft(x: Array, axis: int, inverse: bool, norm: str) -> Array:
    name = "ifft" if inverse else "fft"
    return _issue(name, name, x, axis, (x.shape[axis], x.shape[axis]), norm)


def _rfft_grad(g: Array, shape: tuple[int, ...], axis: int, norm: str) -> Array:
    whole = _fitted(g, _with(g.shape, axis, shape[axis]))
    return real(_fft(whole, axis, True, _OTHER_END[norm]))


@primitive(_rfft_grad, op="fft.rfft")
def _rfft(x: Array, axis: int, norm: str) -> Array:
    n = x.shape[axis]
    return _issue("rfft", "rfft_n_odd" if n % 2 else "rfft_n_even", x, axis, (n, n // 2 + 1), norm)


def _irfft_grad(g: Array, axis: int, n: int, norm: str) -> Array:
    """Each element but the first (and the last, of an even number) stands for two: itself and its conjugate."""
    twice = numpy.full(n // 2 + 1, 2)
    twice[0] = 1
    if n % 2 == 0:
        twice[-1] = 1
    weights = twice.reshape(tuple(-1 if i == axis else 1 for i in range(g.ndim)))
    return _rfft(g, axis, _OTHER_END[norm]) * _core.from_numpy(weights, g.device)


@primitive(_irfft_grad, op="fft.irfft")
def _irfft(x: Array, axis: int, n: int, norm: str) -> Array:
    return _issue("irfft", "irfft", x, axis, (n, n), norm)


# --- what they are called with --------------------------------------------------------------------


def _norm(op: str, norm: str | None) -> str:
    check_choice(op, "norm", norm or "backward", tuple(_OTHER_END))
    return norm or "backward"


def _axes(op: str, x: Array, s: Extents, axes: Sequence[int] | None) -> tuple[int, ...]:
    """Return the axes to transform: those given, or as many last ones as there are extents, or all.

    One may be there twice.
    """
    if axes is None:
        axes = range(-x.ndim if s is None else -len(s), 0)
    found = tuple(axis_of(op, a, x.ndim) for a in axes)
    if s is not None and len(s) != len(found):
        raise ValueError(f"{op}: s must have an extent for each of {len(found)} axes, got {tuple(s)}")
    return found


def _extents(op: str, x: Array, s: Extents, axes: tuple[int, ...]) -> list[int]:
    extents = [x.shape[a] for a in axes] if s is None else [operator.index(n) for n in s]
    extents = [x.shape[a] if n == -1 else n for a, n in zip(axes, extents)]
    if min(extents, default=1) < 1:
        raise ValueError(f"{op}: number of samples must be positive, got {tuple(extents)}")
    return extents


def _lines(x: Array, axes: Sequence[int], extents: Sequence[int], inverse: bool, norm: str) -> Array:
    """Return the transforms along several axes, the last one first."""
    for a, n in list(zip(axes, extents))[::-1]:
        x = _fft(_fitted(x, _with(x.shape, a, n)), a, inverse, norm)
    return x


def _transform(
    op: str, x: Any, s: Extents, axes: Sequence[int] | None, norm: str | None, inverse: bool, out: Any
) -> Array:
    x, scale = _complex(op, x), _norm(op, norm)
    at = _axes(op, x, s, axes)
    return write_out(op, _lines(x, at, _extents(op, x, s, at), inverse, scale), out)


def _one(n: int | None) -> Extents:
    return None if n is None else (n,)


@numpy_when_small(numpy.fft.fft, "a n axis norm", "aiiS", "fc")
def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """Return the Fourier transform along an axis: sums of x[j] * exp(-2 pi i j k / n).

    complex64 of single precision, complex128 of double.

    Parameters
    ----------
    a : array_like
        The samples.
    n : int, optional
        How many samples; x is cut off or continued with zeros.
    axis : int, optional
        The axis.
    norm : str, optional
        Where the scale 1 / n is: "backward" (in the inverse; the default), "forward", or "ortho" (its root in both).
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The Fourier transform along an axis.

    Raises
    ------
    ValueError
        If n is not positive or norm is another word.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.fft(np.array([1.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j)]
    """
    return _transform("fft", a, _one(n), (axis,), norm, False, out)


@numpy_when_small(numpy.fft.ifft, "a n axis norm", "aiis", "Dc")
def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """Return the inverse of `fft`, with its parameters: sums of x[k] * exp(2 pi i j k / n), divided by n.

    Parameters
    ----------
    a : array_like
        The samples.
    n : int, optional
        The number of samples; the input is cut off or continued with zeros.
    axis : int, optional
        The axis.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The inverse of `fft`.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.ifft([1.0, 1.0]).tolist()
    [(1+0j), 0j]
    """
    return _transform("ifft", a, _one(n), (axis,), norm, True, out)


def fftn(a: ArrayLike, s: Extents = None, axes: Extents = None, norm: Norm = None, out: Out = None) -> Array:
    """Return the Fourier transform along several axes, by default all. s: how many samples along each.

    norm, dtypes, errors: as for `fft`.

    Parameters
    ----------
    a : array_like
        The samples.
    s : sequence of ints, optional
        The number of samples along each of the axes.
    axes : tuple of ints, optional
        The axes; by default all.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The Fourier transform along several axes.

    Raises
    ------
    ValueError
        Also if s has not an extent for each axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.fftn([[1.0, 0.0], [0.0, 0.0]]).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    return _transform("fftn", a, s, axes, norm, False, out)


def ifftn(a: ArrayLike, s: Extents = None, axes: Extents = None, norm: Norm = None, out: Out = None) -> Array:
    """Return the inverse of `fftn`, with its parameters.

    Parameters
    ----------
    a : array_like
        The samples.
    s : sequence of ints, optional
        The number of samples along each of the axes.
    axes : tuple of ints, optional
        The axes; by default all.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The inverse of `fftn`.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.ifftn([[1.0, 1.0], [1.0, 1.0]]).real.tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return _transform("ifftn", a, s, axes, norm, True, out)


@numpy_when_small(numpy.fft.fft2, "a", "a", "fc")
def fft2(a: ArrayLike, s: Extents = None, axes: Sequence[int] = (-2, -1), norm: Norm = None, out: Out = None) -> Array:
    """Return the Fourier transform along two axes, by default the last ones; otherwise as `fftn`.

    Parameters
    ----------
    a : array_like
        The samples.
    s : sequence of ints, optional
        The number of samples along each of the axes.
    axes : tuple of ints, optional
        The two axes.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The Fourier transform along two axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.fft2(np.ones((3, 2, 2))).real[0].tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return _transform("fft2", a, s, axes, norm, False, out)


def ifft2(a: ArrayLike, s: Extents = None, axes: Sequence[int] = (-2, -1), norm: Norm = None, out: Out = None) -> Array:
    """Return the inverse of `fft2`, with its parameters.

    Parameters
    ----------
    a : array_like
        The samples.
    s : sequence of ints, optional
        The number of samples along each of the axes.
    axes : tuple of ints, optional
        The two axes.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The inverse of `fft2`.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.ifft2([[4.0, 0.0], [0.0, 0.0]]).real.tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return _transform("ifft2", a, s, axes, norm, True, out)


def _halved(op: str, x: Any, s: Extents, axes: Sequence[int] | None, norm: str | None) -> Array:
    x, scale = _real(op, x), _norm(op, norm)
    *at, last = _some_axes(op, x, s, axes)
    *extents, n = _extents(op, x, s, (*at, last))
    return _lines(_rfft(_fitted(x, _with(x.shape, last, n)), last, scale), at, extents, False, scale)


def _doubled(op: str, x: Any, s: Extents, axes: Sequence[int] | None, norm: str | None, out: Any) -> Array:
    half = getattr(x, "dtype", None) == numpy.float16  # NumPy gives that back, if this is the only step
    x, scale = _complex(op, x), _norm(op, norm)
    *at, last = _some_axes(op, x, s, axes)
    *extents, n = _extents(op, x, s, (*at, last))
    n = 2 * (x.shape[last] - 1) if s is None else n
    if n < 1:
        raise ValueError(f"{op}: number of samples must be positive, got {n}")
    x = _lines(x, at, extents, True, scale)
    found = _irfft(_fitted(x, _with(x.shape, last, n // 2 + 1)), last, n, scale)
    return write_out(op, cast(found, numpy.dtype("float16")) if half and not at else found, out)


def _some_axes(op: str, x: Array, s: Extents, axes: Sequence[int] | None) -> tuple[int, ...]:
    found = _axes(op, x, s, axes)
    if not found:
        raise ValueError(f"{op}: there must be at least one axis, got shape {x.shape}")
    return found


@numpy_when_small(numpy.fft.rfft, "a n axis norm", "aiis", "F")
def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """Return the Fourier transform of real numbers along an axis: the first n // 2 + 1 elements.

    They tell the others. n, norm, dtypes, errors: as for `fft`.

    Parameters
    ----------
    a : array_like
        The samples.
    n : int, optional
        The number of samples; the input is cut off or continued with zeros.
    axis : int, optional
        The axis.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The Fourier transform of real numbers along an axis.

    Raises
    ------
    TypeError
        If x is complex.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.rfft([1.0, 0.0, 0.0, 0.0]).tolist()
    [(1+0j), (1+0j), (1+0j)]
    """
    return write_out("rfft", _halved("rfft", a, _one(n), (axis,), norm), out)


@numpy_when_small(numpy.fft.irfft, "a n axis norm", "aiis", "Dc")
def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """Return the inverse of `rfft`: n real numbers, by default 2 * (m - 1) from m elements.

    float32 of single precision, float64 of double.

    Parameters
    ----------
    a : array_like
        The first half of the transform.
    n : int, optional
        The number of elements of the result along the axis.
    axis : int, optional
        The axis.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The inverse of `rfft`.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.irfft([1.0, 1.0, 1.0]).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    return _doubled("irfft", a, _one(n), (axis,), norm, out)


def rfftn(a: ArrayLike, s: Extents = None, axes: Extents = None, norm: Norm = None, out: Out = None) -> Array:
    """Return the Fourier transform of real numbers along several axes, by default all; half of it along the last.

    norm, dtypes, errors: as for `fft`.

    Parameters
    ----------
    a : array_like
        The samples.
    s : sequence of ints, optional
        How many samples along each.
    axes : tuple of ints, optional
        The axes; by default all.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The Fourier transform of real numbers along several axes.

    Raises
    ------
    TypeError
        If x is complex.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.rfftn(np.ones((4, 6))).shape
    (4, 4)
    """
    return write_out("rfftn", _halved("rfftn", a, s, axes, norm), out)


def irfftn(a: ArrayLike, s: Extents = None, axes: Extents = None, norm: Norm = None, out: Out = None) -> Array:
    """Return the inverse of `rfftn`, with its parameters.

    The last extent is even unless s tells another.

    Parameters
    ----------
    a : array_like
        The samples.
    s : sequence of ints, optional
        The number of samples along each of the axes.
    axes : tuple of ints, optional
        The axes; by default all.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The inverse of `rfftn`.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.irfftn(np.fft.rfftn(np.ones((4, 5))), (4, 5)).shape
    (4, 5)
    """
    return _doubled("irfftn", a, s, axes, norm, out)


def rfft2(a: ArrayLike, s: Extents = None, axes: Sequence[int] = (-2, -1), norm: Norm = None, out: Out = None) -> Array:
    """Return the Fourier transform of real numbers along two axes, by default the last ones; otherwise as `rfftn`.

    Parameters
    ----------
    a : array_like
        The samples.
    s : sequence of ints, optional
        The number of samples along each of the axes.
    axes : tuple of ints, optional
        The two axes.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The Fourier transform of real numbers along two axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.rfft2(np.ones((3, 4, 6))).shape
    (3, 4, 4)
    """
    return write_out("rfft2", _halved("rfft2", a, s, axes, norm), out)


def irfft2(
    a: ArrayLike, s: Extents = None, axes: Sequence[int] = (-2, -1), norm: Norm = None, out: Out = None
) -> Array:
    """Return the inverse of `rfft2`, with its parameters.

    Parameters
    ----------
    a : array_like
        The samples.
    s : sequence of ints, optional
        The number of samples along each of the axes.
    axes : tuple of ints, optional
        The two axes.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The inverse of `rfft2`.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.irfft2(np.fft.rfft2(np.ones((3, 4, 6)))).shape
    (3, 4, 6)
    """
    return _doubled("irfft2", a, s, axes, norm, out)


def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """Return the Fourier transform of n numbers of which half is given, the rest its conjugate: n real numbers.

    By default n is 2 * (m - 1) for m elements. norm, dtypes, errors: as for `irfft`.

    Parameters
    ----------
    a : array_like
        The first half of the transform.
    n : int, optional
        The number of elements of the result along the axis.
    axis : int, optional
        The axis.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The Fourier transform of n numbers of which half is given.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.hfft([1.0, 1.0, 1.0]).tolist()
    [4.0, 0.0, 0.0, 0.0]
    """
    x = asarray(a, op="hfft")
    return _doubled("hfft", conjugate(x), _one(n), (axis,), _OTHER_END[_norm("hfft", norm)], out)


def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """Return the inverse of `hfft`: of n real numbers the first n // 2 + 1 of their inverse transform.

    Parameters
    ----------
    a : array_like
        The samples.
    n : int, optional
        The number of samples; the input is cut off or continued with zeros.
    axis : int, optional
        The axis.
    norm : str, optional
        The place of the scale: "backward", "ortho" or "forward".
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The inverse of `hfft`.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.ihfft([4.0, 0.0, 0.0, 0.0]).real.tolist()
    [1.0, 1.0, 1.0]
    """
    found = conjugate(_halved("ihfft", a, _one(n), (axis,), _OTHER_END[_norm("ihfft", norm)]))
    return write_out("ihfft", found, out)


# --- frequencies ----------------------------------------------------------------------------------


def _frequencies(op: str, values: numpy.ndarray, dtype: DTypeLike, device: Device | str | None) -> Array:
    want = default_float() if dtype is None else as_dtype(op, dtype)
    return _core.from_numpy(values.astype(want), resolve(device))


def _positive(op: str, n: int) -> int:
    if not is_whole(n) or n < 1:
        raise ValueError(f"{op}: number of samples must be a positive integer, got {n!r}")
    return int(n)


def fftfreq(n: int, d: float = 1.0, device: DeviceLike = None, *, dtype: DTypeLike = None) -> Array:
    """Return the frequencies of the elements of `fft` of n samples, d apart: in cycles per unit of d.

    The default float unless dtype is given.

    Parameters
    ----------
    n : int
        The number of samples.
    d : float, optional
        The distance of two samples.
    device : device, optional
        The device of the result; by default the current one.
    dtype : dtype, optional
        The dtype; by default the default float.

    Returns
    -------
    array
        The frequencies of the elements of `fft` of n samples.

    Raises
    ------
    ValueError
        If n is not a positive integer.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.fftfreq(4, d=0.5).tolist()
    [0.0, 0.5, -1.0, -0.5]
    """
    return _frequencies("fftfreq", numpy.fft.fftfreq(_positive("fftfreq", n), d), dtype, device)


def rfftfreq(n: int, d: float = 1.0, device: DeviceLike = None, *, dtype: DTypeLike = None) -> Array:
    """Return the frequencies of the elements of `rfft` of n samples, d apart: in cycles per unit of d.

    The default float unless dtype is given.

    Parameters
    ----------
    n : int
        The number of samples.
    d : float, optional
        The distance of two samples.
    device : device, optional
        The device of the result; by default the current one.
    dtype : dtype, optional
        The dtype; by default the default float.

    Returns
    -------
    array
        The frequencies of the elements of `rfft` of n samples.

    Raises
    ------
    ValueError
        If n is not a positive integer.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.rfftfreq(4, d=0.5).tolist()
    [0.0, 0.5, 1.0]
    """
    return _frequencies("rfftfreq", numpy.fft.rfftfreq(_positive("rfftfreq", n), d), dtype, device)


def _shifted(op: str, x: ArrayLike, axes: Axis, back: bool) -> Array:
    x = asarray(x)
    at = axes_of(op, axes, x.ndim)
    return roll(x, tuple(-(x.shape[a] // 2) if back else x.shape[a] // 2 for a in at), at) if at else copy(x)


def fftshift(x: ArrayLike, axes: Axis = None) -> Array:
    """Return x with the elements of frequency zero in the middle of the axes, by default all.

    Parameters
    ----------
    x : array_like
        The values.
    axes : tuple of ints, optional
        The axes; by default all.

    Returns
    -------
    array
        `x` with the elements of frequency zero in the middle of the axes, by default all.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.fftshift([0, 1, 2, -2, -1]).tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shifted("fftshift", x, axes, False)


def ifftshift(x: ArrayLike, axes: Axis = None) -> Array:
    """Return the inverse of `fftshift`, also for odd extents.

    Parameters
    ----------
    x : array_like
        The values.
    axes : tuple of ints, optional
        The axes; by default all.

    Returns
    -------
    array
        The inverse of `fftshift`.

    Examples
    --------
    >>> from forerun import np
    >>> np.fft.ifftshift([-2, -1, 0, 1, 2]).tolist()
    [0, 1, 2, -2, -1]
    """
    return _shifted("ifftshift", x, axes, True)
