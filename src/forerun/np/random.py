"""Random numbers, in NumPy's names: `forerun.np.random`."""

from typing import Any as _Any

import numpy as _numpy

from ..ops.random.basic import *  # noqa: F403
from ..ops.random.basic import __all__ as _basic
from ..ops.random.choice import *  # noqa: F403
from ..ops.random.choice import __all__ as _choices
from ..ops.random.counts import *  # noqa: F403
from ..ops.random.counts import __all__ as _counts
from ..ops.random.densities import *  # noqa: F403
from ..ops.random.densities import __all__ as _densities
from ..ops.random.distributions import *  # noqa: F403
from ..ops.random.distributions import __all__ as _distributions
from ..ops.random.generator import *  # noqa: F403
from ..ops.random.generator import __all__ as _generators

__all__ = ["SeedSequence", *_basic, *_choices, *_distributions, *_densities, *_counts, *_generators]  # noqa: F405


def __getattr__(name: str) -> _Any:
    if name == "SeedSequence":  # NumPy's random numbers take a while to import
        return _numpy.random.SeedSequence
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
