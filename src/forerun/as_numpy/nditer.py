"""`np.nditer` for programs: of an array that is written, each element is a view of the array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import np
from .._array.numpy_methods import without_values
from .conversion import values

if TYPE_CHECKING:
    from ..typing import ArrayLike

__all__ = ["Nditer", "nditer"]

_WRITES = {"readwrite", "writeonly"}
_LEFT = {"buffered", "external_loop"}  # flags with which a step has more than one element, or a copy of it


class Nditer(type):
    """The class of `numpy.nditer` as programs see it: iterators of both kinds are instances of it."""

    def __call__(cls, op: ArrayLike | Sequence[ArrayLike | None], flags: Any = None, op_flags: Any = None,
                 *args: Any, **kwargs: Any) -> Any:  # fmt: skip
        """Iterate over the elements of arrays as NumPy does. Waits, unless it is one array that is written."""
        flags = [*(flags or ())]
        if type(op) is np.ndarray and _WRITES & {*_flat(op_flags)} and not _LEFT & {*flags}:
            return _Written(op, flags, *args, **kwargs)
        return numpy.nditer(values(op), flags, op_flags, *args, **kwargs)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, (_Written, numpy.nditer))


class nditer(metaclass=Nditer):
    """An iterator over the elements of arrays."""


def _flat(op_flags: Any) -> list[str]:
    """Return the flags of one operand, which may be in a list of their own."""
    return [flag for one in op_flags or () for flag in ((one,) if isinstance(one, str) else one)]


class _Written:
    """The iterator over an array that is written.

    An element is a view, so that writes to it are ordered with the operations on the array: NumPy's own would write
    into memory that pending operations read.
    """

    def __init__(self, x: Any, flags: list[str], *args: Any, **kwargs: Any) -> None:
        self._x = x
        every: Any = [*{*flags, "multi_index"}]
        self._steps = numpy.nditer(without_values(x), every, ["readonly"], *args, **kwargs)  # which reads no value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._steps, name)

    @property
    def operands(self) -> tuple[Any]:
        """The array."""
        return (self._x,)

    @property
    def value(self) -> Any:
        """The element, as a view."""
        return self._x[(*self._steps.multi_index, ...)]

    def __getitem__(self, operand: int) -> Any:
        return (self.value,)[operand]

    def __setitem__(self, operand: int, value: Any) -> None:
        self[operand][...] = value

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> _Written:
        return self

    def __next__(self) -> Any:
        next(self._steps)
        return self.value

    def __enter__(self) -> _Written:
        return self

    def __exit__(self, *error: object) -> None:
        self._steps.close()
