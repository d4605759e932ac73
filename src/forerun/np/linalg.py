"""Linear algebra, in NumPy's names: `forerun.np.linalg`."""

from numpy.linalg import LinAlgError as LinAlgError

from ..ops.linalg import *  # noqa: F403
from ..ops.linalg import __all__ as _names

__all__ = [*_names, "LinAlgError"]
