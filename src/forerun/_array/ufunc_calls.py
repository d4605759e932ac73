"""Calls of ufuncs with forerun arrays: the choice of the loop, and the operation that runs it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..ops._base import core as _core
from ..ops._base.convert import (
    as_dtype,
    asarray,
    broadcast_shapes,
    check_choice,
    default_float,
    is_array,
    is_inexact,
    promote,
)
from ..ops._base.host_task import host, no_gradient
from ..ops._base.primitive import Elementwise
from ..ops.elementwise import exponential
from ..ops.elementwise.table import OPERATIONS
from ..ops.index.setitem import untaped
from ..ops.linalg import matmul as products
from ..ops.shape.memory_order import copied_in, fortran, in_order

if TYPE_CHECKING:
    from .._runtime.device import Device
    from ..typing import Array, Out

OPS: dict[Any, Elementwise] = {op.ufunc: op for op in OPERATIONS.values() if not op.name.startswith("_")}
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    numpy.modf: exponential.modf, numpy.frexp: exponential.frexp, numpy.divmod: exponential.divmod,
}  # fmt: skip
_PRODUCTS: dict[Any, Callable[..., Any]] = {
    getattr(numpy, name): getattr(products, name)
    for name in products.__all__
    if hasattr(numpy, name)  # two are there since 2.2
}
SCALARS = (bool, int, float, complex)
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe", "same_value")
_OPTIONS = {"casting", "dtype", "order", "sig", "signature", "subok", "where"}
_OF_GENERALISED = {"axes", "axis", "keepdims"}

Dtypes = tuple[numpy.dtype, ...]


def outs_of(ufunc: numpy.ufunc, method: str, out: Out) -> list[Any]:
    """Return one entry per output, None for a new array."""
    n = ufunc.nout if method == "__call__" else 1
    given = list(out) if isinstance(out, tuple) else [out] + [None] * (n - 1)
    if len(given) != n:
        raise ValueError(f"{ufunc.__name__}: out must have {n} entries, got {len(given)}")
    for o in given:
        if o is not None and not is_array(o) and not isinstance(o, numpy.ndarray):
            raise TypeError(f"{ufunc.__name__}: out must be an array, got {type(o).__name__}")
    return given


def write_outs(name: str, results: Sequence[Any], outs: Sequence[Any], casting: str) -> Any:
    """Return the results, written into the given arrays, if any."""
    found = tuple(r if o is None else _put(name, o, r, casting) for r, o in zip(results, outs, strict=True))
    return found[0] if len(found) == 1 else found


def _put(name: str, out: Any, result: Array, casting: str) -> Any:
    _check_out(name, out, result.shape, result.dtype, casting)
    if is_array(out):
        out[...] = result
    else:
        numpy.copyto(out, result.numpy(), casting="unsafe")
    return out


def _check_out(name: str, out: Any, shape: tuple[int, ...], dtype: numpy.dtype, casting: str) -> None:
    if broadcast_shapes(name, shape, out.shape) != out.shape:
        raise ValueError(f"{name}: out must have a shape that {shape} broadcasts to, got {out.shape}")
    if not numpy.can_cast(dtype, out.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"{name}: result of dtype {dtype} must be castable to out's, got {out.dtype}")


# --- calls ----------------------------------------------------------------------------------------------------


def called(ufunc: numpy.ufunc, inputs: list[Any], outs: list[Any], **options: Any) -> Any:
    """Submit a call of a ufunc; one entry of `outs` per output, None for a new array."""
    if len(inputs) != ufunc.nin:
        raise TypeError(f"{ufunc.__name__}: takes {ufunc.nin} operands, got {len(inputs)}")
    if unknown := sorted(set(options) - _OPTIONS - (_OF_GENERALISED if ufunc.signature else set())):
        raise TypeError(f"{ufunc.__name__}: keywords must be those of a ufunc, got {', '.join(unknown)}")
    order = options.pop("order", "K")
    check_choice(ufunc.__name__, "order", order, ("C", "F", "A", "K"))
    options = {k: v for k, v in options.items() if not _says_nothing(k, v)}
    results = _results(ufunc, inputs, outs, options)
    if order == "K":
        return results
    if order == "A":
        order = "F" if all(fortran(x) for x in inputs if is_array(x)) else "C"
    transposed = [
        x if out is not None or in_order(x, order) else copied_in(x, order) for x, out in zip(_several(results), outs)
    ]
    return transposed[0] if ufunc.nout == 1 else tuple(transposed)


def _results(ufunc: numpy.ufunc, inputs: list[Any], outs: list[Any], options: dict[str, Any]) -> Any:
    if simple := _simple(ufunc, inputs, outs, options):
        return simple()
    name, casting = ufunc.__name__, options.pop("casting", "same_kind")
    check_choice(name, "casting", casting, _CASTINGS)
    where = options.pop("where", True)
    device = next(x for x in (*inputs, *outs, where) if is_array(x)).device
    operands = [x if type(x) in SCALARS else asarray(x, device=None if is_array(x) else device) for x in inputs]
    loop = loop_of(ufunc, operands, casting, options)
    results: Sequence[Any]
    if ufunc.signature is not None:
        results = _generalised(ufunc, operands, loop, options)
    elif where is not True:
        return _masked(ufunc, operands, loop, asarray(where, device=None if is_array(where) else device), outs, casting)
    elif op := looped(ufunc, loop):
        results = _several(op(*operands, loop=loop))
    else:
        shape = broadcast_shapes(name, *(x.shape for x in operands if is_array(x)))
        results = _issued(ufunc, operands, loop, [shape] * ufunc.nout, {})
    return write_outs(name, results, outs, casting)


def _several(result: Array) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _says_nothing(option: str, value: Any) -> bool:
    """Return whether an option is as if it were not there."""
    return option == "subok" or value is None or (option == "where" and value is True)


def _simple(
    ufunc: numpy.ufunc, inputs: list[Any], outs: list[Any], options: dict[str, Any]
) -> Callable[[], Any] | None:
    """Return a call of a forerun operation that supports the options; None if no operation does."""
    if ufunc in _FUNCTIONS and not options:

        def results() -> Any:
            return _several(_FUNCTIONS[ufunc](*inputs))

        return lambda: write_outs(ufunc.__name__, results(), outs, "same_kind")
    if ufunc in _PRODUCTS:
        named = {"signature" if k == "sig" else k: v for k, v in options.items()}
        return lambda: _PRODUCTS[ufunc](*inputs, out=outs[0], **named)
    op = OPS.get(ufunc)
    if op is None or set(options) - {"dtype"}:
        return None
    dtype: dict[str, Any] = {k: as_dtype(op.name, v) for k, v in options.items()}
    shape = broadcast_shapes(op.name, *(getattr(x, "shape", ()) for x in inputs))
    if len(outs) == 1 and (outs[0] is None or (is_array(outs[0]) and outs[0].shape == shape)):
        return lambda: op(*inputs, out=outs[0], **dtype)
    return lambda: write_outs(op.name, _several(op(*inputs, **dtype)), outs, "same_kind")


# --- which loop -----------------------------------------------------------------------------------------------


def loop_of(ufunc: numpy.ufunc, operands: list[Any], casting: str, options: dict[str, Any]) -> Dtypes:
    """Return the dtypes that a call computes in: NumPy's choice, by forerun's rule for integers with floats."""
    name = ufunc.__name__
    wanted = _wanted(ufunc, options) if options else None
    given = [_seen(x) for x in operands]
    if wanted is None:
        found = _found(ufunc, ufunc.ntypes, tuple(given), casting, default_float())
    else:
        found = _resolved(ufunc, given, wanted, casting)
    for x, to in zip(operands, found, strict=False):
        if is_array(x) and casting in ("no", "equiv", "safe") and not numpy.can_cast(x.dtype, to, casting):  # type: ignore[arg-type]
            raise TypeError(f"{name}: operands must be castable by rule {casting!r}, got {x.dtype} to {to}")
    return found


@functools.lru_cache(4096)
def _found(ufunc: numpy.ufunc, loops: int, given: tuple[Any, ...], casting: str, default: numpy.dtype) -> Dtypes:
    return _narrowed(ufunc, list(given), casting, _resolved(ufunc, list(given), None, casting))


def _whole(d: object) -> bool:
    return isinstance(d, numpy.dtype) and d.kind in "biu"


def _seen(x: Array) -> Any:
    """Return the type of an operand for NumPy's promotion: a dtype, or a Python type whose numbers are weak."""
    if is_array(x):
        return x.dtype
    return numpy.dtype(bool) if type(x) is bool else type(x)


