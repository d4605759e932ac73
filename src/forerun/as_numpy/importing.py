"""Which code gets forerun when it imports NumPy: by the file that imports, whichever way it is written.

`import numpy` calls `builtins.__import__` with the globals of the code that imports. Code of the program's own folders
gets another module; Python's library, installed packages and this package get NumPy, as do others' threads at any time.
"""

from __future__ import annotations

import builtins
import importlib
import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from types import FrameType, ModuleType
from typing import Any

__all__ = ["Imports", "Line"]

Line = tuple[str, int]  # a file and the number of a line of it

_INSTALLED = ("site-packages", "dist-packages")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _library() -> tuple[str, ...]:
    """Folders of Python's library and of installed packages."""
    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {site.getusersitepackages()}
    return tuple(os.path.join(os.path.realpath(path), "") for path in found)


class Imports:
    """Answers imports of NumPy by the program's files with other modules, from `start` to `stop`.

    A file is the program's if it is in one of the folders, or below, and not in an installed package. So is code
    without a file: lines typed in, and text given to Python or executed by the program.

    >>> imports = Imports(["/home/me/work"], lambda name: None)
    >>> imports.is_program("/home/me/work/model.py"), imports.is_program("/home/me/.venv/site-packages/x.py")
    (True, False)
    """

    def __init__(
        self,
        folders: Iterable[str],
        module: Callable[[str], ModuleType],
        met: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.folders: tuple[str, ...] = ()
        self.add(folders)
        self.module = module  # of a dotted name: "numpy", "numpy.linalg"
        self._met = met  # called with the dotted names of other modules and packages after imports from them
        self._library = _library()
        self._before: tuple[Any, Any] | None = None

    def add(self, folders: Iterable[str]) -> None:
        """Count files in further folders as the program's."""
        self.folders += tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)
        self._files: dict[str, bool] = {}
        self._of_lines: dict[str, bool] = {}  # whether the code of these files is the program's

    def start(self) -> None:
        """Start to replace imports."""
        self._before = builtins.__import__, importlib.import_module
        builtins.__import__ = self._import
        importlib.import_module = self._import_module

    def stop(self) -> None:
        """Restore imports, unless another module has replaced them since."""
        if self._before and builtins.__import__ == self._import:
            builtins.__import__ = self._before[0]
        if self._before and importlib.import_module == self._import_module:
            importlib.import_module = self._before[1]
        self._files.clear()
        self._of_lines.clear()
        self.folders = ()

    def is_program(self, file: str) -> bool:
        """Return whether a file is the program's."""
        known = self._files.get(file)
        if known is None:
            known = self._files[file] = self._look(file)
        return known

    def _look(self, file: str) -> bool:
        if file.startswith("<frozen"):
            return False
        if file.startswith("<"):
            return True  # typed in, or made of text: whose it is, its globals say
        path = os.path.realpath(file)
        if path.startswith((*self._library, _PACKAGE)) or any(f"{os.sep}{name}{os.sep}" in path for name in _INSTALLED):
            return False
        return path.startswith(self.folders)

    def is_programs(self, names: Mapping[str, Any] | None) -> bool:
        """Return whether globals are those of the program's code."""
        if names is None:
            return False
        file = names.get("__file__")
        if isinstance(file, str):
            return self.is_program(file)
        if names.get("__name__") == "__main__":
            return bool(self.folders)
        return "__name__" not in names and self.is_programs(_around(names))

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        """In the place of Python's own function of that name."""
        assert self._before is not None
        if globals is None and name[:5] == "numpy":  # called as a function
            globals = sys._getframe(1).f_globals
        if name[:5] == "numpy" and level == 0 and name[5:6] in ("", ".") and self.is_programs(globals):
            found = self.module(name)
            for part in fromlist or ():
                if not hasattr(found, part):  # a module that nothing has imported yet
                    self._submodule(f"{name}.{part}")
            return found if fromlist or name == "numpy" else self.module("numpy")
        module: ModuleType = self._before[0](name, globals, locals, fromlist, level)
        self._met(name if level == 0 else globals.get("__package__") or "")
        return module

    def _submodule(self, name: str) -> None:
        """Import a module of NumPy's, if there is one of this name, which its package then has as an attribute."""
        try:
            self.module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise

    def _import_module(self, name: str, package: str | None = None) -> ModuleType:
        """In the place of `importlib.import_module`."""
        assert self._before is not None
        if name[:5] == "numpy" and name[5:6] in ("", ".") and self.is_programs(sys._getframe(1).f_globals):
            return self.module(name)
        module: ModuleType = self._before[1](name, package)
        self._met(name)
        return module

    def line(self, depth: int = 1) -> Line | None:
        """Return the innermost line of the program's code, from the caller's on; None: no line of it is running."""
        frame: FrameType | None = sys._getframe(depth)
        while frame is not None:
            file = frame.f_code.co_filename
            found = self._of_lines.get(file)
            if found is None:
                found = not file.startswith(_PACKAGE) and self.is_programs(frame.f_globals)
                if file[0] != "<":  # whose such code is, its globals say
                    self._of_lines[file] = found
            if found:
                return file, frame.f_lineno
            frame = frame.f_back
        return None


def _around(names: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the globals of the nearest caller with other globals than `names` and this module; None without one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (frame.f_globals is names or frame.f_globals is globals()):
        frame = frame.f_back
    return frame.f_globals if frame is not None else None
