"""The programs in R and Julia and those on their pages, where these are installed with their bridges to Python."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from tests.support.paths import ROOT
from tests.support.processes.subprocesses import environment

FOLDER = ROOT / "examples" / "frontends"
RSCRIPT, JULIA = shutil.which("Rscript"), shutil.which("julia")


def run_command(*command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment(**more), capture_output=True, text=True, timeout=600, check=False)


def program_of_page(language: str) -> str:
    """Return the program in a language on the page of languages, without the lines that choose a Python."""
    page = (ROOT / "docs" / "howto" / "languages.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^.*/path/to/python.*\n", "", block, flags=re.MULTILINE)


def ends_with_a_number(done: subprocess.CompletedProcess[str]) -> bool:
    return done.returncode == 0 and re.search(r"-?\d+\.\d+(e-?\d+)?\n\Z", done.stdout) is not None


def test_r():
    settings = {"RETICULATE_PYTHON": sys.executable}
    if RSCRIPT is None or run_command(RSCRIPT, "-e", "library(reticulate)").returncode != 0:
        pytest.skip("R with reticulate is not installed: apt install r-base-core r-cran-reticulate")
    if run_command(RSCRIPT, "-e", "reticulate::py_config()", **settings).returncode != 0:
        pytest.skip("this reticulate cannot start this Python: 1.28 starts none from 3.12 on, nor a static one")
    done = run_command(RSCRIPT, str(FOLDER / "r_reticulate.R"), **settings)
    assert (done.returncode, done.stdout) == (0, "R: 1 -2 0.5 \n"), done.stderr
    page = run_command(RSCRIPT, "-e", program_of_page("r"), **settings)
    assert ends_with_a_number(page), page.stderr


def test_julia():
    if JULIA is None or run_command(JULIA, "-e", "using PythonCall", JULIA_CONDAPKG_BACKEND="Null").returncode != 0:
        pytest.skip("Julia with PythonCall is not installed")
    settings = {"JULIA_CONDAPKG_BACKEND": "Null", "JULIA_PYTHONCALL_EXE": sys.executable}
    done = run_command(JULIA, str(FOLDER / "julia_pythoncall.jl"), **settings)
    assert (done.returncode, done.stdout) == (0, "Julia: [1.0, -2.0, 0.5]\n"), done.stderr
    page = run_command(JULIA, "-e", program_of_page("julia"), **settings)
    assert ends_with_a_number(page), page.stderr
