"""Layers that convolve: one filter for all places, along one to three axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import npx
from ...init import Initializer
from ...ops.nn.conv_windows import channels_last, per_axis
from ..block.hybrid import HybridBlock
from ..parameter.parameter import Parameter
from .function import Activation

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"]

Numbers = int | tuple[int, ...] | list[int]


class _Convolution(HybridBlock):
    """The base of convolutions: extents of filters, strides, weight and bias. Subclasses give the number of axes.

    Data to results: weight (channels, in_channels / groups, *kernel_size), or with the second axis last, as the data's.
    """

    _axes = 0

    _automatic = True

    def __init__(
        self,
        channels: int,
        kernel_size: Numbers,
        strides: Numbers = 1,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        groups: int = 1,
        layout: str | None = None,
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: str | Initializer | None = None,
        bias_initializer: str | Initializer | None = "zeros",
        in_channels: int = 0,
    ) -> None:
        super().__init__()
        kind = type(self).__name__
        if groups < 1 or channels < 1 or channels % groups or in_channels % groups:
            raise ValueError(
                f"{kind}: channels must be positive multiples of groups, got {channels} and {in_channels} for {groups}"
            )
        self._last = channels_last(kind, layout, self._axes)
        self._channels, self._groups = channels, groups
        self._kernel = self._numbers("kernel_size", kernel_size, 1)
        self._settings: dict[str, Any] = {
            "layout": layout,
            "stride": self._numbers("strides", strides, 1),
            "pad": self._numbers("padding", padding, 0),
            "dilate": self._numbers("dilation", dilation, 1),
        }
        shape = self._weight_shape(in_channels)
        self.weight = Parameter("weight", shape=shape, init=weight_initializer, allow_deferred_init=True)
        self.bias = Parameter("bias", shape=(channels,), init=bias_initializer) if use_bias else None
        self.act = Activation(activation) if activation is not None else None

    def _numbers(self, name: str, value: Numbers, least: int) -> tuple[int, ...]:
        return per_axis(type(self).__name__, name, value, self._axes, least, least)

    def _weight_shape(self, in_channels: int) -> tuple[int, ...]:
        """Return the weight's shape; 0 input channels are not known yet."""
        return self._ordered(self._channels, in_channels // self._groups)

    def _ordered(self, first: int, second: int) -> tuple[int, ...]:
        """Return a weight's shape, of its two numbers of channels: the second one is where the data's is."""
        return (first, *self._kernel, second) if self._last else (first, second, *self._kernel)

    def _in_channels(self) -> int:
        """Return the input channels that the weight is for; -1 if it is not known yet."""
        known = (self.weight.shape or (-1, -1))[-1 if self._last else 1]
        return known * self._groups if known > 0 else -1

    def _check(self, x: Array) -> None:
        kind, wanted = type(self).__name__, self._in_channels()
        if x.ndim != self._axes + 2:
            axes = f"{self._axes + 2} axes " + ("(batch, ..., channels)" if self._last else "(batch, channels, ...)")
            raise ValueError(f"{kind}: data must have {axes}, got shape {x.shape}")
        if (wanted != -1 and self._of(x) != wanted) or self._of(x) % self._groups:
            expected = wanted if wanted != -1 else f"a multiple of {self._groups}"
            raise ValueError(f"{kind}: data must have {expected} channels, got shape {x.shape}")

    def _of(self, x: Array) -> int:
        """Return how many channels data has."""
        channels: int = x.shape[-1 if self._last else 1]
        return channels

    def infer_shape(self, x: Array) -> None:
        """Take in_channels from the data."""
        self._check(x)
        self.weight.shape = self._weight_shape(self._of(x))

    def forward(self, x: Array) -> Array:
        """Map x (batch, in, *extents) to (batch, channels, ...), or with channels last.

        ValueError if they do not fit.
        """
        self._check(x)
        bias = self.bias.data(x.device) if self.bias is not None else None
        y = self._convolve(x, self.weight.data(x.device), bias)
        activated: Array = self.act(y) if self.act is not None else y
        return activated

    def _convolve(self, x: Array, weight: Array, bias: Array | None) -> Array:
        return npx.convolution(x, weight, bias, num_group=self._groups, **self._settings)

    def __repr__(self) -> str:
        plain = {"pad": 0, "dilate": 1, "adj": 0}
        names = {"pad": "padding", "dilate": "dilation", "adj": "output_padding"}
        facts = [f"kernel_size={self._kernel}", f"stride={self._settings['stride']}"]
        facts += [f"{names[k]}={v}" for k, v in self._settings.items() if k in plain and set(v) != {plain[k]}]
        facts += [f"groups={self._groups}"] if self._groups != 1 else []
        facts += ["bias=False"] if self.bias is None else []
        facts += [repr(self.act)] if self.act is not None else []
        return f"{type(self).__name__}({self._in_channels()} -> {self._channels}, {', '.join(facts)})"


class Conv1D(_Convolution):
    """Convolves sequences (batch, channels, width).

    Weight (channels, in_channels / groups, width), bias (channels,).

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    kernel_size : int or sequence of ints
        The extents of the kernel: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows.
    padding : int or sequence of ints, optional
        How many zeros are added on each side.
    dilation : int or sequence of ints, optional
        The distances of the kernel's elements.
    groups : int, optional
        How many groups of channels are convolved by themselves, as in `npx.convolution`.
    layout : str, optional
        NCW, or NWC with channels last.
    activation : str, optional
        The name of a function on top, such as "relu".
    use_bias : bool, optional
        Whether a bias is added.
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.
    bias_initializer : str or Initializer, optional
        The initializer of the bias.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> layer = Conv1D(4, 3, padding=1)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 8))).shape
    (2, 4, 8)
    """

    _axes = 1


class Conv2D(_Convolution):
    """Convolves images (batch, channels, height, width).

    Weight (channels, in_channels / groups, height, width), bias (channels,).

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    kernel_size : int or sequence of ints
        The extents of the kernel: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows.
    padding : int or sequence of ints, optional
        How many zeros are added on each side.
    dilation : int or sequence of ints, optional
        The distances of the kernel's elements.
    groups : int, optional
        How many groups of channels are convolved by themselves, as in `npx.convolution`.
    layout : str, optional
        NCHW, or NHWC with channels last: then the weight has them last as well.
    activation : str, optional
        The name of a function on top, such as "relu".
    use_bias : bool, optional
        Whether a bias is added.
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.
    bias_initializer : str or Initializer, optional
        The initializer of the bias.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> layer = Conv2D(6, kernel_size=5, padding=2, activation="relu")
    >>> layer.initialize()
    >>> layer(np.ones((2, 1, 28, 28))).shape
    (2, 6, 28, 28)
    >>> layer
    Conv2D(1 -> 6, kernel_size=(5, 5), stride=(1, 1), padding=(2, 2), Activation(relu))
    """

    _axes = 2


class Conv3D(_Convolution):
    """Convolves volumes (batch, channels, depth, height, width).

    Weight (channels, in_channels / groups, depth, height, width), bias (channels,).

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    kernel_size : int or sequence of ints
        The extents of the kernel: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows.
    padding : int or sequence of ints, optional
        How many zeros are added on each side.
    dilation : int or sequence of ints, optional
        The distances of the kernel's elements.
    groups : int, optional
        How many groups of channels are convolved by themselves, as in `npx.convolution`.
    layout : str, optional
        NCDHW, or NDHWC with channels last.
    activation : str, optional
        The name of a function on top, such as "relu".
    use_bias : bool, optional
        Whether a bias is added.
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.
    bias_initializer : str or Initializer, optional
        The initializer of the bias.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> layer = Conv3D(2, 2)
    >>> layer.initialize()
    >>> layer(np.ones((1, 3, 4, 4, 4))).shape
    (1, 2, 3, 3, 3)
    """

    _axes = 3


class _ConvTranspose(_Convolution):
    """Results back to data: weight (in_channels, channels / groups, *kernel_size)."""

    def __init__(
        self,
        channels: int,
        kernel_size: Numbers,
        strides: Numbers = 1,
        padding: Numbers = 0,
        output_padding: Numbers = 0,
        dilation: Numbers = 1,
        groups: int = 1,
        layout: str | None = None,
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: str | Initializer | None = None,
        bias_initializer: str | Initializer | None = "zeros",
        in_channels: int = 0,
    ) -> None:
        super().__init__(
            channels, kernel_size, strides, padding, dilation, groups, layout, activation, use_bias,
            weight_initializer, bias_initializer, in_channels,
        )  # fmt: skip
        more = self._numbers("output_padding", output_padding, 0)
        if any(m >= s for m, s in zip(more, self._settings["stride"])):
            raise ValueError(
                f"{type(self).__name__}: output_padding must be less than strides, "
                f"got {more} for {self._settings['stride']}"
            )
        self._settings["adj"] = more

    def _weight_shape(self, in_channels: int) -> tuple[int, ...]:
        return self._ordered(in_channels, self._channels // self._groups)

    def _in_channels(self) -> int:
        return (self.weight.shape or (-1,))[0]

    def _convolve(self, x: Array, weight: Array, bias: Array | None) -> Array:
        return npx.deconvolution(x, weight, bias, num_group=self._groups, **self._settings)


class Conv1DTranspose(_ConvTranspose):
    """The transposed convolution of sequences (batch, channels, width): the gradient of `Conv1D`.

    The result has (extent - 1) * strides - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1 elements
    along an axis. Weight (in_channels, channels / groups, width), bias (channels,).

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    kernel_size : int or sequence of ints
        The extents of the kernel: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows.
    padding : int or sequence of ints, optional
        How many zeros are added on each side.
    output_padding : int or sequence of ints, optional
        How many elements the result has more at its end, less than strides.
    dilation : int or sequence of ints, optional
        The distances of the kernel's elements.
    groups : int, optional
        How many groups of channels are convolved by themselves, as in `npx.convolution`.
    layout : str, optional
        NCW, or NWC with channels last.
    activation : str, optional
        The name of a function on top, such as "relu".
    use_bias : bool, optional
        Whether a bias is added.
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.
    bias_initializer : str or Initializer, optional
        The initializer of the bias.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> layer = Conv1DTranspose(4, 4, strides=2, padding=1)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 8))).shape
    (2, 4, 16)
    """

    _axes = 1


class Conv2DTranspose(_ConvTranspose):
    """The transposed convolution of images (batch, channels, height, width): the gradient of `Conv2D`.

    The result has (extent - 1) * strides - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1 elements
    along an axis. Weight (in_channels, channels / groups, height, width), bias (channels,).

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    kernel_size : int or sequence of ints
        The extents of the kernel: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows.
    padding : int or sequence of ints, optional
        How many zeros are added on each side.
    output_padding : int or sequence of ints, optional
        How many elements the result has more at its end, less than strides.
    dilation : int or sequence of ints, optional
        The distances of the kernel's elements.
    groups : int, optional
        How many groups of channels are convolved by themselves, as in `npx.convolution`.
    layout : str, optional
        NCHW, or NHWC with channels last: then the weight has them last as well.
    activation : str, optional
        The name of a function on top, such as "relu".
    use_bias : bool, optional
        Whether a bias is added.
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.
    bias_initializer : str or Initializer, optional
        The initializer of the bias.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> layer = Conv2DTranspose(3, 4, strides=2, padding=1, in_channels=2)
    >>> layer.initialize()
    >>> layer(np.ones((1, 2, 8, 8))).shape
    (1, 3, 16, 16)
    >>> layer.weight
    Parameter weight (shape=(2, 3, 4, 4), dtype=float32)
    """

    _axes = 2


class Conv3DTranspose(_ConvTranspose):
    """The transposed convolution of volumes (batch, channels, depth, height, width).

    The result has (extent - 1) * strides - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1 elements
    along an axis. Weight (in_channels, channels / groups, depth, height, width), bias (channels,).

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    kernel_size : int or sequence of ints
        The extents of the kernel: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows.
    padding : int or sequence of ints, optional
        How many zeros are added on each side.
    output_padding : int or sequence of ints, optional
        How many elements the result has more at its end, less than strides.
    dilation : int or sequence of ints, optional
        The distances of the kernel's elements.
    groups : int, optional
        How many groups of channels are convolved by themselves, as in `npx.convolution`.
    layout : str, optional
        NCDHW, or NDHWC with channels last.
    activation : str, optional
        The name of a function on top, such as "relu".
    use_bias : bool, optional
        Whether a bias is added.
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.
    bias_initializer : str or Initializer, optional
        The initializer of the bias.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> layer = Conv3DTranspose(2, 2, strides=2)
    >>> layer.initialize()
    >>> layer(np.ones((1, 3, 4, 4, 4))).shape
    (1, 2, 8, 8, 8)
    """

    _axes = 3
