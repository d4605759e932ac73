"""Random numbers, in NumPy's names: `forerun.np.random`."""

from typing import Any as _Any

import numpy as _numpy

from ..ops.choices import *  # noqa: F403
from ..ops.choices import __all__ as _choices
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

__all__ = ["SeedSequence", *_basic, *_choices, *_distributions, *_densities, *_counts, *_generators]  # noqa: F405


def __getattr__(name: str) -> _Any:
    if name == "SeedSequence":  # NumPy's random numbers take a while to import
        return _numpy.random.SeedSequence
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
