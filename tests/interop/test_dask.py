"""Dask with forerun's chunks: how many bytes they have, how they travel, and a cluster of two worker processes."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import np, npx
from tests.support.engine.late_arrays import failing_array
from tests.support.paths import ROOT
from tests.support.processes.subprocesses import environment, output

for library in ("distributed", "zarr"):
    pytest.importorskip(library, reason=f"needs {library}, which the extra `clients` installs")

sizeof = pytest.importorskip("dask.sizeof").sizeof
protocol = pytest.importorskip("distributed.protocol.serialize")


class Stubborn(Exception):
    """An error that does not come back from a pickle."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def place(x: Any) -> int:
    """The address of the values of an array."""
    return int(x.numpy().__array_interface__["data"][0])


class TestTransport:
    @pytest.mark.parametrize(
        "dtype", ["float64", "float32", "bfloat16", "float16", "int8", "uint64", "bool", "complex64"]
    )
    @pytest.mark.parametrize("shape", [(6, 4), (0, 3), (), (1,)])
    def test_values_shapes_and_dtypes(self, dtype, shape):
        x = (np.arange(24) % 5)[: int(numpy.prod(shape))].reshape(shape).astype(dtype)
        y = protocol.deserialize(*protocol.serialize(x))
        assert (type(y), y.dtype, y.shape, y.device) == (type(x), x.dtype, x.shape, x.device)
        assert y.tobytes() == x.tobytes()

    def test_neither_side_copies(self):
        x = np.arange(1000.0)
        header, frames = protocol.serialize(x)
        assert header["serializer"] == "dask"
        y = protocol.deserialize(header, frames)
        assert place(y) == place(x)

    def test_serialized_frames_keep_their_values(self):
        x = np.arange(1000.0)
        header, frames = protocol.serialize(x)
        x += 1
        y = protocol.deserialize(header, frames)
        y *= 2
        assert bytes(frames[0]) == numpy.arange(1000.0, dtype="float32").tobytes()
        assert (float(y[3]), float(x[3])) == (6, 4)

    @pytest.mark.parametrize("view", [lambda x: x[::2], lambda x: x.T, lambda x: x[:, 1]])
    def test_views(self, view):
        x = view(np.arange(24.0).reshape(4, 6))
        assert protocol.deserialize(*protocol.serialize(x)).tolist() == x.tolist()

    def test_memory_that_is_not_aligned_is_copied(self):
        x = np.arange(100.0, dtype="float64")
        header, frames = protocol.serialize(x)
        odd = bytearray(1) + bytearray(frames[0])
        y = protocol.deserialize(header, [memoryview(odd)[1:]])
        assert place(y) % 8 == 0
        assert y.tolist() == x.tolist()

    def test_a_frame_that_was_split_is_put_together(self):
        header, frames = protocol.serialize(np.arange(100.0))
        parts = [memoryview(frames[0])[:100], memoryview(frames[0])[100:]]
        loads = protocol.dask_deserialize.dispatch(forerun.np.ndarray)
        assert loads(header["sub-header"], parts).tolist() == list(range(100))

    def test_pickles_travel_out_of_band(self):
        import pickle

        buffers: list[Any] = []
        x = np.arange(1000.0)
        data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
        assert len(data) < 500
        assert pickle.loads(data, buffers=buffers).tolist() == x.tolist()


