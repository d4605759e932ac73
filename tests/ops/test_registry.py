"""Names of operations: each has one, no other has it, and it does not depend on where the code is."""

import importlib
import pkgutil
import re
import subprocess
import sys
import types
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core
from forerun.ops._base.primitive import elementwise, primitive
from forerun.ops._base.registry import Names, operations, tuples

PACKAGES = ("forerun.ops", "forerun.gluon", "forerun.autograd", "forerun.np", "forerun.npx", "forerun.torch")
NEVER_ON_THE_TAPE = {"_frexp", "_modf"}  # parts of other operations


def modules() -> list[types.ModuleType]:
    names = [m.name for p in PACKAGES for m in pkgutil.walk_packages(importlib.import_module(p).__path__, f"{p}.")]
    return [importlib.import_module(name) for name in names]


def of_forerun() -> set[str]:
    """Registered names but for those of programs: other tests have some."""
    return {name for name in operations if not name.startswith("mine.")}


def is_operation(value: Any) -> bool:
    """Ufuncs, primitives, and objects that record and repeat themselves."""
    return isinstance(value, (_core.Ufunc, _core.Primitive)) or hasattr(type(value), "repeated")


def test_every_operation_of_the_package_is_registered_by_its_name():
    found = {id(v): v for m in modules() for v in vars(m).values() if is_operation(v)}
    assert len(found) > 160
    assert {op.name for op in found.values() if operations.name_of(op) is None} == NEVER_ON_THE_TAPE
    assert [op for op in found.values() if operations.name_of(op) not in (None, op.name)] == []


def test_every_named_tuple_of_operations_is_registered():
    found = {
        v
        for m in modules()
        for v in vars(m).values()
        if m.__name__.startswith("forerun.ops.") and isinstance(v, type) and issubclass(v, tuple)
        and hasattr(v, "_fields") and v.__module__ == m.__name__ and m.__name__ != "forerun.ops._base.registry"
    }  # fmt: skip
    assert {kind for kind in found if tuples.name_of(kind) is None} == set()


def test_names_are_dotted_words():
    words = re.compile(r"[a-z]\w*(\.[a-z]\w*)*")
    assert [name for name in operations if not words.fullmatch(name)] == []


def test_ufuncs_and_functions_are_named_as_numpy_names_them():
    lacking = []
    for name in of_forerun():
        place: Any = numpy
        first = name.split(".")
        for word in first[:2] if first[0] in ("linalg", "fft", "random") else first[:1]:
            place = getattr(place, word, None) or getattr(forerun.npx, word, None)
        lacking += [name] if place is None else []
    own = {"rnn", "checked", "getitem", "getitem.backward", "sum_to", "to_device"}
    assert set(lacking) == own


def test_all_operations_are_registered_by_gluon():
    """With any other imports of the program."""
    code = "from forerun.gluon import SymbolBlock\n"
    code += "from forerun.ops._base.registry import operations\nprint(*operations)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules()
    assert set(found.stdout.split()) == of_forerun()


def test_a_name_is_given_once():
    before = set(operations)
    with pytest.raises(ValueError, match=r"name of operation must be new, got 'relu' for <.*, which <.* has"):
        primitive(None, op="relu")(lambda x: x)
    with pytest.raises(ValueError, match="operation must have one name, got 'sum of all' for 'add'"):
        operations.add("sum of all", operations["add"], __name__)
    assert set(operations) == before


def test_operations_of_programs_need_no_registered_name():
    unregistered = elementwise(numpy.add, name="add", constant=True, doc="a + b.")
    also = primitive(None)(lambda x: x)
    assert operations.name_of(unregistered) is None
    assert operations.name_of(also) is None
    assert operations["add"] is not unregistered


def test_a_reimported_module_replaces_its_names(monkeypatch):
    names = Names("number")
    for value in ("first", "second"):
        monkeypatch.setitem(sys.modules, "interrupted", types.ModuleType("interrupted"))
        names.add("one", value, "interrupted")
    assert names["one"] == "second"
    assert (names.name_of("first"), names.name_of("second")) == (None, "one")
    with pytest.raises(ValueError, match="must be new"):
        names.add("one", "third", "interrupted")
    with pytest.raises(ValueError, match="must be new"):
        names.add("one", "third", "another")


def test_a_reexecuted_notebook_cell_replaces_its_names():
    names = Names("number")
    names.add("one", "first", "__main__")
    names.add("one", "second", "__main__")
    assert names["one"] == "second"
