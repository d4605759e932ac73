"""Methods that arrays of MXNet have and NumPy's have not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from ..ops._base import core as _core
from ..ops.elementwise import arithmetic
from ..ops.index import getitem as indexing
from ..ops.nn import activation

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DTypeLike, Shape

    _Base = _core.Array  # that of the class with these methods
else:
    _Base = object

__all__ = ["MxnetMethods"]


class MxnetMethods(_Base):
    """Functions as methods, in MXNet's spelling."""

    __slots__ = ()

    def abs(self) -> Array:
        """Return the absolute value of each element."""
        return arithmetic.absolute(self)

    def relu(self) -> Array:
        """Return max(x, 0) of each element."""
        return activation.relu(self)

    def sigmoid(self) -> Array:
        """Return 1 / (1 + exp(-x)) of each element."""
        return activation.sigmoid(self)

    def one_hot(self, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DTypeLike = None) -> Array:
        """Return a new last axis of extent `depth` with on_value at the element's number: `npx.one_hot`."""
        return indexing.one_hot(self, depth, on_value, off_value, dtype)

    def asscalar(self) -> Any:
        """Return the only element as a Python scalar. Waits. ValueError if there is not one."""
        return self.item()

    def reshape_view(self, *shape: Shape) -> Array:
        """Return a view in another shape. ValueError where memory does not allow one."""
        y: Array = self.reshape(*shape)  # type: ignore[attr-defined]
        if y.size and not _core.shares_storage(self, y):
            raise ValueError(f"reshape_view: memory must allow a view, got shape {self.shape}")
        return y

    def slice_assign(
        self, rhs: ArrayLike, begin: Sequence[int | None], end: Sequence[int | None], step: Sequence[int | None] = ()
    ) -> Self:
        """Write rhs to self[begin[0]:end[0]:step[0], ...], and return self."""
        steps = [*step, *[None] * (len(begin) - len(step))]
        self[tuple(slice(*bounds) for bounds in zip(begin, end, steps, strict=True))] = rhs
        return self

    slice_assign_scalar = slice_assign
