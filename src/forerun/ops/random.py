"""Random numbers: a function of the seed, the number of the op since then, and the position; never of who
computes them.

Uniform, normal and integer numbers are filled in tiles by the workers. Other distributions are NumPy's,
drawn by a host task from a stream of the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import _core
from ..device import Device, resolve
from .convert import as_dtype, asarray, cast, count_of, default_float, is_array, together
from .host import host_op
from .indexing import take

__all__ = [
    "seed", "uniform", "normal", "rand", "randn", "random", "random_sample", "standard_normal", "randint",
    "integers", "permutation", "shuffle", "choice", "bernoulli", "exponential", "gamma", "beta", "poisson",
    "binomial", "laplace", "lognormal", "logistic", "gumbel", "chisquare", "multinomial",
    "multivariate_normal",
]  # fmt: skip

Where = Device | str | None
Size = int | Sequence[int] | None


def seed(value: int) -> None:
    """Starts the stream of random numbers anew: the same calls give the same numbers again.

    >>> from forerun import np
    >>> np.random.seed(1); a = np.random.normal(size=3)
    >>> np.random.seed(1); b = np.random.normal(size=3)
    >>> (a == b).all().item()
    True
    """
    _core.seed(int(value) & (2**64 - 1))


def _shape(op: str, size: Size, *parameters: Any) -> tuple[int, ...]:
    if size is None:
        return together(op, *(numpy.shape(p) for p in parameters))
    shape = (int(size),) if isinstance(size, (int, numpy.integer)) else tuple(size)
    if min(shape, default=0) < 0:
        raise ValueError(f"{op}: size must not be negative, got {shape}")
    return shape


def _continuous(
    kind: str,
    first: Any,
    second: Any,
    size: Size,
    dtype: Any,
    device: Where,
    combine: Callable[[Any, Any, Any], Any],
) -> Any:
    """Draws of one kind; parameters that are arrays are applied to standard draws."""
    want = default_float() if dtype is None else as_dtype(kind, dtype)
    if want.kind != "f":
        raise TypeError(f"{kind}: dtype must be a float, got {want}")
    drawn = numpy.dtype("float32") if want == numpy.float16 else want
    where = resolve(device)
    shape = _shape(kind, size, first, second)
    if numpy.ndim(first) == 0 and numpy.ndim(second) == 0 and not is_array(first) and not is_array(second):
        result = _core.random(kind, shape, drawn, where, float(first), float(second))
    else:
        standard = _core.random(kind, shape, drawn, where, 0.0, 1.0)
        result = combine(standard, asarray(first, drawn, where), asarray(second, drawn, where))
    return result if drawn == want else cast(result, want)


def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    *,
    device: Where = None,
    ctx: Where = None,
) -> Any:
    """Numbers evenly spread over [low, high): float32 (or the default float) of shape `size`."""
    return _continuous("uniform", low, high, size, dtype, device or ctx, lambda u, a, b: a + (b - a) * u)


def normal(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    *,
    device: Where = None,
    ctx: Where = None,
) -> Any:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`.

    ValueError if that is negative.

    >>> from forerun import np
    >>> np.random.normal(size=(2, 3)).shape
    (2, 3)
    """
    return _continuous("normal", loc, scale, size, dtype, device or ctx, lambda z, mean, std: mean + std * z)


def rand(*shape: int, device: Where = None, ctx: Where = None) -> Any:
    """Numbers evenly spread over [0, 1)."""
    return uniform(size=shape, device=device or ctx)


def randn(*shape: int, device: Where = None, ctx: Where = None) -> Any:
    """Numbers of the standard normal distribution."""
    return normal(size=shape, device=device or ctx)


def random(size: Size = None, *, device: Where = None, ctx: Where = None) -> Any:
    """Numbers evenly spread over [0, 1)."""
    return uniform(size=() if size is None else size, device=device or ctx)


random_sample = random


def standard_normal(size: Size = None, dtype: Any = None, *, device: Where = None, ctx: Where = None) -> Any:
    """Numbers of the standard normal distribution."""
    return normal(size=() if size is None else size, dtype=dtype, device=device or ctx)


