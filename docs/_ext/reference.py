"""Writes the pages of the reference: a page for each namespace, for each subject of `np`; `make docs` calls it.

They hold directives; the text comes from the docstrings.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import pkgutil
import re
import types
from pathlib import Path
from typing import Any
from unittest import mock

import docstrings

from forerun import _core

FUNCTIONS = types.FunctionType, _core.Function  # the second are called by the core, and have a Python function inside
FOLDER = Path(__file__).resolve().parents[1] / "reference" / "api"

NAMESPACES = {  # pages of the reference; those of `np` itself are made by subject
    "forerun": "The package itself: the engine, devices, settings",
    "forerun.np.linalg": "Linear algebra",
    "forerun.np.fft": "Fourier transforms",
    "forerun.np.random": "Random numbers",
    "forerun.npx": "Functions that NumPy lacks: layers, devices, switches",
    "forerun.npx.image": "Functions of images",
    "forerun.npx.random": "Random numbers that NumPy has no name for",
    "forerun.autograd": "Gradients",
    "forerun.distributed": "Programs of several ranks",
    "forerun.gluon": "Blocks, parameters, trainers",
    "forerun.gluon.nn": "Layers",
    "forerun.gluon.rnn": "Recurrent layers",
    "forerun.gluon.loss": "Losses",
    "forerun.gluon.data": "Data sets and loaders",
    "forerun.gluon.data.vision": "Data sets of images",
    "forerun.gluon.data.vision.transforms": "Transforms of images",
    "forerun.gluon.contrib.data.vision": "Loaders of images with the usual transforms",
    "forerun.gluon.utils": "Helpers for training",
    "forerun.gluon.model_zoo.vision": "Standard networks for images",
    "forerun.optimizer": "Optimizers",
    "forerun.lr_scheduler": "Learning rates that change",
    "forerun.kvstore": "Sums of gradients",
    "forerun.metric": "Metrics",
    "forerun.init": "Initial values",
    "forerun.image": "Images",
    "forerun.torch": "The PyTorch spelling",
    "forerun.torch.nn": "Its layers",
    "forerun.torch.nn.functional": "Its functions of layers",
    "forerun.torch.nn.init": "Its initial values",
    "forerun.torch.nn.parallel": "Its training over ranks",
    "forerun.torch.nn.utils": "Its functions of gradients",
    "forerun.torch.optim": "Its optimizers",
    "forerun.torch.utils.data": "Its data sets and loaders",
    "forerun.torch.distributed": "Its functions between ranks",
    "forerun.torch.cuda": "Its functions of GPUs",
    "forerun.nd": "The spelling of MXNet 1.x",
    "forerun.nd.random": "Its random numbers",
    "forerun.compat": "MXNet programs, unchanged",
    "forerun.d2l": "Helpers of Dive into Deep Learning",
    "forerun.safetensors": "Files of safetensors",
    "forerun.onnx": "Networks as ONNX files",
    "forerun.sklearn": "Networks as estimators of scikit-learn",
    "forerun.profiler": "The profiler",
    "forerun.extend": "Custom operations",
    "forerun.as_numpy": "NumPy programs, unchanged",
    "forerun.testing": "Help for tests",
    "forerun.pytest_plugin": "A plugin of pytest",
}
Seen = dict[int, str]  # the first place of each object, by its id
GROUPS = {  # NumPy's groups of functions: a title, and the folders and modules of forerun.ops that have them
    "creation": ("Array creation", "create index.from_data index.grids"),
    "manipulation": ("Array manipulation", "shape index.insert_delete"),
    "math": ("Mathematical functions, comparisons, logic", "elementwise"),
    "reductions": ("Sums, products, means, tests of arrays", "reduce"),
    "indexing": ("Indexing", "index"),
    "linalg": ("Linear algebra", "linalg"),
    "sorting": ("Sorting, searching, counting, sets", "sort"),
    "statistics": ("Statistics and histograms", "statistics"),
    "signal": ("Sampled functions, polynomials, windows", "signal"),
    "dtypes": ("Dtypes", "_base"),
    "np": ("Arrays, files, printing, settings", ""),
}


def write(app: Any = None) -> None:
    """Writes all pages that have changed."""
    seen: Seen = {}
    pages = np_pages(seen) | {
        name.removeprefix("forerun."): namespace(name, about, seen) for name, about in NAMESPACES.items()
    }
    pages |= {"command": command()} | contents(pages)
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages.items():
        file = FOLDER / f"{name}.rst"
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def public(module: types.ModuleType) -> list[str]:
    """Names that a module offers and that are forerun's."""
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    found = [(n, getattr(module, n)) for n in dict.fromkeys(names)]
    return [n for n, o in found if documented(o)]


