"""The benchmark of GPUs runs on the device that behaves like one far away, so that it works where there is a card."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.device_plugins.devices import NAME
from tests.support.device_plugins.plugins import fake_gpu, plugin_file
from tests.support.paths import ROOT


def test_benchmark_on_the_fake_gpu(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    environment = {
        **os.environ,
        "FORERUN_FAKE_GPU_PLUGIN": str(plugin_file(NAME)),
        "FORERUN_FAKE_GPU_EXECUTE_US": "20",
        "FORERUN_PJRT": str(fake_gpu()),
        "FORERUN_MODULE_CACHE": "",
    }
    # All rows but those of the networks of dense layers, which are in the one with convolutions, too.
    names = ["issue", "eager", "chain", "product", "softmax", "LeNet", "copies", "several"]
    options = ["--quick", "--rounds", "1", "--only", *names, "--json", str(figures)]
    command = [sys.executable, "benchmarks/gpu.py", *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(figures.read_text())
    assert found["device"] == "gpu(0)"
    rows = {row["row"]: row for row in found["rows"]}
    assert {"product of 256 x 256", "training step, LeNet", "ten on each of two devices"} <= set(rows)
    assert not [name for name, row in rows.items() if row["wrong"] is not None or "still compiles" in name]
    assert "on the host" not in done.stdout, done.stdout
