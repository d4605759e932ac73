"""Views by shape and strides, and windows that slide along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, axis_of, counts_of, extents_of
from .._base.host_task import no_gradient
from ..index.getitem import take
from ..shape.axis_order import moveaxis

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis

__all__ = ["as_strided", "sliding_window_view"]


def as_strided(
    x: ArrayLike,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    subok: bool = False,
    writeable: bool = True,
    *,
    check_bounds: bool | None = None,
) -> Array:
    """Return a view with another shape, and other distances between elements. Gradients do not flow through it.

    A view whose elements share memory can be written element by element only.

    Parameters
    ----------
    x : array_like
        The array.
    shape : sequence of ints, optional
        The extents of the view; None for those of the array.
    strides : sequence of ints, optional
        The bytes from one element to the next along each axis; None for those of the array.
    subok : bool, optional
        Has no effect.
    writeable : bool, optional
        Whether the view can be written.
    check_bounds : bool, optional
        Has no effect: bounds are checked in any case.

    Returns
    -------
    array
        A view, of the array's dtype.

    Raises
    ------
    ValueError
        If elements would not lie in the array's memory, or strides are not multiples of an element's size.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.arange(5)
    >>> np.lib.stride_tricks.as_strided(x, (3, 3), (8, 8)).tolist()
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    x = asarray(x)
    extents = x.shape if shape is None else tuple(int(n) for n in shape)
    steps = x.strides if strides is None else tuple(int(n) for n in strides)
    counts_of("as_strided", "extents", extents, (len(extents),))
    if any(n % x.itemsize for n in steps):
        raise ValueError(f"as_strided: strides must be multiples of {x.itemsize}, got {steps}")
    if math.prod(extents) * x.itemsize >= 2**63:
        raise ValueError(f"as_strided: array must have fewer than 2**63 bytes, got shape {extents}")
    view = _core.view(x, extents, steps)
    no_gradient("as_strided", [x], [view])
    seen = view if writeable else _core.read_only(view)
    return seen


def _windows(window_shape: int | Sequence[int], axis: Axis, ndim: int) -> list[tuple[int, int]]:
    """Return axes and extents of windows, in pairs; an axis may occur more than once."""
    sizes = extents_of("sliding_window_view", "window_shape", window_shape)
    if min(sizes, default=0) < 0:
        raise ValueError(f"sliding_window_view: window_shape must not be negative, got {window_shape}")
    axes = range(ndim) if axis is None else extents_of("sliding_window_view", "axis", axis)
    if len(axes) != len(sizes):
        found = f"{len(sizes)} for {len(axes)}"
        raise ValueError(f"sliding_window_view: window_shape must have an extent per axis, got {found}")
    return [(axis_of("sliding_window_view", a, ndim), int(n)) for a, n in zip(axes, sizes)]


def sliding_window_view(
    x: ArrayLike, window_shape: int | Sequence[int], axis: Axis = None, *, subok: bool = False, writeable: bool = False
) -> Array:
    """Return all windows of an extent along axes, as further axes at the end.

    It is a view, but of an array on the tape a copy, through which gradients flow. The windows share their elements.

    Parameters
    ----------
    x : array_like
        The array.
    window_shape : int or sequence of ints
        The extents of a window, one for each of the axes.
    axis : int or sequence of ints, optional
        The axes; None for all of them.
    subok : bool, optional
        Has no effect.
    writeable : bool, optional
        Whether single elements can be written by NumPy's rules. Otherwise they always can.

    Returns
    -------
    array
        Its first axes say which window, the last ones which element of the window.

    Raises
    ------
    ValueError
        If a window is larger than the array, or has not an extent for each axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.lib.stride_tricks.sliding_window_view(np.arange(4), 2).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    x = asarray(x)
    pairs = _windows(window_shape, axis, x.ndim)
    places = list(x.shape)
    for a, n in pairs:
        places[a] -= n - 1
    if any(places[a] < 1 for a, _ in pairs):
        raise ValueError(f"sliding_window_view: windows must fit into shape {x.shape}, got {window_shape}")
    if _core.recording() and x.node is not None:
        for a, n in pairs:
            starts = numpy.arange(x.shape[a] - n + 1)
            x = moveaxis(take(x, starts[:, None] + numpy.arange(n), a), a + 1, -1)
        return x
    strides = x.strides + tuple(x.strides[a] for a, _ in pairs)
    view = _core.view(x, (*places, *(n for _, n in pairs)), strides)
    return _core.read_only(view) if _core.numpy_rules() and not writeable else view
