"""Sales by month with pandas, and NumPy's results for its columns."""

import numpy as np
import pandas as pd

SIZES = {"tiny": 60, "small": 500, "medium": 100_000}


def main(n):
    rng = np.random.default_rng(41)
    frame = pd.DataFrame({
        "shop": rng.choice(["a", "b", "c"], n),
        "price": np.round(rng.lognormal(2, 0.5, n), 2),
        "pieces": rng.integers(1, 10, n),
    })  # fmt: skip
    frame["total"] = frame["price"] * frame["pieces"]
    print(frame.groupby("shop")["total"].agg(["count", "mean", "max"]).round(3))
    values = frame["total"].to_numpy()
    print("log %.6f" % np.log(values).mean(), type(np.log(frame["total"])).__name__)
    edges = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
    print(np.digitize(values, edges[1:-1])[:10], np.round(edges, 3))
    weights = np.array(frame["pieces"], dtype=float)
    print("weighted %.6f" % np.average(frame["price"], weights=weights))
    wide = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=list("xyz"))
    print(wide.to_string(), np.linalg.norm(wide.values))
