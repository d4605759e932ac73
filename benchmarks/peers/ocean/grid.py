"""The grid of the programs, and slices of it."""

from __future__ import annotations

import math
from typing import Any

import numpy

Key = tuple[Any, ...]


def shape(elements: int) -> tuple[int, int, int]:
    """East, north and levels: about so many cells, eight times as wide as deep."""
    edge = elements ** (1 / 3)
    return math.ceil(2 * edge), math.ceil(2 * edge), math.ceil(edge / 4)


def mask(generator: numpy.random.Generator, shape: tuple[int, ...]) -> numpy.ndarray:
    """One in the water, which is four fifths of all cells, zero on land."""
    return (generator.random(shape) < 0.8).astype("float64")


def spacings(generator: numpy.random.Generator, *extents: int) -> list[numpy.ndarray]:
    """Widths of cells along an axis, or cosines of latitudes: factors around one."""
    return [generator.uniform(0.5, 1.5, n) for n in extents]


def on(axis: int, along: slice, across: slice, levels: Any = slice(None)) -> Key:
    """The key of a box: a slice along the axis, which is 0 or 1, one across it, and levels."""
    return (along, across, levels) if axis == 0 else (across, along, levels)


def column(x: Any, axis: int, part: slice = slice(None)) -> Any:
    """A part of factors along an axis, ready to be broadcast over the other two."""
    return x[tuple(part if i == axis else None for i in range(3))]


def moved(axis: int, start: int, stop: int | None) -> Key:
    """The key of all cells from start to stop along an axis."""
    return tuple(slice(start, stop) if i == axis else slice(None) for i in range(3))
