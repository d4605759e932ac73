"""Recordings of several ranks as one trace: on one clock, with numbers of their own, and which of them came late."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from forerun import profiler
from forerun.profiler import Event, Line, Rank, Trace
from forerun.profiler._ranks.files import gathered, of_rank, pack
from forerun.profiler._ranks.late import rank_times
from forerun.profiler._ranks.merge import merged
from tests.support.browser import CHROMIUM, Browser
from tests.support.processes.subprocesses import command, environment

MS = 1e-3
NS = 1_000_000_000


def rank(number: int, machine: str = "m", clock: tuple[tuple[int, int, int], ...] = ()) -> Rank:
    return Rank(number, 2, f"host {machine}", 100 + number, machine, clock)


def of_rank_number(number: int, begin: float, late: float = 0.0, **more: object) -> Trace:
    """A product of 2 ms, a collective that reads it, and a wait for that; in milliseconds from `begin` seconds."""

    def op(seq: int, name: str, queue: str, started: float, ended: float, **known: object) -> Event:
        times = (begin + t * MS for t in (0.1 * seq, started, ended))
        thread, device = (9, 255) if queue == "network" else (1, 0)
        return Event("op", seq, name, ("train.py", seq), thread, device, queue, *times, **known)  # type: ignore[arg-type]

    product = op(1, "matmul", "compute", 1 + late, 3 + late, live=(48, 48), shape=(2, 2), dtype="float32")
    total = op(2, "allreduce", "network", 3 + late, 6, deps=(1,), members=())
    wait = Event("wait", 0, "item", ("train.py", 3), 0, 0, None, *[begin + 1 * MS] * 2, begin + 6 * MS, waited=2)
    trace = Trace.from_events([product, total, replace(wait, cause="item")], {0: "cpu(0)"})
    trace.recorded = trace.issued = 2
    trace.lines = [Line("item", "item", ("train.py", 3), 1, 0, 5 * MS, 5 * MS, number * MS)]
    trace.ranks = [rank(number, **more)]  # type: ignore[arg-type]
    return trace


def traces_of_two_ranks(late: float = 0.0) -> Trace:
    return merged([of_rank_number(1, 5.0, late), of_rank_number(0, 5.0)])


class TestMerged:
    def test_events_keep_their_rank_and_get_numbers_of_their_own(self):
        found = traces_of_two_ranks()
        assert [r.number for r in found.ranks] == [0, 1]
        assert len({e.seq for e in found.ops}) == 4
        for e in found.ops:
            of_rank = {o.seq for o in found.ops if o.rank == e.rank}
            assert set(e.deps) <= of_rank
        assert {e.thread for e in found.events if e.rank == 0}.isdisjoint(
            {e.thread for e in found.events if e.rank == 1}
        )
        (wait,) = (w for w in found.waits if w.rank == 1)
        assert next(e for e in found.ops if e.seq == wait.waited).name == "allreduce"
        assert (found.recorded, found.issued, found.cores) == (4, 4, 2)

    def test_a_part_has_the_events_and_lines_of_its_rank(self):
        part = traces_of_two_ranks().of_rank(1)
        assert {e.rank for e in part.events} == {1}
        assert [line.lost for line in part.lines] == [1 * MS]
        assert len(part.ops) == 2
        assert part.of_rank(1) is part
        with pytest.raises(ValueError, match=r"must be one of \[0, 1\], got 2"):
            traces_of_two_ranks().of_rank(2)

    def test_waits_of_a_line_are_summed_over_ranks(self):
        (found,) = profiler.blockers(traces_of_two_ranks())
        assert (found.line.waits, found.line.seconds) == (2, pytest.approx(10 * MS))

    def test_one_machine_has_one_clock(self):
        apart = ((0, 7 * NS, 500),), ((0, 9 * NS, 500),)
        found = merged([of_rank_number(n, 5.0, clock=apart[n]) for n in range(2)])
        assert found.ops[0].issued == found.ops[1].issued
        assert [r.error for r in found.ranks] == [0, 0]

    def test_clocks_of_machines_are_aligned_by_the_launchers(self):
        # Rank 0's clock is 7 s behind the launcher's, rank 1's is 4 s: 5.0 on the one is 8.0 on the other.
        here = of_rank_number(0, 5.0, machine="a", clock=((4 * NS, 7 * NS, 20_000),))
        there = of_rank_number(1, 8.0, machine="b", clock=((9 * NS, 4 * NS, 30_000),))
        found = merged([here, there])
        starts = {e.rank: e.started for e in found.ops if e.name == "matmul"}
        assert [starts[0], starts[1]] == pytest.approx([5.001, 5.001])
        assert found.ranks[1].error == pytest.approx(50e-6)

    def test_drift_of_a_clock_is_spread_over_the_recording(self):
        # Rank 1's clock lost 1 ms in 10 s against the launcher's, half of it until the middle.
        here = of_rank_number(0, 105.0, machine="a", clock=((100 * NS, 0, 0), (110 * NS, 0, 0)))
        there = of_rank_number(1, 105.0, machine="b", clock=((100 * NS, 0, 0), (110 * NS, NS // 1000, 0)))
        found = merged([here, there])
        ops = {e.rank: e for e in found.ops if e.name == "matmul"}
        assert ops[1].started - ops[0].started == pytest.approx(0.5 * MS, abs=1e-6)

    @pytest.mark.parametrize(
        ("traces", "says"),
        [
            ([of_rank_number(1, 0.0), of_rank_number(1, 0.0)], "different ranks, got those of 1, 1"),
            ([of_rank_number(1, 0.0), Trace([])], "each recording must be of one rank, got 0"),
            ([of_rank_number(2, 0.0), traces_of_two_ranks()], "each recording must be of one rank, got 2"),
        ],
    )
    def test_merging_invalid_traces_raises(self, traces, says):
        with pytest.raises(ValueError, match=says):
            merged(traces)


class TestLate:
    def test_the_last_rank_of_a_collective(self):
        first, second = rank_times(traces_of_two_ranks(late=0.5))
        assert (first.late, second.late) == (0, pytest.approx(0.5 * MS))
        assert (first.last, second.last, first.collectives) == (0, 1, 1)
        assert (second.computed, second.network) == (pytest.approx(2 * MS), pytest.approx(2.5 * MS))

    def test_the_report_names_the_rank_that_the_others_waited_for(self):
        text = profiler.report(traces_of_two_ranks(late=0.5))
        assert text.startswith("2 ranks, ")
        assert "rank 1: " in text.splitlines()[1]
        assert any(line.startswith("rank 1") and line.endswith("1 of 1") for line in text.splitlines())

    def test_a_rank_that_exited_early_is_named(self):
        dead = of_rank_number(1, 5.0)
        dead.complete = False
        found = merged([of_rank_number(0, 5.0), dead])
        assert not found.complete
        assert "rank 1, died while it recorded" in profiler.report(found)

    def test_the_network_may_be_the_limit(self):
        trace = of_rank_number(0, 5.0)
        trace.events = [e for e in trace.events if e.queue == "network"]
        trace.lines, trace.ranks = [], []
        trace.events = [replace(e, issued=e.started) for e in trace.events]
        assert profiler.bound(trace).kind == "network"


class TestPictures:
    def test_lanes_of_each_rank_are_below_its_title(self, tmp_path):
        text = profiler.timeline(traces_of_two_ranks())
        ElementTree.fromstring(text)
        places = [text.index(f">{word}<") for word in ("rank 0", "rank 1")]
        assert places == sorted(places)
        assert text.count(">network<") == 2

    def test_perfetto_has_a_process_for_each(self, tmp_path):
        profiler.timeline(traces_of_two_ranks(), tmp_path / "run.json")
        records = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
        named = {r["pid"]: r["args"]["name"] for r in records if r["name"] == "process_name"}
        assert named == {1: "rank 0", 2: "rank 1"}
        for name in ("matmul", "allreduce", "item"):
            assert {r["pid"] for r in records if r.get("ph") == "X" and r["name"] == name} == {1, 2}
        flows = {r["id"]: set() for r in records if "id" in r}
        for r in records:
            if "id" in r:
                flows[r["id"]].add(r["pid"])
        assert all(len(pids) == 1 for pids in flows.values())

    @pytest.mark.skipif(CHROMIUM is None, reason="a browser is needed: the package chromium, or Chrome")
    def test_the_page_shows_them(self, tmp_path):
        profiler.timeline(traces_of_two_ranks(), tmp_path / "run.html")
        browser = Browser()
        try:
            browser.open(tmp_path / "run.html")
            titles = browser.ask("titles.map((t) => [t.text, t.top])")
            lanes, curves = (browser.ask(f"{rows}.map((row) => [row.rank, row.top])") for rows in ("lanes", "curves"))
            assert browser.complaints == []
        finally:
            browser.close()
        assert [text for text, _ in titles] == ["rank 0", "rank 1"]
        for rank_, top in (*lanes, *curves):  # each within the room of its rank
            assert titles[rank_][1] < top
            assert rank_ == 1 or top < titles[1][1]
        assert [rank_ for rank_, _ in curves] == [0, 1]  # the network has no memory


RANK = """
x = np.ones((50, 50))
(x @ x + {rank}).wait()
import os
if {dies} == {rank}:
    os.kill(os.getpid(), 9)
