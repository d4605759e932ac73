"""Which launcher starts the ranks: the one that belongs to the library of MPI that mpi4py loads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["MPINotFound", "command_line"]

_ASK = """
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
print(MPI.Get_library_version().split("\\n")[0])
for line in open("/proc/self/maps"):
    path = line.split()[-1]
    if "/libmpi" in path or "/libmpich" in path:
        print(path)
        break
"""


class MPINotFound(Exception):
    """MPI or its launcher is missing; the message names the package to install."""


def _library() -> tuple[str, str]:
    """Return the name and version of the library that mpi4py loads, and its path."""
    asked = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, timeout=60, check=False)
    if asked.returncode:
        why = (asked.stderr.strip().splitlines() or ["no reason"])[-1]
        raise MPINotFound(f"several ranks need MPI, and mpi4py found none ({why}): pip install mpi4py mpich")
    name, _, path = asked.stdout.strip().partition("\n")
    return name, path


def _launcher(library: str) -> str | None:
    """Return the launcher beside a library, or in an environment's folder of programs, or in the path."""
    near = [Path(library).resolve().parent.parent / "bin", Path(sys.prefix) / "bin"]
    places = [str(folder) for folder in near] if library else [str(near[-1])]
    return shutil.which("mpiexec", path=os.pathsep.join([*places, os.environ.get("PATH", os.defpath)]))


def command_line(size: int, words: list[str], hosts: str | None = None) -> list[str]:
    """Return the command line that starts ranks, each with the same words.

    Raises MPINotFound.
    """
    name, library = _library()
    launcher = _launcher(library)
    if launcher is None:
        raise MPINotFound(f"found {name}, but no mpiexec beside it: install its launcher, or pip install mpich")
    if "Open MPI" in name:
        options = ["--oversubscribe", *(["--host", hosts] if hosts else [])]
        if os.geteuid() == 0:
            options.append("--allow-run-as-root")
        # The launcher hands the variables of this process on by name only.
        names = [n for n in os.environ if n.startswith("FORERUN_")]
        options += [word for n in names for word in ("-x", n)]
    else:
        options = ["-disable-auto-cleanup", *(["-hosts", hosts] if hosts else [])]
    return [launcher, *options, "-n", str(size), *words]
