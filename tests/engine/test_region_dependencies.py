"""Operations on parts of one array: regions that do not overlap are independent, others are in order, in every mode."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np, npx
from forerun.testing import closed_gate
from tests.support.engine.late_arrays import failing_like, late_array
from tests.support.engine.settings import configured, running
from tests.support.engine.threads import run_in_threads
from tests.support.processes.subprocesses import PATIENCE


@pytest.fixture(autouse=True)
def anything_counts() -> Iterator[None]:
    """Small arrays are ordered by their parts, too, and nothing runs in the call."""
    with configured(passes="drop,fuse,reuse,apart"):
        _core.set_apart_from(0)
        yield
        _core.set_apart_from(5000)


def set_when_computed(go: threading.Event, x: Any) -> Any:
    """The array's values; their computation sets an event."""

    def task(values: numpy.ndarray) -> numpy.ndarray:
        go.set()
        return values

    return npx.host(task, [x], [(x.shape, x.dtype)])[0]


def written(shape: tuple[int, ...]) -> Any:
    """An array with values."""
    x = np.array(numpy.zeros(shape))
    x[...] = 1.0
    return x


PAIRS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "rows": lambda x: (x[:2], x[2:]),
    "columns": lambda x: (x[:, :3], x[:, 3:]),
    "blocks beside one another": lambda x: (x[1:3, :3], x[1:3, 3:]),
    "blocks below one another": lambda x: (x[:2, 1:3], x[2:, 1:3]),
    "blocks across": lambda x: (x[:3, 3:], x[1:, :3]),
    "even and odd columns": lambda x: (x[:, ::2], x[:, 1::2]),
    "even and odd rows": lambda x: (x[::2], x[1::2]),
    "a row and the rest": lambda x: (x[1], x[2:]),
    "a column, and another from below": lambda x: (x[:, 2], x[::-1, 4]),
    "an element and a row": lambda x: (x[0, 0:1], x[1]),
    "transposed": lambda x: (x.T[:2], x[:, 2:].T),
    "under another shape": lambda x: (x.reshape(2, 2, 6)[0], x.reshape(-1)[12:]),
}


class TestIndependent:
    @pytest.mark.parametrize("workers", [2, 4])
    @pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
    def test_writes(self, pair, workers):
        """The first write waits for a task, which waits for a reader of the second."""
        with configured(workers=workers):
            x = written((4, 6))
            first, second = pair(x)
            go = threading.Event()
            first[...] = late_array(go, value=2.0, shape=first.shape, dtype="float64")
            second[...] = 3.0
            seen = set_when_computed(go, second * 2)
            expected = numpy.ones((4, 6))
            for part, value in zip(pair(expected), (2.0, 3.0), strict=True):
                part[...] = value
            assert x.tolist() == expected.tolist()
            assert (seen == 6).all()

    def test_a_write_beside_a_read(self):
        """A task that reads a part still runs when values written beside it are read."""
        with configured(workers=2):
            x, go = written((4, 6)), threading.Event()

            def task(values: numpy.ndarray) -> numpy.ndarray:
                assert go.wait(PATIENCE)
                return values

            read = npx.host(task, [x[:2]], [((2, 6), "float64")])[0]
            x[2:] += 1
            assert x.tolist() == [[1.0] * 6] * 2 + [[2.0] * 6] * 2
            assert not read.ready
            go.set()
            assert (read == 1).all()

    def test_memory_that_comes_with_the_first_write(self):
        """Parts of an array that is itself still to be computed."""
        with configured(workers=2):
            go, begin = threading.Event(), threading.Event()
            x = late_array(begin, value=1.0, shape=(4, 6), dtype="float64") * 2
            x[:2] = late_array(go, value=3.0, shape=(2, 6), dtype="float64")
            x[2:] += 1
            seen = set_when_computed(go, x[2:])
            begin.set()
            assert x.tolist() == [[3.0] * 6] * 2 + [[3.0] * 6] * 2
            assert (seen == 3).all()

    def test_small_ops_are_ordered_with_all_regions(self):
        """By default: to know more would cost more than it brings."""
        _core.set_apart_from(5000)
        x, go = written((4, 6)), threading.Event()
        x[:2] = late_array(go, value=2.0, shape=(2, 6), dtype="float64")
        x[2:] = 3.0
        seen = x[2:] * 2
        assert not seen.ready
        go.set()
        assert (seen == 6).all()


