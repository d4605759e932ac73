"""Pi, and an integral in many dimensions, by throwing darts."""

import numpy as np

SIZES = {"tiny": 500, "small": 5_000, "medium": 1_000_000}


def main(n):
    rng = np.random.default_rng(42)
    x, y = rng.random(n), rng.random(n)
    inside = x * x + y * y < 1
    print("pi is about", 4 * inside.mean())
    points = rng.uniform(-1, 1, size=(n // 5, 5))
    ball = (np.sum(points**2, axis=1) < 1).mean() * 2**5
    print("ball in five dimensions %.5f" % ball)
    samples = rng.standard_normal(n)
    payoff = np.maximum(100 * np.exp(-0.02 + 0.2 * samples) - 105, 0)
    error = payoff.std(ddof=1) / np.sqrt(n)
    print("option %.6f +- %.6f" % (payoff.mean(), error))
    print("share of gains %.6f" % (payoff > 0).mean())
