"""Exceptions of host tasks, ordinary and strange: reads raise the task's exception unchanged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from forerun import _core, np
from forerun.np import host
from tests.support.engine.settings import running
from tests.support.processes.subprocesses import execute


@pytest.fixture(params=["sync", "1 worker", "4 workers"])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each mode; errors may stay unread."""
    with running(request.param):
        yield request.param
        _core.quiesce()
        _core.unseen_failures()


class Mute(Exception):
    """Its `str` and `repr` raise."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Noteless(Exception):
    """Takes no notes."""

    def add_note(self, note: str) -> None:
        raise TypeError("no notes")


class Closed(Exception):
    """Takes no attributes at all."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(name)


class OddNotes(Exception):
    """Has something else where its notes should be."""

    __notes__ = 5


class Surrogates(Exception):
    """Has a text that is not valid UTF-8."""

    def __str__(self) -> str:
        return "\udcff"


def errors_of_reads(error: BaseException, times: int = 3) -> list[BaseException]:
    """Return the errors that readers of a task's result get, if the task raises the error."""

    def task() -> None:
        raise error

    found: list[BaseException] = []
    try:
        x = host(task, [], [((), "int64")])[0]
    except BaseException as caught:  # synchronous mode
        return [caught]
    for _ in range(times):
        with pytest.raises(type(error)) as info:
            x.item()
        found.append(info.value)
    return found


@pytest.mark.parametrize(
    "kind", [Mute, Noteless, Closed, OddNotes, Surrogates, KeyboardInterrupt, SystemExit, GeneratorExit]
)
def test_strange_exceptions(kind, engine):
    error = kind("here")
    for found in errors_of_reads(error):
        assert type(found) is kind
        assert found.args == ("here",)
    assert (np.ones(3) + 1).tolist() == [2, 2, 2]  # the worker is well


def test_exceptions_that_refuse_notes(engine):
    """The note is added all the same where it can be."""
    assert all(len(found.__notes__) == 1 for found in errors_of_reads(Noteless("here")))


def test_each_read_starts_anew(engine):
    """Notes of a reader, and its place in the traceback, are not part of the next reader's error."""
    error = KeyError("here")
    error.add_note("of the task")

    def task() -> None:
        try:
            raise OSError("inner")
        except OSError:
            raise error  # noqa: B904

    if engine == "sync":
        return
    x = host(task, [], [((), "int64")])[0]
    for _ in range(3):
        try:
            raise IndexError("unrelated")
        except IndexError:
            with pytest.raises(KeyError) as caught:
                x.item()
        assert [n.partition(" at")[0] for n in caught.value.__notes__] == ["of the task", "issued"]
        assert isinstance(caught.value.__context__, OSError)
        caught.value.add_note("of the reader")


def test_an_error_that_passes_through_a_task(engine):
    """A task that reads a bad array fails with its error. Both lines are reported; the first array reports its own."""
    if engine == "sync":
        return
    x = host(lambda: {}["here"], [], [((), "int64")])[0]
    y = host(lambda: x.item(), [], [((), "int64")])[0]
    for array, notes in ((y, 2), (x, 1), (y, 2)):
        with pytest.raises(KeyError) as caught:
            array.item()
        assert len(caught.value.__notes__) == notes


def test_many_threads_read_one_error(engine):
    if engine == "sync":
        return
    x = host(lambda: {}["here"], [], [((), "int64")])[0]
    found: list[Any] = []

    def reads() -> None:
        for _ in range(100):
            try:
                x.item()
            except KeyError as error:
                found.append((error.args, len(error.__notes__)))

    threads = [threading.Thread(target=reads) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [(("here",), 1)] * 400


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("class E(Exception):\n    def __str__(self): raise ValueError\n", "E, whose text could not be had"),
        ("class E(Exception):\n    def __str__(self): return '\\udcff'\n", "E: \\udcff"),
        ("E = SystemExit\n", "SystemExit: here"),
        ("E = KeyboardInterrupt\n", "KeyboardInterrupt: here"),
    ],
)
def test_at_exit(error, message):
    done = execute(f"{error}def task():\n    raise E('here')\nhost(task, [], [])\n")
    assert done.returncode == 1
    assert done.stderr.endswith(f"an error that no read has raised: {message}\n")


def test_system_exit_of_a_task_is_raised_at_the_read():
    done = execute("def task():\n    raise SystemExit(4)\nhost(task, [], [((), 'int64')])[0].item()\n")
    assert (done.returncode, done.stderr) == (4, "")


def test_file_names_that_are_no_utf_8(tmp_path):
    """The line is reported with the file's name as Python writes it."""
    name = b"/tmp/\xff.py"
    program = f"""
import os
code = compile("y = np.take(np.ones(3), np.array([7]))", os.fsdecode({name!r}), "exec")
exec(code)
try: y.wait()
except IndexError as error: print(ascii(error.__notes__))
"""
    assert execute(program).stdout == f"['issued at {ascii(name.decode('utf-8', 'surrogateescape'))[1:-1]}:1']\n"
