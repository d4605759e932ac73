"""A wave on a membrane, by finite differences in time and space."""

import numpy as np

SIZES = {"tiny": 20, "small": 80, "medium": 600}


def main(n):
    x = np.linspace(-1, 1, n)
    X, Y = np.meshgrid(x, x, indexing="ij")
    now = np.exp(-40 * ((X - 0.2) ** 2 + Y**2))
    before = now.copy()
    c2 = 0.25
    energies = []
    for step in range(80):
        after = np.zeros_like(now)
        inner = now[1:-1, 1:-1]
        after[1:-1, 1:-1] = (
            2 * inner - before[1:-1, 1:-1]
            + c2 * (now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4 * inner)
        )
        if step % 20 == 0:
            energies.append(float(np.sum((after - now) ** 2)))
        before, now = now, after
    print("energies", ["%.6f" % e for e in energies])
    print("range %.5f %.5f" % (now.min(), now.max()))
    print("at the centre", np.round(now[n // 2, n // 2], 6))
