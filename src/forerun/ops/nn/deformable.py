"""Convolutions whose kernels bend: each of their elements looks where an offset sends it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarrays, cast
from ..elementwise.arithmetic import floor
from ..elementwise.select import clip, where
from ..index.getitem import _gather_along
from ..linalg.matmul import matmul
from ..shape.broadcast import broadcast_to
from ..shape.reshape import expand_dims, reshape
from .conv_windows import Windows, per_axis

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Shape

__all__ = ["deformable_convolution", "modulated_deformable_convolution"]


def deformable_convolution(
    data: ArrayLike, offset: Array, weight: ArrayLike, bias: ArrayLike | None = None, kernel: Shape | None = None,
    stride: Shape | None = 1, dilate: Shape | None = 1, pad: Shape | None = 0, num_filter: int | None = None,
    num_group: int = 1, num_deformable_group: int = 1, no_bias: bool = False,
) -> Array:  # fmt: skip
    """Convolve images with a kernel whose elements are applied at positions moved by an offset (Dai et al. 2017).

    Between pixels values are interpolated; outside of the image they are 0.

    Parameters
    ----------
    data : array_like
        The images, of shape (batch, in, height, width).
    offset : array
        The numbers of pixels that are added to positions, of shape (batch, 2 * num_deformable_group * elements of the
        kernel, height of the result, width of the result): one for rows and one for columns, for each element of the
        kernel, for each group of channels.
    weight : array_like
        The filters, of shape (out, in / num_group, *kernel).
    bias : array_like, optional
        The numbers added to the channels of the result, of shape (out,).
    kernel : tuple of ints, optional
        The height and width of the kernel. They are those of the weight, and are checked if given.
    stride : int or tuple of ints, optional
        The distance of two neighbouring positions of the kernel in pixels.
    dilate : int or tuple of ints, optional
        The distance of two neighbouring elements of the kernel in pixels.
    pad : int or tuple of ints, optional
        The padding before and after each axis, in pixels.
    num_filter : int, optional
        The number of filters, out. It is that of the weight, and is checked if given.
    num_group : int, optional
        The number of groups that channels are split into, each of which has its own filters.
    num_deformable_group : int, optional
        The number of groups that channels of `data` are split into, each of which has its own offsets.
    no_bias : bool, optional
        True does not add `bias`.

    Returns
    -------
    array
        The result, of shape (batch, out, height, width). Height and width are as for `convolution`.

    Raises
    ------
    ValueError
        If shapes do not fit, or the kernel is larger than the padded image.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x, right = np.arange(4.0).reshape(1, 1, 2, 2), np.array([[0.0, 0.5]]).reshape(1, 2, 1, 1)
    >>> npx.deformable_convolution(x, np.broadcast_to(right, (1, 2, 2, 2)), np.ones((1, 1, 1, 1))).tolist()
    [[[[0.5, 1.0], [2.5, 3.0]]]]
    """
    name = "deformable_convolution"
    data, offset, weight, bias = asarrays(data, offset, weight, bias)
    plan = _Plan(name, data, weight, (kernel, num_filter), (stride, dilate, pad), (num_group, num_deformable_group))
    return plan.result(_columns(plan, offset, fades=False), None if no_bias else bias)


def modulated_deformable_convolution(
    data: ArrayLike, offset: Array, mask: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None,
    kernel: Shape | None = None, stride: Shape | None = 1, dilate: Shape | None = 1, pad: Shape | None = 0,
    num_filter: int | None = None, num_group: int = 1, num_deformable_group: int = 1, no_bias: bool = False,
) -> Array:  # fmt: skip
    """Return `deformable_convolution` with a modulation factor for each element of the kernel (Zhu et al. 2018).

    Each element of the kernel is applied at a position moved by an offset. Between pixels values are interpolated; they
    fade to 0 within a pixel outside of the image.

    Parameters
    ----------
    data : array_like
        The images, of shape (batch, in, height, width).
    offset : array_like
        The distances by which elements of the kernel are moved, in pixels, of shape (batch, 2 * num_deformable_group *
        elements of the kernel, height and width of the result). For each element of the kernel these are the rows and
        the columns to be added.
    mask : array_like
        The factors, shaped as the offset but half as many: (batch, num_deformable_group * elements of the kernel,
        height and width of the result).
    weight : array_like
        The kernels, of shape (out, in / num_group, *kernel).
    bias : array_like, optional
        The numbers that are added to each channel of the result, of shape (out,).
    kernel : tuple of ints, optional
        The height and width of the kernel. It is checked if it is given.
    stride : int or tuple of ints, optional
        The distance between windows, in pixels: a number for both axes, or one for each.
    dilate : int or tuple of ints, optional
        The distance between elements of the kernel, in pixels: a number for both axes, or one for each.
    pad : int or tuple of ints, optional
        The number of pixels that are added at both ends: a number for both axes, or one for each.
    num_filter : int, optional
        The number of channels of the result, out. It is checked if it is given.
    num_group : int, optional
        The number of groups of channels that are convolved by themselves.
    num_deformable_group : int, optional
        The number of groups of channels that have offsets and factors of their own.
    no_bias : bool, optional
        Whether the bias is left out, even if it is given.

    Returns
    -------
    array
        The convolved images, of shape (batch, out, height of the result, width of the result).

    Raises
    ------
    ValueError
        If shapes do not fit each other, the groups, or `kernel` and `num_filter`.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x, still = np.ones((1, 1, 2, 2)), np.zeros((1, 2, 2, 2))
    >>> half = np.full((1, 1, 2, 2), 0.5)
    >>> npx.modulated_deformable_convolution(x, still, half, np.ones((1, 1, 1, 1))).tolist()
    [[[[0.5, 0.5], [0.5, 0.5]]]]
    """
    name = "modulated_deformable_convolution"
    data, offset, mask, weight, bias = asarrays(data, offset, mask, weight, bias)
    plan = _Plan(name, data, weight, (kernel, num_filter), (stride, dilate, pad), (num_group, num_deformable_group))
    factors = reshape(plan.checked("mask", mask, 1), plan.places(1))
    return plan.result(_columns(plan, offset, fades=True) * factors, None if no_bias else bias)


class _Plan:
    """Shapes, checked."""

    def __init__(self, op: str, data: Array, weight: Array, sizes: Any, settings: Any, groups: tuple[int, int]) -> None:
        self.op, self.data, self.weight, (self.groups, self.parts) = op, data, weight, groups
        if self.data.ndim != 4 or self.weight.ndim != 4:
            self._refuse("data and weight must have 4 axes")
        kernel, filters = sizes
        self.windows = Windows(self.weight.shape[2:], *(per_axis(op, "setting", s, 2, 1, 1) for s in settings[:2]))
        self.pads = per_axis(op, "pad", settings[2], 2, 0, 0)
        channels, made = self.data.shape[1], self.weight.shape[0]
        if channels != self.weight.shape[1] * self.groups or channels % self.parts or made % self.groups:
            self._refuse(f"channels must fit {self.groups} groups and {self.parts} of offsets")
        if filters not in (None, made) or (kernel is not None and tuple(kernel) != self.windows.kernel):
            self._refuse(f"weight must have kernel {kernel} and {filters} filters")
        self.counts = self.windows.counts([n + 2 * p for n, p in zip(self.data.shape[2:], self.pads)])
        if min(self.counts) < 1:
            self._refuse("kernel must fit into the padded data")

    def _refuse(self, what: str) -> None:
        raise ValueError(f"{self.op}: {what}, got {self.weight.shape} for data {self.data.shape}")

    def places(self, *kinds: int) -> tuple[int, ...]:
        """Return (batch, groups of offsets, elements of the kernel, kinds..., places of the result)."""
        return (self.data.shape[0], self.parts, math.prod(self.windows.kernel), *kinds, math.prod(self.counts))

    def checked(self, name: str, x: Array, kinds: int) -> Array:
        """Return an array of so many numbers for each element of the kernel."""
        batch, parts, elements, _ = self.places()
        if x.shape != (batch, kinds * parts * elements, *self.counts):
            wanted = (batch, kinds * parts * elements, *self.counts)
            raise ValueError(f"{self.op}: {name} must have shape {wanted}, got {x.shape}")
        return x

    def sampling_points(self) -> Array:
        """Return the sampling position of each element of the kernel without an offset: (elements, rows and columns,
        places)."""
        kernel, stride, dilate = self.windows
        inside, starts = numpy.indices(kernel), numpy.indices(self.counts)
        each = [
            inside[i].reshape(-1, 1) * dilate[i] + starts[i].reshape(1, -1) * stride[i] - self.pads[i] for i in (0, 1)
        ]
        where_to = numpy.stack(each, axis=1).astype(self.data.dtype)
        return _core.from_numpy(where_to, self.data.device)

    def result(self, columns: Array, bias: Array | None) -> Array:
        """Multiply the columns, (batch, parts, elements, channels of a part, places), by the weight."""
        batch, filters = self.data.shape[0], self.weight.shape[0]
        seen = reshape(columns.swapaxes(2, 3), (batch, self.groups, -1, columns.shape[-1]))
        y = matmul(reshape(self.weight, (self.groups, filters // self.groups, -1)), seen)
        y = reshape(y, (batch, filters, *self.counts))
        return y if bias is None else y + reshape(bias, (-1, 1, 1))


def _columns(plan: _Plan, offset: Array, fades: bool) -> Array:
    """Return the data under each element of the kernel: (batch, parts, elements, channels of a part, places).

    fades: within a pixel outside values are interpolated with 0; otherwise they are 0 at once.
    """
    moved = reshape(plan.checked("offset", offset, 2), plan.places(2)) + plan.sampling_points()
    rows, columns = moved[:, :, :, 0], moved[:, :, :, 1]
    height, width = plan.data.shape[2:]
    pixels = reshape(plan.data, (plan.data.shape[0], plan.parts, -1, height * width))
    seen: Array | int = 0
    for r, by_row in _corners(rows, height, fades):
        for c, by_column in _corners(columns, width, fades):
            seen = seen + _pixels(pixels, r * width + c) * expand_dims(by_row * by_column, 3)
    assert not isinstance(seen, int)  # there are four corners
    return seen


def _corners(at: Array, n: int, fades: bool) -> list[tuple[Array, Array]]:
    """Return the two positions beside each, made to lie in the image, and how much each of them counts."""
    low, found = floor(at), []
    for corner, weight in ((low, low + 1 - at), (low + 1, at - low)):
        seen = corner if fades else at
        counts = (seen >= 0) & (seen < n)
        position = cast(clip(corner, 0, n - 1), numpy.dtype("int64"))
        found.append((position, where(counts, weight, 0)))
    return found


def _pixels(pixels: Array, places: Array) -> Array:
    """Of pixels (batch, parts, channels, all) those at places (batch, parts, elements, n), for each channel."""
    batch, parts, elements, n = places.shape
    flat = reshape(places, (batch, parts, 1, elements * n))
    wide = broadcast_to(flat, (batch, parts, pixels.shape[2], elements * n))
    seen = _gather_along(pixels, wide, 3)
    return reshape(seen, (batch, parts, pixels.shape[2], elements, n)).swapaxes(2, 3)
