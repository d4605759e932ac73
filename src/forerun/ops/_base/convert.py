"""From users' arguments to arrays and axes; shared by all families."""

from __future__ import annotations

import itertools
import operator
import reprlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ... import _core
from ..._runtime.device import Device, current_device, resolve
from . import above
from .primitive import primitive
from .promotion import (
    SUPPORTED,
    as_dtype,
    castable,
    default_float,
    ints_become_floats,
    is_bfloat16,
    is_inexact,
    is_real_float,
    is_supported,
    promote,
    set_defaults,
    warn_of_lost_parts,
    with_known_values,
)

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ...typing import Array, ArrayLike, Axis, DeviceLike, DTypeLike, Out, Shape

__all__ = [
    "NUMBERS", "array_of_list", "as_dtype", "as_index_array", "as_real_float", "asarray", "asarray_like_device",
    "asarrays", "axes_of", "axes_to_reduce", "axis_of", "broadcast_shapes", "castable", "check_choice", "converted",
    "count_of", "counts_of", "default_float", "device_of", "ints_become_floats", "is_array", "is_bfloat16",
    "is_inexact", "is_number", "is_real_float", "is_supported", "promote", "set_defaults", "unsupported", "vector_of",
    "warn_of_lost_parts", "write_out",
]  # fmt: skip

_MOST_AXES = 64
_FEW = 16  # elements of a list that are looked at one by one
NUMBERS = (bool, int, float, complex)  # Python's classes of numbers, by rank
_NUMBERS = frozenset(NUMBERS)
NOT_IN_PLACE = (
    "an array on the tape must not be written in place while recording; write x = x + 1 in place of x += 1, or write "
    "outside of autograd.record()"
)


def is_array(x: object) -> TypeIs[Array]:
    """Return whether x is a forerun array.

    >>> is_array(asarray(1)), is_array(1)
    (True, False)
    """
    return isinstance(x, _core.Array)


array_of_list = _core.Function("operand", lambda *_: None)  # None: it is neither a plain list of numbers nor a number


