"""Random whole programs, run in every mode of the engine and compared bit by bit.

- `program`: programs, how they are generated from a number, and their files.
- `pool`, `steps`: the language: the effects of steps on a pool of arrays.
- `numpy_back`, `marked`: programs over NumPy, which also predict the poisoned arrays.
- `forerun_back`, `modes`: programs over forerun, in each mode.
- `check`: one program in several modes against its references. `shrink`: the smallest program that still fails.
- `batch`, `watch`, `__main__`: many programs, in processes that may crash or hang (`make fuzz`).
- `files`: bytes and texts for all functions that read them.
"""
