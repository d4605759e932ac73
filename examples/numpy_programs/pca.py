"""Principal components, by eigenvalues and by singular values."""

import numpy as np
from numpy.linalg import eigh, norm, svd

SIZES = {"tiny": 30, "small": 200, "medium": 5_000}


def main(n):
    rng = np.random.default_rng(21)
    mixing = rng.normal(size=(3, 10))
    data = rng.normal(size=(n, 3)) * [5, 2, 1] @ mixing + 0.1 * rng.normal(size=(n, 10)) + np.arange(10)
    centred = data - data.mean(axis=0)
    cov = np.cov(centred, rowvar=False)
    values, vectors = eigh(cov)
    values, vectors = values[::-1], vectors[:, ::-1]
    share = values / values.sum()
    print("shares", np.round(share[:4], 6))
    u, s, vt = svd(centred, full_matrices=False)
    print("same variances:", np.allclose(s**2 / (n - 1), values))
    same = np.abs(np.sum(vectors[:, :3] * vt[:3].T, axis=0))
    print("same directions:", np.allclose(same, 1))
    scores = centred @ vectors[:, :3]
    print("error below a tenth:", bool(norm(centred - scores @ vectors[:, :3].T) / norm(centred) < 0.1))
