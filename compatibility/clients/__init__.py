"""Libraries that take "any array", called with forerun's: their results, and whether they wait.

A module per library. Each has `VERSIONS`, the packages that it tests; `names(asarray)`, the names in its expressions,
made of arrays of one kind; and `ROWS`, expressions by subject, one a line. `python -m compatibility.clients.run NAME`
evaluates them.
"""

NAMES = [
    "array_api_compat", "array_api_extra", "dask", "einops", "matplotlib", "pandas", "scipy", "sklearn", "xarray",
]  # fmt: skip
