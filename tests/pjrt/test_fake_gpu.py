"""The fake device behaves like a remote one: it is late, has little memory, fails, and reports events in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from forerun import _core
from tests.support.device_plugins.plugins import addition, open_plugin, plugin_file

ONES = np.ones(4, np.float32)
Open = Callable[..., int]


@pytest.fixture
def opened(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens it with settings."""
    clients: list[int] = []
    monkeypatch.setenv("FORERUN_FAKE_GPU_PLUGIN", str(plugin_file("xla-cpu-pjrt")))

    def opened(**settings: object) -> int:
        for name, value in settings.items():
            monkeypatch.setenv(f"FORERUN_FAKE_GPU_{name.upper()}", str(value))
        clients.append(open_plugin(library))
        return clients[-1]

    yield opened
    for client in clients:
        _core.pjrt_close(client)


def add(client: int, device: int = 0) -> list[float]:
    return _core.pjrt_run(client, device, addition(), [ONES, ONES])[0].tolist()


@pytest.mark.parametrize("order", ["", "at_once", "reversed"])
def test_results_are_those_of_the_plugin_below(opened: Open, order: str) -> None:
    client = opened(execute_us=100, bandwidth=1, order=order)
    assert _core.pjrt_info(client)["platform"] == "fake_gpu"
    assert [add(client, device) for device in (0, 1, 0)] == [[2, 2, 2, 2]] * 3


def test_memory_is_bounded_and_given_back(opened: Open) -> None:
    client = opened(bytes=4096)
    for _ in range(100):
        assert add(client) == [2, 2, 2, 2]
    device = _core.pjrt_info(client)["devices"][0]
    assert (device["memory_in_use"], device["memory_limit"]) == (0, 4096)
    assert 0 < device["memory_peak"] <= 4096
    many = np.ones(1024, np.float32)
    with pytest.raises(MemoryError, match="4096 bytes do not fit"):
        _core.pjrt_run(client, 0, addition(1024), [many, many])
    assert add(client) == [2, 2, 2, 2]


@pytest.mark.parametrize("later", [0, 1])
def test_one_execution_fails(opened: Open, later: int) -> None:
    client = opened(fail_execute=2, fail_later=later)
    assert add(client) == [2, 2, 2, 2]
    with pytest.raises(RuntimeError, match="fake_gpu: this execution was to fail"):
        add(client)
    assert add(client) == [2, 2, 2, 2]


def test_one_copy_and_one_compilation_fail(opened: Open) -> None:
    client = opened(fail_copy=1, fail_compile=1)
    with pytest.raises(RuntimeError, match="this compilation was to fail"):
        add(client)
    with pytest.raises(RuntimeError, match="this copy was to fail"):
        add(client)
    assert add(client) == [2, 2, 2, 2]
