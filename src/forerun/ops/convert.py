"""From whatever a user passes to arrays, dtypes and axes; what all families share."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy

from .. import _core
from ..device import Device, resolve
from .base import primitive

__all__ = [
    "asarray", "as_dtype", "axes_of", "count_of", "counts_of", "default_float", "into", "is_array", "one_of", "promote",
    "set_defaults", "together", "vector_of",
]  # fmt: skip

_DTYPES = [
    numpy.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128",
    )
]  # fmt: skip

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


def _promotion(a: numpy.dtype, b: numpy.dtype) -> int:
    """NumPy's result type, except that an integer with a float gives that float."""
    if a.kind in "fc" and b.kind in "iub":
        return _DTYPES.index(a)
    if b.kind in "fc" and a.kind in "iub":
        return _DTYPES.index(b)
    return _DTYPES.index(numpy.result_type(a, b))


_core.set_promotion([[_promotion(a, b) for b in _DTYPES] for a in _DTYPES])


def promote(*dtypes: Any) -> numpy.dtype:
    """The dtype that arrays of these dtypes have together.

    It is NumPy's, but an integer with a float gives that float.

    >>> promote("int64", "float16"), promote("float32", "float64")
    (dtype('float16'), dtype('float64'))
    """
    result = numpy.dtype(dtypes[0])
    for other in dtypes[1:]:
        result = _DTYPES[_promotion(result, numpy.dtype(other))]
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
    try:
        found = numpy.dtype(dtype)
    except SyntaxError:  # of text that begins like a dtype with a shape
        raise TypeError(f"{op}: dtype must be one of NumPy's, got {dtype!r}") from None
    if found not in _DTYPES:
        raise TypeError(f"{op}: dtype must be bool, integer, float16/32/64 or complex64/128, got {found}")
    return found


def asarray(x: Any, dtype: Any = None, device: Device | str | None = None, op: str = "asarray") -> Any:
    """x as an array: itself if it is one of that dtype and device, otherwise a new one.

    Python floats get the default float; Python integers int64 (the default float after `npx.set_np()`);
    NumPy arrays keep their dtype. ValueError if lists at one depth differ in length, TypeError if values are no
    numbers.

    >>> from forerun import np
    >>> x = np.asarray([1, 2, 3])
    >>> np.asarray(x) is x, np.asarray(x, dtype=float).tolist()
    (True, [1.0, 2.0, 3.0])
    """
    if is_array(x):
        if dtype is not None and x.dtype != as_dtype(op, dtype):
            x = cast(x, as_dtype(op, dtype))
        if device is not None and x.device != resolve(device):
            x = to_device(x, resolve(device))
        return x
    if isinstance(x, (list, tuple)) and _has_arrays(x):
        from .joining import stack

        return asarray(stack([asarray(v, device=device) for v in x]), dtype)
    want = as_dtype(op, dtype) if dtype is not None else None
    if isinstance(x, (numpy.ndarray, numpy.generic)):
        values = numpy.asarray(x, want)
        if want is None and values.dtype == numpy.float64 and _ints_become_floats:
            values = values.astype(_default_float)  # as MXNet does
    else:
        try:
            values = numpy.array(x)
        except ValueError as error:
            if "inhomogeneous" not in str(error):
                raise
            raise ValueError(
                f"{op}: lists at one depth must have one length, got {reprlib.repr(x)}"
            ) from None
        if want is None and values.dtype.kind == "f":
            want = _default_float
        elif want is None and values.dtype.kind == "c":
            want = as_dtype(op, complex)
        elif want is None and values.dtype.kind in "iu" and _ints_become_floats:
            want = _default_float
        if want is not None:
            values = values.astype(want, copy=False)
    if values.dtype not in _DTYPES:
        raise TypeError(f"{op}: values must be numbers, got dtype {values.dtype}")
    return _core.from_numpy(values, resolve(device))


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


@primitive(lambda g, dtype: _cast_back(g, dtype))
def cast(x: Any, dtype: Any) -> Any:
    """x with its elements converted to `dtype`."""
    return _core.cast(x, dtype)


def _cast_back(g: Any, dtype: numpy.dtype) -> Any:
    if dtype.kind not in "fc":
        return None
    if g.dtype.kind == "c" and dtype.kind == "f":
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
