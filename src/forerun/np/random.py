"""Random numbers, in NumPy's names: `forerun.np.random`."""

from ..ops.random import *  # noqa: F403
from ..ops.random import __all__ as __all__
