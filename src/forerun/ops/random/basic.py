"""Random numbers: a function of the seed, the number of the op since then, and the position.

They never depend on the threads that compute them. Uniform, normal, exponential and integer numbers are filled in tiles
by the workers. Permutations, weighted choices and most numbers of `distributions` are NumPy's, drawn by a host
task from a stream of the same key.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ..._runtime.device import Device, resolve
from .._base import core as _core
from .._base.convert import (
    as_dtype,
    as_index_array,
    asarray,
    axis_of,
    broadcast_shapes,
    cast,
    count_of,
    default_float,
    device_of,
    extents_of,
    is_array,
    is_real_float,
    is_whole,
    write_out,
)
from .._base.host_task import host_op
from .._base.random_stream import current, seed_word
from ..elementwise.exponential import exp
from ..index.getitem import take
from .conditions import check_integers, known
from .limits import FINITE, NOT_NEGATIVE, PROBABILITY, Limits, limited

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = [
    "seed", "uniform", "normal", "rand", "randn", "random", "random_sample", "standard_normal", "randint",
    "integers", "permutation", "permuted", "shuffle", "bernoulli", "bytes", "get_state", "random_integers",
    "ranf", "sample", "set_state", "tomaxint",
]  # fmt: skip


_FLOAT32 = numpy.dtype("float32")


def seed(seed: ArrayLike | None = None) -> None:
    """Seed the stream of random numbers: after the same seed the same calls give the same numbers.

    Of an integer the lowest 64 bits count. Integers of a sequence all count, mixed by NumPy's `SeedSequence`, so
    `seed([1])` differs from `seed(1)`.

    Parameters
    ----------
    seed : int or array_like, optional
        An integer, or integers along one axis, of which none is negative. None takes a seed from the system's
        randomness.

    Raises
    ------
    TypeError
        If the seed is something else than integers.
    ValueError
        If a sequence is empty, has more than one axis, or holds a negative number.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.seed(1); a = np.random.normal(size=3)
    >>> np.random.seed(1); b = np.random.normal(size=3)
    >>> (a == b).all().item()
    True
    >>> np.random.seed([2026, 11])
    """
    _core.seed(seed_word(seed))


def get_state(legacy: bool = True) -> dict[str, Any]:
    """Return the state of the stream: its seed, and the number of operations that have drawn from it.

    Parameters
    ----------
    legacy : bool, optional
        Has no effect.

    Returns
    -------
    dict
        The state of the stream.

    Examples
    --------
    >>> from forerun import np
    >>> state = np.random.get_state(); a = np.random.normal(size=3)
    >>> np.random.set_state(state); b = np.random.normal(size=3)
    >>> (a == b).all().item()
    True
    """
    return {"bit_generator": "ChaCha8", "seed": _core.random_seed(), "drawn": _core.random_drawn()}


def set_state(state: dict[str, Any]) -> None:
    """Restore a state of the stream from `get_state`.

    Parameters
    ----------
    state : dict
        A state that `get_state` returned.

    Raises
    ------
    ValueError
        For the state of another kind of generator.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.set_state(np.random.get_state())
    """
    if not isinstance(state, dict) or set(state) != {"bit_generator", "seed", "drawn"}:
        raise ValueError(f"set_state: state must be what get_state gave, got {type(state).__name__}")
    _core.seed(state["seed"], state["drawn"])


def _numbers(*parameters: Any) -> bool:
    """Return whether these are all numbers, not arrays of any kind."""
    return all(isinstance(p, (int, float)) or not (is_array(p) or numpy.ndim(p)) for p in parameters)


def device_for(device: DeviceLike, *parameters: ArrayLike) -> Device:
    """Return the device for numbers: the one given, or that of an array among the parameters, or the current one.

    >>> device_for(None, 1.0, [2.0])
    cpu(0)
    """
    return resolve(device_of(*parameters) if device is None else device)


def _shape(op: str, size: Shape | None, *parameters: object) -> tuple[int, ...]:
    if size is None:
        return () if _numbers(*parameters) else broadcast_shapes(op, *(numpy.shape(p) for p in parameters))
    shape = extents_of(op, "size", size)
    if shape and min(shape) < 0:
        raise ValueError(f"{op}: size must not be negative, got {shape}")
    return shape


def _continuous(
    kind: str,
    first: Any,
    second: Any,
    size: Shape | None,
    dtype: Any,
    device: DeviceLike,
    combine: Callable[[Any, Any, Any], Any],
) -> Array:
    """Draw numbers of one kind; parameters that are arrays are applied to standard draws."""
    want = default_float() if dtype is None else as_dtype(kind, dtype)
    if not is_real_float(want):
        raise TypeError(f"{kind}: dtype must be a float, got {want}")
    drawn = _FLOAT32 if want.itemsize == 2 else want
    where = device_for(device, first, second)
    shape = _shape(kind, size, first, second)
    if kind == "normal" and not _numbers(second):
        second = limited("normal", "scale", second, NOT_NEGATIVE)
    if _numbers(first, second):
        result = current().fill(kind, shape, drawn, where, float(first), float(second))
    else:
        standard = current().fill(kind, shape, drawn, where, 0.0, 1.0)
        result = combine(standard, asarray(first, drawn, where), asarray(second, drawn, where))
    result = result if drawn == want else cast(result, want)
    return _core.as_scalar(result) if size is None else result


def uniform(
    low: ArrayLike = 0.0,
    high: ArrayLike = 1.0,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
    out: Out = None,
) -> Array:
    """Draw numbers evenly spread over [low, high), of shape `size` or else that of low and high together.

    The default float (float32) unless dtype is given. low and high may be arrays, to which gradients flow.

    Parameters
    ----------
    low : array_like, optional
        The lower end.
    high : array_like, optional
        The upper end.
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
    TypeError
        If `dtype` is not a float.
    ValueError
        If they do not broadcast to the size.
    OverflowError
        If high - low is not finite (where the result is read, if they are forerun arrays).

    Examples
    --------
    >>> from forerun import np
    >>> x = np.random.uniform(-1, 1, size=(2, 3))
    >>> x.shape, (abs(x) <= 1).all().item()
    ((2, 3), True)
    """
    return uniform_of_width((FINITE,), low, high, size, dtype, device or ctx, out)


def uniform_of_width(
    limits: tuple[Limits, ...], low: Any, high: Any, size: Shape | None, dtype: DTypeLike, device: DeviceLike, out: Out
) -> Array:
    """Draw as `uniform`, where high - low must be within limits.

    >>> uniform_of_width((FINITE,), 0.0, 1.0, (2,), None, None, None).shape
    (2,)
    """
    late: tuple[Limits, ...] = ()
    if not (known(low) and known(high)):
        late = limits
    elif not _numbers(low, high) or not 0 <= high - low < math.inf:
        for each in limits:
            each.check("uniform", "high - low", numpy.subtract(high, low, dtype="float64"))

    def combine(u: Array, a: Array, b: Array) -> Array:
        return a + functools.reduce(lambda width, each: limited("uniform", "high - low", width, each), late, b - a) * u

    draw = lambda s, d: _continuous("uniform", low, high, s, d, device, combine)
    return draw_into("uniform", out, size, dtype, draw)


def normal(
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
    out: Out = None,
) -> Array:
    """Draw numbers from the normal distribution with mean `loc` and standard deviation `scale`, which may be arrays.

    Of shape `size` or else that of loc and scale together; the default float unless dtype is given. Gradients flow to
    loc and scale.

    Parameters
    ----------
    loc : array_like, optional
        The mean.
    scale : array_like, optional
        The standard deviation.
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
    TypeError
        If `dtype` is not a float.
    ValueError
        If scale is negative: where the result is read, if it is a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.normal(size=(2, 3)).shape, np.random.normal([0.0, 5.0], 1.0).shape
    ((2, 3), (2,))
    """
    combine = lambda z, mean, std: mean + std * z
    if out is None:
        return _continuous("normal", loc, scale, size, dtype, device or ctx, combine)
    draw = lambda s, d: _continuous("normal", loc, scale, s, d, device or ctx, combine)
    return draw_into("normal", out, size, dtype, draw)


def draw_into(
    op: str, out: Out, size: Shape | None, dtype: DTypeLike, draw: Callable[[Shape | None, Any], Array]
) -> Array:
    """Return draw(size, dtype), written into `out` if that is given: of its shape and dtype.

    ValueError if size, TypeError if dtype says something else.
    """
    if out is None:
        return draw(size, dtype)
    if size is not None and _shape(op, size) != out.shape:
        raise ValueError(f"{op}: size must be that of out, got {size} for {out.shape}")
    if dtype is not None and as_dtype(op, dtype) != out.dtype:
        raise TypeError(f"{op}: dtype must be that of out, got {dtype} for {out.dtype}")
    return write_out(op, draw(out.shape, out.dtype), out)


def rand(*shape: int, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> Array:
    """Draw numbers evenly spread over [0, 1); extents are separate arguments. The default float unless dtype is given.

    Parameters
    ----------
    *shape : int
        The extents.
    dtype : dtype, optional
        The dtype; by default the default float.
    device : device, optional
        The device of the result; by default the current one.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.rand(2, 3).shape
    (2, 3)
    """
    return uniform(size=shape, dtype=dtype, device=device or ctx)


def randn(*shape: int, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> Array:
    """Draw standard normal numbers; extents are separate arguments. The default float unless dtype is given.

    Parameters
    ----------
    *shape : int
        The extents.
    dtype : dtype, optional
        The dtype; by default the default float.
    device : device, optional
        The device of the result; by default the current one.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.randn(2, 3).shape
    (2, 3)
    """
    return normal(size=shape, dtype=dtype, device=device or ctx)


def random(
    size: Shape | None = None, dtype: DTypeLike = None, out: Out = None, *, device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers evenly spread over [0, 1). Without a size: one, without axes.

    The default float unless dtype is given.

    Parameters
    ----------
    size : int or tuple of ints, optional
        The shape of the result; by default one number, without axes.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    out : array, optional
        An array for the result.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.random((2, 3)).shape, np.random.random().shape
    ((2, 3), ())
    """
    return draw_into("random", out, size, dtype, lambda s, d: uniform(0.0, 1.0, s, d, device=device or ctx))


