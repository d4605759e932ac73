"""The cheapest way down through a field of costs, as in seam carving."""

import numpy as np

SIZES = {"tiny": 10, "small": 60, "medium": 700}


def cheapest(cost):
    rows, columns = cost.shape
    total = cost.copy()
    back = np.zeros((rows, columns), dtype=int)
    for i in range(1, rows):
        above = np.pad(total[i - 1], 1, constant_values=np.inf)
        choices = np.stack([above[:-2], above[1:-1], above[2:]])
        which = np.argmin(choices, axis=0)
        back[i] = which - 1
        total[i] += np.take_along_axis(choices, which[np.newaxis], axis=0)[0]
    path = [int(np.argmin(total[-1]))]
    for i in range(rows - 1, 0, -1):
        path.append(path[-1] + int(back[i, path[-1]]))
    return total[-1].min(), path[::-1]


def main(n):
    x, y = np.meshgrid(np.linspace(0, 6, n), np.linspace(0, 6, n))
    cost = np.abs(np.sin(3 * x + y) + np.cos(2 * y - x)) + 0.1
    best, path = cheapest(cost)
    print("cost %.6f" % best)
    print("straight down %.6f" % cost[:, path[0]].sum())
    print("path", path[:8], "...", path[-3:])
