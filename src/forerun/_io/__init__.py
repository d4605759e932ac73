"""Files as operations: written whole or not at all, read with distrust, beside the computation.

`atomic_write`: the old file, or the new one, never a part; `direct_io`: large values without a copy. `npy`,
`safetensors`, `mxnet_params`: formats, without the engine. `ordering`: which files are about to be written;
`file_ops`: reads and writes as operations on the queue for files; `npz` and `named_arrays`: files with several
arrays; `numpy_files`, the functions with NumPy's names.

The public functions are in `forerun.np`, `forerun.npx` and `forerun.safetensors`.
"""