class TestInOrder:
    """Of overlapping parts, with all hazards in flight at once."""

    def test_overlapping_writes(self, engine):
        x = written((4, 6))
        with closed_gate() if engine != "sync" else running("sync"):
            for i, (rows, columns) in enumerate(
                [(slice(0, 3), slice(0, 3)), (slice(2, 4), slice(1, 6)), (slice(0, 4), slice(2, 3))]
            ):
                x[rows, columns] += i + 1
                x[rows, columns] *= 2
        expected = numpy.ones((4, 6))
        for i, (rows, columns) in enumerate(
            [(slice(0, 3), slice(0, 3)), (slice(2, 4), slice(1, 6)), (slice(0, 4), slice(2, 3))]
        ):
            expected[rows, columns] = (expected[rows, columns] + i + 1) * 2
        assert x.tolist() == expected.tolist()

    def test_a_write_waits_for_overlapping_reads(self, ahead):
        x, go = written((4, 6)), threading.Event()
        before = x[1:3] + late_array(go, value=0.0, shape=(2, 6), dtype="float64")
        x[:2] = 5.0
        beside = x[3] + 1
        go.set()
        assert (before == 1).all()
        assert (beside == 2).all()
        assert x[:2].tolist() == [[5.0] * 6] * 2

    def test_reads_of_the_whole_see_all_writes(self, ahead):
        with closed_gate():
            x = np.zeros(100)
            for i in range(100):
                x[i : i + 1] = i
            total, again = x.sum(), x * 2
            x[50:] = 0
        assert total.item() == 4950
        assert again.tolist() == [2.0 * i for i in range(100)]
        assert x.sum().item() == 1225

    def test_more_parts_than_are_distinguished(self, ahead):
        with closed_gate():
            x = np.zeros(2000)
            for at in range(0, 2000, 3):
                x[at : at + 3] += x[at + 3 : at + 6].sum() + 1 if at % 2 else at
            parts = [x[at : at + 5] * 1 for at in range(0, 2000, 5)]
            x[:1000] -= x[1000:]
        expected = numpy.zeros(2000)
        for at in range(0, 2000, 3):
            expected[at : at + 3] += expected[at + 3 : at + 6].sum() + 1 if at % 2 else at
        assert numpy.concatenate([part.asnumpy() for part in parts]).tolist() == expected.tolist()
        expected[:1000] -= expected[1000:]
        assert x.tolist() == expected.tolist()

    def test_many_readers_of_the_whole(self, ahead):
        with closed_gate():
            x = written((4, 6))
            sums = [x.sum() + i for i in range(700)]
            for i in range(4):
                x[i] += i
        assert [s.item() for s in sums] == [24.0 + i for i in range(700)]
        assert x[:, 0].tolist() == [1, 2, 3, 4]

    def test_one_part_from_another_that_overlaps_it(self, engine):
        x = np.arange(12.0)
        x[1:] += x[:-1]
        x[::2] = x[::-2]
        expected = numpy.arange(12.0)
        expected[1:] += expected[:-1].copy()
        expected[::2] = expected[::-2].copy()
        assert x.tolist() == expected.tolist()


class TestMemoryOfOthers:
    def test_numpy_views_keep_their_values(self, ahead):
        x = written((4, 6))
        seen = x.asnumpy()
        x[:2] += 1
        x[2:] *= 3
        both = x.asnumpy()
        x[0] = 9
        x[3] = 9
        assert (seen == 1).all()
        assert both.tolist() == [[2.0] * 6] * 2 + [[3.0] * 6] * 2
        assert x[:, 0].tolist() == [9, 2, 3, 9]

    @pytest.mark.parametrize("part", [slice(None), slice(0, 2)], ids=["the whole", "a part"])
    def test_values_kept_by_a_task_are_not_overwritten(self, part, ahead):
        kept = []

        def task(values: numpy.ndarray) -> numpy.ndarray:
            kept.append(values)
            return values.sum()

        with closed_gate():
            x = written((4, 6))
            total = npx.host(task, [x[part]], [((), "float64")])[0]
            for i in range(4):
                x[i] += i + 1
        assert x[:, 0].tolist() == [2, 3, 4, 5]
        assert total.item() == kept[0].size
        assert (kept[0] == 1).all()

    def test_a_task_gets_the_strides_of_its_part(self, engine):
        """Its sums are NumPy's, to the last bit: the copy that it gets is walked in the same order."""
        values = numpy.random.default_rng(3).standard_normal((50, 70))
        x = np.array(values)
        for part in (
            lambda v: v[:, 10:60], lambda v: v.T[5:], lambda v: v[::2, ::-3],
            lambda v: v[3], lambda v: v[:, 3], lambda v: v[10:20],
        ):  # fmt: skip
            got = npx.host(
                lambda v: (v.sum(), v.sum(axis=0)),
                [part(x)],
                [((), "float64"), (part(values).shape[1:], "float64")],
            )
            assert got[0].item() == part(values).sum()
            assert got[1].tolist() == part(values).sum(axis=0).tolist()


