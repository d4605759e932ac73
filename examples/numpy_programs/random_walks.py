"""Many walkers: how far they get, and how long they take to come home."""

import numpy as np

SIZES = {"tiny": 30, "small": 300, "medium": 10_000}


def main(n):
    rng = np.random.RandomState(99)
    steps = rng.choice([-1, 1], size=(n, 120))
    walks = steps.cumsum(axis=1)
    home = walks == 0
    first = np.where(home.any(axis=1), home.argmax(axis=1) + 1, -1)
    print("spread %.6f" % walks[:, -1].std(), "expected %.3f" % np.sqrt(120))
    print("never home", (first == -1).sum(), "on average after %.4f" % first[first > 0].mean())
    values, counts = np.unique(walks[:, -1], return_counts=True)
    top = np.argsort(-counts, kind="stable")[:3]
    print(values[top], counts[top])
    print("crossings", np.count_nonzero(np.diff(np.sign(walks), axis=1)))
