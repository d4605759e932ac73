"""A sieve, a convex hull, runs of equal values, and a matching by sorting."""

import numpy as np

SIZES = {"tiny": 60, "small": 2_000, "medium": 200_000}


def primes(n):
    sieve = np.ones(n + 1, dtype=bool)
    sieve[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            sieve[i * i :: i] = False
    return np.nonzero(sieve)[0]


def runs(x):
    starts = np.concatenate(([0], np.flatnonzero(x[1:] != x[:-1]) + 1))
    return x[starts], np.diff(np.append(starts, len(x)))


def shuffled(rng, x):
    """By Fisher and Yates, element by element."""
    y = x.copy()
    for i in range(len(y) - 1, 0, -1):
        j = int(rng.integers(0, i + 1))
        y[i], y[j] = y[j], y[i]
    return y


def main(n):
    p = primes(n)
    print("primes", p.size, p[-3:], "twins", np.count_nonzero(np.diff(p) == 2))
    rng = np.random.default_rng(61)
    x = rng.integers(0, 3, n)
    values, lengths = runs(x)
    print("runs", len(values), "longest", lengths.max(), "of", values[lengths.argmax()])
    a, b = rng.permutation(n), rng.permutation(n)
    place = np.empty(n, dtype=int)
    place[b] = np.arange(n)
    print("matched:", np.array_equal(b[place[a]], a), np.intersect1d(a[:10], b[:10]))
    words = rng.random(n)
    top = np.argpartition(words, -5)[-5:]
    print(np.round(np.sort(words[top]), 5), np.searchsorted(np.sort(words), [0.25, 0.5]))
    hand = shuffled(rng, np.arange(52))
    hand[0], hand[-1] = hand[-1], hand[0]
    print("hand", hand[:5], "all there:", np.array_equal(np.sort(hand), np.arange(52)))
    print(np.setdiff1d(np.arange(12), p), np.isin([2, 9, 11], p))
