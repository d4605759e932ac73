"""From whatever a user passes to arrays, dtypes and axes; what all families share."""

from __future__ import annotations

import operator
import reprlib
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy

from .. import _core
from ..device import Device, resolve
from .base import primitive

__all__ = [
    "asarray", "as_dtype", "axes_of", "axes_to_reduce", "axis_of",
    "castable", "converted", "count_of", "counts_of", "default_float", "is_array",
    "is_bfloat16", "is_inexact", "is_real_float", "is_supported", "one_of", "promote", "set_defaults", "store",
    "together", "unsupported", "vector_of", "warn_of_lost_parts", "whole",
]  # fmt: skip

# In the core's order.
_NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
_DTYPES = {name: numpy.dtype(name) for name in _NAMES if name != "bfloat16"}
_NUMBERS = {numpy.dtype(kind).num for kind in (*_DTYPES, "longlong", "ulonglong")}
_SUPPORTED = "bool, integer, float16/32/64, bfloat16 or complex64/128"

_default_float = numpy.dtype("float32")
_ints_become_floats = False


def default_float() -> numpy.dtype:
    """The dtype of floats when nothing else is said: float32 unless `npx.set_np(dtype=True)` was called.

    >>> default_float()
    dtype('float32')
    """
    return _default_float


def ints_become_floats() -> bool:
    """Whether creation from Python numbers gives floats, as in MXNet."""
    return _ints_become_floats


def set_defaults(float_dtype: Any, ints_become_floats: bool) -> None:
    """Changes what creation gives: the default float, and whether Python integers become floats, as in MXNet.

    >>> set_defaults("float64", ints_become_floats=False); asarray(0.5).dtype
    dtype('float64')
    >>> set_defaults("float32", ints_become_floats=False)
    """
    global _default_float, _ints_become_floats
    _default_float, _ints_become_floats = numpy.dtype(float_dtype), ints_become_floats
    _core.set_default_float(_default_float)


def is_inexact(dtype: numpy.dtype) -> bool:
    """Whether an array's dtype is one of floats or complex numbers. NumPy's `kind` of bfloat16 is "V".

    >>> is_inexact(numpy.dtype("complex64")), is_inexact(numpy.dtype("int8"))
    (True, False)
    """
    return dtype.kind in "fcV"


def is_real_float(dtype: numpy.dtype) -> bool:
    """Whether an array's dtype is one of floats, bfloat16 among them.

    >>> is_real_float(numpy.dtype("float16")), is_real_float(numpy.dtype("complex64"))
    (True, False)
    """
    return dtype.kind in "fV"


def _promotion(a: str, b: str) -> str:
    """NumPy's result type, except that an integer with a float gives that float."""
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


_PROMOTED = {(a, b): _promotion(a, b) for a in _NAMES for b in _NAMES}
_core.set_promotion([[_NAMES.index(_PROMOTED[a, b]) for b in _NAMES] for a in _NAMES])


def promote(*dtypes: Any) -> numpy.dtype:
    """The dtype that arrays of these dtypes have together.

    It is NumPy's, but an integer with a float gives that float.

    >>> promote("int64", "float16"), promote("float32", "float64")
    (dtype('float16'), dtype('float64'))
    """
    result = numpy.dtype(dtypes[0])
    for other in map(numpy.dtype, dtypes[1:]):
        if other != result:
            name = _PROMOTED[result.name, other.name]
            result = numpy.dtype(_core.bfloat16()) if name == "bfloat16" else _DTYPES[name]
    return result


def is_array(x: Any) -> bool:
    """Whether x is one of our arrays.

    >>> is_array(asarray(1)), is_array(1)
    (True, False)
    """
    return isinstance(x, _core.Array)


def as_dtype(op: str, dtype: Any) -> numpy.dtype:
    """The dtype meant by a name, a type or a dtype; `float` is the default float.

    TypeError if arrays cannot have it.

    >>> as_dtype("op", float), as_dtype("op", "int8")
    (dtype('float32'), dtype('int8'))
    """
    if dtype is float:
        return _default_float
    if dtype is complex:
        return numpy.dtype("complex128" if _default_float.itemsize == 8 else "complex64")
    if isinstance(dtype, str) and dtype == "bfloat16":
        return numpy.dtype(_core.bfloat16())
    try:
        found = numpy.dtype(dtype)
    except SyntaxError:  # of text that begins like a dtype with a shape
        raise TypeError(f"{op}: dtype must be one of NumPy's, got {dtype!r}") from None
    if not is_supported(found) or not found.isnative:
        order = "" if found.isnative else " in native byte order"
        raise TypeError(f"{op}: dtype must be {_SUPPORTED}{order}, got {found}")
    return found


