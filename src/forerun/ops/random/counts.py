"""Random counts of further discrete distributions.

They are NumPy's, drawn by a host task from a stream of the op's key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .._base.convert import as_dtype, asarray, check_choice, count_of, default_float, is_array
from .._base.host_task import host_op
from .._base.random_stream import current
from .basic import _shape
from .conditions import check_colors, known
from .distributions import _counts
from .limits import NOT_NEGATIVE

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Shape

__all__ = [
    "dirichlet", "geometric", "hypergeometric", "logseries", "multivariate_hypergeometric", "negative_binomial",
    "zipf",
]  # fmt: skip


def geometric(
    p: ArrayLike, size: Shape | None = None, dtype: DTypeLike = "int64", *, device: DeviceLike = None
) -> Array:
    """Draw counts from the geometric distribution: of trials of probability p up to the first success.

    Parameters, size, dtype, errors: as for `poisson`.

    Parameters
    ----------
    p : array_like
        The probability of a success.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default int64.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The counts.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.geometric(1.0, 3).tolist()
    [1, 1, 1]
    """
    return _counts("geometric", p, size=size, dtype=dtype, device=device)


def hypergeometric(
    ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: Shape | None = None, dtype: DTypeLike = "int64", *,
    device: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw counts from the hypergeometric distribution: of good ones among nsample drawn from ngood and nbad.

    Parameters, size, dtype, errors: as for `poisson`.

    Parameters
    ----------
    ngood : array_like
        The number of good elements.
    nbad : array_like
        The number of bad elements.
    nsample : array_like
        The number of elements that are drawn.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default int64.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The counts.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.hypergeometric(3, 0, 2, 3).tolist()
    [2, 2, 2]
    """
    return _counts("hypergeometric", ngood, nbad, nsample, size=size, dtype=dtype, device=device)


def logseries(
    p: ArrayLike, size: Shape | None = None, dtype: DTypeLike = "int64", *, device: DeviceLike = None
) -> Array:
    """Draw counts from the logarithmic series distribution: of probability c * p**k / k.

    Parameters, size, dtype, errors: as for `poisson`.

    Parameters
    ----------
    p : array_like
        The parameter of the distribution, in (0, 1).
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default int64.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The counts.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.logseries(0.5, 4).shape
    (4,)
    """
    return _counts("logseries", p, size=size, dtype=dtype, device=device)


def negative_binomial(
    n: ArrayLike, p: ArrayLike, size: Shape | None = None, dtype: DTypeLike = "int64", *, device: DeviceLike = None
) -> Array:
    """Draw counts from the negative binomial distribution: of failures before the n-th success of probability p.

    Parameters, size, dtype, errors: as for `poisson`.

    Parameters
    ----------
    n : array_like
        The number of successes.
    p : array_like
        The probability of a success.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default int64.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The counts.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.negative_binomial(3, 1.0, 2).tolist()
    [0, 0]
    """
    return _counts("negative_binomial", n, p, size=size, dtype=dtype, device=device)


def zipf(a: ArrayLike, size: Shape | None = None, dtype: DTypeLike = "int64", *, device: DeviceLike = None) -> Array:
    """Draw counts from the Zipf distribution: of probability c * k**-a.

    Parameters, size, dtype, errors: as for `poisson`.

    Parameters
    ----------
    a : array_like
        The shape parameter.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default int64.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The counts.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.zipf(3.0, 4).shape
    (4,)
    """
    return _counts("zipf", a, size=size, dtype=dtype, device=device)


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