def documented(obj: Any) -> bool:
    """Return whether it is a function, a class or an operation of forerun."""
    if isinstance(obj, types.ModuleType):
        return False
    if isinstance(obj, (type, *FUNCTIONS)):
        return obj.__module__.startswith("forerun")
    return is_operation(obj)


def is_operation(obj: Any) -> bool:
    return type(obj).__module__.startswith("forerun.ops") and callable(obj)


def namespace(name: str, about: str, seen: Seen) -> str:
    """The page of a namespace."""
    module = importlib.import_module(name)
    text = [
        title(f"{name.removeprefix('forerun.')}: {about}"),
        *docstrings.as_rst((module.__doc__ or "").splitlines()),
    ]
    return "\n".join([*text, *entries(name, module, public(module), seen)])


def entries(name: str, module: types.ModuleType, names: list[str], seen: Seen) -> list[str]:
    """Return a table of the names, then each with its docstring, unless another page has it."""
    if not names:
        return []
    names = sorted(names, key=lambda n: (isinstance(getattr(module, n), type), n.lower()))
    text = [f".. currentmodule:: {name}", "", ".. list-table::", "   :class: names", "   :widths: 30 70", ""]
    described: list[str] = []
    for n in (n for n in names if getattr(getattr(module, n), "__name__", "") == n):
        seen.setdefault(id(getattr(module, n)), f"{name}.{n}")  # of several names, the one it gives itself
    for n in names:
        obj = getattr(module, n)
        place = seen.setdefault(id(obj), f"{name}.{n}")
        other = place.removeprefix("forerun.") if place.count(".") > 1 else place
        text += [f"   * - :py:obj:`{n} <{place}>`"]
        if place == f"{name}.{n}":
            text += [f"     - {first_sentence(obj)}"]
            described += entry(name, n, obj)
        else:
            text += [f"     - the same as ``{other}``" + (f": {first_sentence(obj)}" if first_sentence(obj) else "")]
    return [*text, "", *described]


def first_sentence(obj: Any) -> str:
    words = docstrings.escaped(" ".join((obj.__doc__ or "").strip().split("\n\n")[0].split()))
    return re.split(r"(?<! al)\. ", words)[0].rstrip(".") if words else ""


def entry(namespace: str, name: str, obj: Any) -> list[str]:
    if isinstance(obj, type):
        of_private_base = len(obj.__mro__) == 3 and obj.__mro__[1].__name__.startswith("_")  # documented nowhere else
        return [
            f".. autoclass:: {namespace}.{name}",
            "   :members:",
            *(["   :inherited-members:"] if of_private_base else []),
            "",
        ]
    if isinstance(obj, FUNCTIONS):
        return [f".. autofunction:: {namespace}.{name}", "", *numpys_page(namespace, name)]
    signature = inspect.signature(obj)
    shown = [p for p in signature.parameters.values() if p.name not in ("casting", "order", "subok", "signature")]
    text = re.sub(r"See `numpy\.\w+` for the remaining parameters\.\n", "", obj.__doc__ or "")  # a link follows
    body = docstrings.as_rst(text.splitlines())
    called = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(signature.replace(parameters=shown)))  # types by their names
    return [
        f".. py:function:: {name}{called}",
        "",
        *(f"   {line}" for line in body),
        "",
        *numpys_page(namespace, name, "   "),
    ]


