"""The end of a process: pending work is finished, errors are told, the status says so."""

from __future__ import annotations

import pytest

from children import execute, output


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
