"""Windows for signals, and phases of complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, axis_of, cast, default_float, is_inexact, is_real_float, promote
from .._base.host_task import host_op
from ..create.ranges import _placed
from ..elementwise.arithmetic import absolute, remainder
from ..elementwise.exponential import arctan2
from ..elementwise.select import where
from ..reduce.scan import cumsum, diff
from ..shape.complex_parts import imag, real
from ..shape.join import concatenate
from ..sort.sort import sort

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike

__all__ = ["angle", "bartlett", "blackman", "hamming", "hanning", "i0", "kaiser", "sort_complex", "unwrap"]


def _window(
    name: str,
    made: Callable[..., numpy.ndarray],
    n: ArrayLike,
    device: DeviceLike,
    *more: object,
    dtype: DTypeLike = None,
) -> Array:
    return _placed(made(n.item() if isinstance(n, _core.Array) else n, *more), dtype, device, None, name)


def bartlett(M: ArrayLike, *, device: DeviceLike = None) -> Array:
    """Return a triangle of M numbers that begins and ends with 0. The default float.

    Parameters
    ----------
    M : array_like
        The number of elements.
    device : device, optional
        The device of the result; by default the current one.

    Returns
    -------
    array
        a triangle of M numbers that begins and ends with 0.

    Examples
    --------
    >>> from forerun import np
    >>> np.bartlett(5).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return _window("bartlett", numpy.bartlett, M, device)


def blackman(M: ArrayLike, *, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> Array:
    """Return the Blackman window of M numbers, 0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1)).

    The default float unless dtype is given.

    Parameters
    ----------
    M : array_like
        The number of elements.
    dtype : dtype, optional
        The dtype; by default the default float.
    device : device, optional
        The device of the result; by default the current one.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The Blackman window of M numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.blackman(3).round(3).tolist()
    [-0.0, 1.0, -0.0]
    """
    return _window("blackman", numpy.blackman, M, device or ctx, dtype=dtype)


def hamming(M: ArrayLike, *, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> Array:
    """Return the Hamming window of M numbers, 0.54 - 0.46 cos(2 pi n / (M - 1)), in the default float or dtype.

    Parameters
    ----------
    M : array_like
        The number of elements.
    dtype : dtype, optional
        The dtype; by default the default float.
    device : device, optional
        The device of the result; by default the current one.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The Hamming window of M numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.hamming(3).round(2)
    array([0.08, 1.  , 0.08])
    """
    return _window("hamming", numpy.hamming, M, device or ctx, dtype=dtype)


def hanning(M: ArrayLike, *, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> Array:
    """Return the Hann window of M numbers, 0.5 - 0.5 cos(2 pi n / (M - 1)), in the default float or dtype.

    Parameters
    ----------
    M : array_like
        The number of elements.
    dtype : dtype, optional
        The dtype; by default the default float.
    device : device, optional
        The device of the result; by default the current one.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The Hann window of M numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.hanning(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _window("hanning", numpy.hanning, M, device or ctx, dtype=dtype)


def kaiser(M: ArrayLike, beta: ArrayLike, *, device: DeviceLike = None) -> Array:
    """Return the Kaiser window of M numbers; beta is its shape: 0 for a rectangle. The default float.

    Parameters
    ----------
    M : array_like
        The number of elements.
    beta : array_like
        The shape of the window.
    device : device, optional
        The device of the result; by default the current one.

    Returns
    -------
    array
        The Kaiser window of M numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.kaiser(3, 0).tolist()
    [1.0, 1.0, 1.0]
    """
    return _window("kaiser", numpy.kaiser, M, device, beta.item() if isinstance(beta, _core.Array) else beta)


def i0(x: ArrayLike) -> Array:
    """Return the modified Bessel function of the first kind and order 0. Of integers in the default float.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The modified Bessel function of the first kind and order 0.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.i0([0.0, 1.0])
    array([1.       , 1.2660658])
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(f"i0: array must be of real numbers, got {x.dtype}")
    dtype = x.dtype if is_real_float(x.dtype) else default_float()
    return host_op("i0", lambda v: numpy.i0(v.astype("float64")).reshape(v.shape).astype(dtype), [x], x.shape, dtype)


# --- phases ---------------------------------------------------------------------------------------


def angle(z: ArrayLike, deg: bool = False) -> Array:
    """Return the angle of complex numbers to the positive real axis, in (-pi, pi], or in degrees. 0 or pi of real ones.

    Parameters
    ----------
    z : array_like
        Complex or real numbers.
    deg : bool, optional
        Whether the angle is in degrees; otherwise in radians.

    Returns
    -------
    array
        The angle of complex numbers to the positive real axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.angle([1.0, 1j], deg=True).tolist()
    [0.0, 90.0]
    """
    z = asarray(z)
    z = z if is_inexact(z.dtype) else cast(z, default_float())
    y = imag(z) if z.dtype.kind == "c" else _core.full(z.shape, 0, z.dtype, z.device)
    found = arctan2(y, real(z))
    return found * (180 / numpy.pi) if deg else found


def unwrap(p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * numpy.pi) -> Array:
    """Return p with multiples of the period added along `axis`, so that no step is larger than half of it.

    Integers keep their dtype if the period is an integer.

    Parameters
    ----------
    p : array_like
        The values.
    discont : float, optional
        Steps up to this size stay.
    axis : int, optional
        The axis to work along; counted from the last if negative.
    period : float, optional
        The period.

    Returns
    -------
    array
        `p` with multiples of the period added along `axis`, so that no step is larger than half of it.

    Raises
    ------
    OverflowError
        For unsigned integers with a period that is an integer.
    ValueError
        For an array without axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.unwrap([0, 1, 2, -1, 0], period=4).tolist()
    [0, 1, 2, 3, 4]
    """
    p = asarray(p)
    if p.ndim == 0:
        raise ValueError("unwrap: array must have at least one axis, got shape ()")
    a = axis_of("unwrap", axis, p.ndim)
    step = diff(p, axis=a)
    discont = period / 2 if discont is None else discont
    whole = promote(step.dtype, asarray(period).dtype).kind in "iu"
    if whole and step.dtype.kind == "u":
        raise OverflowError(f"unwrap: integers must be signed, got {step.dtype}")
    if not whole and step.dtype.kind in "iub":
        step = cast(step, default_float())
    high, even = (period // 2, period % 2 == 0) if whole else (period / 2, True)
    moved = remainder(step + high, period) - high
    if even:
        moved = where((moved == -high) & (step > 0), high, moved)
    change = where(absolute(step) < discont, 0, moved - step)
    head = (slice(None),) * a
    first = p[(*head, slice(0, 1))]
    rest = p[(*head, slice(1, None))] + cumsum(change, a)
    return concatenate([cast(first, change.dtype), cast(rest, change.dtype)], a)


def sort_complex(a: ArrayLike) -> Array:
    """Return the elements sorted by real, then by imaginary part, along the last axis; complex always.

    complex64 for small integers, float16 and float32; complex128 for wider dtypes.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    array
        The elements sorted by real.

    Examples
    --------
    >>> from forerun import np
    >>> np.sort_complex([3, 1, 2]).tolist()
    [(1+0j), (2+0j), (3+0j)]
    """
    x = asarray(a)
    narrow = (x.dtype.kind in "iu" and x.dtype.itemsize < 4) or x.dtype.name in ("float16", "float32")
    found = sort(x)
    return found if x.dtype.kind == "c" else cast(found, numpy.dtype("complex64" if narrow else "complex128"))
