"""A linear system by the method of Gauss and Seidel, row by row."""

import numpy as np

SIZES = {"tiny": 8, "small": 30, "medium": 150}


def solve(a, b, sweeps=25):
    x = np.zeros_like(b)
    for _ in range(sweeps):
        for i in range(len(b)):
            x[i] = (b[i] - np.dot(a[i, :i], x[:i]) - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]
    return x


def main(n):
    rng = np.random.default_rng(3)
    a = rng.uniform(-1, 1, (n, n))
    a[np.arange(n), np.arange(n)] += n
    b = rng.normal(size=n)
    x = solve(a, b)
    print("residual below 1e-9:", bool(np.linalg.norm(a @ x - b) < 1e-9))
    print(np.round(x[:5], 8))
    print("same as the direct solver:", np.allclose(x, np.linalg.solve(a, b)))
