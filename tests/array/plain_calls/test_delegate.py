"""Methods that are made of functions: their signatures agree, and a call costs no frame of the method."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from forerun import autograd, np
from forerun._array import ndarray as module

EITHER = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}


def delegated() -> dict[str, Any]:
    """The function of each method that is made of one."""
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        for call in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "delegate":
                found[node.name] = eval(ast.unparse(call.args[0]), vars(module))
    return found


METHODS = delegated()


def test_most_reductions_and_views_are_made_so() -> None:
    assert {"sum", "max", "argsort", "cumsum", "ravel", "take", "repeat", "round", "trace"} <= METHODS.keys()


@pytest.mark.parametrize("name", METHODS)
def test_parameters_are_those_of_the_function(name: str) -> None:
    method, function = getattr(np.ndarray, name), METHODS[name]
    own = list(inspect.signature(method).parameters.values())
    expected = list(inspect.signature(function).parameters.values())
    assert own[0].name == "self"
    named = {p.name: p for p in expected[1:]}
    for place, p in enumerate(own[1:], 1):
        if p.kind in EITHER:
            assert p.name == expected[place].name
            assert expected[place].kind in EITHER
        assert named[p.name].default == p.default or p.kind is p.VAR_KEYWORD
    assert method.__doc__
    assert method.__name__ == name
    assert inspect.signature(getattr(np.ones(1), name)).parameters.keys() == {p.name for p in own[1:]}


@pytest.mark.parametrize("name", METHODS)
def test_docstrings_have_the_sections_of_the_functions(name: str) -> None:
    text, of_function = inspect.getdoc(getattr(np.ndarray, name)) or "", inspect.getdoc(METHODS[name]) or ""
    own = {p for p in inspect.signature(getattr(np.ndarray, name)).parameters if p != "self"}
    assert own <= {
        n for names in re.findall(r"^\*{0,2}(\w+(?:, \w+)*) :", text, re.MULTILINE) for n in names.split(", ")
    }
    for section in ("Returns", "Raises", "Examples"):
        assert (f"\n{section}\n---" in text) == (f"\n{section}\n---" in of_function)


def test_methods_with_several_parameters_describe_them() -> None:
    members = inspect.getmembers(np.ndarray, callable)  # some are forerun.torch's, once it is imported
    methods = {n: f for n, f in members if n[0] != "_" and getattr(f, "__module__", "").startswith("forerun._array")}
    several = [name for name, method in methods.items() if len(inspect.signature(method).parameters) > 2]
    assert [name for name in several if "\nParameters\n---" not in (inspect.getdoc(methods[name]) or "")] == []


def frames(call: Callable[[], Any]) -> list[str]:
    """The Python functions of the package that a call runs through."""
    seen = []

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and "forerun" in frame.f_code.co_filename:
            seen.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return [name for name in seen if name != "<lambda>"]


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "ptp": (), "var": (), "std": (0,), "split": (2,), "round": (1,), "clip": (0, 1), "sum": ((0,),), "mean": ((0,),),
    "repeat": (2, 0), "squeeze": (), "ravel": (), "argpartition": (1,), "choose": ([1, 2],), "trace": (), "all": (),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("recording", [False, True])
def test_a_call_has_no_frame_of_the_method(name: str, recording: bool) -> None:
    x = np.arange(16, dtype="int64" if name == "choose" else "float32").reshape(4, 4) % 2
    if recording and name != "choose":
        x.attach_grad()
    method, function, given = getattr(x, name), METHODS[name], ARGUMENTS[name]
    scope = autograd.record() if recording else autograd.pause()
    with scope:
        direct = frames(lambda: function(x, *given))
        own = frames(lambda: method(*given))
    assert [frame for frame in own if frame != "call"] == direct
    assert own.count("call") <= 1  # which looks for `dim` where the core leaves a reduction to Python
