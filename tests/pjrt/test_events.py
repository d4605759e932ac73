"""The core's own program on clients (core/tests/pjrt/test_pjrt_events.cpp), on a plugin and on the fake device."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.device_plugins.plugins import fake_gpu, plugin_file
from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler")
    path = tmp_path_factory.mktemp("events") / "events"
    core = ROOT / "core"
    built = ROOT / "build" / "venv" / "libforerun_core.a"  # by make
    of_plugins = [*(core / "pjrt").glob("*.cpp"), *(core / "pjrt" / "modules").glob("*.cpp")]
    others = [built] if built.exists() else [*of_plugins, core / "memory" / "registered_blocks.cpp"]
    sources = map(str, [core / "tests" / "pjrt" / "test_pjrt_events.cpp", *others])
    command = [compiler, "-std=c++20", "-O0", f"-I{core}", "-o", str(path), *sources, "-ldl", "-pthread"]
    subprocess.run(command, check=True)
    return path


@pytest.mark.parametrize("order", ["plugin", "", "at_once", "reversed"])
def test_events_are_delivered_once_and_memory_is_unregistered(program: Path, order: str) -> None:
    below = plugin_file("xla-cpu-pjrt")
    plugin = below if order == "plugin" else fake_gpu()
    settings = {"FORERUN_TEST_PLUGIN": plugin, "FORERUN_FAKE_GPU_PLUGIN": below, "FORERUN_FAKE_GPU_ORDER": order}
    environment = os.environ | {name: str(value) for name, value in settings.items()}
    done = subprocess.run([program], env=environment, timeout=60, check=True, capture_output=True, text=True)
    assert done.stdout == ""
    assert "fake_gpu" not in done.stderr
