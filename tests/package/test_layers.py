"""Folders use only folders below them: C++ includes in core/, Python imports in src/forerun/.

Inside of a folder of the package too: neither its files nor its folders use each other around.
"""

import ast
import functools
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import forerun
from tests.support.many_cases import for_each
from tests.support.paths import ROOT
from tests.support.processes.subprocesses import output

sys.path.insert(0, str(ROOT / "tools"))
import counts

CORE = ROOT / "core"
PACKAGE = ROOT / "src" / "forerun"

CORE_ORDER = [
    "base", "trace", "engine", "memory", "array", "device", "capture", "cpu", "placement", "net", "pjrt", "embed",
    "python",
]  # fmt: skip
# The rooms of core/engine, from the bottom up; its own files are above them.
ENGINE_ORDER = ["sync", "operations", "devices", "reports", "graph", "passes", "scheduling", "execution", ""]
# The rooms of core/cpu, from the bottom up. `kernels` itself has the files that all kernels share.
CPU_ORDER = [
    "loops", "codegen", "kernels", "kernels/elementwise", "kernels/gemm", "kernels/reduce", "kernels/fusion",
    "kernels/copy", "kernels/conv", "kernels/winograd", "kernels/random", "kernels/rnn", "kernels/signal",
    "kernels/sort", "",
]  # fmt: skip
# The rooms of core/python, from the bottom up. Of the files outside of rooms, "module" puts the rooms together, and all
# rooms use the others: "base".
CORE_PYTHON_ORDER = [
    "base", "runtime", "object", "devices", "net", "capture", "dispatch", "ops", "autograd", "direct", "array",
    "module",
]  # fmt: skip
CORE_PYTHON_TOP = {"module.cpp", "wiring.cpp"}
# Kernels of the CPU that only arrays in the host's memory get: Winograd's convolution, for which other devices get the
# plain one, and the layout of a recurrent network's weights, which other devices take as they are.
_HOSTS = ("Points", "RecurPack", "Repeat", "Segments", "Winograd", "WinogradWeight")
FOR_THE_HOST_ALONE = {f"{name}Kernel" for name in _HOSTS}
MOST_MEMBER_FUNCTIONS = 25  # of a class
LARGE_CLASSES = {  # of the package that have more, and why
    "ndarray": "the methods of NumPy's and MXNet's arrays",
    "Block": "the methods of MXNet's blocks",
    "Parameter": "the methods of MXNet's parameters",
    "Builder": "a method for each operation of StableHLO",
}
KNOW_PYTHON = {"python"}
PYTHON_HEADERS = re.compile(r"(Python\.h|nanobind/|numpy/)")

# From the bottom up; names in one row may use each other. The package itself (`__init__`) is on top.
PYTHON_ORDER = [
    {"_core", "_runtime", "_display", "_launch", "_codegen", "_live"},
    {"autograd"},
    {"ops"},
    {"_capture", "_io", "_pjrt"},
    {"_array"},
    {"_interop"},
    {"np", "npx", "nd", "safetensors", "typing", "extend"},
    {"distributed"},
    {"init", "optimizer", "lr_scheduler", "metric", "image", "kvstore"},
    {"gluon"},
    {"torch", "d2l", "compat", "as_numpy", "onnx", "sklearn"},
    {"profiler"},
    {"tour", "cli", "testing", "pytest_plugin", "__main__"},
    {"_wiring"},
]
PYTHON_RANK = {name: rank for rank, row in enumerate(PYTHON_ORDER) for name in row}
TOP = len(PYTHON_ORDER)
# The modules on top connect the parts as they are imported; one part asks for that, when it is complete itself.
FROM_ABOVE = {("np/__init__.py", "forerun._wiring.arrays")}

# The modules that may import `_core`; all others take names from a `core.py` there, which lists them.
BORDER = ("__init__.py", "_wiring/", "_runtime/", "_capture/", "autograd/", "ops/_base/")

# Imports of the package inside of functions. The list is to become shorter.
LATE_IMPORTS = {
    ("_wiring/engine.py", "forerun._pjrt"),  # programs without GPUs, and without guards, do not import their modules
    ("_wiring/engine.py", "forerun.profiler.guarding"),
    ("_array/ndarray.py", "forerun._runtime.asyncio"),  # asyncio is long to import
    ("profiler/events.py", "forerun.profiler._picture.picture"),  # a notebook shows a trace as a picture
    ("cli/bench.py", "forerun"),  # a command imports its libraries
    ("cli/info.py", "forerun"),
    ("cli/ranks.py", "forerun._launch"),
    ("cli/ranks.py", "forerun.profiler"),
    ("cli/run.py", "forerun"),
    ("cli/tour.py", "forerun"),
    ("cli/trace.py", "forerun"),
    ("cli/whatif.py", "forerun"),
}

