"""Random numbers, in NumPy's names: `forerun.np.random`."""

from numpy.random import SeedSequence as SeedSequence

from ..ops.counts import *  # noqa: F403
from ..ops.counts import __all__ as _counts
from ..ops.densities import *  # noqa: F403
from ..ops.densities import __all__ as _densities
from ..ops.distributions import *  # noqa: F403
from ..ops.distributions import __all__ as _distributions
from ..ops.generators import *  # noqa: F403
from ..ops.generators import __all__ as _generators
from ..ops.random import *  # noqa: F403
from ..ops.random import __all__ as _basic

__all__ = ["SeedSequence", *_basic, *_distributions, *_densities, *_counts, *_generators]
