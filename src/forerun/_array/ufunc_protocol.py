"""Ufuncs of NumPy and of other libraries, called with forerun arrays: every call is submitted.

The first of three ways that supports the call is taken:

- forerun's operation for the ufunc, with its gradient;
- the ufunc's compiled loops, as an op made for it and kept;
- a host task, whose results' shapes and dtypes are known beforehand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..ops._base import core as _core
from ..ops._base.convert import as_dtype, asarray, axes_of, axis_of, default_float, is_array
from ..ops._base.host_task import host
from ..ops.index.parser import Key, entries_of, is_mask
from ..ops.index.setitem import no_scalar, under_mask, untaped
from ..ops.reduce import product, reduction
from ..ops.reduce import scan as scans
from .ufunc_calls import SCALARS, called, core_axes, loop_of, looped, outs_of, write_outs

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, Axis, DTypeLike, Out

__all__ = ["call", "call_with_an_array"]

_REDUCTIONS: dict[Any, Callable[..., Any]] = {
    numpy.add: reduction.sum, numpy.multiply: product.prod, numpy.maximum: reduction.max, numpy.minimum:
    reduction.min, numpy.logical_and: reduction.all, numpy.logical_or: reduction.any,
}  # fmt: skip
_IN_ANY_ORDER = (numpy.bitwise_and, numpy.bitwise_or, numpy.bitwise_xor, numpy.gcd, numpy.lcm)
_SCANS: dict[Any, Callable[..., Any]] = {numpy.add: scans.cumsum, numpy.multiply: scans.cumprod}


def call(ufunc: numpy.ufunc, method: str, inputs: Sequence[Any], out: Out = None, **options: Any) -> Any:
    """Submit a call of a ufunc, or of one of its methods, with inputs of which at least one is a forerun array.

    out and options are NumPy's. Returns arrays; an array given as `out` is returned itself, and one of NumPy's is
    waited for. Raises NumPy's errors.

    >>> import numpy
    >>> from forerun import np
    >>> call(numpy.hypot, "__call__", [np.array([3.0]), 4.0]).tolist()
    [5.0]
    """
    if not isinstance(ufunc, numpy.ufunc):
        ufunc = _inner(ufunc, method, inputs)
    return _METHODS[method](ufunc, list(inputs), outs_of(ufunc, method, out), **options)


def call_with_an_array(ufunc: numpy.ufunc, method: str, inputs: Sequence[Any], **options: Any) -> Any:
    """Submit a call as `call` does, with inputs of which none need be a forerun array.

    The first input becomes one then, except the array that `at` writes to.

    >>> import numpy
    >>> call_with_an_array(numpy.add, "reduce", [[1, 2]]).item()
    3
    """
    if method != "at" and not any(map(is_array, inputs)):
        inputs = (asarray(inputs[0]), *inputs[1:])
    return call(ufunc, method, inputs, **options)


def _inner(outer: Any, method: str, inputs: Sequence[Any]) -> Any:
    """Return the ufunc inside an object that compiles loops on demand, as numba's do; with a loop for these inputs."""
    ufunc = getattr(outer, "ufunc", None)
    if not isinstance(ufunc, numpy.ufunc):
        raise TypeError(f"ufunc: must be NumPy's or hold one, got {type(outer).__name__}")
    whole = {"__call__": tuple(inputs), "outer": tuple(inputs), "at": (inputs[0], *inputs[2:])}
    operands = [x if type(x) in SCALARS else asarray(x) for x in whole.get(method, (inputs[0],) * ufunc.nin)]
    common = numpy.result_type(*(x.dtype if is_array(x) else x for x in operands))
    core = core_axes(ufunc) if ufunc.signature else [0] * ufunc.nargs
    dtypes = [x.dtype if is_array(x) else common for x in operands]
    outer(*(numpy.empty((0,) + (1,) * n, d) for n, d in zip(core, dtypes, strict=False)))
    return ufunc


