"""Shapes that are not known yet, and the error of using a parameter that still waits for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["DeferredInitializationError", "Shape", "UninitializedError", "completes", "known", "placed"]

Shape = int | Sequence[int | None] | None


class UninitializedError(RuntimeError):
    """A parameter was used that has no values. Blocks add the place of the parameter to the error."""

    parameter: Any = None
    text = ""
    path = ""
    inside: Any = None  # the last block that has said so


class DeferredInitializationError(UninitializedError):
    """A parameter was used although its shape is not known yet: its block must see data first."""


def placed(error: UninitializedError, name: str) -> None:
    """Add to an error the name of the parameter or block that it is about."""
    error.path = f"{name}.{error.path}" if error.path else name
    if error.parameter is not None:
        error.args = (f"Parameter {error.path}: {error.text}",)


def known(shape: Shape) -> tuple[int, ...] | None:
    """Return a shape with -1 for extents that are not known (0, -1 or None); None if nothing is known.

    >>> known((4, 0))
    (4, -1)
    """
    if shape is None:
        return None
    extents = (shape,) if isinstance(shape, int) else shape
    return tuple(-1 if extent in (None, 0, -1) else int(extent) for extent in extents)


def completes(new: tuple[int, ...] | None, old: tuple[int, ...]) -> bool:
    """Return whether `new` agrees with all that `old` knows.

    >>> completes((4, 3), (4, -1)), completes((5, 3), (4, -1))
    (True, False)
    """
    return new is not None and len(new) == len(old) and all(o in (-1, n) for n, o in zip(new, old))
