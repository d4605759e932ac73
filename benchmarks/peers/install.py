"""Installs peers, each into a virtual environment of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from columns import VENVS


class CannotInstall(Exception):
    """Why a peer cannot be installed here."""


def run(*command: str | Path) -> None:
    """Runs a command; CannotInstall has the last line of its errors."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")] or lines or ["failed"]
        raise CannotInstall(errors[-1])


def usable(python: str) -> bool:
    """Whether there is such a command and it runs."""
    if shutil.which(python) is None:
        return False
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def install(name: str, folder: Path) -> Path:
    """The Python of a peer's environment below the folder, made and filled if it is not yet as VENVS says."""
    venv, wanted = folder / name, VENVS[name]
    python, mark = venv / "bin" / "python", venv / "requirements.txt"
    text = "\n".join(wanted.requirements) + "\n"
    if mark.exists() and mark.read_text() == text:
        return python
    base = next(filter(usable, wanted.pythons or (sys.executable,)), None)
    if base is None:
        raise CannotInstall(f"needs {' or '.join(wanted.pythons)}")
    print(f"installing {', '.join(wanted.requirements)}", file=sys.stderr)
    run(base, "-m", "venv", "--clear", venv)
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *wanted.requirements)
    mark.write_text(text)
    return python
