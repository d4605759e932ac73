"""Gradients of another shape or dtype than the array that they belong to, for the backward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import core as _core
from .._base.convert import cast
from .._base.primitive import primitive
from .broadcast import broadcast_to
from .complex_parts import real

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["fitted", "sum_to"]


@primitive(lambda g, shape: g if g.shape == shape else broadcast_to(g, shape), op="sum_to")
def sum_to(x: Array, to: Any) -> Array:
    """Return x summed along axes, so that it has a shape that broadcasts to its own.

    >>> from forerun import np
    >>> sum_to(np.ones((2, 3)), (3,)).tolist()
    [2.0, 2.0, 2.0]
    """
    return _core.sum_to(x, to)


def fitted(g: Array, like: Array) -> Array:
    """Return a gradient with the shape and dtype of the input: summed where that was broadcast.

    >>> from forerun import np
    >>> fitted(np.ones((2, 3)), np.ones(3, dtype="float64"))
    array([2., 2., 2.], dtype=float64)
    """
    if g.shape != like.shape:
        g = sum_to(g, like.shape)
    if g.dtype != like.dtype:
        if g.dtype.kind == "c" and like.dtype.kind != "c":
            g = real(g)
        g = g if g.dtype == like.dtype else cast(g, like.dtype)
    return g