# Imports of other modules inside of functions, each with its reason.
OPTIONAL = "an optional dependency"
LONG = "`import forerun` takes less time without it, and few programs need it"
POSIX = "Windows lacks it, or only Windows has it"
OTHERS_LATE_IMPORTS = {
    "IPython": OPTIONAL, "PIL": OPTIONAL, "huggingface_hub": OPTIONAL, "llvmlite": OPTIONAL, "ml_dtypes": OPTIONAL,
    "mlxtend": OPTIONAL,
    "onnx": OPTIONAL, "opentelemetry": OPTIONAL, "pyarrow": OPTIONAL, "sklearn": OPTIONAL,
    "asyncio": LONG, "difflib": LONG, "shutil": LONG, "zipfile": LONG, "zlib": LONG,
    "fcntl": POSIX, "msvcrt": POSIX, "resource": POSIX,
}  # fmt: skip


def core_files() -> list[Path]:
    files = (path for path in CORE.rglob("*") if path.suffix in {".h", ".cpp"})
    return sorted(path for path in files if path.relative_to(CORE).parts[0] != "tests")


def namespace_level(path: Path) -> str:
    """Return the text of a C++ file without comments, bodies in braces, and names that only this file can use."""
    text = re.sub(r"//[^\n]*", "", re.sub(r"namespace \{.*?\}  // namespace\n", "", path.read_text(), flags=re.S))
    text = (
        re.sub(r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\])\'', '""', text)
        .replace("namespace forerun {", "")
        .replace(" = {}", "")
    )
    depth, kept = 0, []
    for character in text:
        depth += character == "{"
        if depth <= 0 or (depth == 1 and character == "{"):
            kept.append(character)
        depth -= character == "}"
    return "".join(kept)


FUNCTION = (
    r"^(?!static|inline|template|typedef|using)(?:\[\[\w+\]\] )?[\w:<>*&, ]*?[\w>*&] ?\b(?<!::)(\w+)\((?:[^;{}]*)\)"
)


def functions(path: Path, end: str) -> set[str]:
    """The functions at namespace level, of this file's linkage or others': those defined, or those declared."""
    if not path.exists():
        return set()
    return set(re.findall(FUNCTION + r"\s*" + end, namespace_level(path), re.M))


