"""Tests are in small folders, share code in tests.support alone, and nothing that is not a test uses them."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.paths import ROOT

TESTS = ROOT / "tests"
MOST_FILES = 20  # tests in a folder
LEAST_CODE = 45  # characters of a helper that is to exist once
SHARED = ("tests.support", "tests.ops.cases", "tests.data")
# Names that pytest, or Python's custom for programs, gives.
SHARED_NAMES = {"main", "pytest_addoption", "pytest_collection_modifyitems", "pytest_configure"}
USES_THE_TABLE = {"tools/name_tables/names.py": "tests.ops.cases"}  # which calls each op with the samples of its row


def imported(tree: ast.Module) -> list[str]:
    """Return the full names of everything that a file imports."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return found


def bodies(tree: ast.Module) -> list[tuple[str, str]]:
    """Return the names and the code of the helpers of a file, but for the shortest ones."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("test_"):
            code = "\n".join(ast.unparse(line) for line in node.body[ast.get_docstring(node) is not None :])
            found += [(node.name, code)] if len(code) >= LEAST_CODE else []
    return found


def helpers(tree: ast.Module) -> list[str]:
    """Return the names of the functions and classes of a file that are neither tests nor fixtures."""
    found = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            fixture = any("pytest.fixture" in ast.unparse(decorator) for decorator in node.decorator_list)
            found += [node.name] if not fixture and not node.name.startswith(("test_", "Test")) else []
    return found


class Facts(NamedTuple):
    """The imports and the helpers of a file."""

    imported: list[str]
    bodies: list[tuple[str, str]]
    helpers: list[str]


@functools.cache
def facts(path: Path) -> Facts:
    """Return the facts of a file, which is parsed once for all tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return Facts(imported(tree), bodies(tree), helpers(tree))


def files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def test_no_folder_has_many_tests() -> None:
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in files("tests") if path.stem[:5] == "test_")
    assert "tests" not in counts
    assert not {folder: n for folder, n in counts.items() if n > MOST_FILES}


def test_tests_share_code_in_the_folders_for_it() -> None:
    named = [(path, name) for path in files("tests", "stress") for name in facts(path).imported]
    used = [(path, name) for path, name in named if name[:6] == "tests."]
    assert len(used) > 100
    assert not [(path.name, name) for path, name in used if not name.startswith(SHARED)]


@pytest.mark.parametrize("folder", ["src", "benchmarks", "examples", "docs", "tools", "verification", "compatibility"])
def test_nothing_else_uses_tests(folder: str) -> None:
    for path in files(folder):
        allowed = USES_THE_TABLE.get(path.relative_to(ROOT).as_posix(), "none")
        text = path.read_text(encoding="utf-8")
        names = imported(ast.parse(text)) if "tests" in text else []  # else it imports nothing that is looked for
        assert not [name for name in names if f"{name}."[:6] == "tests." and not name.startswith(allowed)]


def test_no_helper_is_written_in_two_files() -> None:
    of: dict[str, set[str]] = {}
    for path in files("tests", "stress"):
        for name, code in facts(path).bodies:
            of.setdefault(code, set()).add(f"{path.relative_to(ROOT)}: {name}")
    assert [sorted(places) for places in of.values() if len({place.partition(":")[0] for place in places}) > 1] == []


def several_files(paths: list[Path]) -> dict[str, list[str]]:
    """Return the helpers that are defined in several files, by their names."""
    of: dict[str, set[str]] = {}
    for path in paths:
        for name in facts(path).helpers:
            of.setdefault(name, set()).add(path.as_posix())
    return {name: sorted(places) for name, places in of.items() if len(places) > 1 and name not in SHARED_NAMES}


def test_a_helper_has_a_name_of_its_own() -> None:
    assert several_files(files("tests", "stress")) == {}


def test_the_check_sees_two_helpers_of_one_name(tmp_path: Path) -> None:
    text = "import pytest\ndef test_a(): ...\n@pytest.fixture\ndef fixed(): ...\ndef main(): ...\nclass Test: ...\n"
    paths = [tmp_path / "a.py", tmp_path / "b.py"]
    for path in paths:
        path.write_text(text)
    assert several_files(paths) == {}
    paths = [tmp_path / "c.py", tmp_path / "d.py"]
    for path in paths:
        path.write_text(text + "def helper(): ...\n")
    assert several_files(paths) == {"helper": [path.as_posix() for path in paths]}


def test_every_helper_is_used() -> None:
    used = {name for path in files("tests", "stress") for name in facts(path).imported}
    texts = "".join(path.read_text() for path in [*files("tests"), ROOT / "pyproject.toml"])
    for path in (TESTS / "support").rglob("[!_]*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        assert any(u.startswith(name) for u in used) or name in texts, f"{path.name} is used by no test"
