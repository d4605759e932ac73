"""A network of two layers that learns exclusive or and more, written out."""

import numpy as np

SIZES = {"tiny": 30, "small": 200, "medium": 5_000}


def main(n):
    rng = np.random.default_rng(12)
    X = rng.uniform(-1, 1, (n, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    target = np.eye(2)[y]
    w1, b1 = rng.normal(0, 0.5, (2, 16)), np.zeros(16)
    w2, b2 = rng.normal(0, 0.5, (16, 2)), np.zeros(2)
    for epoch in range(120):
        h = np.maximum(X @ w1 + b1, 0)
        scores = h @ w2 + b2
        scores -= scores.max(axis=1, keepdims=True)
        p = np.exp(scores)
        p /= p.sum(axis=1, keepdims=True)
        if epoch % 40 == 0:
            print("epoch", epoch, "loss %.6f" % -np.log(p[np.arange(n), y] + 1e-12).mean())
        g = (p - target) / n
        gh = (g @ w2.T) * (h > 0)
        w2 -= 1.0 * h.T @ g
        b2 -= 1.0 * g.sum(axis=0)
        w1 -= 1.0 * X.T @ gh
        b1 -= 1.0 * gh.sum(axis=0)
    print("right %.4f" % (p.argmax(axis=1) == y).mean())
    print("weights %.5f" % np.linalg.norm(w1))
