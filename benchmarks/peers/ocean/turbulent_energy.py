"""A step of turbulent kinetic energy.

Mixing and dissipation along each column, solved implicitly; then diffusion to the sides, and advection with the
superbee limiter, stepped after Adams and Bashforth.
"""

from __future__ import annotations

from typing import Any

import numpy

from . import grid

STEP = 1.0  # seconds
DISSIPATION, DIFFUSIVITY = 0.7, 2000.0
IMPLICIT = 1.0  # part of the vertical mixing
DAMPING = 0.1
LEAST = 1e-20
NOW, NEXT, BEFORE = 0, 1, 2  # time levels
TOLERANCE = 1e-12  # beside NumPy's
INNER = slice(2, -2)
ALL = slice(None)
COLUMNS = (INNER, INNER)


def inputs(elements: int, generator: numpy.random.Generator) -> list[numpy.ndarray]:
    """Velocities at three times, masks, spacings, cosines, the bottom's level, and the forcing of the energy."""
    shape = grid.shape(elements)
    x, y, z = shape
    velocities = [generator.standard_normal((*shape, 3)) for _ in range(3)]
    masks = [grid.mask(generator, shape) for _ in range(3)]
    spacings = grid.spacings(generator, x, x, y, y, z, z, y, y)
    bottom = generator.integers(0, z, (x, y))
    viscosity, length = (generator.uniform(0.5, 1.5, shape) for _ in range(2))
    forcing, surface = generator.standard_normal(shape), generator.standard_normal((x, y))
    energy, tendency = (generator.standard_normal((*shape, 3)) for _ in range(2))
    return [*velocities, *masks, *spacings, bottom, viscosity, length, forcing, surface, energy, tendency]


def superbee(peer: Any, velocity: Any, x: Any, mask: Any, width: Any, axis: int, factor: Any = 1) -> Any:
    """Return the flux of an advected quantity along an axis, at inner faces: upwind or centred, by the smoothness."""
    xp = peer.xp
    if axis == 2:
        velocity, x, mask = (padded(peer, y) for y in (velocity, x, mask))
    steps = [slice(1 + n, n - 2 or None) for n in range(-1, 3)]
    behind, here, ahead, beyond = ((*COLUMNS, step) if axis == 2 else grid.on(axis, step, INNER) for step in steps)
    flow = factor * velocity[here]
    courant = xp.abs(flow * STEP / width)
    after = (x[beyond] - x[ahead]) * mask[ahead]
    jump = (x[ahead] - x[here]) * mask[here]
    before = (x[here] - x[behind]) * mask[behind]
    upwind = xp.where(velocity[here] > 0.0, before, after)
    ratio = upwind / xp.where(xp.abs(jump) < LEAST, LEAST, jump)
    limit = xp.maximum(0.0, xp.maximum(xp.minimum(1.0, 2 * ratio), xp.minimum(2.0, ratio)))
    return flow * (x[ahead] + x[here]) * 0.5 - xp.abs(flow) * ((1.0 - limit) + courant * limit) * jump * 0.5


def padded(peer: Any, x: Any) -> Any:
    """With a level of zeros above and below."""
    levels = peer.xp.zeros((*x.shape[:2], x.shape[2] + 2), dtype=x.dtype)
    return peer.put(levels, (ALL, ALL, slice(1, -1)), x)


