"""Random numbers: their distributions, their seeds, and that they do not depend on the number of workers."""

import numpy
import pytest
from scipy import stats

from forerun import np
from tests.support.engine.settings import configured

N = 200_000  # several tiles, the last one not full


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_numbers_are_spread_evenly(dtype):
    x = np.random.uniform(-2, 3, N, dtype).asnumpy()
    assert x.dtype == dtype
    assert x.min() >= -2
    assert x.max() < 3
    assert stats.kstest(x, "uniform", (-2, 5)).pvalue > 1e-3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_normal(dtype):
    x = np.random.normal(1.5, 2, N, dtype).asnumpy()
    assert stats.kstest((x - 1.5) / 2, "norm").pvalue > 1e-3


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (0, 7, "int64"),
        (-3, 4, "int8"),
        (0, 2, "bool"),
        (250, 256, "uint8"),
        (-40_000, -39_000, "int32"),
        (5, 6, "uint16"),
    ],
)
def test_integers_are_spread_evenly(low, high, dtype):
    x = np.random.randint(low, high, N, dtype)
    assert x.dtype == dtype
    counts = numpy.bincount(x.asnumpy().astype("int64") - low, minlength=high - low)
    assert counts.size == high - low
    if high - low > 1:
        assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (-(2**63), 2**63, "int64"),
        (0, 2**64, "uint64"),
        (0, 2**32, "uint32"),
        (0, 2**40, "int64"),
        (-(2**31), 2**31, "int32"),
    ],
)
def test_wide_ranges_are_used_from_end_to_end(low, high, dtype):
    x = np.random.randint(low, high, N, dtype).asnumpy()
    share = (x.astype("float64") - low) / (high - low)
    assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_the_seed_and_the_number_of_the_call_decide():
    first, second = np.random.normal(size=N), np.random.normal(size=N)
    np.random.seed(12)
    again = np.random.normal(size=N)
    assert (first == again).all().item()
    assert not (first == second).any().item()
    np.random.seed(13)
    assert not (np.random.normal(size=N) == first).any().item()


class TestSeedsOfSeveralIntegers:
    @staticmethod
    def drawn(seed):
        np.random.seed(seed)
        return np.random.normal(size=8).tolist()

    @pytest.mark.parametrize("wrap", [list, tuple, numpy.array, np.array])
    def test_all_count_in_their_order(self, wrap):
        seeds = [1, 2, 3]
        assert self.drawn(wrap(seeds)) == self.drawn(seeds)
        others = [1], [1, 2], [3, 2, 1], [1, 2, 4]
        assert all(self.drawn(wrap(other)) != self.drawn(seeds) for other in others)

    def test_the_numbers_are_those_of_numpys_seed_sequence(self):
        word = int(numpy.random.SeedSequence([7, 8]).generate_state(1, numpy.uint64)[0])
        assert self.drawn([7, 8]) == self.drawn(word)

    def test_a_number_may_be_an_array_without_axes(self):
        assert self.drawn(np.array(5)) == self.drawn(numpy.int64(5)) == self.drawn(5)

    @pytest.mark.parametrize("seed", [[], [-1], [[1, 2], [3, 4]]])
    def test_wrong_values_are_refused(self, seed):
        with pytest.raises(ValueError, match="seed: "):
            np.random.seed(seed)

    @pytest.mark.parametrize("seed", [1.5, [1.5], "5", [2**70]])
    def test_non_integer_seed_raises(self, seed):
        with pytest.raises(TypeError, match="seed: "):
            np.random.seed(seed)


def test_other_work_between_does_not_matter():
    first = np.random.uniform(size=N)
    np.random.seed(12)
    _ = np.ones(1000) + 1
    assert (np.random.uniform(size=N) == first).all().item()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_have_the_moments_and_tails(dtype):
    n = 4_000_000
    x = np.random.normal(size=n, dtype=dtype).asnumpy().astype("float64")
    for power, moment, variance in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10_170)]:
        assert abs((x**power).mean() - moment) < 4 * (variance / n) ** 0.5
    for far in (3, 4, 4.5):
        for side in (x, -x):
            expected = n * stats.norm.sf(far)
            assert abs((side > far).sum() - expected) < 4 * expected**0.5 + 1
    assert 4.5 < abs(x).max() < 6.7


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_near_zero_are_as_dense_as_elsewhere(dtype):
    n, small = 4_000_000, 1e-4
    for x, density in [
        (np.random.normal(size=n, dtype=dtype), 2 * stats.norm.pdf(0)),
        (np.random.exponential(size=n, dtype=dtype), 1.0),
    ]:
        near = abs(x.asnumpy())
        near = near[near < small]
        assert abs(near.size - n * density * small) < 4 * (n * density * small) ** 0.5
        assert stats.kstest(near / small, "uniform").pvalue > 1e-3
        assert near.min() > 0


