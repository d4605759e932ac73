"""Records of a structured dtype, text and dates, sorted and grouped."""

import numpy as np

SIZES = {"tiny": 20, "small": 200, "medium": 50_000}


def main(n):
    rng = np.random.default_rng(23)
    table = np.zeros(n, dtype=[("town", "U10"), ("day", "M8[D]"), ("rain", "f8")])
    towns = np.array(["Bergen", "Lima", "Oslo", "Rome"])
    which = rng.integers(0, 4, n)
    table["town"] = towns[which]
    table["day"] = np.datetime64("2024-01-01") + rng.integers(0, 365, n)
    table["rain"] = np.round(rng.gamma(2.0, 3.0, n) * (which + 1), 3)
    names, group = np.unique(table["town"], return_inverse=True)
    sums = np.zeros(len(names))
    np.add.at(sums, group, table["rain"])
    for name, total in zip(names, sums):
        print("%-8s %.4f" % (name, total))
    order = np.argsort(table, order=("town", "day"))
    print(table[order][["town", "day"]][:2])
    months = table["day"].astype("M8[M]")
    print(months.min(), months.max(), np.char.upper(names[:2]))
    print("wettest", table["town"][table["rain"].argmax()], table["rain"].max())
