"""The order in which elements lie in memory: which one an array has, and copies in a given one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base.convert import converted
from .._base.convert import copy as copy_of
from .axis_order import transpose

if TYPE_CHECKING:
    import numpy

    from ...typing import Array

__all__ = ["copied_in", "dense", "fortran", "in_order", "memory_axes"]


def dense(x: Array) -> bool:
    """Return whether elements lie in memory without gaps, with the last axis running fastest.

    >>> from forerun import np
    >>> dense(np.zeros((2, 3))), dense(np.zeros((2, 3))[:, 1:])
    (True, False)
    """
    step = x.itemsize if x.size else 0
    for n, stride in zip(reversed(x.shape), reversed(x.strides)):
        if step and n != 1 and stride != step:
            return False
        step *= n
    return True


def fortran(x: Array) -> bool:
    """Return whether elements lie in memory without gaps, with the first axis running fastest and not the last.

    >>> from forerun import np
    >>> fortran(np.zeros((2, 3)).T), fortran(np.zeros((2, 3)))
    (True, False)
    """
    return not dense(x) and dense(transpose(x))


def in_order(x: Array, order: str | None) -> bool:
    """Return whether x is contiguous in an order, as in NumPy: "C", "F", "A" (either), "K" or None (any).

    >>> from forerun import np
    >>> in_order(np.zeros((2, 3)).T, "F"), in_order(np.zeros((2, 3)).T, "C"), in_order(np.zeros(4)[::2], "K")
    (True, False, True)
    """
    if order is None or order == "K":
        return True
    return (order != "F" and dense(x)) or (order != "C" and dense(transpose(x)))


def copied_in(x: Array, order: str | None, dtype: numpy.dtype | None = None) -> Array:
    """Return a copy of x in an order of memory, converted if a dtype is given.

    "F", "A" for "F" if x lies so and "C" if not, "K" or None for the order of axes that x has; all else is "C".

    >>> from forerun import np
    >>> copied_in(np.zeros((2, 3)), "F").strides, copied_in(np.zeros((2, 3)).T, "K").strides
    ((4, 8), (4, 12))
    """
    axes = in_c = list(range(x.ndim))
    if order == "F" or (order == "A" and fortran(x)):
        axes = in_c[::-1]
    elif order in ("K", None) and not dense(x):
        axes = memory_axes(x)
    transposed = x if axes == in_c else transpose(x, axes)
    copied = copy_of(transposed) if dtype is None else converted(transposed, dtype)
    if not dense(copied):  # the conversion keeps the order of axes
        copied = copy_of(copied)
    return copied if axes == in_c else transpose(copied, [axes.index(i) for i in in_c])


def memory_axes(x: Array) -> list[int]:
    """Return the axes by their steps in memory, the longest first.

    Axes that repeat, or have one position, stay where they are.

    >>> from forerun import np
    >>> memory_axes(np.zeros((2, 3, 4)).transpose(1, 2, 0))
    [2, 0, 1]
    """
    steps = [abs(step) if n > 1 else 0 for n, step in zip(x.shape, x.strides)]
    order = list(range(x.ndim))[::-1]
    for i in range(1, x.ndim):
        to = i
        for j in range(i)[::-1]:
            here, there = steps[order[i]], steps[order[j]]
            if here and there > here:
                to = j
            elif here and there:
                break
        order.insert(to, order.pop(i))
    return order[::-1]