@pytest.mark.parametrize(
    ("name", "parameters", "scipy"),
    [
        ("exponential", (2.0,), ("expon", (0, 2))),
        ("laplace", (1.0, 2.0), ("laplace", (1, 2))),
        ("logistic", (1.0, 2.0), ("logistic", (1, 2))),
        ("gumbel", (1.0, 2.0), ("gumbel_r", (1, 2))),
        ("lognormal", (1.0, 0.5), ("lognorm", (0.5, 0, numpy.e))),
        ("gamma", (2.0, 3.0), ("gamma", (2, 0, 3))),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_further_distributions_are_as_named(name, parameters, scipy, dtype):
    draw = getattr(np.random, name)
    x = draw(*parameters, size=N, dtype=dtype)
    assert x.dtype == dtype
    assert stats.kstest(x.asnumpy(), *scipy).pvalue > 1e-3
    arrays = draw(*(np.array(p) for p in parameters), size=N, dtype=dtype)
    assert stats.kstest(arrays.asnumpy(), *scipy).pvalue > 1e-3


@pytest.mark.parametrize("name", ["exponential", "laplace", "logistic", "gumbel", "lognormal", "normal"])
def test_scale_must_not_be_negative(name):
    with pytest.raises(ValueError, match=f"{name}: (scale|sigma) must not be negative, got -1"):
        getattr(np.random, name)(scale=-1.0, size=3) if name != "lognormal" else np.random.lognormal(sigma=-1.0)


def correlation(a: numpy.ndarray, b: numpy.ndarray) -> float:
    return float(numpy.corrcoef(a, b)[0, 1]) * len(a) ** 0.5  # about standard normal if they are independent


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_streams_are_independent(dtype):
    a, b = (np.random.normal(size=N, dtype=dtype).asnumpy() for _ in range(2))
    for f in (lambda x: x, numpy.square, numpy.abs):
        assert abs(correlation(f(a), f(b))) < 4
        # Neighbours; the halves of a chunk, which share radii; chunks; tiles.
        for apart in (1, 2, 16, 64, 128, 256, 4096, 1 << 15, 1 << 16):
            assert abs(correlation(f(a[apart:]), f(a[:-apart]))) < 4.5


def test_pairs_of_neighbours_fill_the_square():
    x = np.random.uniform(size=2 * N).asnumpy()
    for pairs in (x.reshape(-1, 2).T, x[: 256 * 1500].reshape(-1, 2, 128).swapaxes(0, 1).reshape(2, -1)):
        counts, _, _ = numpy.histogram2d(*pairs, bins=20, range=[[0, 1], [0, 1]])
        assert stats.chisquare(counts.ravel()).pvalue > 1e-3


def chacha8(key: list[int], counter: int) -> list[int]:
    """A block of 16 words, as Bernstein's paper describes it."""
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, counter, 0, 0, 0]
    x = list(start)

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for i, j, k, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[i] = (x[i] + x[j]) % 2**32
            mixed = x[k] ^ x[i]
            x[k] = (mixed << by | mixed >> (32 - by)) % 2**32

    for _ in range(4):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(a + b) % 2**32 for a, b in zip(x, start)]


def test_words_are_those_of_chacha8():
    seed, number = 2**40 + 5, 1
    np.random.seed(seed)
    _ = np.random.uniform(size=3)
    words = np.random.randint(0, 2**64, 500, "uint64").asnumpy().view("uint32")
    key = [seed % 2**32, seed >> 32, number, 0, 0, 0, 0, 0]
    blocks = numpy.array([chacha8(key, i) for i in range(64)], "uint32")  # sixteen are a chunk, stored word by word
    assert (words == blocks.reshape(4, 16, 16).swapaxes(1, 2).ravel()[:1000]).all()


@pytest.mark.parametrize("high", [3 << 61, (1 << 63) + 1, (1 << 20) - 1, 3])
def test_refused_words_are_replaced(high):
    x = np.random.randint(0, high, N, "uint64").asnumpy()
    assert (x < high).all()
    if high > 3:
        assert stats.kstest(x.astype("float64") / high, "uniform").pvalue > 1e-3


DRAWS = {
    "uniform": lambda size: np.random.uniform(-1, 2, size),
    "uniform64": lambda size: np.random.uniform(-1, 2, size, "float64"),
    "normal": lambda size: np.random.normal(size=size),
    "normal64": lambda size: np.random.normal(1, 2, size, "float64"),
    "exponential": lambda size: np.random.exponential(size=size),
    "integers": lambda size: np.random.randint(0, 1000, size),
    "wide integers": lambda size: np.random.randint(0, 3 << 61, size),
}
EDGES = [
    0,
    1,
    127,
    128,
    129,
    255,
    256,
    257,
    (1 << 15) - 1,
    (1 << 15) + 1,
    (1 << 16) - 1,
    (1 << 16) + 1,
    3 << 16,
]


@pytest.mark.parametrize("name", DRAWS)
def test_a_longer_array_begins_like_a_shorter_one(name):
    def drawn(size):
        np.random.seed(3)
        return DRAWS[name](size).asnumpy()

    longest = drawn(EDGES[-1])
    for size in EDGES:
        assert (drawn(size) == longest[:size]).all()


@pytest.mark.parametrize("name", DRAWS)
def test_number_of_workers_does_not_show(name):
    def drawn(**settings):
        with configured(**settings):
            np.random.seed(3)
            return [DRAWS[name](size).asnumpy().tobytes() for size in EDGES]

    expected = drawn(engine="sync")
    for workers in (1, 2, 4):
        assert drawn(engine="async", workers=workers) == expected


def test_permutations_have_each_number_once():
    order = np.random.permutation(1000)
    assert sorted(order.tolist()) == list(range(1000))
    assert order.tolist() != list(range(1000))


def test_all_modes_draw_the_same(engine):
    np.random.seed(5)
    drawn = [
        np.random.uniform(size=N), np.random.normal(size=N, dtype="float64"), np.random.randint(0, 1000, N),
        np.random.permutation(500), np.random.gamma(2.0, size=100), np.random.choice(50, 20, replace=False),
    ]  # fmt: skip
    digest = [hash(x.asnumpy().tobytes()) for x in drawn]
    assert SEEN.setdefault("digest", digest) == digest


SEEN: dict[str, list[int]] = {}
