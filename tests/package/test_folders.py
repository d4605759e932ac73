"""Folders are small, and the folders inside of one folder of the core include each other in one direction."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import counts
import imports

KINDS = {".py", ".h", ".cpp"}
FOLDERS = ("benchmarks", "compatibility", "core", "docs", "examples", "include", "src", "stress", "tests", "tools",
           "verification")  # fmt: skip
MOST_FILES = 15
# Folders that have more, and why. A folder that has become small must be taken out.
LARGE = {
    "examples/numpy_programs": "each file is a program for NumPy by itself, and a page lists them all in one table"
}


def large_folders(root: Path) -> dict[str, int]:
    """Return the folders that have too many sources, and how many each has itself."""
    paths = [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in KINDS]
    number = Counter(path.parent.relative_to(root).as_posix() for path in paths)
    return {folder: n for folder, n in number.items() if n > MOST_FILES}


def test_a_folder_has_few_files() -> None:
    found = large_folders(ROOT)
    assert found.keys() == LARGE.keys(), f"folders must have at most {MOST_FILES} files, got {found}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_check_sees_a_large_folder(folder: str, tmp_path: Path) -> None:
    inner = tmp_path / folder / "a"
    inner.mkdir(parents=True)
    for n in range(MOST_FILES):
        (inner / f"{n}.{'cpp' if folder == 'core' else 'py'}").touch()
    (inner / "text.md").touch()
    assert large_folders(tmp_path) == {}
    (inner / "other.h").touch()
    assert large_folders(tmp_path) == {f"{folder}/a": MOST_FILES + 1}


def test_folders_of_the_core_include_each_other_in_one_direction() -> None:
    assert imports.circles_of_folders(ROOT) == {}


def test_the_check_sees_folders_that_include_each_other(tmp_path: Path) -> None:
    for name, text in {
        "a/b/one.h": '#include "a/c/two.h"\n',
        "a/c/two.h": '#include "a/own.h"\n',
        "a/c/d/three.h": '#include "a/b/one.h"\n#include "a/c/e/four.h"\n',
        "a/c/e/four.h": '#include "a/c/two.h"\n',
        "a/own.h": '#include "a/b/one.h"\n',
    }.items():
        (tmp_path / "core" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "core" / name).write_text(text)
    assert imports.circles_of_folders(tmp_path) == {"core/a": [{"b", "c"}]}
    assert counts.circles_of_includes(tmp_path) == "1 (2 folders)"
