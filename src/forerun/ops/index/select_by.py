"""Choices among arrays, by numbers and by conditions; elements under a mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    asarray,
    asarray_like_device,
    broadcast_shapes,
    cast,
    check_choice,
    count_of,
    is_array,
    promote,
    write_out,
)
from .._base.host_task import host_op
from .._base.primitive import direct, numpy_when_small
from ..create.arguments import _known
from ..create.fill import ones, zeros
from ..elementwise.arithmetic import logical_not, logical_or
from ..elementwise.select import nonzero, where
from ..shape.broadcast import broadcast_to
from ..shape.join import stack
from ..shape.reshape import reshape
from .getitem import _gather_along, _plain_mask, flatnonzero, take
from .in_place import flat_values
from .parser import places_within
from .setitem import untaped, values_for

if TYPE_CHECKING:
    from ..._runtime.device import Device
    from ...typing import Array, ArrayLike, Out

__all__ = ["select", "choose", "extract", "mask_indices", "piecewise", "place", "putmask"]


@numpy_when_small(numpy.choose, "a choices", "al")
def choose(a: ArrayLike, choices: Sequence[ArrayLike] | Array, out: Out = None, mode: str = "raise") -> Array:
    """Build an array by choosing, for each number in `a`, the element of that choice. All broadcast together.

    ValueError without choices or if shapes do not fit, TypeError if numbers are not integers. Differentiable in the
    choices.

    Parameters
    ----------
    a : array_like
        The number of a choice for each element.
    choices : sequence of arrays
        The arrays to choose from.
    out : array, optional
        An array of the result's shape, which is written and returned.
    mode : str, optional
        The treatment of other numbers: "raise" (ValueError, where the result is read if a is a forerun array), "clip",
        "wrap".

    Returns
    -------
    array
        The chosen elements.

    Raises
    ------
    ValueError
        Without choices, if shapes do not fit, or for a number that is out of range in the mode "raise".
    TypeError
        If numbers are not integers.

    Examples
    --------
    >>> from forerun import np
    >>> np.choose([1, 0, 1], [[1, 2, 3], [10, 20, 30]]).tolist()
    [10, 2, 30]
    """
    given: Sequence[Any] = choices  # type: ignore[assignment]
    arrays = [asarray_like_device(c, *given, a) for c in given]
    if not arrays:
        raise ValueError("choose: there must be at least one choice, got none")
    number = _numbers(a, len(arrays), mode, arrays[0].device)
    shape = broadcast_shapes("choose", number.shape, *(c.shape for c in arrays))
    if mode == "raise" and is_array(a):
        number = host_op("choose", lambda v: _in_range(v, len(arrays)), [number], number.shape, number.dtype)
    dtype = promote(*(c.dtype for c in arrays))
    table = stack([broadcast_to(cast(c, dtype), shape) for c in arrays])
    picked = _gather_along(table, reshape(broadcast_to(number, shape), (1, *shape)), 0)
    return write_out("choose", reshape(picked, shape), out)


def _numbers(a: ArrayLike, n: int, mode: str, device: Device) -> Array:
    """Return numbers of choices; from 0 to n - 1, unless they are a forerun array and the mode is "raise"."""
    check_choice("choose", "mode", mode, ("raise", "clip", "wrap"))
    if mode == "raise" and not is_array(a):
        known = numpy.asarray(a)
        if numpy.can_cast(known.dtype, "int64"):
            _in_range(known, n)
    return places_within("choose", a, n, mode, device, "safe")


def _in_range(numbers: numpy.ndarray, n: int) -> numpy.ndarray:
    if numbers.size and (numbers.min() < 0 or numbers.max() >= n):
        got = numbers.min() if numbers.min() < 0 else numbers.max()
        raise ValueError(f"choose: numbers must be in [0, {n}), got {got}")
    return numbers


def select(condlist: Sequence[ArrayLike], choicelist: Sequence[Any], default: object = 0) -> Array:
    """Build an array by taking each element from the first choice whose condition holds, else `default`.

    Parameters
    ----------
    condlist : sequence of arrays
        The conditions.
    choicelist : sequence of arrays
        The values for each condition.
    default : array_like, optional
        The value where no condition holds.

    Returns
    -------
    array
        The selected elements.

    Raises
    ------
    ValueError
        If there is not a choice for each condition.
    TypeError
        If conditions are not of bools.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.arange(5)
    >>> np.select([x < 2, x > 3], [x, 10 * x], -1).tolist()
    [0, 1, -1, -1, 40]
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select: there must be a choice for each condition, got {len(choicelist)} for {len(condlist)}"
        )
    given = (*condlist, *choicelist, default)
    conditions = [asarray_like_device(c, *given) for c in condlist]
    values = [c if type(c) in (int, float, complex) else asarray_like_device(c, *given) for c in (*choicelist, default)]
    arrays = [c for c in values if is_array(c)]
    dtype = promote(*(c.dtype for c in arrays)) if arrays else None
    choices: list[Any] = [cast(c, dtype) if is_array(c) else _wrapped(c, dtype) for c in values]
    result = choices.pop()
    for holds, choice in zip(reversed(conditions), reversed(choices)):
        if holds.dtype.kind != "b":
            raise TypeError(f"select: conditions must be of bools, got {holds.dtype}")
        result = where(holds, choice, result)
    chosen: Array = result
    return chosen


