"""Random numbers of further distributions.

Those that follow from exponential or normal numbers in closed form are filled by the workers; gradients flow to their
parameters. The others are NumPy's, drawn by a host task from a stream of the op's key.
"""

from __future__ import annotations

import functools
import reprlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import (
    as_dtype,
    as_index_array,
    asarray,
    broadcast_shapes,
    cast,
    check_choice,
    count_of,
    default_float,
    is_array,
    is_real_float,
)
from .._base.host_task import host_op
from .._base.random_stream import current
from ..elementwise.exponential import exp, log
from .basic import _numbers, _rows, _shape, device_for, draw_into
from .conditions import check_parameters, check_ways, known
from .limits import NOT_NEGATIVE, POSITIVE
from .reparametrised import (
    drawn_dtypes,
    fitting,
    made_of_standard,
    parameter,
    standard_gammas,
)

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = [
    "exponential", "gamma", "beta", "poisson", "binomial", "laplace", "lognormal", "logistic", "gumbel",
    "chisquare", "multinomial", "multivariate_normal",
]  # fmt: skip


@functools.cache
def _checking() -> numpy.random.Generator:
    return numpy.random.Generator(numpy.random.Philox(key=0))


def _refused(name: str, draw: Callable[..., Any], parameters: Sequence[Any]) -> None:
    """Raise what parameters must not be, as far as they are known; all of them: also what NumPy raises."""
    check_parameters(name, parameters)
    if all(map(known, parameters)):  # drawing nothing tells
        _asked(name, draw, _checking(), parameters, (0, *broadcast_shapes(name, *(numpy.shape(p) for p in parameters))))


def _asked(
    name: str, draw: Callable[..., Any], generator: numpy.random.Generator, parameters: Sequence[Any], shape: Shape
) -> Array:
    """Draw with NumPy; its errors get the name of the distribution."""
    try:
        drawn: Array = draw(generator, *parameters, shape)
        return drawn
    except ValueError as error:
        got = ", ".join(map(reprlib.repr, parameters))
        raise ValueError(f"{name}: {error}, got {got}") from None


def _drawn(
    name: str,
    draw: Callable[..., Any],
    parameters: Sequence[Any],
    size: Shape | None,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Array:
    """Draw with NumPy in a host task; parameters that are arrays are its inputs, and broadcast."""
    shape, want, device = _shape(name, size, *parameters), as_dtype(name, dtype), device_for(device, *parameters)
    if size is not None and broadcast_shapes(name, shape, *(numpy.shape(p) for p in parameters)) != shape:
        raise ValueError(f"{name}: parameters must broadcast to size {shape}, got other shapes")
    _refused(name, draw, parameters)
    make = current().generator()

    def result(*values: ArrayLike) -> numpy.ndarray:
        check_parameters(name, values)
        return numpy.asarray(_asked(name, draw, make(), values, shape)).astype(want)

    if _numbers(*parameters):
        return host_op(name, lambda _: result(*parameters), [asarray(0, device=device)], shape, want)
    arrays = [as_index_array(p, device=None if is_array(p) else device) for p in parameters]
    return host_op(name, result, arrays, shape, want)


def _counts(name: str, *parameters: ArrayLike, size: Shape | None, dtype: DTypeLike, device: DeviceLike) -> Array:
    method = lambda generator, *args: getattr(generator, name)(*args)
    return _drawn(name, method, parameters, size, dtype, device)


def _floating(name: str, *parameters: ArrayLike, size: Shape | None, dtype: DTypeLike, device: DeviceLike) -> Array:
    want = default_float() if dtype is None else as_dtype(name, dtype)
    if not is_real_float(want):
        raise TypeError(f"{name}: dtype must be a float, got {want}")
    method = lambda generator, *args: getattr(generator, name)(*args)
    return _drawn(name, method, parameters, size, want, device)


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


def multinomial(n: int, pvals: ArrayLike, size: Shape | None = None, *, device: DeviceLike = None) -> Array:
    """Draw counts of n trials that each end in one of several ways. int64, ways along a new last axis.

    Parameters
    ----------
    n : int
        The number of trials.
    pvals : array_like
        The probabilities of the ways along the last axis; the last way has what the others leave.
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
