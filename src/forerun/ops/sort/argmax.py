"""Positions of the largest and smallest elements; as host tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, axis_of, write_out
from .._base.host_task import AT_ONCE
from .._base.primitive import direct
from ..shape.reshape import reshape
from .on_gpu import _by_core

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Out

__all__ = ["argmax", "argmin", "nanargmax", "nanargmin"]


def _without(shape: tuple[int, ...], axis: int, keepdims: bool) -> tuple[int, ...]:
    return shape[:axis] + ((1,) if keepdims else ()) + shape[axis + 1 :]


def _arg(name: str, fn: Callable[..., Any], x: ArrayLike, axis: int | None, out: Out, keepdims: bool) -> Array:
    x = asarray(x)
    if axis is None:
        shape = (1,) * x.ndim if keepdims else ()
    elif x.ndim == 0 and axis in (0, -1):
        shape = ()
    else:
        axis = axis_of(name, axis, x.ndim)
        shape = _without(x.shape, axis, keepdims)
    if (x.size if axis is None or x.ndim == 0 else x.shape[axis]) == 0:
        raise ValueError(f"{name}: reduced axes must not be empty, got shape {x.shape}")
    places = _by_core(name, reshape(x, -1) if axis is None or x.ndim == 0 else x, axis or 0)
    if places is not None:
        return write_out(name, reshape(places, shape), out)
    # Trusted not to write: NumPy would copy arrays that are marked as read-only.
    task = lambda v: fn(v, axis=axis, keepdims=keepdims)
    found = _core.host(task, [x], [(shape, numpy.dtype("int64"))], None, name, "compute", True, at_once=AT_ONCE)[0]
    return write_out(name, found, out)


@direct("argmax")
def argmax(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """Return the position of the (first) largest element along `axis`, or in the flat array. int64.

    NaN counts as the largest.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The position of the (first) largest element along `axis`.

    Raises
    ------
    ValueError
        If there is no element to choose from.

    Examples
    --------
    >>> from forerun import np
    >>> np.argmax([[1, 3], [4, 2]], axis=1).tolist(), np.argmax([[1, 3], [4, 2]]).item()
    ([1, 0], 2)
    """
    return _arg("argmax", numpy.argmax, a, axis, out, keepdims)


@direct("argmin")
def argmin(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """Return the position of the (first) smallest element along `axis`, or in the flat array. int64.

    NaN counts as the smallest.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The position of the (first) smallest element along `axis`.

    Raises
    ------
    ValueError
        If there is no element to choose from.

    Examples
    --------
    >>> from forerun import np
    >>> np.argmin([[1, 3], [4, 2]], axis=0).tolist()
    [0, 1]
    """
    return _arg("argmin", numpy.argmin, a, axis, out, keepdims)


def nanargmax(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """Return the position of the (first) largest element that is not NaN along `axis`, or in the flat array. int64.

    ValueError if there is no element; where the result is read if all are NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The position of the (first) largest element that is not NaN along `axis`.

    Raises
    ------
    ValueError
        If there is no element; where the result is read, if all are NaN.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanargmax([[1.0, np.nan], [2.0, 3.0]], axis=1).tolist()
    [0, 1]
    """
    return _arg("nanargmax", numpy.nanargmax, a, axis, out, keepdims)


def nanargmin(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """Return the position of the (first) smallest element that is not NaN along `axis`, or in the flat array. int64.

    Errors: as for `nanargmax`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The position of the (first) smallest element that is not NaN along `axis`.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanargmin([[np.nan, 1.0], [2.0, 3.0]], axis=1).tolist()
    [1, 0]
    """
    return _arg("nanargmin", numpy.nanargmin, a, axis, out, keepdims)
