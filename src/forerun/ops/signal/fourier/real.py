"""Discrete Fourier transforms of real numbers, and of numbers with conjugates beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..._base.convert import (
    asarray,
    cast,
    write_out,
)
from ..._base.primitive import numpy_when_small
from ...elementwise.arithmetic import conjugate
from .lines import (
    _OTHER_END,
    Extents,
    Norm,
    _axes,
    _complex,
    _extents,
    _fitted,
    _irfft,
    _lines,
    _norm,
    _one,
    _real,
    _rfft,
    _with,
)

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, Out

__all__ = ["hfft", "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftn"]


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
