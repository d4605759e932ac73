"""The description of a loop: its operands, and its formulas (core/cpu/kernels/fusion/segments.h)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Loop", "Operand", "Line", "parse"]


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand.

    `walk`: "dense", its elements follow one another; "strided", they are `stride` bytes apart; "row", there is one for
    a row; "one", there is one for all rows; "sum", there is one for a row, to which a sum is added.
    """

    dtype: str
    walk: str
    stride: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A formula of earlier lines; or a load or a store of an operand, or a value that is summed into an operand."""

    formula: str
    dtypes: tuple[str, ...]  # of the inputs; of a cast also that of the result
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop; lines that are not stores or sums have numbers from 0 on."""

    operands: tuple[Operand, ...]
    lines: tuple[Line, ...]


def parse(text: str) -> Loop:
    """Return the loop that a description names."""
    operands, lines = [], []
    for line in text.splitlines():
        first, *rest = line.split()
        if first == "operand":
            operands.append(Operand(rest[0], rest[1], *map(int, rest[2:])))
        else:
            dtypes = tuple(word for word in rest if not word.isdigit())
            lines.append(Line(first, dtypes, tuple(int(word) for word in rest[len(dtypes) :])))
    return Loop(tuple(operands), tuple(lines))