"""


def recorded(folder: Path, dies: int = -1) -> Path:
    """Two processes that know themselves as ranks by the environment, each with a recording of its own."""
    path = folder / "run.frec"
    for number in range(2):
        variables = {"FORERUN_RANK": str(number), "FORERUN_SIZE": "2", "FORERUN_PROFILE": str(path)}
        words = command(RANK.format(rank=number, dies=dies))
        subprocess.run(words, env=environment(**variables), timeout=100, check=dies != number)
    return path


class TestFiles:
    def test_each_rank_has_a_file_and_they_become_one(self, tmp_path):
        path = recorded(tmp_path)
        files = [of_rank(path, n) for n in range(2)]
        assert sorted(tmp_path.iterdir()) == files
        one = profiler.load(files)
        assert gathered(path, 2)
        assert sorted(tmp_path.iterdir()) == [path]
        found = profiler.load(path)
        assert [r.number for r in found.ranks] == [0, 1]
        assert len({r.pid for r in found.ranks}) == 2
        assert [(e.rank, e.name) for e in found.ops] == [(e.rank, e.name) for e in one.ops]
        assert {e.rank for e in found.ops if "matmul" in e.name} == {0, 1}

    def test_a_merged_trace_has_a_killed_rank(self, tmp_path):
        path = recorded(tmp_path, dies=1)
        assert gathered(path, 2)
        found = profiler.load(path)
        assert [r.complete for r in found.ranks] == [True, False]
        assert {e.rank for e in found.ops if "matmul" in e.name} == {0, 1}

    def test_no_rank_has_recorded(self, tmp_path):
        assert not gathered(tmp_path / "run.frec", 2)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("size", [9, 20, 100])
    def test_a_part_of_a_file_is_refused(self, size, tmp_path):
        files = [tmp_path / name for name in ("a", "b")]
        for file in files:
            file.write_bytes(bytes(500))
        pack(tmp_path / "run.frec", files)
        whole = (tmp_path / "run.frec").read_bytes()
        assert len(whole) == 8 + 3 * 8 + 1000
        (tmp_path / "run.frec").write_bytes(whole[:size])
        with pytest.raises(ValueError, match="must be a recording of ranks, got"):
            profiler.load(tmp_path / "run.frec")
