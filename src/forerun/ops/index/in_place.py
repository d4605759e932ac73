"""Functions that write into an array: `copyto`, `put`, `put_along_axis` and `fill_diagonal`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import _has_arrays, asarray, cast, is_array
from .._base.primitive import direct
from ..create.arguments import _known
from ..shape.broadcast import broadcast_to
from ..shape.reshape import ravel
from .getitem import _along as _positions_along
from .getitem import _vector, take
from .parser import places_within
from .setitem import fit, fitting, no_scalar, setitem, untaped, values_at, values_for

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["copyto", "fill_diagonal", "put", "put_along_axis"]

_KINDS = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}  # of arrays that take a Python number


@direct("copyto")
def copyto(dst: Array | numpy.ndarray, src: ArrayLike, casting: str = "same_kind", where: ArrayLike = True) -> None:
    """Write values into an array, in place: broadcast, and cast if the rule allows it (TypeError if not).

    Into a NumPy array: waits.

    Parameters
    ----------
    dst : array or ndarray
        The array that is written.
    src : array_like
        The values to write.
    casting : str, optional
        NumPy's rule for casts that are allowed.
    where : array_like, optional
        A mask of the elements to write.

    Raises
    ------
    TypeError
        If the rule does not allow the cast.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.zeros(3)
    >>> np.copyto(x, [1, 2, 3], where=[True, False, True]); x.tolist()
    [1.0, 0.0, 3.0]
    """
    if not is_array(dst):
        return numpy.copyto(dst, _known(src), casting, where=_known(where))  # type: ignore[arg-type]
    number = type(src) in _KINDS
    value: Any = src if number else asarray(src, device=None if is_array(src) else dst.device)
    if number:
        fits, got = dst.dtype.kind in _KINDS[type(src)], type(src).__name__
    else:
        fits, got = numpy.can_cast(value.dtype, dst.dtype, casting), value.dtype  # type: ignore[arg-type]
    if not fits and casting != "unsafe":
        raise TypeError(f"copyto: casting must be possible by rule {casting!r}, got {got} to {dst.dtype}")
    if where is True:
        return setitem(dst, ..., value)
    untaped("copyto", dst, value)
    mask = broadcast_to(asarray(where, bool, dst.device), dst.shape)
    new = values_for("copyto", dst, value)
    return _core.masked_copy(dst, mask, fitting(new, dst.ndim) if is_array(new) else new, "copyto")


@direct("put")
def put(a: Array | numpy.ndarray, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """Write values at positions of the flat array, in place; values start over if there are fewer.

    Values are cast to a's dtype; without any, nothing is written.

    Parameters
    ----------
    a : array or ndarray
        The array that is written.
    ind : array_like
        The positions in the flat array.
    v : array_like
        The values to write.
    mode : str, optional
        The treatment of positions out of range: "raise" (IndexError, where the array is read if positions are a
        forerun array), "clip", "wrap".

    Raises
    ------
    IndexError
        For a position out of range in the mode "raise": where the array is read, if positions are a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.zeros((2, 2))
    >>> np.put(x, [0, 3], [5, 6]); x.tolist()
    [[5.0, 0.0], [0.0, 6.0]]
    """
    if not is_array(a):
        return numpy.put(a, _known(ind), _known(v), mode)  # type: ignore[arg-type]
    no_scalar("put", a)
    if not _has_arrays(ind) and not isinstance(ind, numpy.ndarray):
        # as NumPy: arguments that are not arrays are cast from any dtype
        ind = ind.astype("int64") if isinstance(ind, numpy.integer) else fit("put", numpy.dtype("int64"), ind)
    if a.size == 0 or getattr(ind, "dtype", None) == "uint64":  # errors of positions come before those of values
        places_within("put", ind, a.size, mode, a.device, "safe")
    new = flat_values("put", a, v)
    at = ravel(places_within("put", ind, a.size, mode if new.size else "clip", a.device, "safe"))
    untaped("put", a, new)
    if at.size and new.size:
        _core.put(a, at, new)
    return None


def flat_values(op: str, x: Array, values: ArrayLike) -> Array:
    """Return values to be written into x one after the other, as a vector of x's dtype.

    Errors as those of assignment.
    """
    new = values_at(op, x, values)
    return cast(ravel(new), x.dtype) if is_array(new) else _core.full((1,), new, x.dtype, x.device)


def put_along_axis(arr: Array | numpy.ndarray, indices: ArrayLike, values: ArrayLike, axis: int | None) -> None:
    """Write values at positions along `axis` that differ from place to place, in place.

    Values are cast to arr's dtype and broadcast. Axis None: into the flat array. Errors as `take_along_axis`;
    ValueError if values do not fit.

    Parameters
    ----------
    arr : array or ndarray
        The array that is written.
    indices : array_like
        The positions along the axis.
    values : array_like
        The values to write.
    axis : int
        The axis; None for the flat array.

    Raises
    ------
    ValueError
        If values do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([[3, 1], [2, 4]])
    >>> np.put_along_axis(x, np.array([[1], [0]]), 9, axis=1); x.tolist()
    [[3, 9], [9, 4]]
    """
    if not is_array(arr):
        return numpy.put_along_axis(arr, _known(indices), _known(values), axis)
    if axis is None:
        return put(arr, _vector("put_along_axis", indices), values)
    untaped("put_along_axis", arr, values)
    at, a = _positions_along("put_along_axis", arr, indices, axis)
    new = values_at("put_along_axis", arr, values)
    new = fitting(cast(new, arr.dtype), at.ndim) if is_array(new) else _core.full((), new, arr.dtype, arr.device)
    return _core.scatter_along(arr, at, a, new)


@direct("fill_diagonal")
def fill_diagonal(a: Array | numpy.ndarray, val: ArrayLike, wrap: bool = False) -> None:
    """Write values on the main diagonal, in place; values start over if there are fewer.

    The axes of an array of more than two must have one extent (ValueError).

    Parameters
    ----------
    a : array or ndarray
        The array that is written.
    val : array_like
        The values to write.
    wrap : bool, optional
        In a matrix with more rows than columns, again below each square.

    Raises
    ------
    ValueError
        If the array has more than two axes, and not all of one extent.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.zeros((2, 3))
    >>> np.fill_diagonal(x, 7); x.tolist()
    [[7.0, 0.0, 0.0], [0.0, 7.0, 0.0]]
    """
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) != 1):
        raise ValueError(f"fill_diagonal: array must be a matrix or have equal axes, got shape {a.shape}")
    if not is_array(a):
        return numpy.fill_diagonal(a, _known(val), wrap)
    new = flat_values("fill_diagonal", a, val)
    untaped("fill_diagonal", a, new)
    if new.size == 0 or a.size == 0:
        return None
    if wrap and a.ndim == 2 and a.shape[0] > a.shape[1]:
        return _core.put(a, _core.from_numpy(numpy.arange(0, a.size, a.shape[1] + 1), a.device), new)
    n = min(a.shape)
    new = new[:n] if new.size >= n or new.size == 1 else take(new, numpy.arange(n) % new.size)
    return _core.assign(_core.view(a, (n,), (sum(a.strides),)), new)
