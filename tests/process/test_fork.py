"""Fork: both processes go on, and nothing is lost."""

from __future__ import annotations

import numpy
import pytest

from tests.support.processes.subprocesses import execute, output, run_file

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
    def test_both_processes_continue(self, settings):
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

    def test_an_unread_error_of_the_parent_is_reported_once(self):
        done = execute(
            """
import os, sys
y = np.linalg.inv(np.zeros((2, 2)))
pid = os.fork()
if pid == 0:
    sys.exit(0)                   # an exit like any other, with a status of its own
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
        )
        assert (done.returncode, done.stdout) == (1, "0\n")
        assert done.stderr.count("an error that no read has raised") == 1

    def test_fork_in_a_thread_while_others_issue(self):
        assert (
            output(
                """
import os, threading
ends = threading.Event()
def issue():
    x, n = np.zeros(100), 0
    while not ends.is_set():
        x += 1
        n += 1
        assert n % 50 or x[3].item() == n
def tasks():
    while not ends.is_set():
        assert host(lambda: (np.ones(3) + 1).sum().item(), [], [((), "float32")])[0].item() == 6
def child():
    x = np.ones(1000)
    for _ in range(50):
        x = x + 1
    good = x[5].item() == 51 and host(lambda v: v * 2, [x], [((1000,), "float32")])[0][0].item() == 102
    forerun.waitall()
    os._exit(0 if good else 1)
def fork():
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            child()
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    ends.set()
threads = [threading.Thread(target=f) for f in (issue, issue, tasks, fork)]
for t in threads: t.start()
for t in threads: t.join()
"""
            )
            == ["0"] * 5
        )

    def test_fork_while_a_task_issues(self):
        assert output(
            """
import os, threading
started, go = threading.Event(), threading.Event()
def task():
    started.set()
    x = np.ones(10)
    for _ in range(1000):
        x = x + 1
        go.wait(0.0001)           # the fork waits for this task meanwhile
    return x.numpy()
y = host(task, [], [((10,), "float32")])[0]
started.wait()
pid = os.fork()
good = y.ready and y[3].item() == 1001 and (y + 1)[0].item() == 1002
if pid == 0:
    os._exit(0 if good else 1)
print(good, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
        ) == ["True", "0"]

    def test_two_threads_fork_at_once(self):
        assert (
            output(
                """
import os, threading
start, codes = threading.Barrier(2), []
def fork():
    start.wait()
    for _ in range(5):
        x = np.ones(10) + 1
        pid = os.fork()
        if pid == 0:
            os._exit(0 if (x + 1)[0].item() == 3 else 1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
threads = [threading.Thread(target=fork) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
print(*codes)
"""
            )
            == ["0"] * 10
        )

    def test_in_a_task(self):
        """It cannot wait for its own end: the child has the arrays that were computed, and no engine."""
        assert output(
            """
import os
there = np.ones(3) + 1
there.wait()
late = None
def task():
    pid = os.fork()
    if pid == 0:
        print(there.tolist() == [2, 2, 2], flush=True)
        for use in (lambda: there + 1, late.item, forerun.waitall, lambda: forerun.configure(workers=1)):
            try:
                use()
            except RuntimeError as error:
                print("host task" in str(error) or "forked before the work had ended" in str(error), flush=True)
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
_core.gate(True)
code = host(task, [], [((), "int64")])[0]
late = code + 1
_core.gate(False)
print(code.item(), late.item(), (there + 1)[0].item())
"""
        ) == ["True"] * 5 + ["7", "8", "3.0"]

    def test_ctrl_c_during_the_wait_of_a_fork(self):
        """Both processes are interrupted behind the fork. The parent goes on; the child has no engine."""
        assert output(
            """
import os, signal, threading
started, go = threading.Event(), threading.Event()
def task():
    started.set()
    go.wait(60)
    return 5
y = host(task, [], [((), "int64")])[0]
parent, pid, caught = os.getpid(), None, False
def interrupt():
    started.wait()
    before = _core.stats()["waits"]
    waiting.set()
    while _core.stats()["waits"] == before:
        pass
    os.kill(parent, signal.SIGINT)
waiting = threading.Event()
thread = threading.Thread(target=interrupt)
thread.start()
waiting.wait()
try:
    pid = os.fork()
    for _ in range(1000): pass
except KeyboardInterrupt:
    caught = True
if os.getpid() != parent:
    try:
        y.wait()
    except RuntimeError as error:
        os._exit(3 if caught and "forked before the work had ended" in str(error) else 4)
go.set()
thread.join()
print(caught, y.item(), (y + 1).item(), os.waitstatus_to_exitcode(os.wait()[1]))
"""
        ) == ["True", "5", "6", "3"]

    def test_other_programs_start_at_once(self):
        """They are not copies of the process: nothing is waited for."""
        assert output(
            """
import os, subprocess, threading
go = threading.Event()
y = host(lambda: (go.wait(60), 5)[1], [], [((), "int64")])[0]
assert subprocess.run(["true"]).returncode == 0
assert os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1]) == 0
print(y.ready)
go.set()
print(y.item())
"""
        ) == ["False", "5"]

    def test_program_started_by_a_task_can_be_interrupted(self):
        """Workers block signals; programs that a task starts do not inherit that."""
        assert output(
            """
import subprocess, sys
program = "import signal; print(len(signal.pthread_sigmask(signal.SIG_BLOCK, [])))"
def task():
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True).stdout)
print(host(task, [], [((), "int64")])[0].item())
"""
        ) == ["0"]


POOLS = """
import concurrent.futures
import multiprocessing
import os
import sys

import forerun
from forerun import np
from forerun.np import host


def work(x):
    host(lambda: os.write(1, b"late\\n") and None, [], [])
    return x * 2 + np.ones(3)


def fails(x):
    return np.take(x, np.array([7]))


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    x = np.arange(3) + 1
    with context.Pool(2) as pool:
        assert [y.tolist() for y in pool.map(work, [x, x * 2])] == [[3, 5, 7], [5, 9, 13]]
        pool.close()
        pool.join()               # without it, the end of the block kills the processes
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert [y.tolist() for y in pool.map(work, [x, x * 2])] == [[3, 5, 7], [5, 9, 13]]
        try:
            pool.submit(fails, x).result()
        except IndexError as error:
            assert "take: index must be in" in str(error)
            print("raised", flush=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert [y.tolist() for y in pool.map(work, [x, x * 2])] == [[3, 5, 7], [5, 9, 13]]
    process = context.Process(target=work, args=(x,))
    process.start()
    process.join()
    print("code", process.exitcode, flush=True)
"""


class TestPools:
    @pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
    def test_arrays_are_sent_both_ways(self, method, tmp_path):
        script = tmp_path / "pools.py"
        script.write_text(POOLS)
        done = run_file(script, method)
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(done.stdout.splitlines()) == ["code 0"] + ["late"] * 7 + ["raised"]

    @pytest.mark.parametrize(("method", "code"), [("fork", 0), ("spawn", 1)])
    def test_unread_error_in_a_process(self, method, code, tmp_path):
        """It is printed; the status is that of the process where it leaves by `exit`."""
        script = tmp_path / "unread.py"
        script.write_text(
            POOLS[: POOLS.index("if __name__")]
            + """
def forgets():
    global y
    y = fails(np.ones(3))

if __name__ == "__main__":
    process = multiprocessing.get_context(sys.argv[1]).Process(target=forgets)
    process.start()
    process.join()
    print(process.exitcode)
"""
        )
        done = run_file(script, method)
        assert (done.returncode, done.stdout) == (0, f"{code}\n")
        assert f"forerun: {script}:18: an error that no read has raised: take: index" in done.stderr
