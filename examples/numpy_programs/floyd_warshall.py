"""Shortest ways between all pairs of towns, and the value of a town by its links."""

import numpy as np

SIZES = {"tiny": 12, "small": 60, "medium": 400}


def main(n):
    rng = np.random.default_rng(13)
    d = np.where(rng.random((n, n)) < 0.2, rng.integers(1, 20, (n, n)), 10_000)
    np.fill_diagonal(d, 0)
    linked = (d < 10_000) & (d > 0)
    for k in range(n):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    reach = d < 10_000
    print("reached", reach.sum(), "longest", d[reach].max(), "sum", d[reach].sum())
    out = linked.sum(axis=1)
    m = linked.T / np.where(out == 0, 1, out)
    rank = np.full(n, 1 / n)
    for _ in range(60):
        rank = 0.15 / n + 0.85 * (m @ rank + rank[out == 0].sum() / n)
    print("rank adds up:", np.isclose(rank.sum(), 1.0))
    print("best", np.argsort(-rank)[:5], np.round(np.sort(rank)[::-1][:3], 6))