def is_supported(dtype: numpy.dtype) -> bool:
    """Whether arrays can have a dtype, but for its byte order: theirs is the machine's.

    >>> is_supported(numpy.dtype(">f4")), is_supported(numpy.dtype("U3"))
    (True, False)
    """
    return dtype.num in _NUMBERS or is_bfloat16(dtype)


def is_bfloat16(dtype: numpy.dtype) -> bool:
    """Whether it is the dtype that ml_dtypes has added to NumPy's.

    >>> is_bfloat16(numpy.dtype("float16"))
    False
    """
    return dtype.kind == "V" and dtype.name == "bfloat16"


def castable(source: numpy.dtype, target: numpy.dtype, casting: Any) -> bool:
    """Whether a rule of NumPy's allows a cast; bfloat16 holds integers of 8 bits, and float32 holds it.

    >>> castable(numpy.dtype("int8"), numpy.dtype("float32"), "safe")
    True
    """
    if not (is_bfloat16(source) or is_bfloat16(target)):
        return numpy.can_cast(source, target, casting)
    half = numpy.dtype("float16")  # to NumPy, the same kind of dtype
    like = numpy.can_cast(
        half if is_bfloat16(source) else source, half if is_bfloat16(target) else target, casting
    )
    if source == target or casting not in ("no", "equiv", "safe"):
        return like
    return like and casting == "safe" and half not in (source, target)


def asarray(x: Any, dtype: Any = None, device: Device | str | None = None, op: str = "asarray") -> Any:
    """x as an array: itself if it is one of that dtype and device, otherwise a new one.

    Python floats get the default float; Python integers int64 (the default float after `npx.set_np()`);
    NumPy arrays and scalars, and what has `__array__`, keep their dtype. ValueError if lists at one depth differ in
    length, TypeError if values are no numbers, OverflowError for a Python integer that does not fit into the dtype.

    >>> from forerun import np
    >>> x = np.asarray([1, 2, 3])
    >>> np.asarray(x) is x, np.asarray(x, dtype=float).tolist()
    (True, [1.0, 2.0, 3.0])
    """
    if is_array(x):
        if dtype is not None and x.dtype != as_dtype(op, dtype):
            x = converted(x, as_dtype(op, dtype))
        if device is not None and x.device != resolve(device):
            x = to_device(x, resolve(device))
        return x
    if isinstance(x, (list, tuple)) and _has_arrays(x):
        from .joining import stack

        return asarray(stack([asarray(v, device=device) for v in x]), dtype)
    want = as_dtype(op, dtype) if dtype is not None else None
    if hasattr(x, "__array__"):
        x = numpy.asarray(x)
        values = x if is_supported(x.dtype) else numpy.asarray(x, want)
        if want is None and values.dtype == numpy.float64 and _ints_become_floats:
            want = _default_float  # as MXNet does
    else:
        values = _numbers_of(op, x, want)
        want = want if want is not None else _made(values.dtype)
    if not is_supported(values.dtype):
        raise TypeError(f"{op}: values must be {_SUPPORTED}, got dtype {values.dtype}")
    made = _core.from_numpy(values, resolve(device))
    return made if want is None or made.dtype == want else converted(made, want)


def _numbers_of(op: str, x: Any, want: numpy.dtype | None) -> numpy.ndarray:
    """Python's numbers as NumPy takes them: what does not fit into the dtype is refused."""
    try:
        with numpy.errstate(over="ignore"):
            return numpy.array(x, want)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(f"{op}: lists at one depth must have one length, got {reprlib.repr(x)}") from None
    except OverflowError as error:
        raise OverflowError(f"{op}: values must fit into {want}, got {reprlib.repr(x)}: {error}") from None


def _made(found: numpy.dtype) -> numpy.dtype:
    """The dtype that Python's numbers get which NumPy would give `found`."""
    if found == numpy.float64 or (found.kind in "iu" and _ints_become_floats):
        return _default_float
    return as_dtype("asarray", complex) if found == numpy.complex128 else found


