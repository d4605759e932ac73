"""Random numbers: a function of the seed, the number of the op since then, and the position.

They never depend on who computes them. Uniform, normal, exponential and integer numbers are filled in tiles
by the workers. Permutations, weighted choices and most numbers of `distributions` are NumPy's, drawn by a host
task from a stream of the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import _core
from ..device import Device, resolve
from .convert import as_dtype, asarray, cast, default_float, is_array, is_real_float, together
from .host import host_op
from .indexing import take

__all__ = [
    "seed", "uniform", "normal", "rand", "randn", "random", "random_sample", "standard_normal", "randint",
    "integers", "permutation", "shuffle", "choice", "bernoulli",
]  # fmt: skip

Where = Device | str | None
Size = int | Sequence[int] | None

_FLOAT32 = numpy.dtype("float32")


def seed(value: int) -> None:
    """Starts the stream of random numbers anew: the same calls give the same numbers again.

    >>> from forerun import np
    >>> np.random.seed(1); a = np.random.normal(size=3)
    >>> np.random.seed(1); b = np.random.normal(size=3)
    >>> (a == b).all().item()
    True
    """
    _core.seed(int(value) & (2**64 - 1))


def _numbers(*parameters: Any) -> bool:
    """Whether these are all numbers, not arrays of any kind."""
    return all(isinstance(p, (int, float)) or not (is_array(p) or numpy.ndim(p)) for p in parameters)


def _shape(op: str, size: Size, *parameters: Any) -> tuple[int, ...]:
    if size is None:
        return () if _numbers(*parameters) else together(op, *(numpy.shape(p) for p in parameters))
    shape = (int(size),) if isinstance(size, (int, numpy.integer)) else tuple(size)
    if shape and min(shape) < 0:
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
    if not is_real_float(want):
        raise TypeError(f"{kind}: dtype must be a float, got {want}")
    drawn = _FLOAT32 if want.itemsize == 2 else want
    where = resolve(device)
    shape = _shape(kind, size, first, second)
    if _numbers(first, second):
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
    """Numbers evenly spread over [low, high), of shape `size` or else that of low and high together.

    The default float (float32) unless dtype is given; TypeError if it is no float. low and high may be
    arrays. ValueError if they do not broadcast to the size.

    >>> from forerun import np
    >>> x = np.random.uniform(-1, 1, size=(2, 3))
    >>> x.shape, (abs(x) <= 1).all().item()
    ((2, 3), True)
    """
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
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`, which may be arrays.

    Of shape `size` or else that of loc and scale together; the default float unless dtype is given, TypeError
    if it is no float. ValueError if scale is a negative number.

    >>> from forerun import np
    >>> np.random.normal(size=(2, 3)).shape, np.random.normal([0.0, 5.0], 1.0).shape
    ((2, 3), (2,))
    """
    return _continuous("normal", loc, scale, size, dtype, device or ctx, lambda z, mean, std: mean + std * z)


def rand(*shape: int, device: Where = None, ctx: Where = None) -> Any:
    """Numbers evenly spread over [0, 1), in the default float; extents are separate arguments.

    >>> from forerun import np
    >>> np.random.rand(2, 3).shape
    (2, 3)
    """
    return uniform(size=shape, device=device or ctx)


def randn(*shape: int, device: Where = None, ctx: Where = None) -> Any:
    """Numbers of the standard normal distribution, in the default float; extents are separate arguments.

    >>> from forerun import np
    >>> np.random.randn(2, 3).shape
    (2, 3)
    """
    return normal(size=shape, device=device or ctx)


def random(size: Size = None, *, device: Where = None, ctx: Where = None) -> Any:
    """Numbers evenly spread over [0, 1), in the default float. Without a size: one, without axes.

    >>> from forerun import np
    >>> np.random.random((2, 3)).shape, np.random.random().shape
    ((2, 3), ())
    """
    return uniform(size=() if size is None else size, device=device or ctx)


random_sample = random


def standard_normal(size: Size = None, dtype: Any = None, *, device: Where = None, ctx: Where = None) -> Any:
    """Numbers of the standard normal distribution. Without a size: one, without axes.

    The default float unless dtype is given, TypeError if it is no float.

    >>> from forerun import np
    >>> np.random.standard_normal(4, dtype="float64").dtype
    dtype('float64')
    """
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
    """Integers evenly spread over [low, high), or [0, low) without high. int64 unless dtype is given.

    Without a size: one, without axes. ValueError if there are no such integers, TypeError if dtype is of
    floats.

    >>> from forerun import np
    >>> np.random.randint(3, 4, size=2).tolist(), np.random.randint(10, size=(2, 3)).shape
    ([3, 3], (2, 3))
    """
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
    """Integers evenly spread over [low, high), with `endpoint` up to and including high. Otherwise as `randint`.

    >>> from forerun import np
    >>> np.random.integers(3, 3, size=2, endpoint=True).tolist()
    [3, 3]
    """
    if high is None:
        low, high = 0, low
    return randint(low, high + 1 if endpoint else high, size, dtype, device=device)


# --- order and choice -----------------------------------------------------------------------------


def _generator() -> Callable[[], numpy.random.Generator]:
    """A maker of the generator of this op's stream: the stream is fixed now, when the op is issued."""
    key = [_core.random_seed(), _core.random_key()]
    return lambda: numpy.random.Generator(numpy.random.SFC64(numpy.random.SeedSequence(key)))


def _rows(op: str, x: Any) -> int:
    """How many rows x has. ValueError if it has no axis."""
    if x.ndim == 0:
        raise ValueError(f"{op}: array must have at least one axis, got shape ()")
    return int(x.shape[0])


def permutation(x: int | Any, *, device: Where = None) -> Any:
    """The numbers below x in random order (int64), or the rows of an array in random order (a copy).

    ValueError of an array without axes.

    >>> from forerun import np
    >>> np.sort(np.random.permutation(4)).tolist()
    [0, 1, 2, 3]
    """
    n = x if isinstance(x, (int, numpy.integer)) else _rows("permutation", asarray(x))
    make, count = _generator(), int(n)
    where = asarray(0, device=getattr(x, "device", device))
    order = host_op("permutation", lambda _: make().permutation(count), [where], (count,), "int64")
    return order if isinstance(x, (int, numpy.integer)) else take(asarray(x), order, 0)


def shuffle(x: Any) -> None:
    """Brings the rows of an array into random order, in place. ValueError of an array without axes.

    >>> from forerun import np
    >>> x = np.arange(4)
    >>> np.random.shuffle(x); np.sort(x).tolist()
    [0, 1, 2, 3]
    """
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
    """Elements (rows) drawn from an array, or numbers below a (int64); with probabilities p if given.

    p is divided by its sum. replace: whether an element can be drawn again. Without a size: one. ValueError
    if p has not one number for each element, or there are too few elements; where the result is read if one
    of p is negative.

    >>> from forerun import np
    >>> np.random.choice([5, 6, 7], 2, p=[0, 0, 1]).tolist()
    [7, 7]
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
    """1 with probability `prob`, 0 otherwise; the default float unless dtype is given.

    Of shape `size`, or else that of prob: a number or an array.

    >>> from forerun import np, npx
    >>> npx.random.bernoulli(np.array([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    drawn = uniform(size=_shape("bernoulli", size, prob), device=device or ctx) < prob
    return cast(drawn, default_float() if dtype is None else as_dtype("bernoulli", dtype))