class TestFailures:
    def test_only_overlapping_views_are_poisoned(self, ahead):
        with closed_gate():
            x = written((4, 6))
            x[1, 2:4] = failing_like(np.ones(2), KeyError)
            x[2] += 1
            beside, over = x[2:] * 2, x[:, 2] * 2
        assert beside.tolist() == [[4.0] * 6, [2.0] * 6]
        for bad in (x, x[1], x[:, 2:3], over, x[1, 3]):
            with pytest.raises(KeyError, match="here"):
                bad.wait()
        assert x[1, :2].tolist() == [1, 1]
        x[...] = 0
        assert (x == 0).all()

    def test_the_call_raises(self):
        with running("sync"):
            x = written((4, 6))
            part = x[1]
            with pytest.raises(KeyError):
                part[...] = failing_like(np.ones(6), KeyError)
            x[2:] += 1
            assert x[2:].tolist() == [[2.0] * 6] * 2

    @pytest.mark.parametrize("late_one", [0, 1])
    def test_of_two_failures_the_first_in_program_order_is_raised(self, late_one):
        """Whichever of them happens first."""
        go = threading.Event()

        def fail(i: int) -> Any:
            def task() -> numpy.ndarray:
                assert i != late_one or go.wait(PATIENCE)
                raise KeyError(f"number {i}")

            return npx.host(task, [], [((6,), "float64")])[0]

        with configured(workers=2):
            x = written((4, 6))
            for i in range(2):
                x[2 * i] = fail(i)
            early, late = (x[2 * i] + 1 for i in (1 - late_one, late_one))
            with pytest.raises(KeyError, match=f"number {1 - late_one}"):
                early.wait()
            assert not late.ready
            go.set()
            with pytest.raises(KeyError, match=f"number {late_one}"):
                late.wait()
            with pytest.raises(KeyError, match="number 0"):
                x.wait()

    def test_memory_that_a_failed_write_was_to_bring(self, ahead):
        with closed_gate():
            x = np.empty((4, 6))
            x[0] = failing_like(np.ones(6), KeyError)
            for i in range(1, 4):
                x[i] = i
        assert x[1:].tolist() == [[float(i)] * 6 for i in range(1, 4)]
        with pytest.raises(KeyError):
            x.wait()


class TestUnreadResults:
    def test_a_write_of_a_part_does_not_run(self, ahead):
        x = written((4, 6))
        x.wait()
        before = _core.stats()["dropped"]
        with closed_gate():
            x[1:3] = 5.0
            del x
            y = np.ones(3) + 1
        assert y.tolist() == [2, 2, 2]
        forerun.waitall()
        assert _core.stats()["dropped"] - before == 1


SIDE = 12


def random_views_program(xp: Any, seed: int, host: Callable[..., Any]) -> list[Any]:
    """Return the results of a program of views of two matrices."""
    rng = numpy.random.default_rng(seed)
    matrices = [xp.array(rng.integers(0, 100, (SIDE, SIDE))) for _ in range(2)]
    results = []

    def part(like: tuple[int, int] | None = None) -> tuple[slice, slice]:
        cuts = []
        for axis in range(2):
            step = int(rng.choice([1, 1, 1, 2, -1]))
            n = like[axis] if like else int(rng.integers(1, 5))
            reach = (n - 1) * abs(step) + 1
            if reach > SIDE:
                step, reach = 1, n
            low = int(rng.integers(0, SIDE - reach + 1))
            cuts.append(
                slice(low, low + reach, step) if step > 0 else slice(low + reach - 1, low - 1 if low else None, step)
            )
        return tuple(cuts)

    for _ in range(60):
        a, b = (matrices[i] for i in rng.integers(0, 2, 2))
        to = part()
        shape = numpy.empty((SIDE, SIDE))[to].shape
        source = b[part(shape)]
        match int(rng.integers(0, 9)):
            case 0:
                a[to] = source
            case 1:
                a[to] += source
            case 2:
                xp.subtract(a[to], source, out=a[to])
            case 3:
                a[to] = host(lambda v: v * 2 - 1, source)
            case 4:
                results.append(a[to].sum())
            case 5:
                results.append(a[to] * 1 + source)
            case 6:
                a[to][...] = int(rng.integers(0, 9))
            case 7:
                a[...] = a % 1001
            case 8:
                results.append(host(lambda v: v + 1, a))
    return results + matrices


@pytest.mark.parametrize("apart_from", [0, 5000])
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_programs_give_the_results_of_numpy(first, apart_from, engine):
    _core.set_apart_from(apart_from)

    def host(fn: Callable[..., Any], x: Any) -> Any:
        return npx.host(fn, [x], [(x.shape, x.dtype)])[0]

    for seed in range(first, first + 10):
        expected = random_views_program(numpy, seed, lambda fn, x: fn(x))
        for held in (False, True) if engine != "sync" else (False,):
            if held:
                _core.gate(True)
            try:
                got = random_views_program(np, seed, host)
            finally:
                _core.gate(False)
            for result, numpy_result in zip(got, expected, strict=True):
                assert result.tolist() == numpy_result.tolist(), seed


def test_threads_that_write_parts_of_one_array(ahead):
    x = np.zeros((8, 50))

    def work(i: int) -> None:
        for k in range(50):
            x[i] += i
            x[i] *= 2 - k % 2 * 1.5  # twice, then half of it

    run_in_threads(8, work)
    expected = numpy.zeros(8)
    for k in range(50):
        expected = (expected + numpy.arange(8)) * (2 - k % 2 * 1.5)
    assert x.tolist() == np.array(expected)[:, None].repeat(50, 1).tolist()
