"""The devices of a plugin for tests: in this process, or in a program of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import forerun
from forerun._runtime import device
from tests.support.device_plugins.plugins import FILES, plugin_file
from tests.support.processes.subprocesses import execute, output

# One of tests.support.device_plugins.plugins.FILES, or the path of a plugin of GPUs.
NAME = os.environ.get("FORERUN_TEST_PLUGIN", "fastatomstruct-xla-cpu")
WHOLE = "FORERUN_TEST_PLUGIN" in os.environ  # `make gpu-tests`, which has more cases
_opened: list[forerun.Device] = []


def gpus(n: int = 2, modules: Path | None = None) -> list[forerun.Device]:
    """Return `n` devices of the plugin, which is opened once per process; the test is skipped where it is missing.

    modules: a folder of compiled modules, where it opens the plugin.
    """
    setting = _setting()
    if not _opened:
        forerun.configure(pjrt=setting, module_cache=modules and str(modules))
        forerun.num_gpus()
        _opened.extend(device._found.gpus or [])
    device._found.gpus = _opened
    if forerun.num_gpus() < n:
        pytest.skip(f"{forerun.num_gpus()} devices, of {n} that the test needs")
    return [forerun.gpu(i) for i in range(n)]


def _setting() -> str:
    """Return the plugin for FORERUN_PJRT: one of GPUs twice, which gives two devices where there is one GPU."""
    path = plugin_file(NAME)
    return str(path) if NAME in FILES else f"{path},{path}"


def hide() -> None:
    """Leave the process without GPUs, as tests elsewhere expect it, until `gpus` is called."""
    if _opened:
        device._found.gpus = []
        device._used.difference_update(device.FIRST_GPU + one.device_id for one in _opened)


def settings() -> dict[str, str]:
    """Return the variables of a process that has the plugin's devices."""
    return {"FORERUN_PJRT": _setting(), "FORERUN_MODULE_CACHE": ""}


def words_of(program: str, **more: str) -> list[str]:
    """Return the words that a program prints that has the plugin's devices."""
    return output(program, **settings() | more)


def execute_on_plugin(program: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program that has the plugin's devices to its end."""
    return execute(program, **settings() | more)
