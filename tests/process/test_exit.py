"""The end of a process: pending work is finished, errors are printed, and the status shows them."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.support.processes.subprocesses import execute, output

UNREAD = "import os, sys\ny = np.take(np.ones(3), np.array([7]))\n"
MESSAGE = "an error that no read has raised: take: index must be in [-3, 3), got 7"


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
        assert done.returncode == 1
        assert done.stderr.startswith("forerun: <string>:5: ")
        assert "take: index must be in [-3, 3), got 7" in done.stderr

    def test_error_of_a_task_is_reported_with_its_type(self):
        done = execute('def fail():\n    raise KeyError("gone")\nhost(fail, [], [])\n')
        assert "<string>:6: " in done.stderr
        assert "KeyError: 'gone'" in done.stderr
        assert done.returncode == 1

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

    def test_a_waiting_thread_does_not_delay_exit(self):
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

    def test_os_exit_ends_at_once(self):
        program = """
import os, threading
started = threading.Event()
def hangs():
    started.set()
    threading.Event().wait()
host(hangs, [], [])
started.wait()
x = np.ones((2000, 2000)); y = x @ x @ x
os._exit(5)
"""
        done = execute(program)
        assert (done.returncode, done.stdout, done.stderr) == (5, "", "")

    def test_behind_an_exception(self):
        """Work with effects is done all the same, and the status is the exception's."""
        done = execute('host(lambda: print("done", flush=True), [], [])\nraise KeyError("mine")\n')
        assert (done.returncode, done.stdout) == (1, "done\n")
        assert done.stderr.endswith("KeyError: 'mine'\n")

    def test_sys_exit_in_the_middle_of_a_wait(self):
        """Raised by a signal's handler, for example."""
        program = """
import os, signal, sys, threading
signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))
go = threading.Event()
def task():
    os.kill(os.getpid(), signal.SIGTERM)
    go.wait(60)
    print("ended", flush=True)
    return 1
try:
    host(task, [], [((), "int64")])[0].wait()
finally:
    go.set()
"""
        done = execute(program)
        assert (done.returncode, done.stdout, done.stderr) == (4, "ended\n", "")

    def test_handlers_and_finalizers_still_have_an_engine(self):
        program = """
class Last:
    def __del__(self):
        print((self.x + 1).tolist()[0], host(lambda: 5, [], [((), "int64")])[0].item())
last = Last()
last.x = np.ones(3)
last.circle = last
"""
        early = "import atexit\natexit.register(lambda: print((np.ones(2) + np.ones(2)).tolist()))\n"
        done = execute(program, early=early)
        assert (done.returncode, done.stdout, done.stderr) == (0, "[2.0, 2.0]\n2.0 5\n", "")

    def test_execv_starts_a_new_program(self):
        """At once: pending operations are not waited for."""
        program = """
import os, sys, threading
x = np.ones(10) + 1
host(lambda: threading.Event().wait(), [], [])
print(x.tolist()[0], flush=True)
show = "import signal; print(len(signal.pthread_sigmask(signal.SIG_BLOCK, [])))"
os.execv(sys.executable, [sys.executable, "-c", show])
"""
        assert output(program) == ["2.0", "0"]


