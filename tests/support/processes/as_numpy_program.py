"""Text run as a file of a program that gets forerun as NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forerun.as_numpy import install_as_numpy, uninstall_as_numpy

Run = Callable[..., dict[str, Any]]


@contextmanager
def replaced(folder: Path) -> Iterator[None]:
    """Inside, files of the folder get forerun as NumPy."""
    install_as_numpy(folder)
    try:
        yield
    finally:
        uninstall_as_numpy()


@contextmanager
def running(folder: Path) -> Iterator[Run]:
    """Gives a function that runs text as a file of the folder, and returns its names."""

    def run(text: str, name: str = "__main__") -> dict[str, Any]:
        file = folder / "script.py"
        file.write_text(text, encoding="utf-8")
        names: dict[str, Any] = {"__name__": name, "__file__": str(file)}
        exec(compile(text, str(file), "exec"), names)
        return names

    with replaced(folder):
        yield run
