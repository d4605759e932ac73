"""The devices of a plugin for tests: in this process, or in a program of its own."""

from __future__ import annotations

import subprocess

import pytest

import forerun
from forerun._runtime import device
from tests.support.plugins import plugin_file
from tests.support.subprocesses import execute, output

NAME = "fastatomstruct-xla-cpu"


def gpus(n: int = 2) -> list[forerun.Device]:
    """Return `n` devices of the plugin, which is opened once per process; the test is skipped where it is missing."""
    path = plugin_file(NAME)
    if not device.has_open_plugins():
        forerun.configure(pjrt=str(path), module_cache=None)
    if forerun.num_gpus() < n:
        pytest.skip(f"{forerun.num_gpus()} devices, of {n} that the test needs")
    return [forerun.gpu(i) for i in range(n)]


def words_of(program: str, **more: str) -> list[str]:
    """Return the words that a program prints that has the plugin's devices."""
    return output(program, FORERUN_PJRT=str(plugin_file(NAME)), FORERUN_MODULE_CACHE="", **more)


def run(program: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program that has the plugin's devices to its end."""
    return execute(program, FORERUN_PJRT=str(plugin_file(NAME)), FORERUN_MODULE_CACHE="", **more)