def _binary(ufunc: numpy.ufunc, method: str) -> None:
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        raise ValueError(f"{ufunc.__name__}: {method} must be of a ufunc with two inputs and one output")


def _tiny(ufunc: numpy.ufunc, method: str, x: Array, default: numpy.dtype, **options: Any) -> Any:
    """Run the method on ones of x's dtype, an element (or none) per axis, for its errors and its dtype; `default` is
    the default dtype of floats."""
    if x.dtype.kind in "biu" and default != numpy.float64 and options.get("dtype") is None:
        found = loop_of(ufunc, [x, x], "same_kind", {})
        options["dtype"] = found[-1] if found[-1] == default else None
    ones = numpy.ones([min(n, 1) for n in x.shape], x.dtype)
    try:
        with numpy.errstate(all="ignore"):
            return getattr(ufunc, method)(ones, **options)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{ufunc.__name__}.{method}: {error}") from None


def _reduced(
    ufunc: numpy.ufunc, inputs: list[Any], outs: list[Any], axis: Axis = 0, dtype: DTypeLike = None, **options: Any
) -> Any:
    _binary(ufunc, "reduce")
    options = {k: v for k, v in options.items() if not (k == "where" and v is True)}
    x, name = asarray(inputs[0]), ufunc.__name__
    keepdims = bool(options.pop("keepdims", False))
    dtype = None if dtype is None else as_dtype(name, dtype)
    if ufunc in _REDUCTIONS and not options and (dtype is None or ufunc in _SCANS):
        result = _REDUCTIONS[ufunc](x, axis=axis, keepdims=keepdims, **({} if dtype is None else {"dtype": dtype}))
        return write_outs(name, [result], outs, "same_kind")
    at = axes_of(name, axis, x.ndim)
    mask = options.pop("where", None)
    masked = {} if mask is None else {"where": numpy.ones((1,) * x.ndim, bool)}
    found = _tiny(ufunc, "reduce", x, default_float(), axis=at, dtype=dtype, **options, **masked)
    shape = tuple(1 if i in at else n for i, n in enumerate(x.shape) if keepdims or i not in at)
    to = as_dtype(name, found.dtype)
    plain = ufunc in _IN_ANY_ORDER and mask is None and not options and x.size and not _core.recording()
    if plain and (op := looped(ufunc, (to,) * 3)):
        done = _core.reduce(op, x, at, to, keepdims, f"{name}.reduce")
        return write_outs(name, [done], outs, "same_kind")

    def task(v: numpy.ndarray, *where: numpy.ndarray) -> Any:
        more = {"where": where[0]} if where else {}
        with numpy.errstate(all="ignore"):
            return ufunc.reduce(v, axis=at, dtype=to if dtype is None else dtype, keepdims=keepdims, **options, **more)

    inputs = [x] if mask is None else [x, asarray(mask)]
    return write_outs(name, host(task, inputs, [(shape, to)], name=f"{name}.reduce"), outs, "same_kind")


def _accumulated(ufunc: numpy.ufunc, inputs: list[Any], outs: list[Any], axis: int = 0, dtype: DTypeLike = None) -> Any:
    _binary(ufunc, "accumulate")
    x, name = asarray(inputs[0]), ufunc.__name__
    at = axis_of(name, axis, x.ndim)
    dtype = None if dtype is None else as_dtype(name, dtype)
    if ufunc in _SCANS:
        return write_outs(name, [_SCANS[ufunc](x, at, dtype)], outs, "same_kind")
    taped = _core.recording() and x.node is not None
    plain = ufunc in (numpy.maximum, numpy.minimum) and dtype is None and not taped
    if plain and (op := looped(ufunc, (x.dtype,) * 3)):
        return write_outs(name, [_core.scan(op, x, at)], outs, "same_kind")
    to = as_dtype(name, _tiny(ufunc, "accumulate", x, default_float(), axis=at, dtype=dtype).dtype)

    def task(v: numpy.ndarray) -> Any:
        with numpy.errstate(all="ignore"):
            return ufunc.accumulate(v, axis=at, dtype=to if dtype is None else dtype)

    return write_outs(name, host(task, [x], [(x.shape, to)], name=f"{name}.accumulate"), outs, "same_kind")


