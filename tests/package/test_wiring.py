"""Registration of the package's functions with the core: in one module, or the import names the missing ones."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import forerun
from forerun import _core, np
from forerun._wiring import arrays, engine
from forerun.ops._base import above
from tests.support.processes.subprocesses import environment

PACKAGE = Path(forerun.__file__).parent

# Functions of the core that set a state of a thread or of the engine, or a setting of either: a number or a bool.
SETTINGS = {
    "set_blas_limits", "set_cache_limits", "set_default_device", "set_defaults", "set_in_collective", "set_exit_status",
    "set_guard", "set_hang_report", "set_memory", "set_numpy_rules", "set_passes", "set_recording",
    "set_registered_limit", "set_synchronous", "set_tracing", "set_training",
}  # fmt: skip
# Those that give the core a function, a class or a table later than at import: the docstring of `_wiring` says why.
LATER = {
    "set_fallback": ["as_numpy/arrays.py"], "set_promotion": ["ops/_base/promotion.py"],
    "set_rank_failed": ["distributed/_world.py"],
}  # fmt: skip


def of_the_core(path: Path) -> set[str]:
    """Names that a module takes from the core to set something."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    taken = [n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "_core"]
    return {name for name in taken if name.startswith("set_") or name == "wire"}


def test_only_one_module_registers_anything():
    used = {str(path.relative_to(PACKAGE)): of_the_core(path) for path in sorted(PACKAGE.rglob("*.py"))}
    assert [name for name, calls in used.items() if "wire" in calls] == ["_wiring/arrays.py", "_wiring/engine.py"]
    assert set().union(*used.values()) - {"wire"} <= SETTINGS | LATER.keys()
    assert {call: [name for name, calls in used.items() if call in calls] for call in LATER} == LATER
    assert [name for name in SETTINGS | LATER.keys() if not hasattr(_core, name)] == []


PARTS: dict[str, Any] = {"engine": engine.table, "arrays": arrays.table}


@pytest.mark.parametrize("part", PARTS)
def test_the_core_names_the_missing_part(part):
    given = PARTS[part]()
    for name in given:
        with pytest.raises(RuntimeError, match=rf"wire: {part} must be given all .*, got no {name}$"):
            _core.wire(part, {key: value for key, value in given.items() if key != name})
    with pytest.raises(RuntimeError, match=", got no ") as raised:
        _core.wire(part, {})
    assert set(str(raised.value).split("got no ")[1].split(", ")) == set(given)
    with pytest.raises(RuntimeError, match=r"and nothing else, got .*'surplus'"):
        _core.wire(part, given | {"surplus": None})
    _core.wire(part, given)


@pytest.mark.parametrize(
    ("part", "name", "value", "text"),
    [
        ("engine", "log", 1, "log must be a function, got int"),
        ("engine", "devices", (), "devices must be a list, got tuple"),
        ("engine", "folders", ["/"], "folders must be the package's, its examples' and NumPy's, got list"),
        ("arrays", "array", int, "array must be a class of arrays, got type"),
        ("arrays", "fit", None, "fit must be a function, got NoneType"),
        ("arrays", "add", max, "op must be a Ufunc, got builtin_function_or_method"),
    ],
)
def test_entries_of_the_wrong_type_raise(part, name, value, text):
    given = PARTS[part]()
    try:
        with pytest.raises(TypeError, match=text):
            _core.wire(part, given | {name: value})
    finally:
        _core.wire(part, given)
    assert (np.ones(2) + 1).tolist() == [2, 2]


def test_parts_are_two():
    with pytest.raises(ValueError, match='part must be "engine" or "arrays", got "neither"'):
        _core.wire("neither", {})


def importing(code: str) -> str:
    """The last line that a program prints, which fails."""
    line = [sys.executable, "-I", "-c", code]  # neither the folder nor the environment of the tests matters
    found = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
    assert found.returncode == 1
    return found.stderr.splitlines()[-1]


def test_an_import_without_a_row_of_a_table_names_the_row():
    """Broken on purpose: a row of each table is not there."""
    forget = "import forerun\nfrom forerun._wiring import {0} as part\nwhole = part.table\npart.table = lambda: "
    forget += "{{k: v for k, v in whole().items() if k not in {1}}}\n"
    text = "RuntimeError: wire: {} must be given all that the core asks of the package, got no {}"
    found = importing(forget.format("arrays", ["fit", "add"]) + "from forerun import np")
    assert found == text.format("arrays", "fit, add")
    again = "import importlib\nimportlib.reload(forerun)"
    assert importing(forget.format("engine", ["devices"]) + again) == text.format("engine", "devices")


def test_functions_of_higher_modules_are_registered():
    """By the same module, and all of it: `asarray` of arrays in a list, and methods of ufuncs, need it."""
    assert set(above.__all__) == set(above.__annotations__)
    assert all(callable(getattr(above, name)) for name in above.__all__)
    code = "import forerun\nfrom forerun.ops._base import above\nabove.stack"
    assert importing(code).startswith("AttributeError: module 'forerun.ops._base.above' has no attribute 'stack'")


def test_arrays_that_are_made_before_are_distinguished():
    code = "from forerun import _core\nx = _core.full((300, 300), 1, 'float32', None)\nx + x"
    message = "add: forerun.np must be imported first, got an array made without it"
    assert importing(code) == f"NotImplementedError: {message}"
