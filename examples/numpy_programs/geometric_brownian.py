"""Paths of a share price, and options on their averages and minima."""

import numpy as np

SIZES = {"tiny": 50, "small": 400, "medium": 20_000}


def main(n):
    np.random.seed(2024)
    steps, dt, rate, sigma = 50, 1 / 50, 0.03, 0.25
    z = np.random.normal(0, 1, (n, steps))
    paths = 100 * np.exp(np.cumsum((rate - sigma**2 / 2) * dt + sigma * np.sqrt(dt) * z, axis=1))
    last, mean, low = paths[:, -1], paths.mean(axis=1), paths.min(axis=1)
    discount = np.exp(-rate)
    print("call %.6f" % (discount * np.maximum(last - 100, 0).mean()))
    print("asian %.6f" % (discount * np.maximum(mean - 100, 0).mean()))
    knocked = np.where(low > 80, np.maximum(last - 100, 0), 0.0)
    print("barrier %.6f, alive %d" % (discount * knocked.mean(), (low > 80).sum()))
    drawdown = (paths / np.maximum.accumulate(paths, axis=1)).min(axis=1)
    print(np.round(np.quantile(drawdown, [0.05, 0.5, 0.95]), 6))
    print("correlation %.6f" % np.corrcoef(last, mean)[0, 1])
