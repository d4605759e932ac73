"""What the core asks for: the module of an operation that it describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .emit import emit
from .spec import Operand, Output, Spec

__all__ = ["emit_operation"]


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
    return emit(Spec(kind, name, tuple(Operand(*x) for x in inputs), tuple(Output(*o) for o in outputs), attributes))