def python_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def layer_name(path: Path) -> str:
    """Return the first part of a module's path inside the package: its folder or file name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def statements(path: Path) -> tuple[list[ast.Import | ast.ImportFrom], set[int], set[int]]:
    """Return the imports of a file, the lines that only type checkers execute, and those of imports in functions."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    blocks = [n for n in nodes if isinstance(n, ast.If) and ast.unparse(n.test).strip("_") == "TYPE_CHECKING"]
    inside = [n for n in nodes if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
    kinds = (ast.Import, ast.ImportFrom)
    late = {n.lineno for function in inside for n in ast.walk(function) if isinstance(n, kinds)}
    return [n for n in nodes if isinstance(n, kinds)], {n.lineno for block in blocks for n in block.body}, late


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and full name of everything from the package that a file imports, inside functions too."""
    package = ["forerun", *path.relative_to(PACKAGE).parts[:-1]]
    for node in statements(path)[0]:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{source}.{alias.name}" for alias in node.names]
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "forerun")


def for_types_alone(path: Path) -> set[int]:
    """Lines of imports that only type checkers execute."""
    return statements(path)[1]


def inside_functions(path: Path) -> set[int]:
    """Lines of imports that are executed when a function is called."""
    return statements(path)[2]


def is_listed(path: Path, name: str) -> bool:
    """Return whether an import inside of a function is in the list, itself or as part of a listed module."""
    file = path.relative_to(PACKAGE).as_posix()
    return any(file == f and f"{name}.".startswith(f"{listed}.") for f, listed in LATE_IMPORTS)


def uses(folder: Path) -> dict[str, set[str]]:
    """Which of the files and folders in a folder import which others; listed late imports do not count."""
    prefix = ".".join(["forerun", *folder.relative_to(PACKAGE).parts, ""])
    children = {path.stem for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"} - {"__init__"}
    found: dict[str, set[str]] = {child: set() for child in children}
    for path in sorted(folder.rglob("*.py")):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        passed = for_types_alone(path), inside_functions(path)
        for line, name in imported_modules(path):
            used = name.removeprefix(prefix).split(".")[0] if name.startswith(prefix) else ""
            listed = line in passed[1] and is_listed(path, name)
            if own in children and used in children - {own} and line not in passed[0] and not listed:
                found[own].add(used)
    return found


def circles(graph: dict[str, set[str]]) -> set[str]:
    """The groups of names that use each other, around."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        left = list(graph[start])
        while left:
            if (name := left.pop()) not in seen:
                seen.add(name)
                left += graph[name]
        return seen

    below = {name: reached(name) for name in graph}
    around = (name for name in graph if name in below[name])
    return {" ".join(sorted(other for other in below[name] if name in below[other])) for name in around}


def folders() -> list[Path]:
    """All folders of the package, itself too."""
    return [PACKAGE, *sorted({path.parent for path in python_files()} - {PACKAGE})]


def import_rank(name: str) -> int:
    """Return the rank of an imported module: the package's own names count as on top."""
    parts = name.split(".")
    return PYTHON_RANK.get(parts[1], TOP) if len(parts) > 1 else TOP


@for_each("path", core_files(), ids=lambda path: str(path.relative_to(CORE)))
def test_core_includes_only_lower_folders(path: Path) -> None:
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


BODIES = [path for path in core_files() if path.relative_to(CORE).parts[0] != "tests" and path.name != "module.cpp"]
# Each file may have one of these, which the table of one file names.
ENTRIES = re.compile(r"init_\w+|add_direct_\w+")


@for_each("path", sorted({path.with_suffix("") for path in BODIES}), ids=lambda path: str(path.relative_to(CORE)))
def test_a_header_declares_the_functions_of_its_body(path: Path) -> None:
    declared, defined = functions(path.with_suffix(".h"), ";"), functions(path.with_suffix(".cpp"), r"\{")
    assert declared == {name for name in defined if not ENTRIES.fullmatch(name)}


def test_the_check_sees_functions(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text(
        "namespace forerun {\nint f(int a,\n      int b);  // text;\ninline int g() { return f(); }\n}"
    )
    (tmp_path / "a.cpp").write_text(
        "namespace forerun {\nnamespace {\nint h() {\n}\n}  // namespace\nint f(int, int) {\n  return h();\n}\n"
        "void A::m() {}\n[[noreturn]] void* k() {}\n}"
    )
    assert functions(tmp_path / "a.h", ";") == {"f"}
    assert functions(tmp_path / "a.cpp", r"\{") == {"f", "k"}


def files_of(folder: str) -> list[Path]:
    """Return the files of a folder of the core."""
    return [path for path in core_files() if path.is_relative_to(CORE / folder)]


def includes_from_above(path: Path, folder: str, order: list[str]) -> list[str]:
    """Return the headers of a folder of the core that a file in it includes from rooms above its own."""
    rank = {room: number for number, room in enumerate(order)}
    own = rank[path.relative_to(CORE / folder).as_posix().rpartition("/")[0]]
    targets = re.findall(rf'#include "{folder}/([^"]+)"', path.read_text(encoding="utf-8"))
    return [target for target in targets if rank[target.rpartition("/")[0]] > own]


@for_each("path", files_of("engine"), ids=lambda path: str(path.relative_to(CORE)))
def test_folders_of_the_engine_include_only_lower_ones(path: Path) -> None:
    assert includes_from_above(path, "engine", ENGINE_ORDER) == []


@for_each("path", files_of("cpu"), ids=lambda path: str(path.relative_to(CORE)))
def test_folders_of_the_cpu_include_only_lower_ones(path: Path) -> None:
    assert includes_from_above(path, "cpu", CPU_ORDER) == []


def test_the_check_sees_an_include_from_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "CORE", tmp_path)
    file = tmp_path / "cpu" / "kernels" / "a.h"
    file.parent.mkdir(parents=True)
    file.write_text('#include "cpu/loops/b.h"\n#include "cpu/kernels/c.h"\n#include "cpu/kernels/copy/d.h"\n')
    assert includes_from_above(file, "cpu", CPU_ORDER) == ["kernels/copy/d.h"]


def folder_of_core_python(path: str) -> str:
    """Return the room of a file, which is given by its path below core/python."""
    room, _, name = path.partition("/")
    return room if name else "module" if path in CORE_PYTHON_TOP else "base"


def includes_of_higher_folders(path: Path) -> set[tuple[str, str]]:
    """Return the room of a file of core/python with each header of a room above that it includes."""
    own = folder_of_core_python(path.relative_to(CORE / "python").as_posix())
    targets = re.findall(r'#include "python/([^"]+)"', path.read_text(encoding="utf-8"))
    rank = CORE_PYTHON_ORDER.index
    return {(own, target) for target in targets if rank(folder_of_core_python(target)) > rank(own)}


@for_each("path", files_of("python"), ids=lambda path: str(path.relative_to(CORE)))
def test_folders_of_the_module_include_only_lower_ones(path: Path) -> None:
    assert includes_of_higher_folders(path) == set(), f"{path.relative_to(ROOT)}: a room above"


def test_the_check_sees_an_include_of_a_higher_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "CORE", tmp_path)
    file = tmp_path / "python" / "ops" / "a.cpp"
    file.parent.mkdir(parents=True)
    file.write_text('#include "python/autograd/leaf.h"\n#include "python/bindings.h"\n#include "python/module.cpp"\n')
    assert includes_of_higher_folders(file) == {("ops", "autograd/leaf.h"), ("ops", "module.cpp")}


