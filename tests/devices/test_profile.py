"""The profiler on GPUs: a lane for each device and queue, the compiled modules, and the operations that ran on the
host."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import forerun
from forerun import np, npx, profiler
from tests.support.device_plugins.devices import gpus

HERE = str(Path(__file__))


@pytest.fixture
def devices() -> list[forerun.Device]:
    return gpus()


def program(devices: list[forerun.Device]) -> Any:
    """Products on both devices, copied to the host; of a size that no other test has, so that modules are new."""
    x = [np.ones((61, 67), device=device) for device in devices]
    return [np.matmul(each, each.T).copyto(npx.cpu(0)) for _ in range(3) for each in x]


def test_each_device_has_lanes_of_its_own(devices: list[forerun.Device]) -> None:
    with profiler.record() as p:
        found = program(devices)
    ops = [e for e in p.trace.ops if p.trace.device_name(e.device)[:3] == "gpu"]
    assert {e.name for e in ops} >= {"matmul", "copy to host"}
    lanes: dict[int, list[profiler.Event]] = {}
    for e in ops:
        lanes.setdefault(e.thread, []).append(e)
    assert {(e.device, e.queue) for e in ops} == {(of[0].device, of[0].queue) for of in lanes.values()}
    for of in lanes.values():
        assert len({(e.device, e.queue) for e in of}) == 1
        times = sorted((e.started, e.ended) for e in of)
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(times))
    ends = p.trace.ends()
    for e in ops:
        assert all(min(ends[d], e.ended) <= e.started for d in e.deps if d in ends), e
    picture = profiler.timeline(p.trace)
    for label in ("gpu(0)", "gpu(1)", "operations", "copies"):
        assert label in picture
    assert found[0].shape == (61, 61)


def test_the_limit_is_the_device_that_works_all_the_time() -> None:
    made = [
        profiler.Event("op", i, "matmul", None, 70_000, 192, "compute", 0.0, float(i), float(i + 1)) for i in range(10)
    ]
    limit = profiler.bound(profiler.Trace.from_events(made))
    assert (limit.kind, limit.share) == ("device", 1.0)
    assert "the device is the limit" in str(limit)


def test_compiled_modules_and_host_operations_by_line(devices: list[forerun.Device], tmp_path: Path) -> None:
    one = devices[0]
    with profiler.record(tmp_path / "trace") as p:
        x = np.ones((3, 3), device=one) + np.eye(3, device=one)
        y = [np.linalg.inv(x) for _ in range(3)]
        z = np.tanh(np.ones((59, 3), device=one)) - 1
        forerun.wait([*y, z])
    trace = p.trace
    inverse, tanh = (next(e.site for e in trace.ops if e.name == name) for name in ("inv", "tanh"))
    assert [(row.name, row.site, row.times) for row in trace.on_host] == [("inv", inverse, 3)]
    row = next(row for row in trace.compiled if row.name == "tanh")
    assert (row.site, row.modules) == (tanh, 1)
    assert row.seconds > 0
    report = profiler.report(trace)
    modules = sum(row.modules for row in trace.compiled)
    assert f"compiled {modules} modules in " in report
    assert "3 operations of devices ran on the host, between copies" in report
    assert f"{HERE}:{tanh[1]}  tanh" in report.split("modules compiled by line")[1]
    assert f"{HERE}:{inverse[1]}  inv" in report.split("on the host by line")[1]
    again = profiler.load(tmp_path / "trace")
    assert [(row.name, row.site, row.times) for row in again.on_host] == [("inv", inverse, 3)]
    assert {(row.name, row.site) for row in again.compiled} == {(row.name, row.site) for row in trace.compiled}


def test_programs_without_gpus_have_no_gpu_lines(devices: list[forerun.Device]) -> None:
    for device in (npx.cpu(0), devices[0]):
        with device:
            program([device])  # compiles, and computes
            forerun.waitall()
            kept = program([device])
            forerun.waitall()
            with profiler.record() as p:
                kept = program([device])
        assert (p.trace.compiled, p.trace.on_host) == ([], [])
        report = profiler.report(p.trace)
        assert "compiled" not in report
        assert "on the host" not in report
        del kept