def asarray(x: ArrayLike, dtype: DTypeLike = None, device: DeviceLike = None, op: str = "asarray") -> Array:
    """Return x as an array: itself if it is one of that dtype and device, otherwise a new one.

    Python floats get the default float; Python integers int64 (the default float after `npx.set_np()`);
    NumPy arrays and scalars, and objects with `__array__`, keep their dtype. ValueError if lists at one depth differ in
    length, TypeError if values are not numbers, OverflowError for a Python integer that does not fit into the dtype.

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
    if device is None or resolve(device) == current_device():
        made: Array | None = array_of_list(x, dtype)
        if made is not None:
            return made
    if isinstance(x, (list, tuple)) and dtype is not None and _core.numpy_rules() and _has_arrays(x):
        x = with_known_values(x, as_dtype(op, dtype))
    if isinstance(x, (list, tuple)) and _has_arrays(x):
        x = _widened(x) if dtype is None and _has_arrays(x, wide=True) else x
        x = above.stack(list(x) if device is None else [asarray(v, device=device) for v in x])
        if list(x.strides) != sorted(x.strides, reverse=True):  # lists become arrays in C order
            x = copy(x)
        return x if dtype is None else asarray(x, dtype)
    want = as_dtype(op, dtype) if dtype is not None else None
    if hasattr(x, "__array__"):
        if type(x) is not numpy.ndarray and not isinstance(x, numpy.generic) and _core.numpy_rules():
            raise TypeError(f"{op}: values must not be of a class with rules of its own, got {type(x).__name__}")
        x = numpy.asarray(x)
        values = x if is_supported(x.dtype) else numpy.asarray(x, want)
        if want is None and values.dtype == numpy.float64 and ints_become_floats():
            want = default_float()  # as MXNet does
    else:
        if isinstance(x, Iterator):
            raise TypeError(f"{op}: values must be an array, numbers or lists, got an iterator: pass list(values)")
        values = _numbers_of(op, x, want)
        want = want if want is not None else _made(values.dtype)
    if not is_supported(values.dtype):
        raise TypeError(f"{op}: values must be {SUPPORTED}, got dtype {values.dtype}")
    new = _core.from_numpy(values, resolve(device))
    return new if want is None or new.dtype == want else converted(new, want)


def is_number(x: object) -> bool:
    """Return whether x is Python's or NumPy's number whose own attributes are the result, as NumPy's rules have it.

    >>> is_number(1.5)
    False
    """
    return _core.numpy_rules() and isinstance(x, (int, float, complex, numpy.generic))


def device_of(*values: Any) -> Device | None:
    """Return the device of the first forerun array among values, or in lists of them; None without one.

    >>> device_of(1, [2, asarray(3)]), device_of(1, [2, 3])
    (cpu(0), None)
    """
    for v in values:
        if is_array(v):
            return v.device
        looked_at = isinstance(v, (list, tuple)) and (len(v) <= _FEW or _has_arrays_inside(v))
        if looked_at and (found := device_of(*v)) is not None:
            return found
    return None


def asarray_like_device(x: ArrayLike, *others: Any, op: str = "asarray") -> Array:
    """Return x as an array: if it is not one yet, on the device of the first of the others that is.

    >>> asarray_like_device([1, 2], asarray(3)).device
    cpu(0)
    """
    return x if is_array(x) else asarray(x, device=device_of(x, *others), op=op)


def asarrays(*values: ArrayLike | None, op: str = "asarray") -> list[Array]:
    """Each as an array, but None: those that are not arrays yet on the device of the first that is.

    >>> [x if x is None else x.tolist() for x in asarrays([1, 2], None, asarray(3))]
    [[1, 2], None, 3]
    """
    if all(x is None or is_array(x) for x in values):
        return list(values)  # type: ignore[arg-type]
    devices = [device_of(x) for x in values]  # looked for once in each list
    first = next((d for d in devices if d is not None), None)
    return [
        x if x is None or is_array(x) else asarray(x, device=d or first, op=op)  # type: ignore[misc]
        for x, d in zip(values, devices)
    ]


def _numbers_of(op: str, x: ArrayLike, want: numpy.dtype | None) -> numpy.ndarray:
    """Return Python's numbers as NumPy takes them: numbers that do not fit into the dtype are refused."""
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
    """Return the dtype that Python's numbers get which NumPy would give `found`."""
    if found == numpy.float64 or (found.kind in "iu" and ints_become_floats()):
        return default_float()
    return as_dtype("asarray", complex) if found == numpy.complex128 else found


def converted(x: Array, dtype: numpy.dtype) -> Array:
    """Return x cast to a dtype that a user requests, with NumPy's warning if imaginary parts get lost.

    >>> converted(asarray([1.5]), numpy.dtype("int8")).tolist()
    [1]
    """
    warn_of_lost_parts(x.dtype, dtype)
    return cast(x, dtype)


def as_index_array(x: ArrayLike, device: DeviceLike = None, op: str = "asarray") -> Array:
    """Return x as an array for a parameter that counts: Python's integers stay integers, also after `npx.set_np()`.

    >>> as_index_array([1, 2]).dtype
    dtype('int64')
    """
    values = x if is_array(x) else numpy.asarray(x)
    return asarray(x if is_array(x) or values.dtype.kind not in "iu" else values, device=device, op=op)


def _has_arrays(x: Any, wide: bool = False) -> bool:
    """Return whether there is an array in nested lists. wide: one of floating numbers in double precision."""
    if is_array(x):
        return not wide or x.dtype in (numpy.float64, numpy.complex128)
    return _has_arrays_inside(x) and (not wide or any(_has_arrays(v, wide) for v in x))


def _has_arrays_inside(x: object) -> bool:
    """Return whether nested lists have an array, by the types of the elements at each depth: there are few of them.

    >>> _has_arrays_inside([[1, 2.5], [asarray(3)]]), _has_arrays_inside([[1, 2.5], 3])
    (True, False)
    """
    elements: Sequence[Any] = x if isinstance(x, (list, tuple)) else ()
    for _ in range(_MOST_AXES):
        kinds = set(map(type, elements))
        if _NUMBERS.issuperset(kinds):
            return False
        if any(issubclass(kind, _core.Array) for kind in kinds):
            return True
        elements = list(itertools.chain.from_iterable(v for v in elements if isinstance(v, (list, tuple))))
    return False


