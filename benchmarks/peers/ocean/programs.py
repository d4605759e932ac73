"""The rows with ocean physics, for peers that have float64, slices and NumPy's names."""

from __future__ import annotations

from typing import Any

from base import Program, Rows

from . import equation_of_state, isoneutral_mixing, turbulent_energy

PROGRAMS: dict[str, Any] = {
    "state": equation_of_state,
    "mixing": isoneutral_mixing,
    "turbulence": turbulent_energy,
}


class Ocean(Rows):
    """How the programs write, and solve: in place, and level by level."""

    def put(self, x: Any, key: Any, value: Any) -> Any:
        """The array with a slice set."""
        x[key] = value
        return x

    def add(self, x: Any, key: Any, value: Any) -> Any:
        """The array with something added to a slice."""
        x[key] += value
        return x

    def tridiagonal(self, lower: Any, diagonal: Any, upper: Any, right: Any) -> Any:
        """Solutions of tridiagonal systems along the last axis."""
        ups, rights, solved = [upper[..., 0] / diagonal[..., 0]], [right[..., 0] / diagonal[..., 0]], []
        for k in range(1, right.shape[-1]):
            pivot = diagonal[..., k] - lower[..., k] * ups[-1]
            rights.append((right[..., k] - lower[..., k] * rights[-1]) / pivot)
            ups.append(upper[..., k] / pivot)
        for up, given in zip(reversed(ups), reversed(rights)):
            solved.append(given - up * solved[-1] if solved else given)
        return self.xp.stack(solved[::-1], -1)

    def ocean(self, name: str, *inputs: Any, count: int) -> Program:
        """One of PROGRAMS."""
        compute = PROGRAMS[name].compute
        return self._once(lambda *inputs: compute(self, *inputs), *inputs)
