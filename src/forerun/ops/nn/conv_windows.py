"""Windows at steps along the last axes, for convolution and pooling."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from .._base import core as _core
from .._base.convert import asarray
from .._base.primitive import primitive
from .._base.registry import registered_tuple
from ..elementwise.arithmetic import add
from ..index.getitem import getitem
from ..shape.axis_order import moveaxis

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "LAYOUTS", "Windows", "channels_first", "channels_last", "check_layout", "fold", "inside", "native", "padded",
    "per_axis",
]  # fmt: skip

LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
CHANNELS_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
Extents = tuple[int, ...]
_NATIVE = (numpy.dtype("float32"), numpy.dtype("float64"))


@registered_tuple("pooling.Windows")
class Windows(NamedTuple):
    """Windows of a kernel's extents, `stride` apart, their elements `dilate` apart, along the last axes of an array."""

    kernel: Extents
    stride: Extents
    dilate: Extents

    def spans(self) -> Extents:
        """Return the number of elements that a window spans, per axis."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilate))

    def counts(self, extents: Sequence[int]) -> Extents:
        """Return the number of windows that fit, per axis; 0 or less if none does."""
        return tuple((n - span) // s + 1 for n, span, s in zip(extents, self.spans(), self.stride))

    def reach(self, counts: Sequence[int]) -> Extents:
        """Return the extents that so many windows cover, per axis."""
        return tuple((n - 1) * s + span for n, s, span in zip(counts, self.stride, self.spans()))

    def apart(self) -> bool:
        """Return whether no element lies in two windows."""
        return all(k == 1 or (span <= s) for k, span, s in zip(self.kernel, self.spans(), self.stride))

    def view(self, x: Array) -> Array:
        """Return x (..., *extents) as (..., *kernel, *counts), without a copy."""
        lead, n = x.ndim - len(self.kernel), len(self.kernel)
        steps = x.strides[lead:]
        inner = tuple(step * d for step, d in zip(steps, self.dilate))
        outer = tuple(step * s for step, s in zip(steps, self.stride))
        counts = self.counts(x.shape[-n:])
        return _core.view(x, (*x.shape[:lead], *self.kernel, *counts), (*x.strides[:lead], *inner, *outer))

    def places(self, counts: Sequence[int]) -> Iterator[tuple[Extents, tuple[Any, ...]]]:
        """For each place in the kernel, in C order: its position, and the index of the elements there in all
        windows."""
        for at in itertools.product(*map(range, self.kernel)):
            starts = (i * d for i, d in zip(at, self.dilate))
            yield at, (..., *(slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(starts, counts, self.stride)))


def native(x: Array) -> bool:
    """Return whether the core has kernels for windows of such arrays: of float32 or float64, and not empty.

    >>> from forerun import np
    >>> native(np.ones(2)), native(np.ones(2, dtype=int))
    (True, False)
    """
    return x.dtype in _NATIVE and x.size > 0


def fold(target: Array, columns: Array, windows: Windows) -> None:
    """Add columns (..., *kernel, *counts) to the elements of the target, zeros before, that their windows are of.

    >>> from forerun import np
    >>> target = np.zeros(4)
    >>> fold(target, np.ones((2, 3)), Windows((2,), (1,), (1,)))
    >>> target.tolist()
    [1.0, 2.0, 2.0, 1.0]
    """
    n = len(windows.kernel)
    counts = columns.shape[-n:]
    if windows.apart():
        _core.assign(windows.view(target), columns)
        return
    for at, index in windows.places(counts):
        part = _core.getitem(target, index)
        add(part, _core.getitem(columns, (..., *at, *(slice(None),) * n)), out=part)


def inside(x: Array, widths: Sequence[tuple[int, int]]) -> tuple[Any, ...]:
    """Return the index of the elements inside the padding along the last axes.

    >>> from forerun import np
    >>> inside(np.zeros((2, 5)), [(1, 2)])
    (Ellipsis, slice(1, 3, None))
    """
    extents = x.shape[x.ndim - len(widths) :]
    return (..., *(slice(b, n - a) for (b, a), n in zip(widths, extents)))


@primitive(lambda g, widths: getitem(g, inside(g, widths)), op="pad.last_axes")
def _padded(x: Array, widths: tuple[tuple[int, int], ...], value: float) -> Array:
    lead = x.ndim - len(widths)
    extents = tuple(n + b + a for n, (b, a) in zip(x.shape[lead:], widths))
    full = _core.full((*x.shape[:lead], *extents), value, x.dtype, x.device)
    _core.assign(_core.getitem(full, inside(full, widths)), x)
    return full


def padded(x: Array, widths: Sequence[tuple[int, int]], value: float = 0) -> Array:
    """Return x with a value before and after its last axes; x itself if all widths are 0.

    >>> from forerun import np
    >>> padded(np.ones(2), [(1, 0)]).tolist()
    [0.0, 1.0, 1.0]
    """
    return _padded(x, tuple(widths), value) if any(map(any, widths)) else x


def per_axis(op: str, name: str, value: Any, n: int, default: int, least: int) -> Extents:
    """Return a number per axis: one is for all, None or () the default. ValueError if they are not n, or below `least`.

    >>> per_axis("op", "stride", 2, 3, 1, 1)
    (2, 2, 2)
    """
    if value is None or (isinstance(value, (tuple, list)) and not value):
        value = default
    several = (value,) * n if isinstance(value, (int, numpy.integer)) else tuple(value)
    if len(several) != n or not all(isinstance(v, (int, numpy.integer)) and v >= least for v in several):
        raise ValueError(f"{op}: {name} must be {n} integers from {least}, got {value}")
    return tuple(int(v) for v in several)


def check_layout(op: str, layout: str | None, n: int) -> None:
    """Raise NotImplementedError for a layout other than batch, channels, n axes.

    >>> check_layout("op", "NCHW", 2)
    """
    if layout not in (None, LAYOUTS[n]):
        raise NotImplementedError(f"{op}: layout must be {LAYOUTS[n]}, got {layout!r}")


def channels_last(op: str, layout: str | None, n: int) -> bool:
    """Return whether a layout of n axes of extents has the channels last, as NHWC.

    ValueError for one that is not known.

    >>> channels_last("op", "NCHW", 2), channels_last("op", "NWC", 1)
    (False, True)
    """
    if layout not in (None, LAYOUTS[n], CHANNELS_LAST[n]):
        raise ValueError(f"{op}: layout must be {LAYOUTS[n]} or {CHANNELS_LAST[n]}, got {layout!r}")
    return layout == CHANNELS_LAST[n]


def channels_first(x: ArrayLike) -> Array:
    """Return a view of x (batch, *extents, channels) as (batch, channels, *extents); so of weights.

    >>> from forerun import np
    >>> channels_first(np.zeros((2, 8, 9, 3))).shape
    (2, 3, 8, 9)
    """
    return moveaxis(asarray(x), -1, 1)
