"""Errors of GPUs: of values, of memory, of a forked child, and a wait that the user interrupts."""

from __future__ import annotations

import numpy
import pytest

import forerun
from forerun import np
from tests.support.device_plugins.devices import execute_on_plugin, gpus, words_of


def test_an_error_of_values_reaches_the_results_and_names_the_line() -> None:
    one = gpus()[0]
    x = np.take(np.arange(3.0, device=one), np.array([0, 7], device=one), mode="raise")
    y = x * 2
    text = r"take: index must be in \[-3, 3\), got one that is not\nissued at .*test_gpu_errors.py:15"
    with pytest.raises(IndexError, match=text):
        y.numpy()
    assert (np.ones(3, device=one) * 2).tolist() == [2.0, 2.0, 2.0]


def test_an_error_of_an_operation_that_runs_on_the_host() -> None:
    singular = np.linalg.inv(np.zeros((3, 3), device=gpus()[0])) + 1
    with pytest.raises(numpy.linalg.LinAlgError, match="Singular matrix"):
        singular.wait()


def test_memory_that_a_device_does_not_have() -> None:
    one = gpus()[0]
    # Where the plugin says how much a device has, the call itself raises.
    asked = "must have memory for the operation, asked for 4398046511104 byte|must fit into memory, asked for 4.0 TiB"
    with pytest.raises(MemoryError, match=asked):
        np.ones((1 << 20, 1 << 20), device=one).wait()
    assert (np.ones(3, device=one) * 2).tolist() == [2.0, 2.0, 2.0]


FORKING = """
import os, sys
x = np.ones((300, 300), device="gpu:0")
y = (x @ x).sum()
forerun.waitall()
child = os.fork()
if child == 0:
    messages = set()
    for use in (
        lambda: x.numpy(), lambda: (x @ x).numpy(), lambda: y.item(), lambda: np.ones(3, device="gpu:1").wait(),
        lambda: np.ones(3).copyto(forerun.gpu(0)).wait(),
    ):
        try:
            use()
            messages.add("no error")
        except RuntimeError as error:
            messages.add(str(error).partition("\\n")[0])
    print(*sorted(messages), (np.ones(3) * 2).sum(), flush=True)
    sys.exit(0)
print(os.waitpid(child, 0)[1], y, (x + 1).sum())
"""


def test_a_forked_child_raises_and_the_parent_continues() -> None:
    done = execute_on_plugin(FORKING)
    assert done.returncode == 0, done.stderr
    child, parent = done.stdout.splitlines()
    refused = "must be used by the process that has opened it, got a forked child"
    assert child == f"gpu(0): {refused} gpu(1): {refused} 6.0"
    assert parent == "0 2.7e+07 180000.0"


def test_a_wait_for_a_device_can_be_interrupted() -> None:
    program = """
import os, signal, threading
x = np.ones((1000, 1000), device="gpu:0") * 0.001
y = x
for _ in range(60): y = np.exp(np.sin(np.tanh(y))) + x
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True: forerun.waitall(), (y + x).wait()
except KeyboardInterrupt:
    print("interrupted", (x[0, 0] * 1000).item())
"""
    assert words_of(program) == ["interrupted", "1.0"]


def test_a_child_may_open_devices_that_its_parent_has_not_opened() -> None:
    program = """
import os
child = os.fork()
if child == 0:
    print((np.ones(3, device="gpu:0") + 1).sum(), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1], (np.ones(3, device="gpu:1") + 1).sum())
"""
    assert words_of(program) == ["6.0", "0", "6.0"]


def test_settings_change_while_there_are_gpus() -> None:
    one = gpus()[0]
    x = np.arange(4.0, device=one)
    before = forerun.config()
    for engine in ("sync", "async"):
        forerun.configure(engine=engine)
        try:
            assert (x * 2 + 1).tolist() == [1.0, 3.0, 5.0, 7.0]
        finally:
            forerun.configure(engine=before["engine"])


def test_operations_of_one_code_have_errors_of_their_own() -> None:
    """Both ask of a vector whether its numbers are below 0: one module, but two messages."""
    one = gpus()[0]
    with one:
        good = np.random.exponential(np.ones(3))
        for name in ("rayleigh", "exponential", "laplace"):
            scale = np.exp(np.zeros(3)) * -1
            draw = getattr(np.random, name)
            x = draw(0.0, scale) if name == "laplace" else draw(scale)
            with pytest.raises(ValueError, match=f"^{name}: scale must not be negative"):
                x.numpy()
        assert good.shape == (3,)
