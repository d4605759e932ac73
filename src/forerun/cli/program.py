"""A script or module that is run inside this process as Python itself would run it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from .misuse import Misuse

__all__ = ["Program", "output_to_stderr"]

_LAUNCHER_FILES = (__file__, runpy.__file__, "<frozen runpy>")
_PACKAGE = str(Path(__file__).parents[1]) + os.sep


class Program:
    """A program and its arguments. Raises Misuse if there is no such script or module.

    After the run it keeps the program's variables: operations with unused results would not run.
    """

    def __init__(self, script: str, arguments: Sequence[str] = (), module: bool = False) -> None:
        self.script, self.arguments, self.module = script, list(arguments), module
        self.name = script if module else Path(script).stem
        folder = os.getcwd() if module else str(Path(script).resolve().parent)
        if not module and not os.access(script, os.R_OK):
            raise Misuse(f"cannot read the script {script}" if os.path.exists(script) else f"no such script: {script}")
        self.on_error: Callable[[BaseException, str], None] | None = None  # gets the error that ends it, and the line
        self._kept: object = None
        self._path = [folder, *sys.path[1:]]  # in the place of the folder of the command itself
        if module:
            self._check_module()

    def _check_module(self) -> None:
        before, sys.path = sys.path, self._path
        try:
            found = importlib.util.find_spec(self.script)
        except (ImportError, ValueError):
            found = None
        finally:
            sys.path = before
        if found is None:
            raise Misuse(f"no such module: {self.script}")

    def run(self) -> int:
        """Run the program to its end, whichever that is; return its exit status."""
        sys.argv, sys.path[:] = [self.script, *self.arguments], self._path
        try:
            if self.module:
                self._kept = runpy.run_module(self.script, run_name="__main__", alter_sys=True)
            else:
                self._kept = runpy.run_path(self.script, run_name="__main__")
        except SystemExit as leaving:
            self._kept = leaving
            return _status(leaving.code)
        except BaseException as error:
            self._kept = error
            traceback = _of_program(error.__traceback__)
            sys.excepthook(type(error), error.with_traceback(traceback), traceback)
            if self.on_error:
                self.on_error(error, _line(traceback))
            return 130 if isinstance(error, KeyboardInterrupt) else 1
        return 0


def _status(code: object) -> int:
    """Return the status that Python would end with after `sys.exit(code)`."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _line(traceback: TracebackType | None) -> str:
    """Return the last line of the user's in a traceback."""
    found = ""
    while traceback:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith(_PACKAGE) and not file.startswith("<"):
            found = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found


def _of_program(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames that started the program."""
    while traceback and traceback.tb_frame.f_code.co_filename in _LAUNCHER_FILES:
        traceback = traceback.tb_next
    return traceback


@contextlib.contextmanager
def output_to_stderr(on: bool) -> Iterator[None]:
    """While it lasts, output to standard output goes to standard error, also from C and child processes."""
    if not on:
        yield
        return
    sys.stdout.flush()
    before = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(before, 1)
        os.close(before)
