"""How long points of the plane stay near zero."""

import numpy as np

SIZES = {"tiny": 20, "small": 80, "medium": 500}


def main(n):
    x, y = np.linspace(-2, 0.5, n), np.linspace(-1.2, 1.2, n)
    c = x[np.newaxis, :] + 1j * y[:, np.newaxis]
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=int)
    for _ in range(40):
        inside = z.real**2 + z.imag**2 <= 4
        z[inside] = z[inside] ** 2 + c[inside]
        count += inside
    print("stay", (count == 40).sum(), "of", count.size)
    print(np.bincount(count.ravel(), minlength=41)[1:9])
    print(c.dtype, count[n // 2, :: max(1, n // 6)])
