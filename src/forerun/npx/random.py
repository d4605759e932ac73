"""Random numbers that NumPy has no name for: `forerun.npx.random`."""

from ..ops.random.npx_sampling import *  # noqa: F403
from ..ops.random.npx_sampling import __all__ as __all__
