"""Programs written for NumPy, run as they are: their `import numpy` finds forerun, by NumPy's rules.

This holds in the program's own files; installed packages keep NumPy. A function that forerun lacks is NumPy's, with
arrays converted, and `report()` lists the lines that called one.

>>> import forerun
>>> forerun.install_as_numpy()
>>> import numpy as np
>>> x = np.arange(6).reshape(2, 3)
>>> x.mean(), x.dtype, isinstance(x, np.ndarray)                                # doctest: +SKIP
(np.float64(2.5), dtype('int64'), True)
>>> forerun.as_numpy.uninstall_as_numpy()
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import numpy

from .._display.namespaces import dir_of
from ..ops._base import promotion as dtype_rules
from .arrays import extended
from .compiled import extension_modules
from .conversion import Numpy, pickled_by_name
from .importing import Imports, Line
from .libraries import ADAPTED, Libraries
from .modules import Modules
from .program_classes import converted
from .reports import Report

__all__ = ["install_as_numpy", "report", "uninstall_as_numpy"]
__dir__ = dir_of(__name__)


_LIBRARIES = {name.partition(".")[0] for name in ADAPTED}


class _Installation:
    """The state between `install_as_numpy` and `uninstall_as_numpy`."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.report = Report(self._line)
        self.calls = Numpy(self.report)
        self.imports = Imports(folders, lambda name: self.modules(name), self._met)
        self.modules = Modules(self.calls, self.imports.is_programs)
        self.libraries = Libraries(self.imports.is_programs, self.modules)
        self._undo = ExitStack()

    def start(self) -> None:
        self._undo.enter_context(dtype_rules.as_numpy())
        self._undo.enter_context(extended(self.calls, self._module_for))
        self._undo.enter_context(pickled_by_name(self.modules))
        self._undo.enter_context(extension_modules(self.imports.is_program))
        self._undo.enter_context(converted(self.imports.is_programs, self.modules.counterpart))
        self.imports.start()
        self.libraries.adapt()

    def stop(self) -> None:
        self.imports.stop()
        self.libraries.restore()
        self._undo.close()

    def _module_for(self, names: Mapping[str, Any]) -> ModuleType:
        """Return what code with these globals gets as NumPy."""
        return self.modules("numpy") if self.imports.is_programs(names) else numpy

    def _met(self, name: str) -> None:
        """Adapt a library after an import of it."""
        if name.partition(".")[0] in _LIBRARIES:
            self.libraries.adapt()

    def _line(self) -> Line | None:
        return self.imports.line(4)  # this one, the report's, and that of `Numpy` which calls it are not the program's


_installed: _Installation | None = None


def install_as_numpy(*folders: str | os.PathLike[str]) -> None:
    """Make `import numpy` give forerun's functions to the program's own files, from now on, in this process.

    Creation and promotion follow NumPy's rules from then on (float64), for `forerun.np` too. Call it before the
    program's files are imported: a module that has imported NumPy keeps it. A further call adds folders.

    Parameters
    ----------
    *folders : path
        Where the program's files are, at any depth; by default the folder of the file that calls, or the current one
        where there is no file, as in a notebook. Installed packages below them keep NumPy.

    Examples
    --------
    >>> import forerun
    >>> forerun.install_as_numpy()  # doctest: +SKIP
    >>> import numpy as np  # doctest: +SKIP
    >>> np.ones(2).dtype  # doctest: +SKIP
    dtype('float64')
    """
    global _installed
    given = tuple(os.fspath(folder) for folder in folders) or (_folder_of(sys._getframe(1).f_globals),)
    if _installed is not None:
        _installed.imports.add(given)
        return
    _installed = _Installation(given)
    _installed.start()


def uninstall_as_numpy() -> None:
    """Undo `install_as_numpy`: imports find NumPy, and the defaults of creation are forerun's (`npx.reset_np`).

    Modules that have imported NumPy meanwhile keep that module. Without an installation nothing happens.

    Examples
    --------
    >>> import forerun
    >>> forerun.as_numpy.uninstall_as_numpy()
    """
    global _installed
    if _installed is not None:
        _installed.stop()
        _installed = None


def report() -> Report | None:
    """Return the calls that fell back to NumPy since `install_as_numpy`, by line. Print it.

    Returns
    -------
    Report or None
        None if NumPy is not replaced.

    Examples
    --------
    >>> import forerun
    >>> forerun.as_numpy.report() is None
    True
    """
    return _installed.report if _installed is not None else None


def _folder_of(names: dict[str, Any]) -> str:
    file = names.get("__file__")
    return os.path.dirname(os.path.abspath(file)) if isinstance(file, str) else os.getcwd()


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext forerun.as_numpy` in a notebook: its cells, and modules in its folder, get forerun as NumPy."""
    install_as_numpy(os.getcwd())


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext forerun.as_numpy`."""
    uninstall_as_numpy()
