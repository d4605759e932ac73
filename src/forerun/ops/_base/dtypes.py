"""Dtypes by NumPy's names, and questions about them. A dtype is the type of an array's elements.

The names stand for NumPy's scalar types: they may be called, and `x.dtype == np.float32` holds. bfloat16 comes
from the package ml_dtypes, when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy import (
    bool_,
    byte,
    cdouble,
    complex64,
    complex128,
    complexfloating,
    csingle,
    double,
    dtype,
    float16,
    float32,
    float64,
    floating,
    generic,
    half,
    inexact,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    integer,
    intp,
    long,
    longlong,
    number,
    short,
    signedinteger,
    single,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulong,
    ulonglong,
    unsignedinteger,
    ushort,
)  # fmt: skip

from ... import _core
from .convert import (
    as_dtype,
    asarray,
    castable,
    default_float,
    is_array,
    is_bfloat16,
    is_inexact,
    promote,
)

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike

__all__ = [
    "bool_", "byte", "cdouble", "complex64", "complex128", "complexfloating", "csingle", "double", "dtype",
    "float16", "float32", "float64", "floating", "generic", "half", "inexact", "int8", "int16", "int32", "int64",
    "int_", "intc", "integer", "intp", "long", "longlong", "number", "short", "signedinteger", "single",
    "ubyte", "uint", "uint8", "uint16", "uint32", "uint64", "uintc", "uintp", "ulong", "ulonglong",
    "unsignedinteger", "ushort",
    "finfo", "iinfo", "result_type", "promote_types", "can_cast", "issubdtype", "isdtype", "min_scalar_type",
    "common_type",
]  # fmt: skip


def _dtype_of(op: str, x: Any) -> numpy.dtype:
    """Return the dtype of an array (forerun's or NumPy's) or of a number's type, or the given dtype."""
    if isinstance(x, (bool, int, float, complex)) and not isinstance(x, numpy.generic):
        x = type(x)
    return as_dtype(op, getattr(x, "dtype", x) if not isinstance(x, type) else x)


def _limits(dtype: numpy.dtype) -> Any:
    if not is_bfloat16(dtype):
        return numpy.finfo(dtype)
    import ml_dtypes  # there, as the dtype is

    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


class finfo:
    """The limits of floats of a dtype; of complex numbers those of their parts.

    As `numpy.finfo`: bits, eps, max, min, smallest_normal, dtype and more, but limits are Python's floats, which do
    not change the dtype of arrays.

    Parameters
    ----------
    dtype : dtype or array
        The dtype, or an array that has it.

    Raises
    ------
    ValueError
        If the dtype is not one of floats or complex numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.finfo(np.float32).eps, np.finfo(np.ones(2, "complex128")).bits
    (1.1920928955078125e-07, 64)
    """

    def __init__(self, dtype: DTypeLike | ArrayLike, /) -> None:
        found = _dtype_of("finfo", dtype)
        if not is_inexact(found):
            raise ValueError(f"finfo: dtype must be of floats, got {found}")
        self._known = _limits(found)

    def __getattr__(self, name: str) -> float:
        if name.startswith("_"):  # also while a copy is made, which has nothing yet
            raise AttributeError(name)
        value = getattr(self._known, name)
        known = isinstance(value, (int, str, numpy.dtype))
        return value if known else float(value)

    def __dir__(self) -> list[str]:
        return dir(self._known)

    def __reduce__(self) -> tuple[Any, ...]:
        return finfo, (self.dtype,)

    def __repr__(self) -> str:
        return repr(self._known)


def iinfo(dtype: DTypeLike | ArrayLike) -> numpy.iinfo:
    """Return the limits of integers of a dtype, or of an array's dtype: bits, max, min, dtype.

    Parameters
    ----------
    dtype : dtype
        A dtype of integers, or an array.

    Returns
    -------
    numpy.iinfo
        The limits.

    Raises
    ------
    ValueError
        If the dtype is not one of integers.

    Examples
    --------
    >>> from forerun import np
    >>> np.iinfo("int8").min, np.iinfo(np.arange(2)).max
    (-128, 9223372036854775807)
    """
    found = _dtype_of("iinfo", dtype)
    if found.kind not in "iu":
        raise ValueError(f"iinfo: dtype must be of integers, got {found}")
    return numpy.iinfo(found)


