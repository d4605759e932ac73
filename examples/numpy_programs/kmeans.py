"""Clusters of points by Lloyd's method, from starts that are far apart."""

import numpy as np

SIZES = {"tiny": 60, "small": 400, "medium": 30_000}


def start(points, k, rng):
    centres = [points[rng.integers(len(points))]]
    for _ in range(k - 1):
        d = np.min([((points - c) ** 2).sum(axis=1) for c in centres], axis=0)
        centres.append(points[rng.choice(len(points), p=d / d.sum())])
    return np.array(centres)


def main(n):
    rng = np.random.default_rng(0)
    truth = np.array([[0, 0], [5, 5], [0, 6], [6, -1]])
    points = np.concatenate([rng.normal(t, 0.7, (n // 4, 2)) for t in truth])
    centres = start(points, 4, rng)
    for step in range(20):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        label = distance.argmin(axis=1)
        new = np.array([points[label == j].mean(axis=0) if np.any(label == j) else centres[j] for j in range(4)])
        if np.allclose(new, centres):
            break
        centres = new
    order = np.lexsort((centres[:, 1], centres[:, 0]))
    print(np.round(centres[order], 4))
    print("sizes", np.sort(np.bincount(label, minlength=4)))
    print("inertia %.5f" % distance.min(axis=1).sum())
