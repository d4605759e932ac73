"""A graph in layers: which layer each node is in, and the order within it, with few crossings.

After Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", 1981: layers by
the longest path, edges that pass a layer get a bend in it, orders by the mean place of the neighbours.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any

__all__ = ["Graph", "Node", "layered"]

# An op's number, or a bend: the place where the edge between two ops passes a layer.
Node = int | tuple[int, int, int]
Graph = Mapping[int, Sequence[int]]  # from each op to those before it


class Layers:
    """Nodes in rows; `before` and `after` are their neighbours in the rows above and below."""

    def __init__(self, rows: list[list[Node]], paths: list[list[Node]]) -> None:
        self.rows = rows
        self.paths = paths  # of each edge: op, bends, op
        self.before: dict[Node, list[Node]] = {node: [] for row in rows for node in row}
        self.after: dict[Node, list[Node]] = {node: [] for row in rows for node in row}
        for path in paths:
            for a, b in pairwise(path):
                self.after[a].append(b)
                self.before[b].append(a)

    def crossings(self) -> int:
        """Return how many pairs of edges cross."""
        total = 0
        place = {node: i for row in self.rows for i, node in enumerate(row)}
        for row in self.rows:
            seen: list[int] = []
            for end in (end for a in row for end in sorted(place[b] for b in self.after[a])):
                total += len(seen) - bisect_right(seen, end)
                insort(seen, end)
        return total


def layered(graph: Graph, key: Callable[[int], Any], sweeps: int = 12) -> Layers:
    """Return layers of a graph without circles, with few crossings.

    key: the order to start from, within a layer.
    """
    layer = _depths(graph)
    rows: list[list[Node]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for op in sorted(graph, key=key):
        rows[layer[op]].append(op)
    paths: list[list[Node]] = []
    for op in graph:
        for before in graph[op]:
            bends: list[Node] = [(before, op, i) for i in range(layer[before] + 1, layer[op])]
            paths.append([before, *bends, op])
            for i, bend in enumerate(bends, layer[before] + 1):
                rows[i].append(bend)
    return _ordered(Layers(rows, paths), sweeps)


def _depths(graph: Graph) -> dict[int, int]:
    """Return the longest path to each op; an op without inputs moves next to its first reader."""
    depth: dict[int, int] = {}
    first_reader: dict[int, int] = {}
    for op in TopologicalSorter(graph).static_order():
        depth[op] = max((depth[before] + 1 for before in graph[op]), default=0)
    for op in graph:
        for before in graph[op]:
            first_reader[before] = min(depth[op], first_reader.get(before, depth[op]))
    return {op: depth[op] if graph[op] else first_reader.get(op, 1) - 1 for op in graph}


def _ordered(layers: Layers, sweeps: int) -> Layers:
    """Sorts each row by the mean place of its neighbours, down and up in turn; keeps the best."""
    best, fewest = [list(row) for row in layers.rows], layers.crossings()
    for sweep in range(sweeps):
        if fewest == 0:
            break
        down = sweep % 2 == 0
        for i in range(1, len(layers.rows)) if down else range(len(layers.rows) - 2, -1, -1):
            other = layers.rows[i - 1 if down else i + 1]
            _sort_by(layers.rows[i], other, layers.before if down else layers.after)
        if (crossings := layers.crossings()) < fewest:
            best, fewest = [list(row) for row in layers.rows], crossings
    layers.rows = best
    return layers


def _sort_by(row: list[Node], other: Iterable[Node], neighbours: dict[Node, list[Node]]) -> None:
    place = {node: i for i, node in enumerate(other)}
    mean = {
        node: sum(place[n] for n in neighbours[node]) / len(neighbours[node]) if neighbours[node] else i
        for i, node in enumerate(row)
    }
    row.sort(key=mean.__getitem__)
