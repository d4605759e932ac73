"""Register the Python functions and classes that the core, and modules below, call.

`engine` has the table of those that the engine calls, given when `forerun` is imported, and `arrays` the table of those
that arrays call, given when `forerun.np` is imported: `import forerun` is short. The core knows which entries each
table must have (core/python/wiring.cpp), and refuses an incomplete one: then the import fails, and the error names the
missing entry.

Three settings of the core are made elsewhere, because they are made later than these imports, by programs that ask for
it. Inside `as_numpy`, `_core.set_promotion` gives the core NumPy's rule for dtypes (`ops/_base/promotion.py`), and
`_core.set_fallback` gives it the functions to call where an operation refuses its operands (`as_numpy/arrays.py`);
both end with `as_numpy`. `_core.set_rank_failed` names the error of a failed rank, when a program of several ranks
opens MPI (`distributed/_world.py`). `tests/package/test_wiring.py` refuses any other.
"""
