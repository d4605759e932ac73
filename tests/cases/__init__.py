"""The table of cases: a row per op. What is tested of each op follows from its row."""

from cases import choosing, editing, elementwise, network, randoms, reduction, shape, signal, statistics
from cases.table import Case

CASES: list[Case] = [
    *elementwise.ROWS,
    *shape.ROWS,
    *editing.ROWS,
    *choosing.ROWS,
    *reduction.ROWS,
    *statistics.ROWS,
    *signal.ROWS,
    *network.ROWS,
    *randoms.ROWS,
]

# What the namespaces offer beside ops.
NOT_OPS = {
    "np": {
        "dtype", "ndarray", "shape", "ndim", "size", "result_type", "may_share_memory", "shares_memory", "host_op",
        "save", "load", "savez", "set_printoptions", "iinfo", "finfo", "issubdtype", "promote_types", "can_cast",
        "broadcast_shapes", "isscalar", "iscomplexobj", "isrealobj", "broadcast", "flatiter", "ndenumerate", "ndindex",
        "nditer", "vectorize",
    },
    "np.fft": set(),
    "np.linalg": {"LinAlgError"},
    "np.random": {"seed"},
    "npx": {
        "cpu", "gpu", "num_gpus", "current_device", "current_context", "waitall", "set_np", "reset_np",
        "is_np_array", "is_np_shape", "save", "load", "random",
    },
}  # fmt: skip
