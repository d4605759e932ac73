"""Spins on a lattice at a temperature: the checkerboard form of Metropolis's method."""

import numpy as np

SIZES = {"tiny": 8, "small": 32, "medium": 300}


def sweep(spins, beta, rng, black):
    for colour in (black, ~black):
        around = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
        gain = 2 * spins * around
        accept = rng.random(spins.shape) < np.exp(-beta * gain)
        spins[accept & colour] *= -1


def main(n):
    rng = np.random.default_rng(7)
    spins = rng.choice([-1, 1], size=(n, n))
    black = np.indices((n, n)).sum(axis=0) % 2 == 0
    magnetization = []
    for _ in range(40):
        sweep(spins, 0.5, rng, black)
        magnetization.append(spins.mean())
    m = np.array(magnetization)
    print("first", np.round(m[:4], 6))
    print("last %.6f, largest %.6f" % (m[-1], np.abs(m).max()))
    print("energy", -(spins * (np.roll(spins, 1, 0) + np.roll(spins, 1, 1))).sum())
