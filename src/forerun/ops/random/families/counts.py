"""Random counts, and ones and zeros: distributions of single integers.

Most are NumPy's, drawn by a host task from a stream of the op's key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from ..._base.convert import as_dtype, asarray, cast, default_float
from ...elementwise.exponential import exp
from ..arguments import _shape, device_for, draw_into
from ..limits import PROBABILITY, limited
from ..uniform_normal import uniform
from .host_draws import _counts

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["bernoulli", "poisson", "binomial", "geometric", "hypergeometric", "logseries", "negative_binomial", "zipf"]


def bernoulli(
    prob: ArrayLike | None = None, logit: ArrayLike | None = None, size: Shape | None = None, dtype: DTypeLike = None,
    *, device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Return 1 with probability `prob`, or with 1 / (1 + exp(-logit)); 0 otherwise.

    Of shape `size`, or else that of prob or logit; the default float unless dtype is given.

    Parameters
    ----------
    prob, logit : array_like, optional
        A number or an array, prob 0.5 if neither is given; ValueError if both are, or prob is not in [0, 1] (where the
        result is read, if it is a forerun array).
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        Ones and zeros.

    Raises
    ------
    ValueError
        If `prob` and `logit` are both given, or `prob` is not in [0, 1]: where the result is read, if it is a forerun
        array.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.random.bernoulli(np.array([0.0, 1.0])).tolist(), npx.random.bernoulli(logit=100.0, size=2).tolist()
    ([0.0, 1.0], [1.0, 1.0])
    """
    if prob is not None and logit is not None:
        raise ValueError(f"bernoulli: prob and logit must not both be given, got {prob} and {logit}")
    given = logit if logit is not None else 0.5 if prob is None else limited("bernoulli", "prob", prob, PROBABILITY)

    def drawn(size: Shape | None, dtype: DTypeLike) -> Array:
        u = uniform(size=_shape("bernoulli", size, given), device=device_for(device or ctx, given))
        if logit is not None:  # u < 1 / (1 + exp(-logit)), where u may be 0
            return cast(u * (1 + exp(-asarray(logit, device=u.device))) < 1, _of_bernoulli(dtype))
        return cast(u < given, _of_bernoulli(dtype))

    return draw_into("bernoulli", out, size, dtype, drawn)


def _of_bernoulli(dtype: DTypeLike) -> numpy.dtype:
    return default_float() if dtype is None else as_dtype("bernoulli", dtype)


def binomial(
    n: ArrayLike, p: ArrayLike, size: Shape | None = None, dtype: DTypeLike = "int64", *, device: DeviceLike = None
) -> Array:
    """Draw counts of successes among n trials of probability p. int64 unless dtype is given.

    Of shape `size`, or else that of n and p together.

    Parameters
    ----------
    n : array_like
        The number of trials.
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

    Raises
    ------
    ValueError
        If n is negative or p not in [0, 1]: where the result is read, if they are forerun arrays.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.binomial(10, [0.0, 1.0]).tolist()
    [0, 10]
    """
    return _counts("binomial", n, p, size=size, dtype=dtype, device=device)


def poisson(
    lam: ArrayLike = 1.0, size: Shape | None = None, dtype: DTypeLike = "int64", *, device: DeviceLike = None
) -> Array:
    """Draw counts from the Poisson distribution with mean `lam`. int64 unless dtype is given.

    Of shape `size`, or else that of lam.

    Parameters
    ----------
    lam : array_like, optional
        The mean.
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

    Raises
    ------
    ValueError
        If lam is negative: where the result is read, if it is a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.poisson([0.0, 0.0]).tolist()
    [0, 0]
    """
    return _counts("poisson", lam, size=size, dtype=dtype, device=device)


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
