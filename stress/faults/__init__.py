"""Failing requests for memory and threads: each request of C++ code is refused once.

`refuse.cpp` is a library that is preloaded; `program.py` calls every op of the table beneath it.
`python -m stress.faults` runs all of it.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
PATIENCE = 300.0  # seconds after which a run counts as hanging


def compiled_refusals(folder: pathlib.Path) -> pathlib.Path:
    """A library that refuses requests of C++ code, to be preloaded."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", ""), "c++", "g++", "clang++"))))
    library, source = folder / "refuse.so", HERE / "refuse.cpp"
    subprocess.run([compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-w", "-o", library, source, "-ldl"], check=True)
    return library


def run_refusals(library: pathlib.Path, *part: str, each: int = 1) -> list[list[str]]:
    """Return the words of each line that the program prints. It must succeed, without output on standard error."""
    passes = "drop,fuse,reuse,at_once,apart"  # LLVM, which compiles loops, ends a process when memory is exhausted
    environment = os.environ | {"LD_PRELOAD": str(library), "FAULTS_EACH": str(each), "FORERUN_PASSES": passes}
    command = [sys.executable, "-X", "faulthandler", "-m", "stress.faults.program", *part]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split() for line in done.stdout.splitlines()]
