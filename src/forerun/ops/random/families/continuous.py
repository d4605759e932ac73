"""Further distributions of floats, which NumPy draws: of Cauchy, Student, von Mises, Wald, and the triangular one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .host_draws import _floating

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, DeviceLike, DTypeLike, Shape

__all__ = ["standard_cauchy", "standard_t", "triangular", "vonmises", "wald"]


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
