"""Arrays as columns of Arrow, Polars and pandas, and back."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import numpy
import pandas
import pytest

import forerun
from forerun import np, profiler
from forerun._array import arrow_protocol

polars: Any = pytest.importorskip("polars", reason="needs polars: run `make adapters`")
pyarrow: Any = pytest.importorskip("pyarrow", reason="needs pyarrow: run `make adapters`")

DTYPES = [*(f"{kind}{n}" for kind in ("int", "uint") for n in (8, 16, 32, 64)), "bool", "float16", "float32", "float64"]
SHAPES = [(5,), (0,), (3, 2), (2, 3, 4), (0, 3), (2, 0), (11,)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_dtype_and_shape(dtype, shape):
    x = np.array(numpy.arange(numpy.prod(shape)).reshape(shape) % 3, dtype=dtype)
    column = pyarrow.array(x)
    column.validate(full=True)
    assert column.to_pylist() == x.tolist()
    assert column.null_count == 0
    kind = column.type
    while pyarrow.types.is_fixed_size_list(kind):
        kind = kind.value_type
    assert kind == pyarrow.from_numpy_dtype(numpy.dtype(dtype))


@pytest.mark.parametrize("shape", [(5,), (3, 2), (2, 3, 4)], ids=str)
def test_polars(shape):
    x = np.arange(numpy.prod(shape)).reshape(shape)
    assert polars.Series(x).to_list() == x.tolist()
    frame = polars.DataFrame({"x": x, "y": x + 1})
    assert frame["y"].to_list() == (x + 1).tolist()


def test_values_are_shared():
    x = np.arange(100_000.0) + 1
    address = x.numpy().ctypes.data
    assert pyarrow.array(x).buffers()[1].address == address
    assert polars.Series(x).to_numpy().ctypes.data == address
    x.wait()


def test_values_of_views_are_those_of_the_view():
    x = np.arange(10_000.0)
    assert pyarrow.array(x[::2]).to_pylist() == x[::2].tolist()
    assert pyarrow.array(x.reshape(100, 100).T).to_pylist() == x.reshape(100, 100).T.tolist()
    assert pyarrow.array(x[5000:]).to_pylist() == x[5000:].tolist()


def test_later_writes_do_not_change_the_column():
    x = np.zeros(100_000)
    column = polars.Series(x)
    x += 1
    assert (column.sum(), x.sum().item()) == (0, 100_000)


def test_arrow_export_waits_and_is_seen_by_a_guard():
    x = np.ones(100) + 1
    with profiler.guard("raise", reads=True), pytest.raises(profiler.Blocked):
        pyarrow.array(x)
    assert pyarrow.array(x)[0].as_py() == 2


def test_an_error_of_the_computation_is_raised():
    with pytest.raises(numpy.linalg.LinAlgError):
        pyarrow.array(np.linalg.inv(np.zeros((2, 2))))


def test_memory_of_a_column_is_released():
    """Of columns that are read, and of capsules that are not."""
    before = forerun.memory()["live"]
    x = np.ones((1000, 3)).copy()
    columns = [pyarrow.array(x), polars.Series(x), pyarrow.array(x).flatten(), x.__arrow_c_array__()]
    del x
    assert forerun.memory()["live"] > before
    columns.clear()
    gc.collect()
    assert forerun.memory()["live"] == before


def test_polars_alone(monkeypatch):
    monkeypatch.setattr(arrow_protocol, "_has_pyarrow", lambda: False)
    assert not hasattr(np.ones(2), "__arrow_c_array__")
    assert polars.Series(np.arange(6).reshape(3, 2)).to_list() == [[0, 1], [2, 3], [4, 5]]
    monkeypatch.delitem(sys.modules, "polars")
    assert not hasattr(np.ones(2), "__arrow_c_stream__")


def test_an_error_of_the_reader_is_its_own():
    with pytest.raises(pyarrow.ArrowException):
        pyarrow.array(np.array([1.5, 2.5]), type=pyarrow.list_(pyarrow.string()))


def test_unsupported_dtype_and_0d_array_raise():
    with pytest.raises(TypeError, match="dtype must be one of Arrow's, got complex64"):
        pyarrow.array(np.ones(2, dtype="complex64"))
    with pytest.raises(ValueError, match="array must have an axis, got none"):
        np.ones(()).__arrow_c_array__()


def test_columns_alive_at_program_exit():
    program = "\n".join(
        (
            "import forerun, polars, pyarrow",
            "from forerun import np",
            "x = np.ones((1000, 2))",
            "s, a = polars.Series(x), pyarrow.array(x)",
        )
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_columns_become_arrays():
    values = [1.0, 2.0, 3.0]
    for column in (pyarrow.array(values), polars.Series(values).to_numpy(), pandas.Series(values).to_numpy()):
        assert np.from_dlpack(column).tolist() == values
        assert np.asarray(column).tolist() == values
    frame = pandas.DataFrame({"a": np.arange(3), "b": np.ones(3)})
    assert np.asarray(frame).tolist() == [[0, 1], [1, 1], [2, 1]]
