"""Waits: each kind has its word, its line and a guard; the lost time; the bound of a program."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import gluon, np, npx, profiler
from forerun.profiler import Event, Trace, causes
from forerun.profiler.costs import model
from forerun.testing import closed_gate
from tests.support.engine.settings import configured
from tests.support.engine.threads import run_in_threads
from tests.support.engine.waiting import READERS, assert_waits
from tests.support.paths import ROOT
from tests.support.processes.subprocesses import PATIENCE, environment

CAUSE = {
    "wait": "wait", "wait_to_read": "wait", "waitall": "barrier", "npx.waitall": "barrier", "repr": "print",
    "str": "print", "format": "print", "item": "item", "tolist": "item", "asnumpy": "asnumpy", "numpy": "asnumpy",
    "__array__": "asnumpy", "memoryview": "asnumpy", "DLPack": "asnumpy", "bool": "bool", "int": "item",
    "float": "item", "complex": "item", "index": "index", "iteration": "item", "in": "bool", "mask": "shape",
    "where without values": "shape", "a function that only NumPy has": "asnumpy",
}  # fmt: skip
FURTHER: dict[str, tuple[Callable[[Any], Any], str]] = {
    "print": (lambda x: print(x, file=None), "print"),
    "if": (lambda x: 1 if x[0] > 5 else 2, "bool"),
    "unique": (np.unique, "shape"),
    "nonzero": (lambda x: x.nonzero(), "shape"),
    "bounds": (lambda x: np.linspace(x[0], x[1]), "shape"),
    "forerun.wait": (lambda x: forerun.wait([x, x + 1]), "wait"),
    "pickle": (lambda x: x.__reduce_ex__(2), "keep"),
    "a NumPy array in place": (lambda x: numpy.ones(3, "float32").__iadd__(x), "asnumpy"),
}
KINDS = {name: (READERS[name], cause) for name, cause in CAUSE.items()} | FURTHER


def test_every_reader_has_a_kind() -> None:
    assert set(CAUSE) == set(READERS)
    assert {cause for _, cause in KINDS.values()} <= set(causes.ADVICE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wait_has_its_kind_its_line_and_the_op(kind: str) -> None:
    read, cause = KINDS[kind]
    x = np.array([0.0, 1.0, 2.0])
    with profiler.record() as p:
        assert_waits(lambda: read(x * 1))
    waits = [w for w in p.trace.waits if w.thread != p.trace.waits[-1].thread or w.cause != "end"]
    of_cause = [w for w in waits if w.cause == cause]
    assert of_cause, f"got {[(w.name, w.cause) for w in waits]}"
    assert of_cause[0].site is not None
    assert of_cause[0].site[0] in {__file__, READERS["item"].__code__.co_filename}
    if cause not in {"barrier", "shape"}:
        assert of_cause[0].waited in {e.seq for e in p.trace.ops} | {m for e in p.trace.ops for m in e.members}
    line = {x.site: x for x in p.trace.lines if x.cause == cause and x.waits}[of_cause[0].site]
    assert line.waits >= 1
    assert line.seconds > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_guard_raises_before_it_waits(kind: str) -> None:
    read, _ = KINDS[kind]
    x = np.array([0.0, 1.0, 2.0]) + 1
    with closed_gate():
        y = x * 2
        with profiler.guard("raise"), pytest.raises(profiler.Blocked, match=r"must not wait here, got .*:\d+"):
            read(y)
    assert y.tolist() == [2, 4, 6]  # as if nothing had been


class TestGuard:
    def test_error_names_call_line_and_advice(self):
        with closed_gate():
            y = np.ones(3) * 2
            with profiler.guard("raise"), pytest.raises(profiler.Blocked) as raised:
                y.asnumpy()
        line = raised.traceback[0].lineno + 1
        assert str(raised.value).startswith(f"asnumpy: must not wait here, got a call at {__file__}:{line}; instead: ")

    def test_reads_of_computed_values_count_only_with_reads(self):
        y = np.ones(3) * 2
        y.wait()
        with profiler.guard("raise"):
            assert y.tolist() == [2, 2, 2]
        with profiler.guard("raise", reads=True), pytest.raises(profiler.Blocked, match="tolist"):
            y.tolist()

    def test_a_warning_is_given_once_for_each_line(self):
        y = np.ones(3) * 2
        y.wait()
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("default")
            with profiler.guard("warn", reads=True):
                for _ in range(3):
                    y[0].item()
                y.tolist()
        assert [w.category for w in given] == [profiler.BlockedWarning] * 2
        assert {w.filename for w in given} == {__file__}
        assert given[1].lineno == given[0].lineno + 1

    def test_the_innermost_holds_and_the_previous_is_restored(self):
        y = np.ones(3)
        y.wait()
        with profiler.guard("raise", reads=True):
            with profiler.guard("off"):
                y.tolist()
                with profiler.guard("raise", reads=True, allow=["item"]):
                    y.tolist()
            with pytest.raises(profiler.Blocked):
                y.tolist()
        y.tolist()

    def test_guard_holds_from_the_call_on(self):
        y = np.ones(3)
        y.wait()
        before = profiler.guard("raise", reads=True)
        with pytest.raises(profiler.Blocked), before:
            y.tolist()
        y.tolist()

    def test_other_threads_have_other_guards(self):
        y = np.ones(3)
        y.wait()

        def read(i: int) -> str:
            with profiler.guard("raise" if i else "off", reads=True):
                try:
                    return str(y.tolist())
                except profiler.Blocked:
                    return "blocked"

        with profiler.guard("raise", reads=True):
            assert run_in_threads(2, read) == ["[1.0, 1.0, 1.0]", "blocked"]

    def test_guard_is_local_to_its_thread(self):
        y = np.ones(3)
        y.wait()
        with profiler.guard("raise", reads=True):
            run_in_threads(1, lambda i: profiler.guard("off"))
            with pytest.raises(profiler.Blocked):
                y.tolist()

    def test_allowed_kinds(self):
        y = np.ones(3)
        with profiler.guard("raise", reads=True, allow=["wait", "barrier"]):
            y.wait()
            forerun.waitall()
            with pytest.raises(profiler.Blocked):
                bool(y[0])

    def test_a_full_window(self):
        with configured(ops_ahead=16, engine="async"):
            x = np.ones(3)
            x.wait()
            with closed_gate(), profiler.guard("raise"), pytest.raises(profiler.Blocked, match=r"^window full"):
                kept = [x + i for i in range(100)]
            kept = [x + 1]
            assert kept[0].tolist() == [2, 2, 2]

    def test_full_memory(self):
        """The oldest op does not end, the ready ones behind it are more than the budget takes."""
        go = threading.Event()
        with configured(ops_ahead=16, engine="async", workers=2, memory_budget=1 << 20):
            first = npx.host(lambda: (go.wait(PATIENCE), numpy.zeros(1, "float32"))[1], [], [((1,), "float32")])
            kept, kinds = [], set()
            end = time.monotonic() + PATIENCE
            with profiler.guard("raise"):
                while "bytes" not in kinds and time.monotonic() < end:
                    try:
                        kept.append(np.full((100_000,), len(kept)))
                    except profiler.Blocked as blocked:  # the window is full; soon a worker has asked for memory
                        kinds.add(str(blocked).split()[0])
            go.set()
            assert "bytes" in kinds
            assert [x[-1].item() for x in kept] == list(range(len(kept)))
            assert first[0].tolist() == [0]

    def test_invalid_arguments_raise(self):
        with pytest.raises(ValueError, match="guard: mode must be one of"):
            profiler.guard("loud")
        with pytest.raises(ValueError, match="guard: allow must name kinds"):
            profiler.guard("raise", allow=["sleep"])


def compute_for_a_while(i: int) -> int:
    """Compute for a while."""
    return i + 0 * len(str(7**5000))


@pytest.mark.parametrize("threads", [True, False])
def test_the_next_batch_of_a_loader_is_waited_for(threads: bool) -> None:
    data = gluon.data.SimpleDataset(range(8)).transform(compute_for_a_while)
    batches = gluon.data.DataLoader(data, 4, num_workers=1, thread_pool=threads)
    with profiler.record() as p:
        assert sum(int(batch.sum().item()) for batch in batches) == 28
    found = [line for line in p.trace.lines if line.cause == "batch"]
    assert [line.site[0] for line in found if line.site] == [__file__]


def test_synchronous_mode_is_no_wait_of_the_program() -> None:
    with configured(engine="sync"), profiler.guard("raise"):
        assert (np.ones(3) + 1).tolist() == [2, 2, 2]


# --- costs ------------------------------------------------------------------------------------------


def op(seq: int, start: float, end: float, thread: int = 1, **more: Any) -> Event:
    issued = more.pop("issued", start)
    return replace(Event("op", seq, "add", ("program.py", seq), thread, 0, "compute", issued, start, end), **more)


def wait(start: float, end: float, line: int, name: str = "item", waited: int = 0) -> Event:
    cause = causes.cause_of(name)
    return Event("wait", 0, name, ("program.py", line), 0, 0, None, start, start, end, cause=cause, waited=waited)


def trace(*events: Event, cores: int = 2) -> Trace:
    made = Trace.from_events(events)
    made.cores = cores
    return made


class TestBlockers:
    def test_lost_is_the_work_that_the_front_end_could_have_done_meanwhile(self):
        t = trace(op(1, 0, 4), wait(1, 4, 7), op(2, 5, 9, issued=4.5, deps=(1,)), wait(6, 9, 8), op(3, 9, 9.5))
        found = {b.line.site[1]: b for b in profiler.blockers(t) if b.line.site}
        assert (found[7].line.seconds, found[7].lost) == (3, 2)  # 2 s from its end to the next wait
        assert (found[8].line.seconds, found[8].lost) == (3, 0.5)  # and here to the end

    @pytest.mark.parametrize(("deps", "lost"), [((), 3.0), ((1,), 0.5)])
    def test_lost_is_the_work_that_idle_cores_could_have_run(self, deps, lost):
        """The second op, issued behind the wait, could have run beside the first, unless it needs it."""
        t = trace(op(1, 0, 4), wait(0, 4, 7), op(2, 4.5, 7.5, issued=4.2, deps=deps), wait(4.5, 7.5, 8))
        (found,) = (b for b in profiler.blockers(t) if b.line.line == "program.py:7")
        assert found.lost == pytest.approx(lost)

    def test_cores_that_had_work_lost_nothing(self):
        t = trace(op(1, 0, 4), op(2, 0, 4, thread=2), wait(0, 4, 7), op(3, 4, 7), wait(4, 7, 8))
        assert {b.line.line: b.lost for b in profiler.blockers(t)} == {"program.py:7": 0, "program.py:8": 0}

    def test_idle_is_the_cores_time_without_work(self):
        t = trace(op(1, 0, 4), op(2, 0, 2, thread=2), wait(0, 4, 7))
        (blocker,) = profiler.blockers(t)
        assert blocker.idle == pytest.approx(0.25)

    def test_first_the_line_that_lost_most(self):
        t = trace(op(1, 0, 9), wait(0, 8, 3), wait(8, 10, 5), op(2, 10, 20))
        assert [b.line.line for b in profiler.blockers(t)] == ["program.py:5", "program.py:3"]

    def test_the_wait_at_the_end_of_the_recording_has_no_line(self):
        t = trace(op(1, 0, 9), wait(0, 9, 3, "end of the recording"))
        assert profiler.blockers(t) == []

    def test_a_full_window_loses_nothing(self):
        t = trace(op(1, 0, 9), wait(0, 4, 3, "window full"), op(2, 9, 18))
        assert [b.lost for b in profiler.blockers(t)] == [0]

    def test_every_kind_has_advice(self):
        assert all(causes.ADVICE[cause] for cause in causes.ADVICE if cause != "end")
        assert {causes.cause_of(call) for calls in causes._CALLS.values() for call in calls} <= set(causes.ADVICE)

    def test_the_report_has_lines_counts_and_advice(self):
        text = profiler.report(trace(op(1, 0, 4), wait(0, 4, 7), wait(5, 6, 7), op(2, 6, 9)))
        rows = [row.split() for row in text.splitlines()]
        assert ["program.py:7", "item", "2", "0", "5,000.000", "2,000.000", "60%"] in rows
        assert "program.py:7: keep the number as an array" in text

    @pytest.mark.parametrize("name", ["item", "__repr__", "evaluate", "bool"])
    def test_advice_without_a_loop_does_not_mention_one(self, name):
        (once,) = profiler.blockers(trace(op(1, 0, 4), wait(0, 4, 7, name), op(2, 6, 9)))
        assert not re.search("loop|round|list|once", once.advice)
        assert once.advice

    @pytest.mark.parametrize("waits", [[(0, 4)], [(0, 4), (4, 4.001), (1000, 1000.001)]])
    def test_the_report_has_no_advice_without_lost_time(self, waits):
        """One wait is not a habit, and less than a hundredth of the time is not worth a change."""
        text = profiler.report(trace(op(1, 0, 4), *(wait(a, b, 7) for a, b in waits), op(2, 1000, 1009)))
        assert "program.py:7" in text
        assert "instead" not in text


def test_why_an_operation_was_held_back() -> None:
    """Memory would have risen above the peak of program order; or there was not enough memory for it."""
    found = []
    for budget in (1 << 30, 1 << 20):
        go, behind = threading.Event(), threading.Event()
        with configured(engine="async", workers=2, memory_budget=budget), profiler.record() as p:
            (first,) = npx.host(lambda go=go: (go.wait(PATIENCE), numpy.ones(1))[1], [], [((1,), "float64")])
            large = np.full((1 << 23,), 1.0)
            total = (large + first[0]).sum()
            del large
            later = np.full((1 << 23,), 2.0)
            task = npx.host(lambda behind=behind: (behind.set(), numpy.ones(1))[1], [], [((1,), "float64")])
            assert behind.wait(PATIENCE)  # the other worker has looked at the one that is held back
            go.set()
            assert total.item() + later[0].item() == (1 << 24) + 2
            task[0].wait()
            del later, task
        found += [(e.held, e.over_budget) for e in p.trace.ops if e.line.endswith(f":{LATER}")]
    assert found == [(True, False), (False, True)]


LATER = next(i for i, row in enumerate(Path(__file__).read_text().splitlines(), 1) if "later = np.full(" in row)


class TestBound:
    def test_a_front_end_that_is_too_slow(self):
        t = trace(*(op(i, i, i + 0.1) for i in range(1, 20)))
        assert profiler.bound(t).kind == "front end"
        assert "hybridize" in str(profiler.bound(t))

    def test_a_chain(self):
        t = trace(*(op(i, i, i + 1, issued=0, deps=(i - 1,)) for i in range(1, 20)))
        assert profiler.bound(t).kind == "chain"

    def test_all_cores(self):
        t = trace(*(op(i, i // 2, i // 2 + 1, thread=i % 2, issued=0) for i in range(20)))
        assert profiler.bound(t).kind == "cores"

    def test_one_core_at_work_is_all_cores(self):
        t = trace(*(op(i, i, i + 1, issued=0) for i in range(1, 20)), cores=1)
        assert profiler.bound(t).kind == "cores"

    def test_waits(self):
        events = [e for i in range(20) for e in (op(i + 1, 2 * i, 2 * i + 1), wait(2 * i, 2 * i + 1, 5))]
        found = profiler.bound(trace(*events))
        assert (found.kind, found.line) == ("waits", "program.py:5")

    def test_one_wait_at_the_end_is_no_limit(self):
        t = trace(*(op(i, i, i + 1, issued=0) for i in range(20)), wait(0, 20, 5))
        assert profiler.bound(t).kind == "chain"

    def test_memory(self):
        t = trace(*(op(i, 2 * i, 2 * i + 1, issued=0, over_budget=True, planned=0.1) for i in range(1, 20)))
        found = profiler.bound(t)
        assert (found.kind, found.line) == ("memory", "program.py:19")

    def test_bound_by_program_order(self):
        """The budget was not reached: a larger one would not help."""
        t = trace(*(op(i, 2 * i, 2 * i + 1, issued=0, held=True, planned=0.1) for i in range(1, 20)))
        found = profiler.bound(t)
        assert (found.kind, found.line) == ("turn", "program.py:19")
        assert "budget" not in str(found)

    @pytest.mark.parametrize("why", ["held", "over_budget"])
    def test_nothing_was_lost_while_all_cores_had_work(self, why):
        t = trace(*(op(i, i // 2, i // 2 + 1, thread=i % 2, issued=0, **{why: True}) for i in range(2, 40)))
        assert profiler.bound(t).kind == "cores"

    def test_copies(self):
        t = trace(op(1, 0, 1), *(op(i, i, i + 1, queue="copy") for i in range(2, 20)))
        assert profiler.bound(t).kind == "copies"

    def test_bound_of_an_empty_trace(self):
        assert profiler.bound(Trace([])).kind == "nothing"
        assert "nothing" in str(profiler.bound(Trace([])))


class TestCost:
    def steps(self, n: int, t1: float, t2: float, t3: float) -> Trace:
        """A wait in each step."""
        events, at = [], 0.0
        for i in range(1, n + 1):
            start = at + t1
            events += [op(i, start, start + t2, issued=at), wait(start, start + t2 + t3, 5, waited=i)]
            at = start + t2 + t3
        return trace(*events)

    def test_parts_are_those_of_the_loop(self):
        n, t1, t2, t3 = 10, 0.5, 2.0, 0.25
        found = model(self.steps(n, t1, t2, t3), n, 0.0, n * (t1 + t2 + t3))
        assert (found.t1, found.t2, found.t3) == pytest.approx((t1, t2, t3))
        assert found.seconds == pytest.approx(found.waiting_each)
        assert found.waiting_once == pytest.approx(t1 + n * t2 + t3)
        assert found.back_end_is_slower

    def test_where_issuing_takes_longer_the_front_end_sets_the_pace(self):
        """The exercise: what if n t2 > (n - 1) t1 does not hold?"""
        n, t1, t2, t3 = 10, 3.0, 1.0, 0.5
        found = model(self.steps(n, t1, t2, t3), n, 0.0, n * (t1 + t2 + t3))
        assert not found.back_end_is_slower
        assert found.waiting_once == pytest.approx(n * t1 + t2 + t3)
        assert "the front end, which sets the pace" in str(found)

    def test_cost_runs_the_step_and_counts_its_waits(self, queued):
        x = np.ones((1, 2))
        calls = []

        def step() -> None:
            calls.append((x + 1)[0, 0].item())

        found = profiler.cost(step, 20)
        assert len(calls) == 21
        assert 0 < found.waits <= 1
        assert found.seconds > 0

    def test_cost_of_no_steps_raises(self):
        with pytest.raises(ValueError, match="cost: n must be at least 1"):
            profiler.cost(lambda: None, 0)


# --- the chapters -------------------------------------------------------------------------------------

CHAPTERS = ROOT / "examples" / "chapters"
EXPERIMENTS = ROOT / "src" / "forerun" / "tour" / "experiments" / "asynchronous"


def lines_with(file: str, pattern: str) -> set[int]:
    text = (EXPERIMENTS / file).read_text(encoding="utf-8").splitlines()
    return {i for i, row in enumerate(text, 1) if re.search(pattern, row)}


@pytest.mark.parametrize(
    ("script", "file", "cause", "pattern"),
    [
        ("b2_blockers.py", "blockers.py", "item", r"return norm.item\(\)"),
        ("b2_blockers.py", "blockers.py", "asnumpy", r"return norm.asnumpy\(\)"),
        ("b2_blockers.py", "blockers.py", "print", r'return f"norm'),
        ("c1_model.py", "small_operations.py", "wait", r"ys\[-1\].wait_to_read\(\)"),
    ],
)
def test_the_report_names_the_right_line(
    recorded: Callable[[str], Trace], script: str, file: str, cause: str, pattern: str
) -> None:
    lines = [b.line for b in profiler.blockers(recorded(script)) if b.line.cause == cause]
    most = max(lines, key=lambda line: line.waits)
    assert most.site is not None
    assert (Path(most.site[0]).name, {most.site[1]}) == (file, lines_with(file, pattern))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trace]:
    """The recording of a chapter's script."""
    made: dict[str, Trace] = {}

    def run(file: str) -> Trace:
        if file not in made:
            path = tmp_path_factory.mktemp("chapters") / file
            done = subprocess.run(
                [sys.executable, str(CHAPTERS / file), "--quick"], env=environment(FORERUN_PROFILE=str(path)),
                capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=path.parent,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            made[file] = profiler.load(path)
        return made[file]

    return run
