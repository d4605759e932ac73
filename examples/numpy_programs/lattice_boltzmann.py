"""A flow around a cylinder, by the lattice Boltzmann method in two dimensions."""

import numpy as np

SIZES = {"tiny": 12, "small": 40, "medium": 160}
CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)


def equilibrium(rho, ux, uy):
    cu = CX[:, None, None] * ux + CY[:, None, None] * uy
    return rho * WEIGHTS[:, None, None] * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (ux**2 + uy**2))


def main(n):
    nx, ny, tau = 3 * n, n, 0.6
    x, y = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
    wall = (x - nx / 4) ** 2 + (y - ny / 2) ** 2 < (ny / 8) ** 2
    f = equilibrium(np.ones((nx, ny)), np.full((nx, ny), 0.05), 0.001 * np.sin(2 * np.pi * x / nx))
    opposite = [0, 3, 4, 1, 2, 7, 8, 5, 6]
    for _ in range(30):
        for i in range(9):
            f[i] = np.roll(f[i], (CX[i], CY[i]), axis=(0, 1))
        bounced = f[:, wall][opposite]
        rho = f.sum(axis=0)
        ux = (CX[:, None, None] * f).sum(axis=0) / rho
        uy = (CY[:, None, None] * f).sum(axis=0) / rho
        f += (equilibrium(rho, ux, uy) - f) / tau
        f[:, wall] = bounced
    print("mass %.8f" % (f.sum() / (nx * ny)))
    vorticity = np.gradient(uy, axis=0) - np.gradient(ux, axis=1)
    print("speed %.6f, vorticity %.6f" % (np.hypot(ux, uy)[~wall].max(), np.abs(vorticity[2:-2, 2:-2]).max()))
    print("drag sign", np.sign((bounced[1] - bounced[3]).sum()))
