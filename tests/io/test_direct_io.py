"""Large values go to the disk without a copy, where the file system takes that; the file is the same in any case."""

from __future__ import annotations

import errno
import fcntl
import gc
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy
import pytest
import safetensors.numpy as reference

import forerun
from forerun import np
from forerun._io import direct_io as direct
from forerun._io import file_ops as issue
from forerun._io import npy
from forerun._io.atomic_write import replacing
from forerun.safetensors import load_file, safe_open, save_file
from forerun.testing import assert_same_bits, closed_gate
from tests.support.engine.settings import configured
from tests.support.files.direct_io import BLOCK, LEAST, PIECE, byte_array, cached_bytes, direct_reads, file_system_kind
from tests.support.processes import subprocesses

SIZES = [0, 1, LEAST - 1, LEAST, LEAST + 1, LEAST + BLOCK - 1, LEAST + BLOCK, PIECE + LEAST + 5, 3 * PIECE - 1]


@pytest.fixture(autouse=True)
def _pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones, so that small files have several."""
    monkeypatch.setattr(npy, "PIECE", PIECE)
    monkeypatch.setattr(issue, "PIECE", PIECE)


@pytest.fixture
def tried_writes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many writes without a copy were tried; as the entries of a list."""
    found: list[int] = []
    real = direct._without_copy
    monkeypatch.setattr(direct, "_without_copy", lambda file: (found.append(file), real(file))[1])
    return found


class TestTheSameFile:
    @pytest.mark.parametrize("n", SIZES)
    def test_of_any_size(self, n: int, tmp_path: Path) -> None:
        x = byte_array(n)
        array = np.array(x)
        sizes = {
            "x.npy": np.save(tmp_path / "x", array), "xs.npz": np.savez(tmp_path / "xs", array, small=array[:7]),
            "x": save_file({"x": array, "y": array[:7]}, tmp_path / "x"), "raw": array.tofile(tmp_path / "raw"),
        }  # fmt: skip
        for name, size in sizes.items():
            assert size.item() == (tmp_path / name).stat().st_size
        assert_same_bits(numpy.load(tmp_path / "x.npy"), x)
        assert_same_bits(numpy.load(tmp_path / "x.npy", mmap_mode="r") if n else x, x)
        assert_same_bits(numpy.load(tmp_path / "xs.npz")["arr_0"], x)
        assert_same_bits(reference.load_file(tmp_path / "x")["x"], x)
        assert_same_bits(numpy.fromfile(tmp_path / "raw", "u1"), x)
        loaded = [np.load(tmp_path / "x.npy"), np.load(tmp_path / "xs.npz")["arr_0"], load_file(tmp_path / "x")["x"]]
        for found in loaded:
            assert_same_bits(found, x)

    @pytest.mark.parametrize("layout", ["turned", "stepped", "from the second on", "from the second block on"])
    def test_of_any_layout(self, engine: str, layout: str, tmp_path: Path) -> None:
        x = np.array(byte_array(PIECE + LEAST)).reshape(-1, BLOCK)
        view = {"turned": x.T, "stepped": x[:, ::2], "from the second on": x.reshape(-1)[1:]}.get(layout, x[1:])
        np.save(tmp_path / "x", view)
        assert numpy.load(tmp_path / "x.npy").flags.fnc == (layout == "turned")
        assert_same_bits(numpy.load(tmp_path / "x.npy"), view.numpy())

    def test_memory_of_other_libraries(self, tmp_path: Path) -> None:
        """It begins anywhere."""
        x = byte_array(2 * LEAST)
        for start in range(1, 130, 64):
            np.save(tmp_path / "x", x[start:])
            assert_same_bits(numpy.load(tmp_path / "x.npy"), x[start:])

    def test_on_a_file_system_in_memory(self) -> None:
        import tempfile

        x = byte_array(PIECE + LEAST + 5)
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            np.save(f"{folder}/x", np.array(x))
            assert_same_bits(numpy.load(f"{folder}/x.npy"), x)


