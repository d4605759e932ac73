"""Frequencies of Fourier transforms, and shifts of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from ...._runtime.device import Device, resolve
from ..._base import core as _core
from ..._base.convert import (
    as_dtype,
    asarray,
    axes_of,
    copy,
    default_float,
    is_whole,
)
from ...shape.flip_roll import roll

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, Axis, DeviceLike, DTypeLike

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


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
