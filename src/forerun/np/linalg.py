"""Linear algebra, in NumPy's names: `forerun.np.linalg`."""

from numpy.linalg import LinAlgError as LinAlgError

from ..ops.linalg import array_api as matrix
from ..ops.linalg import eig as eigenvalues
from ..ops.linalg import lstsq as leastsquares
from ..ops.linalg import norm as norms
from ..ops.linalg import solve as solving
from ..ops.linalg import svd_qr as decompositions
from ..ops.linalg.array_api import *  # noqa: F403
from ..ops.linalg.eig import *  # noqa: F403
from ..ops.linalg.lstsq import *  # noqa: F403
from ..ops.linalg.norm import *  # noqa: F403
from ..ops.linalg.solve import *  # noqa: F403
from ..ops.linalg.svd_qr import *  # noqa: F403

_names = [name for part in (decompositions, eigenvalues, leastsquares, matrix, norms, solving) for name in part.__all__]
__all__ = [*_names, "LinAlgError"]
