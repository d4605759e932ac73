"""Discrete Fourier transforms of complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from ..._base.primitive import numpy_when_small
from .lines import Extents, Norm, _one, _transform

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, Out

__all__ = ["fft", "fft2", "fftn", "ifft", "ifft2", "ifftn"]


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
