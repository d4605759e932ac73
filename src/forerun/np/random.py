"""Random numbers, in NumPy's names: `forerun.np.random`."""

from ..ops.distributions import *  # noqa: F403
from ..ops.distributions import __all__ as _distributions
from ..ops.random import *  # noqa: F403
from ..ops.random import __all__ as _basic

__all__ = [*_basic, *_distributions]