def _wrapped(n: complex, dtype: numpy.dtype | None) -> complex:
    """Return a Python number; an integer wraps around in a dtype of integers, as NumPy's `select` has it."""
    if type(n) is not int or dtype is None or dtype.kind not in "iu":
        return n
    return int(numpy.asarray(n).astype(dtype))


@numpy_when_small(numpy.extract, "condition arr", "aa", "biufc", waits=True)
def extract(condition: ArrayLike, arr: ArrayLike) -> Array:
    """Return elements of the flat array where the flat condition holds. Waits.

    Parameters
    ----------
    condition : array_like
        The condition, which holds where it is not zero.
    arr : array_like
        The values.

    Returns
    -------
    array
        Elements of the flat array where the flat condition holds.

    Raises
    ------
    IndexError
        If it holds behind the end of the array.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.arange(5)
    >>> np.extract(x % 2 == 0, x).tolist()
    [0, 2, 4]
    """
    if _plain_mask(arr, condition):
        return arr[condition]
    return take(asarray_like_device(arr, condition), flatnonzero(condition))


def _mask_of(op: str, x: Any, mask: Any) -> Array:
    """Return a mask of x's shape: where an array of x's size is not zero. ValueError if it has another size."""
    found = asarray(mask, device=x.device)
    if found.size != x.size:
        raise ValueError(f"{op}: mask must have {x.size} elements like the array, got {found.size}")
    return reshape(found if found.dtype.kind == "b" else found != 0, x.shape)


def _safe_values(op: str, x: Array, values: ArrayLike) -> Array:
    """Return `flat_values`, but TypeError for an array that cannot be cast safely."""
    if isinstance(values, (numpy.ndarray, _core.Array)) and not numpy.can_cast(values.dtype, x.dtype):
        raise TypeError(f"{op}: values must be safe to cast to {x.dtype}, got {values.dtype}")
    return flat_values(op, x, values)


@direct("putmask")
def putmask(a: Array | numpy.ndarray, mask: ArrayLike, values: ArrayLike) -> None:
    """Write values where a mask holds, in place: each element gets the one at its own place in the flat array.

    Values start over if there are fewer; without any, nothing is written.

    Parameters
    ----------
    a : array or ndarray
        The array that is written.
    mask : array_like
        The mask, which holds where it is not zero.
    values : array_like
        The values to write.

    Raises
    ------
    ValueError
        If the mask has another size.
    TypeError
        If an array of values cannot be cast safely.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.arange(5)
    >>> np.putmask(x, x > 2, [10, 20]); x.tolist()
    [0, 1, 2, 20, 10]
    """
    if not is_array(a):
        return numpy.putmask(a, _known(mask), _known(values))
    where_ = _mask_of("putmask", a, mask)
    new = _safe_values("putmask", a, values)
    untaped("putmask", a, new)
    if new.size == 1:
        _core.masked_copy(a, where_, reshape(new, ()), "putmask")
    elif new.size:
        _core.place(a, where_, new, "in place", "putmask")
    return None


