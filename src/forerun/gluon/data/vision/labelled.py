"""The base of data sets of images with labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .... import np
from ..dataset import Hosting, Plan

__all__ = ["Labelled", "Transform"]

Transform = Callable[[Any, Any], Any] | None


class Labelled(Hosting):
    """(image, label) by number, through `transform(image, label)` if there is one. Subclasses define `_pair`."""

    _transform: Transform = None

    def _pair(self, index: int) -> tuple[numpy.ndarray, Any]:
        """Return the example, of NumPy's arrays."""
        raise NotImplementedError

    def _planned(self, late: bool) -> Plan:
        return (self._pair if self._transform is None else self.__getitem__), []

    def __getitem__(self, index: int) -> Any:
        values, label = self._pair(index)
        if isinstance(index, slice):  # of examples
            label = np.array(label, dtype=label.dtype)
        example = np.array(values, dtype=values.dtype), label
        return example if self._transform is None else self._transform(*example)
