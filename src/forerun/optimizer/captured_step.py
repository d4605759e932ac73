"""Steps of optimizers in functions that are captured: their factors are inputs of the program."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._capture.participants import Participant

if TYPE_CHECKING:
    from ..typing import Array
    from .base import Optimizer

__all__ = ["MASTER", "Advanced", "CapturedStep", "Item", "State", "computed", "factor_views", "same_kind"]

State = dict[str, Any]
"""The state of an optimizer for one parameter on one device: arrays by name, and the number of steps as "t"."""


Item = tuple[int, Any, Any, State]
"""The index of a weight, the weight, its gradient and its state."""

Advanced = tuple[tuple[float, ...], float]
"""The factors and the weight decay of a step."""

MASTER = "master"  # the name, in states, of a float32 copy of a weight of 16 bits


class CapturedStep(Participant):
    """A step in a captured function: its factors are those of the next step in each call."""

    def __init__(self, optimizer: Optimizer, items: Sequence[Item], constants: object) -> None:
        self.optimizer, self.constants = optimizer, constants
        self.first = computed(items[0])
        self.items: list[Item] = [(index, None, None, state) for index, _, _, state in items]
        self.names = (*optimizer.slots, MASTER)
        self.arrays = self._arrays()
        self.before: Any = None

    def _arrays(self) -> list[Any]:
        return [state.get(name) for _, _, _, state in self.items for name in self.names]

    def factors(self, advanced: Sequence[Advanced]) -> Array:
        """Return an array of the factors of all weights."""
        return self.optimizer._programs.factor_array(self.optimizer, advanced, self.first)

    def advance(self) -> tuple[Any, ...] | None:
        """Count a step, and return its factors."""
        self.before = self.optimizer._progress(), [state["t"] for _, _, _, state in self.items]
        advanced = self.optimizer._advance(self.items)
        if self.optimizer._constants(advanced) != self.constants or any(
            map(operator.is_not, self._arrays(), self.arrays)
        ):
            self.undo()
            return None
        return (self.factors(advanced),)

    def undo(self) -> None:
        """Forget the step."""
        progress, counts = self.before
        self.optimizer._resume(progress)
        for (_, _, _, state), t in zip(self.items, counts):
            state["t"] = t


def factor_views(optimizer: Optimizer, factors: Any, advanced: Sequence[Advanced]) -> tuple[list[Any], Any]:
    """Return each weight's part of an array of factors, and its decay; and the part that is for all gradients."""
    n = len(advanced[0][0])
    own = [(tuple(factors[k * n + i] for i in range(n)), wd) for k, (_, wd) in enumerate(advanced)]
    return own, factors[len(advanced) * n] if optimizer._scale_is_input else None


def same_kind(items: Sequence[Item]) -> bool:
    """Return whether all steps are computed in one dtype on one device."""
    first = computed(items[0])
    return all(w.dtype == first.dtype and w.device == first.device for w in map(computed, items))


def computed(item: Item) -> Any:
    """Return the array that a step is computed with: the weight, or its master."""
    return item[3].get(MASTER, item[1])
