"""Text run as a file of a program that gets forerun as NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from forerun.as_numpy import install_as_numpy, uninstall_as_numpy
from forerun.as_numpy.libraries import Libraries

Run = Callable[..., dict[str, Any]]
SETUP = (
    "import json, numpy as np\n"
    "from collections import abc\n"
    "x = np.arange(6).reshape(2, 3)\n"
    "f = np.linspace(0, 1, 5)\n"
    "def stepped(v, flags):\n"
    "    found = []\n"
    "    with np.nditer(v, flags, ['readwrite']) as it:\n"
    "        while not it.finished:\n"
    "            v[it.multi_index if 'multi_index' in flags else ()] += 1\n"
    "            found.append((float(it[0]), float((v * v).sum()), it.index if 'c_index' in flags else it.iterindex))\n"
    "            it[0] = 0.5 * it.value\n"
    "            it.iternext()\n"
    "    return found, v\n"
    "class Sub(np.ndarray):\n"
    "    pass\n"
    "sub = np.zeros(2).view(Sub) if type(np.zeros(2)).__mro__[1] is object else np.ndarray.__getitem__ and Sub((2,))\n"
    "sub[...] = 0\n"
)
FRAME = "import pandas\nframe = pandas.DataFrame({'a': [1.0, 2.0], 'b': [3, 4]})\n"


def value_of(expression: str, names: dict[str, Any]) -> str:
    """Return its value, as text; or its error. Only where it has the word `frame` the program imports pandas."""
    if "frame" in expression and "frame" not in names:
        exec(FRAME, names)
    try:
        found = eval(expression, names)
        text = repr(found)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return text.replace("ndarray at", "")


def values_with_both(expression: str, namespaces: list[dict[str, Any]], program: str = "") -> tuple[str, ...]:
    """Return its values with NumPy and with forerun, as text, after a program in both namespaces of with_both()."""
    for space in namespaces:
        exec(FRAME + program if "frame" in program else program, space)
    return tuple(value_of(expression, space) for space in namespaces)


def check_with_both(expression: str, namespaces: list[dict[str, Any]], program: str) -> None:
    """Check that its value is the same with NumPy and with forerun, and no error."""
    expected, found = values_with_both(expression, namespaces, program)
    assert found == expected
    assert "Error" not in expected


@contextmanager
def numpy_replaced(folder: Path) -> Iterator[None]:
    """Inside, files of the folder get forerun as NumPy."""
    install_as_numpy(folder)
    try:
        yield
    finally:
        uninstall_as_numpy()


@contextmanager
def programs_in(folder: Path) -> Iterator[Run]:
    """Gives a function that runs text as a file of the folder, and returns its names."""

    def run(text: str, name: str = "__main__") -> dict[str, Any]:
        file = folder / "script.py"
        file.write_text(text, encoding="utf-8")
        names: dict[str, Any] = {"__name__": name, "__file__": str(file)}
        exec(compile(text, str(file), "exec"), names)
        return names

    with numpy_replaced(folder):
        yield run


@contextmanager
def with_both(folder: Path) -> Iterator[list[dict[str, Any]]]:
    """Gives names of a program with NumPy, and with forerun in the folder.

    The libraries that other tests have imported are adapted once the program imports one, as in a process of its own;
    that takes longer than most tests.
    """
    spaces: list[dict[str, Any]] = [{"__file__": str(folder.parent / "with.py")}, {"__file__": str(folder / "with.py")}]
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Libraries, "adapt", lambda libraries: None)
            stack.enter_context(numpy_replaced(folder))
        for space in spaces:
            exec(SETUP, space)
        yield spaces
        for space in spaces:
            space.clear()
