"""Several processes use one folder of compiled modules at the same time."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.device_plugins.plugins import addition
from tests.support.processes.subprocesses import PATIENCE, command, environment

SIZES = range(1, 7)
# Waits for a line, runs a module for each size, and prints how many were compiled and how many were read.
PROGRAM = """
import sys
import numpy
client = _core.pjrt_load({plugin!r}, {{"cpu_device_count": 1}}, {folder!r}, 512)
print("ready", flush=True)
sys.stdin.readline()
for size, text in {modules!r}:
    ones = numpy.ones(size, numpy.float32)
    (y,) = _core.pjrt_run(client, 0, text, [ones, ones])
    assert y.tolist() == [2.0] * size
stats = _core.pjrt_compile_stats(client)
_core.pjrt_close(client)
print(stats["compiled"], stats["from_disk"])
"""


def modules_of_processes(plugin: Path, folder: Path, processes: int) -> list[tuple[int, int]]:
    """Return how many modules each of some processes compiled and read, which begin at the same time."""
    modules = [(size, addition(size)) for size in SIZES]
    program = PROGRAM.format(plugin=str(plugin), folder=str(folder), modules=modules)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment()}
    started = [subprocess.Popen(command(program), **pipes) for _ in range(processes)]  # type: ignore[call-overload]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=PATIENCE)[0] for process in started]
    assert [process.returncode for process in started] == [0] * processes
    return [tuple(map(int, words.split())) for words in outputs]  # type: ignore[misc]


def test_processes_share_a_folder(file_of_plugin: Path, tmp_path: Path) -> None:
    for compiled, read in modules_of_processes(file_of_plugin, tmp_path, 3):
        assert compiled + read == len(SIZES)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".module"] * len(SIZES)
    assert modules_of_processes(file_of_plugin, tmp_path, 2) == [(0, len(SIZES))] * 2


def test_a_file_damaged_by_another_process_is_compiled_again(file_of_plugin: Path, tmp_path: Path) -> None:
    modules_of_processes(file_of_plugin, tmp_path, 1)
    first, second, *rest = sorted(tmp_path.iterdir())
    first.write_bytes(first.read_bytes()[:-1])
    second.unlink()
    assert modules_of_processes(file_of_plugin, tmp_path, 1) == [(2, len(rest))]
    assert modules_of_processes(file_of_plugin, tmp_path, 1) == [(0, len(SIZES))]
