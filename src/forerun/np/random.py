"""Random numbers, in NumPy's names: `forerun.np.random`."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

import numpy as _numpy

from ..ops.random.basic import (
    bernoulli, bytes, get_state, integers, normal, permutation, permuted, rand, randint, randn, random,
    random_integers, random_sample, ranf, sample, seed, set_state, shuffle, standard_normal, tomaxint, uniform,
)  # fmt: skip
from ..ops.random.choice import choice
from ..ops.random.counts import (
    dirichlet, geometric, hypergeometric, logseries, multivariate_hypergeometric, negative_binomial, zipf,
)  # fmt: skip
from ..ops.random.densities import (
    f, noncentral_chisquare, noncentral_f, pareto, power, rayleigh, standard_cauchy, standard_exponential,
    standard_gamma, standard_t, triangular, vonmises, wald, weibull,
)  # fmt: skip
from ..ops.random.distributions import (
    beta, binomial, chisquare, exponential, gamma, gumbel, laplace, logistic, lognormal, multinomial,
    multivariate_normal, poisson,
)  # fmt: skip
from ..ops.random.generator import BitGenerator, default_rng, Generator, RandomState

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


def __getattr__(name: str) -> _Any:
    if name == "SeedSequence":  # NumPy's random numbers take a while to import
        return _numpy.random.SeedSequence
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