class TestWhereValuesBegin:
    def start(self, path: Path) -> int:
        with open(path, "rb") as file:
            npy.read_header(file, path.stat().st_size)
            return file.tell()

    def test_small_files_equal_numpys(self, tmp_path: Path) -> None:
        for x in (byte_array(0), byte_array(100), byte_array(LEAST - 1).reshape(3, -1), numpy.float32(1)):
            np.save(tmp_path / "x", np.array(x))
            numpy.save(tmp_path / "y", x)
            assert (tmp_path / "x.npy").read_bytes() == (tmp_path / "y.npy").read_bytes()

    def test_values_of_large_files_are_aligned_to_a_block(self, tmp_path: Path) -> None:
        for shape in [(LEAST,), (2,) * 20, (1,) * 60 + (LEAST,)]:
            np.save(tmp_path / "x", np.array(byte_array(LEAST).reshape(shape)))
            assert self.start(tmp_path / "x.npy") == BLOCK
            assert numpy.load(tmp_path / "x.npy").shape == shape

    def test_in_an_archive(self, tmp_path: Path) -> None:
        arrays = {
            "a": byte_array(3),
            "b": byte_array(LEAST),
            "c": byte_array(LEAST + 1),
            "d" * 99: byte_array(2 * LEAST),
        }
        np.savez(tmp_path / "x", **{name: np.array(x) for name, x in arrays.items()})
        data = (tmp_path / "x.npz").read_bytes()
        for name, x in arrays.items():
            assert (data.index(x.tobytes()) % BLOCK == 0) == (x.size >= LEAST), name
            assert_same_bits(numpy.load(tmp_path / "x.npz")[name], x)

    def test_not_in_an_archive_that_is_compressed(self, tmp_path: Path) -> None:
        np.savez_compressed(tmp_path / "x", np.array(byte_array(LEAST)))
        with zipfile.ZipFile(tmp_path / "x.npz") as archive:
            assert archive.infolist()[0].file_size == LEAST + 128

    def test_in_a_stream(self) -> None:
        file = io.BytesIO()
        np.save(file, np.array(byte_array(LEAST)))
        assert len(file.getvalue()) == LEAST + 128

    def test_tensors_of_whole_blocks_come_first(self, tmp_path: Path) -> None:
        arrays = {
            "double": byte_array(LEAST + 8).view("f8"), "bytes": byte_array(LEAST),
            "small": byte_array(BLOCK).view("f8"),
            "float": byte_array(2 * LEAST).view("f4"), "odd": byte_array(LEAST + 1),
            "half": byte_array(LEAST + 2).view("f2"),
        }  # fmt: skip
        save_file({name: np.array(x) for name, x in arrays.items()}, tmp_path / "x", {"by": "me"})
        data = (tmp_path / "x").read_bytes()
        length = int.from_bytes(data[:8], "little")
        entries = json.loads(data[8 : 8 + length])
        del entries["__metadata__"]
        assert list(entries) == ["float", "bytes", "double", "small", "half", "odd"]
        assert (8 + length) % BLOCK == 0
        for name, entry in entries.items():
            assert entry["data_offsets"][0] % arrays[name].dtype.itemsize == 0
            assert_same_bits(reference.load_file(tmp_path / "x")[name], arrays[name])