def randint(
    low: int,
    high: int | None = None,
    size: Size = None,
    dtype: Any = None,
    *,
    device: Where = None,
    ctx: Where = None,
) -> Any:
    """Integers evenly spread over [low, high), or [0, low). int64. ValueError if there are none."""
    if high is None:
        low, high = 0, low
    want = numpy.dtype("int64") if dtype is None or dtype is int else as_dtype("randint", dtype)
    return _core.random(
        "integers", _shape("randint", size), want, resolve(device or ctx), int(low), int(high)
    )


def integers(
    low: int,
    high: int | None = None,
    size: Size = None,
    dtype: Any = None,
    endpoint: bool = False,
    *,
    device: Where = None,
) -> Any:
    """Integers evenly spread over [low, high), with `endpoint` up to and including high."""
    if high is None:
        low, high = 0, low
    return randint(low, high + 1 if endpoint else high, size, dtype, device=device)


# --- distributions drawn by NumPy -----------------------------------------------------------------


def _generator() -> Callable[[], numpy.random.Generator]:
    """A maker of the generator of this op's stream: the stream is fixed now, when the op is issued."""
    key = [_core.random_seed(), _core.random_key()]
    return lambda: numpy.random.Generator(numpy.random.Philox(numpy.random.SeedSequence(key)))


def _drawn(
    name: str,
    draw: Callable[..., Any],
    parameters: Sequence[Any],
    size: Size,
    dtype: Any,
    device: Where,
    like: tuple[int, ...] = (),
) -> Any:
    arrays = [asarray(p, device=None if is_array(p) else device) for p in parameters]
    shape = _shape(name, size, *parameters) + like
    want = numpy.dtype(dtype)
    make = _generator()
    if not arrays:
        arrays = [asarray(0, device=device)]
        return host_op(name, lambda _: numpy.asarray(draw(make(), shape)).astype(want), arrays, shape, want)
    return host_op(
        name, lambda *values: numpy.asarray(draw(make(), *values, shape)).astype(want), arrays, shape, want
    )


def _rows(op: str, x: Any) -> int:
    """How many rows x has. ValueError if it has no axis."""
    if x.ndim == 0:
        raise ValueError(f"{op}: array must have at least one axis, got shape ()")
    return int(x.shape[0])


def permutation(x: int | Any, *, device: Where = None) -> Any:
    """The numbers below x in random order, or the rows of an array in random order."""
    n = x if isinstance(x, (int, numpy.integer)) else _rows("permutation", asarray(x))
    make, count = _generator(), int(n)
    where = asarray(0, device=getattr(x, "device", device))
    order = host_op("permutation", lambda _: make().permutation(count), [where], (count,), "int64")
    return order if isinstance(x, (int, numpy.integer)) else take(asarray(x), order, 0)


def shuffle(x: Any) -> None:
    """Brings the rows of an array into random order, in place."""
    _rows("shuffle", x)
    _core.assign(x, permutation(x))


def choice(
    a: int | Any,
    size: Size = None,
    replace: bool = True,
    p: Any = None,
    *,
    device: Where = None,
    ctx: Where = None,
) -> Any:
    """Elements drawn from an array, or numbers below a; with probabilities p if given.

    ValueError where the values are read if they do not sum to one.
    """
    where = device or ctx
    whole = isinstance(a, (int, numpy.integer))
    n = int(a) if whole else _rows("choice", asarray(a))
    shape = () if size is None else _shape("choice", size)
    if p is not None and numpy.shape(p) != (n,):
        raise ValueError(f"choice: p must have shape {(n,)}, got {numpy.shape(p)}")
    if replace and p is None:
        picked = randint(0, n, shape, device=where)
    else:
        if not replace and numpy.prod(shape, dtype=int) > n:
            raise ValueError(f"choice: size must be at most {n} without replacement, got {shape}")
        make = _generator()
        inputs = [asarray(p, device=where)] if p is not None else [asarray(0, device=where)]

        def draw(weights: numpy.ndarray) -> Any:
            share = None if p is None else weights.astype("float64") / weights.sum(dtype="float64")
            return make().choice(n, shape, replace, share)

        picked = host_op("choice", draw, inputs, shape, "int64")
    return picked if whole else take(asarray(a), picked, 0)


def bernoulli(
    prob: Any = 0.5, size: Size = None, dtype: Any = None, *, device: Where = None, ctx: Where = None
) -> Any:
    """1 with probability `prob`, 0 otherwise."""
    drawn = uniform(size=_shape("bernoulli", size, prob), device=device or ctx) < prob
    return cast(drawn, default_float() if dtype is None else as_dtype("bernoulli", dtype))


