"""Convolutions as matrix products over strided windows.

Three products, each linear in two arrays: of data x and weight w to y, of y and w back to x (which is the transposed
convolution), and of y and x to w. The gradients of each are the other two, so they are there to any order. The windows
are written out for as many examples at once as fit into `_ROOM`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .._base import core as _core
from .._base.convert import asarray, asarray_like_device
from .._base.primitive import primitive
from .._base.registry import registered_tuple
from ..elementwise.arithmetic import add
from ..linalg.product import matmul_pair
from ..shape.axis_order import moveaxis
from ..shape.reshape import reshape
from .conv_windows import (
    LAYOUTS,
    Extents,
    Windows,
    channels_first,
    channels_last,
    fold,
    inside,
    native,
    padded,
    per_axis,
)

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Shape

__all__ = ["convolution", "deconvolution"]

_ROOM = 1 << 25  # bytes of windows that are written out at once


@registered_tuple("convolution.Plan")
class _Plan(NamedTuple):
    """The geometry of a convolution: windows over padded data, in groups of channels."""

    windows: Windows
    pad: Extents
    groups: int
    extents: Extents  # of the data, without padding

    def whole(self) -> Extents:
        """Return the extents with padding."""
        return tuple(n + 2 * p for n, p in zip(self.extents, self.pad))

    def counts(self) -> Extents:
        """Return the extents of the result."""
        return self.windows.counts(self.whole())

    def widths(self) -> tuple[tuple[int, int], ...]:
        """Return the padding, before and after each axis."""
        return tuple((p, p) for p in self.pad)

    def parts(self, x: Array) -> Iterator[slice]:
        """Yield runs of examples of the data whose windows take about `_ROOM` bytes, or one example."""
        each = math.prod((*self.windows.kernel, *self.counts(), x.shape[1])) * x.itemsize
        step = max(1, _ROOM // max(1, each))
        return (slice(i, i + step) for i in range(0, x.shape[0], step))

    def view(self, x: Array) -> Array:
        """Return the windows of examples (n, channels, *extents) as (n, channels, *kernel, *counts)."""
        return self.windows.view(padded(x, self.widths()))

    def matrices(self, y: Array) -> Array:
        """Return (n, channels, *counts) as (n, groups, channels / groups, all counts)."""
        n, channels = y.shape[:2]
        return _core.reshape(y, (n, self.groups, channels // self.groups, math.prod(self.counts())))

    def settings(self, x: Array) -> tuple[Any, ...] | None:
        """Return the plan as the core's own kernels take it; None if they do not take arrays such as x."""
        if not native(x):
            return None
        return self.windows.stride, self.windows.dilate, self.pad, self.groups, self.extents

    def rows(self, w: Array) -> Array:
        """Return a weight (out, in / groups, *kernel) as (groups, out / groups, in / groups * all of the kernel)."""
        return _core.reshape(w, (self.groups, w.shape[0] // self.groups, math.prod(w.shape[1:])))


@primitive(lambda g, b, plan: _spread(g, b, plan), lambda g, a, plan: _weigh(g, a, plan), op="convolution")
def _convolve(a: Array, b: Array, plan: _Plan) -> Array:
    """Data (n, in, *extents) and weight (out, in / groups, *kernel) to (n, out, *counts)."""
    if settings := plan.settings(a):
        return _core.conv(a, b, settings)
    rows, n = plan.rows(b), a.shape[0]
    y = _core.empty((n, b.shape[0], *plan.counts()), a.dtype, a.device)
    for part in plan.parts(a):
        view = plan.view(_core.getitem(a, part))
        columns = _core.reshape(view, (view.shape[0], plan.groups, rows.shape[2], math.prod(plan.counts())))
        product = _core.matmul(rows, columns)
        if view.shape[0] == n:
            return _core.reshape(product, y.shape)
        _core.assign(plan.matrices(_core.getitem(y, part)), product)
    return y


@primitive(lambda g, b, plan: _convolve(g, b, plan), lambda g, a, plan: _weigh(a, g, plan), op="deconvolution")
def _spread(a: Array, b: Array, plan: _Plan) -> Array:
    """Outputs (n, out, *counts) and weight back to data (n, in, *extents): the transposed convolution."""
    if settings := plan.settings(a):
        return _core.conv_back(a, b, settings)
    rows, channels = plan.rows(b), b.shape[1] * plan.groups
    x = _core.full((a.shape[0], channels, *plan.whole()), 0, a.dtype, a.device)
    for part in plan.parts(x):
        columns = _core.matmul(rows, plan.matrices(_core.getitem(a, part)), True)
        shape = (columns.shape[0], channels, *plan.windows.kernel, *plan.counts())
        fold(_core.getitem(x, part), _core.reshape(columns, shape), plan.windows)
    return _core.getitem(x, inside(x, plan.widths()))


@primitive(
    lambda g, b, plan: _convolve(b, g, plan), lambda g, a, plan: _spread(a, g, plan),
    op="convolution.backward_weight",
)  # fmt: skip
def _weigh(a: Array, b: Array, plan: _Plan) -> Array:
    """Outputs (n, out, *counts) and data (n, in, *extents) to a weight (out, in / groups, *kernel)."""
    shape = (a.shape[1], b.shape[1] // plan.groups, *plan.windows.kernel)
    if settings := plan.settings(a):
        parts = _core.conv_weight(a, b, settings, shape)
        return _core.sum_to(parts, shape) if parts.shape[0] > 1 else _core.reshape(parts, shape)
    total = None
    for part in plan.parts(b):
        y, view = _core.getitem(a, part), plan.view(_core.getitem(b, part))
        product = _core.matmul(_examples_last(y, plan), _examples_last(view, plan), False, True)
        total = product if total is None else add(total, product)
    return _core.full(shape, 0, a.dtype, a.device) if total is None else _core.reshape(total, shape)


def _examples_last(x: Array, plan: _Plan) -> Array:
    """Examples (n, rows..., *counts) as (groups, rows / groups, n * all counts), a copy."""
    counts = plan.counts()
    lead = x.ndim - len(counts)
    turned = _core.transpose(x, (*range(1, lead), 0, *range(lead, x.ndim)))
    rows = math.prod(x.shape[1:lead])
    return _core.reshape(turned, (plan.groups, rows // plan.groups, x.shape[0] * math.prod(counts)))


# --- public functions -----------------------------------------------------------------------------


def convolution(
    data: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    kernel: Shape | None = None,
    stride: Shape | None = None,
    dilate: Shape | None = None,
    pad: Shape | None = None,
    num_filter: int | None = None,
    num_group: int = 1,
    no_bias: bool = False,
    layout: str | None = None,
) -> Array:
    """Correlate data with the filters of a weight, and add a bias.

    Data has one to three axes of extents, each with its stride, dilation and padding by zeros on both sides. These are
    numbers for each axis, or one number for all axes.

    Parameters
    ----------
    data : array_like
        The data, of shape (batch, in, *extents), or (batch, *extents, in) if `layout` has channels last.
    weight : array_like
        The filters, of shape (out, in / num_group, *kernel), or (out, *kernel, in / num_group) if `layout` has channels
        last.
    bias : array_like, optional
        The numbers added to the channels of the result, of shape (out,).
    kernel : int or tuple of ints, optional
        The extents of the kernel. They are those of the weight, and are checked if given.
    stride : int or tuple of ints, optional
        The distance of two neighbouring positions of the kernel in elements of the data, 1 or more; by default 1.
    dilate : int or tuple of ints, optional
        The distance of two neighbouring elements of the kernel in elements of the data, 1 or more; by default 1.
    pad : int or tuple of ints, optional
        The number of zeros before and after each axis; by default 0.
    num_filter : int, optional
        The number of filters, out. It is that of the weight, and is checked if given.
    num_group : int, optional
        The number of groups that channels are split into, each of which has its own filters.
    no_bias : bool, optional
        True does not add `bias`.
    layout : str, optional
        The order of axes: "NCW", "NCHW" or "NCDHW", as by default, or with channels last "NWC", "NHWC" or "NDHWC".

    Returns
    -------
    array
        The result, of shape (batch, out, *extents), or (batch, *extents, out) if `layout` has channels last. Its extent
        along an axis is (data + 2 * pad - dilate * (kernel - 1) - 1) // stride + 1. Dtypes are promoted.

    Raises
    ------
    ValueError
        If shapes do not fit, the kernel is larger than the padded data, a setting is too small or is not one number or
        one for each axis, or for another layout.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.convolution(np.arange(4.0).reshape(1, 1, 4), np.array([[[1.0, -1.0]]])).tolist()
    [[[-1.0, -1.0, -1.0]]]
    """
    data = asarray_like_device(data, weight, bias)
    if _last("convolution", layout, data):
        first = channels_first(data), channels_first(weight)
        settings: Any = kernel, stride, dilate, pad, num_filter, num_group, no_bias
        return moveaxis(convolution(*first, bias, *settings), 1, -1)
    data, weight = _operands("convolution", data, weight, kernel, num_group)
    filters, channels = weight.shape[0], weight.shape[1] * num_group
    windows, pads = _settings("convolution", data, weight, stride, dilate, pad)
    if data.shape[1] != channels or filters % num_group or num_filter not in (None, filters):
        raise ValueError(
            f"convolution: weight must be ({num_filter or 'filters'}, channels / groups, *kernel), "
            f"got {weight.shape} for data {data.shape} in {num_group} groups"
        )
    plan = _Plan(windows, pads, num_group, data.shape[2:])
    if min(plan.counts()) < 1:
        raise ValueError(f"convolution: kernel must fit into the padded data, got {windows.spans()} for {plan.whole()}")
    return _with_bias("convolution", _convolve(data, weight, plan), None if no_bias else bias)


def deconvolution(
    data: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    kernel: Shape | None = None,
    stride: Shape | None = None,
    dilate: Shape | None = None,
    pad: Shape | None = None,
    adj: Shape | None = None,
    target_shape: Shape | None = None,
    num_filter: int | None = None,
    num_group: int = 1,
    no_bias: bool = False,
    layout: str | None = None,
) -> Array:
    """Compute the transposed convolution of data with a weight, and add a bias.

    The result is the gradient of `convolution` for data of this shape. With channels last the weight is (in,
    *kernel, out / num_group).

    Parameters
    ----------
    data : array_like
        The data, of shape (batch, in, *extents), or (batch, *extents, in) if `layout` has channels last.
    weight : array_like
        The filters, of shape (in, out / num_group, *kernel), or (in, *kernel, out / num_group) if `layout` has channels
        last.
    bias : array_like, optional
        The numbers added to the channels of the result, of shape (out,).
    kernel : int or tuple of ints, optional
        The extents of the kernel. They are those of the weight, and are checked if given.
    stride : int or tuple of ints, optional
        The distance in the result of two neighbouring positions of the kernel, 1 or more; by default 1.
    dilate : int or tuple of ints, optional
        The distance in the result of two neighbouring elements of the kernel, 1 or more; by default 1.
    pad : int or tuple of ints, optional
        The number of elements cut off before and after each axis; by default 0.
    adj : int or tuple of ints, optional
        The number of elements that each axis is longer, less than the stride; by default 0.
    target_shape : int or tuple of ints, optional
        The extents of the result, in place of `pad` and `adj`; half of the excess is cut off at each end.
    num_filter : int, optional
        The number of channels of the result, out. It is that of the weight, and is checked if given.
    num_group : int, optional
        The number of groups that channels are split into, each of which has its own filters.
    no_bias : bool, optional
        True does not add `bias`.
    layout : str, optional
        The order of axes: "NCW", "NCHW" or "NCDHW", as by default, or with channels last "NWC", "NHWC" or "NDHWC".

    Returns
    -------
    array
        The result, of shape (batch, out, *extents), or (batch, *extents, out) if `layout` has channels last. Its extent
        along an axis is (data - 1) * stride - 2 * pad + dilate * (kernel - 1) + 1 + adj. Dtypes are promoted.

    Raises
    ------
    ValueError
        If shapes do not fit, `adj` is not less than the stride, `target_shape` is larger than the convolution reaches,
        the result would be empty, a setting is too small or is not one number or one for each axis, or for another
        layout.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.deconvolution(np.array([[[1.0, 2.0]]]), np.ones((1, 1, 2)), stride=2).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    data = asarray_like_device(data, weight, bias)
    if _last("deconvolution", layout, data):
        first = channels_first(data), channels_first(weight)
        settings: Any = kernel, stride, dilate, pad, adj, target_shape, num_filter, num_group, no_bias
        return moveaxis(deconvolution(*first, bias, *settings), 1, -1)
    data, weight = _operands("deconvolution", data, weight, kernel, num_group)
    filters = weight.shape[1] * num_group
    windows, pads = _settings("deconvolution", data, weight, stride, dilate, pad)
    if data.shape[1] != weight.shape[0] or weight.shape[0] % num_group or num_filter not in (None, filters):
        raise ValueError(
            f"deconvolution: weight must be (channels, {num_filter or 'filters'} / groups, *kernel), "
            f"got {weight.shape} for data {data.shape} in {num_group} groups"
        )
    n = len(pads)
    more = per_axis("deconvolution", "adj", adj, n, 0, 0)
    reach = windows.reach(data.shape[2:])
    if target_shape:
        target = per_axis("deconvolution", "target_shape", target_shape, n, 0, 1)
        pads, more = _for_target(reach, target)
    extents = tuple(r - 2 * p + m for r, p, m in zip(reach, pads, more))
    if any(m >= s for m, s in zip(more, windows.stride)) or min(extents) < 1:
        raise ValueError(
            f"deconvolution: adj must be less than the stride, and the result not empty, "
            f"got {more} for {windows.stride}, extents {extents}"
        )
    plan = _Plan(windows, pads, num_group, extents)
    return _with_bias("deconvolution", _spread(data, weight, plan), None if no_bias else bias)


def _operands(op: str, data: Any, weight: Any, kernel: Any, groups: int) -> tuple[Array, Array]:
    """Data and weight as arrays of one dtype. ValueError if axes, the kernel or groups do not fit."""
    data, weight = matmul_pair(data, weight, op)
    if data.ndim - 2 not in LAYOUTS or weight.ndim != data.ndim:
        raise ValueError(
            f"{op}: data and weight must both have 1 to 3 axes after the first two, got {data.shape} and {weight.shape}"
        )
    given = per_axis(op, "kernel", kernel, data.ndim - 2, 0, 1) if kernel else weight.shape[2:]
    if given != weight.shape[2:]:
        raise ValueError(f"{op}: kernel must be the weight's, got {given} for a weight {weight.shape}")
    if groups < 1:
        raise ValueError(f"{op}: num_group must be positive, got {groups}")
    return data, weight


def _last(op: str, layout: str | None, data: Array) -> bool:
    """Return whether channels are last; of data with too few or too many axes, which is refused later, not."""
    return data.ndim - 2 in LAYOUTS and channels_last(op, layout, data.ndim - 2)


def _settings(op: str, data: Array, weight: Array, stride: Any, dilate: Any, pad: Any) -> tuple[Windows, Extents]:
    """Return the windows and the padding that the arguments stand for."""
    n = data.ndim - 2
    windows = Windows(
        weight.shape[2:], per_axis(op, "stride", stride, n, 1, 1), per_axis(op, "dilate", dilate, n, 1, 1)
    )
    return windows, per_axis(op, "pad", pad, n, 0, 0)


def _for_target(reach: Extents, target: Extents) -> tuple[Extents, Extents]:
    """Padding and adj by which a transposed convolution that reaches so far has the target's extents."""
    too_much = [r - t for r, t in zip(reach, target)]
    if min(too_much) < 0:
        raise ValueError(f"deconvolution: target_shape must be at most {reach}, got {target}")
    pads = tuple((m + 1) // 2 for m in too_much)
    return pads, tuple(2 * p - m for p, m in zip(pads, too_much))


def _with_bias(op: str, y: Array, bias: ArrayLike | None) -> Array:
    if bias is None:
        return y
    bias = asarray(bias, device=y.device, op=op)
    if bias.shape != y.shape[1:2]:
        raise ValueError(f"{op}: bias must have shape {y.shape[1:2]}, got {bias.shape}")
    return y + reshape(bias, (-1, *(1,) * (y.ndim - 2)))
