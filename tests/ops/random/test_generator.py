"""Generators, and the distributions that NumPy draws: as named, a function of the seed, on time."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading

import numpy
import pytest
from scipy import stats

import forerun
from forerun import np
from stress.fuzz.modes import configured

N = 20_000

# Arguments of each method, and SciPy's distribution of its numbers.
CONTINUOUS = {
    "beta": ((2.0, 3.0), stats.beta(2, 3)),
    "chisquare": ((4.0,), stats.chi2(4)),
    "exponential": ((2.0,), stats.expon(0, 2)),
    "f": ((5.0, 7.0), stats.f(5, 7)),
    "gamma": ((2.0, 3.0), stats.gamma(2, 0, 3)),
    "gumbel": ((1.0, 2.0), stats.gumbel_r(1, 2)),
    "laplace": ((1.0, 2.0), stats.laplace(1, 2)),
    "logistic": ((1.0, 2.0), stats.logistic(1, 2)),
    "lognormal": ((1.0, 0.5), stats.lognorm(0.5, 0, numpy.e)),
    "noncentral_chisquare": ((4.0, 2.0), stats.ncx2(4, 2)),
    "noncentral_f": ((5.0, 7.0, 2.0), stats.ncf(5, 7, 2)),
    "normal": ((1.0, 2.0), stats.norm(1, 2)),
    "pareto": ((3.0,), stats.lomax(3)),
    "power": ((3.0,), stats.powerlaw(3)),
    "random": ((), stats.uniform()),
    "rayleigh": ((2.0,), stats.rayleigh(0, 2)),
    "standard_cauchy": ((), stats.cauchy()),
    "standard_exponential": ((), stats.expon()),
    "standard_gamma": ((2.0,), stats.gamma(2)),
    "standard_normal": ((), stats.norm()),
    "standard_t": ((5.0,), stats.t(5)),
    "triangular": ((0.0, 1.0, 3.0), stats.triang(1 / 3, 0, 3)),
    "uniform": ((1.0, 3.0), stats.uniform(1, 2)),
    "vonmises": ((0.0, 2.0), stats.vonmises(2)),
    "wald": ((1.0, 2.0), stats.invgauss(0.5, 0, 2)),
    "weibull": ((2.0,), stats.weibull_min(2)),
}
DISCRETE = {
    "binomial": ((10, 0.3), stats.binom(10, 0.3)),
    "geometric": ((0.3,), stats.geom(0.3)),
    "hypergeometric": ((10, 15, 8), stats.hypergeom(25, 10, 8)),
    "integers": ((2, 9), stats.randint(2, 9)),
    "logseries": ((0.6,), stats.logser(0.6)),
    "negative_binomial": ((4, 0.4), stats.nbinom(4, 0.4)),
    "poisson": ((3.0,), stats.poisson(3)),
    "zipf": ((3.0,), stats.zipf(3)),
}
DRAWN = {**CONTINUOUS, **DISCRETE}
SOURCES = {"functions": lambda: np.random, "generator": lambda: np.random.default_rng(12)}


def count_agreement(x: numpy.ndarray, distribution) -> float:
    """How well counts agree with a discrete distribution: the chi-square test over values that are not rare."""
    values = numpy.arange(distribution.ppf(1e-9), distribution.ppf(0.999) + 1)
    expected = len(x) * distribution.pmf(values)
    common = expected > 10
    counts = numpy.array([(x == v).sum() for v in values[common]])
    rest = len(x) - counts.sum(), len(x) - expected[common].sum()
    seen, wanted = (numpy.append(v, r) for v, r in zip((counts, expected[common]), rest))
    if rest[1] < 5:  # nearly all values are common
        seen, wanted = seen[:-1], wanted[:-1]
    return stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions_are_as_named(name, source):
    parameters, distribution = CONTINUOUS[name]
    x = getattr(SOURCES[source](), name)(*parameters, size=N)
    assert x.dtype == "float32"
    assert stats.kstest(x.asnumpy().astype("float64"), distribution.cdf).pvalue > 1e-3


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions_are_as_named(name, source):
    parameters, distribution = DISCRETE[name]
    x = getattr(SOURCES[source](), name)(*parameters, size=N)
    assert x.dtype == "int64"
    assert count_agreement(x.asnumpy(), distribution) > 1e-3


@pytest.mark.parametrize("name", [n for n, (p, _) in DRAWN.items() if p])
def test_parameters_that_are_arrays_broadcast(name):
    parameters, distribution = DRAWN[name]
    first, *rest = (numpy.asarray(p) for p in parameters)
    x = getattr(np.random, name)(np.array(numpy.full((N // 2, 2), first)), *(np.array(p) for p in rest))
    assert x.shape == (N // 2, 2)
    values = x.asnumpy().reshape(-1).astype("float64")
    found = count_agreement(values, distribution) if name in DISCRETE else stats.kstest(values, distribution.cdf).pvalue
    assert found > 1e-3


BROKEN = {
    "beta": (-1.0, 2.0), "binomial": (-1, 0.5), "chisquare": (-1.0,), "exponential": (-1.0,), "f": (-1.0, 2.0),
    "gamma": (-1.0,), "geometric": (2.0,), "gumbel": (0.0, -1.0), "hypergeometric": (-1, 2, 2), "laplace": (0.0, -1.0),
    "logistic": (0.0, -1.0), "lognormal": (0.0, -1.0), "logseries": (2.0,), "negative_binomial": (2, 2.0),
    "noncentral_chisquare": (-1.0, 1.0), "noncentral_f": (-1.0, 2.0, 1.0), "normal": (0.0, -1.0), "pareto": (-1.0,),
    "poisson": (-1.0,), "power": (-1.0,), "rayleigh": (-1.0,), "standard_gamma": (-1.0,), "standard_t": (-1.0,),
    "triangular": (2.0, 1.0, 0.0), "vonmises": (0.0, -1.0), "wald": (-1.0, 1.0), "weibull": (-1.0,), "zipf": (0.5,),
    "integers": (3, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_parameters_that_numpy_refuses_are_refused(name):
    with pytest.raises(ValueError):
        getattr(numpy.random.default_rng(0), name)(*BROKEN[name], size=3)
    with pytest.raises(ValueError, match=r".+: .+, got -?\d"):
        getattr(np.random, name)(*BROKEN[name], size=3)


@pytest.mark.parametrize("name", [n for n in BROKEN if n not in ("normal",)])
def test_arrays_of_parameters_that_numpy_refuses_poison_the_result(name):
    x = getattr(np.random, name)(*(np.array(p) for p in BROKEN[name]))
    for _ in range(2):
        with pytest.raises(ValueError):
            x.numpy()


def everything(rng):
    """Some numbers of each kind, as bytes."""
    drawn = [getattr(rng, name)(*parameters, size=3000) for name, (parameters, _) in DRAWN.items()]
    drawn += [rng.permutation(100), rng.choice(50, 20, replace=False)]
    drawn += [rng.permuted(np.arange(60).reshape(6, 10), axis=1)]
    drawn += [rng.dirichlet([1.0, 2.0], 5), rng.multivariate_hypergeometric([3, 4, 5], 6, 7)]
    drawn += [rng.multinomial(9, [0.25, 0.75], 5), rng.multivariate_normal([0.0, 1.0], np.eye(2), 5)]
    return [x.asnumpy().tobytes() for x in drawn]


def test_numbers_do_not_depend_on_the_thread():
    with configured(engine="sync"):
        expected = everything(np.random.default_rng(3))
    for workers in (1, 4):
        with configured(engine="async", workers=workers):
            assert everything(np.random.default_rng(3)) == expected


def test_a_generator_is_independent_of_others():
    a, b = np.random.default_rng(3), np.random.default_rng(3)
    alone = [a.normal(size=5).tolist(), a.gamma(2.0, size=5).tolist()]
    first = b.normal(size=5).tolist()
    np.random.normal(size=5)
    np.random.default_rng(4).normal(size=5)
    assert [first, b.gamma(2.0, size=5).tolist()] == alone
    assert np.random.default_rng(4).normal(size=5).tolist() != alone[0]


def test_the_shared_stream_does_not_see_generators():
    first = np.random.normal(size=5).tolist()
    np.random.seed(12)
    np.random.default_rng(3).normal(size=5)
    assert np.random.normal(size=5).tolist() == first


def test_children_are_independent():
    rng = np.random.default_rng(3)
    drawn = [g.normal(size=N).asnumpy() for g in (rng, *rng.spawn(2), *np.random.default_rng(4).spawn(1))]
    for i in range(4):
        for j in range(i):
            assert abs(numpy.corrcoef(drawn[i], drawn[j])[0, 1]) * N**0.5 < 4
    again = np.random.default_rng(3).spawn(2)[1].normal(size=N)
    assert (again.asnumpy() == drawn[2]).all()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
@pytest.mark.parametrize("made", [np.random.default_rng, np.random.RandomState])
def test_copies_continue_from_the_state_of_the_generator(made, copied):
    rng = made(3)
    rng.normal(size=3)
    other = copied(rng)
    assert [other.normal(size=4).tolist() for _ in range(2)] == [rng.normal(size=4).tolist() for _ in range(2)]
    assert copy.copy(rng).normal(size=4).tolist() != rng.normal(size=4).tolist()  # which shares the stream


def test_states_can_be_kept():
    for rng in (np.random, np.random.RandomState(3)):
        state = rng.get_state()
        first = [rng.normal(size=3).tolist(), rng.gamma(2.0, size=3).tolist()]
        rng.set_state(state)
        assert [rng.normal(size=3).tolist(), rng.gamma(2.0, size=3).tolist()] == first
        with pytest.raises(ValueError, match="set_state: state must be the state of"):
            rng.set_state(("MT19937", [1, 2]))
    rng = np.random.default_rng(3)
    state = rng.bit_generator.state
    first = rng.normal(size=3).tolist()
    rng.bit_generator.state = state
    assert rng.normal(size=3).tolist() == first


def test_threads_share_a_generator():
    """Each call gets a number of its own: together they draw the numbers of one thread."""
    rng, each, threads = np.random.default_rng(3), 200, 4
    found: list[list[float]] = []

    def draw():
        found.append([rng.uniform(dtype="float64") for _ in range(each)])

    helpers = [threading.Thread(target=draw) for _ in range(threads)]
    for t in helpers:
        t.start()
    for t in helpers:
        t.join()
    alone = np.random.default_rng(3)
    expected = [alone.uniform(dtype="float64").item() for _ in range(each * threads)]
    assert sorted(x.item() for part in found for x in part) == sorted(expected)


def test_seeds():
    first = np.random.default_rng([1, 2]).normal(size=3).tolist()
    assert np.random.default_rng(np.random.SeedSequence([1, 2])).normal(size=3).tolist() == first
    rng = np.random.default_rng(5)
    assert np.random.default_rng(rng) is rng
    assert np.random.default_rng().normal(size=3).tolist() != np.random.default_rng().normal(size=3).tolist()
    for seed, kind in ((-1, ValueError), ("one", TypeError), (1.5, TypeError)):
        with pytest.raises(kind):
            numpy.random.default_rng(seed)
        with pytest.raises(kind):
            np.random.default_rng(seed)
    with pytest.raises(TypeError, match="Generator: bit_generator must be a BitGenerator of forerun"):
        np.random.Generator(numpy.random.PCG64(1))


@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
def test_results_are_written_into_out(name):
    out = np.zeros((2, 3), "float64")
    found = getattr(np.random.default_rng(3), name)(out=out)
    assert found is out
    assert out.tolist() == getattr(np.random.default_rng(3), name)((2, 3), dtype="float64").tolist()
    with pytest.raises(ValueError, match=f"{name}: size must be that of out"):
        getattr(np.random, name)(size=3, out=out)
    with pytest.raises(TypeError, match=f"{name}: dtype must be that of out"):
        getattr(np.random, name)(dtype="float32", out=out)


def test_choice_and_order_along_an_axis():
    rng, x = np.random.default_rng(3), np.arange(12).reshape(3, 4)
    assert rng.choice(x, 2, axis=1).shape == (3, 2)
    assert sorted(rng.choice(9, 9, replace=False, shuffle=False).tolist()) == list(range(9))
    columns = rng.permutation(x, axis=1).T.tolist()
    assert sorted(columns) == x.T.tolist()
    y = x.copy()
    rng.shuffle(y, axis=1)
    assert sorted(y.T.tolist()) == x.T.tolist()
    z = rng.permuted(x, axis=1, out=x.copy())
    assert np.sort(z, 1).tolist() == x.tolist()
    with pytest.raises(ValueError, match="choice: there must be something to choose from"):
        rng.choice(0, 2)


def test_integers_of_arrays():
    low, high = [0, 10], [[11], [20]]
    x = np.random.default_rng(3).integers(np.array(low), np.array(high), (1000, 2, 2)).asnumpy()
    assert (x.min(0) == numpy.broadcast_to(low, (2, 2))).all()
    assert (x.max(0) == numpy.broadcast_to(high, (2, 2)) - 1).all()


def test_methods_do_not_wait():
    """Each method returns while the inputs of its parameters are delayed."""
    go = threading.Event()
    late = np.array(forerun.npx.host(lambda: (go.wait(), numpy.float64(0.5))[1], [], [((), "float64")])[0])
    try:
        drawn = [np.random.default_rng(1).binomial(9, late, 3), np.random.gamma(late, size=2), np.random.poisson(late)]
        assert not any(x.ready for x in drawn)
    finally:
        go.set()
    forerun.wait(drawn)


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
def test_methods_and_parameters_are_numpys(kind):
    kind_of_forerun, kind_of_numpy = getattr(np.random, kind), getattr(numpy.random, kind)
    for name in (n for n in dir(kind_of_numpy) if not n.startswith("_") and callable(getattr(kind_of_numpy, n))):
        want = list(inspect.signature(getattr(kind_of_numpy, name)).parameters.values())
        got = list(inspect.signature(getattr(kind_of_forerun, name)).parameters.values())
        got = [p for p in got if p.name not in ("device", "ctx")]
        names = [p.name for p in want]
        shared = [p.name for p in got if p.name in names]
        assert shared == names or name in {"rand", "randn"}, name
        for p, q in zip(want, [p for p in got if p.name in names]):
            assert p.default == q.default or (q.default is None or p.name in ("n", "nsample", "dtype")), name