random_sample = ranf = sample = random


def bytes(length: int) -> builtins.bytes:
    """Return random bytes, as Python's bytes: this waits.

    Parameters
    ----------
    length : int
        The number of bytes.

    Returns
    -------
    bytes
        The bytes.

    Examples
    --------
    >>> from forerun import np
    >>> len(np.random.bytes(10))
    10
    """
    drawn = randint(0, 256, count_of("bytes", "length", length), "uint8")
    return drawn.numpy().tobytes()


def random_integers(
    low: int, high: int | None = None, size: Shape | None = None, *, device: DeviceLike = None
) -> Array:
    """Return integers evenly spread over low to high, both included, or 1 to low. int64.

    Parameters
    ----------
    low : int
        The smallest integer, or the upper end if `high` is not given.
    high : int, optional
        The upper end.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The integers.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.random_integers(1, size=2).tolist()
    [1, 1]
    """
    low, high = (1, low) if high is None else (low, high)
    return randint(low, high + 1, size, device=device)


def tomaxint(size: Shape | None = None, *, device: DeviceLike = None) -> Array:
    """Return integers evenly spread over all that are not negative. int64.

    Parameters
    ----------
    size : int or tuple of ints, optional
        The shape of the result; by default one number, without axes.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        Integers evenly spread over all that are not negative.

    Examples
    --------
    >>> from forerun import np
    >>> (np.random.tomaxint(3) >= 0).all().item()
    True
    """
    return randint(0, 2**63, size, device=device)


