"""Reads and writes past the memory of the system: the kind of a file system, its cached pages, and the tried reads."""

from __future__ import annotations

import ctypes
import fcntl
import os
from pathlib import Path
from typing import Any

import numpy
import pytest

from forerun._io import direct_io as direct

BLOCK, LEAST = direct.BLOCK, direct.LEAST
PIECE = 2 * LEAST


def byte_array(n: int) -> numpy.ndarray:
    return numpy.random.default_rng(n).integers(0, 256, n, "u1")


def file_system_kind(folder: Path) -> str:
    """Return the behaviour of a folder's file system.

    "device": takes whole blocks without a copy, nothing else; "memory": takes all; "none": takes nothing.
    """
    block = numpy.zeros(2 * BLOCK, "u1")
    start = -block.__array_interface__["data"][0] % BLOCK
    found = []
    for at in (0, 64):
        try:
            file = os.open(folder / "asked", os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o600)
        except OSError:
            return "none"
        try:
            found.append(os.pwrite(file, block[start : start + BLOCK].data, at) == BLOCK)
        except OSError:
            found.append(False)
        finally:
            os.close(file)
            (folder / "asked").unlink()
    return {(True, False): "device", (True, True): "memory"}.get((found[0], found[1]), "none")


def cached_bytes(path: Path) -> int:
    """Bytes of a file that the system has in its memory, which an array is mapped to."""
    mapped = numpy.memmap(path, "u1", "c")
    pages = numpy.zeros(-(-mapped.size // BLOCK), "u1")
    place = ctypes.c_void_p(mapped.__array_interface__["data"][0])
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mincore(place, ctypes.c_size_t(mapped.size), ctypes.c_void_p(pages.ctypes.data)) == 0
    return int((pages & 1).sum()) * BLOCK


def direct_reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Reads without a copy that are tried from now on: places in the file and lengths."""
    found: list[tuple[int, int]] = []
    real = os.preadv

    def preadv(file: int, rooms: list[Any], at: int) -> int:
        if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_DIRECT:
            found.append((at, len(rooms[0])))
        return real(file, rooms, at)

    monkeypatch.setattr(os, "preadv", preadv)
    return found
