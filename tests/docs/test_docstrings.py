"""Public functions are documented: a summary, the parameters, the result, and an example that runs.

Functions of NumPy's namespaces, and those that only forerun has, need NumPy's sections. Namespaces that are not listed
here have docstrings, but not yet an example for everything.
"""

from __future__ import annotations

import ast
import doctest
import enum
import importlib
import inspect
import re
import sys
import types
from typing import Any

import pytest

import forerun
from forerun import np
from forerun.ops._base.primitive import Elementwise
from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import reference

WITH_EXAMPLES = [
    "np", "np.linalg", "np.fft", "np.random", "npx", "npx.image", "npx.random", "autograd", "lr_scheduler", "optimizer",
    "gluon.loss", "gluon.model_zoo.vision", "gluon.nn", "gluon.rnn", "gluon.data.vision", "init", "metric", "profiler",
    "extend", "safetensors", "distributed", "onnx", "sklearn", "testing", "d2l", "image", "torch.nn", "torch.optim",
]  # fmt: skip
WITH_SECTIONS = [
    "", "as_numpy", "autograd", "d2l", "distributed", "extend", "gluon.model_zoo.vision", "gluon.utils", "image",
    "init", "kvstore", "metric", "nd", "nd.random", "np", "np.emath", "np.fft", "np.lib.stride_tricks", "np.linalg",
    "np.random", "npx", "npx.image", "onnx", "optimizer", "profiler", "safetensors", "testing", "torch.cuda",
    "torch.distributed", "torch.nn", "torch.nn.utils",
]  # fmt: skip
# In these, functions with several parameters have sections.
WITH_SECTIONS_FOR_SEVERAL = ["torch", "torch.nn.init"]
# In these, the parameters of classes are described as well.
CLASSES_WITH_SECTIONS = [
    "", "autograd", "d2l", "distributed", "extend", "gluon", "gluon.contrib.data.vision", "gluon.data",
    "gluon.data.vision", "gluon.data.vision.transforms", "gluon.loss", "gluon.model_zoo.vision", "gluon.nn",
    "gluon.rnn", "gluon.utils", "init", "kvstore", "lr_scheduler", "metric", "np", "np.random", "onnx", "optimizer",
    "profiler", "safetensors", "sklearn", "torch.distributed", "torch.nn", "torch.nn.parallel", "torch.optim",
    "torch.utils.data",
]  # fmt: skip
MADE_BY_FUNCTIONS = {"NDArray", "ParameterDict", "flatiter", "ndarray"}  # programs do not call these classes
SECTIONS = re.compile(r"^ *(\w+)\n *-{4,}$", re.MULTILINE)


def public(namespace: str) -> list[tuple[str, Any]]:
    module = importlib.import_module(f"forerun.{namespace}".rstrip("."))
    return [(name, getattr(module, name)) for name in reference.public(module)]


def public_functions(namespace: str) -> list[tuple[str, Any]]:
    kinds = types.FunctionType, type(np.sum)  # NumPy's functions that the core calls
    return [(name, obj) for name, obj in public(namespace) if isinstance(obj, kinds)]


@pytest.mark.parametrize("namespace", WITH_EXAMPLES)
def test_each_has_a_summary_and_an_example(namespace):
    texts = {name: inspect.getdoc(obj) or "" for name, obj in public(namespace)}
    assert [name for name, text in texts.items() if not re.match(r"[A-Z`(|-].*\S", text)] == []
    assert [name for name, text in texts.items() if ">>>" not in text] == []


