"""The blocks of residual networks: He et al. 2015 (v1), and with norms before the convolutions, He et al. 2016 (v2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .... import npx
from ... import nn
from ...block.block import Block
from ...block.hybrid import HybridBlock
from .parts import conv_norm, row

if TYPE_CHECKING:
    from ....typing import Array

__all__ = ["BasicBlockV1", "BasicBlockV2", "BottleneckV1", "BottleneckV2"]


class _BlockV1(HybridBlock):
    """relu(body(x) + x), where x is convolved too if its shape changes. Subclasses make the body."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0) -> None:
        super().__init__()
        self.body = row(*self.convolutions(channels, stride, in_channels))
        through = conv_norm(channels, 1, stride, act=None, in_channels=in_channels) if downsample else None
        self.downsample = row(*through) if through else None

    @staticmethod
    def convolutions(channels: int, stride: int, in_channels: int) -> list[Block]:
        """Return the layers of the body."""
        raise NotImplementedError

    def forward(self, x: Array) -> Any:
        """Map images to images."""
        return npx.relu(self.body(x) + (self.downsample(x) if self.downsample is not None else x))


class BasicBlockV1(_BlockV1):
    """A residual block of two convolutions of 3 x 3, of which the first has the stride (He et al. 2015).

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    stride : int
        The stride of the convolution that makes images smaller.
    downsample : bool, optional
        Whether x is convolved as well, as it must be where its shape changes.
    in_channels : int, optional
        The number of channels of x; 0 is inferred from the first data.

    Examples
    --------
    >>> from forerun import np
    >>> block = BasicBlockV1(8, 2, downsample=True)
    >>> block.initialize()
    >>> block(np.ones((1, 4, 8, 8))).shape
    (1, 8, 4, 4)
    """

    @staticmethod
    def convolutions(channels: int, stride: int, in_channels: int) -> list[Block]:
        """Return the layers of the body, in order.

        Parameters
        ----------
        channels : int
            The number of channels of the result.
        stride : int
            The stride of the block.
        in_channels : int
            The number of channels of the images; 0 is inferred from the first data.

        Returns
        -------
        list of Block
            Convolutions, norms and activations.

        Examples
        --------
        >>> [type(layer).__name__ for layer in BasicBlockV1.convolutions(8, 2, 0)]
        ['Conv2D', 'BatchNorm', 'Activation', 'Conv2D', 'BatchNorm']
        """
        return conv_norm(channels, 3, stride, 1, in_channels=in_channels) + conv_norm(channels, 3, 1, 1, act=None)


class BottleneckV1(_BlockV1):
    """A residual block of convolutions of 1 x 1 to a quarter of the channels, with the stride, of 3 x 3, and of 1 x 1
    back.

    After He et al. 2015.

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    stride : int
        The stride of the convolution that makes images smaller.
    downsample : bool, optional
        Whether x is convolved as well, as it must be where its shape changes.
    in_channels : int, optional
        The number of channels of x; 0 is inferred from the first data.

    Examples
    --------
    >>> from forerun import np
    >>> block = BottleneckV1(8, 2, downsample=True)
    >>> block.initialize()
    >>> block(np.ones((1, 4, 8, 8))).shape
    (1, 8, 4, 4)
    """

    @staticmethod
    def convolutions(channels: int, stride: int, in_channels: int) -> list[Block]:
        """Return the layers of the body, in order.

        Parameters
        ----------
        channels : int
            The number of channels of the result.
        stride : int
            The stride of the block.
        in_channels : int
            The number of channels of the images; 0 is inferred from the first data.

        Returns
        -------
        list of Block
            Convolutions, norms and activations.

        Examples
        --------
        >>> [type(layer).__name__ for layer in BottleneckV1.convolutions(8, 2, 0)]
        ['Conv2D', 'BatchNorm', 'Activation', 'Conv2D', 'BatchNorm', 'Activation', 'Conv2D', 'BatchNorm']
        """
        few = channels // 4
        first = conv_norm(few, 1, stride, use_bias=True, in_channels=in_channels)
        return first + conv_norm(few, 3, 1, 1) + conv_norm(channels, 1, act=None, use_bias=True)


