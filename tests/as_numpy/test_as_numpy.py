"""Programs written for NumPy, run as they are: the same output, the files that get forerun, and the report."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, as_numpy, cli, np
from forerun.as_numpy import install_as_numpy, uninstall_as_numpy
from forerun.as_numpy.importing import Imports
from tests.support.paths import ROOT
from tests.support.processes import as_numpy_program
from tests.support.processes.as_numpy_program import Run
from tests.support.processes.subprocesses import PATIENCE, environment, run_forerun


def _benchmark() -> Any:
    """The runner of benchmarks/programs.py."""
    spec = importlib.util.spec_from_file_location("programs", ROOT / "benchmarks" / "programs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = _benchmark()


# --- the programs ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def fonts() -> None:
    """Matplotlib keeps its fonts' files open once it has drawn."""
    programs.output(programs.load("with_matplotlib", "numpy"), 20)


@pytest.fixture
def replaced() -> Iterator[None]:
    with as_numpy_program.numpy_replaced(programs.PROGRAMS):
        yield


@pytest.mark.usefixtures("replaced")
@pytest.mark.parametrize("name", programs.names())
def test_a_program_prints_its_output_with_numpy(name: str) -> None:
    numpy_program, forerun_program = programs.load(name, "numpy"), programs.load(name, "forerun")
    n = numpy_program.SIZES["tiny"]
    expected = programs.output(numpy_program, n)
    assert expected.count("\n") >= 3
    assert programs.difference(expected, programs.output(forerun_program, n)) is None
    assert forerun_program.np is not numpy_program.np
    assert numpy_program.np is numpy


def test_the_table_of_times_is_written_into_its_page() -> None:
    fast, slow = {"NumPy": 0.002, "forerun": 0.001, "ratio": 0.5}, {"NumPy": 0.001, "forerun": 0.002, "ratio": 2.0}
    name = next(iter(programs.WHY))
    text = programs.table({"small": {name: slow, "other": fast}, "medium": {name: fast, "other": {"wrong": "2"}}})
    rows = text.splitlines()[4:]
    assert rows[0] == f"| {name} | 1.00 | 2.00 | 2.00 | 0.50 | {programs.WHY[name]} |"
    assert rows[1] == "| other | 2.00 | 0.50 | other output |  |  |"
    assert rows[2] == "| **geometric mean** |  | **1.00** |  | **0.50** |  |"
    assert len({row.count("|") for row in text.splitlines()[2:]}) == 1
    page = (ROOT / "docs" / "howto" / "numpy.md").read_text(encoding="utf-8")
    assert programs.paged(programs.paged(page, "old"), "new") == programs.paged(page, "new")
    assert "\n\nnew\n\n" in programs.paged(page, "new")
    with pytest.raises(ValueError, match="marks must be there"):
        programs.paged("# Another page", "new")


def test_every_reason_is_a_program_s() -> None:
    assert set(programs.WHY) <= set(programs.names())


def test_functions_of_few_values_of_numpy_s_are_numpy_s(run: Run) -> None:
    names = run(
        "import numpy as np\n"
        "def made(x):\n"
        "    results = [np.sum(x), np.sqrt(x), np.maximum(x, 1.0), np.clip(x, 0, 1)]\n"
        "    return [*results, np.asarray(x), np.zeros_like(x), x + np.ones(3)]\n"
        "large = lambda x: [np.sum(x), np.sqrt(x)]\n"
    )
    few = numpy.arange(3.0)
    *results, a, b, c = names["made"](few)
    assert all(isinstance(x, (numpy.ndarray, numpy.generic)) for x in results)
    assert all(isinstance(x, _core.Array) for x in (a, b, c))
    assert [x.tolist() for x in results] == [3, numpy.sqrt(few).tolist(), [1, 1, 2], [0, 1, 1]]
    assert all(isinstance(x, _core.Array) for x in names["large"](numpy.ones(5000)))
    assert all(isinstance(x, _core.Array) for x in names["made"](np.arange(3.0)))


def test_programs_of_all_kinds_exist() -> None:
    assert len(programs.names()) >= 30


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("x 1.000000", "x 1.0000001", True),
        ("x 1.000000", "x 1.001", False),
        ("x 1", "y 1", False),
        ("x\n", "x\ny\n", False),
        ("[1 2]", "[1 3]", False),
        ("nan", "nan", True),
        ("True", "False", False),
    ],
)
def test_outputs_that_differ_are_distinguished(a: str, b: str, same: bool) -> None:
    assert (programs.difference(a, b) is None) is same


