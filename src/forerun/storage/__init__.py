"""Files as operations: written whole or not at all, read with distrust, beside the computation.

- `replacing`: the old file, or the new one, never a part; `direct`: large values without a copy;
- `npy`, `tensors`: formats, without the engine;
- `order`: which files are about to be written; `issue`: reads and writes as operations on the queue for files.

The names that users call stand in `forerun.np`, `forerun.npx` and `forerun.safetensors`.
"""
