"""QR by Householder reflections, and Gaussian elimination: loops over blocks of a matrix that shrink in each step."""

import numpy as np

SIZES = {"tiny": 6, "small": 40, "medium": 320}


def reflections(a):
    m, n = a.shape
    r = a.copy()
    q = np.eye(m)
    for k in range(n):
        v = r[k:, k].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        r[k:, k:] -= 2 * np.outer(v, v @ r[k:, k:])
        q[:, k:] -= 2 * np.outer(q[:, k:] @ v, v)
    return q, r


def elimination(a, b):
    n = len(b)
    a, x = a.copy(), b.copy()
    for k in range(n - 1):
        factors = a[k + 1 :, k] / a[k, k]
        a[k + 1 :, k:] -= factors[:, None] * a[k, k:]
        x[k + 1 :] -= factors * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - a[k, k + 1 :] @ x[k + 1 :]) / a[k, k]
    return x


def main(m):
    n = 3 * m // 4
    rng = np.random.default_rng(34)
    a = rng.normal(size=(m, n))
    q, r = reflections(a)
    print("orthogonal:", np.allclose(q.T @ q, np.eye(m)), "product:", np.allclose(q @ r, a))
    print("diagonal %.6f" % np.abs(np.diag(r)).sum())
    square = a[:n] + n * np.eye(n)
    x = elimination(square, a[0])
    print("solution %.9f" % x.sum(), "residual is small:", np.abs(square @ x - a[0]).max() < 1e-10)