def numpys_page(namespace: str, name: str, indent: str = "") -> list[str]:
    """Return a link to NumPy's page of a function that NumPy has."""
    path = namespace.removeprefix("forerun.").replace("np", "numpy", 1)
    if (
        not namespace.startswith("forerun.np")
        or namespace == "forerun.np.random"
        or namespace.startswith("forerun.npx")
    ):
        return []
    if not hasattr(importlib.import_module(path), name):
        return []
    page = f"https://numpy.org/doc/stable/reference/generated/{path}.{name}.html"
    return [f"{indent}NumPy's page: `{path}.{name} <{page}>`__.", ""]


def np_pages(seen: Seen) -> dict[str, str]:
    """Return a page for each group of functions, with the names that `np` has of it."""
    np = importlib.import_module("forerun.np")
    home, by_group = homes(), {}  # type: dict[str, str], dict[str, list[str]]
    for n in public(np):
        module = home.get(n) or home.get(getattr(getattr(np, n), "__name__", ""), "")  # an alias: by its own name
        by_group.setdefault(group(module), []).append(n)
    return {
        f"np-{slug}": "\n".join([title(GROUPS[slug][0]), *entries("forerun.np", np, by_group[slug], seen)])
        for slug in GROUPS
        if slug in by_group
    }


def group(module: str) -> str:
    """Return the group to which the functions of a module of operations belong: the first that names it."""
    names = module.removeprefix("forerun.ops.").split(".")
    found = [slug for slug, (_, modules) in GROUPS.items() if {names[0], ".".join(names)} & set(modules.split())]
    return found[0] if found else "np"


def homes() -> dict[str, str]:
    """Return the module of operations that each name of `np` comes from."""
    ops = importlib.import_module("forerun.ops")
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(ops.__path__, "forerun.ops."):
        for name in getattr(importlib.import_module(module.name), "__all__", ()):
            found.setdefault(name, module.name)
    return found


def command() -> str:
    """Return the page with the output of `forerun --help` and of the help of each command."""
    from forerun import cli

    text = [title("Help of the command")]
    for words in ([], ["tour"], ["bench"], ["run"], ["trace"], ["whatif"], ["info"]):
        out = io.StringIO()
        width = mock.patch.dict(os.environ, COLUMNS="80")
        with width, contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            cli.main([*words, "--help"])
        head = " ".join(["forerun", *words])
        text += [
            head,
            "-" * len(head),
            "",
            ".. code-block:: text",
            "",
            *(f"    {line}" for line in out.getvalue().splitlines()),
            "",
        ]
    return "\n".join(text)


def contents(pages: dict[str, str]) -> dict[str, str]:
    """The tables of contents."""
    others = [n.removeprefix("forerun.") for n in NAMESPACES]
    parts = {
        "index": (
            "The package",
            [
                "forerun",
                "profiler",
                "command",
                "safetensors",
                "extend",
                "as_numpy",
                "testing",
                "pytest_plugin",
                "onnx",
                "sklearn",
            ],
        ),
        "np": (
            "NumPy's names",
            [
                *(n for n in pages if n.startswith("np-")),
                *(n for n in others if n.startswith("np.")),
            ],
        ),
        "networks": (
            "Gradients and networks",
            [
                "npx",
                "npx.image",
                "npx.random",
                "autograd",
                "distributed",
                *(n for n in others if n.startswith("gluon")),
                "optimizer",
                "lr_scheduler",
                "kvstore",
                "metric",
                "init",
                "image",
            ],
        ),
        "spellings": (
            "Other spellings",
            [*(n for n in others if n.startswith("torch")), "nd", "nd.random", "compat", "d2l"],
        ),
    }
    about = "Every public function and class, from its docstring. The examples run as tests."
    return {
        name: "\n".join(
            [title(head), about, "", ".. toctree::", "   :maxdepth: 1", "", *(f"   {p}" for p in inside), ""]
        )
        for name, (head, inside) in parts.items()
    }
