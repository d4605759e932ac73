"""Random numbers: their distributions, their seeds, and that nobody's number of workers shows in them."""

import numpy
import pytest
from scipy import stats

from forerun import np

N = 200_000  # several tiles, the last one not full


@pytest.fixture(autouse=True)
def seeded():
    np.random.seed(12)


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
    assert stats.kstest(x, "norm", (1.5, 2)).pvalue > 1e-3


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


def test_other_work_between_does_not_matter():
    first = np.random.uniform(size=N)
    np.random.seed(12)
    _ = np.ones(1000) + 1
    assert (np.random.uniform(size=N) == first).all().item()


def test_streams_are_independent():
    a, b = np.random.normal(size=N), np.random.normal(size=N)
    assert abs(np.corrcoef(a, b)[0, 1].item()) < 0.01
    tile = 1 << 14  # each tile has a range of the counter of its own
    assert abs(np.corrcoef(a[:tile], a[tile : 2 * tile])[0, 1].item()) < 0.04


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