def converted(x: Any, dtype: numpy.dtype) -> Any:
    """x cast to a dtype on a user's word, who is warned as by NumPy if imaginary parts get lost.

    >>> converted(asarray([1.5]), numpy.dtype("int8")).tolist()
    [1]
    """
    warn_of_lost_parts(x.dtype, dtype)
    return cast(x, dtype)


def warn_of_lost_parts(source: numpy.dtype, target: numpy.dtype) -> None:
    """NumPy's ComplexWarning, for the user's line, if a cast discards imaginary parts.

    >>> warn_of_lost_parts(numpy.dtype("float32"), numpy.dtype("int8"))
    """
    if source.kind == "c" and target.kind not in "cb":
        text = "Casting complex values to real discards the imaginary part"
        warnings.warn(text, numpy.exceptions.ComplexWarning, stacklevel=_depth())


def _depth() -> int:
    """How far up the first caller outside the package stands, for warnings about its line."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("forerun."):
        frame, depth = frame.f_back, depth + 1
    return depth


def whole(x: Any, device: Device | str | None = None, op: str = "asarray") -> Any:
    """x as an array for a parameter that counts: Python's integers stay integers, whatever `npx.set_np` says.

    >>> whole([1, 2]).dtype
    dtype('int64')
    """
    values = x if is_array(x) else numpy.asarray(x)
    return asarray(x if is_array(x) or values.dtype.kind not in "iu" else values, device=device, op=op)


def _has_arrays(x: Any) -> bool:
    return is_array(x) or (isinstance(x, (list, tuple)) and any(map(_has_arrays, x)))


def axes_of(op: str, axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Axes as non-negative numbers; None means all.

    IndexError out of range, ValueError for a repeated one, TypeError for what is no integer.

    >>> axes_of("op", (0, -1), 3), axes_of("op", None, 2)
    ((0, 2), (0, 1))
    """
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = []
    for a in given:
        try:
            a = operator.index(a)
        except TypeError:
            raise TypeError(f"{op}: axis must be an integer, got {a!r}") from None
        if not -ndim <= a < ndim:
            raise numpy.exceptions.AxisError(f"{op}: axis must be in [{-ndim}, {ndim}), got {a}")
        axes.append(a % ndim)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{op}: axes must be different, got {axis}")
    return tuple(axes)


def axis_of(op: str, axis: Any, ndim: int) -> int:
    """One axis as a non-negative number. IndexError out of range, TypeError for what is no integer.

    >>> axis_of("op", -1, 3)
    2
    """
    if isinstance(axis, (tuple, list)) or axis is None:
        raise TypeError(f"{op}: axis must be an integer, got {axis!r}")
    return axes_of(op, axis, ndim)[0]


