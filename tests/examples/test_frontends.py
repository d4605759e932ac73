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
# Julia's bridges to Python, and the settings that choose which one each starts.
JULIAS = {
    "PythonCall": {"JULIA_CONDAPKG_BACKEND": "Null", "JULIA_PYTHONCALL_EXE": sys.executable},
    "PyCall": {"PYCALL_JL_RUNTIME_PYTHON": sys.executable},
}
RSCRIPT, JULIA = shutil.which("Rscript"), shutil.which("julia")


def run_command(*command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment(**more), capture_output=True, text=True, timeout=600, check=False)


def program_of_page(bridge: str) -> str:
    """Return the program that uses a bridge on the page of languages, without the lines that choose a Python."""
    page = (ROOT / "docs" / "howto" / "languages.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:r|julia)\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if re.search(rf"^(?:using |library\(){bridge}\b", block, flags=re.MULTILINE)]
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
    page = run_command(RSCRIPT, "-e", program_of_page("reticulate"), **settings)
    assert ends_with_a_number(page), page.stderr


@pytest.mark.parametrize(("bridge", "settings"), JULIAS.items())
def test_julia(bridge: str, settings: dict[str, str]):
    if JULIA is None:
        pytest.skip("Julia is not installed")
    begun = run_command(JULIA, "-e", f'using {bridge}; pyimport("numpy")', **settings)
    if begun.returncode != 0:
        pytest.skip(f"Julia's {bridge} is not installed, or not for this Python: {begun.stderr.partition(chr(10))[0]}")
    done = run_command(JULIA, str(FOLDER / f"julia_{bridge.lower()}.jl"), **settings)
    assert (done.returncode, done.stdout) == (0, "Julia: [1.0, -2.0, 0.5]\n"), done.stderr
    page = run_command(JULIA, "-e", program_of_page(bridge), **settings)
    assert ends_with_a_number(page), page.stderr
