"""Files are written and read while other operations compute, in bounded memory."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np, npx
from forerun._io import npy
from forerun._runtime.settings import _apply as put_back
from forerun.safetensors import save_file
from forerun.testing import closed_gate
from tests.support.engine.settings import configured


class TestBesideTheComputation:
    def test_values_are_computed_while_others_are_written(self, late_array: Any) -> None:
        """Although both at once take more memory than the program would in order."""
        n = 4 << 20
        x = np.ones(n)
        x.wait()
        npx.host(lambda v: late_array.go.wait(60), [x], [], queue="io")
        del x
        y = np.ones(n) + 1
        patience = threading.Timer(60, late_array.go.set)
        patience.start()
        y.wait()
        patience.cancel()
        patience.join()
        assert not late_array.go.is_set()

    def test_values_are_read_while_others_are_computed(self, late_array: Any, tmp_path: Path) -> None:
        n = 4 << 20
        numpy.save(tmp_path / "x", numpy.ones(n, "f4"))
        first = late_array(np.ones(n))
        results = [first.sum()]
        del first
        x = np.load(tmp_path / "x.npy")
        patience = threading.Timer(60, late_array.go.set)
        patience.start()
        x.wait()
        patience.cancel()
        patience.join()
        assert not late_array.go.is_set()
        late_array.go.set()
        assert results[0].item() == n

    def test_a_write_that_takes_long_does_not_delay_reads(self, late_array: Any, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", numpy.arange(3))
        late = late_array(np.ones(3), "io")
        assert np.load(tmp_path / "x.npy").tolist() == [0, 1, 2]
        assert not late.ready

    @pytest.mark.parametrize("update", ["in place", "at an index", "through a view"])
    def test_an_update_waits_for_the_write_and_the_program_does_not(
        self, update: str, monkeypatch: Any, tmp_path: Path
    ) -> None:
        """While the values are written, only operations that do not write into their array run."""
        began, go, real = threading.Event(), threading.Event(), npy.write_values
        monkeypatch.setattr(npy, "write_values", lambda *args: (began.set(), go.wait(60), real(*args)))
        x = np.arange(4)
        size = np.save(tmp_path / "x", x, wait=False)
        assert began.wait(60)
        patience = threading.Timer(60, go.set)
        patience.start()
        if update == "in place":
            x += 10
        elif update == "at an index":
            x[[0, 1, 2, 3]] = np.array([10, 11, 12, 13])
        else:
            x[::-1][:] = np.array([13, 12, 11, 10])
        after = x * 2  # issued, and comes after the update
        assert (np.ones(3) + 1).tolist() == [2, 2, 2]
        assert [x.ready, after.ready, size.ready, go.is_set()] == [False] * 4
        patience.cancel()
        patience.join()
        go.set()
        assert after.tolist() == [20, 22, 24, 26]
        size.wait()
        assert numpy.load(tmp_path / "x.npy").tolist() == [0, 1, 2, 3]

    @pytest.mark.parametrize(
        "save", [partial(np.savez, wait=False), lambda path, x: save_file({"x": x}, path, wait=False)]
    )
    def test_an_update_does_not_wait_for_the_disk(self, save: Any, monkeypatch: Any, tmp_path: Path) -> None:
        """Which does not need the array any more; nor does another save of it."""
        began, go, real = threading.Event(), threading.Event(), os.fsync
        monkeypatch.setattr(os, "fsync", lambda file: (began.set(), go.wait(60), real(file)))
        x = np.arange(4)
        size = save(tmp_path / "x.npz", x)
        assert began.wait(60)
        x += 10
        again = save(tmp_path / "x.npz", x)
        patience = threading.Timer(60, go.set)
        patience.start()
        assert x.tolist() == [10, 11, 12, 13]
        assert [size.ready, again.ready, os.listdir(tmp_path), go.is_set()] == [False, False, [], False]
        patience.cancel()
        patience.join()
        go.set()
        assert size.item() == again.item() == os.path.getsize(tmp_path / "x.npz")

    @pytest.mark.parametrize("threads", [1, 4])
    def test_saves_of_one_file_end_in_order(self, threads: int, tmp_path: Path) -> None:
        """Though the values of one may be written before the one before it has its name."""
        with configured(io_threads=threads):
            x, seen = np.zeros(4), []
            with closed_gate():
                for i in range(20):
                    np.save(tmp_path / "x", x, wait=False)
                    if i % 3 == 0:
                        seen.append(np.load(tmp_path / "x.npy"))
                    x += 1
            assert [y.tolist() for y in seen] == [[i] * 4 for i in range(0, 20, 3)]
            forerun.waitall()
            assert numpy.load(tmp_path / "x.npy").tolist() == [19] * 4
            assert os.listdir(tmp_path) == ["x.npy"]

    def test_memory_is_bounded_if_computing_is_faster_than_writing(self, tmp_path: Path) -> None:
        n, before = 4 << 20, forerun.config()
        forerun.configure(io_memory=32 << 20)
        _core.reset_peak()
        least = forerun.memory()["live"]
        for i in range(24):
            np.save(tmp_path / f"{i % 2}", np.full((n,), i) + 1, wait=False)
        forerun.waitall()
        peak = forerun.memory()["peak"] - least
        put_back(before)
        assert peak <= 24 * 4 * n / 2  # in order it is two arrays
        assert np.load(tmp_path / "1.npy")[0].item() == 24
