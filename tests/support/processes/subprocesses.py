"""Programs in a Python of their own, for tests of a process as a whole."""

from __future__ import annotations

import os
import subprocess
import sys

PATIENCE = 120.0  # seconds after which nothing is worth waiting for
START = "import forerun\nfrom forerun import np, _core\nfrom forerun.np import host\n"


def command(program: str, early: str = "") -> list[str]:
    """The command line that runs a program after `START`, which comes after `early`."""
    return [sys.executable, "-W", "error", "-c", early + START + program]


def environment(**more: str) -> dict[str, str]:
    """This process's variables without settings of forerun."""
    return {k: v for k, v in os.environ.items() if not k.startswith("FORERUN_")} | more


def execute(program: str, early: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end."""
    return subprocess.run(
        command(program, early), env=environment(**more), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def output(program: str, **more: str) -> list[str]:
    """The words that the program prints. It must end well, with nothing on standard error."""
    done = execute(program, **more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def run_python(program: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program as it is, without `START`, and with Python's own settings of warnings."""
    line = [sys.executable, "-c", program]
    return subprocess.run(line, env=environment(**more), capture_output=True, text=True, timeout=PATIENCE, check=False)


def run_forerun(*words: str, folder: os.PathLike[str], **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command of `python -m forerun` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "forerun", *words], cwd=folder, env=environment(**more), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip


def run_file(file: os.PathLike[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a file, which multiprocessing can import."""
    line = [sys.executable, "-W", "error", os.fspath(file), *arguments]
    return subprocess.run(line, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False)
