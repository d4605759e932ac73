"""Ranks that MPI's own launcher has started on this machine: each notes its process, and the others see when it ends.

MPI's initialization waits for all ranks, and its launcher says nothing of one that has ended before. The processes
that the launcher starts on a machine have one parent, by which they find each other's notes. Those on other machines,
or behind a script that stays their parent, are not seen.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["ended", "note"]


def note(rank: int) -> None:
    """Note that this process is a rank."""
    with contextlib.suppress(OSError):
        _clear()
        folder, own = _folder(), os.getpid()
        folder.mkdir(mode=0o700, exist_ok=True)
        if _is_own(folder):
            new = folder / f"{own}.new"
            new.write_text(f"{own} {_began(own)}")
            new.rename(folder / str(rank))


def ended() -> str:
    """Return the first rank whose process has ended, with its number; "" if all are running."""
    with contextlib.suppress(OSError):
        folder = _folder()
        if _is_own(folder):
            for file in sorted(file for file in folder.iterdir() if file.name.isdecimal()):
                pid, _, began = file.read_text().partition(" ")
                if _began(int(pid)) != began:
                    return f"rank {file.name} (pid {pid})"
    return ""


def _began(pid: int) -> str:
    """Return the time at which a process began, which tells it from others of its number; nothing if it has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in "ZX" else fields[18]


def _folder() -> Path:
    """Return the place of the notes of all children of this process's parent."""
    parent = os.getppid()
    return _all() / f"{_prefix()}{parent}-{_began(parent)}"


def _is_own(folder: Path) -> bool:
    """Return whether this user has made a folder: all can write where it is."""
    return folder.lstat().st_uid == os.getuid() and not folder.is_symlink()


def _all() -> Path:
    return Path(tempfile.gettempdir())


def _prefix() -> str:
    """Return the beginning of the names of all folders. A process has its number within a namespace only."""
    return f"forerun-ranks-{os.getuid()}-{os.stat('/proc/self/ns/pid').st_ino}-"


def _clear() -> None:
    """Remove the notes of launchers that have ended."""
    for folder in _all().glob(f"{_prefix()}*"):
        parent, _, began = folder.name.removeprefix(_prefix()).partition("-")
        if _began(int(parent)) != began:
            shutil.rmtree(folder, ignore_errors=True)
