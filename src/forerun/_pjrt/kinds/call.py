"""The argument and the results of a kind of operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..builder import Builder
from ..spec import Spec
from ..values import Value

__all__ = ["Call", "Kind"]


@dataclass
class Call:
    """One operation that is to be written: its spec, and the elements of its inputs.

    old(i): the elements that output i, of mode "update", had. A kind returns the new elements of each output, of its
    dtype and shape; None if there is no lowering.
    """

    b: Builder
    spec: Spec
    inputs: list[Value]
    old: Callable[[int], Value]
    bad: Value | None = field(default=None)  # with the attribute `check`: whether something was out of range

    def attribute(self, name: str, default: object = None) -> Any:
        """An attribute of the spec."""
        return self.spec.attributes.get(name, default)


Kind: TypeAlias = Callable[[Call], Sequence[Value] | None]
