"""Linear algebra, in NumPy's names: `forerun.np.linalg`."""

from numpy.linalg import LinAlgError

from ..ops.linalg.array_api import cross, diagonal, matmul, matrix_transpose, multi_dot, outer, tensordot, trace, vecdot
from ..ops.linalg.eig import eig, eigh, eigvals, eigvalsh
from ..ops.linalg.lstsq import lstsq, matrix_rank, pinv
from ..ops.linalg.norm import cond, matrix_norm, norm, vector_norm
from ..ops.linalg.solve import det, inv, matrix_power, slogdet, solve, tensorinv, tensorsolve
from ..ops.linalg.svd_qr import cholesky, qr, svd, svdvals

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "LinAlgError",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip
