"""Load, at sizes that take a moment; `make load` runs the full ones."""

from __future__ import annotations

import gc
import time

import numpy
import pytest

from forerun import _core, np
from stress import load
from tests.support.engine.settings import running

MODES = ["1 worker", "4 workers"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", load.CASES)
def test_case(name, mode):
    with running(mode):
        load.CASES[name].run(load.CASES[name].small)


def test_the_command_reports_errors(monkeypatch, capfd):
    """A case that fails makes the command fail."""

    monkeypatch.setattr("sys.argv", ["load.py", "--small", "tree", "no_such_size=x"])
    with pytest.raises((KeyError, ValueError)):
        load.main()
    monkeypatch.setattr("sys.argv", ["load.py", "tree=100", "queued=1"])
    assert load.main() == 0
    assert "all results are correct" in capfd.readouterr().out


class TestProductsInPieces:
    """Products cut as if BLAS could count to seven."""

    @pytest.fixture(autouse=True, params=["forerun's kernel", "BLAS"])
    def small_limits(self, engine, request):
        _core.waitall()
        _core.set_tile_version(0 if request.param == "forerun's kernel" else 2)
        yield
        _core.waitall()
        _core.set_tile_version()
        _core.set_blas_limits()

    @pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
    @pytest.mark.parametrize(
        "shapes",
        [((30, 40), (40, 20)), ((1, 40), (40, 20)), ((30, 40), (40, 1)), ((40,), (40,)), ((3, 9, 8), (8, 9))],
    )
    def test_equal_numpys(self, dtype, shapes):
        rng = numpy.random.default_rng(5)
        a, b = (rng.integers(-8, 9, s).astype(dtype) for s in shapes)  # sums of whole numbers are exact in any order
        x, y = np.array(a), np.array(b)
        whole = (x @ y).tolist()
        _core.set_blas_limits(7, 7)
        assert (x @ y).tolist() == whole == (a @ b).tolist()
        _core.set_blas_limits(3, 1 << 20)
        assert (x @ y).tolist() == whole
        strided = np.array(numpy.repeat(a, 2, axis=-1))[..., ::2]
        assert (strided @ y).tolist() == whole


def test_an_array_beyond_32_bits():
    """Elements that lie more than 2^31, or 2^32, bytes apart, in memory that is never touched between them."""
    n = (1 << 32 if _core.granted_memory() > 6 << 30 else 1 << 31) + 8
    x = np.empty(n, dtype="uint8")  # pages come when they are written
    ends = x[:: n - 1]
    ends[...] = 7
    x[n // 2] = 5
    assert ends.tolist() == [7, 7]
    assert np.take(x, np.array([0, n // 2, n - 1, -1])).tolist() == [7, 5, 7, 7]
    assert x[n - 3 :][::-1][0].item() == 7
    assert x.reshape(2, n // 2)[1, 0].item() == 5


GROWING = {
    "chain_of_held_arrays": 6000,
    "fan_out_behind_a_gate": 4000,
    "fan_in": 4000,
    "fan_in_of_more_than_may_run_ahead": 10_000,
    "tree": 4000,
    "host_task_of_many_arrays": 2000,
    "tape": 4000,
    "tape_that_is_kept": 4000,
}


@pytest.mark.parametrize(("name", "n"), GROWING.items(), ids=GROWING)
def test_ten_times_as_much_takes_ten_times_as_long(name, n):
    """In time of the process's own threads. Work that grows with the square takes a hundred times as long, whenever it
    is measured; other work takes up to thirty times as long where the larger load leaves the caches, and more while
    the machine is busy."""

    def seconds(n: int) -> float:
        gc.collect()
        started = time.process_time()
        load.CASES[name].run(n)
        return time.process_time() - started

    def ratio() -> float:
        return min(seconds(10 * n) for _ in range(2)) / max(min(seconds(n) for _ in range(3)), 0.005)

    gc.disable()  # Python's own looks at all objects, again and again
    try:
        with running("1 worker"):
            seconds(n)
            assert any(ratio() < 50 for _ in range(3))
    finally:
        gc.enable()
