"""Random numbers of further continuous distributions.

Those of pareto, power, rayleigh and weibull are made of exponential ones, which workers fill; gradients flow to their
parameters. The others are NumPy's, drawn by a host task from a stream of the op's key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.convert import check_choice
from ..elementwise.arithmetic import equal, sqrt
from ..elementwise.exponential import exp, expm1
from ..elementwise.select import where
from .basic import draw_into
from .distributions import _floating, exponential, gamma
from .limits import NOT_NEGATIVE, POSITIVE
from .reparametrised import made_of_standard

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = [
    "f", "noncentral_chisquare", "noncentral_f", "pareto", "power", "rayleigh", "standard_cauchy",
    "standard_exponential", "standard_gamma", "standard_t", "triangular", "vonmises", "wald", "weibull",
]  # fmt: skip


def f(
    dfnum: ArrayLike, dfden: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None
) -> Array:
    """Draw numbers from the F distribution: ratios of two chi-square numbers, each divided by its degrees of freedom.

    Parameters, size, dtype, errors: as for `gamma`.

    Parameters
    ----------
    dfnum : array_like
        The degrees of freedom of the numerator.
    dfden : array_like
        The degrees of freedom of the denominator.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.f(2.0, 3.0, 4).shape
    (4,)
    """
    return _floating("f", dfnum, dfden, size=size, dtype=dtype, device=device)


def noncentral_chisquare(
    df: ArrayLike, nonc: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None
) -> Array:
    """Draw numbers from the chi-square distribution with a noncentrality `nonc`.

    Parameters, size, dtype, errors: as for `gamma`.

    Parameters
    ----------
    df : array_like
        The degrees of freedom.
    nonc : array_like
        The noncentrality.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.noncentral_chisquare(3.0, 1.0, 4).shape
    (4,)
    """
    return _floating("noncentral_chisquare", df, nonc, size=size, dtype=dtype, device=device)


def noncentral_f(
    dfnum: ArrayLike, dfden: ArrayLike, nonc: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers from the F distribution with a noncentrality `nonc`.

    Parameters, size, dtype, errors: as for `gamma`.

    Parameters
    ----------
    dfnum : array_like
        The degrees of freedom of the numerator.
    dfden : array_like
        The degrees of freedom of the denominator.
    nonc : array_like
        The noncentrality.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.noncentral_f(2.0, 3.0, 1.0, 4).shape
    (4,)
    """
    return _floating("noncentral_f", dfnum, dfden, nonc, size=size, dtype=dtype, device=device)


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


def standard_cauchy(size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None) -> Array:
    """Draw numbers from the Cauchy distribution: of density 1 / (pi * (1 + x * x)).

    Parameters, size, dtype, errors: as for `gamma`.

    Parameters
    ----------
    size : int or tuple of ints, optional
        The shape of the result; by default one number, without axes.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.standard_cauchy(4).shape
    (4,)
    """
    return _floating("standard_cauchy", size=size, dtype=dtype, device=device)


def standard_t(
    df: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None
) -> Array:
    """Draw numbers from Student's t distribution with df degrees of freedom.

    Parameters, size, dtype, errors: as for `gamma`.

    Parameters
    ----------
    df : array_like
        The degrees of freedom.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.standard_t(3.0, 4).shape
    (4,)
    """
    return _floating("standard_t", df, size=size, dtype=dtype, device=device)


def triangular(
    left: ArrayLike, mode: ArrayLike, right: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers from the triangular distribution: of a density that rises from left to mode and falls to right.

    Parameters, size, dtype, errors: as for `gamma`.

    Parameters
    ----------
    left : array_like
        The smallest number.
    mode : array_like
        The number where the density is highest.
    right : array_like
        The largest number.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.triangular(0.0, 1.0, 2.0, 4).shape
    (4,)
    """
    return _floating("triangular", left, mode, right, size=size, dtype=dtype, device=device)


def vonmises(
    mu: ArrayLike, kappa: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None
) -> Array:
    """Draw numbers from the von Mises distribution on [-pi, pi]: of density c * exp(kappa * cos(x - mu)).

    Parameters, size, dtype, errors: as for `gamma`.

    Parameters
    ----------
    mu : array_like
        The angle where the density is highest.
    kappa : array_like
        The concentration.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.vonmises(0.0, 4.0, 4).shape
    (4,)
    """
    return _floating("vonmises", mu, kappa, size=size, dtype=dtype, device=device)


def wald(
    mean: ArrayLike, scale: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None
) -> Array:
    """Draw numbers from the Wald (inverse Gaussian) distribution.

    Parameters, size, dtype, errors: as for `gamma`.

    Parameters
    ----------
    mean : array_like
        The mean.
    scale : array_like
        The scale of the distribution.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.wald(1.0, 2.0, 4).shape
    (4,)
    """
    return _floating("wald", mean, scale, size=size, dtype=dtype, device=device)


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
        "zig" or "inv", which change nothing (ValueError for another).
    out : array, optional
        An array for the result.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.standard_exponential((2, 3)).shape
    (2, 3)
    """
    check_choice("standard_exponential", "method", method, ("zig", "inv"))
    return draw_into("standard_exponential", out, size, dtype, lambda s, d: exponential(1.0, s, d, device=device))


def standard_gamma(
    shape: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, out: Out = None, *, device: DeviceLike = None
) -> Array:
    """Draw numbers from the gamma distribution with scale 1. Otherwise as `gamma`. out: an array for the result.

    Parameters
    ----------
    shape : array_like
        The shape parameter.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    out : array, optional
        An array of the result's shape, which is written and returned.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.standard_gamma(2.0, 3).shape
    (3,)
    """
    return draw_into("standard_gamma", out, size, dtype, lambda s, d: gamma(shape, 1.0, s, d, device=device))
