"""Random whole programs, run in every mode of the engine and compared bit by bit.

- `program`: what a program is, how one follows from a number, how it is kept in a file.
- `pool`, `steps`: the language: what a step does to a pool of arrays.
- `numpy_back`, `marked`: programs over NumPy, which also foretells what is poisoned.
- `forerun_back`, `modes`: programs over forerun, in each mode.
- `check`: one program in several modes against its references. `shrink`: the smallest program that still fails.
- `batch`, `watch`, `__main__`: many programs, in processes that may crash or hang (`make fuzz`).
- `files`: bytes and texts for everything that reads them.
"""
