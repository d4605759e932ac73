"""From a list of examples to a batch.

>>> from forerun.gluon.data import batchify
>>> both = batchify.Group(batchify.Pad(val=-1), batchify.Stack())
>>> words, labels = both([([1, 2, 3], 0), ([4], 1)])
>>> words.tolist(), labels.tolist()
([[1, 2, 3], [4, -1, -1]], [0, 1])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ... import np
from ..._display.namespaces import dir_of
from ..._runtime import core as _core
from . import memory

if TYPE_CHECKING:
    from ...typing import Array, DTypeLike


__all__ = ["Stack", "Pad", "Append", "Group", "AsList"]
__dir__ = dir_of(__name__)


class Stack:
    """Stacks examples along a new first axis; a list of such arrays for examples that are tuples, or lists of arrays,
    and a dict of such arrays for examples that are dicts.

    Arrays of forerun are stacked by an operation, without waiting. ValueError if shapes differ. use_shared_mem
    changes nothing here and below: workers see to that.

    >>> [part.tolist() for part in Stack()([([1, 2], 0), ([3, 4], 1)])]
    [[[1, 2], [3, 4]], [0, 1]]
    >>> Stack()([{"x": 1}, {"x": 2}])["x"].tolist()
    [1, 2]
    """

    def __init__(self, use_shared_mem: bool = False) -> None:
        pass

    def __call__(self, data: Sequence[Any]) -> Any:
        """The batch."""
        first = data[0]
        if isinstance(first, Mapping):
            return {key: self([example[key] for example in data]) for key in first}
        if isinstance(first, tuple) or (isinstance(first, list) and any(map(numpy.ndim, first))):
            return [self(part) for part in zip(*data)]
        if isinstance(first, _core.Array) and not memory.is_placed():
            return np.stack(data)
        return memory.adopted(_stacked(data))


def _stacked(data: Sequence[Any]) -> numpy.ndarray:
    """Stack examples, which are not tuples, in memory for a batch."""
    if not isinstance(data[0], (numpy.ndarray, _core.Array)):
        values = numpy.asarray(data)
        out = memory.empty(values.shape, memory.created(values.dtype))
        out[...] = values
        return out
    if set(map(type, data)) != {numpy.ndarray}:
        data = [numpy.asarray(x) for x in data]
    shape, dtypes = data[0].shape, {x.dtype for x in data}
    if any(x.shape != shape for x in data):
        shapes = sorted({x.shape for x in data})
        raise ValueError(f"Stack: examples must have one shape, got {' and '.join(map(str, shapes))}")
    dtype = numpy.result_type(*dtypes) if len(dtypes) > 1 else data[0].dtype
    out = memory.empty((len(data), *shape), memory.created(dtype))
    for i, x in enumerate(data):
        out[i] = x
    return out


class Pad:
    """Stacks examples after filling each up with `val` at the ends of its axes, to the longest of the batch.

    dtype: of the batch; otherwise the examples'. round_to: lengths become multiples of it. Examples are arrays or
    lists; arrays of forerun are waited for. ValueError if their axes are not as many.

    >>> Pad(round_to=4)([[1, 2, 3], [4]]).tolist()
    [[1, 2, 3, 0], [4, 0, 0, 0]]
    """

    def __init__(
        self, val: int | None = 0, dtype: DTypeLike = None, round_to: int | None = None, use_shared_mem: bool = False
    ) -> None:
        if round_to is not None and round_to < 1:
            raise ValueError(f"Pad: round_to must be positive, got {round_to}")
        self._val, self._dtype, self._round_to = 0 if val is None else val, dtype, round_to or 1

    def __call__(self, data: Sequence[Any]) -> Array:
        """The batch."""
        if isinstance(data[0], tuple):
            raise TypeError("Pad: examples must be arrays or lists, got tuples: use Group(Pad(), ...)")
        examples = [numpy.asarray(x) for x in data]
        if len({x.ndim for x in examples}) > 1:
            raise ValueError(
                f"Pad: examples must have the same number of axes, got shapes {[x.shape for x in examples]}"
            )
        longest = numpy.max([x.shape for x in examples], axis=0) if examples[0].ndim else ()
        shape = [-(-int(n) // self._round_to) * self._round_to for n in longest]
        dtype = self._dtype or memory.created(numpy.result_type(*examples))
        out = memory.empty((len(examples), *shape), dtype)
        out[...] = self._val
        for row, x in zip(out, examples):
            row[tuple(map(slice, x.shape))] = x
        return memory.adopted(out)


class Append:
    """A list of the examples as arrays, each with a first axis of length 1 if `expand`.

    batch_axis: where that axis is.

    >>> [x.tolist() for x in Append()([[1, 2], [3]])]
    [[[1, 2]], [[3]]]
    """

    def __init__(self, expand: bool = True, batch_axis: int = 0, use_shared_mem: bool = False) -> None:
        self._expand, self._axis = expand, batch_axis

    def __call__(self, data: Sequence[Any]) -> list[Any]:
        """The list."""
        arrays = [x if isinstance(x, _core.Array) else np.array(x) for x in data]
        return [np.expand_dims(x, self._axis) for x in arrays] if self._expand else arrays


class Group:
    """One function for each part of the examples: a tuple of their results.

    TypeError if one is not callable, ValueError if examples have not as many parts.

    >>> Group(AsList(), Stack())([("a", 1), ("b", 2)])
    (['a', 'b'], array([1, 2]))
    """

    def __init__(
        self, fn: Callable[[list[Any]], Any] | Sequence[Callable[[list[Any]], Any]], *args: Callable[[list[Any]], Any]
    ) -> None:
        several: Any = fn if isinstance(fn, (list, tuple)) and not args else (fn, *args)
        self._functions: tuple[Callable[[list[Any]], Any], ...] = tuple(several)
        for function in self._functions:
            if not callable(function):
                raise TypeError(f"Group: functions must be callable, got {type(function).__name__}")

    def __call__(self, data: Sequence[Any]) -> tuple[Any, ...]:
        """The batch."""
        if len(data[0]) != len(self._functions):
            raise ValueError(f"Group: examples must have {len(self._functions)} parts, got {len(data[0])}")
        return tuple(function([x[i] for x in data]) for i, function in enumerate(self._functions))


class AsList:
    """The examples as they are, in a list."""

    def __call__(self, data: Sequence[Any]) -> list[Any]:
        """The list."""
        return list(data)
