"""Run Python tests for AArch64 processors by an emulator: `python tools/aarch64_python.py [pytest's arguments]`.

Builds the extension with the cross compiler, and runs pytest in Debian's CPython for AArch64 under qemu-user, with the
NumPy that PyPI has for it: forerun's results are compared with that NumPy's, loop for loop. Without arguments it runs
FILES, in PROCESSES processes. An emulated process cannot start another one, so tests that do are not among them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pythons

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "aarch64-python"
PACKAGES = WORK / "packages"
VERSION, MACHINE = "3.11", "aarch64"
BLAS = ROOT / "build" / "aarch64-blas"  # that of `make aarch64`
WANTED = (
    "numpy>=2,<3",
    "pytest>=8,<10",
    "hypothesis>=6.80,<7",
    "ml_dtypes>=0.5,<1",
    "scipy>=1.11,<2",
    "pillow>=10,<14",
    "pandas>=2.2,<4",
)
# The parts of the suite in which a processor can make a difference: loops, orders of sums, memory, threads.
FILES = ("tests/array", "tests/autograd", "tests/engine/passes", "tests/engine/test_order.py")
PROCESSES = 2


def run(*command: object, **options: object) -> None:
    subprocess.run([str(c) for c in command], check=True, **options)  # type: ignore[call-overload]


def install() -> None:
    """Install the packages for the other processor, once."""
    for folder, packages, dependencies in ((PACKAGES, WANTED, []), (BLAS, ("scipy-openblas32",), ["--no-deps"])):
        done = folder / ".complete"
        if not done.exists():
            platforms = [f"--platform=manylinux{name}_{MACHINE}" for name in ("2014", "_2_17", "_2_27", "_2_28")]
            foreign = [
                "--only-binary=:all:",
                *platforms,
                f"--python-version={VERSION}",
                "--upgrade",
                "--target",
                folder,
            ]
            run(sys.executable, "-m", "pip", "install", "-q", *dependencies, *foreign, *packages)
            done.touch()


def build() -> None:
    """Build the extension, and put it beside the package's Python."""
    tools = Path(sys.executable).parent
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_MAKE_PROGRAM": tools / "ninja",
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": MACHINE,
        "CMAKE_CXX_COMPILER": f"{MACHINE}-linux-gnu-g++",
        "Python_EXECUTABLE": sys.executable,
        "FORERUN_BLAS_DIR": BLAS / "scipy_openblas32/lib",
        "FORERUN_STUB": ROOT / "core/python/_core.pat",  # no stub is made: the extension cannot be imported here
    }
    given = [f"-D{name}={value}" for name, value in settings.items()]
    run(tools / "cmake", "-S", ROOT, "-B", WORK / "cmake", "-G", "Ninja", *given)
    run(tools / "cmake", "--build", WORK / "cmake")
    shutil.rmtree(PACKAGES / "forerun", ignore_errors=True)
    shutil.copytree(ROOT / "src/forerun", PACKAGES / "forerun", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    run(tools / "cmake", "--install", WORK / "cmake", "--prefix", PACKAGES, stdout=subprocess.DEVNULL)
    (extension,) = (PACKAGES / "forerun").glob("_core.*.so")  # which is named after the interpreter of this machine
    extension.rename(extension.with_name(f"_core.cpython-{VERSION.replace('.', '')}-{MACHINE}-linux-gnu.so"))


def emulated(arguments: list[str]) -> int:
    """Run pytest in one emulated process."""
    root = pythons.folder(VERSION, MACHINE)
    python = [f"qemu-{MACHINE}", "-L", root, root / f"usr/bin/python{VERSION}"]
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([str(c) for c in [*python, *pytest]], cwd=ROOT, env=environment).returncode


def main(arguments: list[str]) -> int:
    pythons.fetch(VERSION, MACHINE)
    install()
    build()
    if arguments:
        return emulated(arguments)
    with ThreadPoolExecutor(PROCESSES) as pool:
        return max(pool.map(lambda file: emulated([file]), FILES))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