@pytest.mark.parametrize("namespace", WITH_SECTIONS + WITH_SECTIONS_FOR_SEVERAL)
def test_functions_of_forerun_have_sections(namespace):
    lacking = []
    for name, function in public_functions(namespace):
        several = len(inspect.signature(function).parameters) > 1
        if namespace in WITH_SECTIONS_FOR_SEVERAL and not several:
            continue
        text = inspect.getdoc(function) or ""
        found = SECTIONS.findall(text)
        signature = inspect.signature(function)
        wanted = ["Parameters"] if signature.parameters else []
        wanted += [] if signature.return_annotation in ("None", None) else ["Returns"]
        lacking += [f"{name}: {section}" for section in [*wanted, "Examples"] if section not in found]
        described = re.findall(r"^(\*{0,2}\w+(?:, \w+)*) :", text, re.MULTILINE)
        lacking += [
            f"{name}: {parameter_name}"
            for parameter_name, parameter in signature.parameters.items()
            if not str(parameter.annotation).startswith("Unpack")  # each of them is described
            and parameter_name not in {p.lstrip("*") for line in described for p in line.split(", ")}
        ]
    assert lacking == []


def classes(namespace: str) -> list[tuple[str, Any]]:
    kinds = BaseException, enum.Enum
    return [(name, obj) for name, obj in public(namespace) if isinstance(obj, type) and not issubclass(obj, kinds)]


@pytest.mark.parametrize("namespace", CLASSES_WITH_SECTIONS)
def test_classes_of_forerun_have_sections(namespace):
    lacking = []
    for name, kind in classes(namespace):
        text = inspect.getdoc(kind) or ""
        if name in MADE_BY_FUNCTIONS:
            continue
        parameters = inspect.signature(kind).parameters
        # Attributes of records, which programs do not make, are what their constructors take.
        described = {
            each.strip().lstrip("*")
            for line in re.findall(r"^(\*{0,2}\w+(?:, \w+)*) :", text, re.MULTILINE)
            for each in line.split(",")
        }
        lacking += [f"{name}: {parameter_name}" for parameter_name in parameters if parameter_name not in described]
        lacking += [] if "Examples" in SECTIONS.findall(text) else [f"{name}: Examples"]
    assert lacking == []


def test_a_function_without_a_result_does_not_say_that_it_returns_one() -> None:
    wrong = []
    for path in sorted((ROOT / "src" / "forerun").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(node.returns, ast.Constant):
                text = ast.get_docstring(node) or ""
                if node.returns.value is None and re.match(r"(Return|Yield) (?!None\b)", text):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: {text.splitlines()[0]}")
    assert wrong == []


def test_the_reference_has_a_page_for_each_of_these_namespaces():
    pages = {name.removeprefix("forerun").removeprefix(".") for name in reference.NAMESPACES}
    of_np = {"np", "np.emath", "np.lib.stride_tricks"}  # pages by subject; names that `np` has as well
    assert sorted({*WITH_SECTIONS, *CLASSES_WITH_SECTIONS} - pages - of_np) == []


def test_the_settings_are_those_that_are_described():
    described = re.findall(r"^(\w+) :", inspect.getdoc(forerun.configure) or "", re.MULTILINE)
    assert described == list(forerun.config())


class TestElementwise:
    OPS = sorted({op.name: op for _, op in public("np") if isinstance(op, Elementwise)}.items())

    @pytest.mark.parametrize(("name", "op"), OPS)
    def test_an_example_shows_its_output(self, name, op):
        test = doctest.DocTestParser().get_doctest(op.__doc__, {}, name, None, 0)
        assert len(test.examples) == 2
        assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0

    @pytest.mark.parametrize(("name", "op"), OPS)
    def test_parameters_are_those_of_the_signature(self, name, op):
        described = re.findall(r"^([\w, ]+) :", op.__doc__, re.MULTILINE)[: op.nin + 3]
        names = [n for line in described for n in line.split(", ")]
        assert set(names) <= set(inspect.signature(op).parameters)
        assert len(names) == op.nin + 3
        assert SECTIONS.findall(op.__doc__) == ["Parameters", "Returns", "Raises", "Examples"]

    def test_other_libraries_functions_keep_their_text(self):
        op = Elementwise(np.tanh.ufunc, "other_tanh", ("x",), None, "Another library's text.")
        assert op.__doc__ == "Another library's text."

    def test_the_class_has_a_docstring(self):
        assert Elementwise.__doc__.startswith("An element-wise op")