class TestFailures:
    @pytest.mark.parametrize("shape", [(3,), (2, 0), ()])
    def test_a_failed_chunk_raises_in_the_receiving_worker(self, shape):
        x = failing_array(ValueError("no such file"), shape)
        y = protocol.deserialize(*protocol.serialize(x))
        assert (y.shape, y.dtype) == (shape, x.dtype)
        for read in (y.wait, lambda: (y + 1).numpy()):
            with pytest.raises(ValueError, match="no such file") as raised:
                read()
            assert "late_arrays.py" in raised.value.__notes__[0]  # the line that issued it, on the other side

    @pytest.mark.parametrize("made", [lambda: np.ones(3).sum(), lambda: np.ones(3)[0], lambda: np.array(2.0)])
    def test_scalars_and_arrays_without_axes_are_kept_apart(self, made):
        x = made()
        y = protocol.deserialize(*protocol.serialize(x))
        assert type(y) is type(x)
        assert y.item() == x.item()

    def test_a_scalar_is_received_as_a_scalar(self):
        x = failing_array(ValueError("bad")).sum()
        assert type(protocol.deserialize(*protocol.serialize(x))) is type(x)
        for failed in (x, protocol.deserialize(*protocol.serialize(x))):
            with pytest.raises(ValueError, match="bad"):
                failed.item()

    def test_an_unpicklable_error_is_received_with_its_text(self, caplog):
        caplog.set_level(logging.CRITICAL, "distributed.protocol.pickle")  # records would keep the arrays
        y = protocol.deserialize(*protocol.serialize(failing_array(Stubborn("this", "that"))))
        with pytest.raises(RuntimeError, match="Stubborn: this and that"):
            y.wait()


class TestSizes:
    def test_bytes(self):
        assert sizeof(np.ones((100, 50), dtype="float64")) == 40_000
        assert sizeof(np.ones(3)[0]) == 4

    def test_a_size_is_given_when_the_values_are_computed(self):
        gate, asked = threading.Event(), threading.Event()
        (x,) = npx.host(lambda: gate.wait(60) and numpy.ones(3, "float32"), [], [((3,), "float32")])
        found: list[tuple[int, bool]] = []
        asks = threading.Thread(target=lambda: (asked.set(), found.append((sizeof(x), gate.is_set()))))
        asks.start()
        asked.wait(60)
        gate.set()
        asks.join(60)
        assert (found, x.ready) == ([(12, True)], True)

    def test_a_failure_is_no_error_of_the_size(self):
        x = failing_array(ValueError("bad"))
        assert sizeof(x) == 12
        with pytest.raises(ValueError, match="bad"):
            x.wait()


@pytest.mark.parametrize("imports", ["distributed.protocol, forerun", "forerun, distributed.protocol"])
def test_registration_in_any_order_of_imports(imports):
    lines = f"import {imports}, dask.sizeof; from forerun import np; x = np.ones(1000)"
    end = "print(distributed.protocol.serialize(x)[0]['serializer'], dask.sizeof.sizeof(x))"
    assert output(f"{lines}; {end}") == ["dask", "4000"]


def test_a_view_as_bytes_without_a_meaning_is_numpys():
    x = np.array([1.0, float("nan")])
    for dtype in ("V4", numpy.dtype("V4")):
        found = x.view(dtype)
        assert type(found) is numpy.ndarray
        assert found.tobytes() == x.tobytes()


@pytest.fixture(scope="module")
def computed(tmp_path_factory) -> dict[str, Any]:
    """Return the results of the program with two worker processes."""
    folder: Path = tmp_path_factory.mktemp("dask")
    words = [sys.executable, "-m", "tests.support.processes.dask_program", str(folder)]
    done = subprocess.run(words, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class TestTwoWorkers:
    @pytest.mark.parametrize(
        "name",
        [
            "element-wise", "select", "sum", "mean", "std", "argmax", "matmul", "tensordot", "slices", "list of rows",
            "map_blocks", "rechunk", "transpose", "zarr", "npy stack",
        ],
    )  # fmt: skip
    def test_values_are_numpys_in_forerun_arrays(self, name, computed):
        assert computed[name] == {"kind": "forerun", "right": True, "dtype": True}

    def test_chunks_of_both_workers_are_forerun_arrays_and_combine(self, computed):
        moved = computed["moved"]
        assert {kind.split(".")[0] for kind in moved["kinds"]} == {"forerun"}
        assert moved["sent"] > 0
        assert moved["total"]

    def test_a_chunk_that_fails_raises_at_the_read_and_names_its_line(self, computed):
        for text in computed["failed"].values():
            assert text.startswith("LinAlgError: Singular matrix, issued at ")
