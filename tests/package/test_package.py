"""The package as others see it: the cost of its import, its types, its version, its docstrings."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import inspect
import math
import pathlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from types import ModuleType
from typing import Any

import pytest

import forerun
from forerun import _core
from forerun.ops.elementwise import arithmetic, bitwise, exponential
from tests.support.many_cases import for_each
from tests.support.paths import ROOT
from tests.support.processes.subprocesses import run_python

FRONT_ENDS = ("np", "npx", "autograd", "gluon", "init", "torch", "d2l", "profiler", "tour", "optimizer", "typing",
              "extend", "testing")  # fmt: skip


def printed_words(program: str) -> list[str]:
    """The words that a program prints in a Python of its own."""
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def public_modules() -> list[str]:
    found = ["forerun"]
    for module in pkgutil.walk_packages(forerun.__path__, "forerun."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            found.append(module.name)
    return found


MODULES = public_modules()


def namespaces() -> dict[str, ModuleType]:
    """Return the modules that a user finds by `dir`: the package, those that it lists, and so on."""
    found: dict[str, ModuleType] = {}
    left = [importlib.import_module(f"forerun{name}") for name in ("", ".compat", ".nd", ".pytest_plugin")]
    while left:
        module = left.pop()
        if module.__name__ not in found and module.__name__.startswith("forerun"):
            found[module.__name__] = module
            left += [v for v in (getattr(module, name) for name in dir(module)) if isinstance(v, ModuleType)]
    return found


NAMESPACES = namespaces()
OTHER_NAMES = {  # that a module lists beside `__all__`: looked up when they are used, or by pytest
    "forerun.nd": importlib.import_module("forerun.nd")._SAME_IN_NP
    | importlib.import_module("forerun.nd")._SAME_IN_NPX,
    "forerun.pytest_plugin": {"pytest_configure", "pytest_runtest_call"},
}


class TestImport:
    def test_brings_no_front_end_and_no_other_package(self):
        loaded = printed_words(
            "import sys, numpy\nbefore = set(sys.modules)\nimport forerun\nprint(*set(sys.modules) - before)"
        )
        assert "forerun._core" in loaded
        assert {name.split(".")[0] for name in loaded} - sys.stdlib_module_names == {"forerun"}
        assert not [name for name in loaded if name.split(".")[1:2] and name.split(".")[1] in FRONT_ENDS]

    def test_namespace_brings_no_other_front_end(self):
        loaded = printed_words("import sys\nimport forerun\nfrom forerun import np\nprint(*sys.modules)")
        parts = {name.split(".")[1] for name in loaded if name.startswith("forerun.")}
        assert parts & set(FRONT_ENDS) == {"np", "autograd"}  # operations are made with the tape
        assert not {"matplotlib", "sklearn", "scipy", "pandas", "asyncio", "torch"} & set(loaded)

    @pytest.mark.skipif(not pathlib.Path("/proc/self/task").exists(), reason="counts threads in /proc")
    def test_starts_no_threads(self):
        before, after, used = map(
            int,
            printed_words(
                "import os, numpy\nthreads = lambda: len(os.listdir('/proc/self/task'))\nprint(threads())\n"
                "import forerun\nfrom forerun import np\nprint(threads())\n"
                "forerun.configure(workers=2)\n(np.ones(100_000) + 1).wait()\nprint(threads())"
            ),
        )
        assert after == before
        assert used >= before + 2

    @pytest.mark.parametrize("name", FRONT_ENDS)
    def test_front_ends_are_imported_on_first_use(self, name):
        assert printed_words(f"import forerun\nprint(forerun.{name}.__name__)") == [f"forerun.{name}"]

    def test_dir_lists_the_public_names(self):
        names = [name for name in dir(forerun) if not name.startswith("_")]
        assert names == sorted(forerun.__all__)
        values = {name: getattr(forerun, name) for name in names}
        assert [n for n, v in values.items() if isinstance(v, ModuleType) != (n in forerun._MODULES)] == []
        others = {n for n, v in values.items() if not getattr(v, "__module__", "forerun").startswith("forerun")}
        assert others == set()
        assert {"annotations", "Any", "importlib", "lifecycle", "ops", "config_"}.isdisjoint(names)

    def test_every_module_can_be_imported(self):
        program = "before = set(dir())\nfrom forerun import *\nprint(*set(dir()) - before - {'before'})"
        assert set(printed_words(program)) == set(forerun.__all__)

    @pytest.mark.parametrize("name", sorted(NAMESPACES))
    def test_a_namespace_lists_the_public_names_alone(self, name):
        module = NAMESPACES[name]
        names = {n for n in dir(module) if not n.startswith("__")}
        assert names == {*module.__all__, *OTHER_NAMES.get(name, ())}
        values = [getattr(module, n) for n in names]
        assert {v.__name__ for v in values if isinstance(v, ModuleType)} <= NAMESPACES.keys()
        assert [v for v in values if getattr(v, "__module__", None) in ("__future__", "collections.abc")] == []

    def test_the_namespaces_of_the_reference_are_public(self):
        source = ast.parse((ROOT / "docs" / "_ext" / "reference.py").read_text(encoding="utf-8"))
        tables = [s for s in source.body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "NAMESPACES"]
        assert set(ast.literal_eval(tables[0].value)) <= NAMESPACES.keys()

    def test_names_that_no_namespace_lists_can_be_imported(self):
        from forerun.np import host, one_hot
        from forerun.torch import as_dtype

        assert all(map(callable, (host, one_hot, as_dtype)))

    def test_unknown_name(self):
        with pytest.raises(AttributeError, match="module 'forerun' has no attribute 'nothing'"):
            forerun.nothing  # noqa: B018

    def test_pace_is_the_function(self):
        assert list(forerun.pace(range(3))) == [0, 1, 2]


# A function or an object of a package that hides a module of its name, and why.
HIDDEN_MODULES = {"forerun.gluon.model_zoo.vision.alexnet": "MXNet's model zoo has both, by these names"}


def hidden_modules(folder: pathlib.Path, package: str) -> set[str]:
    """Return the modules of a package, and of those in it, of which the package's attribute is something else."""
    namespace = vars(importlib.import_module(package))
    found = set()
    for path in folder.iterdir():
        name = f"{package}.{path.stem}"
        is_package = (path / "__init__.py").exists()
        if is_package or (path.suffix == ".py" and not path.stem.startswith("__")):
            importlib.import_module(name)  # which sets the attribute, unless the package has set it afterwards
            found |= {name} if namespace[path.stem] is not sys.modules[name] else set()
            found |= hidden_modules(path, name) if is_package else set()
    return found


