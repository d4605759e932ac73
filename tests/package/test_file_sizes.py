"""No source file has more than 500 lines: a longer one has several subjects, and is split by these."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.support.paths import ROOT

FOLDERS = ("benchmarks", "compatibility", "core", "docs", "examples", "include", "src", "stress", "tests", "tools",
           "verification")  # fmt: skip
KINDS = {".py", ".cpp", ".h"}
MOST_LINES = 500


def sources(root: Path) -> list[Path]:
    """Return the files that git tracks; where it tracks none, in an archive for example, those of the folders."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # a hook names its own
    try:
        done = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, env=plain, capture_output=True, text=True, check=False
        )
        found = [root / name for name in done.stdout.split("\0") if name]
    except FileNotFoundError:
        found = []
    found = found or [path for folder in FOLDERS for path in (root / folder).rglob("*")]
    return sorted(path for path in found if path.suffix in KINDS and path.is_file())


def long_files(paths: Iterable[Path], root: Path) -> dict[str, int]:
    """Return the files that have too many lines, and how many each has."""
    counts = {path.relative_to(root).as_posix(): path.read_bytes().count(b"\n") for path in paths}
    return {name: lines for name, lines in counts.items() if lines > MOST_LINES}


def test_no_source_file_is_long() -> None:
    found = long_files(sources(ROOT), ROOT)
    assert not found, f"files must have at most {MOST_LINES} lines, got {found}"


def test_files_of_each_folder_are_counted() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in sources(ROOT)} == set(FOLDERS)


def test_the_check_sees_a_long_file_of_each_kind(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    for kind in KINDS:
        (tmp_path / "core" / f"short{kind}").write_text("\n" * MOST_LINES)
        (tmp_path / "core" / f"long{kind}").write_text("\n" * (MOST_LINES + 1))
    (tmp_path / "core" / "long.md").write_text("\n" * (MOST_LINES + 1))
    found = long_files(sources(tmp_path), tmp_path)
    assert found == {f"core/long{kind}": MOST_LINES + 1 for kind in KINDS}
