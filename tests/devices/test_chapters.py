"""The chapters' programs on GPUs: as the book lists them, as experiments of the tour, and as scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, np, npx
from forerun.gluon import nn
from forerun.tour.experiments import ON_GPUS
from forerun.tour.finding import Experiment, Figure
from tests.support.device_plugins.devices import execute_on_plugin, gpus, settings
from tests.support.paths import ROOT
from tests.support.processes.subprocesses import environment

ASYNCHRONOUS = """
from forerun import d2l, npx
import numpy
npx.set_np()
device = d2l.try_gpu()
a = np.random.normal(size=(100, 100), ctx=device)
b = np.dot(a, a)
npx.waitall()
with d2l.Benchmark("numpy"):
    for _ in range(10):
        a = numpy.random.normal(size=(100, 100))
        b = numpy.dot(a, a)
with d2l.Benchmark("on the GPU"):
    for _ in range(10):
        a = np.random.normal(size=(100, 100), ctx=device)
        b = np.dot(a, a)
with d2l.Benchmark("until it is done"):
    npx.waitall()
x = np.ones((1, 2), ctx=device)
y = np.ones((1, 2), ctx=device)
z = x * y + 2
print(z, z.ctx)
"""

PARALLEL = """
from forerun import d2l, npx
npx.set_np()
devices = d2l.try_all_gpus()
def run(x):
    return [x.dot(x) for _ in range(50)]
x_gpu1 = np.random.uniform(size=(200, 200), ctx=devices[0])
x_gpu2 = np.random.uniform(size=(200, 200), ctx=devices[1])
run(x_gpu1)
run(x_gpu2)
npx.waitall()
with d2l.Benchmark("GPU1 time"):
    run(x_gpu1)
    npx.waitall()
with d2l.Benchmark("GPU2 time"):
    run(x_gpu2)
    npx.waitall()
with d2l.Benchmark("GPU1 & GPU2"):
    run(x_gpu1)
    run(x_gpu2)
    npx.waitall()
def copy_to_cpu(x):
    return [y.copyto(npx.cpu()) for y in x]
with d2l.Benchmark("Run on GPU1"):
    y = run(x_gpu1)
    npx.waitall()
with d2l.Benchmark("Copy to CPU"):
    y_cpu = copy_to_cpu(y)
    npx.waitall()
with d2l.Benchmark("Run on GPU1 and copy to CPU"):
    y = run(x_gpu1)
    y_cpu = copy_to_cpu(y)
    npx.waitall()
same = all((a.asnumpy() == b.asnumpy()).all() for a, b in zip(y, y_cpu))
print(devices, {one.ctx for one in y}, {one.ctx for one in y_cpu}, same)
"""


class TestListings:
    def test_asynchronous_computation(self) -> None:
        done = execute_on_plugin(ASYNCHRONOUS)
        assert done.returncode == 0, done.stderr
        *times, last = done.stdout.splitlines()
        assert [line.split(":")[0] for line in times] == ["numpy", "on the GPU", "until it is done"]
        assert last == "[[3. 3.]] gpu(0)"

    def test_automatic_parallelism(self) -> None:
        done = execute_on_plugin(PARALLEL)
        assert done.returncode == 0, done.stderr
        *times, last = done.stdout.splitlines()
        assert len(times) == 6
        assert last == "[gpu(0), gpu(1)] {gpu(0)} {cpu(0)} True"


@pytest.mark.parametrize("on_gpus", ON_GPUS, ids=lambda experiment: experiment.name)
def test_an_experiment_on_gpus(on_gpus: Experiment, tmp_path: Path) -> None:
    gpus()
    before = forerun.config()
    found = on_gpus.run(quick=True, out=tmp_path)
    assert (found.name, list(found.missed)) == (on_gpus.name, [])
    assert all(any(isinstance(cell, Figure) for cell in row) for table in found.tables for row in table.rows)
    for path in found.pictures:
        assert "gpu(0)" in path.read_text() or "graph" in path.name
    assert forerun.config() == before


def test_experiments_name_the_required_number_of_gpus() -> None:
    gpus()
    from forerun.tour import measure

    with pytest.raises(ValueError, match="gpus: there must be 3 or more, got 2"):
        measure.gpus(3)


def test_the_tour_ends_with_the_rows_of_gpus(tmp_path: Path) -> None:
    found = {}
    for setting in ("off", None):
        program = f"""
import json, sys
from pathlib import Path
from forerun import tour
tour.STOPS[:] = []
found = tour.run(Path({str(tmp_path)!r}), quick=True, silent={setting == "off"})
print(json.dumps([one["name"] for one in found["experiments"]]))
"""
        done = execute_on_plugin(program, **({"FORERUN_PJRT": setting} if setting else {}))
        assert done.returncode == 0, done.stderr
        found[setting] = json.loads(done.stdout.splitlines()[-1])
    assert found["off"] == []
    assert found[None] == [experiment.name for experiment in ON_GPUS]
    assert "1 device, 2 GPUs" in done.stdout


@pytest.mark.parametrize(
    "script",
    [
        "chapters/a1_issue_and_wait.py --device gpu", "chapters/e1_two_devices.py --device gpu",
        "chapters/e2_copies.py --device gpu", "chapters/e3_two_layer_graph.py --device gpu",
        "training/images.py --device gpu --devices 2 --epochs 1 --every 3",
    ],
)  # fmt: skip
def test_a_script_on_gpus(script: str, tmp_path: Path) -> None:
    name, *options = script.split()
    command = [
        sys.executable,
        "-W",
        "error",
        str(ROOT / "examples" / name),
        "--quick",
        "--out",
        str(tmp_path),
        *options,
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(**settings()), capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert "MISSED" not in done.stdout
    assert "WRONG" not in done.stdout
    assert "GPU" in done.stdout or "gpu(0)" in done.stdout or "loss" in done.stdout


def test_training_on_a_cpu_and_two_gpus() -> None:
    """A third of each batch on each; the parameters are those that the CPU alone finds."""
    where = [npx.cpu(0), *gpus()]

    def trained(devices: list[forerun.Device]) -> list[Any]:
        npx.random.seed(3)
        net = nn.HybridSequential()
        net.add(nn.Dense(16, activation="relu", in_units=8), nn.Dense(4, in_units=16))
        net.initialize("xavier", ctx=devices)
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
        loss = gluon.loss.L2Loss()
        rng = numpy.random.default_rng(1)
        for _ in range(5):
            x, y = (np.array(rng.normal(size=(12, n)).astype("float32")) for n in (8, 4))
            parts = zip(*(gluon.utils.split_and_load(each, devices) for each in (x, y)))
            with autograd.record():
                losses = [loss(net(a), b) for a, b in parts]
            autograd.backward(losses)
            trainer.step(12)
        return [p.data(d).asnumpy() for p in net.collect_params().values() for d in devices]

    want = trained([npx.cpu(0)])
    found = trained(where)
    for i, values in enumerate(want):
        for replica in found[3 * i : 3 * i + 3]:
            numpy.testing.assert_allclose(replica, values, rtol=1e-4, atol=1e-6)
            numpy.testing.assert_array_equal(replica, found[3 * i])
