"""Values in a module of StableHLO: tensors whose operators write operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from .types import Type, is_unsigned

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["Number", "Value"]

Number: TypeAlias = "Value | complex"


class Value:
    """A tensor in a module. Operators write operations; numbers beside it are constants of its type."""

    __slots__ = ("builder", "name", "type")

    def __init__(self, builder: Builder, name: str, type: Type) -> None:
        self.builder, self.name, self.type = builder, name, type

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.type.shape

    @property
    def dtype(self) -> str:
        """The dtype, by NumPy's name."""
        return self.type.dtype

    def __add__(self, other: Number) -> Value:
        return self.builder.binary("add", self, other)

    def __radd__(self, other: Number) -> Value:
        return self.builder.binary("add", other, self)

    def __sub__(self, other: Number) -> Value:
        return self.builder.binary("subtract", self, other)

    def __rsub__(self, other: Number) -> Value:
        return self.builder.binary("subtract", other, self)

    def __mul__(self, other: Number) -> Value:
        return self.builder.binary("multiply", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Value:
        return self.builder.binary("divide", self, other)

    def __rtruediv__(self, other: Number) -> Value:
        return self.builder.binary("divide", other, self)

    def __and__(self, other: Number) -> Value:
        return self.builder.binary("and", self, other)

    def __or__(self, other: Number) -> Value:
        return self.builder.binary("or", self, other)

    def __xor__(self, other: Number) -> Value:
        return self.builder.binary("xor", self, other)

    def __lshift__(self, other: Number) -> Value:
        return self.builder.binary("shift_left", self, other)

    def __rshift__(self, other: Number) -> Value:
        kind = "logical" if is_unsigned(self.dtype) else "arithmetic"
        return self.builder.binary(f"shift_right_{kind}", self, other)

    def __neg__(self) -> Value:
        return self.builder.unary("negate", self)

    def __invert__(self) -> Value:
        return self.builder.unary("not", self)

    def __lt__(self, other: Number) -> Value:
        return self.builder.compare("LT", self, other)

    def __le__(self, other: Number) -> Value:
        return self.builder.compare("LE", self, other)

    def __gt__(self, other: Number) -> Value:
        return self.builder.compare("GT", self, other)

    def __ge__(self, other: Number) -> Value:
        return self.builder.compare("GE", self, other)

    def equals(self, other: Number) -> Value:
        """Whether elements are equal."""
        return self.builder.compare("EQ", self, other)

    def differs(self, other: Number) -> Value:
        """Whether elements are not equal."""
        return self.builder.compare("NE", self, other)
