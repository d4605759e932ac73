"""Layers that make data larger at its edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from ... import np
from ..block.hybrid import HybridBlock

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["ReflectionPad2D"]


class ReflectionPad2D(HybridBlock):
    """Adds rows and columns around images (batch, channels, height, width), mirrored at the outermost ones.

    Parameters
    ----------
    padding : int or sequence of ints, optional
        How many on each side; or eight numbers, before and after for each of the four axes, of which the first four are
        0.

    Raises
    ------
    ValueError
        If one is negative, or for another number of them.

    Examples
    --------
    >>> from forerun import np
    >>> ReflectionPad2D(1)(np.arange(4.0).reshape(1, 1, 2, 2)).tolist()
    [[[[3.0, 2.0, 3.0, 2.0], [1.0, 0.0, 1.0, 0.0], [3.0, 2.0, 3.0, 2.0], [1.0, 0.0, 1.0, 0.0]]]]
    """

    def __init__(self, padding: int | Sequence[int] = 0) -> None:
        super().__init__()
        several = (0, 0, 0, 0, *(padding,) * 4) if isinstance(padding, int) else tuple(padding)
        if len(several) != 8 or any(several[:4]) or min(several) < 0:
            raise ValueError(
                f"ReflectionPad2D: padding must be a number or eight, none below 0 and four zeros first, got {padding}"
            )
        self._padding = several[4:]

    def forward(self, x: Array) -> Array:
        """Return x with more rows and columns. ValueError unless it has four axes, with more elements than padding."""
        top, bottom, left, right = self._padding
        if x.ndim != 4 or max(top, bottom) >= x.shape[2] or max(left, right) >= x.shape[3]:
            wanted = f"4 axes, the last two longer than the padding {self._padding}"
            raise ValueError(f"ReflectionPad2D: data must have {wanted}, got shape {x.shape}")
        rows = numpy.pad(numpy.arange(x.shape[2]), (top, bottom), "reflect")
        columns = numpy.pad(numpy.arange(x.shape[3]), (left, right), "reflect")
        return np.take(np.take(x, rows, axis=2), columns, axis=3)

    def __repr__(self) -> str:
        return f"ReflectionPad2D({self._padding})"
