"""Gamma numbers, and distributions made from them: beta, chi-square and F.

NumPy draws them in a host task. Gradients flow to parameters of `gamma` and `chisquare`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._base.convert import asarray, cast, is_array
from ..arguments import _numbers, _shape, device_for, draw_into
from ..limits import NOT_NEGATIVE, POSITIVE
from ..reparametrised import drawn_dtypes, fitting, parameter, standard_gammas
from .host_draws import _floating

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["gamma", "beta", "chisquare", "f", "noncentral_chisquare", "noncentral_f", "standard_gamma"]


def gamma(
    shape: ArrayLike, scale: ArrayLike = 1.0, size: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers from the gamma distribution: of density c * x**(shape - 1) * exp(-x / scale) for x > 0.

    The mean is shape * scale. size, dtype, errors, out, ctx: as for `exponential`; shape must not be negative either.
    Gradients flow to both: to shape by implicit reparametrisation (Figurnov, Mohamed and Mnih 2018).

    Parameters
    ----------
    shape : array_like
        The shape parameter.
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
    >>> np.random.gamma(2.0, size=3).dtype
    dtype('float32')
    """

    def drawn(size: Shape | None, dtype: DTypeLike) -> Array:
        if _numbers(shape, scale):
            return _floating("gamma", shape, scale, size=size, dtype=dtype, device=device or ctx)
        want, wide = drawn_dtypes("gamma", dtype)
        extents, where = _shape("gamma", size, shape, scale), device_for(device or ctx, shape, scale)
        fitting("gamma", extents, [shape, scale])
        stretched = parameter("gamma", "scale", scale, NOT_NEGATIVE, wide, where)
        check = None if is_array(shape) else NOT_NEGATIVE  # those of arrays are checked by the task that draws
        shapes = asarray(parameter("gamma", "shape", shape, check, wide, where), wide, where)
        result = standard_gammas("gamma", shapes, extents, wide) * stretched
        return result if wide == want else cast(result, want)

    return draw_into("gamma", out, size, dtype, drawn)


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


def beta(
    a: ArrayLike, b: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None
) -> Array:
    """Draw numbers from the beta distribution: of density c * x**(a - 1) * (1 - x)**(b - 1) in [0, 1].

    The mean is a / (a + b). size, dtype: as for `exponential`.

    Parameters
    ----------
    a : array_like
        The first shape parameter.
    b : array_like
        The second shape parameter.
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

    Raises
    ------
    ValueError
        If a or b is not positive: where the result is read, if it is a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.beta(2.0, 3.0, size=(2, 2)).shape
    (2, 2)
    """
    return _floating("beta", a, b, size=size, dtype=dtype, device=device)


def chisquare(df: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None) -> Array:
    """Draw numbers from the chi-square distribution: sums of the squares of df standard normal numbers.

    size, dtype: as for `exponential`. Gradients flow to df, as for `gamma`.

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

    Raises
    ------
    ValueError
        If df is not positive: where the result is read, if it is a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.chisquare(4, size=3).shape
    (3,)
    """
    if _numbers(df):
        return _floating("chisquare", df, size=size, dtype=dtype, device=device)
    want, wide = drawn_dtypes("chisquare", dtype)
    extents, where = _shape("chisquare", size, df), device_for(device, df)
    fitting("chisquare", extents, [df])
    halves = parameter("chisquare", "df", df, POSITIVE, wide, where) / 2
    result = standard_gammas("chisquare", halves, extents, wide) * 2
    return result if wide == want else cast(result, want)


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
