"""Mixing along surfaces of neutral density, after Griffies: slopes of these surfaces, and diffusivities from them.

Slopes are at the eastern, northern and upper faces of cells. Each is found from four triads: the gradient of density
along the face's axis over the gradient across it, with the density of two neighbours and the gradient at two ends.
"""

from __future__ import annotations

from typing import Any

import numpy

from . import grid

DENSITY, GRAVITY = 1024.0, 9.81
WARMEST = 283.0 - 273.15  # where the thermal expansion below is EXPANSION
EXPANSION, EXPANSION_SLOPE, COMPRESSION = 1.67e-4, 1e-5, 1.1e-8
CONTRACTION = 0.78e-3  # by salinity
LEAST = 1e-20
STEEPEST, TAPER = 1e-3, 1e-3  # the slope above which mixing fades, and how fast
STEEP_MIXING = 50.0
NOW = 0  # the time level that is read
TOLERANCE = 1e-12  # beside NumPy's
INNER = slice(2, -2)


def inputs(elements: int, generator: numpy.random.Generator) -> list[numpy.ndarray]:
    """Masks, spacings, cosines, tracers at three times, and outputs: diffusivities and slopes."""
    shape = grid.shape(elements)
    x, y, z = shape
    masks = [grid.mask(generator, shape) for _ in range(4)]
    spacings = grid.spacings(generator, x, x, y, y, z, z, y, y)
    tracers = [generator.standard_normal((*shape, 3)) for _ in range(2)]
    mixing = [generator.standard_normal(shape) for _ in range(4)]
    slopes = [numpy.zeros((*shape, 2, 2)) for _ in range(4)]
    return [*masks, *spacings, *tracers, numpy.sort(generator.uniform(-5000, 0, z)), *mixing, *slopes]


def compute(
    peer: Any, cells: Any, east: Any, north: Any, top: Any, dxt: Any, dxu: Any, dyt: Any, dyu: Any, dzt: Any,
    dzw: Any, cosine: Any, cosine_north: Any, salt: Any, heat: Any, depth: Any, mixing: Any, k_east: Any,
    k_north: Any, k_top: Any, slope_east: Any, slope_north: Any, slope_top_x: Any, slope_top_y: Any,
) -> list[Any]:  # fmt: skip
    """Diffusivities of the three faces, and the slopes: (cell, neighbour, end)."""
    xp = peer.xp
    salt, heat, depth = salt[..., NOW], heat[..., NOW], xp.abs(depth)
    warmth = EXPANSION_SLOPE * (heat - WARMEST) + EXPANSION * (1 + COMPRESSION * GRAVITY * depth * DENSITY)
    by_heat = cells * (-warmth * DENSITY)
    by_salt = cells * (CONTRACTION * DENSITY * xp.ones_like(heat))

    widths = [
        grid.column(dxu, 0, slice(-1)) * grid.column(cosine, 1),
        grid.column(dyu, 1, slice(-1)),
        grid.column(dzw, 2, slice(-1)),
    ]

    def gradient(tracer: Any, mask: Any, axis: int) -> Any:
        """At the faces of an axis; zero beyond the last."""
        low, high = grid.moved(axis, 0, -1), grid.moved(axis, 1, None)
        return peer.put(xp.zeros_like(mask), low, mask[low] * (tracer[high] - tracer[low]) / widths[axis])

    heat_by, salt_by = (
        [gradient(tracer, mask, axis) for axis, mask in enumerate((east, north, top))] for tracer in (heat, salt)
    )

    def change(cell: grid.Key, axis: int, face: grid.Key) -> Any:
        """Of density along an axis at a face, with a cell's dependence on heat and salt."""
        return by_heat[cell] * heat_by[axis][face] + by_salt[cell] * salt_by[axis][face]

    def tapered(across: Any, along: Any) -> tuple[Any, Any]:
        """A slope, and the factor that lets steep ones fade."""
        slope = -across / (xp.minimum(0.0, along) - LEAST)
        return slope, 0.5 * (1.0 + xp.tanh((-xp.abs(slope) + STEEPEST) / TAPER))

    def side(axis: int, mask: Any, k: Any, slopes: Any) -> list[Any]:
        """The eastern or northern faces."""
        box = lambda along, levels=slice(None): grid.on(axis, along, INNER, levels)
        here, there = slice(1, -2), slice(2, -1)
        low, high = slice(None, -1), slice(1, None)
        mean = 0.25 * (
            mixing[box(here, high)] + mixing[box(here, low)] + mixing[box(there, high)] + mixing[box(there, low)]
        )
        between = peer.put(xp.zeros_like(k), box(here, high), mean)
        between = peer.put(between, box(here, 0), 0.5 * (mixing[box(here, 0)] + mixing[box(there, 0)]))
        total = xp.zeros_like(k)[box(here)]
        for end in range(2):
            levels, above = slice(1 - end, None), slice(None, end - 1 or None)
            face = box(here, levels)
            for neighbour in range(2):
                shifted = slice(1 + neighbour, neighbour - 2)
                cell = box(shifted, levels)
                slope, taper = tapered(change(cell, axis, face), change(cell, 2, box(shifted, above)))
                share = xp.maximum(STEEP_MIXING, between[face] * taper)
                total = peer.add(total, (..., levels), grid.column(dzw, 2, above) * mask[face] * share)
                slopes = peer.put(slopes, (*face, neighbour, end), taper * slope * mask[face])
        return [peer.put(k, box(here), total / (4.0 * grid.column(dzt, 2))), slopes]

    def upper(k: Any, *slopes: Any) -> list[Any]:
        """The upper faces."""
        face = (INNER, INNER, slice(None, -1))
        found = list(slopes)
        total = [xp.zeros_like(k)[face] for _ in range(2)]
        for end in range(2):
            levels = slice(end, end - 1 or None)
            cell = (INNER, INNER, levels)
            along = change(cell, 2, face)
            for axis, width in enumerate((dxu, cosine_north * dyu)):
                for neighbour in range(2):
                    shifted = slice(1 + neighbour, neighbour - 3)
                    slope, taper = tapered(change(cell, axis, grid.on(axis, shifted, INNER, levels)), along)
                    share = grid.column(width, axis, shifted) * mixing[face] * taper * slope**2 * top[face]
                    total[axis] = peer.add(total[axis], ..., share)
                    key = (*face, neighbour, end)
                    found[axis] = peer.put(found[axis], key, taper * slope * top[face])
        rows = 4 * grid.column(dyt, 1, INNER) * grid.column(cosine, 1, INNER)
        k = peer.put(k, face, total[0] / (4 * grid.column(dxt, 0, INNER)) + total[1] / rows)
        return [peer.put(k, (INNER, INNER, -1), 0.0), *found]

    return [
        *side(0, east, k_east, slope_east),
        *side(1, north, k_north, slope_north),
        *upper(k_top, slope_top_x, slope_top_y),
    ]
