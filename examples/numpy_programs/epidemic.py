"""People who meet at random: susceptible, ill, immune."""

import numpy as np

SIZES = {"tiny": 200, "small": 2_000, "medium": 300_000}
SUSCEPTIBLE, ILL, IMMUNE = range(3)


def main(n):
    rng = np.random.default_rng(19)
    state = np.zeros(n, dtype=np.int8)
    state[rng.choice(n, 10, replace=False)] = ILL
    days_left = np.where(state == ILL, 5, 0)
    curve = []
    for _ in range(40):
        ill = np.flatnonzero(state == ILL)
        if ill.size == 0:
            break
        met = rng.integers(0, n, size=(ill.size, 4)).ravel()
        caught = np.unique(met[rng.random(met.size) < 0.12])
        caught = caught[state[caught] == SUSCEPTIBLE]
        days_left[ill] -= 1
        state[(state == ILL) & (days_left <= 0)] = IMMUNE
        state[caught] = ILL
        days_left[caught] = rng.integers(4, 9, caught.size)
        curve.append(int((state == ILL).sum()))
    print("days", len(curve), "worst", max(curve), "on day", int(np.argmax(curve)))
    print(np.bincount(state, minlength=3))
    print(curve[:8])
