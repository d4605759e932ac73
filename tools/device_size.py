"""Prints by how much the code for devices of plugins makes a wheel larger: that of the core, and src/forerun/_pjrt.

    python tools/device_size.py        after make

The core is linked once as it is and once without the objects of these folders; both are compressed as in a wheel.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "venv"
FOLDERS = ("core/pjrt", "core/placement", "core/device", "core/python/devices")


def link_command() -> str:
    """Return the shell command that links the core, from the folder of the build."""
    (library,) = BUILD.glob("_core.*.so")
    ninja = Path(sys.executable).parent / "ninja"
    commands = subprocess.run([ninja, "-t", "commands", library.name], cwd=BUILD, capture_output=True, text=True)
    return commands.stdout.splitlines()[-1]


def linked(command: str, out: Path) -> bytes:
    """Return the library that a command links, with `out` in place of its own."""
    subprocess.run(re.sub(r"-o \S+", f"-o {out}", command), shell=True, cwd=BUILD, check=True)
    return out.read_bytes()


def without(command: str, archive: Path) -> str:
    """Return the command without the objects of the folders; `archive` becomes the core's library without them."""
    objects = map(str, sorted((BUILD / "CMakeFiles" / "forerun_core.dir").rglob("*.o")))
    subprocess.run(["ar", "qc", archive, *filter(is_kept, objects)], check=True)
    return " ".join(filter(is_kept, command.split())).replace("libforerun_core.a", str(archive))


def is_kept(word: str) -> bool:
    """Whether it names no object of the folders."""
    return not any(f"/{folder}/" in word for folder in FOLDERS)


def main() -> None:
    """Print the sizes."""
    command = link_command()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = linked(command, folder / "whole.so")
        part = linked(without(command, folder / "core.a"), folder / "part.so")
    python = [path.read_bytes() for path in (ROOT / "src" / "forerun" / "_pjrt").rglob("*.py")]
    packed = len(zlib.compress(whole, 6)) - len(zlib.compress(part, 6))
    print(f"the core: {len(whole) - len(part):,} bytes, {packed:,} compressed")
    modules = sum(len(zlib.compress(text, 6)) for text in python)
    print(f"src/forerun/_pjrt: {sum(map(len, python)):,} bytes, {modules:,} compressed")
    print(f"together in a wheel: {(packed + modules) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
