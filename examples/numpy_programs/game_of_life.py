"""Conway's game, on a torus."""

import numpy as np

SIZES = {"tiny": 12, "small": 64, "medium": 512}


def generation(alive):
    count = sum(
        np.roll(np.roll(alive, dy, axis=0), dx, axis=1)
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if dy or dx
    )
    return ((count == 3) | ((count == 2) & (alive == 1))).astype(np.uint8)


def main(n):
    rng = np.random.default_rng(1)
    world = (rng.random((n, n)) < 0.3).astype(np.uint8)
    history = [int(world.sum())]
    for _ in range(40):
        world = generation(world)
        history.append(int(world.sum()))
    print(history[:10])
    print("at the end", history[-1])
    glider = np.zeros((8, 8), dtype=np.uint8)
    glider[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    for _ in range(4):
        glider = generation(glider)
    print(glider)
