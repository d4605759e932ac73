"""LLVM's instructions for each formula: results are exact or rounded once, and nothing is contracted."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["BITS", "LETTERS", "Values", "instructions", "is_float", "is_signed"]

BITS = {"bool": 1, "float32": 32, "float64": 64} | {f"{u}int{n}": n for u in ("", "u") for n in (8, 16, 32, 64)}
LETTERS = {
    name: "float" if name == "float32" else "double" if name == "float64" else f"i{n}" for name, n in BITS.items()
}


def is_float(dtype: str) -> bool:
    """Return whether a dtype is a floating one."""
    return dtype.startswith("float")


def is_signed(dtype: str) -> bool:
    """Return whether a dtype is that of integers with a sign."""
    return dtype.startswith("int")


class Values:
    """The code of one element, or one vector, so far: `width` elements each; names of values are in SSA form."""

    def __init__(self, width: int, prefix: str) -> None:
        self.width, self.prefix = width, prefix
        self.code: list[str] = []
        self.intrinsics: set[str] = set()

    def type_of(self, dtype: str) -> str:
        """Return LLVM's type of a value."""
        return self.wide(LETTERS[dtype])

    def wide(self, letter: str) -> str:
        """Return the type of so many elements of a type."""
        return letter if self.width == 1 else f"<{self.width} x {letter}>"

    def constant(self, dtype: str, text: str) -> str:
        """Return a number as a constant of all elements."""
        letter = LETTERS[dtype]
        return text if self.width == 1 else f"<{', '.join([f'{letter} {text}'] * self.width)}>"

    def new(self, instruction: str) -> str:
        """Add an instruction; return the name of its result."""
        name = f"%{self.prefix}{len(self.code)}"
        self.code.append(f"{name} = {instruction}")
        return name

    def call(self, function: str, dtype: str, *args: str, more: str = "") -> str:
        """Add a call of one of LLVM's functions that take values of one type, and return such a value."""
        kind = self.type_of(dtype)
        suffix = f"{'f' if is_float(dtype) else 'i'}{BITS[dtype]}"
        name = f"@llvm.{function}.{suffix if self.width == 1 else f'v{self.width}{suffix}'}"
        extra = more and f", {more}"
        types = ", ".join([kind] * len(args) + (["i1"] if more else []))
        self.intrinsics.add(f"declare {kind} {name}({types})")
        return self.new(f"call {kind} {name}({', '.join(f'{kind} {a}' for a in args)}{extra})")


Emit = Callable[[Values, str, tuple[str, ...]], str]


def _binary(floats: str, integers: str) -> Emit:
    def emit(v: Values, dtype: str, args: tuple[str, ...]) -> str:
        return v.new(f"{floats if is_float(dtype) else integers} {v.type_of(dtype)} {args[0]}, {args[1]}")

    return emit


def _compare(floats: str, signed: str, unsigned: str) -> Emit:
    def emit(v: Values, dtype: str, args: tuple[str, ...]) -> str:
        word = f"fcmp {floats}" if is_float(dtype) else f"icmp {signed if is_signed(dtype) else unsigned}"
        return v.new(f"{word} {v.type_of(dtype)} {args[0]}, {args[1]}")

    return emit


_LESS, _GREATER = _compare("olt", "slt", "ult"), _compare("ogt", "sgt", "ugt")


def _choose(better: Emit) -> Emit:
    """The lesser or the greater of two. The first operand, if it is NaN; of equal ones the second."""

    def emit(v: Values, dtype: str, args: tuple[str, ...]) -> str:
        a, b = args
        kind, flags = v.type_of(dtype), v.wide("i1")
        first = better(v, dtype, args)
        if is_float(dtype):
            nan = v.new(f"fcmp uno {kind} {a}, {a}")
            first = v.new(f"or {flags} {first}, {nan}")
        return v.new(f"select {flags} {first}, {kind} {a}, {kind} {b}")

    return emit


def _negative(v: Values, dtype: str, args: tuple[str, ...]) -> str:
    kind = v.type_of(dtype)
    return v.new(f"fneg {kind} {args[0]}" if is_float(dtype) else f"sub {kind} {v.constant(dtype, '0')}, {args[0]}")


def _select(v: Values, dtype: str, args: tuple[str, ...]) -> str:
    kind = v.type_of(dtype)
    return v.new(f"select {v.wide('i1')} {args[0]}, {kind} {args[1]}, {kind} {args[2]}")


def _invert(v: Values, dtype: str, args: tuple[str, ...]) -> str:
    ones = "true" if dtype == "bool" else "-1"
    return v.new(f"xor {v.type_of(dtype)} {args[0]}, {v.constant(dtype, ones)}")


def _function(name: str) -> Emit:
    return lambda v, dtype, args: v.call(name, dtype, *args)


_FORMULAS: dict[str, Emit] = {
    "add": _binary("fadd", "add"),
    "subtract": _binary("fsub", "sub"),
    "multiply": _binary("fmul", "mul"),
    "divide": _binary("fdiv", ""),
    "square": lambda v, dtype, args: _FORMULAS["multiply"](v, dtype, args * 2),
    "minimum": _choose(_LESS),
    "maximum": _choose(_GREATER),
    "negative": _negative,
    "absolute": _function("fabs"),
    "sqrt": _function("sqrt"),
    "reciprocal": lambda v, dtype, args: _FORMULAS["divide"](v, dtype, (v.constant(dtype, "1.0"), *args)),
    "floor": _function("floor"),
    "ceil": _function("ceil"),
    "trunc": _function("trunc"),
    "rint": _function("rint"),
    "copysign": _function("copysign"),
    "less": _LESS,
    "less_equal": _compare("ole", "sle", "ule"),
    "greater": _GREATER,
    "greater_equal": _compare("oge", "sge", "uge"),
    "equal": _compare("oeq", "eq", "eq"),
    "not_equal": _compare("une", "ne", "ne"),
    "isnan": lambda v, dtype, args: v.new(f"fcmp uno {v.type_of(dtype)} {args[0]}, {args[0]}"),
    "bitwise_and": _binary("", "and"),
    "bitwise_or": _binary("", "or"),
    "bitwise_xor": _binary("", "xor"),
    "invert": _invert,
    "select": _select,
}


def _cast(v: Values, source: str, target: str, value: str) -> str:
    a, b = v.type_of(source), v.type_of(target)
    if source == target or (not is_float(source) and not is_float(target) and a == b):
        return value
    if target == "bool":
        word = "fcmp une" if is_float(source) else "icmp ne"
        return v.new(f"{word} {a} {value}, {v.constant(source, '0.0' if is_float(source) else '0')}")
    if is_float(source):
        word = "fpext" if BITS[target] > BITS[source] else "fptrunc"
    elif is_float(target):
        word = "sitofp" if is_signed(source) else "uitofp"
    else:
        word = "trunc" if BITS[target] < BITS[source] else "sext" if is_signed(source) else "zext"
    return v.new(f"{word} {a} {value} to {b}")


def instructions(v: Values, formula: str, dtypes: tuple[str, ...], args: tuple[str, ...]) -> str:
    """Add the instructions of a formula; return the name of its result.

    Raises
    ------
    KeyError
        For a formula that is not known.
    """
    if formula == "cast":
        return _cast(v, dtypes[0], dtypes[1], args[0])
    return _FORMULAS[formula](v, dtypes[0], args)
