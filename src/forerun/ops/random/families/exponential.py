"""Exponential numbers, and powers of them: Rayleigh, Weibull, Pareto and power distributions.

The workers fill them, and gradients flow to their parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.convert import check_choice
from ...elementwise.arithmetic import equal, sqrt
from ...elementwise.exponential import exp, expm1
from ...elementwise.select import where
from ..arguments import draw_into
from ..limits import NOT_NEGATIVE, POSITIVE
from ..reparametrised import made_of_standard

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["exponential", "pareto", "power", "rayleigh", "standard_exponential", "weibull"]


def exponential(
    scale: ArrayLike = 1.0, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None,
    ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers from the exponential distribution: of density exp(-x / scale) / scale for x >= 0.

    The mean is scale. Of shape `size`, or else that of scale; the default float unless dtype is given. Gradients flow
    to scale.

    Parameters
    ----------
    scale : array_like, optional
        The mean.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for device.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        The numbers, of floats.

    Raises
    ------
    ValueError
        If scale is negative: where the result is read, if it is a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.exponential([1.0, 2.0], (3, 2)).shape
    (3, 2)
    """
    made = lambda draw, scale: draw("exponential", 0.0, scale)
    return made_of_standard("exponential", made, {"scale": (scale, NOT_NEGATIVE)}, size, dtype, device or ctx, out)


def standard_exponential(
    size: Shape | None = None, dtype: DTypeLike = None, method: str = "zig", out: Out = None, *,
    device: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers from the exponential distribution with mean 1. The default float unless dtype is given.

    Parameters
    ----------
    size : int or tuple of ints, optional
        The shape of the result; by default one number, without axes.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    method : str, optional
        "zig" or "inv", which change nothing.
    out : array, optional
        An array for the result.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Raises
    ------
    ValueError
        For another method.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.standard_exponential((2, 3)).shape
    (2, 3)
    """
    check_choice("standard_exponential", "method", method, ("zig", "inv"))
    return draw_into("standard_exponential", out, size, dtype, lambda s, d: exponential(1.0, s, d, device=device))


def rayleigh(
    scale: ArrayLike = 1.0, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None,
    ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers from the Rayleigh distribution: of density x / scale**2 * exp(-x * x / (2 * scale**2)) for x >= 0.

    Parameters, size, dtype, errors, gradients, out, ctx: as for `exponential`.

    Parameters
    ----------
    scale : array_like, optional
        The scale of the distribution.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.rayleigh(2.0, 4).shape
    (4,)
    """
    made = lambda draw, scale: scale * sqrt(2.0 * draw("exponential"))
    return made_of_standard("rayleigh", made, {"scale": (scale, NOT_NEGATIVE)}, size, dtype, device or ctx, out)


def weibull(
    a: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None,
    ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers from the Weibull distribution: of density a * x**(a - 1) * exp(-x**a) for x >= 0.

    Parameters, size, dtype, errors, gradients, out, ctx: as for `exponential`.

    Parameters
    ----------
    a : array_like
        The shape parameter.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.weibull(2.0, 4).shape
    (4,)
    """
    return made_of_standard("weibull", _root, {"a": (a, NOT_NEGATIVE)}, size, dtype, device or ctx, out)


def _root(draw: Any, a: Array) -> Array:
    """Exponential numbers to the power 1 / a; of a = 0, 0 as in NumPy."""
    drawn = draw("exponential")
    if isinstance(a, float):
        return drawn ** (1 / a) if a else drawn * 0
    none = equal(a, 0)
    return where(none, 0, drawn ** (1 / where(none, 1, a)))


def pareto(
    a: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None,
    ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers from the Lomax (Pareto II) distribution: of density a / (1 + x)**(a + 1) for x >= 0.

    Parameters, size, dtype, errors, gradients, out, ctx: as for `exponential`.

    Parameters
    ----------
    a : array_like
        The shape parameter.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.pareto(3.0, 4).shape
    (4,)
    """
    made = lambda draw, a: expm1(draw("exponential") / a)
    return made_of_standard("pareto", made, {"a": (a, POSITIVE)}, size, dtype, device or ctx, out)


def power(
    a: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None,
    ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers from the power distribution: of density a * x**(a - 1) in [0, 1].

    Parameters, size, dtype, errors, gradients, out, ctx: as for `exponential`.

    Parameters
    ----------
    a : array_like
        The shape parameter.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.power(3.0, 4).shape
    (4,)
    """
    made = lambda draw, a: exp(-draw("exponential") / a)
    return made_of_standard("power", made, {"a": (a, POSITIVE)}, size, dtype, device or ctx, out)
