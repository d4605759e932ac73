"""An optimizer that keeps the states of its weights, as MXNet's key-value stores call one."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy

from .. import np
from .._capture.core import capture_paused
from .base import Optimizer, State

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["Updater", "get_updater"]


class Updater:
    """An optimizer with the states of its weights: callable with an index, a gradient and a weight, or lists of these.

    The state of a weight is created when its index is first seen.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.

    Examples
    --------
    >>> from forerun import np, optimizer
    >>> update, w = Updater(optimizer.create("sgd", learning_rate=0.5)), np.ones(2)
    >>> update(0, np.ones(2), w)
    >>> w.tolist()
    [0.5, 0.5]
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[int, State] = {}
        self._loaded: dict[int, Mapping[str, Any]] = {}

    def __call__(self, index: Any, grad: Array, weight: Array) -> None:
        several = isinstance(index, (list, tuple))
        items = list(zip(index, weight, grad, strict=True)) if several else [(index, weight, grad)]
        self.optimizer.update_all([(i, w, g, self._state(i, w)) for i, w, g in items])

    def _state(self, index: int, weight: Array) -> State:
        if index not in self.states:
            state = capture_paused(lambda: self.optimizer.create_state_multi_precision(index, weight))
            for name, value in self._loaded.pop(index, {}).items():
                state[name] = int(value) if name == "t" else np.array(value, value.dtype, device=weight.device)
            self.states[index] = state
        return self.states[index]

    def get_states(self) -> bytes:
        """Return the states as bytes, in NumPy's npz format. Waits.

        Examples
        --------
        >>> from forerun import np, optimizer
        >>> update = Updater(optimizer.create("sgd", momentum=0.9))
        >>> update(0, np.ones(2), np.ones(2))
        >>> len(update.get_states()) > 0
        True
        """
        values: dict[str, Any] = {
            f"{i}.{name}": numpy.asarray(x) for i, state in self.states.items() for name, x in state.items()
        }
        file = io.BytesIO()
        numpy.savez(file, **values)
        return file.getvalue()

    def set_states(self, states: bytes) -> None:
        """Load a result of `get_states`: each state is used when its weight is updated next.

        Examples
        --------
        >>> from forerun import np, optimizer
        >>> update, again = (Updater(optimizer.create("sgd", momentum=0.9)) for _ in range(2))
        >>> update(0, np.ones(2), np.ones(2))
        >>> again.set_states(update.get_states())
        >>> again(0, np.ones(2), np.ones(2))
        >>> again.states[0]["t"]
        2
        """
        found: dict[int, dict[str, Any]] = {}
        for full, value in np.load(io.BytesIO(states)).items():
            number, _, name = full.partition(".")
            found.setdefault(int(number), {})[name] = value
        self.states, self._loaded = {}, dict(found)


def get_updater(optimizer: Optimizer) -> Updater:
    """Return an optimizer with the states of its weights.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.

    Returns
    -------
    Updater
        Callable with an index, a gradient and a weight.

    Examples
    --------
    >>> from forerun import np, optimizer
    >>> update, w = get_updater(optimizer.create("sgd", learning_rate=0.5)), np.ones(1)
    >>> update(0, np.ones(1), w)
    >>> w.tolist()
    [0.5]
    """
    return Updater(optimizer)