def compute(
    peer: Any, u: Any, v: Any, w: Any, east: Any, north: Any, top: Any, dxt: Any, dxu: Any, dyt: Any, dyu: Any,
    dzt: Any, dzw: Any, cosine: Any, cosine_north: Any, bottom: Any, viscosity: Any, length: Any, forcing: Any,
    surface: Any, energy: Any, tendency: Any,
) -> list[Any]:  # fmt: skip
    """Energy and tendency at all time levels, and the flux at the surface."""
    xp = peer.xp
    put, add, column = peer.put, peer.add, grid.column
    now = energy[..., NOW]
    inner = (*COLUMNS, ALL)
    low, high = slice(None, -1), slice(1, None)
    half = 0.5 * dzw[-1]  # the uppermost box is half as thick
    thick = put(1 * dzw, -1, half)

    # Mixing and dissipation, a system of equations for each column.
    through = xp.zeros_like(top[COLUMNS])  # between a level and the next
    between = viscosity[(*COLUMNS, low)] + viscosity[(*COLUMNS, high)]
    through = put(through, (..., low), STEP / column(dzt, 2, high) * IMPLICIT * 0.5 * between)
    decay = STEP * DISSIPATION * xp.sqrt(xp.maximum(0.0, now[inner])) / length[inner]
    deepest = 1 + through / column(thick, 2) + decay
    lower = put(xp.zeros_like(through), (..., high), -through[..., low] / column(thick, 2, high))
    diagonal = put(1 * deepest, (..., high), deepest[..., high] - lower[..., high])
    upper = -through / column(thick, 2)
    right = now[inner] + STEP * forcing[inner]
    right = add(right, (..., -1), STEP * surface[COLUMNS] / half)
    floor = (bottom[COLUMNS] - 1)[:, :, None]
    level = xp.arange(top.shape[2])
    is_floor = (floor >= 0) & (level == floor)
    is_water = (floor >= 0) & (level >= floor)
    lower = put(is_water * lower * ~is_floor, (..., 0), 0.0)
    upper = put(is_water * upper, (..., -1), 0.0)
    diagonal = xp.where(is_floor, deepest, xp.where(is_water, diagonal, 1.0))
    solved = peer.tridiagonal(lower, diagonal, upper, is_water * right)
    following = (*inner, NEXT)
    energy = put(energy, following, xp.where(is_water, solved, energy[following]))

    # No energy below zero at the surface.
    uppermost = (*COLUMNS, -1, NEXT)
    lack = xp.where(energy[uppermost] < 0.0, -energy[uppermost] * half / STEP, 0.0)
    added = put(xp.zeros_like(surface), COLUMNS, lack)
    energy = put(energy, uppermost, xp.maximum(0.0, energy[uppermost]))

    def spread(flux_east: Any, flux_north: Any) -> Any:
        """Return the flux out of a cell by its sides."""
        across = column(cosine, 1, INNER)
        of_east = (flux_east[inner] - flux_east[(slice(1, -3), INNER)]) / (across * column(dxt, 0, INNER))
        of_north = (flux_north[inner] - flux_north[(INNER, slice(1, -3))]) / (across * column(dyt, 1, INNER))
        return of_east + of_north

    # Diffusion to the sides.
    fluxes = []
    for axis, mask in enumerate((east, north)):
        near, far = grid.moved(axis, 0, -1), grid.moved(axis, 1, None)
        jump = DIFFUSIVITY * (now[far] - now[near])
        if axis == 0:
            flux = jump / (column(cosine, 1) * column(dxu, 0, low)) * mask[near]
        else:
            flux = jump / column(dyu, 1, low) * mask[near] * column(cosine_north, 1, low)
        fluxes.append(put(xp.zeros_like(top), near, flux))
    energy = add(energy, following, STEP * top[inner] * spread(*fluxes))

    # Advection.
    within = slice(1, -2)
    widths = [
        column(cosine, 1, INNER) * column(dxt, 0, within),
        column(cosine * dyt, 1, within),
        column(dzw, 2, low),
    ]
    places = [grid.on(0, within, INNER), grid.on(1, within, INNER), (*COLUMNS, low)]
    factors = [1, column(cosine_north, 1, within), 1]
    fluxes = []
    for axis, velocity in enumerate((u, v, w)):
        near, far = grid.moved(axis, 0, -1), grid.moved(axis, 1, None)
        both = put(xp.zeros_like(top), near, top[far] * top[near])
        flux = superbee(peer, velocity[..., NOW], now, both, widths[axis], axis, factors[axis])
        fluxes.append(put(xp.zeros_like(top), places[axis], flux))
    *sides, flux_top = fluxes
    tendency = put(tendency, (*inner, NOW), top[inner] * -spread(*sides))
    tendency = add(tendency, (ALL, ALL, 0, NOW), -flux_top[..., 0] / dzw[0])
    rise = flux_top[..., high] - flux_top[..., low]
    tendency = add(tendency, (ALL, ALL, high, NOW), -rise / column(thick, 2, high))

    moved = (1.5 + DAMPING) * tendency[..., NOW] - (0.5 + DAMPING) * tendency[..., BEFORE]
    return [add(energy, (..., NEXT), STEP * moved), tendency, added]
