"""Element-wise operations by the names of their ufuncs, and the same under a mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, TypeAlias

from ....ops.elementwise.table import OPERATIONS
from ...builder import Builder
from ...types import is_complex, is_float, is_signed
from ...values import Value
from ..call import Call
from . import arithmetic, bits, complex_functions, complex_inverses, reals
from .arithmetic import compared, logical, rounded, wide_part
from .casts import cast

__all__ = ["combined", "elementwise", "masked", "names"]

Function: TypeAlias = Callable[..., Any]


def _binary(name: str) -> Function:
    return lambda b, x, y: b.binary(name, x, y)


def _unary(name: str) -> Function:
    return lambda b, x: b.unary(name, x)


def _of_stablehlo() -> dict[str, Function]:
    """Those that StableHLO has for real numbers, as the paragraphs of the operations say."""
    return {name: _unary(op.stablehlo) for name, op in OPERATIONS.items() if op.stablehlo}


def _named(module: ModuleType) -> dict[str, Function]:
    """The functions of a module that have the names of operations, which may have several results."""
    return {name: getattr(module, name) for name in module.__all__ if {name, f"_{name}"} & OPERATIONS.keys()}


def _bools(other: str, name: str) -> Function:
    """Arithmetic, but logic for bool."""
    return lambda b, x, y: b.binary(other if x.dtype == "bool" else name, x, y)


# By the bits of the numbers in any dtype; nothing is rounded, or once.
_EXACT: dict[str, Function] = {
    **_named(arithmetic),
    **_named(bits),
    "add": _bools("or", "add"),
    "subtract": _binary("subtract"),
    "multiply": _bools("and", "multiply"),
    "divmod": arithmetic.divmod_,
    "positive": lambda b, x: x,
    "fabs": arithmetic.absolute,
    "floor": lambda b, x: rounded(b, "floor", x),
    "ceil": lambda b, x: rounded(b, "ceil", x),
    "less": lambda b, x, y: compared(b, "LT", x, y),
    "less_equal": lambda b, x, y: compared(b, "LE", x, y),
    "equal": lambda b, x, y: compared(b, "EQ", x, y),
    "not_equal": lambda b, x, y: compared(b, "NE", x, y),
    "greater": lambda b, x, y: compared(b, "GT", x, y),
    "greater_equal": lambda b, x, y: compared(b, "GE", x, y),
    "logical_and": lambda b, x, y: logical(b, "and", x, y),
    "logical_or": lambda b, x, y: logical(b, "or", x, y),
    "logical_xor": lambda b, x, y: logical(b, "xor", x, y),
    "logical_not": lambda b, x: logical(b, "not", x),
    "bitwise_and": _binary("and"),
    "bitwise_or": _binary("or"),
    "bitwise_xor": _binary("xor"),
    "within": lambda b, x: x,
    "clip": arithmetic.clip,
    "where": lambda b, condition, x, y: b.select(condition, x, y),
    "select": lambda b, condition, x, y: b.select(condition, x, y),
}

# Of complex numbers.
_COMPLEX: dict[str, Function] = {
    **_named(complex_functions),
    **_named(complex_inverses),
    "float_power": complex_functions.power,
    "log1p": complex_functions.log1p_of,
}

# Of real numbers.
_REAL: dict[str, Function] = {
    **_of_stablehlo(),
    **_named(reals),
    "float_power": arithmetic.power,
    "deg2rad": reals.radians,
    "rad2deg": reals.degrees,
    "erf": reals.erf,
    "erfc": reals.erfc,
}

# Small floats are computed in float32, and rounded at the end, as NumPy does; these stay as they are.
_ANY_WIDTH = {
    "within",
    "copysign",
    "nextafter",
    "signbit",
    "isnan",
    "isinf",
    "isfinite",
    "where",
    "select",
    "positive",
    "spacing",
}


def names() -> list[str]:
    """The names of all element-wise operations that there are."""
    return sorted({*_EXACT, *_COMPLEX, *_REAL})


def _function(name: str, dtype: str) -> Function | None:
    """How an operation is written whose inputs are of this dtype."""
    return (_COMPLEX if is_complex(dtype) else _REAL).get(name) or _EXACT.get(name)


def combined(b: Builder, name: str, values: Sequence[Value]) -> tuple[Value, ...] | None:
    """The results of a ufunc's loop; None if the ufunc has no loop here."""
    name = name.removeprefix("_")  # of those whose results are functions' tuples
    dtype = values[-1].dtype if name in ("where", "select") else values[0].dtype
    function = _function(name, dtype)
    if function is None:
        return None
    small = is_float(dtype) and wide_part(dtype) != dtype and name not in _ANY_WIDTH
    if small:
        values = [b.convert(v, "float32") if v.dtype == dtype else v for v in values]
    results = function(b, *values)
    results = results if isinstance(results, tuple) else (results,)
    return tuple(b.convert(r, dtype) if small and r.dtype == "float32" else r for r in results)


def elementwise(call: Call) -> Sequence[Value] | None:
    """A ufunc's loop for each element."""
    return _computed(call, call.inputs)


def _outside(call: Call, x: Value) -> Value:
    """Which numbers are not within the limits."""
    b, low, high = call.b, float(call.attribute("low")), float(call.attribute("high"))
    x = cast(b, x, "float64")
    outside = (x <= low if call.attribute("open_low") else x < low) | (
        x >= high if call.attribute("open_high") else x > high
    )
    return outside if call.attribute("takes_nan") else outside | arithmetic.isnan(b, x)


def _any_held(b: Builder, wrong: Value, held: Value | None) -> Value:
    return b.any(wrong if held is None else wrong & held)


def _computed(call: Call, inputs: Sequence[Value], held: Value | None = None) -> list[Value] | None:
    """The results of the loop. held: where they are used, and errors count."""
    b, spec = call.b, call.spec
    types: Sequence[str] = call.attribute("types")
    shape = spec.outputs[0].shape
    results = combined(b, spec.name, [b.broadcast(cast(b, x, t), shape) for x, t in zip(inputs, types)])
    if results is None:
        return None
    if call.attribute("check") and spec.name == "power" and is_signed(types[1]):
        call.bad = _any_held(b, b.broadcast(inputs[1], shape) < 0, held)
    if spec.name == "within":
        call.bad = _any_held(b, b.broadcast(_outside(call, inputs[0]), shape), held)
    return [cast(b, cast(b, r, t), o.dtype) for r, t, o in zip(results, types[len(inputs) :], spec.outputs)]


def masked(call: Call) -> Sequence[Value] | None:
    """The same where the mask, the last input, holds; other elements stay."""
    *inputs, mask = call.inputs
    b = call.b
    if call.spec.name == "copy":
        (out,) = call.spec.outputs
        values: list[Value] | None = [b.broadcast(cast(b, inputs[0], out.dtype), out.shape)]
    else:
        values = _computed(call, inputs, mask)
    return values and [b.select(mask, v, call.old(i)) for i, v in enumerate(values)]