# Code for one kind of processor is that of the CPU, and a few lines below it: clocks, and choices of instructions.
FOR_A_PROCESSOR = re.compile(
    r"intrin\.h|arm_neon|\b_mm\d*_|__builtin_ia32|__builtin_cpu|__(x86_64|aarch64|AVX\w*)__|__rdtsc"
)


def test_code_for_one_processor_has_its_place() -> None:
    found = {
        str(path.relative_to(CORE))
        for path in sorted(CORE.rglob("*.[hc]*"))
        if not path.is_relative_to(CORE / "cpu") and FOR_A_PROCESSOR.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"base/simd/cycles.h", "base/half.h", "base/simd/simd_target.h"}


def test_kernels_of_the_cpu_describe_themselves_to_devices() -> None:
    lacking = {name for name, described in counts.kernels(ROOT).items() if not described}
    assert lacking == FOR_THE_HOST_ALONE


def test_the_count_sees_a_kernel_without_a_description(tmp_path: Path) -> None:
    file = tmp_path / "core" / "cpu" / "kernels" / "a.cpp"
    file.parent.mkdir(parents=True)
    file.write_text(
        "class AKernel final : public Kernel {\n  bool describe(Op&, OpSpec&) const override;\n};\n"
        "class BKernel final : public Kernel {\n  void run(Op&, int64_t) override;\n};\n"
    )
    assert counts.kernels(tmp_path) == {"AKernel": True, "BKernel": False}


@for_each("path", core_files(), ids=lambda path: str(path.relative_to(CORE)))
def test_classes_of_the_core_are_small(path: Path) -> None:
    for name, count in counts.member_functions(path).items():
        assert count <= MOST_MEMBER_FUNCTIONS, f"{path.relative_to(ROOT)}: {name} has {count} member functions"


def test_the_count_sees_member_functions_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.h"
    file.write_text(
        "class A final : public B {\n public:\n  A();\n  int f(int a,\n        int b) const;\n  void g() override {\n"
        "    h(1);\n    int i = k(2);\n  }\n\n private:\n  template <class T>\n  static T* l(T* x) {\n"
        "    return m(x);\n  }\n"
        "  int n_ = o(1);\n};\n"
    )
    assert counts.member_functions(file) == {"A": 3}


def large_classes(path: Path) -> dict[str, int]:
    """Return the classes of a Python file that define too many methods, and how many each does."""
    classes = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ClassDef)]
    kinds = ast.FunctionDef, ast.AsyncFunctionDef
    counts = {one.name: len({node.name for node in one.body if isinstance(node, kinds)}) for one in classes}
    return {name: n for name, n in counts.items() if n > MOST_MEMBER_FUNCTIONS}


def test_classes_of_the_package_are_small() -> None:
    found = {name: n for path in python_files() for name, n in large_classes(path).items()}
    assert found.keys() <= LARGE_CLASSES.keys(), f"classes must have at most {MOST_MEMBER_FUNCTIONS} methods"


