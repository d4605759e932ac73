"""Extension modules beside a program that gets forerun as NumPy: their functions take NumPy's arrays alone."""

from __future__ import annotations

import shutil
import sys
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

import numpy
import pytest
from scipy.cluster import _vq

from forerun import _core
from tests.support.processes.as_numpy_program import Run

PROGRAM = """\
import numpy as np
import _vq
from _vq import vq
points, codes = np.arange(12.0).reshape(6, 2), np.array([[0.0, 1.0], [10.0, 11.0]])
nearest, distance = vq(points, codes)
means, has_members = _vq.update_cluster_means(points, _vq.vq(points, codes)[0], 2)[:2]
"""


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of Cython's beside the program, whose functions refuse all but NumPy's arrays."""
    shutil.copy(_vq.__file__, tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "_vq", raising=False)


def test_functions_of_the_programs_modules_take_and_make_arrays(run: Run, compiled: None) -> None:
    names: dict[str, Any] = run(PROGRAM)
    expected = _vq.vq(numpy.arange(12.0).reshape(6, 2), numpy.array([[0.0, 1.0], [10.0, 11.0]]))
    for found, value in zip((names["nearest"], names["distance"]), expected, strict=True):
        assert isinstance(found, _core.Array)
        numpy.testing.assert_array_equal(found.numpy(), value)
    assert names["means"].tolist() == [[2, 3], [8, 9]]
    assert names["vq"] is names["_vq"].vq
    assert names["vq"].__name__ == "vq"


def test_errors_of_compiled_functions_are_kept(run: Run, compiled: None) -> None:
    with pytest.raises(TypeError, match="Argument 'codes' has incorrect type"):
        run(f"{PROGRAM}vq(points, 3)\n")


def test_other_extension_modules_are_as_they_are(run: Run) -> None:
    names = run("import numpy as np\nfrom scipy.cluster import _vq\n")
    assert type(names["_vq"]) is type(sys)
    assert names["_vq"].vq is _vq.vq


def test_modules_are_loaded_as_before_without_the_replacement() -> None:
    assert "importlib" in ExtensionFileLoader.exec_module.__module__
