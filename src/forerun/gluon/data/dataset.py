"""Data sets: examples by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Dataset", "ArrayDataset"]


class Dataset:
    """Examples by number: subclasses define `__getitem__` and `__len__`."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: __getitem__ must be defined, got none")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__}: __len__ must be defined, got none")

    def transform(self, function: Callable[..., Any]) -> Dataset:
        """The data set of `function(*example)`, computed when asked for."""
        return _Transformed(self, function)

    def transform_first(self, function: Callable[[Any], Any]) -> Dataset:
        """The data set of examples whose first part went through a function."""
        return _Transformed(self, lambda first, *rest: (function(first), *rest))


class _Transformed(Dataset):
    """Examples of another data set, passed through a function."""

    def __init__(self, dataset: Dataset, function: Callable[..., Any]) -> None:
        self._dataset = dataset
        self._function = function

    def __getitem__(self, index: int) -> Any:
        example = self._dataset[index]
        return self._function(*example) if isinstance(example, tuple) else self._function(example)

    def __len__(self) -> int:
        return len(self._dataset)


class ArrayDataset(Dataset):
    """Examples are entries of arrays (ours, NumPy's) or lists along their first axis; tuples if there are several.

    Raises ValueError if there is none, or if their lengths differ.

    >>> from forerun import np
    >>> data = ArrayDataset(np.ones((3, 2)), [0, 1, 2])
    >>> len(data), data[1][1]
    (3, 1)
    """

    def __init__(self, *arrays: Any) -> None:
        lengths = [len(array) for array in arrays]
        if not arrays or len(set(lengths)) != 1:
            raise ValueError(f"ArrayDataset: arrays must have one length, got {lengths}")
        self.arrays = arrays

    def __getitem__(self, index: int) -> Any:
        parts = tuple(array[index] for array in self.arrays)
        return parts if len(parts) > 1 else parts[0]

    def __len__(self) -> int:
        return len(self.arrays[0])
