"""Spots and stripes: a reaction of two substances that diffuse."""

import numpy as np

SIZES = {"tiny": 16, "small": 64, "medium": 400}


def laplacian(a):
    return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a


def main(n):
    u, v = np.ones((n, n)), np.zeros((n, n))
    c, r = n // 2, max(2, n // 10)
    u[c - r : c + r, c - r : c + r] = 0.50
    v[c - r : c + r, c - r : c + r] = 0.25
    f, k = 0.060, 0.062
    for _ in range(60):
        uvv = u * v * v
        u += 0.16 * laplacian(u) - uvv + f * (1 - u)
        v += 0.08 * laplacian(v) + uvv - (f + k) * v
    print("u", u.min().round(6), u.max().round(6))
    print("v %.6f %.6f" % (v.min(), v.max()))
    print("share with spots %.4f" % (v > 0.1).mean())
    print(np.histogram(u, bins=4, range=(0, 1))[0])
