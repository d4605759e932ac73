"""Birds that keep together: each turns to the mean of its neighbours."""

import numpy as np

SIZES = {"tiny": 20, "small": 100, "medium": 700}


class Flock:
    def __init__(self, n, rng):
        self.rng = rng
        self.position = rng.uniform(0, 10, (n, 2))
        self.angle = rng.uniform(-np.pi, np.pi, n)

    def step(self):
        d = self.position[:, None] - self.position[None]
        d -= 10 * np.round(d / 10)
        near = (d**2).sum(axis=-1) < 1
        sines, cosines = near @ np.sin(self.angle), near @ np.cos(self.angle)
        self.angle = np.arctan2(sines, cosines) + self.rng.uniform(-0.15, 0.15, len(self.angle))
        self.position += 0.1 * np.column_stack([np.cos(self.angle), np.sin(self.angle)])
        self.position %= 10

    @property
    def order(self):
        return np.hypot(np.cos(self.angle).mean(), np.sin(self.angle).mean())


def main(n):
    flock = Flock(n, np.random.default_rng(6))
    print("before %.6f" % flock.order)
    for _ in range(25):
        flock.step()
    print("after %.6f" % flock.order)
    print("inside:", bool(np.all((flock.position >= 0) & (flock.position < 10))))
    print(np.round(flock.position[:2], 4))
