"""Methods that arrays of MXNet have and NumPy's have not, and copies to devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from .._runtime.device import Device, resolve
from ..ops._base import convert
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
    """Functions as methods in MXNet's spelling, and copies to devices."""

    __slots__ = ()

    def to_device(self: Any, device: Device | str, /, *, stream: None = None) -> Array:
        """Return the array itself if it is on that device, otherwise a copy there, made on the copy queue.

        Parameters
        ----------
        device : Device or str
            The device.
        stream : None, optional
            Must be None: there are no streams to choose from.

        Returns
        -------
        array
            The array itself, or the copy.

        Raises
        ------
        ValueError
            For a stream, or a device that there is not.
        """
        if stream is not None:
            raise ValueError(f"to_device: stream must be None, got {stream!r}")
        where = resolve(device)
        moved: Array = self if where == self.device else convert.to_device(self, where)
        return moved

    as_in_ctx = as_in_context = to_device

    def copyto(self: Any, other: Array | Device | str) -> Array:
        """Copy the values to another device, on the copy queue, or into another array; return the copy."""
        if isinstance(other, _core.Array):
            _core.assign(other, self)
            return other
        return convert.to_device(self, resolve(other))

    def as_nd_ndarray(self) -> Self:
        """Return the array itself: there is one kind."""
        return self

    as_np_ndarray = as_nd_ndarray

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
        """Return a new last axis of extent `depth` with on_value at the element's number: `npx.one_hot`.

        Parameters
        ----------
        depth : int
            The extent of the new axis.
        on_value : float, optional
            The value at the element's number.
        off_value : float, optional
            The value elsewhere.
        dtype : dtype, optional
            The dtype of the result.

        Returns
        -------
        array
            The elements as vectors.

        Examples
        --------
        >>> from forerun import np
        >>> np.array([0, 2]).one_hot(3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
        """
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
        """Write rhs to self[begin[0]:end[0]:step[0], ...], and return self.

        Parameters
        ----------
        rhs : array_like
            The values to write.
        begin, end : sequence of ints or None
            Where the slice of each axis begins and ends; None for the whole axis.
        step : sequence of ints or None, optional
            The step of each slice; 1 by default.

        Returns
        -------
        array
            The array itself.

        Examples
        --------
        >>> from forerun import np
        >>> np.zeros(4).slice_assign(1, (1,), (3,)).tolist()
        [0.0, 1.0, 1.0, 0.0]
        """
        steps = [*step, *[None] * (len(begin) - len(step))]
        self[tuple(slice(*bounds) for bounds in zip(begin, end, steps, strict=True))] = rhs
        return self

    slice_assign_scalar = slice_assign
