"""Folders use only what stands below them: C++ includes in core/, Python imports in src/forerun/."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "core"
PACKAGE = ROOT / "src" / "forerun"

CORE_ORDER = ["base", "engine", "memory", "array", "kernels", "cpu", "cuda", "bind"]
KNOW_PYTHON = {"bind"}
PYTHON_HEADERS = re.compile(r"(Python\.h|nanobind/|numpy/)")

# From the bottom up; names in one row may use each other. The package itself (`__init__`) stands on top.
PYTHON_ORDER = [
    {"_blas"},
    {"_core", "notebook", "log", "config", "device", "lifecycle", "engine", "pace", "pending", "aio"},
    {"autograd"},
    {"ops"},
    {"storage"},
    {"np", "npx", "nd", "safetensors", "typing", "extend"},
    {"recorded"},
    {"_registry", "init", "optimizer", "lr_scheduler", "metric", "image", "gluon"},
    {"torch", "d2l", "compat", "as_numpy", "compat_modules"},
    {"profiler"},
    {"terminal", "bars", "tour", "cli", "testing", "__main__"},
    {"_wiring"},
]
PYTHON_RANK = {name: rank for rank, row in enumerate(PYTHON_ORDER) for name in row}
TOP = len(PYTHON_ORDER)
# What stands on top puts the parts together as they are imported; one of them asks for it, when it is complete itself.
FROM_ABOVE = {("np/__init__.py", "forerun._wiring")}


def core_files() -> list[Path]:
    files = (path for path in CORE.rglob("*") if path.suffix in {".h", ".cpp"})
    return sorted(path for path in files if path.relative_to(CORE).parts[0] != "tests")


def python_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def layer(path: Path) -> str:
    """Return the first part of a module's path inside the package: its folder or file name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and full name of everything from the package that a file imports, inside functions too."""
    package = ["forerun", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{source}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "forerun")


def for_types_alone(path: Path) -> set[int]:
    """Lines of imports that only type checkers execute."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    blocks = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test).strip("_") == "TYPE_CHECKING"]
    return {line.lineno for block in blocks for line in block.body}


def import_rank(name: str) -> int:
    """Return the rank of what an import reaches: the package's own names count as on top."""
    parts = name.split(".")
    return PYTHON_RANK.get(parts[1], TOP) if len(parts) > 1 else TOP


@pytest.mark.parametrize("path", core_files(), ids=lambda path: str(path.relative_to(CORE)))
def test_core_includes_only_what_stands_below(path: Path) -> None:
    own = path.relative_to(CORE).parts[0]
    assert own in CORE_ORDER, f"core/{own} has no place in the order {CORE_ORDER}"
    allowed = set(CORE_ORDER[: CORE_ORDER.index(own) + 1])
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not (match := re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)):
            continue
        quote, target = match.groups()
        place = f"core/{path.relative_to(CORE)}:{number}"
        if quote == '"':
            assert target.split("/")[0] in allowed, f"{place}: {own}/ may not include {target}"
        if own not in KNOW_PYTHON:
            assert not PYTHON_HEADERS.match(target), f"{place}: only {KNOW_PYTHON} may include {target}"


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_package_imports_only_what_stands_below(path: Path) -> None:
    own = layer(path)
    if own == "__init__":
        return
    assert own in PYTHON_RANK, f"forerun.{own} has no place in the order {PYTHON_ORDER}"
    of_types = for_types_alone(path)
    for line, name in imported_modules(path):
        if line in of_types and name.startswith("forerun.typing."):
            continue  # which names the class of arrays for annotations
        place = f"src/forerun/{path.relative_to(PACKAGE)}:{line}"
        if (path.relative_to(PACKAGE).as_posix(), name) in FROM_ABOVE:
            continue
        assert import_rank(name) <= PYTHON_RANK[own], f"{place}: {own} may not import {name}"


def test_the_check_sees_relative_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    file = tmp_path / "ops" / "linear" / "product.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "from ... import gluon\nfrom ..basic import add\nimport forerun.np as fnp\nimport numpy\n"
    )
    found = dict(imported_modules(file))
    assert found == {1: "forerun.gluon", 2: "forerun.ops.basic.add", 3: "forerun.np"}
    assert [import_rank(name) for name in found.values()] == [PYTHON_RANK[x] for x in ("gluon", "ops", "np")]
