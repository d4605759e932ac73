"""Random numbers, in NumPy's names: `forerun.np.random`."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

import numpy as _numpy

from .._display.namespaces import dir_of
from ..ops.random.choice import choice
from ..ops.random.families.continuous import standard_cauchy, standard_t, triangular, vonmises, wald
from ..ops.random.families.counts import (
    bernoulli, binomial, geometric, hypergeometric, logseries, negative_binomial, poisson, zipf,
)  # fmt: skip
from ..ops.random.families.exponential import exponential, pareto, power, rayleigh, standard_exponential, weibull
from ..ops.random.families.gamma import (
    beta, chisquare, f, gamma, noncentral_chisquare, noncentral_f, standard_gamma,
)  # fmt: skip
from ..ops.random.families.location_scale import gumbel, laplace, logistic, lognormal
from ..ops.random.families.multivariate import (
    dirichlet, multinomial, multivariate_hypergeometric, multivariate_normal,
)  # fmt: skip
from ..ops.random.generator import BitGenerator, default_rng, Generator, RandomState
from ..ops.random.integers import bytes, integers, randint, random_integers, tomaxint
from ..ops.random.permutations import permutation, permuted, shuffle
from ..ops.random.seeding import get_state, seed, set_state
from ..ops.random.uniform_normal import (
    normal, rand, randn, random, random_sample, ranf, sample, standard_normal, uniform,
)  # fmt: skip

if _TYPE_CHECKING:
    from numpy.random import SeedSequence

__all__ = [
    "bernoulli", "beta", "binomial", "BitGenerator", "bytes", "chisquare", "choice", "default_rng", "dirichlet",
    "exponential", "f", "gamma", "Generator", "geometric", "get_state", "gumbel", "hypergeometric", "integers",
    "laplace", "logistic", "lognormal", "logseries", "multinomial", "multivariate_hypergeometric",
    "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto",
    "permutation", "permuted", "poisson", "power", "rand", "randint", "randn", "random", "random_integers",
    "random_sample", "RandomState", "ranf", "rayleigh", "sample", "seed", "SeedSequence", "set_state", "shuffle",
    "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "tomaxint",
    "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
]  # fmt: skip
__dir__ = dir_of(__name__)


def __getattr__(name: str) -> _Any:
    if name == "SeedSequence":  # NumPy's random numbers take a while to import
        return _numpy.random.SeedSequence
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
