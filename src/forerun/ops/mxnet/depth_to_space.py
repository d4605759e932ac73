"""Channels in place of pixels, and pixels in place of channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._base.convert import asarray
from ..shape.axis_order import transpose
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["depth_to_space", "space_to_depth"]


def _blocks(op: str, data: ArrayLike, block_size: int, divided: Sequence[int]) -> Array:
    x = asarray(data)
    if block_size < 1 or x.ndim != 4 or any(x.shape[a] % n for a, n in zip((1, 2, 3), divided)):
        raise ValueError(f"{op}: shape must have 4 axes that block_size divides, got {x.shape} and {block_size}")
    return x


def depth_to_space(data: ArrayLike, block_size: int) -> Array:
    """Move channels into blocks of pixels.

    Parameters
    ----------
    data : array_like
        The images, of shape (n, c, h, w).
    block_size : int
        The height and width of a block in pixels, 1 or more.

    Returns
    -------
    array
        The images, of shape (n, c / block_size**2, h * block_size, w * block_size).

    Raises
    ------
    ValueError
        If channels are not a multiple of the square of `block_size`, `data` has not 4 axes, or `block_size` is below 1.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.depth_to_space(np.arange(4).reshape(1, 4, 1, 1), 2).tolist()
    [[[[0, 1], [2, 3]]]]
    """
    b = block_size
    x = _blocks("depth_to_space", data, b, (b * b, 1, 1))
    n, c, h, w = x.shape
    apart = transpose(reshape(x, (n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
    return reshape(apart, (n, c // (b * b), h * b, w * b))


def space_to_depth(data: ArrayLike, block_size: int) -> Array:
    """Return blocks of pixels moved into channels: the inverse of `depth_to_space`.

    Parameters
    ----------
    data : array_like
        Images, of shape (n, c, h, w).
    block_size : int
        The height and width of a block, in pixels.

    Returns
    -------
    array
        The images, of shape (n, c * block_size**2, h / block_size, w / block_size).

    Raises
    ------
    ValueError
        If height and width are not multiples of `block_size`, data does not have 4 axes, or `block_size` is not
        positive.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.space_to_depth(np.arange(4).reshape(1, 1, 2, 2), 2).shape
    (1, 4, 1, 1)
    """
    b = block_size
    x = _blocks("space_to_depth", data, b, (1, b, b))
    n, c, h, w = x.shape
    apart = transpose(reshape(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
    return reshape(apart, (n, c * b * b, h // b, w // b))