def _reduced_at(ufunc: numpy.ufunc, inputs: list[Any], outs: list[Any], axis: int = 0, dtype: DTypeLike = None) -> Any:
    _binary(ufunc, "reduceat")
    x, name = asarray(inputs[0]), ufunc.__name__
    indices = asarray(inputs[1] if is_array(inputs[1]) else numpy.asarray(inputs[1], "int64"))
    at = axis_of(name, axis, x.ndim)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise ValueError(f"{name}.reduceat: indices must be a vector of integers, got shape {indices.shape}")
    dtype = None if dtype is None else as_dtype(name, dtype)
    to = _dtype_of_sums(ufunc, x.dtype, dtype, default_float())
    taped = _core.recording() and x.node is not None
    if not taped and (op := looped(ufunc, (to,) * 3)):
        result = _core.reduceat(op, cast_to(x, to), indices, at, f"{name}.reduceat")
        return write_outs(name, [result], outs, "same_kind")
    shape = (*x.shape[:at], indices.shape[0], *x.shape[at + 1 :])

    def task(v: numpy.ndarray, i: numpy.ndarray) -> Any:
        with numpy.errstate(all="ignore"):
            return ufunc.reduceat(v, i, axis=at, dtype=to if dtype is None else dtype)

    return write_outs(name, host(task, [x, indices], [(shape, to)], name=f"{name}.reduceat"), outs, "same_kind")


@functools.lru_cache(1024)
def _dtype_of_sums(
    ufunc: numpy.ufunc, element: numpy.dtype, dtype: numpy.dtype | None, default: numpy.dtype
) -> numpy.dtype:
    """Return the dtype of reductions of elements of a dtype, where `default` is the default dtype of floats."""
    return as_dtype(ufunc.__name__, _tiny(ufunc, "reduce", asarray(numpy.ones(1, element)), default, dtype=dtype).dtype)


def _outer(ufunc: numpy.ufunc, inputs: list[Any], outs: list[Any], **options: Any) -> Any:
    if ufunc.nin != 2 or ufunc.signature is not None:
        raise ValueError(f"{ufunc.__name__}: outer must be of a ufunc with two inputs")
    a, b = (x if type(x) in SCALARS else asarray(x) for x in inputs)
    if is_array(a) and is_array(b):
        a = a.reshape(a.shape + (1,) * b.ndim)
    return called(ufunc, [a, b], outs, **options)


def _at(ufunc: numpy.ufunc, inputs: list[Any], outs: list[Any]) -> Any:
    """In place and unbuffered: for a repeated index the function is applied repeatedly. One op, on these elements
    alone. Returns None, unless a class has its own `__array_ufunc__`."""
    x, indices, *operands = inputs
    name = f"{ufunc.__name__}.at"
    if not is_array(x):
        return ufunc.at(x, _with_values(indices), *map(_with_values, operands))
    wide = x.dtype.kind in "fc"  # a number is an array to NumPy here, of double precision
    operands = [numpy.asarray(o) if wide and type(o) in (float, complex) else o for o in operands]
    rest = [asarray(o, device=None if is_array(o) else x.device) for o in operands]
    untaped(name, x, *rest)
    no_scalar(name, x)
    loop = _loop_at(ufunc, x.dtype, *(o.dtype for o in rest))
    key = Key(name, x, entries_of(name, indices, x.device))
    op = looped(ufunc, loop) if ufunc.nargs <= 3 else None
    unknown = [a for a in key.arrays if is_array(a) and is_mask(a)]
    if op is None or (unknown and len(key.arrays) > 1):
        _at_task(ufunc, x, indices, rest, name)
    elif unknown:
        _at_mask(op, loop, key.view(x), unknown[0], key.axis, rest)
    else:
        _at_positions(op, loop, key, x, rest)
    return None


