"""Compile the core for systems on which it is not tested: `make portability`, or `python tools/portability.py macos`.

The compiler is Clang with the headers of each system, as the package `ziglang` brings them. This shows that no file
needs a call that only Linux has, or syntax that only GCC takes; nothing is linked or run. The files are those of
`core` without `core/python`, which needs the headers of that system's CPython, and `core/tests`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from wheels import ROOT, WORK, tool

TARGETS = {"linux": "x86_64-linux-gnu.2.28", "macos": "aarch64-macos", "windows": "x86_64-windows-gnu"}
# -O0: what is checked is the front end of the compiler, and what it refuses.
FLAGS = (
    "-std=c++20",
    "-O0",
    "-Icore",
    "-Iinclude",
    "-ffp-contract=off",
    "-Wno-psabi",
    "-Wno-unused-command-line-argument",
)
LEFT_OUT = ("core/python/", "core/tests/")
CACHE = ROOT / "build" / "zig"


def sources() -> list[str]:
    """List the files that are compiled."""
    found = (str(file.relative_to(ROOT)) for file in (ROOT / "core").rglob("*.cpp"))
    return sorted(file for file in found if not file.startswith(LEFT_OUT))


def compiled(target: str, file: str) -> str:
    """Compile a file; return what the compiler says of it, nothing if it has no error."""
    command = [tool("python"), "-m", "ziglang", "c++", "-target", target, *FLAGS, "-c", file]
    output = CACHE / target / f"{file.replace('/', '_')}.o"
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(CACHE)}
    done = subprocess.run([*command, "-o", str(output)], cwd=ROOT, env=environment, text=True, capture_output=True)
    return done.stderr if done.returncode else ""


def check(system: str, files: Sequence[str]) -> int:
    """Compile files for one system, print the errors and their number; return how many files have one."""
    target = TARGETS[system]
    (CACHE / target).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [error for error in pool.map(lambda file: compiled(target, file), files) if error]
    print("".join(errors), end="")
    print(f"{target}: {len(files) - len(errors)} of {len(files)} files compile", flush=True)
    return len(errors)


def main(names: Sequence[str]) -> int:
    """Check the systems that are named, or all of them."""
    if unknown := set(names) - set(TARGETS):
        raise SystemExit(f"portability: must be of {', '.join(TARGETS)}, got {', '.join(sorted(unknown))}")
    tool("python")  # installed once, before threads ask for it
    WORK.mkdir(parents=True, exist_ok=True)
    files = sources()
    return min(1, sum(check(system, files) for system in names or TARGETS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
