"""Memory and threads that cannot be had: no request for them, refused, ends the process, spoils a value, or hangs.

Run as a program, it prints how many requests were refused, and how many calls raised MemoryError for it.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).parent / "faults"
PATIENCE = 300.0  # seconds after which nothing is worth waiting for


def compiled(folder: pathlib.Path) -> pathlib.Path:
    """A library that refuses requests of C++ code, to be preloaded."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", ""), "c++", "g++", "clang++"))))
    library, source = folder / "refuse.so", HERE / "refuse.cpp"
    subprocess.run([compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-w", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture(scope="module")
def refusing(tmp_path_factory) -> pathlib.Path:
    return compiled(tmp_path_factory.mktemp("faults"))


def run(library: pathlib.Path, *part: str, each: int = 1) -> list[list[str]]:
    """The words of each line that the program prints. It must end well, without a word of complaint."""
    environment = os.environ | {"LD_PRELOAD": str(library), "FAULTS_EACH": str(each)}
    command = [sys.executable, "-X", "faulthandler", str(HERE / "program.py"), *part]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split() for line in done.stdout.splitlines()]


SHARES = [f"{part}:{i}/4" for part in ("forward", "gradient") for i in range(4)]  # each ends within a minute or so


@pytest.mark.parametrize(("part", "each", "least"), [*((share, 4, 500) for share in SHARES), ("programs", 2, 100)])
def test_each_request_may_be_refused(refusing, part, each, least):
    ((name, refused, raised),) = run(refusing, part, each=each)  # `make faults` refuses all of them
    assert name == part
    assert least < int(refused)
    assert 0 < int(raised) < int(refused)  # some are done without


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name, refused, raised in run(compiled(pathlib.Path(folder))):
            print(f"{name}: {refused} requests refused, {raised} calls raised MemoryError, no other effect", flush=True)
