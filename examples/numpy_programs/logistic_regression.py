"""Two classes, by gradient descent with momentum and by Newton's method."""

import numpy as np

SIZES = {"tiny": 40, "small": 300, "medium": 50_000}


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def loss(w, X, y):
    p = np.clip(sigmoid(X @ w), 1e-12, 1 - 1e-12)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def main(n):
    np.random.seed(4)
    X = np.hstack([np.ones((n, 1)), np.random.randn(n, 4)])
    truth = np.array([0.5, 2.0, -1.0, 0.0, 0.7])
    y = (np.random.rand(n) < sigmoid(X @ truth)).astype(float)
    w, velocity = np.zeros(5), np.zeros(5)
    for _ in range(100):
        gradient = X.T @ (sigmoid(X @ w) - y) / n
        velocity = 0.9 * velocity - 0.5 * gradient
        w = w + velocity
    print("descent %.6f" % loss(w, X, y), np.round(w, 4))
    w = np.zeros(5)
    for _ in range(6):
        p = sigmoid(X @ w)
        hessian = (X * (p * (1 - p))[:, None]).T @ X + 1e-6 * np.eye(5)
        w -= np.linalg.solve(hessian, X.T @ (p - y))
    print("newton  %.6f" % loss(w, X, y), np.round(w, 4))
    print("right", np.mean((X @ w > 0) == (y == 1)))
