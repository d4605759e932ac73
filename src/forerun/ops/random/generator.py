"""Generators: objects that draw random numbers from streams of their own."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy

from .._base.random_stream import OwnStream, Stream, drawing_from
from . import choice as choices
from . import integers as whole
from . import permutations, uniform_normal
from .families import continuous, counts, location_scale, multivariate
from .families import exponential as exponentials
from .families import gamma as gammas
from .limits import FINITE, NOT_NEGATIVE

if TYPE_CHECKING:
    from ...typing import Array, DeviceLike, DTypeLike, Out, Shape

__all__ = ["BitGenerator", "Generator", "RandomState", "default_rng"]


class BitGenerator:
    """The source of a generator's numbers: ChaCha with eight rounds, keyed by a seed and the operation's number.

    Parameters
    ----------
    seed : int, sequence of ints or SeedSequence, optional
        None takes the system's randomness. Integers must not be negative.

    Raises
    ------
    ValueError
        For a negative seed.
    TypeError
        For a seed of another kind.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.BitGenerator(5).state["drawn"]
    0
    """

    def __init__(self, seed: object = None) -> None:
        kind = numpy.random.SeedSequence
        self.seed_seq = seed if isinstance(seed, kind) else kind(_entropy(seed))
        self.stream = OwnStream(int(self.seed_seq.generate_state(1, numpy.uint64)[0]))

    @property
    def state(self) -> dict[str, Any]:
        """The seed of the stream, and how many operations have drawn from it. It can be set."""
        return {"bit_generator": "ChaCha8", "seed": self.stream.seed, "drawn": self.stream.drawn}

    @state.setter
    def state(self, value: dict[str, Any]) -> None:
        if not isinstance(value, dict) or set(value) != {"bit_generator", "seed", "drawn"}:
            raise ValueError(f"set_state: state must be the state of a generator, got {type(value).__name__}")
        self.stream = OwnStream(value["seed"], value["drawn"])

    def spawn(self, n_children: int) -> list[BitGenerator]:
        """Return bit generators whose streams are independent of this one's and of one another.

        Examples
        --------
        >>> from forerun import np
        >>> len(np.random.default_rng(0).bit_generator.spawn(2))
        2
        """
        return [BitGenerator(s) for s in self.seed_seq.spawn(n_children)]


def _entropy(seed: Any) -> Any:
    """Return a seed for SeedSequence: forerun arrays as NumPy's, which waits."""
    if seed is None:
        return int.from_bytes(os.urandom(16))
    return seed.numpy() if hasattr(seed, "wait_to_read") else seed


P = ParamSpec("P")
R = TypeVar("R")


def _method(function: Callable[P, R]) -> Callable[Concatenate[Any, P], R]:
    """A function of random numbers as a method, of the same parameters, that draws from the generator's stream."""

    def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with drawing_from(self._stream()):
            return function(*args, **kwargs)

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = inspect.signature(function)
    method.__signature__ = known.replace(parameters=[own, *known.parameters.values()])  # type: ignore[attr-defined]
    return method