def standard_normal(
    size: Shape | None = None, dtype: DTypeLike = None, out: Out = None, *, device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers from the standard normal distribution. Without a size: one, without axes.

    The default float unless dtype is given.

    Parameters
    ----------
    size : int or tuple of ints, optional
        The shape of the result; by default one number, without axes.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    out : array, optional
        An array for the result.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The numbers, of floats.

    Raises
    ------
    TypeError
        If `dtype` is not a float.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.standard_normal(4, dtype="float64").dtype
    dtype('float64')
    """
    return draw_into("standard_normal", out, size, dtype, lambda s, d: normal(0.0, 1.0, s, d, device=device or ctx))


def randint(
    low: ArrayLike,
    high: ArrayLike | None = None,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
    out: Out = None,
) -> Array:
    """Return integers evenly spread over [low, high), or [0, low) without high. int64 unless dtype is given.

    low and high may be arrays, which broadcast. Without a size: of their shape.

    Parameters
    ----------
    low : array_like
        The smallest integer, or the upper end if `high` is not given.
    high : array_like, optional
        The upper end.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default int64.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        The integers.

    Raises
    ------
    ValueError
        If there are no such integers (where the result is read, if one is a forerun array).
    TypeError
        If dtype is of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.randint(3, 4, size=2).tolist(), np.random.randint(10, size=(2, 3)).shape
    ([3, 3], (2, 3))
    """
    return draw_into("randint", out, size, dtype, lambda s, d: _integers(low, high, s, d, device or ctx))


def _integers(low: Any, high: Any, size: Shape | None, dtype: Any, device: DeviceLike) -> Array:
    if high is None:
        low, high = 0, low
    want = numpy.dtype("int64") if dtype is None or dtype is int else as_dtype("randint", dtype)
    shape, where = _shape("randint", size, low, high), device_for(device, low, high)
    if _numbers(low, high):
        result = current().fill("integers", shape, want, where, int(low), int(high))
        return _core.as_scalar(result) if size is None else result
    if want.kind not in "iub":
        raise TypeError(f"randint: dtype must be of integers, got {want}")
    check_integers("randint", low, high)
    ends = [as_index_array(v, device=None if is_array(v) else where) for v in (low, high)]
    make = current().generator()

    def draw(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
        check_integers("randint", a, b)
        return make().integers(a, b, shape, want)

    return host_op("randint", draw, ends, shape, want)


def integers(
    low: Array | float,
    high: Array | float | None = None,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    endpoint: bool = False,
    *,
    device: DeviceLike = None,
) -> Array:
    """Return integers evenly spread over [low, high), with `endpoint` up to and including high. Otherwise as `randint`.

    Parameters
    ----------
    low : array_like
        The smallest integer, or the upper end if `high` is not given.
    high : array_like, optional
        The upper end.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default int64.
    endpoint : bool, optional
        Whether `high` can be drawn.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The integers.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.integers(3, 3, size=2, endpoint=True).tolist()
    [3, 3]
    """
    if high is None:
        low, high = 0, low
    return randint(low, high + 1 if endpoint else high, size, dtype, device=device)


# --- order and choice -----------------------------------------------------------------------------


def _rows(op: str, x: Array) -> int:
    """Return the number of rows of x. ValueError if it has no axis."""
    if x.ndim == 0:
        raise ValueError(f"{op}: array must have at least one axis, got shape ()")
    return int(x.shape[0])


def _order(op: str, n: int, device: DeviceLike) -> Array:
    """Return the numbers below n in random order."""
    make = current().generator()
    return host_op(op, lambda _: make().permutation(n), [asarray(0, device=device)], (n,), "int64")


def permutation(x: int | Any, axis: int = 0, *, device: DeviceLike = None) -> Array:
    """Return the numbers below x in random order (int64), or a shuffled copy of an array along an axis.

    Parameters
    ----------
    x : int or array_like
        An integer, or the array to shuffle.
    axis : int, optional
        The axis along which slices are shuffled.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers below x in random order (int64).

    Raises
    ------
    ValueError
        For an array without axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.sort(np.random.permutation(4)).tolist()
    [0, 1, 2, 3]
    """
    if is_whole(x):
        return _order("permutation", count_of("permutation", "x", x), device)
    rows = asarray(x)
    _rows("permutation", rows)
    at = axis_of("permutation", axis, rows.ndim)
    return take(rows, _order("permutation", rows.shape[at], rows.device), at)


def shuffle(x: ArrayLike, axis: int = 0) -> None:
    """Shuffle the slices of an array along an axis, in place.

    A NumPy array or a list: waits.

    Parameters
    ----------
    x : array_like
        The array that is shuffled.
    axis : int, optional
        The axis along which slices are shuffled.

    Raises
    ------
    ValueError
        For an array without axes.
    TypeError
        For an object that is not an array.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.arange(4)
    >>> np.random.shuffle(x); np.sort(x).tolist()
    [0, 1, 2, 3]
    """
    if not is_array(x):
        current().generator()().shuffle(x, axis)
    else:
        _rows("shuffle", x)
        _core.assign(x, permutation(x, axis))


def permuted(x: ArrayLike, *, axis: int | None = None, out: Out = None) -> Array:
    """Return a copy of an array with the elements along an axis in random order, in another one in each row.

    axis None: all elements.

    Parameters
    ----------
    x : array_like
        The array.
    axis : int, optional
        The axis; None for all elements.
    out : array, optional
        An array for the result, x itself too.

    Returns
    -------
    array
        a copy of an array with the elements along an axis in random order.

    Examples
    --------
    >>> from forerun import np
    >>> y = np.random.permuted(np.arange(6).reshape(2, 3), axis=1)
    >>> np.sort(y, axis=1).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    x = asarray(x)
    at = None if axis is None else axis_of("permuted", axis, x.ndim)
    make = current().generator()
    return write_out("permuted", host_op("permuted", lambda v: make().permuted(v, axis=at), [x], x.shape, x.dtype), out)


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
