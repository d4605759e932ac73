"""Trees of blocks that are watched for changes: captured calls that use them are then out of date."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..._capture.changes import Snapshot, note, watch
from ..._capture.participants import depend_on

if TYPE_CHECKING:
    from .block import Block

__all__ = ["depend_on_tree", "note_change", "times_changed", "watched_tree"]

_CHANGES = "(changes)"  # in the dictionary of a block: no attribute has this name


def times_changed(block: Block) -> int:
    """Return the number of times that attributes and children of a block have been set."""
    count: int = block.__dict__.get(_CHANGES, 0)
    return count


def note_change(block: Block) -> None:
    """Count a change of a block: state that was read before is out of date."""
    block.__dict__[_CHANGES] = times_changed(block) + 1
    note(block)


def watched_tree(block: Block, snapshot: Snapshot) -> Iterator[Block]:
    """Yield a block and those inside it, each watched before it is read."""
    watch(block, snapshot)
    watch(block._params, snapshot)
    yield block
    for child in list(block._children.values()):
        yield from watched_tree(child, snapshot)


def depend_on_tree(block: Block) -> None:
    """Let the function that this thread captures depend on a block, those inside it, and their parameters."""

    def parts(snapshot: Snapshot) -> Iterator[object]:
        yield from watched_tree(block, snapshot)
        for parameter in block.collect_params().distinct():
            watch(parameter, snapshot)
            yield parameter

    depend_on(block, parts)
