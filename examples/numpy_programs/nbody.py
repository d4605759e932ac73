"""Stars that attract each other, in steps of leapfrog; energy is kept."""

import numpy as np

SIZES = {"tiny": 8, "small": 40, "medium": 400}


def acceleration(pos, mass, soft=0.1):
    d = pos[np.newaxis, :, :] - pos[:, np.newaxis, :]
    inv = (np.sum(d**2, axis=2) + soft**2) ** -1.5
    return np.sum(d * (mass[np.newaxis, :] * inv)[:, :, np.newaxis], axis=1)


def energy(pos, vel, mass, soft=0.1):
    kinetic = 0.5 * np.sum(mass * np.sum(vel**2, axis=1))
    d = pos[np.newaxis] - pos[:, np.newaxis]
    r = np.sqrt(np.sum(d**2, axis=2) + soft**2)
    upper = np.triu_indices(len(mass), k=1)
    return kinetic - np.sum((mass[:, None] * mass[None, :] / r)[upper])


def main(n):
    np.random.seed(17)
    mass = np.ones(n) / n
    pos, vel = np.random.randn(n, 3), np.random.randn(n, 3) * 0.1
    vel -= np.mean(mass[:, None] * vel, axis=0) / np.mean(mass)
    acc, dt = acceleration(pos, mass), 0.01
    before = energy(pos, vel, mass)
    for _ in range(30):
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = acceleration(pos, mass)
        vel += 0.5 * dt * acc
    print("energy before %.8f after %.6f" % (before, energy(pos, vel, mass)))
    print("centre", np.round(pos.mean(axis=0), 8))
    print("farthest %.6f" % np.sqrt((pos**2).sum(axis=1)).max())
