"""SECURITY.md: the source keeps its promises about imports, the network and evaluated text."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.support.paths import ROOT

SOURCE = ROOT / "src" / "forerun"
Nodes = dict[str, list[ast.AST]]

# Modules of Python's library that reach outside of the interpreter, or run code that they read.
OUTSIDE = {
    "code", "codeop", "ctypes", "dbm", "ftplib", "http", "imaplib", "mailbox", "marshal", "multiprocessing", "nntplib",
    "pickle", "poplib", "pty", "runpy", "shelve", "smtplib", "socket", "socketserver", "ssl", "subprocess",
    "telnetlib", "urllib", "webbrowser", "wsgiref", "xmlrpc",
}  # fmt: skip
RUNS_TEXT = {"eval", "exec", "compile", "__import__"}  # Python's own functions that run text


@pytest.fixture(scope="module")
def nodes() -> Nodes:
    """Return all nodes of each file of the package, by its path in it."""
    return {
        path.relative_to(SOURCE).as_posix(): list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def modules_imported(nodes: list[ast.AST]) -> Iterator[str]:
    """Top-level names of modules that a file imports when it runs, also inside of functions, and by name."""
    for_types = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in nodes:
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call) and called(node) in {"import_module", "_imported"}:
            name = node.args[0]
            if isinstance(name, ast.Constant) and not name.value.startswith("."):
                yield name.value.partition(".")[0]


def called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def listed() -> dict[str, set[str]]:
    """The table: which files import a module."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines():
        cells = [re.findall(r"`([^`]+)`", cell) for cell in row.split("|")]
        if len(cells) == 5:
            for module in cells[1]:
                found[module].update(cells[2])
    return dict(found)


def test_the_page_lists_the_importers_of_network_modules(nodes: Nodes) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for path, inside in nodes.items():
        for name in modules_imported(inside):
            own = name in {"forerun", "numpy", "__future__"}
            if name in OUTSIDE or not (own or name in sys.stdlib_module_names):
                found[name].add(path)
    assert dict(found) == listed()


def test_only_one_module_opens_the_network_and_the_page_names_its_callers(nodes: Nodes) -> None:
    """`gluon.download`; and NumPy's readers of text, which open URLs."""
    network = {path for module in ("http", "ssl", "urllib") for path in listed()[module]}
    assert network == {"gluon/download.py"}
    askers = {
        path for path, inside in nodes.items() for node in inside
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("download")
    }  # fmt: skip
    assert askers == {"gluon/utils.py", "gluon/data/vision/datasets.py"}
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for name in ("gluon.data.vision", "gluon.utils.download", "np.loadtxt", "np.genfromtxt"):
        assert f"`{name}`" in text


def test_no_text_is_run(nodes: Nodes) -> None:
    calls = [
        f"{path}:{node.lineno}" for path, inside in nodes.items() for node in inside
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RUNS_TEXT
    ]  # fmt: skip
    assert calls == []


def test_only_loaders_unpickle(nodes: Nodes) -> None:
    readers = {
        path for path, inside in nodes.items() for node in inside
        if isinstance(node, ast.Call) and called(node) in {"load", "loads", "Unpickler"}
        and ast.unparse(node.func) in {"pickle.load", "pickle.loads", "pickle.Unpickler"}
    }  # fmt: skip
    assert readers <= {"gluon/data/shared.py", "gluon/data/worker.py"}
