"""The table of cases: a row per op. The tests of each op follow from its row."""

from tests.ops.cases import (
    conv_pool,
    elementwise,
    linalg,
    names,
    network,
    randoms,
    reduction,
    shape,
    signal,
    statistics,
)
from tests.ops.cases.mxnet_only import mxnet, mxnet_functions, mxnet_images
from tests.ops.cases.selection import insert_delete, select, sliding_window
from tests.ops.cases.table import Case

CASES: list[Case] = [
    *elementwise.ROWS,
    *shape.ROWS,
    *insert_delete.ROWS,
    *select.ROWS,
    *reduction.ROWS,
    *linalg.ROWS,
    *statistics.ROWS,
    *signal.ROWS,
    *sliding_window.ROWS,
    *network.ROWS,
    *mxnet.ROWS,
    *mxnet_functions.ROWS,
    *mxnet_functions.ARGUMENTS,
    *mxnet_images.ROWS,
    *conv_pool.ROWS,
    *randoms.ROWS,
    *names.ROWS,
]

FURTHER = [*names.ARGUMENTS, *mxnet_functions.ARGUMENTS]  # further rows of ops that have one

# Names of the namespaces that are not ops.
NOT_OPS = {
    "np": {
        "dtype", "ndarray", "shape", "ndim", "size", "result_type", "may_share_memory", "shares_memory", "host_op",
        "host_ops",
        "from_dlpack", "save", "load", "savez", "savez_compressed", "savetxt", "loadtxt", "genfromtxt", "fromfile",
        "set_printoptions", "iinfo", "finfo", "issubdtype", "promote_types", "can_cast",
        "broadcast_shapes", "einsum_path", "isscalar", "iscomplexobj", "isrealobj", "array2string", "array_repr",
        "array_str",
        "base_repr", "binary_repr", "errstate", "format_float_positional", "format_float_scientific",
        "get_printoptions", "geterr", "printoptions", "seterr", "typename", "iterable", "isfortran",
        "isdtype", "min_scalar_type", "common_type",
        "broadcast", "flatiter", "ndenumerate", "ndindex", "nditer", "vectorize",
    },
    "np.fft": set(),
    "np.linalg": {"LinAlgError"},
    "np.random": {
        "seed", "get_state", "set_state", "Generator", "RandomState", "BitGenerator", "SeedSequence", "default_rng",
    },
    "npx": {
        "cpu", "cpu_pinned", "gpu", "num_gpus", "current_device", "current_context", "waitall", "set_np", "reset_np",
        "is_np_array", "is_np_shape", "save", "load", "random", "seed", "savez", "from_numpy",
        "to_dlpack_for_read", "from_dlpack",
    },
    "npx.image": set(),
    "npx.random": {"seed"},
}  # fmt: skip