def _floating(name: str, *parameters: Any, size: Size, dtype: Any, device: Where) -> Any:
    method = lambda generator, *args: getattr(generator, name)(*args)
    return _drawn(name, method, parameters, size, default_float() if dtype is None else dtype, device)


def exponential(scale: Any = 1.0, size: Size = None, dtype: Any = None, *, device: Where = None) -> Any:
    """Numbers of the exponential distribution with mean `scale`."""
    return _floating("exponential", scale, size=size, dtype=dtype, device=device)


def gamma(shape: Any, scale: Any = 1.0, size: Size = None, dtype: Any = None, *, device: Where = None) -> Any:
    """Numbers of the gamma distribution."""
    return _floating("gamma", shape, scale, size=size, dtype=dtype, device=device)


def beta(a: Any, b: Any, size: Size = None, dtype: Any = None, *, device: Where = None) -> Any:
    """Numbers of the beta distribution."""
    return _floating("beta", a, b, size=size, dtype=dtype, device=device)


def laplace(
    loc: Any = 0.0, scale: Any = 1.0, size: Size = None, dtype: Any = None, *, device: Where = None
) -> Any:
    """Numbers of the Laplace distribution."""
    return _floating("laplace", loc, scale, size=size, dtype=dtype, device=device)


def lognormal(
    mean: Any = 0.0, sigma: Any = 1.0, size: Size = None, dtype: Any = None, *, device: Where = None
) -> Any:
    """Numbers whose logarithm is normal."""
    return _floating("lognormal", mean, sigma, size=size, dtype=dtype, device=device)


def logistic(
    loc: Any = 0.0, scale: Any = 1.0, size: Size = None, dtype: Any = None, *, device: Where = None
) -> Any:
    """Numbers of the logistic distribution."""
    return _floating("logistic", loc, scale, size=size, dtype=dtype, device=device)


def gumbel(
    loc: Any = 0.0, scale: Any = 1.0, size: Size = None, dtype: Any = None, *, device: Where = None
) -> Any:
    """Numbers of the Gumbel distribution."""
    return _floating("gumbel", loc, scale, size=size, dtype=dtype, device=device)


def chisquare(df: Any, size: Size = None, dtype: Any = None, *, device: Where = None) -> Any:
    """Numbers of the chi-square distribution."""
    return _floating("chisquare", df, size=size, dtype=dtype, device=device)


def poisson(lam: Any = 1.0, size: Size = None, dtype: Any = "int64", *, device: Where = None) -> Any:
    """Counts of the Poisson distribution."""
    return _drawn("poisson", lambda generator, *args: generator.poisson(*args), [lam], size, dtype, device)


def binomial(n: Any, p: Any, size: Size = None, dtype: Any = "int64", *, device: Where = None) -> Any:
    """Counts of successes among n trials of probability p."""
    return _drawn("binomial", lambda generator, *args: generator.binomial(*args), [n, p], size, dtype, device)


def multinomial(n: int, pvals: Any, size: Size = None, *, device: Where = None) -> Any:
    """Counts of n trials that each end in one of several ways. int64, ways along a new last axis."""
    n = count_of("multinomial", "n", n)
    probabilities = asarray(pvals, device=None if is_array(pvals) else device)
    _rows("multinomial", probabilities)
    shape = () if size is None else _shape("multinomial", size)
    make = _generator()

    def draw(p: numpy.ndarray) -> Any:
        wide = p.astype("float64")
        return make().multinomial(n, wide / wide.sum(), shape or None)

    return host_op("multinomial", draw, [probabilities], (*shape, probabilities.shape[-1]), "int64")


def multivariate_normal(mean: Any, cov: Any, size: Size = None, *, device: Where = None) -> Any:
    """Vectors of the normal distribution with a mean vector and a covariance matrix."""
    m, c = asarray(mean, device=device), asarray(cov, device=device)
    if m.ndim != 1 or c.shape != (m.size, m.size):
        raise ValueError(
            f"multivariate_normal: mean must be a vector and cov its matrix, got {m.shape} and {c.shape}"
        )
    shape = () if size is None else _shape("multivariate_normal", size)
    make, dtype = _generator(), default_float()
    draw = lambda a, b: make().multivariate_normal(a, b, shape or None).astype(dtype)
    return host_op("multivariate_normal", draw, [m, c], (*shape, m.shape[0]), dtype)
