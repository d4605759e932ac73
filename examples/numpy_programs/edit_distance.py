"""How far two words are apart, by dynamic programming along diagonals."""

import numpy as np

SIZES = {"tiny": 12, "small": 60, "medium": 1200}


def distance(a, b):
    n, m = len(a), len(b)
    before, last = np.zeros(n + 1, dtype=int), np.zeros(n + 1, dtype=int)
    for d in range(n + m + 1):
        now = np.full(n + 1, n + m, dtype=int)
        low, high = max(0, d - m), min(n, d)
        i = np.arange(low, high + 1)
        j = d - i
        inner = (i > 0) & (j > 0)
        now[i[i == 0]] = d
        now[i[j == 0]] = d
        k = i[inner]
        same = a[k - 1] == b[d - k - 1]
        best = np.minimum(last[k - 1], last[k]) + 1
        now[k] = np.minimum(best, before[k - 1] + ~same)
        before, last = last, now
    return int(last[n])


def main(n):
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 4, n), rng.integers(0, 4, n + 3)
    print("distance", distance(a, b))
    print("to itself", distance(a, a))
    print("one letter changed", distance(a, np.where(np.arange(n) == 2, 9, a)))
