"""Nodes of a graph, boxes of ops and their inputs: from a trace, from pending ops, from the tape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..._runtime import core as _core
from ..events import Event, Trace
from .marks import tooltip

__all__ = ["Box", "Boxes", "Op", "of_pending", "of_tape", "of_trace"]


@dataclass(frozen=True, slots=True)
class Op:
    """An op in a box."""

    name: str
    site: tuple[str, int] | None = None
    form: str = ""  # dtype and shape of its first output
    state: str = ""  # of one that has not ended: "issued", "waiting", "ready" or "running"

    @property
    def line(self) -> str:
        """Where it was issued, and how far it is: "line 3, running"."""
        return ", ".join(([f"line {self.site[1]}"] if self.site else []) + ([self.state] if self.state else []))


@dataclass(frozen=True, slots=True)
class Box:
    """Ops that run as one, nearly always a single one. Boxes are named by numbers."""

    ops: tuple[Op, ...]
    reads: tuple[int, ...]  # numbers of the boxes whose results it reads
    device: int = 0
    kind: str = "op"  # or "leaf", "result" (one that was asked for)
    tip: str = ""


Boxes = dict[int, Box]


def of_trace(trace: Trace, limit: int) -> Boxes:
    """Return the first ops that a trace has."""
    events = {e.seq: e for e in sorted(trace.ops, key=lambda e: e.seq)[:limit]}
    start = trace.start
    return {
        seq: Box(_ops(e), tuple(d for d in e.deps if d in events), e.device, tip=tooltip(e, start))
        for seq, e in events.items()
    }


def _ops(e: Event) -> tuple[Op, ...]:
    return tuple(Op(part.name, part.site, _form(part.dtype, part.shape)) for part in e.parts or (e,))


def of_pending(arrays: Sequence[_core.Array], limit: int) -> Boxes:
    """Return the pending ops that the arrays need: the latest of them."""
    singles: dict[int, tuple[Op, int, list[int]]] = {}
    box_of: dict[int, int] = {}
    for number, name, site, state, device, _, group, reads, form in _core.needed(list(arrays), limit):
        box_of[number] = group or number
        singles[number] = Op(name, site, _form(*(form or (None, None))), state), device, reads
    joined: dict[int, list[int]] = {}
    for number, box in box_of.items():
        joined.setdefault(box, []).append(number)
    read = {n for _, _, reads in singles.values() for n in reads}
    found: Boxes = {}
    for box, members in joined.items():
        reads = dict.fromkeys(box_of[n] for m in members for n in singles[m][2] if n in box_of)
        reads.pop(box, None)
        kind = "op" if read.issuperset(members) else "result"
        found[box] = Box(tuple(singles[m][0] for m in members), tuple(reads), singles[members[0]][1], kind)
    return found


def of_tape(arrays: Iterable[_core.Array], limit: int) -> Boxes:
    """Return how arrays came from leaves, as the tape has it: the latest calls."""
    heads = [a.node for a in arrays if a.node is not None]
    seen: dict[int, Any] = {id(node): node for node in heads}
    ahead = list(seen.values())
    leaves: dict[int, Box] = {}
    while ahead:
        for x in _inputs(ahead.pop()):
            if x.node is not None and id(x.node) not in seen:
                seen[id(x.node)] = x.node
                ahead.append(x.node)
            if not isinstance(x.node, _core.Node) and x.node is not None:
                leaves[id(x.node)] = Box((Op("leaf", form=_form(x.dtype, x.shape)),), (), x.device.index, "leaf")
    calls = sorted((n for n in seen.values() if isinstance(n, _core.Node)), key=lambda n: n.seq)[-limit:]
    # Leaves have no number of their own; theirs come first.
    number = {leaf: n - len(leaves) for n, leaf in enumerate(leaves)} | {id(n): n.seq for n in calls}
    results = {id(node) for node in heads}
    found: Boxes = {number[leaf]: box for leaf, box in leaves.items()}
    for node in calls:
        out = (node.outputs or (None,))[0]
        form = "" if out is None else _form(out.dtype, out.shape)
        reads = dict.fromkeys(number[id(x.node)] for x in _inputs(node) if id(x.node) in number)
        kind = "result" if id(node) in results else "op"
        device = 0 if out is None else out.device.index
        found[node.seq] = Box((Op(_name(node.op), node.site, form),), tuple(reads), device, kind)
    read = {n for box in found.values() for n in box.reads}
    return {n: box for n, box in found.items() if box.kind != "leaf" or n in read}


def _inputs(node: object) -> list[_core.Array]:
    """Return the inputs of a call; none for a leaf, nor for a call that `backward` has freed."""
    return [x for x in getattr(node, "inputs", None) or () if isinstance(x, _core.Array)]


def _name(op: object) -> str:
    return str(getattr(op, "name", None) or type(op).__name__).lstrip("_")


def _form(dtype: object, shape: Sequence[int] | None) -> str:
    return "" if shape is None else f"{dtype or ''} {tuple(shape)}".strip()
