"""Filters that need the value before: an exponential average, and a resonator, element by element."""

import numpy as np

SIZES = {"tiny": 50, "small": 500, "medium": 20_000}


def average(x, a=0.1):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = a * x[i] + (1 - a) * y[i - 1]
    return y


def main(n):
    x = np.sin(np.linspace(0, 20, n)) + 0.1 * np.cos(np.arange(n))
    y = average(x)
    print("first", np.round(y[:4], 8))
    print("mean %.8f" % y.mean(), "largest %.8f" % y.max())
    r = np.zeros(n)
    r[0], r[1] = 1.0, 1.9
    for i in range(2, n):
        r[i] = 1.9 * r[i - 1] - 0.99 * r[i - 2]
    print("resonator %.8f" % np.abs(r).max())
