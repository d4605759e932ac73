"""Several operations as one module: the values that they pass to each other never get storages of their own.

A slot stands for a storage, or for a scalar. Each has a value, which an operation that writes replaces: the module is
in single assignment over the slots. Slots that are read, or of which a part is written, before they are written whole
are arguments, and so are all whose memory is donated, in their order; those that are written and kept are results, in
theirs. Behind them is one more if there are steps that check: a vector of their results `bad`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .builder import Builder
from .emit import lower
from .spec import Spec
from .types import Type
from .values import Value

__all__ = ["Slot", "Step", "arguments_of", "emit_program", "results_of"]


@dataclass(frozen=True)
class Slot:
    """A storage of a program: `size` elements; or a scalar. kept: whether its value is used afterwards."""

    dtype: str
    size: int
    kept: bool = True
    scalar: bool = False


@dataclass(frozen=True)
class Step:
    """An operation on slots, by their positions: a slot for each input of the spec, and for each output."""

    spec: Spec
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def arguments_of(steps: Sequence[Step]) -> list[int]:
    """The slots whose values come from outside.

    >>> from forerun._pjrt.spec import Operand, Output
    >>> x, y = Operand.dense("float32", (2,)), Output.dense("float32", (2,))
    >>> arguments_of([Step(Spec("copy", "", (x,), (y,)), (2,), (0,)), Step(Spec("copy", "", (x,), (y,)), (0,), (1,))])
    [2]
    """
    written: set[int] = set()
    needed: set[int] = set()
    for step in steps:
        old = (slot for slot, out in zip(step.outputs, step.spec.outputs) if out.mode == "update")
        needed.update(slot for slot in (*step.inputs, *old) if slot not in written)
        written.update(step.outputs)
    return sorted(needed)


def results_of(steps: Sequence[Step], slots: Sequence[Slot]) -> list[int]:
    """The slots whose values go outside."""
    return sorted({slot for step in steps for slot in step.outputs if slots[slot].kept})


def emit_program(steps: Sequence[Step], slots: Sequence[Slot], donated: Collection[int] = ()) -> str | None:
    """The module of a program; None if one of its operations has no lowering.

    donated: the slots among the results whose old values are not needed behind it: their results take their memory.
    """
    b = Builder()
    values: dict[int, Value] = {}
    results = {slot: i for i, slot in enumerate(results_of(steps, slots))}
    aliases = {slot: results[slot] for slot in donated}
    for slot in sorted({*arguments_of(steps), *donated}):
        shape = () if slots[slot].scalar else (slots[slot].size,)
        values[slot] = b.argument(Type(shape, slots[slot].dtype), aliases.get(slot))
    bad: list[Value] = []
    for step in steps:
        olds = [values[i] if out.mode == "update" else None for i, out in zip(step.outputs, step.spec.outputs)]
        found = lower(b, step.spec, [values[i] for i in step.inputs], olds)
        if found is None:
            return None
        values.update(zip(step.outputs, found))
        bad += found[len(step.outputs) :]
    checks = [b.concatenate([b.reshape(each, (1,)) for each in bad], 0)] if bad else []
    return b.module([*(values[slot] for slot in results), *checks])