@direct("place")
def place(arr: Array | numpy.ndarray, mask: ArrayLike, vals: ArrayLike) -> None:
    """Write values where a mask holds, in place, one after the other; they start over if there are fewer.

    Parameters
    ----------
    arr : array or ndarray
        The array that is written.
    mask : array_like
        The mask, which holds where it is not zero.
    vals : array_like
        The values to write.

    Raises
    ------
    ValueError
        If the mask has another size, and, where the array is read, if there are no values for a mask that holds
        somewhere.
    TypeError
        If an array of values cannot be cast safely.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.arange(5)
    >>> np.place(x, x > 1, [10, 20]); x.tolist()
    [0, 1, 10, 20, 10]
    """
    if not is_array(arr):
        return numpy.place(arr, _known(mask), _known(vals))
    where_ = _mask_of("place", arr, mask)
    new = _safe_values("place", arr, vals)
    untaped("place", arr, new)
    if new.size == 1:
        return _core.masked_copy(arr, where_, reshape(new, ()), "place")
    return _core.place(arr, where_, new, "in turn", "place")


def piecewise(x: ArrayLike, condlist: Array | Sequence[Array], funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """Return values of functions, each where its condition holds, of the last one where several do; in x's dtype.

    A function is called with all of x, and its values are taken where the condition holds (NumPy calls it with the
    elements there, for which this would have to wait); it may be a number instead. With one more function than
    conditions that is for the rest; without, zeros.

    Parameters
    ----------
    x : array_like
        The argument of the functions.
    condlist : sequence of arrays
        The conditions.
    funclist : sequence of callables or numbers
        A function, or a number, for each condition.
    *args : any
        Further arguments of the functions.
    **kw : any
        Keyword arguments of the functions.

    Returns
    -------
    array
        Values of functions.

    Raises
    ------
    ValueError
        For other numbers of functions.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([-2.0, 0.0, 3.0])
    >>> np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: 10 * v]).tolist()
    [2.0, 0.0, 30.0]
    """
    x = asarray_like_device(x, condlist)
    conditions = _conditions(x, condlist)
    if len(funclist) == len(conditions) + 1:
        some = conditions[0]
        for c in conditions[1:]:
            some = logical_or(some, c)
        conditions = [*conditions, logical_not(some)]
    elif len(funclist) != len(conditions):
        n = len(conditions)
        raise ValueError(f"piecewise: there must be {n} or {n + 1} functions for {n} conditions, got {len(funclist)}")
    result = zeros(x.shape, x.dtype, device=x.device)
    for condition, f in zip(conditions, funclist):
        value = asarray(f(x, *args, **kw)) if callable(f) else values_for("piecewise", x, f)
        result = where(condition, cast(value, x.dtype) if is_array(value) else value, result)
    return result


def _conditions(x: Array, condlist: Any) -> list[Any]:
    """Conditions of x's shape, from a list of them or a single one."""
    several = isinstance(condlist, (list, tuple)) or numpy.ndim(condlist) > x.ndim
    if several and isinstance(condlist, (list, tuple)) and x.ndim > 0:
        several = bool(condlist) and (isinstance(condlist[0], (list, tuple)) or numpy.ndim(condlist[0]) > 0)
    found = [asarray(c, bool, x.device) for c in (condlist if several else [condlist])]
    for c in found:
        if c.shape != x.shape:
            raise IndexError(f"piecewise: conditions must have shape {x.shape}, got {c.shape}")
    return found


def mask_indices(n: int, mask_func: Callable[..., Any], k: object = 0) -> tuple[Array, ...]:
    """Return positions where `mask_func(x, k)` of an n by n matrix x of ones is not zero. Waits.

    Parameters
    ----------
    n : int
        The number of rows, and of columns.
    mask_func : callable
        A function of a matrix and `k`, as `np.triu`.
    k : array_like, optional
        The second argument of the function.

    Returns
    -------
    tuple of arrays
        Positions where `mask_func(x, k)` of an n by n matrix x of ones is not zero.

    Raises
    ------
    TypeError
        If n is not an integer.
    ValueError
        If `n` is negative.

    Examples
    --------
    >>> from forerun import np
    >>> [i.tolist() for i in np.mask_indices(3, np.triu, 1)]
    [[0, 0, 1], [1, 2, 2]]
    """
    size = count_of("mask_indices", "n", n)
    return nonzero(mask_func(ones((size, size), int), k) != 0)
