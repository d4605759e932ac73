"""Windows that slide along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import _core
from .convert import asarray, axis_of
from .indexing import take
from .shape import moveaxis

__all__ = ["sliding_window_view"]


def _windows(window_shape: int | Sequence[int], axis: Any, ndim: int) -> list[tuple[int, int]]:
    """Axes and extents of windows, in pairs; an axis may occur more than once."""
    sizes = (window_shape,) if isinstance(window_shape, (int, numpy.integer)) else tuple(window_shape)
    if min(sizes, default=0) < 0:
        raise ValueError(f"sliding_window_view: window_shape must not be negative, got {window_shape}")
    axes = range(ndim) if axis is None else (axis,) if isinstance(axis, (int, numpy.integer)) else tuple(axis)
    if len(axes) != len(sizes):
        found = f"{len(sizes)} for {len(axes)}"
        raise ValueError(f"sliding_window_view: window_shape must have an extent per axis, got {found}")
    return [(axis_of("sliding_window_view", a, ndim), int(n)) for a, n in zip(axes, sizes)]


def sliding_window_view(
    x: Any, window_shape: int | Sequence[int], axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """All windows of an extent along axes (all of them by default), as further axes at the end.

    A view, but of an array on the tape a copy, through which gradients flow. The windows share their elements, so that
    only single ones can be written, whatever `writeable` says; subok changes nothing. ValueError if a window is
    larger than the array.

    >>> from forerun import np
    >>> np.lib.stride_tricks.sliding_window_view(np.arange(4), 2).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    x = asarray(x)
    pairs = _windows(window_shape, axis, x.ndim)
    places = list(x.shape)
    for a, n in pairs:
        places[a] -= n - 1
    if min(places, default=1) < 1:
        raise ValueError(f"sliding_window_view: windows must fit into shape {x.shape}, got {window_shape}")
    if _core.recording() and x.node is not None:
        for a, n in pairs:
            starts = numpy.arange(x.shape[a] - n + 1)
            x = moveaxis(take(x, starts[:, None] + numpy.arange(n), a), a + 1, -1)
        return x
    strides = x.strides + tuple(x.strides[a] for a, _ in pairs)
    return _core.view(x, (*places, *(n for _, n in pairs)), strides)
