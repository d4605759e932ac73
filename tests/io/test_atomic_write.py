"""A file is replaced when its values are on the disk, also where files without a name do not exist."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forerun._io import atomic_write as replacing


class TestReplacing:
    def calls(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> list[str]:
        """Return the system calls of a write of a file, in order."""
        found: list[str] = []

        def noted(name: str, kind: Callable[..., str]) -> None:
            real = getattr(os, name)
            monkeypatch.setattr(os, name, lambda *a, **k: (found.append(kind(*a)), real(*a, **k))[1])

        noted("fsync", lambda file: "fsync folder" if os.path.isdir(f"/proc/self/fd/{file}") else "fsync file")
        noted("replace", lambda *names: "rename")
        with replacing.replacing(str(path)) as out:
            out.write(b"new")
        return found

    def test_values_are_on_the_disk_before_the_name_changes(self, monkeypatch: Any, tmp_path: Path) -> None:
        assert self.calls(monkeypatch, tmp_path / "x") == ["fsync file", "rename", "fsync folder"]

    def test_without_files_that_have_no_name(self, monkeypatch: Any, tmp_path: Path) -> None:
        real = os.open

        def no_such(path: Any, flags: int, *rest: Any, **more: Any) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(errno.EOPNOTSUPP, "no such files")
            return real(path, flags, *rest, **more)

        monkeypatch.setattr(os, "open", no_such)
        assert self.calls(monkeypatch, tmp_path / "x") == ["fsync file", "rename", "fsync folder"]
        assert (tmp_path / "x").read_bytes() == b"new"
        with pytest.raises(ValueError, match="closed"), replacing.replacing(str(tmp_path / "x")) as out:
            out.close()  # so that it cannot be written to the end
        assert (tmp_path / "x").read_bytes() == b"new"
        assert os.listdir(tmp_path) == ["x"]

    def test_without_a_way_to_name_them(self, monkeypatch: Any, tmp_path: Path) -> None:
        def refused(*args: Any, **more: Any) -> None:
            raise FileNotFoundError

        monkeypatch.setattr(os, "link", refused)
        (tmp_path / "x").touch(mode=0o640)
        calls = self.calls(monkeypatch, tmp_path / "x")
        assert calls[-3:] == ["fsync file", "rename", "fsync folder"]
        assert (tmp_path / "x").read_bytes() == b"new"
        assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
        assert os.listdir(tmp_path) == ["x"]

    def test_a_new_file_has_the_permissions_of_others(self, tmp_path: Path) -> None:
        (tmp_path / "other").touch()
        with replacing.replacing(str(tmp_path / "x")):
            pass
        assert (tmp_path / "x").stat().st_mode == (tmp_path / "other").stat().st_mode