def _uniform(
    low: float = 0.0, high: float = 1.0, size: Shape | None = None, dtype: DTypeLike = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Draw numbers evenly spread over [low, high), as `np.random.uniform` gives them.

    Parameters
    ----------
    low, high : float or array_like, optional
        The bounds: the lower one belongs to the range, the upper one does not.
    size : int or tuple of ints, optional
        The shape of the result; None for that of the bounds.
    dtype : dtype, optional
        A dtype of floats; None for the default one.
    device, ctx : device, optional
        The device of the result; None for the current one. Both names mean the same.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        The numbers.

    Raises
    ------
    ValueError
        If `high` is below `low`.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.default_rng(0).uniform(2, 3, 4).shape
    (4,)
    """
    return uniform_normal.uniform_of_width((FINITE, NOT_NEGATIVE), low, high, size, dtype, device or ctx, out)


_uniform.__name__ = "uniform"


class _Draws:
    """The distributions that both kinds of generators have."""

    def _stream(self) -> Stream:
        raise NotImplementedError

    beta = _method(gammas.beta)
    binomial = _method(counts.binomial)
    bytes = _method(whole.bytes)
    chisquare = _method(gammas.chisquare)
    choice = _method(choices.choice)
    dirichlet = _method(multivariate.dirichlet)
    exponential = _method(exponentials.exponential)
    f = _method(gammas.f)
    gamma = _method(gammas.gamma)
    geometric = _method(counts.geometric)
    gumbel = _method(location_scale.gumbel)
    hypergeometric = _method(counts.hypergeometric)
    laplace = _method(location_scale.laplace)
    logistic = _method(location_scale.logistic)
    lognormal = _method(location_scale.lognormal)
    logseries = _method(counts.logseries)
    multinomial = _method(multivariate.multinomial)
    multivariate_normal = _method(multivariate.multivariate_normal)
    negative_binomial = _method(counts.negative_binomial)
    noncentral_chisquare = _method(gammas.noncentral_chisquare)
    noncentral_f = _method(gammas.noncentral_f)
    normal = _method(uniform_normal.normal)
    pareto = _method(exponentials.pareto)
    permutation = _method(permutations.permutation)
    poisson = _method(counts.poisson)
    power = _method(exponentials.power)
    random = _method(uniform_normal.random)
    rayleigh = _method(exponentials.rayleigh)
    shuffle = _method(permutations.shuffle)
    standard_cauchy = _method(continuous.standard_cauchy)
    standard_exponential = _method(exponentials.standard_exponential)
    standard_gamma = _method(gammas.standard_gamma)
    standard_normal = _method(uniform_normal.standard_normal)
    standard_t = _method(continuous.standard_t)
    triangular = _method(continuous.triangular)
    vonmises = _method(continuous.vonmises)
    wald = _method(continuous.wald)
    weibull = _method(exponentials.weibull)
    zipf = _method(counts.zipf)


class Generator(_Draws):
    """Random numbers from a stream of its own, with the methods of NumPy's Generator. Made by `default_rng`.

    The numbers that a method draws are fixed when it is called: by the seed, and by the number of calls before. It
    does not depend on other generators or threads. Floats are of the default float. Copies and pickles continue from
    the generator's state.

    Parameters
    ----------
    bit_generator : BitGenerator
        The source of its numbers.

    Examples
    --------
    >>> from forerun import np
    >>> a, b = np.random.default_rng(5), np.random.default_rng(5)
    >>> (a.normal(size=4) == b.normal(size=4)).all().item()
    True
    """

    def __init__(self, bit_generator: BitGenerator) -> None:
        if not isinstance(bit_generator, BitGenerator):
            raise TypeError(f"Generator: bit_generator must be a BitGenerator of forerun, got {bit_generator!r}")
        self.bit_generator = bit_generator

    def _stream(self) -> Stream:
        return self.bit_generator.stream

    integers = _method(whole.integers)
    uniform = _method(_uniform)
    multivariate_hypergeometric = _method(multivariate.multivariate_hypergeometric)
    permuted = _method(permutations.permuted)

    def spawn(self, n_children: int) -> list[Generator]:
        """Return generators whose streams are independent of this one's and of one another.

        >>> from forerun import np
        >>> len(np.random.default_rng(1).spawn(3))
        3
        """
        return [Generator(b) for b in self.bit_generator.spawn(n_children)]

    def __repr__(self) -> str:
        return "Generator(ChaCha8)"


class RandomState(_Draws):
    """Random numbers from a stream of its own, with NumPy's older names for them. See `Generator`.

    Parameters
    ----------
    seed : int, sequence of ints or SeedSequence, optional
        None takes the system's randomness. Integers must not be negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.RandomState(5).rand(2, 3).shape
    (2, 3)
    """

    def __init__(self, seed: int | None = None) -> None:
        self._bits = BitGenerator(seed)

    def _stream(self) -> Stream:
        return self._bits.stream

    uniform = _method(uniform_normal.uniform)
    rand = _method(uniform_normal.rand)
    randint = _method(whole.randint)
    randn = _method(uniform_normal.randn)
    random_integers = _method(whole.random_integers)
    random_sample = _method(uniform_normal.random_sample)
    tomaxint = _method(whole.tomaxint)

    def seed(self, seed: object = None) -> None:
        """Seed the stream anew.

        >>> from forerun import np
        >>> state = np.random.RandomState(1); state.seed(2)
        """
        self._bits = BitGenerator(seed)

    def get_state(self, legacy: bool = True) -> dict[str, Any]:
        """Return the state of the stream. legacy is ignored.

        >>> from forerun import np
        >>> np.random.RandomState(1).get_state()["drawn"]
        0
        """
        return self._bits.state

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state of the stream from `get_state`. ValueError for another kind of state.

        >>> from forerun import np
        >>> np.random.RandomState(1).set_state(np.random.RandomState(2).get_state())
        """
        self._bits.state = state

    def __repr__(self) -> str:
        return "RandomState(ChaCha8)"


def default_rng(seed: object = None) -> Generator:
    """Return a generator with a stream of its own.

    Parameters
    ----------
    seed : int, sequence of ints, SeedSequence, BitGenerator or Generator, optional
        None for the system's randomness, an integer that is not negative, a sequence of those, a SeedSequence, a
        BitGenerator of forerun; a Generator is returned as it is.

    Returns
    -------
    Generator
        The generator.

    Raises
    ------
    ValueError, TypeError
        For another seed.

    Examples
    --------
    >>> from forerun import np
    >>> rng = np.random.default_rng(0)
    >>> rng.integers(3, 4, size=2).tolist(), rng.normal(size=(2, 3)).shape
    ([3, 3], (2, 3))
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, BitGenerator) else BitGenerator(seed))
