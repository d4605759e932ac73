"""Modules compile, run and are found again, on plugins of several versions."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from forerun import _core
from tests.support.device_plugins.plugins import addition, module, open_plugin, plugin_file

ONES = np.ones(4, np.float32)


@pytest.fixture
def client(file_of_plugin: Path) -> Iterator[int]:
    number = open_plugin(file_of_plugin)
    yield number
    _core.pjrt_close(number)


def test_devices_and_versions_are_known(client: int) -> None:
    info = _core.pjrt_info(client)
    assert info["platform"] == "cpu"
    assert [device["id"] for device in info["devices"]] == [0, 1]
    assert int(info["api"].removeprefix("0.")) >= 81
    assert info["attributes"]["stablehlo_current_version"].startswith("1.")


def test_a_module_runs_on_each_device(client: int) -> None:
    for device in range(2):
        (y,) = _core.pjrt_run(client, device, addition(), [ONES, np.arange(4, dtype=np.float32)])
        assert y.tolist() == [1, 2, 3, 4]
    assert _core.pjrt_compile_stats(client)["compiled"] == 1


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("bool", "i1"), ("int8", "i8"), ("int16", "i16"), ("int32", "i32"), ("int64", "i64"),
        ("uint8", "ui8"), ("uint16", "ui16"), ("uint32", "ui32"), ("uint64", "ui64"),
        ("float16", "f16"), ("float32", "f32"), ("float64", "f64"),
        ("complex64", "complex<f32>"), ("complex128", "complex<f64>"),
    ],
)  # fmt: skip
def test_dtypes_and_shapes_stay(client: int, dtype: str, name: str) -> None:
    for shape in [(), (0,), (3,), (2, 0), (2, 3)]:
        x = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
        t = "tensor<" + "".join(f"{n}x" for n in shape) + f"{name}>"
        (y,) = _core.pjrt_run(client, 0, module("return %a : " + t, f"%a: {t}", t), [x])
        assert (y.dtype, y.shape) == (x.dtype, x.shape)
        assert np.array_equal(x, y)


def test_donated_arguments_may_be_kept(client: int) -> None:
    for kept in [(), (0,)]:
        (y,) = _core.pjrt_run(client, 0, addition(donated=True), [ONES, ONES], kept, "train.py:12")
        assert y.tolist() == [2, 2, 2, 2]


def test_errors_of_the_compiler_have_its_text(client: int) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match="nonsense"):
            _core.pjrt_run(client, 0, "nonsense", [])
    assert _core.pjrt_compile_stats(client)["held"] == 0


def test_arguments_of_another_size_are_refused(client: int) -> None:
    with pytest.raises(ValueError, match="parameter 1"):
        _core.pjrt_run(client, 0, addition(), [ONES, ONES[:2]])


def test_too_much_memory_is_a_memory_error(client: int) -> None:
    t = "tensor<400000000000xf32>"
    text = module(f"%r = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> {t}", "%a: tensor<f32>", t)
    with pytest.raises(MemoryError, match="1600000000000"):
        _core.pjrt_run(client, 0, text, [np.float32(1)])


def test_the_modules_used_last_are_held(file_of_plugin: Path) -> None:
    client = open_plugin(file_of_plugin, most=2)
    for size in (1, 2, 1, 3, 1, 2):
        _core.pjrt_run(client, 0, addition(size), [np.ones(size, np.float32)] * 2)
    stats = _core.pjrt_compile_stats(client)
    assert (stats["compiled"], stats["found"], stats["dropped"], stats["held"]) == (4, 2, 2, 2)
    _core.pjrt_close(client)


def test_the_next_client_reads_files(file_of_plugin: Path, tmp_path: Path) -> None:
    for compiled, from_disk in [(1, 0), (0, 1)]:
        client = open_plugin(file_of_plugin, tmp_path / "modules")
        for device in range(2):
            (y,) = _core.pjrt_run(client, device, addition(), [ONES, ONES])
            assert y.tolist() == [2, 2, 2, 2]
        stats = _core.pjrt_compile_stats(client)
        assert (stats["compiled"], stats["from_disk"]) == (compiled, from_disk)
        _core.pjrt_close(client)
    assert [path.suffix for path in (tmp_path / "modules").iterdir()] == [".module"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "of another key"])
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: str) -> None:
    plugin = plugin_file("fastatomstruct-xla-cpu")
    client = open_plugin(plugin, tmp_path)
    _core.pjrt_run(client, 0, addition(), [ONES, ONES])
    (file,) = tmp_path.iterdir()
    good = file.read_bytes()
    bad = {"cut": good[:-9], "empty": b"", "of another key": good.replace(b"xf32", b"xf64")}
    file.write_bytes(bad.get(damage, good[:-1] + bytes([good[-1] ^ 1])))
    _core.pjrt_close(client)
    client = open_plugin(plugin, tmp_path)
    (y,) = _core.pjrt_run(client, 0, addition(), [ONES, ONES])
    assert y.tolist() == [2, 2, 2, 2]
    assert _core.pjrt_compile_stats(client)["compiled"] == 1
    assert file.read_bytes()[:8] == b"forerun1"
    assert len(file.read_bytes()) > len(good) // 2
    _core.pjrt_close(client)


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    client = open_plugin(plugin_file("fastatomstruct-xla-cpu"), tmp_path / "file" / "modules")
    assert _core.pjrt_run(client, 0, addition(), [ONES, ONES])[0].tolist() == [2, 2, 2, 2]
    _core.pjrt_close(client)


def test_threads_share_one_compilation(client: int) -> None:
    results: list[list[float]] = []

    def work() -> None:
        results.append(_core.pjrt_run(client, 0, addition(), [ONES, ONES])[0].tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[2, 2, 2, 2]] * 4
    assert _core.pjrt_compile_stats(client)["compiled"] == 1


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_gets_an_error(client: int) -> None:
    _core.pjrt_run(client, 0, addition(), [ONES, ONES])
    child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            _core.pjrt_run(client, 0, addition(), [ONES, ONES])
        except RuntimeError as error:
            os._exit(7 if "forked child" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_closed_client_is_named() -> None:
    with pytest.raises(IndexError, match="the client must be open, got number 12345"):
        _core.pjrt_info(12345)
