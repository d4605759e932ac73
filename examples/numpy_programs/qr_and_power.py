"""Eigenvalues without `eig`: the power method, inverse iteration, and the QR algorithm."""

import numpy as np

SIZES = {"tiny": 6, "small": 30, "medium": 200}


def gram_schmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        r[:j, j] = q[:, :j].T @ v
        v -= q[:, :j] @ r[:j, j]
        r[j, j] = np.linalg.norm(v)
        q[:, j] = v / r[j, j]
    return q, r


def main(n):
    rng = np.random.default_rng(33)
    basis, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.linspace(1, 4, n) ** 2
    a = basis @ np.diag(values) @ basis.T
    x = np.ones(n)
    for _ in range(200):
        x = a @ x
        x /= np.sqrt(x @ x)
    print("power %.3f" % (x @ a @ x))
    inverse = np.linalg.inv(a - 0.9 * np.eye(n))
    y = np.ones(n)
    for _ in range(30):
        y = inverse @ y
        y /= np.linalg.norm(y)
    print("inverse %.6f" % (y @ a @ y))
    q, r = gram_schmidt(a)
    print("orthogonal:", np.allclose(q.T @ q, np.eye(n), atol=1e-8), "product:", np.allclose(q @ r, a))
    try:
        np.linalg.cholesky(a - 2 * np.eye(n))
    except np.linalg.LinAlgError as error:
        print("refused:", error)
    print("determinant %.6f" % np.linalg.slogdet(a)[1])
