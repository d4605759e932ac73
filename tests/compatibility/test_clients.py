"""Libraries from PyPI on forerun arrays: their results are those in docs/reference/clients.md."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from compatibility.clients import NAMES, page
from tests.support.processes.subprocesses import output

SEEN: dict[str, Any] = json.loads(page.SEEN.read_text())
BETTER = ["wrong", "raises", "other", "waits", "at once"]  # the last ones
MAY_LACK = "FORERUN_TESTS_WITHOUT"  # names of libraries, with commas: where one cannot be installed


def need(name: str) -> None:
    """Skips the test of a library that is not there, if the environment says that it may be missing."""
    if importlib.util.find_spec(name) is None and name in os.environ.get(MAY_LACK, "").split(","):
        pytest.skip(f"{name} is not installed, and {MAY_LACK} allows that")


@pytest.mark.parametrize("name", NAMES)
def test_a_library_behaves_as_the_page_documents(name: str) -> None:
    need(name)
    was, now = SEEN[name], page.looked(name)
    if was["versions"] == now["versions"]:
        assert now["subjects"] == was["subjects"]
    before, after = page.kinds(was), page.kinds(now)
    assert before.keys() == after.keys()
    worse = [e for e, kind in before.items() if BETTER.index(after[e]) < BETTER.index(kind)]
    assert not worse, "with other versions than the page's nothing may be worse"


def test_the_page_has_the_recorded_results() -> None:
    assert page.split(page.PAGE.read_text())[1] == page.rendered(SEEN)


def test_no_library_gives_other_values() -> None:
    assert not [e for name in NAMES for e, kind in page.kinds(SEEN[name]).items() if kind == "wrong"]


ORDERS = ["from forerun import np; import einops", "import einops; from forerun import np"]


@pytest.mark.parametrize("imports", ORDERS)
def test_einops_accepts_arrays_in_any_order_of_imports(imports: str) -> None:
    need("einops")
    rest = "print(einops.rearrange(np.ones((2, 3)), 'i j -> j i').shape)"
    assert output(f"{imports}; {rest}") == ["(3,", "2)"]


@pytest.mark.parametrize("imports", [order.replace("einops", "dask.array") for order in ORDERS])
def test_dask_percentiles_of_arrays_in_any_order_of_imports(imports: str) -> None:
    need("dask")
    rest = "x = dask.array.from_array(np.arange(5), chunks=5, asarray=False, name=False)"
    assert output(f"{imports}; {rest}; print(type(dask.array.percentile(x, 50).compute()) is np.ndarray)") == ["True"]


@pytest.mark.parametrize(("library", "module"), [("einops", "einops._backends"), ("dask", "dask.array.backends")])
def test_a_library_is_imported_only_by_its_users(library: str, module: str) -> None:
    need(library)
    waiting = f"any(getattr(f, 'name', None) == '{module}' for f in sys.meta_path)"
    before = f"import sys; from forerun import np; print('{library}' in sys.modules, {waiting})"
    program = f"{before}; import {module}; print({waiting})"
    assert output(program) == ["False", "True", "False"]


@pytest.mark.parametrize(("library", "part"), [("scipy", "constants"), ("sklearn", "_loss")])
def test_a_librarys_own_tests_use_forerun_arrays(library: str, part: str) -> None:
    need(library)
    tool = page.ROOT / "compatibility" / "suites.py"
    command = [sys.executable, str(tool), library, part]
    done = subprocess.run(command, capture_output=True, text=True, timeout=page.PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = (line for line in done.stdout.splitlines() if line.startswith(f"| {part} |"))
    passed, failed, _ = map(int, row.split("|")[2:5])
    assert passed > 0
    assert failed == 0


def test_dask_names_arrays_by_their_values() -> None:
    need("dask")
    program = """
from dask.base import tokenize as name
empty, x = np.zeros((0, 2)), np.arange(3)
print(name(x) == name(np.arange(3)), name(x) == name(x + 1), name(x) == name(x.astype("int32")))
print(name(empty) == name(np.zeros((0, 2))), name(empty) == name(np.zeros((2, 0))))
"""
    assert output(program) == ["True", "False", "False", "True", "False"]