# --- who gets it ----------------------------------------------------------------------------------------


def test_a_module_that_nothing_has_imported_yet(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numpy.lib.recfunctions", raising=False)
    monkeypatch.delattr(numpy.lib, "recfunctions", raising=False)
    names = run("from numpy.lib import recfunctions as r\nfrom numpy import *\nimport numpy.lib\n")
    assert names["r"] is names["numpy"].lib.recfunctions
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        run("from numpy.lib import nothing\n", "other")


def test_every_way_to_import(run: Run) -> None:
    names = run(
        "import importlib\n"
        "import numpy, numpy as np, numpy.linalg, numpy.linalg as la, numpy.lib.stride_tricks\n"
        "from numpy import sin, random as r, linalg\n"
        "from numpy.linalg import norm\n"
        "from numpy.random import default_rng\n"
        "from numpy import *\n"
        "again = importlib.import_module('numpy'), importlib.import_module('numpy.linalg'), __import__('numpy')\n"
        "def later():\n"
        "    import numpy.fft as f\n"
        "    return f\n"
    )
    module = names["np"]
    assert module is names["numpy"]
    assert module is not numpy
    assert names["again"] == (module, module.linalg, module)
    assert names["la"] is names["linalg"] is module.linalg
    assert names["norm"] is module.linalg.norm
    assert names["norm"].__wrapped__ is np.linalg.norm
    assert names["sin"] is np.sin
    assert names["r"] is module.random
    assert names["cos"] is np.cos, "from numpy import *"
    assert names["later"]() is module.fft
    assert isinstance(names["ones"](2), _core.Array)


def test_modules_beside_the_script_and_code_it_executes(run: Run, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "beside_it.py").write_text("import numpy as np\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("from .inner import np\n")
    (tmp_path / "pack" / "inner.py").write_text("import numpy as np\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    names = run(
        "import numpy as np, beside_it, pack\n"
        "space = {}\n"
        "exec('import numpy', space)\n"
        "inside = {**globals()}\n"
        "exec('import numpy', inside)\n"
    )
    assert names["np"] is names["beside_it"].np is names["pack"].np
    assert names["space"]["numpy"] is names["inside"]["numpy"] is names["np"]
    for name in ("beside_it", "pack", "pack.inner"):
        sys.modules.pop(name)


def test_installed_packages_and_other_folders_keep_numpy(run: Run, tmp_path: Path, monkeypatch) -> None:
    elsewhere, installed = tmp_path.parent / "elsewhere", tmp_path / "env" / "lib" / "site-packages"
    for folder in (elsewhere, installed):
        folder.mkdir(parents=True)
        (folder / f"of_{folder.name.replace('-', '_')}.py").write_text("import numpy as np\n")
        monkeypatch.syspath_prepend(str(folder))
    names = run("import of_elsewhere, of_site_packages\nimport numpy as np\n")
    assert names["of_elsewhere"].np is names["of_site_packages"].np is numpy is sys.modules["numpy"]
    assert names["np"] is not numpy
    import numpy as here

    assert here is numpy, "this file is not the program's"
    for name in ("of_elsewhere", "of_site_packages"):
        sys.modules.pop(name)


def test_uninstall_restores_the_previous_state() -> None:
    hooks = __builtins__["__import__"] if isinstance(__builtins__, dict) else __builtins__.__import__
    attributes = dict(vars(np.ndarray))
    install_as_numpy("/nowhere")
    assert np.ones(1).dtype == "float64"
    assert np.promote_types("int64", "float32") == "float64"
    install_as_numpy("/another")  # adds a folder
    uninstall_as_numpy()
    uninstall_as_numpy()
    after = __builtins__["__import__"] if isinstance(__builtins__, dict) else __builtins__.__import__
    assert after is hooks
    assert dict(vars(np.ndarray)) == attributes
    assert np.ones(1).dtype == "float32"
    assert np.add(np.arange(2), np.ones(2, "float32")).dtype == "float32"
    assert np.sqrt(np.ones(1, "uint8")).dtype == "float32"
    with pytest.raises(TypeError, match="operand must be"):
        np.add(np.ones(2), numpy.array(["a", "b"]))
    assert as_numpy.report() is None


def test_files_of_the_program() -> None:
    imports = Imports(["/work/me"], lambda name: types.ModuleType(name))
    assert imports.is_programs({"__file__": "/work/me/sub/a.py"})
    assert not imports.is_programs({"__file__": "/work/mean/a.py"})
    assert not imports.is_programs({"__file__": numpy.__file__})
    assert not imports.is_programs({"__file__": forerun.__file__})
    assert not imports.is_programs(None)
    assert imports.is_programs({"__name__": "__main__"}), "typed in"
    assert not Imports([], lambda name: types.ModuleType(name)).is_programs({"__name__": "__main__"})


# --- the report, the command, the notebook ----------------------------------------------------------------


def test_the_report_has_lines_counts_times_and_reasons(run: Run, tmp_path: Path) -> None:
    run(
        "import numpy as np\n"
        "y = np.exp(np.ones(3)).sum()\n"
        "for word in 'abc':\n"
        "    z = np.array([word])\n"
        "c = np.char.upper(z)\n"
    )
    report = as_numpy.report()
    assert report is not None
    found = {(row["where"], row["function"]): row for row in report.rows()}
    array, upper = found[f"{tmp_path}/script.py:4", "array"], found[f"{tmp_path}/script.py:5", "char.upper"]
    assert (array["calls"], upper["calls"], len(found)) == (3, 1, 2)
    assert array["why"] == "arguments have a dtype or a class that only NumPy has"
    assert upper["why"] == "not among forerun's functions"
    assert array["seconds"] > 0
    assert "script.py:4  array" in str(report)
    report.clear()
    assert "none was needed" in str(report)


def test_a_function_of_the_programs_is_called_once(run: Run) -> None:
    """Its error does not count as a refusal, and it is not called again."""
    text = "import numpy as np\ncalls = []\ndef f(*args):\n    calls.append(1)\n    raise ValueError('mine')\n"
    calls = "np.apply_along_axis(f, 0, np.ones((2, 1)))", "np.fromfunction(f, (2,))", "np.vectorize(f)(np.ones(1))"
    for call in calls:
        names = run(text)
        with pytest.raises(ValueError, match=r"^mine"):
            eval(call, names)
        assert len(names["calls"]) == 1, call


SCRIPT = """
import sys
import numpy as np
from helper import total
x = np.ones(3) * int(sys.argv[1])
print(type(np.exp).__name__, total(x), np.array(["a"]), __name__)
sys.exit(3)
"""


class TestCommand:
    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "script.py").write_text(SCRIPT)
        (tmp_path / "helper.py").write_text("import numpy\ndef total(x):\n    return numpy.sum(x)\n")
        return tmp_path

    def test_a_script_with_arguments_and_a_report(self, folder):
        done = run_forerun("run", "--as-numpy", "--report", "script.py", "2", folder=folder)
        assert (done.returncode, done.stdout) == (3, "Elementwise 6.0 ['a'] __main__\n")
        assert "script.py:6  array" in done.stderr
        assert "multiply" in done.stderr

    def test_a_module(self, folder):
        done = run_forerun("run", "--as-numpy", "-m", "script", "2", folder=folder)
        assert (done.returncode, done.stdout, done.stderr) == (3, "Elementwise 6.0 ['a'] __main__\n", "")

    def test_a_trace_of_a_script(self, folder):
        done = run_forerun("trace", "--as-numpy", "script.py", "2", folder=folder)
        assert done.stdout.startswith("Elementwise 6.0 ['a'] __main__\n")
        assert "multiply" in done.stdout

    def test_without_the_switch_numpy_is_numpy(self, folder):
        done = run_forerun("run", "script.py", "2", folder=folder)
        assert (done.returncode, done.stdout, done.stderr) == (3, "ufunc 6.0 ['a'] __main__\n", "")

    def test_collections_of_garbage_leave_forerun_out(self, folder):
        text = "import gc\nprint(gc.get_freeze_count() > 1000, len(gc.get_objects()) < gc.get_freeze_count())"
        (folder / "counts.py").write_text(text)
        assert run_forerun("run", "--as-numpy", "counts.py", folder=folder).stdout == "True True\n"

    def test_no_such_script(self, capsys):
        assert cli.main(["run", "--as-numpy", "nothing.py"]) == 2
        assert "no such script: nothing.py" in capsys.readouterr().err
        assert as_numpy.report() is None, "nothing was replaced"


def test_a_notebook_loads_the_extension(tmp_path: Path) -> None:
    cells = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell()\n"
        "for step in ('%load_ext', '%unload_ext'):\n"
        "    shell.run_cell(f'{step} forerun.as_numpy')\n"
        "    shell.run_cell('import numpy as np; print(type(np.exp).__name__)')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", cells], cwd=tmp_path,
        env=environment(IPYTHONDIR=str(tmp_path)), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["Elementwise", "ufunc"], done.stderr
