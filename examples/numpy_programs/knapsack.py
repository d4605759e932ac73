"""The most valuable load of a knapsack, a row of the table at a time."""

import numpy as np

SIZES = {"tiny": 10, "small": 50, "medium": 400}


def main(n):
    rng = np.random.default_rng(8)
    weights = rng.integers(1, 30, n)
    values = rng.integers(10, 100, n)
    capacity = 10 * n
    best = np.zeros(capacity + 1, dtype=np.int64)
    taken = np.zeros((n, capacity + 1), dtype=bool)
    for i in range(n):
        w, v = int(weights[i]), int(values[i])
        with_it = best[: capacity + 1 - w] + v
        taken[i, w:] = with_it > best[w:]
        best[w:] = np.maximum(best[w:], with_it)
    load, left = [], capacity
    for i in reversed(range(n)):
        if taken[i, left]:
            load.append(i)
            left -= int(weights[i])
    print("value", best[capacity], "things", len(load), "weight", capacity - left)
    print("first", load[::-1][:6])
    print("value of the load", values[load].sum())
