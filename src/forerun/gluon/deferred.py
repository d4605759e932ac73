"""Shapes that are not known yet, and the error of using what still waits for one."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["DeferredInitializationError", "Shape", "completes", "known"]

Shape = int | Sequence[int | None] | None


class DeferredInitializationError(RuntimeError):
    """A parameter was used although its shape is not known yet: its block must see data first."""


def known(shape: Shape) -> tuple[int, ...] | None:
    """A shape with -1 for extents that are not known (0, -1 or None); None if nothing is known.

    >>> known((4, 0))
    (4, -1)
    """
    if shape is None:
        return None
    extents = (shape,) if isinstance(shape, int) else shape
    return tuple(-1 if extent in (None, 0, -1) else int(extent) for extent in extents)  # type: ignore[arg-type]


def completes(new: tuple[int, ...] | None, old: tuple[int, ...]) -> bool:
    """Whether `new` agrees with all that `old` knows.

    >>> completes((4, 3), (4, -1)), completes((5, 3), (4, -1))
    (True, False)
    """
    return new is not None and len(new) == len(old) and all(o in (-1, n) for n, o in zip(new, old))
