"""Recordings: bounded, true of a whole run, in files that outlive the process."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from forerun import _core, np, profiler
from forerun.gluon import nn
from tests.support.engine.threads import run_in_threads
from tests.support.processes.subprocesses import PATIENCE, command, environment, execute, output

ROOM = 1 << 17  # operations that a recording has room for


@pytest.fixture
def x() -> np.ndarray:
    made = np.ones((1, 2))
    made.wait()
    return made


@pytest.fixture
def all_blocks() -> Iterator[None]:
    """Small operations do not keep blocks from being recorded."""
    before = _core.set_trace_apart(0)
    yield
    _core.set_trace_apart(before)


class TestSample:
    def test_the_first_operations_are_all_recorded(self, x):
        with profiler.record() as p:
            kept = [x + 1 for _ in range(3000)]
        assert (p.trace.recorded, p.trace.issued, p.trace.sampled) == (3000, 3000, False)
        assert sum(max(1, len(e.members)) for e in p.trace.ops) == len(kept)

    def test_a_long_run_is_sampled_evenly_and_its_waits_are_counted_exactly(self, x, queued):
        rounds, n = 300, 1500
        with profiler.record() as p:
            for _ in range(rounds):
                y = x
                for _ in range(n):
                    y = y + 1
                y.item(0, 0)
        trace = p.trace
        assert trace.sampled
        assert trace.issued == rounds * n
        assert 0 < trace.recorded <= ROOM
        first = min(e.seq for e in trace.ops)
        tenths = {(e.seq - first) * 10 // trace.issued for e in trace.ops}
        assert tenths == set(range(10))
        (line,) = (line for line in trace.lines if line.cause == "item")
        assert line.waits + line.reads == rounds
        assert len([w for w in trace.waits if w.cause == "item"]) < line.waits

    def test_blocks_of_a_sample_are_whole(self, x):
        with profiler.record() as p:
            for _ in range(300):
                kept = [x + 1 for _ in range(1000)]
        del kept
        by_block: dict[int, set[int]] = {}
        for e in p.trace.ops:
            by_block.setdefault(e.seq // 1024, set()).update(e.members or (e.seq,))
        inner = sorted(by_block)[1:-1]  # the recording need not begin or end with a block
        assert len(inner) > 3
        assert {len(by_block[b]) for b in inner} == {1024}

    def test_recordings_leave_no_memory(self, x):
        def mapped() -> int:
            return int(Path("/proc/self/statm").read_text().split()[0])

        before = mapped()
        for _ in range(5):
            with profiler.record():
                (x + 1).wait()
        assert mapped() - before < 5000  # pages; a recording has 7000

    def test_one_of_each_two_blocks_is_dropped(self, x, all_blocks):
        first = _core.mark() // 1024
        with profiler.record() as p:
            for _ in range(280):
                kept = [x + 1 for _ in range(1000)]
        del kept
        blocks = {e.seq // 1024 - first for e in p.trace.ops}
        assert 32 < len(blocks) <= 128
        assert len({b // 2 for b in blocks}) == len(blocks)

    def test_all_waits_of_a_sample_belong_to_its_blocks(self, x, all_blocks, queued):
        first = _core.mark() // 1024
        with profiler.record() as p:
            for _ in range(280):
                for _ in range(999):
                    y = x + 1
                y[0, 0].item()
        kept = {e.seq // 1024 for e in p.trace.ops}
        waits = [w for w in p.trace.waits if w.cause == "item" and w.waited]
        assert 0 < len(waits) < 200
        assert {w.waited // 1024 for w in waits} <= kept
        assert min(kept) >= first


class TestRecord:
    def test_recordings_may_lie_within_one_another(self, x):
        with profiler.record() as outer:
            (x + 1).item(0, 0)
            with profiler.record() as inner:
                y = x * 2
                y.item(0, 0)
            (x - 1).item(0, 0)
        assert [e.name for e in inner.trace.ops] == ["multiply"]
        assert all(line.waits + line.reads for line in inner.trace.lines)
        assert [e.name for e in outer.trace.ops] == ["add", "multiply", "subtract"]
        for recording, n in (inner, 1), (outer, 3):
            lines = [line for line in recording.trace.lines if line.cause == "item"]
            assert sum(line.waits + line.reads for line in lines) == n

    def test_a_recording_starts_once(self):
        with profiler.record() as p, pytest.raises(RuntimeError, match="is active"):
            p.start()

    def test_an_op_has_its_call_site_and_its_results(self):
        x = np.ones((3, 4))
        with profiler.record() as p:
            y = x.astype("int16")
            z = (x.sum(axis=0), x @ x.T)
        del y, z
        found = {e.name: (e.shape, e.dtype) for e in p.trace.ops}
        assert found["sum"] == ((4,), "float32")
        assert found["matmul"] == ((3, 3), "float32")
        assert {dtype for _, dtype in found.values()} == {"int16", "float32"}
        assert len({e.issuer for e in p.trace.ops}) == 1

    def test_captured_calls_have_output_shapes_and_dtypes(self):
        net = nn.HybridSequential()
        net.add(nn.Dense(600, activation="relu"), nn.Dense(40))  # too long to be one operation
        net.initialize()
        net.hybridize()
        x = np.ones((500, 300))
        for _ in range(2):  # the first call gives the parameters their shapes
            net(x).wait()
        with profiler.record() as p:
            net(x).wait()
        assert {(e.shape, e.dtype) for e in p.trace.ops} == {((500, 600), "float32"), ((500, 40), "float32")}

    def test_live_memory_is_recorded_per_op(self):
        with profiler.record() as p:
            x = np.ones(1 << 20)
            x.wait()  # or the two run as one
            y = x + 1
            y.wait()
        full, add = sorted(p.trace.ops, key=lambda e: e.seq)
        assert add.live[0] - full.live[0] == 4 << 20
        assert (full.bytes, add.bytes) == (4 << 20, 4 << 20)

    def test_memory_of_operations_that_run_in_the_call(self):
        """They take the memory of their results: nothing remains of an older operation in whose place they are made."""
        (np.ones(1 << 20) + 1).wait()
        x = np.ones(1024)
        x.wait()
        with profiler.record() as p:
            results = [x + i for i in range(40)]
            results[0] += 1  # has memory
        assert [e.bytes for e in sorted(p.trace.ops, key=lambda e: e.seq)] == [4096] * 40 + [0]

    def test_many_inputs_are_all_named(self, x):
        with profiler.record() as p:
            parts = [x + i for i in range(9)]
            np.concatenate(parts).wait()
        last = max(p.trace.ops, key=lambda e: e.seq)
        assert last.name == "concatenate"
        assert len(last.deps) == 9

    def test_threads_that_issue_and_wait_while_it_starts_and_stops(self, x):
        def work(i: int) -> int:
            total = 0
            for k in range(200):
                total += int((x * i + k)[0, 0].item())
                if i == 0 and k % 20 == 0:
                    with profiler.record() as inner:
                        (x + 1).wait()
                    assert inner.trace.issued >= 1
            return total

        with profiler.record() as p:
            found = run_in_threads(4, work)
        assert found == [sum(i + k for k in range(200)) for i in range(4)]
        items = [line for line in p.trace.lines if line.cause == "item"]
        assert sum(line.waits + line.reads for line in items) == 800
        assert len({e.issuer for e in p.trace.ops}) == 4


DIES = """
import os, sys, threading
from forerun import profiler
profiler.start(os.environ["RUN"])
x = np.ones((20, 20))
y = (x @ x).wait()
begun = threading.Event()
stuck = host(lambda: (begun.set(), sys.stdin.read()), [], [((), "int64")])[0]
later = stuck + 1
begun.wait()
print("running", flush=True)
{end}
"""


def died(path: Path, end: str) -> tuple[int, list[str]]:
    """The exit status of a program that dies while it records, and the contents of its recording."""
    with subprocess.Popen(
        command(DIES.format(end=end)), env=environment(RUN=str(path)), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline() == "running\n"
        if not end.startswith("import"):
            child.kill()
        status = child.wait(PATIENCE)
    trace = profiler.load(path)
    assert not trace.complete
    assert [e.name for e in trace.ops] == ["full", "matmul"]
    assert "the process died" in profiler.report(trace)
    return status, [f"{e.name} {e.started > 0}" for e in trace.unfinished]


class TestFile:
    def test_a_recording_can_be_read_after_a_kill(self, tmp_path):
        status, unfinished = died(tmp_path / "run", "later.wait()")
        assert status == -signal.SIGKILL
        assert unfinished[0].endswith("True")  # the task was running
        assert unfinished[1].endswith("False")

    def test_a_recording_can_be_read_after_a_crash(self, tmp_path):
        status, unfinished = died(tmp_path / "run", "import ctypes; ctypes.string_at(0)")
        assert status == -signal.SIGSEGV
        assert len(unfinished) == 2

    def test_a_file_has_the_events_of_the_recording(self, x, tmp_path):
        with profiler.record(tmp_path / "run") as p:
            (x + 1)[0, 0].item()
        assert profiler.load(tmp_path / "run").events == p.trace.events
        assert os.listdir(tmp_path) == ["run"]

    def test_an_unwritable_file_raises_at_the_start(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            profiler.start(tmp_path / "nowhere" / "run")
        with profiler.record():  # nothing is left behind
            pass

    def test_load_of_an_invalid_recording_raises(self, tmp_path):
        (tmp_path / "run").write_bytes(bytes(5000))
        with pytest.raises(ValueError, match="recording"):
            profiler.load(tmp_path / "run")


class TestEnvironment:
    def test_a_program_is_recorded_from_its_import_to_its_end(self, tmp_path):
        path = tmp_path / "run"
        assert output("x = np.ones(3) + 1\nprint(x.sum().item())\ny = x * 2", FORERUN_PROFILE=str(path)) == ["6.0"]
        trace = profiler.load(path)
        assert trace.complete
        assert path.stat().st_size < 1 << 20  # the used part of its capacity, and the lines that the process knows
        assert [e.name for e in sorted(trace.ops, key=lambda e: e.seq)][:1] == ["full"]
        assert trace.issued == 4

    def test_the_exit_status_stays_and_the_report_is_there(self, tmp_path):
        done = execute("x = np.ones(3) + 1\nx.wait()\nraise SystemExit(3)", FORERUN_PROFILE=str(tmp_path / "run"))
        assert done.returncode == 3
        assert profiler.load(tmp_path / "run").ops

    def test_an_unwritable_path_raises_before_the_program_begins(self, tmp_path):
        done = execute("print('begun')", FORERUN_PROFILE=str(tmp_path / "nowhere" / "run"))
        assert done.returncode == 1
        assert done.stdout == ""
        assert "FORERUN_PROFILE: file must be writable" in done.stderr

    def test_children_leave_the_recording_alone(self, tmp_path):
        program = """
import os, subprocess, sys
from forerun import profiler
x = np.ones(3) + 1
x.wait()
pid = os.fork()
if pid == 0:
    with profiler.record() as p:
        (np.ones(3) * 7).wait()
    os._exit(len(p.trace.ops))
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) in (1, 2)
subprocess.run([sys.executable, "-c", "from forerun import np; (np.ones(2) - 1).wait()"], check=True)
"""
        output(program, FORERUN_PROFILE=str(tmp_path / "run.trace"))
        trace = profiler.load(tmp_path / "run.trace")
        assert [e.name for e in trace.ops] == ["full + add"] or [e.name for e in trace.ops] == ["full", "add"]
        (other,) = (f for f in tmp_path.iterdir() if f.name != "run.trace")
        assert "subtract" in {e.name for e in profiler.load(other).ops}
