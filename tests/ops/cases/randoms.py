"""Random numbers: a function of the seed, on every device. Other files test their distributions."""

import numpy

from tests.ops.cases.table import Case, Options, row


def drawn(name, *samples, **options):
    """A row for a distribution."""
    return row(f"np.random.{name}", *samples, random=True, **options)


def shares(x):
    """Probabilities in the proportion of some numbers."""
    return (x / x.sum()).astype(x.dtype)


ROWS: list[Case] = [
    drawn("uniform", lambda x: (-1, 2, (3, 4), x.dtype), lambda x: (x(3), 2.5), dtypes="hf"),
    drawn("normal", lambda x: (1, 2, (3, 4), x.dtype), lambda x: (x(3), 2.0, (2, 3)), dtypes="hf"),
    drawn("rand", lambda x: (3, 4)),
    drawn("randn", lambda x: (3, 4)),
    drawn("random", lambda x: ((3, 4),), lambda x: ()),
    drawn("standard_normal", lambda x: ((3, 4),)),
    drawn("randint", lambda x: (2, 9, (3, 4), x.dtype), lambda x: (5,), dtypes="iu"),
    drawn("integers", lambda x: (2, 9, (3, 4), x.dtype, True), dtypes="iu"),
    drawn("permutation", lambda x: (7,), lambda x: (x(5, 2),)),
    drawn("shuffle", lambda x: (x(5, 2),), in_place=True),
    drawn("choice", lambda x: (9, (3, 4)), lambda x: (x(9), 4, False), lambda x: (9, 4, True, shares(x(9, low=0.1)))),
    drawn("bernoulli", lambda x: (0.3, None, (3, 4)), lambda x: (x(4, low=0, high=1),), lambda x: (None, x(4))),
    drawn("exponential", lambda x: (2.0, (3, 4), x.dtype), lambda x: (x(3, low=1),)),
    drawn("gamma", lambda x: (2.0, 1.0, (3, 4), x.dtype)),
    drawn("beta", lambda x: (2.0, 1.0, (3, 4), x.dtype)),
    drawn("poisson", lambda x: (2.0, (3, 4))),
    drawn("binomial", lambda x: (9, 0.3, (3, 4)), lambda x: (9, x(3, low=0, high=1))),
    drawn("laplace", lambda x: (0.0, 1.0, (3, 4), x.dtype)),
    drawn("lognormal", lambda x: (0.0, 1.0, (3, 4), x.dtype)),
    drawn("logistic", lambda x: (0.0, 1.0, (3, 4), x.dtype)),
    drawn("gumbel", lambda x: (0.0, 1.0, (3, 4), x.dtype)),
    drawn("chisquare", lambda x: (3.0, (3, 4), x.dtype)),
    drawn("multinomial", lambda x: (9, numpy.array([0.2, 0.3, 0.5]), (3,)), lambda x: (9, shares(x(4, low=0.1)))),
    drawn("permuted", lambda x: (x(5, 2), Options(axis=0)), lambda x: (x(3, 4),), dtypes="if"),
    drawn("random_integers", lambda x: (5, 9, (3, 4))),
    drawn("tomaxint", lambda x: ((3, 4),)),
    row("np.random.bytes", lambda x: (5,), random=True, waits=True),
    *(
        drawn(name, lambda x: (2.0, 3.0, (3, 4), x.dtype), lambda x: (x(4, low=1), 3.0))
        for name in ("f", "wald", "noncentral_chisquare", "vonmises")
    ),
    *(
        drawn(name, lambda x: (2.0, (3, 4), x.dtype), lambda x: (x(4, low=1),))
        for name in ("pareto", "power", "rayleigh", "standard_t", "weibull")
    ),
    *(drawn(name, lambda x: ((3, 4), x.dtype)) for name in ("standard_cauchy", "standard_exponential")),
    drawn("standard_gamma", lambda x: (2.0, (3, 4), x.dtype)),
    drawn("noncentral_f", lambda x: (2.0, 3.0, 1.0, (3, 4), x.dtype), lambda x: (x(4, low=1), 3.0, 1.0)),
    drawn("triangular", lambda x: (0.0, 1.0, 3.0, (3, 4), x.dtype), lambda x: (0.0, x(4, low=1), 9.0)),
    *(
        drawn(name, lambda x: (0.5, (3, 4)), lambda x: (x(4, low=0.1, high=0.9),))
        for name in ("geometric", "logseries")
    ),
    drawn("hypergeometric", lambda x: (3, 4, 5, (3, 4)), lambda x: (numpy.array([3, 4]), 4, 5)),
    drawn("negative_binomial", lambda x: (3, 0.5, (3, 4)), lambda x: (3, x(4, low=0.1, high=0.9))),
    drawn("zipf", lambda x: (3.0, (3, 4)), lambda x: (x(4, low=1.5),)),
    drawn("dirichlet", lambda x: (x(4, low=1), 3)),
    drawn("multivariate_hypergeometric", lambda x: (numpy.array([3, 4, 5]), 6, (3,))),
    drawn(
        "multivariate_normal",
        lambda x: (x(2), numpy.eye(2), Options(size=(3,))),
    ),
]
