"""Fourier transforms: the bits of NumPy's, by its loops and, where a NumPy has no such loops, by its functions."""

from __future__ import annotations

import ctypes
import sys
import time

import numpy
import pytest

from forerun import np
from forerun.ops.signal import fourier
from tests.support.comparison.random_arrays import normal_array
from tests.support.engine.settings import running

FUNCTIONS = {
    "fft": "fdFD", "ifft": "fdFD", "rfft": "fd", "irfft": "FD", "hfft": "FD", "ihfft": "fd",
    "fft2": "dD", "irfft2": "D",
}  # fmt: skip
CASES = [(name, dtype) for name, dtypes in FUNCTIONS.items() for dtype in dtypes]


@pytest.mark.parametrize("loops", [True, False], ids=["loops", "functions"])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_transforms_have_the_bits_of_numpy(name, dtype, loops, monkeypatch):
    if not loops:
        monkeypatch.setattr(fourier.lines, "_LOOPS", None)
    several = name.endswith("2")
    of_reals = dtype == "f" and name in (
        "fft",
        "ifft",
    )  # NumPy computes these in double precision, some of them
    for shape in [(16, 9), (3, 40, 7), (200, 130)]:
        a = normal_array(shape, 7, dtype)
        x = np.array(a)
        for view, numpy_view in [(x, a), (x[::-1, ..., ::2], a[::-1, ..., ::2]), (x.T, a.T)]:
            for norm in (None, "ortho", "forward"):
                for more in [{}] if several else [{"axis": k, "n": n} for k in range(a.ndim) for n in (None, 6, 21)]:
                    found = getattr(np.fft, name)(view, norm=norm, **more)
                    wanted = getattr(numpy.fft, name)(numpy_view, norm=norm, **more)
                    assert found.dtype == wanted.dtype
                    if of_reals:
                        numpy.testing.assert_allclose(found.asnumpy(), wanted, rtol=2e-5, atol=2e-5)
                    else:
                        assert found.asnumpy().tobytes() == wanted.tobytes()


def test_a_transform_of_no_lines():
    assert np.fft.fft(np.zeros((0, 5))).shape == (0, 5)
    assert np.fft.irfft(np.zeros((4, 0, 3), dtype="complex64"), axis=0).shape == (6, 0, 3)


@pytest.mark.parametrize("mode", ["1 worker", "4 workers"])
@pytest.mark.parametrize("loops", [True, False], ids=["loops", "functions"])
def test_many_lines_are_shared_by_workers(loops, mode, monkeypatch):
    if not loops:
        monkeypatch.setattr(fourier.lines, "_LOOPS", None)
    a = normal_array((256, 2048), 7, "f")
    x = np.array(a)
    with running(mode):
        pairs = [
            (np.fft.rfft2(x), numpy.fft.rfft2(a)),
            (np.fft.fft(x, axis=0), numpy.fft.fft(a, axis=0)),
            (np.fft.irfft(x.astype("complex64")), numpy.fft.irfft(a.astype("complex64"))),
        ]
        for found, wanted in pairs:
            assert found.asnumpy().tobytes() == wanted.tobytes()


def test_a_transform_needs_no_interpreter():
    """It ends while this thread keeps the interpreter lock."""
    nap = ctypes.PyDLL(None).usleep  # keeps the lock
    with running("1 worker"):
        x = np.array(normal_array((64, 1000), 7, "d"))
        y = np.fft.rfft(x)
        while not y.ready:  # by a worker, whose thread is made known to the interpreter
            time.sleep(0.001)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        try:
            y = np.fft.rfft(x)
            naps = 0
            while not y.ready and naps < 10_000:
                nap(1000)
                naps += 1
            ended = y.ready
        finally:
            sys.setswitchinterval(interval)
    assert ended