def axes_to_reduce(op: str, axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Axes as `axes_of` gives them; as in NumPy, an array without axes may be reduced over axis 0 or -1.

    >>> axes_to_reduce("op", -1, 2), axes_to_reduce("op", 0, 0)
    ((1,), ())
    """
    if ndim == 0 and type(axis) is int and axis in (0, -1):
        return ()
    return axes_of(op, axis, ndim)


def count_of(op: str, name: str, n: Any) -> int:
    """A number of things. TypeError if it is not an integer, ValueError if it is negative.

    >>> count_of("op", "n", 3)
    3
    """
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"{op}: {name} must be an integer, got {n!r}") from None
    if n < 0:
        raise ValueError(f"{op}: {name} must not be negative, got {n}")
    return n


def counts_of(op: str, name: str, values: Any, shape: tuple[int, ...]) -> numpy.ndarray:
    """Numbers of things as int64, broadcast to a shape.

    TypeError if not integers, ValueError if one is negative or they do not fit.

    >>> counts_of("op", "repeats", 2, (3,)).tolist()
    [2, 2, 2]
    """
    found = numpy.asarray(values)
    if found.dtype.kind not in "iub" and found.size:
        raise TypeError(f"{op}: {name} must be integers, got {values}")
    if (found < 0).any():
        raise ValueError(f"{op}: {name} must not be negative, got {values}")
    try:
        return numpy.broadcast_to(found.astype("int64"), shape)
    except ValueError:
        raise ValueError(f"{op}: {name} must broadcast to {shape}, got {values}") from None


def one_of(op: str, name: str, value: Any, allowed: Sequence[str]) -> None:
    """Checks a word among those there are. ValueError if it is another one.

    >>> one_of("op", "mode", "clip", ("clip", "wrap"))
    """
    if value not in allowed:
        raise ValueError(f"{op}: {name} must be one of {', '.join(allowed)}, got {value!r}")


def store(op: str, result: Any, out: Any) -> Any:
    """The result, or `out` with the result written into it. A NumPy array as `out` waits.

    ValueError if out has another shape, TypeError if it is no array or its dtype is of another kind; RuntimeError
    if one of both is on the tape while recording, as gradients would get lost.

    >>> into = asarray([0.0, 0.0])
    >>> store("op", asarray([1, 2]), into) is into, into.tolist()
    (True, [1.0, 2.0])
    """
    if out is None:
        return result
    if not isinstance(out, (_core.Array, numpy.ndarray)):
        raise TypeError(f"{op}: out must be an array, got {type(out).__name__}")
    if out.shape != result.shape:
        raise ValueError(f"{op}: out must have shape {result.shape}, got {out.shape}")
    if not castable(result.dtype, out.dtype, "same_kind"):
        raise TypeError(f"{op}: out must be of a dtype that {result.dtype} casts to, got {out.dtype}")
    if isinstance(out, numpy.ndarray):
        out[...] = result.numpy()
        return out
    if _core.recording() and (out.node is not None or result.node is not None):
        raise RuntimeError(f"{op}: an array on the tape must not be written in place while recording")
    _core.assign(out, result)
    return out


def unsupported(op: str, **options: Any) -> None:
    """Refuses arguments of NumPy's that mean nothing here, unless they are None. NotImplementedError.

    >>> unsupported("op", like=None)
    >>> unsupported("op", like=1)
    Traceback (most recent call last):
    NotImplementedError: op: like must not be given, got 1
    """
    for name, value in options.items():
        if value is not None:
            raise NotImplementedError(f"{op}: {name} must not be given, got {value!r}")


def together(op: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together. ValueError if they have none.

    >>> together("op", (2, 1), (3,))
    (2, 3)
    """
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(map(str, shapes))
        raise ValueError(f"{op}: shapes must broadcast together, got {listed}") from None


def into(op: str, out: Any, result: Any) -> Any:
    """A result, or `out` with the result in it if that is an array, of ours or NumPy's (then this waits).

    ValueError if out has another shape.

    >>> into("op", None, 1)
    1
    """
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"{op}: out must have shape {result.shape}, got {out.shape}")
    if is_array(out):
        _core.assign(out, result)
    else:
        out[...] = result.numpy()
    return out


def vector_of(op: str, x: Any) -> Any:
    """x as an array of one axis. ValueError if it has another number of axes.

    >>> vector_of("op", [1, 2]).shape
    (2,)
    """
    x = asarray(x, op=op)
    if x.ndim != 1:
        raise ValueError(f"{op}: array must have one axis, got shape {x.shape}")
    return x


_core.set_hooks(asarray=asarray)


@primitive(lambda g, dtype: _cast_back(g, dtype))
def cast(x: Any, dtype: Any) -> Any:
    """x with its elements converted to `dtype`."""
    return _core.cast(x, dtype)


def _cast_back(g: Any, dtype: numpy.dtype) -> Any:
    if not is_inexact(dtype):
        return None
    if g.dtype.kind == "c" and is_real_float(dtype):
        from .shape import real

        g = real(g)
    return cast(g, dtype)


@primitive(lambda g, inputs: to_device(g, inputs[0].device))
def to_device(x: Any, device: Any) -> Any:
    """A copy of x on `device`, made on the copy queue."""
    return _core.copy(x, device, True)


@primitive(lambda g: g)
def copy(x: Any) -> Any:
    """A copy of an array in C order, with its dtype, on its device. TypeError if x is no array.

    >>> from forerun import np
    >>> x = np.zeros(2)
    >>> y = np.copy(x); y += 1
    >>> x.tolist(), y.tolist()
    ([0.0, 0.0], [1.0, 1.0])
    """
    return _core.copy(asarray(x))
