"""Loads as operations: in order with saves, shapes at once, values from where the file was."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import gluon, np
from forerun._io import numpy_files
from forerun._io import ordering as order
from forerun.testing import closed_gate
from tests.support.engine import resources
from tests.support.engine.waiting import assert_waits, result_without_waiting
from tests.support.files.file_sizes import LARGE
from tests.support.paths import ROOT
from tests.support.processes import subprocesses


class TestLoad:
    @pytest.mark.parametrize("layout", ["C", "F"])
    @pytest.mark.parametrize("dtype", ["<f4", ">f4", "<i8", ">c16", "?", ">f2"])
    def test_files_written_by_numpy(self, engine: str, dtype: str, layout: Any, tmp_path: Path) -> None:
        for shape in [(), (5,), (0, 3), (4, 3, 2)]:
            x = numpy.asarray(numpy.arange(24)[: int(numpy.prod(shape))].reshape(shape), dtype, order=layout)
            numpy.save(tmp_path / "x", x)
            numpy.savez_compressed(tmp_path / "xs", x=x)
            for found in (np.load(tmp_path / "x.npy"), np.load(tmp_path / "xs.npz")["x"]):
                assert (found.dtype, found.shape) == (x.dtype.newbyteorder("="), shape)
                assert found.tolist() == x.tolist()

    def test_large_values(self, tmp_path: Path) -> None:
        x = numpy.random.default_rng(1).normal(size=(3, LARGE))
        for kind in (x, x.astype(">f8"), numpy.asfortranarray(x)):
            numpy.save(tmp_path / "x", kind)
            numpy.savez_compressed(tmp_path / "xs", kind)
            for found in (np.load(tmp_path / "x.npy"), np.load(tmp_path / "xs.npz")["arr_0"]):
                assert found.numpy().tobytes() == x.tobytes()

    def test_shape_and_dtype_are_known_at_once(self, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", numpy.ones((2, 3), ">i2"))
        numpy.savez(tmp_path / "xs", a=numpy.ones((2, 3), ">i2"))

        def program() -> list[Any]:
            x, y = np.load(tmp_path / "x.npy"), np.load(tmp_path / "xs.npz")["a"]
            return [x, y, np.fromfile(tmp_path / "x.npy", "i2")]

        x, y, _ = result_without_waiting(program)
        assert x.shape == y.shape == (2, 3)
        assert x.dtype == y.dtype == "int16"

    def test_the_file_may_be_removed_or_replaced(self, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", numpy.arange(3))
        numpy.savez(tmp_path / "xs", numpy.arange(3))
        with closed_gate():
            found = [np.load(tmp_path / "x.npy"), np.load(tmp_path / "xs.npz")["arr_0"]]
            (tmp_path / "xs.npz").unlink()
            np.save(tmp_path / "x", np.zeros(2), wait=False)
        forerun.waitall()
        assert [x.tolist() for x in found] == [[0, 1, 2]] * 2
        assert np.load(tmp_path / "x.npy").tolist() == [0, 0]

    def test_in_order_with_saves(self, late_array: Any, tmp_path: Path) -> None:
        x = late_array(np.arange(3))
        first = np.save(tmp_path / "x", x, wait=False)
        early = np.load(tmp_path / "x.npy")
        second = np.save(tmp_path / "x", x + 1, wait=False)
        late = np.load(tmp_path / "x.npy")
        late_array.go.set()
        assert (early.tolist(), late.tolist()) == ([0, 1, 2], [1, 2, 3])
        forerun.wait([first, second])

    def test_a_load_that_waits_keeps_later_saves_of_the_file(self, monkeypatch: Any, tmp_path: Path) -> None:
        """Also once the save that it comes after has ended."""
        began, go, real = threading.Event(), threading.Event(), numpy_files._again
        monkeypatch.setattr(numpy_files, "_again", lambda *a: (began.set(), go.wait(60), real(*a)))
        with closed_gate():
            np.save(tmp_path / "x", np.arange(3), wait=False)
            early = np.load(tmp_path / "x.npy")
        began.wait(60)
        np.save(tmp_path / "x", np.zeros(3), wait=False)
        np.save(tmp_path / "another", np.zeros(3))  # the one before it would have been written by now
        go.set()
        assert early.tolist() == [0, 1, 2]
        assert np.load(tmp_path / "x.npy").tolist() == [0, 0, 0]

    @pytest.mark.parametrize("name", ["x.npy", "x.npz"])
    def test_a_file_that_another_program_replaces_before_it_is_read(
        self, name: str, monkeypatch: Any, tmp_path: Path
    ) -> None:
        written, write = order.written, numpy.save if name == "x.npy" else numpy.savez
        monkeypatch.setattr(order, "written", lambda *a: (write(tmp_path / name, numpy.zeros(3)), written(*a)))
        with closed_gate():
            (np.save if name == "x.npy" else np.savez)(tmp_path / name, np.arange(3), wait=False)
            found = np.load(tmp_path / name)
            x = found if name == "x.npy" else found["arr_0"]
        with pytest.raises(ValueError, match="load: file must hold the array that was saved, got float64"):
            x.tolist()

    def test_parameters_come_after_their_save(self, tmp_path: Path) -> None:
        nets = [gluon.nn.Dense(1, in_units=2) for _ in range(2)]
        for net, value in zip(nets, ("ones", "zeros")):
            net.initialize(value)

        def program() -> None:
            nets[0].save_parameters(tmp_path / "x", wait=False)
            nets[1].load_parameters(tmp_path / "x")

        assert_waits(program)
        assert nets[1].weight.data().tolist() == [[1, 1]]

    def test_archives_that_are_about_to_be_written(self, tmp_path: Path) -> None:
        with closed_gate():
            np.savez(tmp_path / "x", np.arange(3), other=np.ones((2, 2)).T, wait=False)
            found = np.load(tmp_path / "x.npz")
            assert sorted(found) == ["arr_0", "other"]
            assert found["other"].shape == (2, 2)
        assert found["arr_0"].tolist() == [0, 1, 2]
        assert found["other"].tolist() == [[1, 1], [1, 1]]

    def test_arrays_of_an_archive_are_read_on_request(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "x", "w") as made:
            made.writestr("good.npy", numpy_bytes(numpy.arange(3)))
            made.writestr("bad.npy", b"not an array")
        with np.load(tmp_path / "x") as found:
            assert found["good.npy"] is found["good"]
            assert found["good"].tolist() == [0, 1, 2]
            assert "good.npy" in found
            assert len(found) == 2
            with pytest.raises(ValueError, match="load: file must be in NumPy's npy format"):
                found["bad"]
            with pytest.raises(KeyError, match="none"):
                found["none"]
        with pytest.raises(ValueError, match="archive must be open"):
            found["bad"]
        assert found["good"].tolist() == [0, 1, 2]
        assert repr(found) == "Archive with arrays good, bad"

    @pytest.mark.parametrize("name", ["x.npy", "x.npz"])
    def test_truncated_values_raise(self, name: str, tmp_path: Path) -> None:
        (numpy.save if name == "x.npy" else numpy.savez)(tmp_path / name, numpy.arange(LARGE))
        with closed_gate():
            x = np.load(tmp_path / name)
            x = x if name == "x.npy" else x["arr_0"]
            y = x + 1
            os.truncate(tmp_path / name, 5000)
        for read in (x.tolist, y.tolist, x.wait):
            with pytest.raises(ValueError, match="load: ") as caught:
                read()
            assert any("test_load_ops.py" in note for note in caught.value.__notes__)

    def test_values_that_have_changed_in_an_archive(self, tmp_path: Path) -> None:
        numpy.savez(tmp_path / "x", numpy.arange(LARGE))
        data = bytearray((tmp_path / "x.npz").read_bytes())
        data[len(data) // 2] ^= 1
        (tmp_path / "x.npz").write_bytes(data)
        with pytest.raises(ValueError, match="Bad CRC-32"):
            np.load(tmp_path / "x.npz")["arr_0"].wait()

    def test_unsupported_mmap_mode_and_dtypes_raise(self, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", numpy.arange(3))
        with pytest.raises(ValueError, match="load: mmap_mode must be None, got 'r'"):
            np.load(tmp_path / "x.npy", mmap_mode="r")
        assert np.load(tmp_path / "x.npy", allow_pickle=True).tolist() == [0, 1, 2]
        for dtype in ("O", "U3", [("a", "f4")], "M8[s]"):
            numpy.save(tmp_path / "y", numpy.zeros(2, dtype), allow_pickle=dtype == "O")
            with pytest.raises(ValueError, match="load: file must hold numbers"):
                np.load(tmp_path / "y.npy", allow_pickle=True)

    def test_unrequested_values_are_not_read(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.arange(LARGE))
        before, dropped = resources.resource_counts(), forerun.stats()["dropped"]
        with closed_gate():
            x = np.load(tmp_path / "x.npy")
            assert resources.increases(before)["files"] == 1
            del x
        forerun.waitall()
        assert forerun.stats()["dropped"] == dropped + 1
        assert not resources.leaks(before)

    def test_more_files_than_may_be_open(self, tmp_path: Path) -> None:
        found = subprocesses.output(
            f"import os\nos.chdir({str(tmp_path)!r})\n"
            "for i in range(300): np.save(f'{i}', np.full((1000,), i), wait=False)\n"
            "forerun.waitall()\n"
            "found = [np.load(f'{i}.npy') for i in range(300)]\n"
            "print(sum(x[0].item() for x in found))",
            early="import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n",
        )
        assert found == [str(sum(range(300)))]

    def test_values_are_read_into_their_place(self, tmp_path: Path) -> None:
        """Neither a second copy, nor memory that does not count."""
        numpy.save(tmp_path / "x", numpy.ones(32 << 20, "u1"))
        numpy.savez(tmp_path / "xs", numpy.ones(32 << 20, "u1"))
        found = subprocesses.output(
            f"import sys; sys.path.append({str(ROOT)!r})\n"
            "from tests.support.engine.resources import Peak\n"
            "(np.ones(3) + 1).wait()\n"
            "peak = Peak()\n"
            f"x = np.load({str(tmp_path / 'x.npy')!r})\nx.wait()\n"
            f"y = np.load({str(tmp_path / 'xs.npz')!r})['arr_0']\ny.wait()\n"
            "print(peak.increase() >> 20, forerun.memory()['live'] >> 20)"
        )
        assert int(found[0]) < 64 + 24
        assert found[1] == "64"


def numpy_bytes(x: numpy.ndarray) -> bytes:
    out = io.BytesIO()
    numpy.save(out, x)
    return out.getvalue()
