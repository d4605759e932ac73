"""The dependency graph as text for Graphviz."""

from __future__ import annotations

import json

from .events import Trace
from .graph import inputs

__all__ = ["dot"]


def dot(trace: Trace) -> str:
    """The dependency graph of a trace in the DOT language of Graphviz: `dot -Tsvg` draws it.

    >>> print(dot(Trace([])))
    digraph trace {
      node [shape=box, style=rounded, fontname="Helvetica"];
    }
    """
    ops = {e.seq: e for e in sorted(trace.ops, key=lambda e: e.seq)}
    labels = {seq: json.dumps("\n".join((e.name, e.line))) for seq, e in ops.items()}
    nodes = [f"  {seq} [label={label}];" for seq, label in labels.items()]
    edges = [f"  {before} -> {seq};" for seq, found in inputs(ops).items() for before in found]
    head = ["digraph trace {", '  node [shape=box, style=rounded, fontname="Helvetica"];']
    return "\n".join([*head, *nodes, *edges, "}"])
