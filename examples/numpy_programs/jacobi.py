"""The heat equation on a plate, by Jacobi's iteration, until it hardly changes."""

import numpy as np

SIZES = {"tiny": 16, "small": 64, "medium": 512}


def step(u):
    """One sweep over the inner points."""
    new = u.copy()
    new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return new


def main(n):
    u = np.zeros((n, n))
    u[0, :] = 100.0
    u[:, 0] = np.linspace(100.0, 0.0, n)
    for sweep in range(200):
        new = step(u)
        change = np.abs(new - u).max()
        u = new
        if change < 1e-2:
            break
    print("sweeps", sweep + 1)
    print("centre %.6f" % u[n // 2, n // 2])
    print("mean %.6f" % u.mean())
    print(np.round(u[1:4, 1:4], 4))
