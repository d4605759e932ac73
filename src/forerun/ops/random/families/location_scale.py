"""Laplace, logistic and Gumbel numbers, of a location and a scale, and numbers whose logarithm is normal.

The workers fill them, and gradients flow to their parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...elementwise.exponential import exp, log
from ..limits import NOT_NEGATIVE
from ..reparametrised import made_of_standard

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["laplace", "lognormal", "logistic", "gumbel"]


def laplace(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers from the Laplace distribution: of density exp(-|x - loc| / scale) / (2 scale).

    size, dtype, errors, gradients, out, ctx: as for `exponential`.

    Parameters
    ----------
    loc : array_like, optional
        The centre of the distribution.
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
    >>> np.random.laplace(1.0, 0.0, size=2).tolist()
    [1.0, 1.0]
    """
    made = lambda draw, loc, scale: loc + scale * (draw("exponential") - draw("exponential"))
    parameters = {"loc": (loc, None), "scale": (scale, NOT_NEGATIVE)}
    return made_of_standard("laplace", made, parameters, size, dtype, device or ctx, out)


def logistic(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers from the logistic distribution: their distribution function is 1 / (1 + exp(-(x - loc) / scale)).

    size, dtype, errors, gradients, out, ctx: as for `exponential`.

    Parameters
    ----------
    loc : array_like, optional
        The centre of the distribution.
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
    >>> np.random.logistic(size=3).shape
    (3,)
    """
    made = lambda draw, loc, scale: loc + scale * log(draw("exponential") / draw("exponential"))
    parameters = {"loc": (loc, None), "scale": (scale, NOT_NEGATIVE)}
    return made_of_standard("logistic", made, parameters, size, dtype, device or ctx, out)


def gumbel(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers from the Gumbel distribution: their distribution function is exp(-exp(-(x - loc) / scale)).

    size, dtype, errors, gradients, out, ctx: as for `exponential`.

    Parameters
    ----------
    loc : array_like, optional
        The centre of the distribution.
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
    >>> np.random.gumbel(size=3).shape
    (3,)
    """
    made = lambda draw, loc, scale: loc - scale * log(draw("exponential"))
    parameters = {"loc": (loc, None), "scale": (scale, NOT_NEGATIVE)}
    return made_of_standard("gumbel", made, parameters, size, dtype, device or ctx, out)


def lognormal(
    mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers whose logarithm is normal with mean `mean` and standard deviation `sigma`.

    size, dtype, errors, gradients, out, ctx: as for `exponential`.

    Parameters
    ----------
    mean : array_like, optional
        The mean of the logarithm.
    sigma : array_like, optional
        The standard deviation of the logarithm.
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
    >>> np.random.lognormal(0.0, 0.0, size=2).tolist()
    [1.0, 1.0]
    """
    made = lambda draw, mean, sigma: exp(draw("normal", mean, sigma))
    parameters = {"mean": (mean, None), "sigma": (sigma, NOT_NEGATIVE)}
    return made_of_standard("lognormal", made, parameters, size, dtype, device or ctx, out)
