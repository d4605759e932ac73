"""Steps of captured programs that are fused when they are captured: same bits, fewer operations, less memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np, npx, profiler
from forerun.np import host
from forerun.testing import closed_gate
from stress.fuzz.forerun_back import RunningAhead
from stress.fuzz.program import Shape, seeded
from stress.fuzz.steps import FUSED_EXACT, FUSED_KINDS, Machine
from tests.support.comparison.bits import all_same_bits
from tests.support.engine.passes import ALL
from tests.support.engine.settings import configured
from tests.support.engine.waiting import wait_until_ready

KINDS = (
    *FUSED_KINDS, *FUSED_EXACT, "make", "drop", "slices", "transpose", "reshape", "assign", "out", "overlap", "update",
    "copy", "binary", "unary", "chain", "choose", "reduce", "scan", "sort", "smooth", "average", "random", "product",
)  # fmt: skip
SHAPES: dict[str, tuple[Shape, ...]] = {
    "small": ((), (1,), (5,), (0,), (3, 4), (4, 3), (12,)),
    "rows": ((30, 257), (257,), (30, 1), (257, 30)),
    "large": ((300, 257), (257,), (300, 1), (77_100,)),
}


def ops_of(call: Callable[[], Any]) -> int:
    """How many operations a call submits."""
    npx.waitall()
    before = forerun.stats()["issued"] + forerun.stats()["at_once"]
    call()
    return forerun.stats()["issued"] + forerun.stats()["at_once"] - before


def polynomial(x: Any) -> Any:
    """Forty operations, each on the result of the one before."""
    y = x
    for k in range(20):
        y = y * x + (k - 10)
    return y


class TestSameBits:
    @pytest.mark.parametrize("shapes", SHAPES)
    @pytest.mark.parametrize("seed", range(12))
    def test_random_programs(self, seed: int, shapes: str) -> None:
        steps = seeded(KINDS, 40, seed=seed)

        def program() -> Any:
            machine = Machine(RunningAhead(), SHAPES[shapes], False, 12)
            machine.issue(steps)
            return tuple([slot.value for slot in machine.pool] + list(machine.kept))

        def run(function: Callable[[], Any]) -> list[Any]:
            npx.random.seed(7)
            return [[y.asnumpy() for y in function()] for _ in range(3)]

        with configured(engine="sync", cpu_devices=2, passes=""):
            expected = run(program)
        for settings in ({"workers": 1}, {"workers": 4}, {"engine": "sync"}):
            with configured(**{"cpu_devices": 2, "passes": ALL, "engine": "async"} | settings):
                captured = forerun.hybrid(program)
                assert all_same_bits(run(captured), expected)
                assert captured.hybridized.startswith("1 program")

    @pytest.mark.parametrize("n", [2, 1000, 70_000])
    def test_written_slices(self, n: int) -> None:
        """Fused or in order: a step that reads what another writes in part, before and after."""

        def program(x: Any, y: Any) -> Any:
            z = x * 2
            z[1:] += x[:-1] * y[1:]
            w = z[::-1] - y
            z[: n // 2] = w[n // 2 : n // 2 * 2]
            y += z
            return w * z + y, y[1:] - y[:-1]

        def run(function: Callable[[Any, Any], Any]) -> list[Any]:
            x, y = np.arange(n, dtype="float64") / 7, np.ones(n)
            return [[a.asnumpy() for a in (*function(x, y), y)] for _ in range(3)]

        assert all_same_bits(run(forerun.hybrid(program)), run(program))

    def test_parts_that_one_group_writes(self) -> None:
        """An operation behind the call that reads one of two parts waits for the group that writes both."""
        n = 100_000

        def program(z: Any, x: Any) -> None:
            z[:n] = np.sqrt(x) * 2
            z[n:] = np.sqrt(x) * 3

        captured = forerun.hybrid(program)
        x = np.arange(n, dtype="float64")
        captured(np.zeros(2 * n, dtype="float64"), x)
        for part in (slice(n), slice(n, None)):
            z = np.zeros(2 * n, dtype="float64")
            with closed_gate():
                captured(z, x)
                found = z[part] + 1
            assert all_same_bits(found, np.sqrt(x) * (2 if part.start is None else 3) + 1)

    def test_concurrent_runs(self) -> None:
        """Calls in flight have tiles of their own, from several threads too."""
        captured = forerun.hybrid(polynomial)
        inputs = [np.linspace(-1, 1, 60_000) * (k + 1) for k in range(12)]
        expected = [polynomial(x).asnumpy() for x in inputs]
        captured(inputs[0])
        with configured(workers=4):
            with closed_gate():
                found = [captured(x) for x in inputs]
            assert all_same_bits([y.asnumpy() for y in found], expected)
            kept: dict[int, Any] = {}

            def many(k: int) -> None:
                for _ in range(20):
                    kept[k] = captured(inputs[k])

            threads = [threading.Thread(target=many, args=(k,)) for k in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert all_same_bits([kept[k].asnumpy() for k in range(4)], expected[:4])


class TestOperations:
    """The number of operations that a call submits. The programs are too long to be one operation anyway."""

    def test_a_chain_is_one_operation(self) -> None:
        x = np.ones(100_000)
        captured = forerun.hybrid(polynomial)
        captured(x)
        assert ops_of(lambda: captured(x)) == 1

    def test_branches_are_one_operation(self) -> None:
        def program(x: Any, y: Any) -> Any:
            a, b = polynomial(x), polynomial(y)
            return a * b, a - b

        x, y = np.ones(100_000), np.ones(100_000)
        captured = forerun.hybrid(program)
        captured(x, y)
        assert ops_of(lambda: captured(x, y)) == 1

    def test_a_group_on_either_side_of_another_operation(self) -> None:
        """The steps behind the product may not run before it, and it may not run before the steps that it reads."""

        def program(x: Any) -> Any:
            y = np.tanh(x) + 1
            z = y @ y
            return np.tanh(y - z) * y + 2

        x = np.linspace(0, 1, 90_000).reshape(300, 300)
        captured = forerun.hybrid(program)
        expected = program(x)
        captured(x)
        assert ops_of(lambda: captured(x)) == 3
        assert all_same_bits(captured(x), expected)

    def test_without_the_pass(self) -> None:
        x = np.ones(100_000)
        with configured(passes="drop,reuse"):
            captured = forerun.hybrid(polynomial)
            captured(x)
            assert ops_of(lambda: captured(x)) == 40

    def test_names_are_those_of_the_operations(self) -> None:
        captured = forerun.hybrid(lambda x: np.tanh(x * 2) + 1)
        captured(np.ones(100_000))
        assert captured.hybridized == "1 program: multiply, tanh, add"

    def test_no_step_waits_for_an_unrelated_task(self) -> None:
        go = threading.Event()

        def late(x: numpy.ndarray) -> numpy.ndarray:
            go.wait(60)
            return x

        def program(x: Any) -> Any:
            a = host(late, [x], [(x.shape, x.dtype)])[0]
            return a * 2 + 1, x * 2 + 1

        x = np.ones(100_000)
        captured = forerun.hybrid(program)
        go.set()
        captured(x)
        npx.waitall()
        go.clear()
        with configured(engine="async", workers=2):
            behind, early = captured(x)
            wait_until_ready([early])
            assert not behind.ready
            go.set()
            npx.waitall()

    def test_host_tasks_keep_their_order(self) -> None:
        """They have effects that no array shows. The first one waits for a group which waits for a later operation."""

        def program(x: Any) -> Any:
            twice = x * 2
            a, b = (host(numpy.sort, [y], [(x.shape, x.dtype)])[0] for y in (twice, x))
            return a * 3, b, twice + x @ x

        x = np.arange(9.0).reshape(3, 3)
        captured = forerun.hybrid(program)
        expected = [y.asnumpy() for y in captured(x)]
        with profiler.record() as p:
            assert all_same_bits([y.asnumpy() for y in captured(x)], expected)
        names = [e.name for e in sorted(p.trace.ops, key=lambda e: e.seq)]
        assert names == ["matmul", "fused multiply, add", "host", "host", "multiply"]


class TestMemory:
    def test_values_in_tiles_take_no_memory(self) -> None:
        """A call takes memory for its result, and for none of the forty values before it."""
        x = np.ones(100_000)
        captured = forerun.hybrid(polynomial)
        expected = captured(x).asnumpy()
        before = forerun.memory()["live"]
        _core.reset_peak()
        assert all_same_bits(captured(x), expected)
        assert forerun.memory()["peak"] - before <= x.nbytes + 4096

    def test_programs_that_keep_much_are_not_fused(self) -> None:
        """The engine fuses as many steps as memory allows, where all results at once would be too much."""
        n = 1 << 20

        def program(x: Any) -> Any:
            return tuple(x * k + 1 for k in range(20))

        x = np.ones(n)
        captured = forerun.hybrid(program)
        captured(x)
        assert ops_of(lambda: captured(x)) == 40
        with configured(memory_budget=24 * 4 * n):
            assert all_same_bits([y.asnumpy() for y in captured(x)], [y.asnumpy() for y in program(x)])


def test_a_failed_argument_poisons_the_results_of_its_call() -> None:
    """A failed argument poisons the results of its call, with the line of the failure, and of no other call."""
    captured = forerun.hybrid(polynomial)
    good = np.ones(100_000)
    expected = captured(good).asnumpy()
    if forerun.config()["engine"] == "sync":
        return
    bad = np.take(np.ones(100_000), np.full(100_000, 200_000))
    with pytest.raises(IndexError) as caught:
        captured(bad).asnumpy()
    assert any("test_fused_steps.py" in note for note in caught.value.__notes__)
    assert all_same_bits(captured(good), expected)
    assert numpy.isfinite(expected).all()