def test_no_name_of_a_package_hides_a_module_of_that_name() -> None:
    assert hidden_modules(ROOT / "src" / "forerun", "forerun") == set(HIDDEN_MODULES)


def test_the_check_sees_a_hidden_module(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sparse" / "inner").mkdir(parents=True)
    (tmp_path / "sparse" / "__init__.py").touch()
    (tmp_path / "sparse" / "inner" / "__init__.py").write_text("from .count import count as count\n")
    (tmp_path / "sparse" / "inner" / "count.py").write_text("def count():\n    pass\n")
    (tmp_path / "sparse" / "other.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert hidden_modules(tmp_path / "sparse", "sparse") == {"sparse.inner.count"}


class TestMetadata:
    def test_version(self):
        assert importlib.metadata.version("forerun") == forerun.__version__

    def test_depends_on_numpy_alone(self):
        requires = importlib.metadata.requires("forerun") or []
        assert [re.split("[<>]", r)[0] for r in requires if "extra ==" not in r] == ["numpy"]

    def test_requirements_have_version_bounds(self):
        """A version that is not there yet may be anything: each requirement says from where and up to where."""
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
        project = settings["project"]
        extras = [r for names in project["optional-dependencies"].values() for r in names]
        wanted = settings["build-system"]["requires"] + project["dependencies"] + extras
        assert [r for r in wanted if not r.startswith("forerun[") and not (">=" in r and "<" in r)] == []

    def test_command(self):
        (command,) = [e for e in importlib.metadata.entry_points(group="console_scripts") if e.name == "forerun"]
        assert callable(command.load())

    def test_types_are_announced(self):
        assert forerun.__file__ is not None
        assert (pathlib.Path(forerun.__file__).parent / "py.typed").exists()

    def test_stub_has_the_names_of_the_core(self):
        stub = pathlib.Path(_core.__file__).with_name("_core.pyi")
        tree = ast.parse(stub.read_text())
        named = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        named |= {ast.unparse(node.target) for node in tree.body if isinstance(node, ast.AnnAssign)}
        assert named == {name for name in vars(_core) if not name.startswith("__")}


PARTS = {  # parts of a library that need a notice, and the text by which they are found in it
    "openblas": ("lib/libforerun_openblas.so", b"OpenBLAS", "BSD-3-Clause"),
    "openblas, of GCC": ("lib/libforerun_openblas.so", b"OpenBLAS", "GCC RUNTIME LIBRARY EXCEPTION"),
    "nanobind": ("_core", b"nanobind", "Redistribution and use"),
    "robin_map": ("_core", b"nanobind", "MIT License"),
    "numpy": ("_core", b"numpy", "NumPy Developers"),
}


class TestLicences:
    """Of all that a wheel carries; docs/howto/install.md lists them."""

    def folder(self) -> pathlib.Path:
        return pathlib.Path(_core.__file__).parent

    @pytest.mark.parametrize("name", PARTS)
    def test_of_parts_in_a_library(self, name):
        library, sign, words = PARTS[name]
        file = pathlib.Path(_core.__file__) if library == "_core" else self.folder() / library
        assert sign in file.read_bytes()
        assert words in (self.folder() / "licenses" / f"{name.split(',')[0]}.txt").read_text()

    def test_no_library_is_unknown(self):
        known = {"libforerun_openblas.so"}
        assert {f.name for f in (self.folder() / "lib").iterdir()} - known == {
            f.name
            for f in (self.folder() / "lib").glob("lib[gq]*")  # the Fortran run time, in older OpenBLAS wheels
        }

    def test_the_page_lists_the_licences_in_the_package(self):
        page = (ROOT / "docs" / "howto" / "install.md").read_text()
        carried = {f.name for f in (self.folder() / "licenses").iterdir()}
        assert carried == {f"{name.split(',')[0]}.txt" for name in PARTS}
        assert carried == set(re.findall(r"`(\w+\.txt)`", page))
        assert all(name.removesuffix(".txt") in (ROOT / "NOTICE").read_text().lower() for name in carried)


REMARK = re.compile(r"(\w+\([^()]*\d[^()]*\)) is (-?[\d.]*\d|True|False)")  # "floor(-1.5) is -2.0"


def names_of(module: ModuleType) -> list[str]:
    """Return the public names of a module: its `__all__`, or its own definitions with a public name."""
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", None) == module.__name__]
    return list(getattr(module, "__all__", [n for n in own if not n.startswith("_")]))


def documented(thing: Any) -> bool:
    """Whether its docstring begins with a sentence."""
    text = inspect.getdoc(thing)
    return bool(text) and text.split("\n\n")[0].rstrip().endswith((".", ":"))


class TestDocstrings:
    @for_each("name", MODULES)
    def test_module(self, name):
        assert documented(importlib.import_module(name))

    @for_each("name", MODULES)
    def test_names_exist(self, name):
        module = importlib.import_module(name)
        names = names_of(module)
        assert len(set(names)) == len(names)
        assert [n for n in names if not hasattr(module, n)] == []

    @for_each("name", MODULES)
    def test_functions_and_classes(self, name):
        module = importlib.import_module(name)
        things = {n: getattr(module, n) for n in names_of(module)}
        defined = {n: v for n, v in things.items() if getattr(v, "__module__", "").startswith("forerun")}
        assert [n for n, v in defined.items() if callable(v) and not documented(v)] == []

    @for_each("name", [m for m in MODULES if m.startswith("forerun.ops.")])
    def test_functions_of_ops_have_an_example(self, name):
        module = importlib.import_module(name)
        functions = {n: v for n, v in vars(module).items() if n in getattr(module, "__all__", [])}
        routines = {n: v for n, v in functions.items() if inspect.isroutine(inspect.unwrap(v))}
        assert [n for n, v in routines.items() if ">>>" not in v.__doc__] == []

    @pytest.mark.parametrize("module", [arithmetic, bitwise, exponential])
    def test_examples_in_elementwise_docstrings_hold(self, module):
        names = {**{n: getattr(module, n) for n in module.__all__}, "inf": math.inf, "nan": math.nan}
        examples = [m for op in names.values() for m in REMARK.findall(getattr(op, "__doc__", ""))]
        assert len(examples) > 2
        assert [m for m in examples if eval(m[0], names).item() != eval(m[1])] == []

    @for_each("name", MODULES)
    def test_methods(self, name):
        module = importlib.import_module(name)
        missing = []
        for cls in vars(module).values():
            if not inspect.isclass(cls) or cls.__module__ != name or cls.__name__.startswith("_"):
                continue
            for key, method in vars(cls).items():
                is_own = inspect.isfunction(method) and method.__module__ == name
                if is_own and not key.startswith("_") and key != "forward" and not documented(getattr(cls, key)):
                    missing.append(f"{cls.__name__}.{key}")
        assert missing == []


def test_the_core_needs_no_thread_local_variable_of_other_libraries_at_a_fixed_place() -> None:
    """Such a place may be missing when many libraries have been loaded before: an import after pandas failed so."""
    listed = subprocess.run(["readelf", "-rW", _core.__file__], capture_output=True, text=True, check=True).stdout
    of_others = [line for line in listed.splitlines() if re.search(r"_TPOFF64 .* \+ ", line)]  # with a name
    assert "R_" in listed
    assert of_others == []


SCRIPTS = [
    p for name in ("benchmarks", "stress", "verification", "tools", "examples") for p in (ROOT / name).rglob("*.py")
]


def missing_names(tree: ast.Module) -> list[str]:
    """Return the names that a script takes of the package and that do not exist, also as attributes of its modules."""
    modules: dict[str, ModuleType] = {}
    missing: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "forerun" and not node.level:
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name) and importlib.util.find_spec(f"{node.module}.{alias.name}") is None:
                    missing.append(f"{node.module}.{alias.name}")
                elif isinstance(found := getattr(module, alias.name, None), ModuleType):
                    modules[alias.asname or alias.name] = found
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module is not None and not hasattr(module, node.attr):
                missing.append(f"{module.__name__}.{node.attr}")
    return missing


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_scripts_use_existing_names(path: pathlib.Path) -> None:
    assert missing_names(ast.parse(path.read_text(encoding="utf-8"))) == []


def test_missing_names_are_found() -> None:
    text = "from forerun.distributed import _peers, nothing\n_peers.told.cache_clear()\n_peers.rank()"
    assert missing_names(ast.parse(text)) == ["forerun.distributed.nothing", "forerun.distributed._peers.told"]