def _wanted(ufunc: numpy.ufunc, options: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return the dtypes that the call names, with None for those that it leaves open."""
    named = options.pop("signature", options.pop("sig", None))
    dtype = options.pop("dtype", None)
    if isinstance(named, str) and "->" in named:
        named = tuple(named.replace("->", ""))
    if named is None and dtype is not None:
        named = (*(None,) * ufunc.nin, *(dtype,) * ufunc.nout)
    elif isinstance(named, (str, type, numpy.dtype)):
        named = (*(None,) * ufunc.nin, *(named,) * ufunc.nout)
    if named is None:
        return None
    return tuple(d if d is None else as_dtype(ufunc.__name__, d) for d in named)


def _resolved(ufunc: Any, given: list[Any], wanted: tuple[Any, ...] | None, casting: str) -> Dtypes:
    if not any(isinstance(d, numpy.dtype) for d in given):
        given = [numpy.dtype(d) for d in given]
    named = {} if wanted is None else {"signature": wanted}
    try:
        found: Dtypes = ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout), casting=casting, **named)
        for d in found:
            as_dtype(ufunc.__name__, d)
        return found
    except TypeError as error:
        shown = ", ".join(getattr(d, "name", str(d)) for d in given)
        raise TypeError(f"{ufunc.__name__}: there must be a loop for the operands, got {shown}: {error}") from None


def _narrowed(ufunc: numpy.ufunc, given: list[Any], casting: str, found: Dtypes) -> Dtypes:
    """NumPy's choice, but operands that become floats (integers, Python's numbers) take the dtype of the float
    operands, or the default float."""
    floats = [d for d in given if isinstance(d, numpy.dtype) and is_inexact(d)]
    common = promote(*floats) if floats else default_float()
    if common.kind == "c":
        common = numpy.dtype(f"float{common.itemsize * 4}")

    def narrow(d: object, to: numpy.dtype) -> Any:
        becomes_float = is_inexact(to) and (_whole(d) or d in (int, float))
        return common if becomes_float else promote(common, "complex64") if d is complex else d

    try:
        return _resolved(ufunc, [narrow(d, to) for d, to in zip(given, found, strict=False)], None, casting)
    except TypeError:
        return found


# --- ops made of others' loops ----------------------------------------------------------------------------------

_MOST = 1024  # ufuncs: their loops are kept forever, and a program may make any number; later ones are host tasks
_MOST_OPERANDS = 6
_made: dict[Any, tuple[list[str], Elementwise | None]] = {}
FOREIGN: dict[Any, Elementwise] = {}  # those whose plain calls the core handles itself


def looped(ufunc: numpy.ufunc, loop: Dtypes) -> Elementwise | None:
    """Return an op that has the loop of these dtypes; None if there can be none."""
    op = OPS.get(ufunc) or _op_of(ufunc)
    return op if op and _has_loop(ufunc, ufunc.ntypes, loop) else None


@functools.lru_cache(4096)
def _has_loop(ufunc: numpy.ufunc, loops: int, loop: Dtypes) -> bool:
    chars = [[numpy.dtype(c).name for c in types.replace("->", "")] for types in ufunc.types]
    return [d.name for d in loop] in chars


def _op_of(ufunc: numpy.ufunc) -> Elementwise | None:
    types, op = _made.get(ufunc, (None, None))
    if types != ufunc.types and (types is not None or len(_made) < _MOST):  # a ufunc can get more loops
        op = _made_of(ufunc)
        _made[ufunc] = (ufunc.types, op)
        if op and _computes_in_its_dtype(ufunc):
            FOREIGN[ufunc] = op
    return op


def _made_of(ufunc: numpy.ufunc) -> Elementwise | None:
    if ufunc.nargs > _MOST_OPERANDS:
        return None
    try:
        return Elementwise(ufunc, ufunc.__name__, (), (None,) * ufunc.nin, ufunc.__doc__ or "")
    except TypeError:  # none of its loops is for dtypes of arrays
        return None


def _computes_in_its_dtype(ufunc: numpy.ufunc) -> bool:
    """Return whether operands of one dtype of inexact numbers are computed with in the loop of that dtype."""
    for types in ufunc.types:
        inputs, outputs = types.split("->")
        if inputs in ("f" * ufunc.nin, "d" * ufunc.nin, "F" * ufunc.nin, "D" * ufunc.nin):
            found = ufunc.resolve_dtypes((numpy.dtype(inputs[0]),) * ufunc.nin + (None,) * ufunc.nout)
            if [d.char for d in found] != [*inputs, *outputs]:
                return False
    return ufunc.signature is None


# --- host tasks -------------------------------------------------------------------------------------------------


def _issued(
    ufunc: numpy.ufunc, operands: list[Any], loop: Dtypes, shapes: list[tuple[int, ...]], options: dict[str, Any]
) -> list[Any]:
    """Return the ufunc as a task, with results of these shapes."""
    arrays = [x for x in operands if is_array(x)]
    fixed = [None if is_array(x) else numpy.asarray(x, d) for x, d in zip(operands, loop, strict=False)]

    def task(*values: numpy.ndarray) -> Any:
        rest = iter(values)
        with numpy.errstate(all="ignore"):
            return ufunc(*(next(rest) if x is None else x for x in fixed), signature=loop, casting="unsafe", **options)

    return host(task, arrays, list(zip(shapes, loop[ufunc.nin :], strict=True)), name=ufunc.__name__)


# --- under a mask -----------------------------------------------------------------------------------------------


def _masked(ufunc: numpy.ufunc, operands: list[Any], loop: Dtypes, where: Array, outs: list[Any], casting: str) -> Any:
    """Return a call with `where`: elsewhere, outputs keep their values; new ones are 0 there. It is one operation."""
    name = ufunc.__name__
    if where.dtype != bool:
        raise TypeError(f"{name}: where must be an array of bools, got {where.dtype}")
    arrays = [x for x in operands if is_array(x)]
    shape = broadcast_shapes(name, where.shape, *(x.shape for x in arrays), *(o.shape for o in outs if o is not None))
    for o, dtype in zip(outs, loop[ufunc.nin :], strict=True):
        if o is not None:
            _check_out(name, o, shape, dtype, casting)
    untaped(name, *(o for o in outs if is_array(o)), *(arrays if any(map(is_array, outs)) else ()))
    written = [_to_write(o, shape, d, where.device) for o, d in zip(outs, loop[ufunc.nin :], strict=True)]
    fixed = [x if is_array(x) else numpy.asarray(x, d).item() for x, d in zip(operands, loop, strict=False)]
    if ufunc.nargs <= _MOST_MASKED and (op := looped(ufunc, loop)):
        _core.masked(op, fixed, where, written, loop)
    else:
        _masked_task(ufunc, fixed, loop, where, written)
    no_gradient(name, [where, *arrays], [w for w, o in zip(written, outs, strict=True) if o is None])
    for w, o in zip(written, outs, strict=True):
        if isinstance(o, numpy.ndarray):
            numpy.copyto(o, w.numpy(), casting="unsafe")
    found = tuple(w if o is None else o for w, o in zip(written, outs, strict=True))
    return found[0] if len(found) == 1 else found


_MOST_MASKED = 5  # operands of a loop that the core runs under a mask


def _to_write(out: Out, shape: tuple[int, ...], dtype: numpy.dtype, device: Device) -> Array:
    """Return the array to write for an output: itself, a copy if it is NumPy's, zeros if no output is given."""
    if out is None:
        return _core.full(shape, 0, dtype, device)
    return out if is_array(out) else asarray(out, device=device)


