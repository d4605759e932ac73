"""Steps of optimizers as programs: if nothing but arrays and factors changes from step to step, one is issued."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._capture import core as _core
from .._capture.captured import warn_of_read
from ..ops._base.programs import Program, ProgramCache, ProgramCapture
from .captured_step import MASTER, Advanced, Item, computed, factor_views, same_kind

if TYPE_CHECKING:
    from ..typing import Array
    from .base import Optimizer

__all__ = ["StepPrograms"]


@dataclass(frozen=True, slots=True)
class _Step:
    """The facts on which a step depends besides arrays; and its array of factors and its signature, which follow."""

    kind: tuple[object, object]  # dtype and device
    settings: tuple[object, ...]
    advanced: Sequence[Advanced]
    factors: Array
    signature: tuple[object, ...]


class StepPrograms:
    """The programs of one optimizer's steps, and the arrays of factors that they take.

    refused: a step cannot be repeated as a program; it reads values, for example.
    """

    def __init__(self) -> None:
        self.cache: ProgramCache[Program] = ProgramCache()
        self.refused = False
        self._factors: dict[Any, tuple[list[float], Any]] = {}  # of the last step, by dtype and device
        self._last: _Step | None = None

    def factor_array(self, optimizer: Optimizer, advanced: Sequence[Advanced], like: Array) -> Array:
        """Return an array of the factors of all weights, and of `rescale_grad`.

        It is that of the step before if they are the same: a device then has it already.
        """
        numbers = [number for own, _ in advanced for number in own]
        numbers.append(optimizer.rescale_grad)
        key = like.dtype, like.device
        known = self._factors.get(key)
        if known is None or known[0] != numbers or 0 in numbers:  # 0 may have another sign
            known = self._factors[key] = numbers, _core.scalars(numbers, *key)
        array: Array = known[1]
        return array

    def update(self, optimizer: Optimizer, items: Sequence[Item], advanced: Sequence[Advanced]) -> None:
        """Update these weights by one program; by operations one by one, where dtypes or devices differ."""
        step, slots = self._step(optimizer, advanced, computed(items[0])), optimizer.slots
        inputs: list[Any] = [step.factors]
        for _, weight, grad, state in items:
            inputs += (weight, grad)
            if slots:
                inputs += [state[name] for name in slots]
            if MASTER in state:
                inputs.append(state[MASTER])
        given, signature = tuple(inputs), step.signature
        if self.cache.issue(signature, given) is not None:
            return
        if same_kind(items):
            self._capture(optimizer, items, advanced, given, signature)
        else:
            optimizer._update_each(items, advanced)

    def _step(self, optimizer: Optimizer, advanced: Sequence[Advanced], like: Array) -> _Step:
        """Return the factors and the signature of a step: those of the step before, if nothing has changed."""
        kind, settings, last = (like.dtype, like.device), optimizer._settings_of(optimizer), self._last
        if last is not None and last.advanced == advanced and last.settings == settings and last.kind == kind:
            return last
        factors, signature = self.factor_array(optimizer, advanced, like), optimizer._constants(advanced)
        step = _Step(kind, settings, advanced, factors, signature)
        # 0 may have another sign in the next step.
        self._last = None if optimizer.rescale_grad == 0 or any(0 in own for own, _ in advanced) else step
        return step

    def _capture(
        self, optimizer: Optimizer, items: Sequence[Item], advanced: Sequence[Advanced], inputs: tuple[Any, ...],
        signature: tuple[object, ...],
    ) -> None:  # fmt: skip
        """Take a step, and keep its operations as a program."""
        name = type(optimizer).__name__
        with ProgramCapture(inputs) as capture:
            optimizer._update_each(items, *factor_views(optimizer, inputs[0], advanced))
            look, self.refused = capture.first_read, bool(capture.refused)
            if not self.refused:
                self.cache.add(signature, capture.program(inputs, (), name, apart=True))
        if look is not None:
            warn_of_read(f"step of {name}", look)
