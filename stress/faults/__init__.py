"""Memory and threads that cannot be had: each request of C++ code for them is refused once.

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
PATIENCE = 300.0  # seconds after which nothing is worth waiting for


def compiled_refusals(folder: pathlib.Path) -> pathlib.Path:
    """A library that refuses requests of C++ code, to be preloaded."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", ""), "c++", "g++", "clang++"))))
    library, source = folder / "refuse.so", HERE / "refuse.cpp"
    subprocess.run([compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-w", "-o", library, source, "-ldl"], check=True)
    return library


def run_refusals(library: pathlib.Path, *part: str, each: int = 1) -> list[list[str]]:
    """The words of each line that the program prints. It must end well, with nothing on standard error."""
    passes = "drop,fuse,reuse,at_once,apart"  # LLVM, which compiles loops, ends a process that has no memory
    environment = os.environ | {"LD_PRELOAD": str(library), "FAULTS_EACH": str(each), "FORERUN_PASSES": passes}
    command = [sys.executable, "-X", "faulthandler", "-m", "stress.faults.program", *part]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split() for line in done.stdout.splitlines()]
