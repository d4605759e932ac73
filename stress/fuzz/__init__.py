"""Random whole programs, run in every mode of the engine and compared bit by bit.

- `program`: programs, made from a number and kept in files.
- `pool`, `steps`: the language: the effect of a step on a pool of arrays.
- `numpy_back`, `marked`: programs over NumPy, which also predicts poisoned arrays.
- `forerun_back`, `modes`: programs over forerun, in each mode.
- `check`: one program in several modes against its references. `shrink`: the smallest program that still fails.
- `batch`, `watch`, `__main__`: many programs, in processes that may crash or hang (`make fuzz`).
- `files`: bytes and texts for everything that reads them.
"""