_WEAK = (bool, int, float, complex)  # types of weak scalars, by rank


def result_type(*arrays_and_dtypes: Any) -> numpy.dtype:
    """Return the dtype that arrays and dtypes have together, by the rule of `promote_types`.

    Python numbers are weak scalars: a float makes integers floats, and nothing wider. Does not wait.
    ValueError without arguments, TypeError for a dtype that arrays cannot have.

    Parameters
    ----------
    *arrays_and_dtypes : array_like
        Arrays, numbers and dtypes.

    Returns
    -------
    dtype
        The dtype that arrays and dtypes have together.

    Raises
    ------
    ValueError
        Without arguments.
    TypeError
        For a dtype that arrays cannot have.

    Examples
    --------
    >>> from forerun import np
    >>> np.result_type(np.arange(2), np.float32, 1.5), np.result_type("int8", 1), np.result_type("int8", 1.0)
    (dtype('float32'), dtype('int8'), dtype('float32'))
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: there must be at least one array or dtype, got none")
    weak = [_WEAK.index(type(x)) for x in arrays_and_dtypes if type(x) in _WEAK]
    known = [_dtype_of("result_type", x) for x in arrays_and_dtypes if type(x) not in _WEAK]
    if not known:
        return as_dtype("result_type", _WEAK[max(weak)])
    return _with_weak(promote(*known), max(weak, default=0))


def _with_weak(found: numpy.dtype, rank: int) -> numpy.dtype:
    """Return the promotion of a dtype with a weak scalar of this rank."""
    if rank == 3 and found.kind != "c":
        wide = found if is_inexact(found) else default_float()
        return numpy.dtype("complex128" if wide.itemsize == 8 else "complex64")
    if rank == 2 and not is_inexact(found):
        return default_float()
    return numpy.dtype("int64") if rank == 1 and found.kind == "b" else found


def promote_types(type1: DTypeLike, type2: DTypeLike) -> numpy.dtype:
    """Return the dtype that arrays of two dtypes have together: an integer and a float give that float.

    bfloat16 and float16, of which neither holds the other, give float32.

    Parameters
    ----------
    type1 : dtype
        The first dtype.
    type2 : dtype
        The second dtype.

    Returns
    -------
    dtype
        The dtype that arrays of two dtypes have together.

    Raises
    ------
    TypeError
        For a dtype that arrays cannot have.

    Examples
    --------
    >>> from forerun import np
    >>> np.promote_types("int64", "float16"), np.promote_types("int8", "uint8")
    (dtype('float16'), dtype('int16'))
    """
    return promote(as_dtype("promote_types", type1), as_dtype("promote_types", type2))


def can_cast(from_: ArrayLike | DTypeLike, to: DTypeLike, casting: str = "safe") -> bool:
    """Test whether a dtype, or that of an array, can be cast to another by a rule of NumPy's. Does not wait.

    Parameters
    ----------
    from_ : dtype or array
        A dtype, or an array.
    to : dtype
        The dtype to cast to.
    casting : str, optional
        "no", "equiv", "safe" (each value is kept), "same_kind" (safe, or between floats, or from signed to signed
        integers and the like) or "unsafe" (any).

    Returns
    -------
    bool
        Whether the cast is allowed.

    Raises
    ------
    TypeError
        For a weak scalar, which has no dtype of its own.

    Examples
    --------
    >>> from forerun import np
    >>> np.can_cast("int32", "int64"), np.can_cast("int64", "int32", casting="same_kind")
    (True, True)
    """
    if type(from_) in _WEAK:
        raise TypeError(f"can_cast: from_ must be a dtype or an array, got the Python number {from_!r}")
    of_array: Any = from_
    source = _meant(of_array if isinstance(from_, type) else getattr(of_array, "dtype", of_array))
    target = _meant(to)
    return castable(source, target, casting)


def _meant(dtype: DTypeLike) -> numpy.dtype:
    """Any dtype of NumPy's, or bfloat16."""
    return numpy.dtype(_core.bfloat16()) if isinstance(dtype, str) and dtype == "bfloat16" else numpy.dtype(dtype)


