"""Sums of products, planned once for the shapes of operands, and then run with the arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..elementwise.arithmetic import multiply
from ..index.diagonal import diagonal
from ..reduce.reduction import sum as sum_
from ..shape.axis_order import transpose
from ..shape.broadcast import broadcast_to
from ..shape.reshape import reshape
from .product import matrix_product

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["Contraction"]

Extents = tuple[int, ...]


class Contraction:
    """The calls that contract operands of some shapes: recorded once, and then run with the arrays.

    Arrays are numbers in it: first the operands, then the results of the calls. A step that would change nothing is
    left out.

    Parameters
    ----------
    shapes : sequence of tuples of ints
        The shapes of the operands.

    Examples
    --------
    >>> from forerun import np
    >>> p = Contraction([(2, 3), (2, 3)])
    >>> _ = p.matmul(0, p.transposed(1, (1, 0)))
    >>> p.run([np.ones((2, 3)), np.ones((2, 3))]).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """

    def __init__(self, shapes: Sequence[Extents]) -> None:
        self.shapes = list(shapes)
        self._calls: list[tuple[Any, tuple[int, ...], tuple[Any, ...]]] = []

    def run(self, arrays: Sequence[Any]) -> Any:
        """Return the last result, or the last operand if there are no calls."""
        values = list(arrays)
        for function, operands, args in self._calls:
            values.append(function(*[values[i] for i in operands], *args))
        return values[-1]

    def transposed(self, x: int, order: Sequence[int], *, always: bool = False) -> int:
        """Record that x's axes come in another order; always: also where it is theirs, so that a view results."""
        shape = self.shapes[x]
        if list(order) == list(range(len(shape))) and not always:
            return x
        return self._add(tuple(shape[i] for i in order), transpose, x, args=(tuple(order),))

    def reshaped(self, x: int, shape: Extents) -> int:
        """Record that x gets another shape."""
        return x if self.shapes[x] == shape else self._add(shape, reshape, x, args=(shape,))

    def repeated(self, x: int, shape: Extents) -> int:
        """Record that x is broadcast to a shape."""
        return x if self.shapes[x] == shape else self._add(shape, broadcast_to, x, args=(shape,))  # read-only

    def diagonal(self, x: int, i: int, j: int) -> int:
        """Record that the diagonal of axes i and j of x becomes its last axis."""
        shape = self.shapes[x]
        rest = tuple(n for k, n in enumerate(shape) if k not in (i, j))
        return self._add((*rest, shape[i]), diagonal, x, args=(0, i, j))

    def summed(self, x: int, axes: Extents) -> int:
        """Record that x is summed over axes."""
        shape = self.shapes[x]
        if not axes:
            return x
        rest = tuple(n for i, n in enumerate(shape) if i not in axes)
        axis = None if not rest else axes[0] if len(axes) == 1 else axes
        return self._add(rest, _sum_over, x, args=(axis,))

    def multiplied(self, a: int, b: int) -> int:
        """Record the product of elements."""
        return self._add(numpy.broadcast_shapes(self.shapes[a], self.shapes[b]), multiply, a, b)

    def matmul(self, a: int, b: int) -> int:
        """Record the product of two matrices, of stacks of them, or of a vector with either."""
        left, right = self.shapes[a], self.shapes[b]
        return self._add((*left[:-1], *(right[-1:] if len(right) > 1 else ())), matrix_product, a, b)

    def item(self, x: int) -> int:
        """Record that an array of one element becomes a scalar, which sums and products of vectors are already."""
        scalar = self.shapes[x] == () and self._calls and self._calls[-1][0] in (_sum_over, matrix_product)
        return x if scalar else self._add((), _item, x)

    def _add(self, shape: Extents, function: Any, *operands: int, args: tuple[Any, ...] = ()) -> int:
        self._calls.append((function, operands, args))
        self.shapes.append(shape)
        return len(self.shapes) - 1


def _sum_over(x: Array, axis: int | Extents | None) -> Array:
    if x.dtype.char in "fdFD":  # whose sums have their dtype
        return sum_(x, axis)
    return sum_(x, axis, dtype=x.dtype)


def _item(x: Array) -> Any:
    return reshape(x, ())[()]
