"""pandas from forerun arrays and back; pandas itself computes with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
import pandas

VERSIONS = ["pandas"]


def names(asarray: Any) -> dict[str, Any]:
    """A matrix and a vector, and a frame and a series of pandas."""
    frame = pandas.DataFrame({"k": [1.0, 2.0, 3.0, 4.0]}, index=[10, 20, 30, 40])
    return {
        "pd": pandas, "numpy": numpy, "xp": asarray, "table": asarray(numpy.arange(24.0).reshape(4, 6)),
        "v": asarray([4.0, 2.0, 3.0, 1.0]), "n": asarray([0, 2]), "frame": frame, "series": frame["k"],
    }  # fmt: skip


ROWS = {
    "from forerun arrays": """
        pd.DataFrame(table)
        pd.DataFrame(table, columns=list('abcdef'))
        pd.DataFrame({'a': v, 'b': v * 2})
        pd.Series(v)
        pd.Series(v, index=[1, 2, 3, 4])
        pd.Index(v)
        pd.Series(v).sort_values()
        pd.concat([pd.Series(v), pd.Series(v)])
        frame.assign(a=v)
        pd.DataFrame(table).mean()
    """,
    "with forerun arrays": """
        frame[v > 2]
        frame.iloc[n]
        series.where(v > 2)
        pd.cut(v, 2, labels=False)
        frame.groupby(v).sum()
        series.add(v)
        series + v
        pd.factorize(v)[0]
        pd.isna(v)
        series.map(lambda k: k).to_numpy() + v.shape[0]
    """,
    "to forerun arrays": """
        xp(frame)
        xp(series)
        xp(frame.index)
        v + xp(series)
    """,
}