@functools.lru_cache(1024)
def _loop_at(ufunc: numpy.ufunc, *dtypes: numpy.dtype) -> Any:
    """Return the dtypes that `at` computes in. Errors as NumPy's for operands that do not fit."""
    ufunc.at(numpy.ones(1, dtypes[0]), [0], *(numpy.ones(1, d) for d in dtypes[1:]))
    return ufunc.resolve_dtypes((*dtypes, None), casting="unsafe")


def _at_positions(op: Any, loop: Any, key: Key, x: Array, rest: list[Any]) -> None:
    if not key.arrays:
        v = _core.getitem(x, tuple(key.basic))  # a view of one element, too
        if numpy.can_cast(loop[-1], x.dtype, "same_kind"):
            op(v, *rest, out=v, loop=loop)
        else:
            v[...] = op(v, *rest, loop=loop)  # cast to any dtype, as NumPy does
        return
    v = key.view(x)
    value = cast_to(rest[0], loop[1]) if rest else _core.full((), 0, x.dtype, x.device)
    _core.scatter(v, key.positions(v), key.axis, value, False, op, loop)


def _at_mask(op: Any, loop: Any, v: Any, mask: Array, axis: int, rest: list[Any]) -> None:
    """Do the same for a mask whose values are not known yet: it selects each element once."""
    wide, value = under_mask(v, mask, axis, rest[0] if rest else None)
    if wide is None:
        _core.scatter_masked(v, mask, axis, cast_to(value, loop[1]), op.name, op, loop)
    else:
        _core.masked(op, [v, value][: len(rest) + 1], wide, [v], loop)


def cast_to(x: Array, dtype: numpy.dtype) -> Array:
    """Return x, cast if it has another dtype.

    >>> cast_to(asarray([1.5]), numpy.dtype("int8")).tolist()
    [1]
    """
    return x if x.dtype == dtype else _core.cast(x, dtype)


def _at_task(ufunc: numpy.ufunc, x: Array, indices: Array, rest: list[Any], name: str) -> None:
    """As a task, which reads and writes all of x."""
    arrays: list[Any] = []
    index = _placed(indices, arrays)
    if not arrays:  # out of range is seen now
        numpy.broadcast_to(numpy.int8(0), x.shape)[indices]

    def task(v: numpy.ndarray, *values: numpy.ndarray) -> Any:
        changed = v.copy()
        with numpy.errstate(all="ignore"):
            ufunc.at(changed, index(values), *values[len(arrays) :])
        return changed

    _core.host(task, [x, *arrays, *rest], [x], None, name)


def _placed(indices: ArrayLike, arrays: list[Any]) -> Callable[[tuple[Any, ...]], Any]:
    """Collect the forerun arrays of an index; return a function that puts their values in."""
    parts = indices if isinstance(indices, tuple) else (indices,)
    places = {i: len(arrays) + k for k, i in enumerate(i for i, p in enumerate(parts) if is_array(p))}
    arrays.extend(parts[i] for i in places)
    whole = isinstance(indices, tuple)

    def index(values: tuple[Any, ...]) -> Any:
        found = tuple(values[places[i]] if i in places else p for i, p in enumerate(parts))
        return found if whole else found[0]

    return index


def _with_values(x: object) -> Any:
    if is_array(x):
        return x.numpy()
    return tuple(map(_with_values, x)) if isinstance(x, tuple) else x


_METHODS: dict[str, Callable[..., Any]] = {
    "__call__": called, "reduce": _reduced, "accumulate": _accumulated, "reduceat": _reduced_at, "outer": _outer,
    "at": _at,
}  # fmt: skip
