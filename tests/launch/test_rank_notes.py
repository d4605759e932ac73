"""The notes of ranks that MPI's own launcher starts, by which they notice each other's exit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forerun._launch import siblings


@pytest.fixture(autouse=True)
def folder_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in the place of that for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def note_of_a_child(rank: int, child: subprocess.Popen[bytes]) -> None:
    """Note the process of another rank, as it would itself."""
    (folder,) = siblings._all().iterdir()
    (folder / str(rank)).write_text(f"{child.pid} {siblings._began(child.pid)}")


def test_a_rank_is_alive_until_its_process_exits() -> None:
    siblings.note(0)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    note_of_a_child(1, child)
    assert siblings.ended() == ""
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # the launcher has not taken its status
    assert siblings.ended() == f"rank 1 (pid {child.pid})"
    child.communicate()
    assert siblings.ended() == f"rank 1 (pid {child.pid})"


def test_another_process_with_the_number_of_a_rank_is_not_the_rank() -> None:
    siblings.note(0)
    (folder,) = siblings._all().iterdir()
    (folder / "1").write_text(f"{os.getpid()} 1")
    assert siblings.ended() == f"rank 1 (pid {os.getpid()})"


def test_the_notes_of_launchers_that_have_ended_are_removed(folder_of_all: Path) -> None:
    old = folder_of_all / f"{siblings._prefix()}{os.getpid()}-1"
    other = folder_of_all / "forerun-ranks-of-another"
    old.mkdir()
    (old / "0").touch()
    other.mkdir()
    siblings.note(0)
    assert not old.exists()
    assert other.exists()
    assert len(list(folder_of_all.iterdir())) == 2


def test_no_notes_are_written_through_a_link_to_the_folder(folder_of_all: Path) -> None:
    target = folder_of_all / "target"
    target.mkdir()
    siblings._folder().symlink_to(target)
    siblings.note(0)
    assert list(target.iterdir()) == []
