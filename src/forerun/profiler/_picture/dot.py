"""The dependency graph as text for Graphviz."""

from __future__ import annotations

import json

from .boxes import Box, Boxes, Op

__all__ = ["dot"]


def dot(boxes: Boxes) -> str:
    """Return a graph in the DOT language; fused ops are in a cluster.

    >>> print(dot({}))
    digraph forerun {
      node [shape=box, style=rounded, fontname="Helvetica"];
    }
    """
    nodes = [line for number, box in boxes.items() for line in _node(number, box)]
    edges = [_edge(before, number, boxes) for number, box in boxes.items() for before in box.reads]
    compound = ["  compound=true;"] if any(len(box.ops) > 1 for box in boxes.values()) else []
    head = ["digraph forerun {", *compound, '  node [shape=box, style=rounded, fontname="Helvetica"];']
    return "\n".join([*head, *nodes, *edges, "}"])


def _node(number: int, box: Box) -> list[str]:
    if len(box.ops) == 1:
        return [f"  {number} [label={_label(box.ops[0])}];"]
    names = [f"{number}.{i}" for i in range(len(box.ops))]
    members = [f'    "{name}" [label={_label(op)}];' for name, op in zip(names, box.ops)]
    order = " -> ".join(f'"{name}"' for name in names)
    return [
        f"  subgraph cluster_{number} {{",
        '    label="run as one"; style=dashed;',
        *members,
        f"    {order} [style=invis];",
        "  }",
    ]


def _label(op: Op) -> str:
    return json.dumps("\n".join(word for word in (op.name, op.line, op.form) if word), ensure_ascii=False)


def _edge(before: int, number: int, boxes: Boxes) -> str:
    """From the last op of a cluster, to the first."""
    ends = [(before, len(boxes[before].ops) - 1, "ltail"), (number, 0, "lhead")]
    names = [f'"{n}.{i}"' if len(boxes[n].ops) > 1 else str(n) for n, i, _ in ends]
    clusters = [f"{word}=cluster_{n}" for n, _, word in ends if len(boxes[n].ops) > 1]
    options = f" [{', '.join(clusters)}]" if clusters else ""
    return f"  {names[0]} -> {names[1]}{options};"