class TestStatus:
    """An error that has not been raised makes a program fail that would otherwise end in success."""

    @pytest.mark.parametrize(
        ("end", "status"),
        [
            ("", 1),
            ("sys.exit()", 1),
            ("sys.exit(0)", 1),
            ("sys.exit(3)", 3),
            ("sys.exit('words')", 1),
            ("raise KeyError", 1),
            ("os._exit(0)", 0),
            ("forerun.configure(exit_status=False)", 0),
            ("forerun.configure(exit_status=False); sys.exit(3)", 3),
            ("sys.orig_argv.clear()", 0),
        ],
    )
    def test_status(self, end, status):
        assert execute(UNREAD + end).returncode == status

    def test_switch_in_the_environment(self):
        done = execute(UNREAD, FORERUN_EXIT_STATUS="0")
        assert (done.returncode, done.stderr) == (0, f"forerun: <string>:5: {MESSAGE}\n")

    def test_everything_else_at_exit_takes_place(self):
        """Python's handlers, buffers, modules' ends, and C's handlers, which see the status."""
        early = """
import atexit, ctypes
libc = ctypes.CDLL(None)
libc.on_exit(libc.dprintf, b"last\\n")     # dprintf(status, "last"): status 1 is standard output
atexit.register(lambda: print("first registered"))
class Module:
    def __del__(self): print("module")
module = Module()
"""
        done = execute(UNREAD + "atexit.register(lambda: print('last registered'))\n", early=early)
        lines = ["last registered", "first registered", "module", "last"]
        assert (done.returncode, done.stdout.splitlines()) == (1, lines)
        assert done.stderr == f"forerun: <string>:13: {MESSAGE}\n"

    def test_under_pytest(self, tmp_path):
        test = tmp_path / "test_it.py"
        test.write_text(
            "from forerun import np\nkept = []\ndef test():\n    kept.append(np.take(np.ones(3), np.array([7])))\n"
        )
        run = f"import pytest, sys\nsys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', {str(test)!r}]))\n"
        done = execute(run)
        assert (done.returncode, done.stderr) == (1, f"forerun: {test}:4: {MESSAGE}\n")
        assert "1 passed" in done.stdout

    def test_no_standard_error(self):
        assert execute(UNREAD + "sys.stderr = None\n").returncode == 1

    def test_very_many_unread_errors(self):
        """A thousand are kept, equal ones are one line; of the rest the number is printed, without those raised."""
        program = """
i = np.array([7])
many = [np.take(np.ones(3), i) for _ in range(1600)]
_core.quiesce()
for y in many[:50] + many[1400:1500]:
    try: y.wait()
    except IndexError: pass
"""
        done = execute(program)
        assert done.returncode == 1
        assert done.stderr.splitlines() == [f"forerun: <string>:6: {MESSAGE} (950 times)", "forerun: and 500 more"]

    def test_lines_of_a_loop_are_printed_once_in_their_order(self):
        program = """
for i in range(3):
    y = np.take(np.ones(3), np.array([7]))
    z = np.take(np.ones(3), np.array([8]))
"""
        first = f"forerun: <string>:6: {MESSAGE} (3 times)"
        assert execute(program).stderr.splitlines() == [first, first.replace(":6:", ":7:").replace("got 7", "got 8")]

    def test_unread_error_after_many_read_ones(self):
        program = """
i = np.array([7])
for _ in range(1500):
    try: np.take(np.ones(3), i).wait()
    except IndexError: pass
y = np.take(np.ones(3), i)
"""
        assert execute(program).stderr == f"forerun: <string>:9: {MESSAGE}\n"


HANGS = """
import atexit, os, signal, threading
y = host(lambda: threading.Event().wait() or 1, [], [((), "int64")])[0]
z = y + 1
def interrupt(before):
    while _core.stats()["waits"] == before:
        pass
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, args=(_core.stats()["waits"],), daemon=True).start()
"""


class TestInterrupted:
    """Ctrl-C ends the wait at exit; operations that have not ended then are lost, which is not a success."""

    def test_task_that_hangs(self):
        done = execute(HANGS + "print('buffered')\n")
        assert (done.returncode, done.stdout) == (1, "buffered\n")
        assert done.stderr == (
            "forerun: KeyboardInterrupt while the program waited for its last operations at exit; 2 have not ended\n"
        )

    def test_other_status_stays(self):
        assert execute(HANGS + "import sys; sys.exit(3)\n").returncode == 3

    def test_later_exit_handlers_see_the_failure(self):
        early = """
import atexit
def late():
    try: z.wait()
    except RuntimeError as error: print(str(error).partition(", got ")[2])
atexit.register(late)
"""
        done = execute(HANGS, early=early)
        assert (done.returncode, done.stdout) == (1, "an interrupted wait for it at exit\n")

    def test_sigterm_ends_the_process(self):
        done = execute(HANGS.replace("SIGINT", "SIGTERM"))
        assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")


LOOPS = {
    "native": "x = np.zeros(1000)\nwhile True: x = x + 1\n",
    "waits": "x = np.zeros(1000)\nwhile True:\n  x = x + 1\n  x.sum().item()\n",
    "tasks": "while True: host(lambda: 1, [], [((), 'int64')])[0].wait()\n",
    "gradients": """
w = np.ones(10)
w.attach_grad()
class Twice(autograd.Function):
    def forward(self, x): return x * 2
    def backward(self, g): return g * 2
while True:
    with autograd.record():
        loss = (Twice()(w) * w).sum()
    loss.backward()
    w -= 0.01 * w.grad
""",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_daemon_threads_that_issue(loop):
    """They stop when the interpreter goes away, wherever they are; the process ends as it would without them."""
    body = "".join(f"    {line}\n" for line in LOOPS[loop].splitlines())
    program = f"""
import threading
from forerun import autograd
def loop():
{body}
for _ in range(2):
    threading.Thread(target=loop, daemon=True).start()
while _core.stats()["done"] < 2000:
    pass
"""
    early = "import atexit\natexit.register(lambda: print((np.ones(3) + 1).tolist()[0]))\n"
    done = execute(program, early=early)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2.0\n", "")


def test_sub_interpreters_are_refused():
    name = "_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters"
    program = f"""
import {name} as interpreters
import sys
one = interpreters.create()
code = "import sys; sys.path[:] = " + repr(sys.path) + "; import forerun"
try:
    error = interpreters.run_string(one, code)
except Exception as raised:
    error = raised
interpreters.destroy(one)  # as from Python 3.14 on, one that is left is warned about at exit
words = ("must be imported in the main interpreter", "does not support loading in subinterpreters")
print(any(text in str(error) for text in words), "ImportError" in str(error))
"""
    assert output(program) == ["True", "True"]
