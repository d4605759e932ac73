"""Places for the nodes of a layered graph: near their neighbours, in the order of their layer, apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from .layers import Layers, Node

__all__ = ["places", "spread"]


def places(layers: Layers, size: Callable[[Node], float], rounds: int = 80) -> dict[Node, float]:
    """Return the centre of each node along its layer; all are at least half their size from 0.

    size: how much room a node needs along its layer, gap included.
    """
    at: dict[Node, float] = {}
    for row in layers.rows:
        at.update(zip(row, spread([0.0] * len(row), [size(n) for n in row], [1.0] * len(row))))
    for n in range(rounds):
        for row in layers.rows if n % 2 == 0 else reversed(layers.rows):
            at.update(zip(row, _row(row, layers, at, size)))
    left = min((at[n] - size(n) / 2 for n in at), default=0.0)
    return {node: x - left for node, x in at.items()}


def _row(row: list[Node], layers: Layers, at: dict[Node, float], size: Callable[[Node], float]) -> list[float]:
    """New places for a row: each node in the middle of its neighbours, above all where a line should be straight."""
    wishes, weights = [], []
    for node in row:
        pulls = [(at[n], _pull(layers, n, node)) for n in layers.before[node]]
        pulls += [(at[n], _pull(layers, node, n)) for n in layers.after[node]]
        total = sum(pull for _, pull in pulls)
        wishes.append(sum(x * pull for x, pull in pulls) / total if pulls else at[node])
        weights.append(max(total, 1.0))
    return spread(wishes, [size(n) for n in row], weights)


def _pull(layers: Layers, a: Node, b: Node) -> float:
    """Return how much the line between two nodes should be straight: more if nothing else joins or leaves it."""
    bends = isinstance(a, tuple) + isinstance(b, tuple)
    alone = len(layers.after[a]) == 1 and len(layers.before[b]) == 1
    return (1.0, 2.0, 8.0)[bends] * (8.0 if alone and not bends else 1.0)


def spread(wishes: Sequence[float], sizes: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Places nearest to the wishes, by weighted squares, where neighbours in order do not overlap.

    By "pool adjacent violators" (Ayer et al., 1955), after taking the sizes off the wishes.

    >>> spread([0, 0, 10], [2, 2, 2], [1, 1, 1])
    [-1.0, 1.0, 10.0]
    """
    offsets = [0.0]
    for a, b in pairwise(sizes):
        offsets.append(offsets[-1] + (a + b) / 2)
    pools: list[list[float]] = []  # mean, weight, count
    for wish, offset, weight in zip(wishes, offsets, weights):
        pools.append([wish - offset, weight, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, total, count = pools.pop()
            last = pools[-1]
            last[0] = (last[0] * last[1] + mean * total) / (last[1] + total)
            last[1], last[2] = last[1] + total, last[2] + count
    flat = [mean for mean, _, count in pools for _ in range(int(count))]
    return [mean + offset for mean, offset in zip(flat, offsets)]
