"""The life of the engine: fork, exit, Ctrl-C, threads that come and go, and its settings from outside."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from conftest import closed_gate, running
from forerun import _core, np
from forerun.np import host

PATIENCE = 60.0  # seconds after which nothing is worth waiting for
START = "import forerun\nfrom forerun import np, _core\nfrom forerun.np import host\n"


def execute(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a Python of its own, behind `START`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FORERUN_")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", START + program],
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def output(program: str, **environment: str) -> list[str]:
    """The words that the program prints. It must end well, without a word of complaint."""
    done = execute(program, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


FORK = """
import os
forerun.configure({settings})
x = np.ones(100_000)
x.wait()
for i in range(50):
    x = x + 1                     # pending when the process forks
pid = os.fork()
y = x * 2 + np.ones(100_000)      # in both
assert y[7].item() == 103, y
assert x.sum().item() == 51 * 100_000
a = np.arange(10_000).reshape(100, 100)
assert (a @ a).sum().item() == {expected}
forerun.waitall()
if pid == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


class TestFork:
    @pytest.mark.parametrize("settings", ["", "workers=1", "workers=4", "cpu_devices=2", "engine='sync'"])
    def test_both_processes_go_on(self, settings):
        a = numpy.arange(10_000).reshape(100, 100)
        assert output(FORK.format(settings=settings, expected=(a @ a).sum())) == ["0"]

    def test_child_of_a_child(self):
        assert output(
            """
import os
def code(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
x = np.ones(1000) + 1
child = os.fork()
if child == 0:
    x = x + 1
    grandchild = os.fork()
    x = x + 1
    good = x.tolist() == [4] * 1000
    os._exit(0 if good and (grandchild == 0 or code(grandchild) == 0) else 1)
print(code(child), (x + 1)[0].item())
"""
        ) == ["0", "3.0"]

    def test_multiprocessing(self):
        assert output(
            """
import multiprocessing
def work(n):
    return (np.arange(n) * 2).sum().item()
x = np.ones(1000) + 1             # the engine has run before
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(*pool.map(work, [10, 100, 1000]))
assert (x + 1).sum().item() == 3000
"""
        ) == ["90", "9900", "999000"]

    def test_error_stays_in_both(self):
        assert output(
            """
import os
y = np.linalg.inv(np.zeros((2, 2)))
pid = os.fork()
try:
    y.wait()
except ValueError as error:
    raised = type(error).__name__
else:
    raised = "nothing"
if pid == 0:
    os._exit(0 if raised == "LinAlgError" else 1)
print(raised, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
        ) == ["LinAlgError", "0"]


class TestExit:
    def test_with_work_pending(self):
        assert output("x = np.ones((300, 300))\nfor _ in range(50): x = x @ x * 0.001\n") == []

    def test_work_with_effects_is_done(self):
        assert output('host(lambda: print("done", flush=True), [], [])\n') == ["done"]

    def test_handles_in_modules_and_cycles(self):
        assert output("class C: pass\nc = C(); c.c = c; c.x = np.ones(1000) + 1\nnp.kept = c.x * 2\n") == []

    def test_behind_sys_exit(self):
        done = execute("import sys\nx = np.ones(100_000) + 1\nsys.exit(3)\n")
        assert (done.returncode, done.stderr) == (3, "")

    def test_unread_error_is_reported(self):
        done = execute("x = np.ones(3)\ny = np.take(x, np.array([7]))\n")
        assert done.returncode == 0
        assert done.stderr.startswith("forerun: <string>:5: ")
        assert "take: index must be in [-3, 3), got 7" in done.stderr

    def test_error_of_a_task_is_reported_with_its_type(self):
        done = execute('def fail():\n    raise KeyError("gone")\nhost(fail, [], [])\n')
        assert "<string>:6: " in done.stderr
        assert "KeyError: 'gone'" in done.stderr

    def test_read_error_is_not_reported(self):
        assert output(
            """
y = np.take(np.ones(3), np.array([7]))
try:
    y.wait()
except IndexError:
    print("caught")
"""
        ) == ["caught"]

    def test_thread_that_waits_does_not_hold_it(self):
        program = """
import threading
x = np.ones(1000)
ends = threading.Event()
y = host(lambda v: (ends.wait(30), v)[1], [x], [(x.shape, x.dtype)])[0]
thread = threading.Thread(target=y.wait, daemon=True)
thread.start()
ends.set()
"""
        assert output(program) == []


def until_interrupted(wait: Callable[[Any], Any]) -> None:
    """Calls `wait` with a result that is not there, again and again; Ctrl-C comes when the result is being computed."""
    started, go = threading.Event(), threading.Event()

    def task() -> int:
        started.set()
        assert go.wait(PATIENCE)
        return 5

    def interrupt() -> None:
        assert started.wait(PATIENCE)
        os.kill(os.getpid(), signal.SIGINT)

    result = host(task, [], [((), "int64")])[0]
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        while not go.is_set():
            wait(result)
    finally:
        ready = result.ready
        go.set()
        thread.join()
        assert result.item() == 5
    assert not ready


class TestInterrupt:
    @pytest.mark.parametrize(
        "wait",
        [lambda x: x.wait(), lambda x: (x + 1).item(), lambda x: forerun.waitall(), lambda x: np.ones(3)],
        ids=["wait", "read", "waitall", "room"],
    )
    def test_ctrl_c_ends_a_wait(self, wait):
        with running("1 worker"):
            forerun.configure(ops_ahead=16)  # `room`: there is none before the task has ended
            with pytest.raises(KeyboardInterrupt):
                until_interrupted(wait)
            assert (np.ones(3) + 1).tolist() == [2, 2, 2]

    def test_handler_that_raises_nothing_does_not_end_it(self):
        with running("1 worker"):
            seen, go = threading.Event(), threading.Event()
            before = signal.signal(signal.SIGUSR1, lambda *_: (seen.set(), go.set()))
            try:
                result = host(lambda: (go.wait(PATIENCE), 5)[1], [], [((), "int64")])[0]
                timer = threading.Timer(0, os.kill, (os.getpid(), signal.SIGUSR1))
                timer.start()
                assert result.item() == 5
                assert seen.is_set()
                timer.join()
            finally:
                signal.signal(signal.SIGUSR1, before)


def in_threads(n: int, work: Any) -> list[Any]:
    """What work(0), ..., work(n - 1) return, each in a thread of its own, all started together."""
    results: list[Any] = [None] * n
    start = threading.Barrier(n)

    def run(i: int) -> None:
        start.wait(PATIENCE)
        results[i] = work(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(PATIENCE)
    assert not any(t.is_alive() for t in threads)
    return results


class TestThreads:
    def test_own_arrays(self, engine):
        def work(i: int) -> float:
            x = np.full(1000, i, dtype="float64")
            for _ in range(200):
                x = x + 1
                x[::2] *= 1
            return x.sum().item()

        assert in_threads(6, work) == [1000 * (i + 200) for i in range(6)]

    def test_shared_input(self, engine):
        x = np.arange(10_000, dtype="float64") + 1

        def work(i: int) -> float:
            return sum((x * i).sum().item() for _ in range(50))

        assert in_threads(6, work) == [50 * i * numpy.arange(1.0, 10_001).sum() for i in range(6)]

    def test_shared_counter(self, engine):
        x = np.zeros(100, dtype="int64")

        def work(i: int) -> None:
            target = x
            for _ in range(300):
                target += 1

        in_threads(4, work)
        assert x.tolist() == [1200] * 100

    def test_waits_in_one_issues_in_another(self, engine):
        arrays = [np.zeros(10) for _ in range(4)]

        def work(i: int) -> Any:
            if i < 4:
                for _ in range(200):
                    arrays[i] += 1
                return arrays[i].tolist()
            for _ in range(100):
                forerun.waitall()
            return None

        assert in_threads(6, work)[:4] == [[200] * 10] * 4

    def test_thread_that_dies_after_issuing(self, engine):
        made: list[Any] = []

        def work(i: int) -> None:
            x = np.full(100_000, i)
            made.append((i, x * 2 + 1))

        in_threads(5, work)
        for i, x in made:
            assert x[-1].item() == 2 * i + 1

    def test_thread_that_dies_behind_a_closed_gate(self):
        with running("4 workers"):
            made: list[Any] = []
            with closed_gate():
                in_threads(3, lambda i: made.append(np.ones(10) + i))
                assert not any(x.ready for x in made)
            assert sorted(x[0].item() for x in made) == [1, 2, 3]

    def test_a_thousand_short_lived_threads(self, engine):
        results: list[Any] = []
        for i in range(1000):
            thread = threading.Thread(target=lambda i=i: results.append(np.ones(3) + i))
            thread.start()
            thread.join()
        assert [x[0].item() for x in results] == [i + 1 for i in range(1000)]

    def test_each_gets_its_own_error(self, engine):
        def work(i: int) -> str:
            try:
                np.take(np.ones(3), np.array([i + 3])).wait()
            except IndexError as error:
                return str(error)[-1]
            return "none"

        assert in_threads(6, work) == [str(i + 3) for i in range(6)]

    def test_one_bad_array_read_by_many(self):
        with running("4 workers"):
            bad = np.take(np.ones(3), np.array([7])) + 1

            def work(i: int) -> int:
                raised = 0
                for _ in range(50):
                    try:
                        bad.wait()
                    except IndexError:
                        raised += 1
                return raised

            assert in_threads(6, work) == [50] * 6

    def test_tasks_that_use_arrays_themselves(self):
        """A task may issue and wait: it runs on a worker, which is a thread like others."""
        with running("4 workers"):
            inner = np.arange(5) + 1

            def task() -> numpy.ndarray:
                return (inner * 2).numpy()

            assert host(task, [], [((5,), "int64")])[0].tolist() == [2, 4, 6, 8, 10]

    def test_drops_in_other_threads(self, engine):
        gc.collect()
        forerun.waitall()
        _core.quiesce()
        before = forerun.memory()["live"]
        arrays = [np.ones(10_000) + i for i in range(60)]

        def work(i: int) -> None:
            for j in range(i, 60, 6):
                arrays[j] = None

        in_threads(6, work)
        _core.quiesce()
        assert forerun.memory()["live"] == before


class TestEnvironment:
    def test_defaults(self):
        assert output("c = forerun.config()\nprint(c['engine'], c['workers'], c['cpu_devices'])\n") == [
            "async",
            "None",
            "1",
        ]

    def test_sync(self):
        program = """
_core.gate(False)
y = np.ones(3) + 1
print(y.ready, forerun.config()["engine"])
try:
    np.take(y, np.array([7]))
except IndexError:
    print("raised")
"""
        assert output(program, FORERUN_ENGINE="sync") == ["True", "sync", "raised"]

    def test_workers(self):
        program = """
import threading
meet = threading.Barrier(3)
def task():
    meet.wait(30)                 # three tasks run at once
    return 1
ones = [host(task, [], [((), "int64")])[0] for _ in range(3)]
print(sum(x.item() for x in ones), forerun.config()["workers"])
"""
        assert output(program, FORERUN_WORKERS="3") == ["3", "3"]

    def test_cpu_devices(self):
        program = "print(*forerun.devices(), np.ones(2, device=forerun.cpu(1)).device)\n"
        assert output(program, FORERUN_CPU_DEVICES="2") == ["cpu(0)", "cpu(1)", "cpu(1)"]

    @pytest.mark.parametrize(("text", "size"), [("1000000", 1_000_000), ("64M", 64 << 20), ("1.5g", 3 << 29)])
    def test_memory(self, text, size):
        program = "print(forerun.memory()['limit'], forerun.memory()['budget'])\n"
        found = output(program, FORERUN_MEMORY_LIMIT=text, FORERUN_MEMORY_BUDGET="16K")
        assert found == [str(size), str(16 << 10)]

    def test_ops_ahead(self):
        assert output("print(_core.ops_ahead())\n", FORERUN_OPS_AHEAD="77") == ["77"]

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("FORERUN_ENGINE", "fast"),
            ("FORERUN_WORKERS", "many"),
            ("FORERUN_WORKERS", "0"),
            ("FORERUN_WORKERS", "-2"),
            ("FORERUN_CPU_DEVICES", "two"),
            ("FORERUN_CPU_DEVICES", "0"),
            ("FORERUN_OPS_AHEAD", "1.5"),
            ("FORERUN_MEMORY_BUDGET", "0"),
            ("FORERUN_MEMORY_LIMIT", "lots"),
            ("FORERUN_MEMORY_LIMIT", "-5M"),
        ],
    )
    def test_bad_values(self, name, text):
        done = execute("", **{name: text})
        assert done.returncode == 1
        last = done.stderr.splitlines()[-1]
        assert last.startswith("ValueError: ")
        assert text in last or text.removesuffix("M") in last


class TestConfigure:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"engine": "fast"}, 'engine must be "async" or "sync", got \'fast\''),
            ({"workers": 0}, "workers .* got 0"),
            ({"workers": -1}, "workers .* got -1"),
            ({"cpu_devices": 0}, "cpu_devices .* got 0"),
            ({"ops_ahead": 0}, "ops_ahead .* got 0"),
            ({"memory_budget": -5}, "memory_budget .* got -5"),
            ({"memory_limit": 0}, "memory_limit .* got 0"),
            ({"memory_limit": 1 << 70}, "memory_limit .* got 11"),
            ({"ops_ahead": 1 << 40}, "ops_ahead .* got 10"),
            ({"cpu_devices": 1000}, "cpu_devices .* got 1000"),
            ({"workers": 10**6}, "workers .* got 1000000"),
        ],
    )
    def test_bad_values(self, settings, message):
        before = forerun.config()
        with pytest.raises(ValueError, match=message):
            forerun.configure(**settings)
        assert forerun.config() == before

    @pytest.mark.parametrize("workers", ["4", 2.5, True])
    def test_bad_types(self, workers):
        with pytest.raises(TypeError, match="configure: workers must be an integer, got "):
            forerun.configure(workers=workers)

    def test_default_workers_can_be_had_again(self):
        with running("4 workers"):
            forerun.configure(workers=None)
            assert forerun.config()["workers"] is None
            assert (np.ones(3) + 1).tolist() == [2, 2, 2]

    def test_unknown_setting(self):
        with pytest.raises(TypeError, match="threads"):
            forerun.configure(threads=3)

    def test_pending_work_is_finished_first(self):
        with running("4 workers"):
            x = np.ones(100_000)
            for _ in range(100):
                x = x + 1
            forerun.configure(workers=1)
            assert x.ready
            assert x[3].item() == 101

    def test_settings_that_are_not_given_stay(self):
        with running("4 workers"):
            forerun.configure(ops_ahead=100)
            assert forerun.config()["workers"] == 4
            forerun.configure(engine="sync")
            assert forerun.config()["ops_ahead"] == 100

    def test_from_one_mode_to_the_other_and_back(self):
        with running("4 workers"):
            x = np.zeros(10)
            for i in range(20):
                forerun.configure(engine="sync" if i % 2 else "async", workers=1 + i % 4)
                x = x + 1
            assert x.tolist() == [20] * 10
