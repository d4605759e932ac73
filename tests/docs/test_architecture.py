"""The page of the architecture agrees with the tree: the picture, the table of folders, and the steps of the calls."""

from __future__ import annotations

import re
import sys

import pytest

from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import architecture
import counts
import imports

PAGE = ROOT / "docs" / "explanation" / "architecture.md"
STEP = re.compile(r"^\| (\d) \| `([^`]+)` \| `([^`]+)` \| .+ \|$", re.MULTILINE)
STEPS = STEP.findall(PAGE.read_text(encoding="utf-8"))


def defines(text: str, function: str, python: bool) -> bool:
    """Return whether the source of a file holds the definition of a function."""
    if python:
        return re.search(rf"^ *(?:async )?def {function.rpartition('.')[2]}\(", text, re.MULTILINE) is not None
    return re.search(rf"^(?!.*;$).*[\s*&]{re.escape(function)}\(", text, re.MULTILINE) is not None


def test_picture_and_table_are_up_to_date():
    assert architecture.PICTURE.read_text(encoding="utf-8") == architecture.picture()
    page = PAGE.read_text(encoding="utf-8")
    assert page == architecture.page(page)


def test_counts_are_up_to_date():
    printed = counts.of_page(PAGE.read_text(encoding="utf-8"))
    assert printed == {what: count(ROOT) for what, count in counts.COUNTS.items()}


def test_every_folder_has_a_purpose():
    assert [name for name, (_, about) in architecture.rooms().items() if not about] == []


def test_each_call_takes_at_most_eight_steps():
    numbers = [int(number) for number, _, _ in STEPS]
    assert numbers.count(1) == 2
    assert max(numbers) <= 8


@pytest.mark.parametrize(("function", "file"), [step[1:] for step in STEPS])
def test_a_step_names_a_function_of_its_file(function, file):
    path = ROOT / file
    assert path.is_file(), f"{file} does not exist"
    assert defines(path.read_text(encoding="utf-8"), function, path.suffix == ".py")


def test_a_function_that_is_only_called_is_not_defined():
    assert defines("void Engine::plan() {", "Engine::plan", False)
    assert not defines("  if (late) Engine::plan();", "Engine::plan", False)


def test_a_new_import_changes_the_picture(tmp_path):
    for name, text in {
        "core/base/shape.h": "",
        "src/forerun/__init__.py": "",
        "src/forerun/ops/__init__.py": "from .. import _core\n",
        "src/forerun/np/__init__.py": "from ..ops import add\n\n\ndef late():\n    from ..gluon import nn\n",
        "src/forerun/gluon/__init__.py": "from ..np import add\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    early, late = architecture.edges(tmp_path)
    assert early == {("ops", "python"): 1, ("np", "ops"): 1, ("gluon", "np"): 1}
    assert late == {("np", "gluon"): 1}
    assert imports.circles({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == [{"a", "b"}]


def test_counts_of_a_small_tree(tmp_path):
    for name, text in {
        "core/base/shape.h": "struct Shape {\n  int rank() const;\n  int at(int i) const { return i; }\n};\n",
        "core/base/shape.cpp": '#include "base/shape.h"\n\nint f() {\n  return 1;\n}\n',
        "src/forerun/__init__.py": "",
        "src/forerun/a.py": "def f(x: Any, y: int) -> int:\n    from . import b\n    return y\n",
        "src/forerun/b.py": "from . import a\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert counts.late_imports(tmp_path) == "1"
    assert counts.circles_of_modules(tmp_path) == "1 (2 modules)"
    assert counts.share_of_any("parameter")(tmp_path) == "50 %"
    assert counts.share_of_any("parameter", public=True)(tmp_path) == "50 %"
    assert counts.longest_core(tmp_path) == "3 (f)"
    assert counts.largest_class(tmp_path) == "2 (Shape)"


def test_any_of_public_functions_is_counted(tmp_path):
    package = tmp_path / "src" / "forerun"
    for name, text in {
        "_a/b.py": "def f(x: Any) -> Any: ...\n",
        "_array/b.py": "class A:\n    def f(self, x: Any, *args: Any, y: int, **kwargs: Any) -> Any: ...\n",
        "a.py": (
            "class _A:\n    def f(self) -> Any: ...\n"
            "@overload\ndef g(x: int) -> int: ...\n@overload\ndef g(x: str) -> str: ...\ndef g(x: Any) -> Any: ...\n"
            "def _f(x: Any) -> Any: ...\n"
        ),
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    assert counts.share_of_any("parameter", public=True)(tmp_path) == "25 %"
    assert counts.share_of_any("result", public=True)(tmp_path) == "33 %"
