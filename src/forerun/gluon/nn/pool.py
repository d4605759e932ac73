"""Layers that pool: one number for each window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import npx
from ...ops.nn.conv_windows import channels_last, per_axis
from ..block.hybrid import HybridBlock

if TYPE_CHECKING:
    from ...typing import Array

__all__ = [
    "MaxPool1D", "MaxPool2D", "MaxPool3D", "AvgPool1D", "AvgPool2D", "AvgPool3D",
    "GlobalMaxPool1D", "GlobalMaxPool2D", "GlobalMaxPool3D", "GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalAvgPool3D",
]  # fmt: skip

Numbers = int | tuple[int, ...] | list[int]


class _Pooling(HybridBlock):
    """The base of pooling layers: the arguments of `npx.pooling`. Subclasses give the axes and the kind."""

    _axes = 0
    _kind = ""

    def __init__(self, layout: str | None, **settings: Any) -> None:
        super().__init__()
        channels_last(type(self).__name__, layout, self._axes)
        self._settings = {"layout": layout, **settings}

    def _numbers(self, name: str, value: Numbers | None, least: int) -> tuple[int, ...]:
        return per_axis(type(self).__name__, name, value, self._axes, least, least)

    def forward(self, x: Array) -> Array:
        """Return x, pooled along the extents, in its layout. ValueError if axes or extents do not fit."""
        if x.ndim != self._axes + 2:
            wanted = f"{self._axes + 2} axes (batch, channels, ...)"
            raise ValueError(f"{type(self).__name__}: data must have {wanted}, got shape {x.shape}")
        return npx.pooling(x, pool_type=self._kind, **self._settings)


class _Windowed(_Pooling):
    def __init__(
        self, pool_size: Numbers, strides: Numbers | None, padding: Numbers, layout: str | None, ceil_mode: bool,
        **settings: Any,
    ) -> None:  # fmt: skip
        kernel = self._numbers("pool_size", pool_size, 1)
        super().__init__(
            layout,
            kernel=kernel,
            stride=self._numbers("strides", strides, 1) if strides is not None else kernel,
            pad=self._numbers("padding", padding, 0),
            pooling_convention="full" if ceil_mode else "valid",
            **settings,
        )
        if any(p >= k for p, k in zip(self._settings["pad"], kernel)):
            raise ValueError(
                f"{type(self).__name__}: padding must be less than pool_size, got {self._settings['pad']} for {kernel}"
            )

    def __repr__(self) -> str:
        s = self._settings
        ceil_mode = s["pooling_convention"] == "full"
        shape = f"size={s['kernel']}, stride={s['stride']}, padding={s['pad']}, ceil_mode={ceil_mode}"
        return f"{type(self).__name__}({shape})"


class _MaxPool(_Windowed):
    _kind = "max"

    def __init__(
        self,
        pool_size: Numbers = 2,
        strides: Numbers | None = None,
        padding: Numbers = 0,
        layout: str | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(pool_size, strides, padding, layout, ceil_mode)


class MaxPool1D(_MaxPool):
    """The largest element of each window of sequences (batch, channels, width).

    Parameters
    ----------
    pool_size : int or sequence of ints, optional
        The extents of a window: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows; None for the extents of a window.
    padding : int or sequence of ints, optional
        How many elements are added on each side, less than `pool_size`.
    layout : str, optional
        NCW, or NWC with channels last.
    ceil_mode : bool, optional
        Whether windows at the end that only partly fit count too.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> MaxPool1D()(np.array([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
    [[[3.0, 2.0]]]
    """

    _axes = 1


class MaxPool2D(_MaxPool):
    """The largest element of each window of images (batch, channels, height, width).

    The gradient goes to the first of equal elements.

    Parameters
    ----------
    pool_size : int or sequence of ints, optional
        The extents of a window: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows; None for the extents of a window.
    padding : int or sequence of ints, optional
        How many elements are added on each side, less than `pool_size`.
    layout : str, optional
        NCHW, or NHWC with channels last.
    ceil_mode : bool, optional
        Whether windows at the end that only partly fit count too.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> layer = MaxPool2D(3, strides=2, padding=1)
    >>> layer(np.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    >>> layer
    MaxPool2D(size=(3, 3), stride=(2, 2), padding=(1, 1), ceil_mode=False)
    """

    _axes = 2


class MaxPool3D(_MaxPool):
    """The largest element of each window of volumes (batch, channels, depth, height, width).

    Parameters
    ----------
    pool_size : int or sequence of ints, optional
        The extents of a window: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows; None for the extents of a window.
    padding : int or sequence of ints, optional
        How many elements are added on each side, less than `pool_size`.
    layout : str, optional
        NCDHW, or NDHWC with channels last.
    ceil_mode : bool, optional
        Whether windows at the end that only partly fit count too.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> MaxPool3D()(np.ones((1, 1, 4, 4, 4))).shape
    (1, 1, 2, 2, 2)
    """

    _axes = 3


class _AvgPool(_Windowed):
    _kind = "avg"

    def __init__(
        self,
        pool_size: Numbers = 2,
        strides: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        layout: str | None = None,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(pool_size, strides, padding, layout, ceil_mode, count_include_pad=count_include_pad)


class AvgPool1D(_AvgPool):
    """The mean of each window of sequences (batch, channels, width).

    Parameters
    ----------
    pool_size : int or sequence of ints, optional
        The extents of a window: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows; None for the extents of a window.
    padding : int or sequence of ints, optional
        How many elements are added on each side, less than `pool_size`.
    ceil_mode : bool, optional
        Whether windows at the end that only partly fit count too.
    layout : str, optional
        NCW, or NWC with channels last.
    count_include_pad : bool, optional
        Whether padding counts as zeros; otherwise it does not count.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> AvgPool1D()(np.array([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
    [[[2.0, 1.0]]]
    """

    _axes = 1


class AvgPool2D(_AvgPool):
    """The mean of each window of images (batch, channels, height, width).

    Parameters
    ----------
    pool_size : int or sequence of ints, optional
        The extents of a window: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows; None for the extents of a window.
    padding : int or sequence of ints, optional
        How many elements are added on each side, less than `pool_size`.
    ceil_mode : bool, optional
        Whether windows at the end that only partly fit count too.
    layout : str, optional
        NCHW, or NHWC with channels last.
    count_include_pad : bool, optional
        Whether padding counts as zeros; otherwise it does not count.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> AvgPool2D(2, padding=1)(np.ones((1, 1, 2, 2))).tolist()
    [[[[0.25, 0.25], [0.25, 0.25]]]]
    """

    _axes = 2


class AvgPool3D(_AvgPool):
    """The mean of each window of volumes (batch, channels, depth, height, width).

    Parameters
    ----------
    pool_size : int or sequence of ints, optional
        The extents of a window: a number per axis, or one for all.
    strides : int or sequence of ints, optional
        The distances of windows; None for the extents of a window.
    padding : int or sequence of ints, optional
        How many elements are added on each side, less than `pool_size`.
    ceil_mode : bool, optional
        Whether windows at the end that only partly fit count too.
    layout : str, optional
        NCDHW, or NDHWC with channels last.
    count_include_pad : bool, optional
        Whether padding counts as zeros; otherwise it does not count.

    Raises
    ------
    ValueError
        For another layout, or if numbers do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> AvgPool3D()(np.ones((1, 1, 4, 4, 4))).shape
    (1, 1, 2, 2, 2)
    """

    _axes = 3


class _Global(_Pooling):
    def __init__(self, layout: str | None = None) -> None:
        super().__init__(layout, global_pool=True)


class GlobalMaxPool1D(_Global):
    """The largest element of each channel of sequences: (batch, channels, width) to (batch, channels, 1).

    Parameters
    ----------
    layout : str, optional
        NCW, or NWC with channels last.

    Raises
    ------
    ValueError
        For another layout.

    Examples
    --------
    >>> from forerun import np
    >>> GlobalMaxPool1D()(np.ones((2, 3, 5))).shape
    (2, 3, 1)
    """

    _axes, _kind = 1, "max"


class GlobalMaxPool2D(_Global):
    """The largest element of each channel of images: (batch, channels, height, width) to (batch, channels, 1, 1).

    Parameters
    ----------
    layout : str, optional
        NCHW, or NHWC with channels last.

    Raises
    ------
    ValueError
        For another layout.

    Examples
    --------
    >>> from forerun import np
    >>> GlobalMaxPool2D()(np.ones((2, 3, 4, 4))).shape
    (2, 3, 1, 1)
    """

    _axes, _kind = 2, "max"


class GlobalMaxPool3D(_Global):
    """The largest element of each channel of volumes, to (batch, channels, 1, 1, 1).

    Parameters
    ----------
    layout : str, optional
        NCDHW, or NDHWC with channels last.

    Raises
    ------
    ValueError
        For another layout.

    Examples
    --------
    >>> from forerun import np
    >>> GlobalMaxPool3D()(np.ones((2, 3, 4, 4, 4))).shape
    (2, 3, 1, 1, 1)
    """

    _axes, _kind = 3, "max"


class GlobalAvgPool1D(_Global):
    """The mean of each channel of sequences: (batch, channels, width) to (batch, channels, 1).

    Parameters
    ----------
    layout : str, optional
        NCW, or NWC with channels last.

    Raises
    ------
    ValueError
        For another layout.

    Examples
    --------
    >>> from forerun import np
    >>> GlobalAvgPool1D()(np.ones((2, 3, 5))).shape
    (2, 3, 1)
    """

    _axes, _kind = 1, "avg"


class GlobalAvgPool2D(_Global):
    """The mean of each channel of images: (batch, channels, height, width) to (batch, channels, 1, 1).

    Parameters
    ----------
    layout : str, optional
        NCHW, or NHWC with channels last.

    Raises
    ------
    ValueError
        For another layout.

    Examples
    --------
    >>> from forerun import np
    >>> GlobalAvgPool2D()(np.ones((2, 3, 4, 4))).shape
    (2, 3, 1, 1)
    """

    _axes, _kind = 2, "avg"


class GlobalAvgPool3D(_Global):
    """The mean of each channel of volumes, to (batch, channels, 1, 1, 1).

    Parameters
    ----------
    layout : str, optional
        NCDHW, or NDHWC with channels last.

    Raises
    ------
    ValueError
        For another layout.

    Examples
    --------
    >>> from forerun import np
    >>> GlobalAvgPool3D()(np.ones((2, 3, 4, 4, 4))).shape
    (2, 3, 1, 1, 1)
    """

    _axes, _kind = 3, "avg"
