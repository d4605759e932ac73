"""Compile the core for systems on which it is not tested: `make portability`, or `python tools/portability.py macos`.

The compiler is Clang with the headers of each system, as the package `ziglang` brings them. This shows that no file
needs a call that only Linux has, or syntax that only GCC takes; nothing is linked or run. The files are those of
`core` without `core/tests`. `core/python` is compiled for macOS and Windows: with the headers of CPython's source, and
those of NumPy's wheels for that system.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pythons
from wheels import ROOT, WORK, build_requirements, run, tool

TARGETS = {"linux": "x86_64-linux-gnu.2.28", "macos": "aarch64-macos", "windows": "x86_64-windows-gnu"}
# -O0: only the front end of the compiler is checked, for code that it refuses.
FLAGS = (
    "-std=c++20",
    "-O0",
    "-Icore",
    "-Iinclude",
    "-ffp-contract=off",
    "-Wno-psabi",
    "-Wno-unused-command-line-argument",
)
CACHE = ROOT / "build" / "zig"
PYTHON = "3.13"
WHEELS = {"macos": "macosx_14_0_arm64", "windows": "win_amd64"}  # systems that core/python is compiled for
PYTHON_FLAGS = (
    "-DNPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION",
    "-Wno-cast-function-type",
    "-Wno-invalid-offsetof",
)
# In place of the file that CPython's `configure` writes on macOS: the macros of it that CPython's headers read.
MACOS_PYCONFIG = """\
#define ALIGNOF_MAX_ALIGN_T 8
#define DOUBLE_IS_LITTLE_ENDIAN_IEEE754 1
#define HAVE_FORK 1
#define HAVE_PTHREAD_H 1
#define HAVE_STD_ATOMIC 1
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_PID_T 4
#define SIZEOF_PTHREAD_T 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_UINTPTR_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 4
#define WITH_THREAD 1
"""


def sources(system: str) -> list[str]:
    """List the files that are compiled for a system."""
    left_out = ("core/tests/",) if system in WHEELS else ("core/tests/", "core/python/")
    found = (str(file.relative_to(ROOT)) for file in (ROOT / "core").rglob("*.cpp"))
    return sorted(file for file in found if not file.startswith(left_out))


def python_headers(system: str) -> list[Path]:
    """Bring the headers that core/python needs, once; return their folders."""
    place, cpython = CACHE / f"headers-{system}", pythons.source(PYTHON)
    if not (place / "complete").exists():
        foreign = ["--only-binary=:all:", "--platform", WHEELS[system], "--python-version", PYTHON]
        wanted = [package for package in build_requirements() if package.startswith(("numpy", "nanobind"))]
        run(tool("pip"), "install", "-q", "--upgrade", "--no-deps", *foreign, "--target", place, *wanted)
        windows = (cpython / "PC/pyconfig.h.in").read_text()
        (place / "pyconfig.h").write_text(windows if system == "windows" else MACOS_PYCONFIG)
        (place / "complete").touch()
    return [place, cpython / "Include", place / "numpy/_core/include", place / "nanobind/include"]


def python_flags(system: str) -> list[str]:
    """Return the flags for core/python, none where it is not compiled."""
    return [*PYTHON_FLAGS, *(f"-isystem{folder}" for folder in python_headers(system))] if system in WHEELS else []


def compiled(target: str, file: str, flags: Sequence[str]) -> str:
    """Compile a file; return the compiler's messages, an empty string if it has no error."""
    command = [tool("python"), "-m", "ziglang", "c++", "-target", target, *FLAGS, *flags, "-c", file]
    output = CACHE / target / f"{file.replace('/', '_')}.o"
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(CACHE)}
    done = subprocess.run([*command, "-o", str(output)], cwd=ROOT, env=environment, text=True, capture_output=True)
    return done.stderr if done.returncode else ""


def check(system: str) -> int:
    """Compile the core for one system, print the errors and their number; return how many files have one."""
    target, files, flags = TARGETS[system], sources(system), python_flags(system)
    (CACHE / target).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [error for error in pool.map(lambda file: compiled(target, file, flags), files) if error]
    print("".join(errors), end="")
    print(f"{target}: {len(files) - len(errors)} of {len(files)} files compile", flush=True)
    return len(errors)


def main(names: Sequence[str]) -> int:
    """Check the systems that are named, or all of them."""
    if unknown := set(names) - set(TARGETS):
        raise SystemExit(f"portability: must be of {', '.join(TARGETS)}, got {', '.join(sorted(unknown))}")
    tool("python")  # installed once, before threads ask for it
    WORK.mkdir(parents=True, exist_ok=True)
    return min(1, sum(check(system) for system in names or TARGETS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
