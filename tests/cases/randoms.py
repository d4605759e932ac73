"""Random numbers: a function of the seed, whatever computes them. What they are like is tested elsewhere."""

import numpy

from cases.table import Case, Options, row


def drawn(name, *samples, **options):
    """A row for a distribution."""
    return row(f"np.random.{name}", *samples, random=True, **options)


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
    drawn("choice", lambda x: (9, (3, 4)), lambda x: (x(9), 4, False), lambda x: (9, 4, True, x(9, low=0))),
    drawn("bernoulli", lambda x: (0.3, (3, 4)), lambda x: (x(4, low=0, high=1),)),
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
    drawn("multinomial", lambda x: (9, numpy.array([0.2, 0.3, 0.5]), (3,)), lambda x: (9, x(4, low=0.1))),
    drawn("multivariate_normal", lambda x: (x(2), numpy.eye(2), Options(size=(3,))),),
]
