"""A filter that follows a moving thing through noise."""

import numpy as np

SIZES = {"tiny": 20, "small": 100, "medium": 2_000}


def main(n):
    rng = np.random.default_rng(77)
    dt = 0.1
    F = np.array([[1, dt], [0, 1]])
    H = np.array([[1.0, 0.0]])
    Q = 0.01 * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    R = np.array([[0.25]])
    truth = np.cumsum(np.sin(np.arange(n) * 0.05)) * dt
    seen = truth + rng.normal(0, 0.5, n)
    x, P = np.zeros((2, 1)), np.eye(2)
    found = np.empty(n)
    for i in range(n):
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ (seen[i] - H @ x)
        P = (np.eye(2) - K @ H) @ P
        found[i] = x[0, 0]
    print("noise %.6f" % np.sqrt(np.mean((seen - truth) ** 2)))
    print("error %.6f" % np.sqrt(np.mean((found - truth) ** 2)))
    print(np.round(P, 6))