class TestWithoutACopy:
    @pytest.mark.parametrize(
        "write",
        [
            lambda path, x: np.save(path, x),
            lambda path, x: np.savez(path, x),
            lambda path, x: save_file({"x": x}, path),
            lambda path, x: x.tofile(path),
        ],
    )
    def test_every_large_piece(
        self, write: Callable[[Path, Any], Any], tried_writes: list[int], tmp_path: Path
    ) -> None:
        pieces = 1 if file_system_kind(tmp_path) == "none" else 3
        write(tmp_path / "x.npz", np.array(byte_array(2 * PIECE + LEAST + 5))).wait()
        assert len(tried_writes) == pieces

    def test_direct_writes_bypass_the_page_cache(self, tried_writes: list[int], tmp_path: Path) -> None:
        """But for the header and the end, and files on file systems without a device."""
        if file_system_kind(tmp_path) == "device":
            np.save(tmp_path / "x", np.array(byte_array(2 * PIECE + LEAST + 5)))
            assert cached_bytes(tmp_path / "x.npy") <= 2 * BLOCK

    def test_not_for_small_or_unaligned_or_compressed_arrays(self, tried_writes: list[int], tmp_path: Path) -> None:
        x = np.array(byte_array(3 * LEAST))  # the write gets a copy of a part of 2 MiB or less
        np.save(tmp_path / "x", x[1:])
        np.save(tmp_path / "y", x[: LEAST - 1])
        np.savez_compressed(tmp_path / "z", x)
        x[1:].tofile(tmp_path / "w")
        forerun.waitall()
        assert tried_writes == []

    def test_offsets_of_the_file_within_a_block(self, tried_writes: list[int], tmp_path: Path) -> None:
        x = np.array(byte_array(LEAST))
        x.wait()
        with replacing(str(tmp_path / "x")) as out:
            out.write(b"a byte")
            npy.write_values(out, x.numpy())
        assert tried_writes == []
        assert (tmp_path / "x").read_bytes() == b"a byte" + byte_array(LEAST).tobytes()


class TestWriteErrors:
    @pytest.mark.parametrize("error", [errno.EINVAL, errno.EOPNOTSUPP])
    def test_a_file_system_that_refuses_the_flag(self, error: int, monkeypatch: Any, tmp_path: Path) -> None:
        tried_writes: list[int] = []
        self.failing(monkeypatch, error, tried_writes)
        x = byte_array(2 * PIECE)
        np.save(tmp_path / "x", np.array(x))
        assert_same_bits(numpy.load(tmp_path / "x.npy"), x)
        assert len(tried_writes) == 1  # a file is not asked twice

    def test_a_device_of_larger_blocks(self, tried_writes: list[int], monkeypatch: Any, tmp_path: Path) -> None:
        """The system itself refuses places within its blocks."""
        monkeypatch.setattr(direct, "BLOCK", 64)
        x = byte_array(2 * PIECE)
        np.save(tmp_path / "x", np.array(x))
        assert_same_bits(numpy.load(tmp_path / "x.npy"), x)
        assert len(tried_writes) == (2 if file_system_kind(tmp_path) == "memory" else 1)

    def test_any_other_error_is_raised_and_leaves_the_old_file(self, monkeypatch: Any, tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.arange(3))
        self.failing(monkeypatch, errno.ENOSPC, [])
        with pytest.raises(OSError, match=r"x\.npy") as caught:
            np.save(tmp_path / "x", np.array(byte_array(LEAST)))
        assert caught.value.errno == errno.ENOSPC
        assert np.load(tmp_path / "x.npy").tolist() == [0, 1, 2]
        assert os.listdir(tmp_path) == ["x.npy"]

    def failing(self, monkeypatch: pytest.MonkeyPatch, error: int, tried_writes: list[int]) -> None:
        @contextmanager
        def without_copy(file: int) -> Iterator[None]:
            tried_writes.append(file)
            raise OSError(error, os.strerror(error))
            yield

        monkeypatch.setattr(direct, "_without_copy", without_copy)

    @pytest.mark.parametrize("limit", [LEAST, 2 * LEAST, 2 * LEAST + 5])
    def test_too_little_disk_space_for_the_file(self, limit: int, tmp_path: Path) -> None:
        """The part that fits is written before the error is raised."""
        found = subprocesses.output(
            "import resource, os, errno\n"
            f"os.chdir({str(tmp_path)!r})\n"
            "np.save('x', np.arange(3))\n"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
            f"try: np.save('x', np.zeros({4 * LEAST}, dtype='u1'))\n"
            "except OSError as error: print(errno.errorcode[error.errno], error.filename)\n"
            "print(*np.load('x.npy').tolist(), *os.listdir())"
        )
        assert found == ["EFBIG", str(tmp_path / "x.npy"), "0", "1", "2", "x.npy"]

    @pytest.mark.parametrize("some", [BLOCK, LEAST, LEAST + 1, 3 * LEAST + 100])
    def test_partial_writes_are_continued(self, some: int, monkeypatch: Any, tmp_path: Path) -> None:
        real = direct.Direct.write
        monkeypatch.setattr(direct.Direct, "write", lambda file, data: real(file, memoryview(data)[:some]))
        x = byte_array(2 * PIECE + 5)
        np.save(tmp_path / "x", np.array(x))
        assert_same_bits(numpy.load(tmp_path / "x.npy"), x)


