"""Parts of complex numbers: views of the real and the imaginary one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .._base import core as _core
from .._base.convert import asarray, is_number
from .._base.primitive import direct, primitive

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["imag", "real"]


@primitive(lambda g: g, op="real")
def _real(x: Array) -> Array:
    return _core.part(x, False)


@primitive(lambda g: 1j * g, op="imag")
def _imag(x: Array) -> Array:
    return _core.part(x, True)


@direct("real")
def real(val: ArrayLike) -> Array:
    """Return a view of the real part; val itself if it is not complex.

    Parameters
    ----------
    val : array_like
        The numbers.

    Returns
    -------
    array
        a view of the real part.

    Examples
    --------
    >>> from forerun import np
    >>> np.real([1 + 2j, 3.0]).tolist()
    [1.0, 3.0]
    """
    if is_number(val):
        return cast("Array", cast("complex", val).real)
    x = asarray(val)
    return _real(x) if x.dtype.kind == "c" else x


@direct("imag")
def imag(val: ArrayLike) -> Array:
    """Return a view of the imaginary part; new zeros if val is not complex.

    Parameters
    ----------
    val : array_like
        The numbers.

    Returns
    -------
    array
        a view of the imaginary part.

    Examples
    --------
    >>> from forerun import np
    >>> np.imag([1 + 2j, 3.0]).tolist()
    [2.0, 0.0]
    """
    if is_number(val):
        return cast("Array", cast("complex", val).imag)
    x = asarray(val)
    if x.dtype.kind == "c":
        return _imag(x)
    zeros = _core.full(x.shape, 0, x.dtype, x.device)
    if _core.is_scalar(x):
        return _core.as_scalar(zeros)
    return _core.read_only(zeros) if _core.numpy_rules() else zeros
