"""Several threads issue operations on one device: each module is that of its operation, and no write is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy
import pytest

import forerun
from forerun import np
from tests.support.device_plugins.devices import gpus, words_of

pytestmark = pytest.mark.usefixtures("many_switches")


def at_the_same_time(*functions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_modules_that_threads_write_at_the_same_time() -> None:
    (device,) = gpus(1)
    found: dict[tuple[int, int], numpy.ndarray] = {}

    def program(number: int) -> Callable[[], None]:
        def issue() -> None:
            x, y = np.arange(99, dtype="float32", device=device), np.ones(99, dtype="float32", device=device)
            for n in [*range(1, 90)] * 2:  # those that are issued again find the modules
                if number:
                    found[number, n] = (x[: n + 3] * 3 + y[: n + 3]).asnumpy()
                else:
                    found[number, n] = np.concatenate([x[:n], y[n:]]).asnumpy()

        return issue

    at_the_same_time(program(0), program(1))
    x, y = numpy.arange(99, dtype="float32"), numpy.ones(99, dtype="float32")
    for n in range(1, 90):
        numpy.testing.assert_array_equal(found[1, n], x[: n + 3] * 3 + y[: n + 3])
        numpy.testing.assert_array_equal(found[0, n], numpy.concatenate([x[:n], y[n:]]))
    forerun.waitall()


WRITES = """
import sys, threading
import forerun
from forerun import np, npx

sys.setswitchinterval(1e-6)
x = np.zeros(64, dtype="complex64", device=npx.gpu(0))

def on_the_host():
    for _ in range(300):
        np.random.shuffle(x[:8])

def on_the_device():
    for _ in range(1000):
        x[8:] += 1

threads = [threading.Thread(target=f) for f in (on_the_host, on_the_device)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(x[8:].real.min().item(), x[8:].real.max().item(), sum(times for *_, times in forerun._core.fallback_counts()))
"""


@pytest.mark.parametrize("engine", ["async", "sync"])
def test_writes_to_parts_of_an_array_of_which_one_runs_on_the_host(engine: str) -> None:
    """An array that the host writes goes back as a whole; nothing comes between the copies, even in a full window."""
    found = words_of(WRITES, FORERUN_OPS_AHEAD="8", FORERUN_ENGINE=engine)
    assert found == ["1000.0", "1000.0", "300"]