def _masked_task(ufunc: numpy.ufunc, operands: list[Any], loop: Dtypes, where: Array, outs: list[Any]) -> None:
    """Issue the same as a host task, which reads and writes outputs as a whole."""
    arrays = [x for x in operands if is_array(x)]

    def task(mask: numpy.ndarray, *values: numpy.ndarray) -> Any:
        rest = iter(values)
        given = [next(rest) if is_array(x) else numpy.asarray(x, d) for x, d in zip(operands, loop, strict=False)]
        into = tuple(next(rest).copy() for _ in outs)
        with numpy.errstate(all="ignore"):
            return ufunc(*given, out=into, where=mask, signature=loop, casting="unsafe")

    _core.host(task, [where, *arrays, *outs], outs, None, ufunc.__name__)


def _generalised(ufunc: numpy.ufunc, operands: list[Any], loop: Dtypes, options: dict[str, Any]) -> list[Any]:
    """Return a ufunc whose operands have core axes, as a task."""
    operands = [x if is_array(x) else asarray(numpy.asarray(x, d)) for x, d in zip(operands, loop, strict=False)]
    options = _from_the_end(ufunc, operands, options)
    return _issued(ufunc, operands, loop, _core_shapes(ufunc, operands, loop, options), options)


def core_axes(ufunc: Any) -> list[int]:
    """Return how many core axes each operand has, inputs first."""
    return [len(re.findall(r"[^,\s]+", names)) for names in re.findall(r"\(([^)]*)\)", ufunc.signature)]


