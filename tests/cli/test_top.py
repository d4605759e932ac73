"""`forerun top`: descriptions of running processes, which fork, end, are killed, or do not answer."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from forerun import cli
from forerun._live import client
from forerun._live.folders import candidates
from forerun.cli import top
from tests.support.processes.subprocesses import PATIENCE, environment, execute, output

WAIT = "print('ready', flush=True); input()"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own for the sockets, with a short name, as their paths are limited to a hundred characters."""
    monkeypatch.setattr(top, "_BETWEEN", 0.0)
    with tempfile.TemporaryDirectory() as name:
        monkeypatch.setenv("XDG_RUNTIME_DIR", name)
        yield Path(name, "forerun")


@contextmanager
def visible_program(program: str) -> Iterator[subprocess.Popen[str]]:
    """A program that has printed "ready". In the end it can read a line, and must succeed, unless it is killed."""
    line = [sys.executable, "-W", "error", "-c", program]
    variables = environment(FORERUN_TOP="1", FORERUN_WORKERS="1")
    with subprocess.Popen(line, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.communicate("\n", timeout=PATIENCE)
        assert process.returncode in (0, -signal.SIGKILL)


def description_of(process: int, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert cli.main(["top", str(process), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_counts_memory_and_threads(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    with visible_program(f"from forerun import np\nx = np.ones((500, 500))\nx.wait()\n{WAIT}") as process:
        found = description_of(process.pid, capsys)
        assert found["pid"] == process.pid
        assert found["workers"] == 1
        assert found["stats"]["issued"] == found["stats"]["done"] == 1
        assert found["memory"]["cpu(0)"]["live"] == 4 * 500 * 500
        assert found["threads"] == [{"name": "MainThread", "file": "<string>", "line": 4, "function": "<module>"}]
        assert found["pending"] == []
        assert cli.main(["top"]) == 0  # the only one
        text = capsys.readouterr().out
        assert text.startswith(f"process {process.pid}  {found['command']}\n")
        assert "977 KiB" in text
        assert "MainThread: <string>:4 in <module>" in text
        assert "oldest pending" not in text
    assert list(folder.iterdir()) == []


def test_pending_operations(capsys: pytest.CaptureFixture[str]) -> None:
    program = "from forerun import np, testing\nwith testing.closed_gate():\n    x = np.ones((600, 600)) + 1\n    "
    with visible_program(program + WAIT) as process:
        found = description_of(process.pid, capsys)
        assert found["stats"]["issued"] - found["stats"]["done"] == len(found["pending"]) == 2
        assert "full of <string>:3" in found["pending"][0]
        assert cli.main(["top", str(process.pid)]) == 0
        assert "oldest pending operations\n  operation" in capsys.readouterr().out


def test_a_library_in_a_wait_is_shown_by_the_line_that_called_it(capsys: pytest.CaptureFixture[str]) -> None:
    program = "import threading\nimport forerun\ndone = threading.Event()\ndef work():\n    done.wait()\n"
    start = "thread = threading.Thread(target=work, name='loader')\nthread.start()\n"
    with visible_program(program + start + WAIT + "\ndone.set()") as process:
        (loader,) = [one for one in description_of(process.pid, capsys)["threads"] if one["name"] == "loader"]
        assert (loader["line"], loader["function"]) == (5, "work")


def test_the_process_answers_while_it_waits_for_its_last_operation(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    program = (
        "import atexit, sys, threading, numpy\nfrom forerun import np, npx\n"
        "begun = threading.Event()\natexit.register(begun.set)\n"  # called before the wait for the last operations
        "def task():\n    begun.wait()\n    print('ready', flush=True)\n"
        "    return numpy.full(1, len(sys.stdin.readline()))\n"
        "x = npx.host(task, [], [((1,), 'int64')])\n"
    )
    with visible_program(program) as process:
        assert len(description_of(process.pid, capsys)["pending"]) == 1
    assert list(folder.iterdir()) == []


def test_several_processes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with visible_program(f"from forerun import np\n{WAIT}") as one, visible_program(f"import forerun\n{WAIT}") as other:
        assert cli.main(["top"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert sorted(line.split()[0] for line in lines[1:] if line.split()[0].isdecimal()) == sorted(
            [str(one.pid), str(other.pid)]
        )
        assert cli.main(["top", "--json"]) == 0
        found = [json.loads(line)["pid"] for line in capsys.readouterr().out.splitlines()]
        assert found == sorted([one.pid, other.pid])


def test_a_child_of_a_fork_has_a_socket_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    program = (
        "import os, warnings\nfrom forerun import np\nwarnings.simplefilter('ignore', DeprecationWarning)\n"
        "r, w = os.pipe()\nchild = os.fork()\n"
        "if child == 0:\n    x = np.ones(3000).sum()\n    x.wait()\n    os.read(r, 1)\n    raise SystemExit\n"
        f"{WAIT}\nos.write(w, b'x')\nassert os.waitpid(child, 0)[1] == 0"
    )
    with visible_program(program) as process:
        numbers = set()
        while len(numbers) < 2:  # the child may begin late
            numbers = set(client.processes())
        (child,) = numbers - {process.pid}
        assert description_of(child, capsys)["pid"] == child
        assert description_of(process.pid, capsys)["pid"] == process.pid
    assert client.processes() == {}


def test_watch_ends_with_the_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    with visible_program(f"import forerun\n{WAIT}") as process:
        pauses: list[float] = []

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                process.kill()
                process.wait(PATIENCE)

        monkeypatch.setattr(top, "sleep", pause)
        assert cli.main(["top", str(process.pid), "--watch", "0.2"]) == 0
        seen = capsys.readouterr()
    assert pauses == [0.2] * 3
    assert seen.out.count(f"process {process.pid}") == 2
    assert seen.err == f"forerun top: process {process.pid} has ended\n"
    assert list(folder.iterdir()) == []


def test_a_killed_process(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    with visible_program(f"import forerun\n{WAIT}") as process:
        process.kill()
        process.wait(PATIENCE)
        assert len(list(folder.iterdir())) == 1
        assert cli.main(["top", str(process.pid)]) == 1
    assert capsys.readouterr().err == f"forerun top: process {process.pid} has ended\n"
    assert list(folder.iterdir()) == []


def test_a_process_that_does_not_answer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_PATIENCE", 0.05)
    place = candidates()[0]
    place.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(place / "1.sock"))
        silent.listen()
        assert cli.main(["top", "1"]) == 1
    assert "process 1 has not answered for" in capsys.readouterr().err


def test_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["top"]) == 2
    assert cli.main(["top", "1"]) == 2
    assert cli.main(["top", "1", "--watch", "0"]) == 2
    first, second, third = capsys.readouterr().err.splitlines()
    assert first == "forerun top: no process answers: start the program with FORERUN_TOP=1 in its environment"
    assert second.startswith("forerun top: process 1 does not answer: start the program with FORERUN_TOP=1")
    assert third == "forerun top: --watch must be positive, got 0"


def test_programs_without_the_variable_have_no_thread(folder: Path) -> None:
    program = "import sys, threading\nprint(threading.active_count(), 'forerun._live' in sys.modules)"
    assert output(program) == output(program, FORERUN_TOP="0")[:1] + ["False"] == ["1", "False"]
    assert not folder.exists()


def test_values_that_are_no_switch_are_refused() -> None:
    assert "ValueError: FORERUN_TOP: must be 0 or 1, got 'yes'" in execute("", FORERUN_TOP="yes").stderr


def test_a_folder_that_others_may_enter_is_not_used(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", "from forerun import np; print(np.ones(2).sum().item())"],
        env=environment(FORERUN_TOP="1"), capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert done.stdout == "2.0\n"
    assert f"{folder} must be a folder of this user alone" in done.stderr
    assert list(folder.iterdir()) == []
    assert os.path.isdir(folder)
