"""Linear algebra, in NumPy's names: `forerun.np.linalg`."""

from numpy.linalg import LinAlgError as LinAlgError

from ..ops import decompositions, eigenvalues, leastsquares, matrix, norms, solving
from ..ops.decompositions import *  # noqa: F403
from ..ops.eigenvalues import *  # noqa: F403
from ..ops.leastsquares import *  # noqa: F403
from ..ops.matrix import *  # noqa: F403
from ..ops.norms import *  # noqa: F403
from ..ops.solving import *  # noqa: F403

_names = [name for part in (decompositions, eigenvalues, leastsquares, matrix, norms, solving) for name in part.__all__]
__all__ = [*_names, "LinAlgError"]
