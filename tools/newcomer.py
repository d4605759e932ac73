"""Walk a newcomer's path with the wheels in dist/, in a fresh environment of each Python: `make newcomer`.

The path is that of README.md: install, run its first program, record it with `forerun trace`. Prints a line for each
Python; a step that fails ends it.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import wheels

PLACE = wheels.WORK / "newcomer"


def first_program() -> str:
    """Return README's first program."""
    found = re.search(r"```python\n(.*?)```", (wheels.ROOT / "README.md").read_text(), re.DOTALL)
    if found is None:
        raise SystemExit("newcomer: README.md must begin with a program")
    return found[1]


def walk(version: str, wheel: Path) -> str:
    """Walk the path with one Python; return the output of the program."""
    shutil.rmtree(wheels.WORK / f"newcomer-{version}", ignore_errors=True)
    begun = time.perf_counter()
    python = wheels.environment(version, f"newcomer-{version}", [str(wheel)])
    assert python is not None
    installed = time.perf_counter() - begun
    printed = wheels.run(python, "program.py", cwd=PLACE).strip()
    trace = PLACE / version / "program.html"
    tables = wheels.run(python.parent / "forerun", "trace", "--out", version, "program.py", cwd=PLACE)
    if "program.py:7  item" not in tables or "matmul" not in trace.read_text():  # its numbers are others in each run
        raise SystemExit(f"newcomer: the trace must name the line that waits, and show the products, got {tables}")
    return (
        f"Python {version}: installed in {installed:.0f} s, printed {printed}, trace of {trace.stat().st_size:,} bytes"
    )


def main(names: Sequence[str]) -> None:
    """Walk with the Pythons that are named, or all of those with a wheel."""
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / "program.py").write_text(first_program())
    for version in names or wheels.versions():
        if wheels.interpreter(version) is None:
            print(f"Python {version}: not tried, not installed here", flush=True)
            continue
        found = sorted(wheels.DIST.glob(f"forerun-*-{wheels.tag(version, wheels.HERE)}.whl"))
        if not found:
            raise SystemExit(f"newcomer: dist/ must have a wheel for Python {version}: run `make wheels` first")
        print(walk(version, found[-1]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
