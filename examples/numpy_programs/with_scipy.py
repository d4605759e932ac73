"""SciPy beside NumPy: sparse matrices, optimization, integration, statistics."""

import numpy as np
from scipy import integrate, optimize, sparse, special
from scipy.sparse.linalg import spsolve

SIZES = {"tiny": 20, "small": 100, "medium": 20_000}


def main(n):
    rng = np.random.default_rng(50)
    matrix = sparse.diags([-np.ones(n - 1), 2.5 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1]).tocsc()
    b = np.sin(np.linspace(0, 3, n))
    x = spsolve(matrix, b)
    print("solved:", np.allclose(matrix @ x, b), "%.6f" % np.abs(x).max())
    rosenbrock = lambda p: np.sum(100 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2)
    found = optimize.minimize(rosenbrock, np.zeros(3), method="BFGS")
    print("minimum", np.round(found.x, 3))
    sun = integrate.solve_ivp(lambda t, s: np.array([s[1], -s[0]]), (0, 6.0), [1.0, 0.0], rtol=1e-8)
    print("oscillator %.5f" % sun.y[0, -1])
    sample = sparse.random(n, n, density=0.1, random_state=np.random.default_rng(1)).sum(axis=0)
    print("columns %.6f" % np.asarray(sample).std(), type(sample).__name__)
    normal = special.erfinv(rng.uniform(-1, 1, n)) * np.sqrt(2)
    print("normal %.6f %.6f" % (np.mean(normal), special.ndtr(normal).mean()))
