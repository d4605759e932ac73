"""Random vectors, along a new last axis; as NumPy draws them in a host task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from ..._base.convert import as_dtype, asarray, check_choice, count_of, default_float, is_array
from ..._base.host_task import host_op
from ..._base.random_stream import current
from ..arguments import _rows, _shape, device_for
from ..conditions import check_colors, check_ways, known
from ..limits import NOT_NEGATIVE

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, DeviceLike, DTypeLike, Shape

__all__ = ["multinomial", "multivariate_normal", "dirichlet", "multivariate_hypergeometric"]


def multinomial(n: int, pvals: ArrayLike, size: Shape | None = None, *, device: DeviceLike = None) -> Array:
    """Draw counts of n trials that each end in one of several ways. int64, ways along a new last axis.

    Parameters
    ----------
    n : int
        The number of trials.
    pvals : array_like
        The probabilities of the outcomes along the last axis; the last outcome has the remaining probability.
    size : int or tuple of ints, optional
        The shape of the result, without its last axis.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The counts.

    Raises
    ------
    ValueError
        If n is negative, or one of them is not in [0, 1], or the others' sum is above 1: where the result is read, if
        they are a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.multinomial(10, [0.5, 0.5], size=3).sum(axis=1).tolist()
    [10, 10, 10]
    """
    n = count_of("multinomial", "n", n)
    if known(pvals) and numpy.ndim(pvals):  # type: ignore[arg-type]
        check_ways("multinomial", pvals)
    probabilities = asarray(pvals, device=None if is_array(pvals) else device)
    _rows("multinomial", probabilities)
    shape = probabilities.shape[:-1] if size is None else _shape("multinomial", size)
    make = current().generator()
    draw = lambda p: make().multinomial(n, check_ways("multinomial", p), None if size is None else shape)

    return host_op("multinomial", draw, [probabilities], (*shape, probabilities.shape[-1]), "int64")


def multivariate_normal(
    mean: ArrayLike, cov: ArrayLike, size: Shape | None = None, check_valid: str = "warn", tol: float = 1e-8, *,
    method: str = "svd", device: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return vectors of the normal distribution with a mean vector and a covariance matrix, along a new last axis.

    The default float.

    Parameters
    ----------
    mean : array_like
        The mean: a vector.
    cov : array_like
        The covariance matrix.
    size : int or tuple of ints, optional
        The shape of the result, without its last axis.
    check_valid : str, optional
        "raise" for ValueError where the result is read if the matrix is not positive semidefinite (within tol),
        "ignore", or "warn", which does not warn.
    tol : float, optional
        The tolerance of the check.
    method : str, optional
        How the matrix is decomposed: "svd", "eigh" or "cholesky".
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        Vectors of the normal distribution with a mean vector and a covariance matrix.

    Raises
    ------
    ValueError
        If the matrix does not fit the vector or for another word.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.multivariate_normal([0.0, 0.0], np.eye(2), size=3).shape
    (3, 2)
    """
    check_choice("multivariate_normal", "check_valid", check_valid, ("warn", "raise", "ignore"))
    check_choice("multivariate_normal", "method", method, ("svd", "eigh", "cholesky"))
    device = device_for(device, mean, cov)
    m, c = asarray(mean, device=device), asarray(cov, device=device)
    if m.ndim != 1 or c.shape != (m.size, m.size):
        raise ValueError(f"multivariate_normal: mean must be a vector and cov its matrix, got {m.shape} and {c.shape}")
    shape = () if size is None else _shape("multivariate_normal", size)
    make, dtype = current().generator(), default_float()
    check = "ignore" if check_valid == "warn" else check_valid
    draw = lambda a, b: make().multivariate_normal(a, b, shape or None, check, tol, method=method).astype(dtype)  # type: ignore[arg-type]
    return host_op("multivariate_normal", draw, [m, c], (*shape, m.shape[0]), dtype)


def dirichlet(
    alpha: ArrayLike, size: Shape | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None
) -> Array:
    """Return vectors of the Dirichlet distribution, along a new last axis: positive numbers whose sum is 1.

    The default float unless dtype is given.

    Parameters
    ----------
    alpha : array_like
        How much weight each element has (a vector).
    size : int or tuple of ints, optional
        The shape of the result, without its last axis.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        Vectors of the Dirichlet distribution.

    Raises
    ------
    ValueError
        If one is negative: where the result is read, if they are a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.dirichlet([1.0, 2.0, 3.0], size=4).sum(1).round(3).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    if known(alpha):
        NOT_NEGATIVE.check("dirichlet", "alpha", alpha)
    weights = asarray(alpha, device=None if is_array(alpha) else device)
    if weights.ndim != 1 or not weights.size:
        raise ValueError(f"dirichlet: alpha must be a vector with elements, got shape {weights.shape}")
    shape = () if size is None else _shape("dirichlet", size)
    want = default_float() if dtype is None else as_dtype("dirichlet", dtype)
    make = current().generator()

    def draw(a: numpy.ndarray) -> numpy.ndarray:
        NOT_NEGATIVE.check("dirichlet", "alpha", a)
        return make().dirichlet(a.astype("float64"), shape).astype(want)

    return host_op("dirichlet", draw, [weights], (*shape, weights.size), want)


def multivariate_hypergeometric(
    colors: ArrayLike, nsample: int, size: Shape | None = None, method: str = "marginals", *, device: DeviceLike = None
) -> Array:
    """Draw counts of each color among nsample drawn from a collection. int64, colors along a new last axis.

    Parameters
    ----------
    colors : array_like
        How many of each there are (integers).
    nsample : int
        The number of elements that are drawn.
    size : int or tuple of ints, optional
        The shape of the result, without its last axis.
    method : str, optional
        "marginals" or "count", NumPy's algorithms.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The counts.

    Raises
    ------
    ValueError
        For another method or a negative nsample, or if a number is negative or there are too few: where the result is
        read, if colors is a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.multivariate_hypergeometric([2, 3], 5).tolist()
    [2, 3]
    """
    check_choice("multivariate_hypergeometric", "method", method, ("marginals", "count"))
    n = count_of("multivariate_hypergeometric", "nsample", nsample)
    there = asarray(colors, device=None if is_array(colors) else device)
    if there.ndim != 1 or there.dtype.kind not in "iu":
        raise ValueError(
            f"multivariate_hypergeometric: colors must be a vector of integers, got {there.dtype} of {there.shape}"
        )
    if known(colors):
        check_colors(colors, n, method)
    shape = () if size is None else _shape("multivariate_hypergeometric", size)
    make = current().generator()

    def draw(c: numpy.ndarray) -> numpy.ndarray:
        check_colors(c, n, method)
        return make().multivariate_hypergeometric(c.astype(numpy.int64), n, shape, method)  # type: ignore[arg-type]

    return host_op("multivariate_hypergeometric", draw, [there], (*shape, there.size), "int64")
