"""The dtypes that arrays have, their promotion, and the casts that are allowed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy

from ... import _core
from ..._runtime.default_dtypes import default_float, ints_become_floats, set_defaults
from ..._runtime.user_warnings import warn_at_call

if TYPE_CHECKING:
    from ...typing import DTypeLike


__all__ = [
    "SUPPORTED", "as_dtype", "as_numpy", "castable", "default_float", "ints_become_floats", "is_bfloat16", "is_inexact",
    "is_real_float", "is_supported", "promote", "real_of", "set_defaults", "warn_of_lost_parts",
    "with_known_values",
]  # fmt: skip

# In the core's order.
_NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
_DTYPES = {name: numpy.dtype(name) for name in _NAMES if name != "bfloat16"}
_NUMBERS = {numpy.dtype(kind).num for kind in (*_DTYPES, "longlong", "ulonglong")}
SUPPORTED = "bool, integer, float16/32/64, bfloat16 or complex64/128"


def is_inexact(dtype: numpy.dtype) -> bool:
    """Return whether an array's dtype is one of floats or complex numbers. NumPy's `kind` of bfloat16 is "V".

    >>> is_inexact(numpy.dtype("complex64")), is_inexact(numpy.dtype("int8"))
    (True, False)
    """
    return dtype.kind in "fcV"


def is_real_float(dtype: numpy.dtype) -> bool:
    """Return whether an array's dtype is one of floats, bfloat16 among them.

    >>> is_real_float(numpy.dtype("float16")), is_real_float(numpy.dtype("complex64"))
    (True, False)
    """
    return dtype.kind in "fV"


def real_of(dtype: numpy.dtype) -> numpy.dtype:
    """Return the dtype of the real parts of a dtype's numbers.

    >>> real_of(numpy.dtype("complex64"))
    dtype('float32')
    """
    return numpy.zeros((), dtype).real.dtype


def _promotion(a: str, b: str) -> str:
    """Return NumPy's result type, except that an integer with a float gives that float."""
    if a == b:
        return a
    kinds = {name: "f" if name == "bfloat16" else _DTYPES[name].kind for name in (a, b)}
    floats = [name for name in (a, b) if kinds[name] in "fc"]
    if len(floats) == 1:
        return floats[0]
    if "bfloat16" in floats:  # NumPy does not know it: the other one, which has its range unless it is float16
        other = b if a == "bfloat16" else a
        return "float32" if other == "float16" else other
    return numpy.result_type(a, b).name


_PROMOTED: dict[tuple[str, str], str] = {}
_FOUND: dict[tuple[numpy.dtype, numpy.dtype], numpy.dtype] = {}  # promote() of two: names of dtypes take microseconds


def _promote_by(rule: Callable[[str, str], str]) -> None:
    """Make a rule for two dtypes that of `promote`."""
    _PROMOTED.update({(a, b): rule(a, b) for a in _NAMES for b in _NAMES})
    _FOUND.clear()


def promotion_table() -> list[list[int]]:
    """Return the rule for two dtypes as the core has it: per dtype a row of the numbers that it gives with each.

    >>> len(promotion_table()) == len(promotion_table()[0])
    True
    """
    return [[_NAMES.index(_PROMOTED[a, b]) for b in _NAMES] for a in _NAMES]


def _set_promotion(rule: Callable[[str, str], str]) -> None:
    """Make a rule for two dtypes the one of the core, and of `promote`."""
    _promote_by(rule)
    _core.set_promotion(promotion_table())


def _numpys_promotion(a: str, b: str) -> str:
    """Return NumPy's result type, where it knows both."""
    return _promotion(a, b) if "bfloat16" in (a, b) else numpy.result_type(a, b).name


_promote_by(_promotion)


@contextmanager
def as_numpy() -> Iterator[None]:
    """Inside, creation gives float64, and integers are promoted with floats as in NumPy.

    >>> with as_numpy():
    ...     default_float(), promote("int64", "float32")
    (dtype('float64'), dtype('float64'))
    >>> default_float(), promote("int64", "float32")
    (dtype('float32'), dtype('float32'))
    """
    before = default_float(), ints_become_floats()
    set_defaults("float64", ints_become_floats=False)
    _set_promotion(_numpys_promotion)
    _core.set_numpy_rules(True)
    try:
        yield
    finally:
        _core.set_numpy_rules(False)
        set_defaults(*before)
        _set_promotion(_promotion)


def promote(*dtypes: Any) -> numpy.dtype:
    """Return the dtype that arrays of these dtypes have together.

    It is NumPy's, but an integer with a float gives that float.

    >>> promote("int64", "float16"), promote("float32", "float64")
    (dtype('float16'), dtype('float64'))
    """
    result: numpy.dtype = numpy.dtype(dtypes[0])
    for other in map(numpy.dtype, dtypes[1:]):
        if other != result:
            found = _FOUND.get((result, other))
            if found is None:
                name = _PROMOTED[result.name, other.name]
                found = numpy.dtype(_core.bfloat16()) if name == "bfloat16" else _DTYPES[name]
                _FOUND[result, other] = found
            result = found
    return result


