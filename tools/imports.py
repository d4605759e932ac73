"""Read the imports of the Python package and the includes of the C++ core from a source tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CORE = "forerun._core"  # the extension module
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


@dataclass(frozen=True)
class Import:
    """One import of a module of the package. `late`: it is executed when a function is called."""

    source: str  # module that imports, as "forerun.ops.shape.join"
    target: str  # module that is imported
    late: bool


def modules(root: Path) -> dict[str, Path]:
    """Return the modules of src/forerun by their full names."""
    found = {}
    for path in sorted((root / "src" / "forerun").rglob("*.py")):
        parts = path.relative_to(root / "src").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(root: Path) -> list[Import]:
    """Return all imports between modules of the package; imports that only type checkers execute are left out."""
    known = modules(root)
    return [found for name, path in known.items() for found in _of_module(name, path, known)]


def _of_module(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node, late in _statements(tree, False):
        for target in _targets(node, package):
            while target not in known and target not in {CORE, ""}:
                target = target.rpartition(".")[0]  # the name of a function: its module
            if target:
                yield Import(name, target, late)


def _statements(node: ast.AST, late: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield the import statements below a node, and whether each is inside a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, late
        elif isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)) and not (
            isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        ):
            yield from _statements(child, late or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _targets(node: ast.Import | ast.ImportFrom, package: list[str]) -> list[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        base = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*base, *([node.module] if node.module else [])])
        names = [f"{module}.{alias.name}" for alias in node.names]
    return [name for name in names if name.split(".")[0] == "forerun"]


def core_files(root: Path) -> list[Path]:
    """Return the headers and sources of core/, without its tests."""
    files = (path for path in sorted((root / "core").rglob("*")) if path.suffix in {".h", ".cpp"})
    return [path for path in files if path.relative_to(root / "core").parts[0] != "tests"]


def includes(root: Path) -> list[tuple[str, str]]:
    """Return all includes between files of core/, as pairs of paths below core/."""
    found = []
    for path in core_files(root):
        source = path.relative_to(root / "core").as_posix()
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := INCLUDE.match(line):
                found.append((source, match[1]))
    return found


def circles_of_folders(root: Path) -> dict[str, list[set[str]]]:
    """Return the folders of core/ inside of which folders include each other around, and the circles of each.

    Files that a folder has itself do not count: some are used by all folders in it, and some use them all.
    """
    graphs: dict[str, dict[str, set[str]]] = {}
    for source, target in includes(root):
        a, b = source.split("/")[:-1], target.split("/")[:-1]
        depth = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
        if depth is not None:
            graph = graphs.setdefault("/".join(["core", *a[:depth]]), {})
            graph.setdefault(a[depth], set()).add(b[depth])
    return {folder: around for folder, graph in sorted(graphs.items()) if (around := circles(graph))}


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected components with more than one node."""
    below = {name: _reached(graph, name) for name in graph}
    found: list[set[str]] = []
    for name in graph:
        circle = {other for other in below[name] if name in below.get(other, ())} | {name}
        if len(circle) > 1 and circle not in found:
            found.append(circle)
    return found


def _reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    left = list(graph[start])
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += graph.get(name, ())
    return seen
