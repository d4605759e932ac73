"""Convolutions that find out from the data where to look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import npx
from ...init import Initializer
from ...ops.nn.conv_windows import check_layout, per_axis
from ..block.hybrid import HybridBlock
from ..parameter.parameter import Parameter
from .function import Activation

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]

Numbers = int | tuple[int, ...] | list[int]
Rule = str | Initializer | None


class DeformableConvolution(HybridBlock):
    """A convolution of images whose kernel's elements are moved by offsets from another convolution (Dai et al. 2017).

    Offsets start as zeros. Parameters: deformable_conv_weight and _bias, offset_weight and _bias.

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    kernel_size : int or sequence of ints, optional
        The extents of the kernel: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows.
    padding : int or sequence of ints, optional
        How many zeros are added on each side.
    dilation : int or sequence of ints, optional
        The distances of the kernel's elements.
    groups : int, optional
        How many groups of channels are convolved by themselves, as in `npx.convolution`.
    num_deformable_group : int, optional
        How many groups of channels have offsets of their own.
    layout : str, optional
        NCHW.
    use_bias : bool, optional
        Whether a bias is added.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.
    activation : str, optional
        The name of a function on top, such as "relu".
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.
    bias_initializer : str or Initializer, optional
        The initializer of the bias.
    offset_weight_initializer : str or Initializer, optional
        The initializer of the weight of the offsets.
    offset_bias_initializer : str or Initializer, optional
        The initializer of their bias.
    offset_use_bias : bool, optional
        Whether offsets have a bias.

    Raises
    ------
    ValueError
        If numbers do not fit.
    NotImplementedError
        For another layout.

    Examples
    --------
    >>> from forerun import np
    >>> layer = DeformableConvolution(4, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(np.ones((1, 2, 5, 6))).shape
    (1, 4, 5, 6)
    """

    _numbers = 2  # for each element of the kernel

    def __init__(
        self, channels: int, kernel_size: Numbers = (1, 1), strides: Numbers = (1, 1), padding: Numbers = (0, 0),
        dilation: Numbers = (1, 1), groups: int = 1, num_deformable_group: int = 1, layout: str = "NCHW",
        use_bias: bool = True, in_channels: int = 0, activation: str | None = None, weight_initializer: Rule = None,
        bias_initializer: Rule = "zeros", offset_weight_initializer: Rule = "zeros",
        offset_bias_initializer: Rule = "zeros", offset_use_bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        kind = type(self).__name__
        check_layout(kind, layout, 2)
        if min(channels, groups, num_deformable_group) < 1 or channels % groups:
            raise ValueError(f"{kind}: channels must be a positive multiple of groups, got {channels} for {groups}")
        self._kernel = kernel = per_axis(kind, "kernel_size", kernel_size, 2, 1, 1)
        self._channels, self._groups = channels, groups
        self._in_groups: dict[str, Any] = {"num_group": groups, "num_deformable_group": num_deformable_group}
        self._settings: dict[str, Any] = {
            "stride": per_axis(kind, "strides", strides, 2, 1, 1),
            "pad": per_axis(kind, "padding", padding, 2, 0, 0),
            "dilate": per_axis(kind, "dilation", dilation, 2, 1, 1),
        }
        self._moves = 2 * num_deformable_group * kernel[0] * kernel[1]
        learned = self._moves * self._numbers // 2

        def new(name: str, rule: Any, *shape: int) -> Parameter:
            return Parameter(name, shape=shape, init=rule, allow_deferred_init=True)

        own = channels, in_channels // groups, *kernel
        self.deformable_conv_weight = new("deformable_conv_weight", weight_initializer, *own)
        self.deformable_conv_bias = new("deformable_conv_bias", bias_initializer, channels) if use_bias else None
        self.offset_weight = new("offset_weight", offset_weight_initializer, learned, in_channels, *kernel)
        self.offset_bias = new("offset_bias", offset_bias_initializer, learned) if offset_use_bias else None
        self.act = Activation(activation) if activation is not None else None

    def infer_shape(self, x: Array) -> None:
        """Take in_channels from the data."""
        self.deformable_conv_weight.shape = (self._channels, x.shape[1] // self._groups, *self._kernel)
        self.offset_weight.shape = (self._moves * self._numbers // 2, x.shape[1], *self._kernel)

    def forward(self, x: Array) -> Array:
        """Map x (batch, in, height, width) to (batch, channels, ...). ValueError if shapes do not fit."""
        parameters = self.deformable_conv_weight, self.deformable_conv_bias, self.offset_weight, self.offset_bias
        arrays: list[Any] = [p.data(x.device) if p is not None else None for p in parameters]
        weight, bias, offset_weight, offset_bias = arrays
        y = self._convolved(x, npx.convolution(x, offset_weight, offset_bias, **self._settings), weight, bias)
        activated: Array = self.act(y) if self.act is not None else y
        return activated

    def _convolved(self, x: Array, offsets: Array, weight: Array, bias: Array) -> Array:
        return npx.deformable_convolution(x, offsets, weight, bias, **self._settings, **self._in_groups)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._channels}, kernel_size={self._kernel})"


class ModulatedDeformableConvolution(DeformableConvolution):
    """`DeformableConvolution` that also says how much each place counts, from 0 to 2 (Zhu et al. 2018).

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    kernel_size : int or sequence of ints, optional
        The extents of the kernel: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows.
    padding : int or sequence of ints, optional
        How many zeros are added on each side.
    dilation : int or sequence of ints, optional
        The distances of the kernel's elements.
    groups : int, optional
        How many groups of channels are convolved by themselves, as in `npx.convolution`.
    num_deformable_group : int, optional
        How many groups of channels have offsets of their own.
    layout : str, optional
        NCHW.
    use_bias : bool, optional
        Whether a bias is added.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.
    activation : str, optional
        The name of a function on top, such as "relu".
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.
    bias_initializer : str or Initializer, optional
        The initializer of the bias.
    offset_weight_initializer : str or Initializer, optional
        The initializer of the weight of the offsets.
    offset_bias_initializer : str or Initializer, optional
        The initializer of their bias.
    offset_use_bias : bool, optional
        Whether offsets have a bias.

    Raises
    ------
    ValueError
        If numbers do not fit.
    NotImplementedError
        For another layout.

    Examples
    --------
    >>> from forerun import np
    >>> layer = ModulatedDeformableConvolution(4, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(np.ones((1, 2, 5, 6))).shape
    (1, 4, 5, 6)
    """

    _numbers = 3

    def _convolved(self, x: Array, offsets: Array, weight: Array, bias: Array) -> Array:
        offset, mask = offsets[:, : self._moves], npx.sigmoid(offsets[:, self._moves :]) * 2
        settings = self._settings | self._in_groups
        return npx.modulated_deformable_convolution(x, offset, mask, weight, bias, **settings)
