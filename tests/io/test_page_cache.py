"""While all cores compute, only files outside of the page cache are read directly."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from forerun import _core, np
from forerun._io import direct_io as direct
from forerun._io import file_ops as issue
from forerun._runtime import core
from forerun.safetensors import load_file, save_file
from forerun.testing import assert_same_bits, closed_gate
from tests.support.engine import resources
from tests.support.engine.settings import configured
from tests.support.files.direct_io import BLOCK, LEAST, PIECE, byte_array, cached_bytes, direct_reads, file_system_kind

SIZE = 2 * PIECE + LEAST + 5


@pytest.fixture
def tried_reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Reads without a copy, while all cores compute: places in the file and lengths."""
    monkeypatch.setattr(issue, "PIECE", PIECE)
    monkeypatch.setattr(core, "cores_taken", lambda: True)
    return direct_reads(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that the system has on the disk alone, where there is one; but for the header and the end."""
    np.save(tmp_path / "x", np.array(byte_array(SIZE)))
    forget(tmp_path / "x.npy")
    if file_system_kind(tmp_path) == "device":
        assert cached_bytes(tmp_path / "x.npy") <= 2 * BLOCK
    return tmp_path / "x.npy"


def forget(path: Path) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def remember(path: Path, start: int = 0, size: int = SIZE + BLOCK) -> None:
    """Brings some bytes of a file into the system's memory, and no others."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        assert len(os.pread(file.fileno(), size, start)) == min(size, path.stat().st_size - start)


def on_a_device(path: Path, tried_reads: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    """Check the reads without a copy; a file system in memory has no such reads."""
    assert tried_reads == (expected if file_system_kind(path.parent) == "device" else [])


ALL_OF_IT = [(BLOCK, PIECE), (BLOCK + PIECE, PIECE), (BLOCK + 2 * PIECE, LEAST)]


class TestDirectOrCached:
    def test_uncached_file(self, engine: str, tried_reads: Any, path: Path) -> None:
        assert_same_bits(np.load(path), byte_array(SIZE))
        on_a_device(path, tried_reads, ALL_OF_IT)
        if file_system_kind(path.parent) == "device":
            assert cached_bytes(path) < SIZE // 2  # the header's read may have brought some more

    def test_cached_file(self, tried_reads: Any, path: Path) -> None:
        remember(path)
        assert_same_bits(np.load(path), byte_array(SIZE))
        assert tried_reads == []

    def test_recently_written_file(self, tried_reads: Any, path: Path) -> None:
        x = byte_array(SIZE)[::-1]
        with open(path, "r+b") as file:
            file.seek(BLOCK)
            file.write(x.tobytes())
        assert_same_bits(np.load(path), x)
        assert tried_reads == []

    def test_each_piece_for_itself(self, tried_reads: Any, path: Path) -> None:
        remember(path, BLOCK + PIECE, PIECE)
        assert_same_bits(np.load(path), byte_array(SIZE))
        on_a_device(path, tried_reads, [ALL_OF_IT[0], ALL_OF_IT[2]])

    @pytest.mark.parametrize("part", [3, 5])
    def test_a_piece_by_its_greater_part(self, part: int, tried_reads: Any, path: Path) -> None:
        remember(path, BLOCK + PIECE, PIECE * part // 8)
        assert_same_bits(np.load(path), byte_array(SIZE))
        assert (ALL_OF_IT[1] in tried_reads) == (part < 4 and file_system_kind(path.parent) == "device")

    def test_while_a_core_is_free(self, tried_reads: Any, monkeypatch: Any, path: Path) -> None:
        """The next reader finds it in the system's memory."""
        monkeypatch.setattr(core, "cores_taken", lambda: False)
        assert_same_bits(np.load(path), byte_array(SIZE))
        assert tried_reads == []
        assert file_system_kind(path.parent) == "none" or cached_bytes(path) > SIZE

    def test_the_setting_overrides_the_rule(self, tried_reads: Any, monkeypatch: Any, path: Path) -> None:
        with configured(direct_reads=False):
            assert_same_bits(np.load(path), byte_array(SIZE))
        assert tried_reads == []
        monkeypatch.setattr(core, "cores_taken", lambda: False)
        with configured(direct_reads=True):
            assert_same_bits(np.load(path), byte_array(SIZE))
        assert tried_reads == (ALL_OF_IT if file_system_kind(path.parent) != "none" else [])

    def test_tensors(self, tried_reads: Any, tmp_path: Path) -> None:
        arrays = {"a": byte_array(LEAST), "b": byte_array(2 * LEAST), "c": byte_array(7)}
        save_file({name: np.array(x) for name, x in arrays.items()}, tmp_path / "x")
        forget(tmp_path / "x")
        found = load_file(tmp_path / "x")
        for name, x in arrays.items():
            assert_same_bits(found[name], x)
        assert bool(tried_reads) == (file_system_kind(tmp_path) == "device")

    def test_after_a_save(self, tried_reads: Any, path: Path) -> None:
        for i in range(3):
            np.save(path, np.array(byte_array(SIZE) + numpy.uint8(i)), wait=False)
            x = np.load(path)
            np.save(path, np.zeros(SIZE, dtype="u1"), wait=False)
            assert_same_bits(x, byte_array(SIZE) + numpy.uint8(i))

    def test_the_query_does_not_fill_the_page_cache(self, path: Path) -> None:
        if file_system_kind(path.parent) != "device":
            return
        before = cached_bytes(path)
        with open(path, "rb") as file:
            assert not direct._remembered(file.fileno(), BLOCK, 2 * PIECE)
        assert cached_bytes(path) == before


class TestSilentFilesystems:
    def test_on_a_file_system_in_memory(self, tried_reads: Any) -> None:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            np.save(f"{folder}/x", np.array(byte_array(SIZE)))
            assert_same_bits(np.load(f"{folder}/x.npy"), byte_array(SIZE))
        assert tried_reads == []

    def test_a_file_of_another_user(self, tried_reads: Any, monkeypatch: Any, path: Path) -> None:
        """The system reports then that all of it is cached."""
        monkeypatch.setattr(direct, "_mincore", fake_mincore(lambda pages: pages.fill(1)))
        assert_same_bits(np.load(path), byte_array(SIZE))
        assert tried_reads == []

    def test_a_system_that_does_not_know(self, tried_reads: Any, monkeypatch: Any, path: Path) -> None:
        monkeypatch.setattr(direct, "_mincore", fake_mincore(lambda pages: -1))
        assert_same_bits(np.load(path), byte_array(SIZE))
        assert tried_reads == []

    @pytest.mark.parametrize("error", [OSError(errno.ENODEV, "no maps here"), ValueError("too short")])
    def test_a_file_that_cannot_be_mapped(
        self, error: Exception, tried_reads: Any, monkeypatch: Any, path: Path
    ) -> None:
        def refused(*args: Any, **options: Any) -> None:
            raise type(error)(*error.args)

        monkeypatch.setattr(mmap, "mmap", refused)
        assert_same_bits(np.load(path), byte_array(SIZE))
        assert tried_reads == []

    @pytest.mark.parametrize("error", [errno.EINVAL, errno.EOPNOTSUPP])
    def test_a_file_system_that_refuses(self, error: int, tried_reads: Any, monkeypatch: Any, path: Path) -> None:
        monkeypatch.setattr(direct, "_mincore", fake_mincore(lambda pages: pages.fill(0)))
        tried = let_direct_reads_fail(monkeypatch, error)
        assert_same_bits(np.load(path), byte_array(SIZE))
        assert len(tried) <= 1  # a file is not asked twice


def fake_mincore(fill: Callable[[Any], int | None]) -> Callable[[], Callable[[int, int, int], int]]:
    """Return a lookup that gives a function in the place of the system's `mincore`: `fill` says which pages are
    cached."""

    def mincore(begin: int, size: int, pages: int) -> int:
        found = numpy.frombuffer((ctypes.c_uint8 * -(-size // mmap.PAGESIZE)).from_address(pages), "u1")
        return fill(found) or 0

    return lambda: mincore


def let_direct_reads_fail(monkeypatch: pytest.MonkeyPatch, error: int) -> list[int]:
    """Lets reads without a copy fail; each one that does is noted."""
    real, found = os.preadv, list[int]()

    def preadv(file: int, rooms: list[Any], at: int) -> int:
        if not fcntl.fcntl(file, fcntl.F_GETFL) & os.O_DIRECT:
            return real(file, rooms, at)
        found.append(at)
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "preadv", preadv)
    return found


class TestReadErrors:
    @pytest.mark.parametrize("left", [BLOCK, LEAST, LEAST + BLOCK + 1, BLOCK + PIECE])
    def test_a_file_that_was_cut_off_meanwhile(self, left: int, tried_reads: Any, path: Path) -> None:
        with closed_gate():
            x = np.load(path)
            os.truncate(path, left)
        with pytest.raises(ValueError, match=f"must have {SIZE} bytes of values, got {left - BLOCK}"):
            x.wait()

    @pytest.mark.parametrize("left", [BLOCK, LEAST, LEAST + BLOCK + 1, BLOCK + PIECE])
    def test_between_asking_and_reading(self, left: int, tried_reads: Any, monkeypatch: Any, path: Path) -> None:
        def fill(pages: numpy.ndarray) -> None:
            os.truncate(path, left)
            pages.fill(0)

        monkeypatch.setattr(direct, "_mincore", fake_mincore(fill))
        with pytest.raises(ValueError, match=f"must have {SIZE} bytes of values, got {left - BLOCK}"):
            np.load(path).wait()

    def test_read_error_raises(self, tried_reads: Any, monkeypatch: Any, path: Path) -> None:
        monkeypatch.setattr(direct, "_mincore", fake_mincore(lambda pages: pages.fill(0)))
        tried = let_direct_reads_fail(monkeypatch, errno.EIO)
        if file_system_kind(path.parent) == "none":
            return
        with pytest.raises(OSError, match="Input/output error") as caught:
            np.load(path).wait()
        assert (caught.value.errno, tried) == (errno.EIO, [BLOCK])

    def test_no_descriptor_and_no_map_is_left(self, tried_reads: Any, path: Path) -> None:
        np.load(path).wait()
        before = resources.resource_counts()
        for _ in range(5):
            np.load(path).wait()
        assert not resources.leaks(before)
        assert str(path) not in Path("/proc/self/maps").read_text()


class TestCores:
    def test_a_kernel_takes_a_core(self) -> None:
        with configured(workers=1):
            x = np.ones((1000, 1000))
            x.wait()
            for _ in range(50):
                x = x @ x
            seen = False
            while not seen and not x.ready:
                seen = _core.cores_taken()
            assert seen
            x.wait()
            _core.quiesce()  # a worker reports its end after its operations
            assert not _core.cores_taken()

    def test_a_read_takes_no_core(self, path: Path, monkeypatch: Any) -> None:
        real, found = _core.cores_taken, list[bool]()
        monkeypatch.setattr(core, "cores_taken", lambda: found.append(real()) or found[-1])
        with configured(workers=1):
            assert_same_bits(np.load(path), byte_array(SIZE))
        assert found == [False]