class _BlockV2(HybridBlock):
    """x plus convolutions, with norm and relu before each; subclasses say which: (channels, kernel, stride)."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0) -> None:
        super().__init__()
        kinds = self.convolutions(channels, stride)
        width = in_channels
        for i, (n, kernel, step) in enumerate(kinds, 1):
            setattr(self, f"bn{i}", nn.BatchNorm(in_channels=width))
            conv = nn.Conv2D(n, kernel, step, kernel // 2, use_bias=False, in_channels=width)
            setattr(self, f"conv{i}", conv)
            width = n if in_channels else 0
        self._pairs = [(getattr(self, f"bn{i}"), getattr(self, f"conv{i}")) for i in range(1, len(kinds) + 1)]
        through = nn.Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels) if downsample else None
        self.downsample = through

    @staticmethod
    def convolutions(channels: int, stride: int) -> list[tuple[int, int, int]]:
        """Channels, kernel and stride of each convolution."""
        raise NotImplementedError

    def forward(self, x: Array) -> Any:
        """Map images to images."""
        short = x
        for i, (norm, conv) in enumerate(self._pairs):
            x = npx.relu(norm(x))
            if i == 0 and self.downsample is not None:
                short = self.downsample(x)
            x = conv(x)
        return x + short


class BasicBlockV2(_BlockV2):
    """A residual block of two convolutions of 3 x 3, of which the first has the stride, with norms before them.

    After He et al. 2016.

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    stride : int
        The stride of the convolution that makes images smaller.
    downsample : bool, optional
        Whether x is convolved as well, as it must be where its shape changes.
    in_channels : int, optional
        The number of channels of x; 0 is inferred from the first data.

    Examples
    --------
    >>> from forerun import np
    >>> block = BasicBlockV2(8, 2, downsample=True)
    >>> block.initialize()
    >>> block(np.ones((1, 4, 8, 8))).shape
    (1, 8, 4, 4)
    """

    @staticmethod
    def convolutions(channels: int, stride: int) -> list[tuple[int, int, int]]:
        """Return channels, kernel and stride of each convolution.

        Parameters
        ----------
        channels : int
            The number of channels of the result.
        stride : int
            The stride of the block.

        Returns
        -------
        list of tuples of int
            The three numbers of each convolution.

        Examples
        --------
        >>> BasicBlockV2.convolutions(8, 2)
        [(8, 3, 2), (8, 3, 1)]
        """
        return [(channels, 3, stride), (channels, 3, 1)]


class BottleneckV2(_BlockV2):
    """A residual block of convolutions of 1 x 1 to a quarter of the channels, of 3 x 3 with the stride, and of 1 x 1
    back.

    Norms come before the convolutions (He et al. 2016).

    Parameters
    ----------
    channels : int
        The number of channels of the result.
    stride : int
        The stride of the convolution that makes images smaller.
    downsample : bool, optional
        Whether x is convolved as well, as it must be where its shape changes.
    in_channels : int, optional
        The number of channels of x; 0 is inferred from the first data.

    Examples
    --------
    >>> from forerun import np
    >>> block = BottleneckV2(8, 2, downsample=True)
    >>> block.initialize()
    >>> block(np.ones((1, 4, 8, 8))).shape
    (1, 8, 4, 4)
    """

    @staticmethod
    def convolutions(channels: int, stride: int) -> list[tuple[int, int, int]]:
        """Return channels, kernel and stride of each convolution.

        Parameters
        ----------
        channels : int
            The number of channels of the result.
        stride : int
            The stride of the block.

        Returns
        -------
        list of tuples of int
            The three numbers of each convolution.

        Examples
        --------
        >>> BottleneckV2.convolutions(8, 2)
        [(2, 1, 1), (2, 3, 2), (8, 1, 1)]
        """
        return [(channels // 4, 1, 1), (channels // 4, 3, stride), (channels, 1, 1)]
