"""Poisson's equation on a square by conjugate gradients, with a stencil for the matrix."""

import numpy as np

SIZES = {"tiny": 12, "small": 48, "medium": 200}


def laplace(u):
    """Minus the Laplacian with zeros around."""
    v = 4.0 * u
    v[1:] -= u[:-1]
    v[:-1] -= u[1:]
    v[:, 1:] -= u[:, :-1]
    v[:, :-1] -= u[:, 1:]
    return v


def solve(b, tolerance=1e-8, most=1000):
    x = np.zeros_like(b)
    r = b - laplace(x)
    p = r.copy()
    rr = np.sum(r * r)
    for k in range(most):
        ap = laplace(p)
        alpha = rr / np.sum(p * ap)
        x += alpha * p
        r -= alpha * ap
        new = np.sum(r * r)
        if np.sqrt(new) < tolerance:
            break
        p = r + (new / rr) * p
        rr = new
    return x, k + 1


def main(n):
    t = np.linspace(0, np.pi, n + 2)[1:-1]
    b = np.outer(np.sin(t), t * np.cos(t))
    x, steps = solve(b)
    print("steps", steps)
    print("largest %.6e" % x.max(), "smallest %.6e" % x.min())
    print("residual below 1e-6:", bool(np.abs(laplace(x) - b).max() < 1e-6))