@pytest.fixture
def tried_reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, int]]]:
    """Reads without a copy that were tried while they are asked for: places in the file and lengths."""
    found = direct_reads(monkeypatch)
    with configured(direct_reads=True):
        yield found


class TestReads:
    @pytest.mark.parametrize("n", SIZES)
    def test_of_any_size(self, n: int, tried_reads: list[Any], tmp_path: Path) -> None:
        x = byte_array(n)
        np.save(tmp_path / "x", np.array(x))
        save_file({"a": np.array(x), "b": np.array(x)}, tmp_path / "x")
        np.savez(tmp_path / "xs", np.array(x))
        found = load_file(tmp_path / "x")
        for y in (np.load(tmp_path / "x.npy"), found["a"], found["b"], np.load(tmp_path / "xs.npz")["arr_0"]):
            assert_same_bits(y, x)
        assert_same_bits(np.fromfile(tmp_path / "x.npy", "u1", offset=(tmp_path / "x.npy").stat().st_size - n), x)

    def test_direct_reads_only_if_requested(self, tried_reads: list[Any], tmp_path: Path) -> None:
        x = byte_array(2 * LEAST + 5)
        np.save(tmp_path / "x", np.array(x))
        with configured(direct_reads=False):
            np.load(tmp_path / "x.npy").wait()
        assert tried_reads == []
        assert_same_bits(np.load(tmp_path / "x.npy"), x)
        assert tried_reads == ([] if file_system_kind(tmp_path) == "none" else [(BLOCK, 2 * LEAST)])

    def test_unaligned_files_written_by_numpy(self, tried_reads: list[Any], tmp_path: Path) -> None:
        for x in (byte_array(2 * LEAST), byte_array(2 * LEAST).view(">f4")):
            numpy.save(tmp_path / "x", x)
            assert np.load(tmp_path / "x.npy").numpy().astype(x.dtype).tobytes() == x.tobytes()
        assert tried_reads == []

    def test_values_of_another_byte_order(self, tried_reads: list[Any], tmp_path: Path) -> None:
        x = numpy.arange(LEAST, dtype=">f4")
        with open(tmp_path / "x.npy", "wb") as file:
            npy.write_array(file, x, at=0)
        assert_same_bits(np.load(tmp_path / "x.npy"), x.astype("<f4"))
        assert tried_reads or file_system_kind(tmp_path) == "none"

    def test_a_part_of_a_tensor(self, tried_reads: list[Any], tmp_path: Path) -> None:
        x = byte_array(3 * LEAST).reshape(-1, BLOCK)
        save_file({"x": np.array(x)}, tmp_path / "x")
        with safe_open(tmp_path / "x") as file:
            for part in (slice(1, 500), slice(7, 8), slice(256, 768)):
                assert_same_bits(file.get_slice("x")[part], x[part])
        assert tried_reads or file_system_kind(tmp_path) == "none"

    def test_recent_writes_in_the_page_cache(self, tried_reads: list[Any], tmp_path: Path) -> None:
        """It is in the system's page cache, not yet on the disk."""
        x = byte_array(LEAST)
        np.save(tmp_path / "x", np.array(x))
        for _ in range(3):
            x = x + numpy.uint8(1)
            with open(tmp_path / "x.npy", "r+b") as file:
                file.seek(BLOCK)
                file.write(x.tobytes())
            assert_same_bits(np.load(tmp_path / "x.npy"), x)
        assert len(tried_reads) == (0 if file_system_kind(tmp_path) == "none" else 3)

    def test_a_file_that_was_cut_off_meanwhile(self, tried_reads: list[Any], tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.array(byte_array(PIECE)))
        for left in (BLOCK, LEAST, LEAST + BLOCK + 1):
            np.save(tmp_path / "x", np.array(byte_array(PIECE)))
            with closed_gate():
                x = np.load(tmp_path / "x.npy")
                os.truncate(tmp_path / "x.npy", left)
            with pytest.raises(ValueError, match=f"must have {PIECE} bytes of values, got {left - BLOCK}"):
                x.wait()

    @pytest.mark.parametrize("error", [errno.ENOENT, errno.EINVAL, errno.EMFILE])
    def test_a_file_that_cannot_be_opened_again(
        self, error: int, tried_reads: Any, monkeypatch: Any, tmp_path: Path
    ) -> None:
        np.save(tmp_path / "x", np.array(byte_array(2 * PIECE)))
        openings: list[int] = []

        def refused(file: direct.Reading) -> int:
            openings.append(0)
            raise OSError(error, os.strerror(error))

        monkeypatch.setattr(direct.Reading, "_opened", refused)
        assert_same_bits(np.load(tmp_path / "x.npy"), byte_array(2 * PIECE))
        assert openings == [0]  # a file is not asked twice

    def test_a_device_of_larger_blocks(self, tried_reads: list[Any], monkeypatch: Any, tmp_path: Path) -> None:
        monkeypatch.setattr(direct, "BLOCK", 64)
        monkeypatch.setattr(issue, "PIECE", LEAST)
        x = byte_array(3 * LEAST)
        numpy.save(tmp_path / "x", x)
        assert_same_bits(np.load(tmp_path / "x.npy"), x)
        all_of_it = [(128 + i * LEAST, LEAST) for i in range(3)]
        assert tried_reads == all_of_it[: {"device": 1, "memory": 3, "none": 0}[file_system_kind(tmp_path)]]

    def test_read_error_raises(self, tried_reads: list[Any], monkeypatch: Any, tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.array(byte_array(LEAST)))

        real, taken = os.preadv, file_system_kind(tmp_path) != "none"

        def failing(file: int, *rest: Any) -> int:
            if taken and not fcntl.fcntl(file, fcntl.F_GETFL) & os.O_DIRECT:
                return real(file, *rest)  # the ordinary way would still do
            raise OSError(errno.EIO, "broken")

        monkeypatch.setattr(os, "preadv", failing)
        with pytest.raises(OSError, match="broken") as caught:
            np.load(tmp_path / "x.npy").wait()
        assert caught.value.errno == errno.EIO

    def test_no_descriptor_is_left(self, tried_reads: list[Any], tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.array(byte_array(LEAST)))
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            np.load(tmp_path / "x.npy").wait()
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) == before
        assert tried_reads or file_system_kind(tmp_path) == "none"

    def test_the_setting(self) -> None:
        with pytest.raises(TypeError, match="configure: direct_reads must be True, False or None, got 1"):
            forerun.configure(direct_reads=1)  # type: ignore[arg-type]
        for text, value in {"1": "True", "0": "False", "": "None"}.items():
            found = subprocesses.output("print(forerun.config()['direct_reads'])", FORERUN_DIRECT_READS=text)
            assert found == [value]
        assert forerun.config()["direct_reads"] is None
