"""Random numbers that NumPy has no name for: `forerun.npx.random`."""

from ..ops.sampling import *  # noqa: F403
from ..ops.sampling import __all__ as __all__
