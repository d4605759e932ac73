"""Methods that arrays of MXNet have and NumPy's have not."""

from __future__ import annotations

from typing import Any

from ..ops import arithmetic, indexing, nn

__all__ = ["MxnetMethods"]


class MxnetMethods:
    """Functions as methods, in MXNet's spelling."""

    __slots__ = ()

    def abs(self) -> Any:
        """The absolute value of each element."""
        return arithmetic.absolute(self)

    def relu(self) -> Any:
        """max(x, 0) of each element."""
        return nn.relu(self)

    def sigmoid(self) -> Any:
        """1 / (1 + exp(-x)) of each element."""
        return nn.sigmoid(self)

    def one_hot(self, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = None) -> Any:
        """A new last axis of extent `depth` with on_value at the element's number: `npx.one_hot`."""
        return indexing.one_hot(self, depth, on_value, off_value, dtype)

    def asscalar(self) -> Any:
        """The only element as a Python scalar. Waits. ValueError if there is not one."""
        return self.item()  # type: ignore[attr-defined]
