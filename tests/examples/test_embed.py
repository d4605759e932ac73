"""The C++ program in examples/embed: built against the core of this build, and run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

CORE = ROOT / "build" / "venv" / "libforerun_core.a"
COMPILER = shutil.which("c++") or shutil.which("g++")
PAGE = (ROOT / "docs" / "howto" / "languages.md").read_text(encoding="utf-8")


def built(source: Path, folder: Path) -> Path:
    """Return a program that is linked with the core."""
    if COMPILER is None:
        pytest.skip("no C++ compiler")
    if not CORE.exists():
        pytest.skip("the core's library is not in build/venv: `make develop` keeps it there")
    program = folder / source.stem
    subprocess.run(
        [COMPILER, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source, CORE,
         "-pthread", "-ldl", "-o", program],
        check=True, timeout=300,
    )  # fmt: skip
    return program


def test_the_example(tmp_path):
    program = built(ROOT / "examples" / "embed" / "heat.cpp", tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == [
        "heat: 1000.000000 and 1000.000000, the warmest cell: 56.3485",
        "error: measure: the sensor does not answer",
    ]


def test_the_program_of_the_page(tmp_path):
    source = tmp_path / "page.cpp"
    program = re.search(r"^```cpp\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert program is not None
    source.write_text(program[1])
    done = subprocess.run([built(source, tmp_path)], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["2", "4", "6"]
    assert "prints 2 4 6" in program[1]


def test_the_header_compiles_alone():
    includes = re.findall(r"#include (.*)", (ROOT / "include" / "forerun" / "forerun.h").read_text(encoding="utf-8"))
    assert [name for name in includes if not name.startswith("<")] == []
