"""Random programs of the fuzzer on two devices: they read the values that they read on the CPU, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy
import pytest

import forerun
from forerun import np
from stress.fuzz import check, modes
from stress.fuzz.forerun_back import RunningAhead
from stress.fuzz.pool import Entry
from stress.fuzz.program import Program, random_program
from tests.support.device_plugins.devices import WHOLE, gpus

MODES = [mode for mode in modes.MODES if not mode.at_once and mode.settings.get("engine") != "sync"]
ERRORS = ("raises", "refused")
# Gradients at ties of values go to one of them or another, by the last bits of functions.
GRADIENTS = {"slope", "heads", "second", "overwritten", "training"}


class OnDevices(RunningAhead):
    """forerun whose arrays are on GPUs."""

    def array(self, values: numpy.ndarray, device: int) -> Any:
        """A new array on a device."""
        return np.array(values, dtype=values.dtype, device=forerun.gpu(device))

    def move(self, x: Any, device: int) -> Any:
        """A copy on a device."""
        return x.copyto(forerun.gpu(device))


@contextmanager
def devices_for_cpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Steps that name a CPU device get the GPU of that number, which is also where they make arrays."""
    with monkeypatch.context() as patch, forerun.gpu(0):
        patch.setattr(forerun, "cpu", forerun.gpu)
        yield


def is_near(want: Entry, got: Entry) -> bool:
    """Whether two reads are the same, but for the last bits of floats and the values that texts of errors name."""
    if want == got:
        return True
    if want[0] in ERRORS or got[0] in ERRORS:
        return want[0] == got[0] and want[1] == got[1]
    x, y = (numpy.frombuffer(entry[2], dtype=entry[1]) for entry in (want, got))
    if want[:2] != got[:2] or x.dtype.kind not in "fc":
        return False
    near = 1e-2 if x.dtype.itemsize == 2 else 1e-4
    finite = numpy.abs(x[numpy.isfinite(x)])
    return numpy.allclose(x, y, rtol=near, atol=near * max(1.0, float(finite.max(initial=0))), equal_nan=True)


def wanted_programs(first: int, n: int, wanted: Callable[[Program], bool]) -> Iterator[tuple[int, Program]]:
    for seed in range(first, first + n):
        program = random_program(seed)
        if wanted(program):
            yield seed, program


@pytest.mark.parametrize("first", range(2000, 2080 if WHOLE else 2020, 10))
def test_a_program_reads_the_values_of_the_cpu(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus(2)
    for seed, program in wanted_programs(first, 10, lambda program: program.exact or not program.kinds() & GRADIENTS):
        want, _ = check.step_by_step(program)
        with modes.engine(**MODES[seed % len(MODES)].settings), devices_for_cpus(monkeypatch):
            got = modes.run_program(program, OnDevices)
        for expected, found in zip(want, got, strict=True):
            assert len(expected) == len(found), seed
            for i, (e, f) in enumerate(zip(expected, found)):
                assert is_near(e, f), (
                    f"program {seed}, read {i}: expected {check.short_text(e)}, got {check.short_text(f)}"
                )


def test_arrays_in_adopted_numpy_memory() -> None:
    """Large results of NumPy's functions, whose memory a CPU's array takes over, are copied to the device."""
    (device,) = gpus(1)
    values = numpy.arange(70_000) % 3
    x = np.array(values, device=device)
    assert numpy.array_equal(np.flatnonzero(x).numpy(), numpy.flatnonzero(values))
    with device:
        sums = np.fromfunction(lambda i, j: i + j, (300, 300))
    assert numpy.array_equal(sums.numpy(), numpy.fromfunction(lambda i, j: i + j, (300, 300)))
