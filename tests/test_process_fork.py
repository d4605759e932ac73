"""Fork: both processes go on, and nothing is lost."""

from __future__ import annotations

import numpy
import pytest

from children import execute, output

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
