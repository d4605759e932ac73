"""Annotations agree with the results of functions; the names of types with their meaning."""

import inspect
import json
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import numpy
import pytest

import forerun
from forerun import np
from forerun.ops._base.primitive import Elementwise
from forerun.typing import Array, ArrayLike, Axis, DeviceLike, DTypeLike, Shape
from tests.ops.cases import CASES
from tests.ops.cases.table import Case, call_with_sample, to_forerun
from tests.support.many_cases import for_each
from tests.support.paths import ROOT


def annotated(op: Any) -> Any:
    """Return the annotation of a function's result."""
    return None if isinstance(op, Elementwise) else getattr(inspect.unwrap(op), "__annotations__", {}).get("return")


TYPED = [c for c in CASES if annotated(c.op) in ("Array", "_Array")]


def test_most_functions_are_annotated_with_array() -> None:
    functions = {c.name for c in CASES if not isinstance(c.op, Elementwise)}
    assert len({c.name for c in TYPED}) > 0.8 * len(functions)


@for_each("case", TYPED, ids=lambda case: case.name)
def test_functions_annotated_with_array_return_arrays(case: Case) -> None:
    for args in case.arguments(case.dtype_list()[0]):
        assert isinstance(call_with_sample(case.op, to_forerun(args)), Array)


def members(kind: Any) -> list[Any]:
    """The classes of a union, also of one that contains others by name, as NumPy's have it since 2.5."""
    kind = getattr(kind, "__value__", kind)
    if get_origin(kind) in (Union, types.UnionType):
        return [member for part in get_args(kind) for member in members(part)]
    return [get_origin(kind) or kind]


def test_names_of_types() -> None:
    assert Array is np.ndarray
    assert isinstance(np.ones(2)[0], Array)
    assert Array in get_args(ArrayLike)
    assert set(get_args(DeviceLike)) == {forerun.Device, str, type(None)}
    assert numpy.dtype in members(DTypeLike)
    assert set(get_args(Axis)) == {*get_args(Shape), type(None)}


# --- a user's program under type checkers ---------------------------------------------------------

TYPED_PROGRAM = ROOT / "tests" / "package" / "type_check_program.py"
SOURCE = ROOT / "src"
PYRIGHT = shutil.which("basedpyright", path=Path(sys.executable).parent) or shutil.which("pyright")
READY = PYRIGHT is not None and (SOURCE / "forerun" / "_core.pyi").exists()


@pytest.mark.skipif(not READY, reason="basedpyright is not installed, or the core was not built by make")
def test_pyright_agrees_with_the_annotations(tmp_path: Path) -> None:
    """mypy reads the same file in `make lint`."""
    shutil.copy(TYPED_PROGRAM, tmp_path / "program.py")
    settings = {
        "include": ["program.py"], "extraPaths": [str(SOURCE)], "reportUnnecessaryTypeIgnoreComment": "error",
        "typeCheckingMode": "strict", "enableTypeIgnoreComments": True,  # basedpyright has other defaults
    }  # fmt: skip
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [str(PYRIGHT), "-p", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
