"""The class of the array class: what `ndarray(...)` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops._base import core as _core
from ..ops.create import fill

if TYPE_CHECKING:
    from ..typing import DTypeLike, Shape

__all__ = ["ArrayClass"]


class ArrayClass(type):
    """The metaclass of the array class, which `forerun.as_numpy` replaces."""

    def __call__(
        cls, shape: Shape, dtype: DTypeLike = None, buffer: None = None, offset: int = 0, strides: None = None,
        order: str = "C",
    ) -> Any:  # fmt: skip
        """Return a new array of any values, as `forerun.np.empty` does. There are no views of other memory."""
        if _core.Array not in cls.__bases__:
            raise TypeError(f"{cls.__name__}: a class derived from ndarray must not be called, got a call")
        if buffer is not None or strides is not None or offset != 0:
            raise TypeError(f"ndarray: there must be no buffer, offset or strides, got buffer {type(buffer).__name__}")
        return fill.empty(shape, dtype, order)