def _widened(x: Any) -> Any:
    """Return nested lists with Python's numbers in double precision, which the arrays beside them have."""
    if is_array(x):
        return x
    if _has_arrays(x):
        return [_widened(v) for v in x]
    numbers = _numbers_of("asarray", x, None)
    return numbers if numbers.dtype.kind in "fc" else x


def axes_of(op: str, axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return axes as non-negative numbers; None means all.

    IndexError out of range, ValueError for a repeated one, TypeError for a value that is not an integer.

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


def axis_of(op: str, axis: Axis, ndim: int) -> int:
    """Return an axis as a non-negative number.

    IndexError if it is out of range, TypeError if it is not an integer.

    >>> axis_of("op", -1, 3)
    2
    """
    if isinstance(axis, (tuple, list)) or axis is None:
        raise TypeError(f"{op}: axis must be an integer, got {axis!r}")
    return axes_of(op, axis, ndim)[0]


def axes_to_reduce(op: str, axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return axes as `axes_of` gives them; as in NumPy, an array without axes may be reduced over axis 0 or -1.

    >>> axes_to_reduce("op", -1, 2), axes_to_reduce("op", 0, 0)
    ((1,), ())
    """
    if ndim == 0 and type(axis) is int and axis in (0, -1):
        return ()
    return axes_of(op, axis, ndim)


def count_of(op: str, name: str, n: Any) -> int:
    """Return a number of things. TypeError if it is not an integer, ValueError if it is negative.

    >>> count_of("op", "n", 3)
    3
    """
    try:
        count = operator.index(n)
    except TypeError:
        raise TypeError(f"{op}: {name} must be an integer, got {n!r}") from None
    if count < 0:
        raise ValueError(f"{op}: {name} must not be negative, got {n}")
    return count


def is_whole(x: ArrayLike) -> bool:
    """Whether something is an integer: Python's, NumPy's, or an array of integers without axes.

    >>> is_whole(3), is_whole(numpy.int8(3)), is_whole(asarray(3)), is_whole([3])
    (True, True, True, False)
    """
    if isinstance(x, (int, numpy.integer)):
        return True
    return (is_array(x) or isinstance(x, numpy.ndarray)) and x.ndim == 0 and x.dtype.kind in "iu"


def extents_of(op: str, name: str, shape: Shape) -> tuple[Any, ...]:
    """A shape, of one integer or of a sequence, as a tuple. TypeError if it is neither.

    >>> extents_of("op", "size", 3), extents_of("op", "size", [2, 3])
    ((3,), (2, 3))
    """
    if isinstance(shape, (int, numpy.integer)) and not isinstance(shape, bool):
        return (shape,)
    try:
        if numpy.iterable(shape):
            return tuple(shape)
        if not isinstance(shape, bool):
            return (operator.index(shape),)
    except TypeError:
        pass
    raise TypeError(f"{op}: {name} must be an integer or a sequence of integers, got {shape!r}")


def counts_of(op: str, name: str, values: ArrayLike, shape: tuple[int, ...]) -> numpy.ndarray:
    """Return numbers of things as int64, broadcast to a shape.

    TypeError if not integers, ValueError if one is negative or they do not fit.

    >>> counts_of("op", "repeats", 2, (3,)).tolist()
    [2, 2, 2]
    """
    found = numpy.asarray(values)
    if found.dtype.kind not in "iub" and found.size:
        raise TypeError(f"{op}: {name} must be integers, got {values}")
    if (found < 0).any():
        raise ValueError(f"{op}: {name} must not be negative, got {values}")
    counts = found.astype("int64")
    try:
        return counts if counts.shape == shape else numpy.broadcast_to(counts, shape)
    except ValueError:
        raise ValueError(f"{op}: {name} must broadcast to {shape}, got {values}") from None


def check_choice(op: str, name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise ValueError unless a word is one of those allowed.

    >>> check_choice("op", "mode", "clip", ("clip", "wrap"))
    """
    if value not in allowed:
        raise ValueError(f"{op}: {name} must be one of {', '.join(allowed)}, got {value!r}")


def write_out(op: str, result: Array, out: Out, casting: str | None = "same_kind") -> Array:
    """Return the result, or `out` with the result written into it. A NumPy array as `out` waits.

    casting: the rule by which the result's dtype must become that of `out`. None: any dtype will do, and nothing is
    checked for the tape, as for results that depend on no array.

    ValueError if out has another shape, TypeError if it is not an array or the rule does not allow its dtype;
    RuntimeError if one of both is on the tape while recording, as gradients would get lost.

    >>> into = asarray([0.0, 0.0])
    >>> write_out("op", asarray([1, 2]), into) is into, into.tolist()
    (True, [1.0, 2.0])
    """
    if out is None:
        return result
    if not isinstance(out, (_core.Array, numpy.ndarray)):
        raise TypeError(f"{op}: out must be an array, got {type(out).__name__}")
    if out.shape != result.shape:
        raise ValueError(f"{op}: out must have shape {result.shape}, got {out.shape}")
    if casting is not None and not castable(result.dtype, out.dtype, casting):
        raise TypeError(f"{op}: out must be of a dtype that {result.dtype} casts to, got {out.dtype}")
    if isinstance(out, numpy.ndarray):
        out[...] = result.numpy()
        return out  # type: ignore[return-value]  # as in NumPy, the array that was given
    if casting is not None and _core.recording() and (out.node is not None or result.node is not None):
        raise RuntimeError(f"{op}: {NOT_IN_PLACE}")
    _core.assign(out, result)
    return out


def unsupported(op: str, **options: Any) -> None:
    """Raise NotImplementedError for arguments of NumPy's that are not supported, unless they are None.

    >>> unsupported("op", like=None)
    >>> unsupported("op", like=1)
    Traceback (most recent call last):
    NotImplementedError: op: argument `like` is not supported, got 1
    """
    for name, value in options.items():
        if value is not None:
            raise NotImplementedError(f"{op}: argument `{name}` is not supported, got {value!r}")


def broadcast_shapes(op: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes have together. ValueError if they do not broadcast.

    >>> broadcast_shapes("op", (2, 1), (3,))
    (2, 3)
    """
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(map(str, shapes))
        raise ValueError(f"{op}: shapes must broadcast together, got {listed}") from None


def vector_of(op: str, x: ArrayLike) -> Array:
    """Return x as an array of one axis. ValueError if it has another number of axes.

    >>> vector_of("op", [1, 2]).shape
    (2,)
    """
    x = asarray(x, op=op)
    if x.ndim != 1:
        raise ValueError(f"{op}: array must have one axis, got shape {x.shape}")
    return x


@primitive(lambda g, dtype: _cast_back(g, dtype), op="cast")
def cast(x: Array, dtype: DTypeLike) -> Array:
    """Return x with its elements converted to `dtype`."""
    return _core.cast(x, dtype)


def as_real_float(op: str, x: ArrayLike) -> Array:
    """Return x as an array of floats: itself if it is one; of integers and bools in the default float.

    TypeError if complex.

    >>> as_real_float("erf", [1, 2]).dtype
    dtype('float32')
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(f"{op}: array must be real, got {x.dtype}")
    return x if is_real_float(x.dtype) else cast(x, default_float())


def _cast_back(g: Array, dtype: numpy.dtype) -> Any:
    if not is_inexact(dtype):
        return None
    if g.dtype.kind == "c" and is_real_float(dtype):
        g = g.real
    return cast(g, dtype)


@primitive(lambda g, inputs: to_device(g, inputs[0].device), op="to_device")
def to_device(x: Array, device: Device) -> Array:
    """Return a copy of x on `device`, made on the copy queue."""
    return _core.copy(x, device, True)


@primitive(lambda g: g, op="copy")
def copy(x: Array) -> Array:
    """Return a copy of an array in C order, with its dtype, on its device.

    TypeError if x is not an array.

    >>> from forerun import np
    >>> x = np.zeros(2)
    >>> y = np.copy(x); y += 1
    >>> x.tolist(), y.tolist()
    ([0.0, 0.0], [1.0, 1.0])
    """
    return _core.copy(asarray(x))
