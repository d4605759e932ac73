"""Random numbers that NumPy has no name for: `forerun.npx.random`."""

from ..ops.random.npx_sampling import bernoulli, categorical, multinomial, normal_n, seed, uniform_n

__all__ = [
    "bernoulli", "categorical", "multinomial", "normal_n", "seed", "uniform_n",
]  # fmt: skip