def _lead(ufunc: numpy.ufunc, operands: list[Any]) -> int:
    counts = core_axes(ufunc)
    for x, n in zip(operands, counts, strict=False):
        if x.ndim < n:  # also where NumPy would do without an axis marked with "?"
            raise ValueError(f"{ufunc.__name__}: operands must have the axes of {ufunc.signature}, got shape {x.shape}")
    return max((x.ndim - n for x, n in zip(operands, counts, strict=False)), default=0)


def _from_the_end(ufunc: numpy.ufunc, operands: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with axes counted from the end, so that they still hold when there are more axes in front."""
    axis, counts = options.get("axis", -1), core_axes(ufunc)
    given = options.get("axes")
    if given is None:
        if axis < 0 or max(counts) > 1:
            return options
        if beyond := [x.ndim for x, n in zip(operands, counts, strict=False) if n and axis >= x.ndim]:
            raise numpy.exceptions.AxisError(axis, beyond[0])
        given = [(axis,) if n else () for n in counts]  # as operands and results may differ in their number of axes
    kept = max(counts) if options.get("keepdims") else 0
    ndims = [x.ndim for x in operands]
    ndims += [_lead(ufunc, operands) + max(n, kept) for n in counts[ufunc.nin :]]
    counted = [
        tuple(a - n if a >= 0 else a for a in ((axes,) if isinstance(axes, int) else axes))
        for axes, n in zip(given, ndims, strict=False)
    ]
    if kept and "axes" not in options:
        counted[ufunc.nin :] = [(axis - n,) for n in ndims[ufunc.nin :]]
    return {k: v for k, v in options.items() if k != "axis"} | {"axes": counted}


def _core_shapes(
    ufunc: numpy.ufunc, operands: list[Any], loop: Dtypes, options: dict[str, Any]
) -> list[tuple[int, ...]]:
    """The shapes of the results: those of a call with one more axis in front, of extent 0: nothing is computed."""
    lead, counts = _lead(ufunc, operands), core_axes(ufunc)
    empty = [
        numpy.empty((0,) + (1,) * (lead - x.ndim + n) + x.shape, d)
        for x, n, d in zip(operands, counts, loop, strict=False)
    ]
    try:
        found = _several(ufunc(*empty, signature=loop, casting="unsafe", **options))
    except (ValueError, TypeError) as error:
        raise type(error)(f"{ufunc.__name__}: operands must fit {ufunc.signature}, got {error}") from None
    return [f.shape[1:] for f in found]
