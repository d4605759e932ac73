"""Functions that the core calls: the modules of operations that it describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .emit import emit
from .program import Slot, Step, emit_program
from .spec import Operand, Output, Spec

__all__ = ["emit_concatenated", "emit_operation"]


def emit_operation(
    kind: str,
    name: str,
    inputs: Sequence[tuple[Any, ...]],
    outputs: Sequence[tuple[Any, ...]],
    attributes: Mapping[str, Any],
) -> str | None:
    """Return the StableHLO text of an operation; None if there is no lowering.

    inputs and outputs are the fields of `Operand` and `Output`, in their order.

    >>> x = ("float32", (2,), (4,), 0, "float32", 2, False)
    >>> emit_operation("copy", "", [x], [(*x, "write")], {}).splitlines()[1].strip()
    'func.func public @main(%a0: tensor<2xf32>) -> (tensor<2xf32>) {'
    """
    return emit(_spec(kind, name, inputs, outputs, attributes))


def emit_concatenated(
    steps: Sequence[tuple[tuple[Any, ...], tuple[int, ...], tuple[int, ...]]],
    slots: Sequence[tuple[str, int, bool, bool]],
    donated: Sequence[int],
) -> str | None:
    """Return the text of several operations as one module.

    A step has the arguments of `emit_operation`, and the slots of its inputs and outputs; a slot has the fields of
    `Slot`.
    """
    made = [Step(_spec(*spec), inputs, outputs) for spec, inputs, outputs in steps]
    return emit_program(made, [Slot(*slot) for slot in slots], donated)


def _spec(
    kind: str,
    name: str,
    inputs: Sequence[tuple[Any, ...]],
    outputs: Sequence[tuple[Any, ...]],
    attributes: Mapping[str, Any],
) -> Spec:
    return Spec(kind, name, tuple(Operand(*x) for x in inputs), tuple(Output(*o) for o in outputs), attributes)