_ABSTRACT = {generic, number, integer, signedinteger, unsignedinteger, inexact, floating, complexfloating}


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> bool:
    """Test whether a dtype is another one, or of a class such as `np.floating`. bfloat16 counts as floating.

    Parameters
    ----------
    arg1 : dtype
        The dtype.
    arg2 : dtype or type
        A dtype, or a class of dtypes.

    Returns
    -------
    bool
        Whether the dtype belongs to the other.

    Examples
    --------
    >>> from forerun import np
    >>> np.issubdtype(np.float32, np.floating), np.issubdtype("int8", np.floating)
    (True, False)
    """
    if arg2 in (floating, inexact, number) and not (isinstance(arg1, type) and arg1 in _ABSTRACT):
        arg1 = _meant(arg1)
        return is_bfloat16(arg1) or numpy.issubdtype(arg1, arg2)
    return numpy.issubdtype(arg1, arg2)


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> bool:
    """Test whether a dtype is of a kind: another dtype, a kind's name, or a tuple of these.

    Words: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric".

    Parameters
    ----------
    dtype : dtype
        The dtype.
    kind : dtype, str or tuple
        A dtype, the name of a kind, or a tuple of these.

    Returns
    -------
    bool
        Whether the dtype is of the kind.

    Raises
    ------
    TypeError
        If dtype is not a dtype (text, for example) or kind is neither.
    ValueError
        For another name of a kind.

    Examples
    --------
    >>> from forerun import np
    >>> np.isdtype(np.float32, "real floating"), np.isdtype(np.int8, ("bool", np.float64))
    (True, False)
    """
    of: Any = dtype
    kinds: tuple[Any, ...] = kind if isinstance(kind, tuple) else (kind,)
    known = tuple(k for k in kinds if not _means_bfloat16(k))
    if not _means_bfloat16(of):
        return numpy.isdtype(of, known)
    like = numpy.isdtype(float32, known)  # in words, a dtype as any other of floats
    return len(known) < len(kinds) or (like and numpy.isdtype(float32, tuple(k for k in known if isinstance(k, str))))


def _means_bfloat16(x: Array) -> bool:
    """Return whether it is the dtype or its scalar type, which NumPy's own function refuses."""
    if isinstance(x, type) and issubclass(x, generic) and x.__name__ == "bfloat16":
        return True
    return isinstance(x, numpy.dtype) and is_bfloat16(x)


def min_scalar_type(a: ArrayLike) -> numpy.dtype:
    """Return the smallest dtype that holds a number's value; of an array with axes, its dtype.

    Waits for an array without.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    dtype
        The smallest dtype that holds a number's value.

    Examples
    --------
    >>> from forerun import np
    >>> np.min_scalar_type(300), np.min_scalar_type(-1), np.min_scalar_type(np.ones(2))
    (dtype('uint16'), dtype('int8'), dtype('float32'))
    """
    if is_array(a) and (a.ndim or is_bfloat16(a.dtype)):
        return a.dtype
    return numpy.min_scalar_type(a.numpy() if is_array(a) else a)  # type: ignore[arg-type]  # a list of lists


def common_type(*arrays: Array) -> type:
    """Return the common inexact scalar type of the arrays; that of integers is the default float.

    Parameters
    ----------
    *arrays : array
        The arrays.

    Returns
    -------
    type
        The common inexact scalar type of the arrays.

    Raises
    ------
    TypeError
        For bools.

    Examples
    --------
    >>> from forerun import np
    >>> np.common_type(np.arange(2)) is np.float32, np.common_type(np.ones(2), np.ones(2, "complex128")).__name__
    (True, 'complex128')
    """
    found = [asarray(x, op="common_type").dtype for x in arrays]
    if any(d.kind == "b" for d in found):
        raise TypeError("common_type: arrays must be of numbers, got bool")
    floats = [d for d in found if is_inexact(d)]
    if not found:
        return float16
    return promote(*(floats or [default_float()])).type