_EXACT: dict[Any, numpy.dtype] = {numpy.dtype(kind): numpy.dtype(kind) for kind in "?bhilBHILefdFD"}
_EXACT |= {dtype.type: dtype for dtype in _EXACT.values()} | {bool: numpy.dtype(bool), int: numpy.dtype(int)}


def as_dtype(op: str, dtype: DTypeLike) -> numpy.dtype:
    """Return the dtype meant by a name, a type, a dtype or its class; `float` is the default float.

    TypeError if arrays cannot have it.

    >>> as_dtype("op", float), as_dtype("op", "int8")
    (dtype('float32'), dtype('int8'))
    """
    if isinstance(dtype, (type, numpy.dtype)) and (exact := _EXACT.get(dtype)) is not None:
        return exact
    if dtype is float:
        return default_float()
    if dtype is complex:
        return numpy.dtype("complex128" if default_float().itemsize == 8 else "complex64")
    if isinstance(dtype, str) and dtype == "bfloat16":
        return numpy.dtype(_core.bfloat16())
    if isinstance(dtype, type(numpy.dtype)):  # a class of numpy.dtypes
        of_class: Any = dtype
        dtype = of_class()
    try:
        found: numpy.dtype = numpy.dtype(dtype)
    except SyntaxError:  # of text that begins like a dtype with a shape
        raise TypeError(f"{op}: dtype must be one of NumPy's, got {dtype!r}") from None
    if not is_supported(found) or not found.isnative:
        order = "" if found.isnative else " in native byte order"
        raise TypeError(f"{op}: dtype must be {SUPPORTED}{order}, got {found}")
    return found


def is_supported(dtype: numpy.dtype) -> bool:
    """Return whether arrays can have a dtype, but for its byte order: theirs is the machine's.

    >>> is_supported(numpy.dtype(">f4")), is_supported(numpy.dtype("U3"))
    (True, False)
    """
    return dtype.num in _NUMBERS or is_bfloat16(dtype)


def is_bfloat16(dtype: numpy.dtype) -> bool:
    """Return whether it is the dtype that ml_dtypes has added to NumPy's.

    >>> is_bfloat16(numpy.dtype("float16"))
    False
    """
    return dtype.kind == "V" and dtype.name == "bfloat16"


def castable(source: numpy.dtype, target: numpy.dtype, casting: Any) -> bool:
    """Return whether a rule of NumPy's allows a cast; bfloat16 holds integers of 8 bits, and float32 holds it.

    >>> castable(numpy.dtype("int8"), numpy.dtype("float32"), "safe")
    True
    """
    if not (is_bfloat16(source) or is_bfloat16(target)):
        return numpy.can_cast(source, target, casting)
    half = numpy.dtype("float16")  # to NumPy, the same kind of dtype
    like = numpy.can_cast(half if is_bfloat16(source) else source, half if is_bfloat16(target) else target, casting)
    if source == target or casting not in ("no", "equiv", "safe"):
        return like
    return like and casting == "safe" and half not in (source, target)


def warn_of_lost_parts(source: numpy.dtype, target: numpy.dtype) -> None:
    """Warn as NumPy does, at the user's line, if a cast discards imaginary parts.

    >>> warn_of_lost_parts(numpy.dtype("float32"), numpy.dtype("int8"))
    """
    if source.kind == "c" and target.kind not in "cb":
        text = "Casting complex values to real discards the imaginary part"
        warn_at_call(text, numpy.exceptions.ComplexWarning)


def with_known_values(x: Any, want: numpy.dtype) -> Any:
    """Return lists with NumPy's scalars in place of forerun's, once computed, if NumPy may refuse to cast their values.

    It refuses floats and integers that do not fit into an integer dtype, and complex numbers as real ones. Other lists
    are returned as they are, without a wait.

    >>> from forerun import np
    >>> with_known_values([np.arange(3.0)[1], 2], numpy.dtype("int8"))
    [np.float32(1.0), 2]
    """
    leaves = list(_leaves(x)) if want.kind in "iuf" else []
    arrays = [v for v in leaves if isinstance(v, _core.Array)]
    others = [v for v in leaves if not isinstance(v, _core.Array)]
    if any(v.ndim for v in arrays) or not all(isinstance(v, (int, float, complex, numpy.generic)) for v in others):
        return x
    if want.kind == "f":
        may_fail = any(isinstance(v, complex) for v in others) or any(v.dtype.kind == "c" for v in arrays)
    else:
        fit = all(isinstance(v, bool) for v in others) and all(numpy.can_cast(v.dtype, want) for v in arrays)
        may_fail = not fit
    return _with_numpys(x) if may_fail else x


def _leaves(x: Any) -> Iterator[Any]:
    """Yield the items of nested lists that are not lists."""
    if isinstance(x, (list, tuple)):
        yield from itertools.chain.from_iterable(map(_leaves, x))
    else:
        yield x


def _with_numpys(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_with_numpys(v) for v in x]
    return x.asnumpy()[()] if isinstance(x, _core.Array) else x