def test_the_check_sees_a_large_class(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    for n in (MOST_MEMBER_FUNCTIONS, MOST_MEMBER_FUNCTIONS + 1):
        file.write_text("class A:\n" + "".join(f"    def f{i}(self): pass\n" for i in range(n)))
        assert large_classes(file) == ({"A": n} if n > MOST_MEMBER_FUNCTIONS else {})


@for_each("path", python_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_package_imports_only_lower_folders(path: Path) -> None:
    own = layer_name(path)
    if own == "__init__":
        return
    assert own in PYTHON_RANK, f"forerun.{own} has no place in the order {PYTHON_ORDER}"
    of_types = for_types_alone(path)
    for line, name in imported_modules(path):
        if line in of_types and name.startswith("forerun.typing."):
            continue  # which names the class of arrays for annotations
        place = f"src/forerun/{path.relative_to(PACKAGE)}:{line}"
        if (path.relative_to(PACKAGE).as_posix(), name) in FROM_ABOVE or is_listed(path, name):
            continue
        assert import_rank(name) <= PYTHON_RANK[own], f"{place}: {own} may not import {name}"


@for_each("path", python_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_core_is_imported_in_few_places(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    if not place.startswith(BORDER):
        lines = [line for line, name in imported_modules(path) if f"{name}.".startswith("forerun._core.")]
        assert not lines, f"src/forerun/{place}:{lines[0]}: must take it from `core` in one of {BORDER[2:]}"


@pytest.mark.parametrize("name", ["_runtime.core", "_capture.core", "ops._base.core"])
def test_core_modules_are_the_core(name: str) -> None:
    """Without a function in between: calls take no longer."""
    module = importlib.import_module(f"forerun.{name}")
    assert all(getattr(module, each) is getattr(forerun._core, each) for each in module.__all__)


@for_each("path", folders(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_parts_of_a_folder_use_each_other_in_one_direction(path: Path) -> None:
    """The package's own order is above: the modules in one row of it may use each other."""
    if path == PACKAGE:
        return
    assert not circles(uses(path))


def test_imports_inside_of_functions_are_listed() -> None:
    found = set()
    for path in python_files():
        late = inside_functions(path)
        for line, name in imported_modules(path):
            assert line not in late or is_listed(path, name), f"{path.relative_to(PACKAGE)}:{line}: {name}"
            found |= {(path.relative_to(PACKAGE).as_posix(), name)} if line in late else set()
    unused = {(f, n) for f, n in LATE_IMPORTS if not any(f == g and f"{m}.".startswith(f"{n}.") for g, m in found)}
    assert not unused, "these are not imported inside of a function any more"


def test_late_imports_of_other_modules_have_a_reason() -> None:
    """Each is in the list; those that take long are not imported by `import forerun`."""
    found = set()
    for path in python_files():
        nodes, _, late = statements(path)
        for node in nodes:
            if node.lineno in late and not getattr(node, "level", 0):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                found |= {name.split(".")[0] for name in names}
    assert found - {"forerun"} == set(OTHERS_LATE_IMPORTS)
    long = [name for name, reason in OTHERS_LATE_IMPORTS.items() if reason == LONG]
    loaded = output(f"import sys, forerun\nprint(*(name for name in {long} if name in sys.modules))")
    assert loaded == []


def test_the_check_sees_circles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    for name, text in {
        "ops/a/one.py": "from ..b.two import f\n",
        "ops/b/two.py": "def f():\n    from ..c import three\n",
        "ops/c/three.py": "from ...ops import a\n",
        "ops/d.py": "from . import a\nif TYPE_CHECKING:\n    from .e import g\n",
        "ops/e.py": "from .d import h\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert circles(uses(tmp_path / "ops")) == {"a b c"}
    monkeypatch.setitem(globals(), "LATE_IMPORTS", {("ops/b/two.py", "forerun.ops.c")})
    assert circles(uses(tmp_path / "ops")) == set()


def test_the_check_sees_relative_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    file = tmp_path / "ops" / "linear" / "product.py"
    file.parent.mkdir(parents=True)
    file.write_text("from ... import gluon\nfrom ..basic import add\nimport forerun.np as fnp\nimport numpy\n")
    found = dict(imported_modules(file))
    assert found == {1: "forerun.gluon", 2: "forerun.ops.basic.add", 3: "forerun.np"}
    assert [import_rank(name) for name in found.values()] == [PYTHON_RANK[x] for x in ("gluon", "ops", "np")]


def test_the_top_level_has_public_modules_only() -> None:
    """All else is in folders with `_`."""
    modules = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}
    modules = {name for name in modules if not name.startswith("_")}
    assert modules == {*forerun._MODULES, "cli", "compat", "nd", "ops", "pytest_plugin"}
