"""Files that are not plugins, or plugins that cannot be called, are refused before anything of them is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from forerun import _core
from tests.support.paths import ROOT

TABLE = """
#include "pjrt/abi.h"
using namespace forerun::pjrt::abi;
static Table table{{sizeof(Table), nullptr, {{sizeof(Version), nullptr, {0}, {1}}}, {{}}}};
extern "C" const Table* GetPjrtApi() {{ return &table; }}
"""


def library(folder: Path, source: str) -> Path:
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler")
    path = folder / "plugin.so"
    (folder / "plugin.cpp").write_text(source)
    command = [compiler, "-std=c++20", "-shared", "-fPIC", f"-I{ROOT / 'core'}", "-o", str(path)]
    subprocess.run([*command, str(folder / "plugin.cpp")], check=True)
    return path


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ValueError, match=r"pjrt: the plugin /no/such must be a file, got no such file"):
        _core.pjrt_load("/no/such", {})


def test_an_invalid_library_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.so"
    path.write_text("text")
    with pytest.raises(RuntimeError, match=r"must be a shared library that can be loaded, got .*text\.so"):
        _core.pjrt_load(str(path), {})


def test_a_library_without_the_interface_is_named(tmp_path: Path) -> None:
    path = library(tmp_path, "int f() { return 1; }")
    with pytest.raises(ValueError, match=r"plugin\.so must export GetPjrtApi"):
        _core.pjrt_load(str(path), {})


@pytest.mark.parametrize(
    ("version", "condition"),
    [((1, 5), r"version 0\.x of .*, got 1\.5"), ((0, 80), r"at least version 0\.81 .*, got 0\.80")],
)
def test_other_versions_are_refused(tmp_path: Path, version: tuple[int, int], condition: str) -> None:
    path = library(tmp_path, TABLE.format(*version))
    with pytest.raises(ValueError, match=condition):
        _core.pjrt_load(str(path), {})


def test_a_table_without_a_function_is_not_called(tmp_path: Path) -> None:
    path = library(tmp_path, TABLE.format(0, 81))
    with pytest.raises(NotImplementedError, match=r"must have function 3 of the interface"):
        _core.pjrt_load(str(path), {})
