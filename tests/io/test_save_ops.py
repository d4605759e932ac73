"""Saves as operations: in order with computations, in every mode, in the call for open files."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import np, npx, profiler
from forerun._io import npy
from forerun.testing import closed_gate
from tests.support.engine.waiting import assert_waits, result_without_waiting
from tests.support.files.file_sizes import LARGE

SAVES = (np.save, np.savez, np.savez_compressed, np.savetxt)


class TestSave:
    def test_in_every_mode(self, engine: str, tmp_path: Path) -> None:
        x = np.arange(LARGE).reshape(3, -1)
        sizes = [
            np.save(tmp_path / "x", x * 2, wait=False), np.savez(tmp_path / "xs", x, turned=x.T, wait=False),
            np.savez_compressed(tmp_path / "small", x=x, wait=False), npx.save(tmp_path / "named", [x]),
        ]  # fmt: skip
        x += 1
        for size, name in zip(sizes, ["x.npy", "xs.npz", "small.npz", "named"]):
            assert size.item() == (tmp_path / name).stat().st_size
        assert (size.dtype, size.shape) == (numpy.dtype("int64"), ())
        values = numpy.arange(LARGE).reshape(3, -1)
        assert (numpy.load(tmp_path / "x.npy") == 2 * values).all()
        assert (numpy.load(tmp_path / "xs.npz")["turned"] == values.T).all()
        assert (numpy.load(tmp_path / "small.npz")["x"] == values).all()
        assert sizes[2].item() < sizes[1].item() / 4
        assert (npx.load(tmp_path / "named")[0].numpy() == values).all()

    def test_writes_the_values_at_issue(self, tmp_path: Path) -> None:
        x = np.arange(5)
        with closed_gate():
            np.save(tmp_path / "x", x, wait=False)
            x += 1
            np.save(tmp_path / "y", x, wait=False)
            x[:] = 0
            assert os.listdir(tmp_path) == []
        forerun.waitall()
        assert numpy.load(tmp_path / "x.npy").tolist() == [0, 1, 2, 3, 4]
        assert numpy.load(tmp_path / "y.npy").tolist() == [1, 2, 3, 4, 5]

    def test_the_last_issued_save_remains(self, late_array: Any, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("x.npy")
        late = late_array(np.zeros(3))
        np.save(tmp_path / "x", late, wait=False)
        np.save(f"{tmp_path}/../{tmp_path.name}/x.npy", np.ones(3), wait=False)
        last = npx.save(tmp_path / "link", np.full((3,), 2), wait=False)
        late_array.go.set()
        last.wait()
        assert npx.load(tmp_path / "x.npy")[0].tolist() == [2, 2, 2]

    def test_does_not_wait(self, tmp_path: Path) -> None:
        x = np.arange(4)

        def program() -> list[Any]:
            y = x * 2
            return [
                *(save(tmp_path / name, y, wait=False) for name, save in zip("abcd", SAVES)),
                y.tofile(tmp_path / "e", wait=False), npx.save(tmp_path / "f", [y], wait=False),
                np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npz")["arr_0"], npx.load(tmp_path / "f")[0],
            ]  # fmt: skip

        found = result_without_waiting(program)
        assert all(x.tolist() == [0, 2, 4, 6] for x in found[-3:])

    def test_an_open_file_is_written_now(self, tmp_path: Path) -> None:
        x = np.arange(4)
        for write in (np.save, np.savez, np.savetxt, npx.save, lambda file, x: x.tofile(file)):
            with open(tmp_path / "x", "wb") as file:
                assert_waits(lambda file=file, write=write: write(file, x * 1))
            assert (tmp_path / "x").stat().st_size > 0

    def test_numpys_own_function_waits(self, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", np.arange(3))
        assert (tmp_path / "x.npy").exists()
        assert_waits(lambda: numpy.savez(tmp_path / "y", np.arange(3) * 2))

    def test_in_asyncio(self, tmp_path: Path) -> None:
        async def program() -> int:
            size = np.save(tmp_path / "x", np.arange(3), wait=False)
            await size
            assert (tmp_path / "x.npy").exists()
            with pytest.raises(FileNotFoundError):
                await np.save(tmp_path / "none" / "x", np.arange(3), wait=False)
            return size.item()

        assert asyncio.run(program()) == (tmp_path / "x.npy").stat().st_size

    def test_two_devices(self, two_devices: list[forerun.Device], tmp_path: Path) -> None:
        x, y = (np.arange(LARGE, device=device) for device in two_devices)
        np.savez(tmp_path / "x", x, y, wait=False)
        np.save(tmp_path / "y", y, wait=False)
        found = np.load(tmp_path / "x.npz")
        assert (found["arr_1"] == np.load(tmp_path / "y.npy")).all().item()

    def test_names_of_any_length_and_kind(self, tmp_path: Path) -> None:
        for name in ("n" * 251, "ü", b"bytes"):
            path = os.path.join(os.fsencode(tmp_path), name) if isinstance(name, bytes) else tmp_path / name
            np.save(path, np.arange(2))
            assert np.load(path + b".npy" if isinstance(path, bytes) else f"{path}.npy").tolist() == [0, 1]

    def test_a_pipe_is_written_directly(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "x.npy")
        size = np.save(tmp_path / "x", np.arange(3), wait=False)
        with open(tmp_path / "x.npy", "rb") as file:
            assert npy.read_header(file, 1 << 20).shape == (3,)
            file.read()
        assert size.item() == 24 or size.item() == 152

    def test_the_profile_shows_files(self, tmp_path: Path) -> None:
        with profiler.record() as p:
            np.save(tmp_path / "x", np.arange(LARGE), wait=False)
            np.load(tmp_path / "x.npy").wait()
        queues = {e.name: e.queue for e in p.trace.ops}
        assert queues["save"] == queues["load"] == "io"
        assert "files" in profiler.report(p.trace) or "save" in profiler.report(p.trace)


class TestHybridized:
    """A program that was recorded would write without order, and read the file of its first call for ever."""

    def test_each_call_writes_in_order(self, tmp_path: Path) -> None:
        @forerun.hybrid
        def twice(x: Any) -> Any:
            np.save(tmp_path / "x", x, wait=False)
            return x * 2

        for i in range(4):
            with closed_gate():
                y = twice(np.full((3,), i))
                found = np.load(tmp_path / "x.npy")
            assert (y.tolist(), found.tolist()) == ([2 * i] * 3, [i] * 3)

    def test_each_call_reads_the_current_file(self, tmp_path: Path) -> None:
        @forerun.hybrid
        def more(x: Any) -> Any:
            return x + np.load(tmp_path / "x.npy")

        for i in range(4):
            np.save(tmp_path / "x", np.full((3,), i))
            assert more(np.ones(3)).tolist() == [i + 1] * 3
