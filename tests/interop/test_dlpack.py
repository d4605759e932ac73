"""Arrays for other libraries, and from them: DLPack both ways; exported memory is not written to."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np
from forerun.testing import closed_gate
from tests.support.dlpack_capsules import (
    NAME,
    USED,
    USED_VERSIONED,
    VERSIONED,
    Managed,
    ManagedVersioned,
    Producer,
    capsule_name,
    managed_tensor,
)
from tests.support.engine.resources import eventually

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "complex64", "complex128",
]  # fmt: skip

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda x: x,
    "every other": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1, ::-2],
    "transposed": lambda x: x.T,
    "one row": lambda x: x[1],
    "no axes": lambda x: x[1, 2],
    "empty": lambda x: x[:0],
    "inner": lambda x: x[1:, 1:3],
}


def matrix_of_dtype(dtype: str) -> numpy.ndarray:
    return (numpy.arange(24).reshape(4, 6) % 7).astype(dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_export_and_import_keep_values(dtype: str, layout: str) -> None:
    values = matrix_of_dtype(dtype)
    want = numpy.asarray(LAYOUTS[layout](values))
    array = LAYOUTS[layout](np.array(values))
    given = numpy.from_dlpack(array)
    assert given.dtype == want.dtype
    assert given.shape == want.shape
    assert (given == want).all()
    assert not given.flags.writeable
    taken = np.from_dlpack(want)
    assert taken.dtype == want.dtype
    assert taken.shape == want.shape
    assert (taken.numpy() == want).all()
    assert ((taken | taken) if dtype == "bool" else taken + taken).tolist() == (want + want).tolist()
    assert (np.from_dlpack(given).numpy() == want).all()  # there and back


@pytest.mark.parametrize("versioned", [True, False])
def test_memory_is_shared_and_given_back_once(engine: str, versioned: bool) -> None:
    producer = Producer(numpy.arange(1000.0), versioned)
    x = np.from_dlpack(producer)
    producer.values[0] = 7  # nothing reads it now
    assert x[0].item() == 7
    assert producer.given_back == 0
    y, view = x * 2, x[10:]
    del x
    assert y[3].item() == 6
    gc.collect()
    assert producer.given_back == 0  # a view needs it
    assert view[0].item() == 10
    del view
    forerun.waitall()
    _core.quiesce()
    assert eventually(lambda: producer.given_back > 0)
    gc.collect()
    assert producer.given_back == 1


def test_memory_is_kept_until_operations_have_read_it() -> None:
    producer = Producer(numpy.arange(1000.0))
    with closed_gate():
        y = np.from_dlpack(producer) + 1
        assert not eventually(lambda: producer.given_back > 0)
    assert y[-1].item() == 1000
    _core.quiesce()
    assert eventually(lambda: producer.given_back == 1)


@pytest.mark.parametrize("elements", [3, 1000])
@pytest.mark.parametrize("write", [
    lambda x: x.__iadd__(1), lambda x: x.__setitem__(slice(1, 2), 5), lambda x: x[1:].fill(3), lambda x: x.sort(),
    lambda x: np.add(x, 1, out=x), lambda x: numpy.add.at(x, [0], 1),
], ids=["add", "set", "view", "sort", "out", "at"])  # fmt: skip
def test_writes_do_not_reach_the_producer(engine: str, write: Callable[[Any], Any], elements: int) -> None:
    values = -numpy.arange(float(elements))
    values.flags.writeable = False
    x, copy = np.from_dlpack(values), np.array(values)
    write(x), write(copy)
    assert x.tolist() == copy.tolist() != values.tolist()
    assert values.tolist() == (-numpy.arange(float(elements))).tolist()


def test_result_does_not_take_over_imported_memory() -> None:
    values = numpy.arange(100_000.0)
    with closed_gate():
        x = np.from_dlpack(values)
        y = x + 1
        del x  # dead where y is computed: forerun's own memory would be used for y
        z = y * 2
        del y
    assert z[-1].item() == 200_000
    assert values[-1] == 99_999


# --- export -----------------------------------------------------------------------------------------------------

EXPORTS: dict[str, Callable[[Any], Any]] = {
    "buffer": memoryview,
    "numpy.asarray": numpy.asarray,
    "numpy()": lambda x: x.numpy(),
    "DLPack": numpy.from_dlpack,
    "frombuffer": lambda x: numpy.frombuffer(x, x.dtype),
}

WRITES: dict[str, Callable[[Any], Any]] = {
    "in place": lambda x: x.__iadd__(1),
    "fill": lambda x: x.__setitem__(..., 0),
    "part": lambda x: x.__setitem__(slice(0, 2), 9),
    "out": lambda x: np.exp(x, out=x),
    "through a view": lambda x: x[1:].__imul__(5),
    "at": lambda x: numpy.add.at(x, [1], 3),
}


@pytest.mark.parametrize("elements", [4, 5000])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("export", EXPORTS)
def test_exported_arrays_keep_their_values(engine: str, export: str, write: str, elements: int) -> None:
    x = np.arange(float(elements))
    seen = EXPORTS[export](x)
    WRITES[write](x)
    forerun.waitall()
    assert numpy.asarray(seen).tolist() == list(range(elements))
    assert x.tolist() != list(range(elements))


@pytest.mark.parametrize("export", EXPORTS)
def test_memory_is_not_reused_while_it_is_referenced(engine: str, export: str) -> None:
    before = _core.in_use()["blocks"]
    x = np.arange(50_000.0) + 0
    seen = EXPORTS[export](x)
    del x
    for i in range(20):  # all of this size: they would get the memory
        np.full((50_000,), i).wait()
    assert (numpy.asarray(seen) == numpy.arange(50_000)).all()
    assert _core.in_use()["blocks"] - before >= 200_000
    del seen
    _core.quiesce()
    gc.collect()
    assert _core.in_use()["blocks"] == before


def test_capsule_describes_its_tensor() -> None:
    x = np.arange(12.0).reshape(3, 4)[:, ::2]
    capsule = x.__dlpack__(max_version=(1, 0))
    held = managed_tensor(capsule)
    assert isinstance(held, ManagedVersioned)
    t = held.tensor
    assert (held.major, held.flags) == (1, 1)  # read-only
    assert (t.device_type, t.device_id, t.ndim, t.code, t.bits, t.lanes) == (1, 0, 2, 2, 32, 1)
    assert t.shape[:2] == [3, 2]
    assert t.strides[:2] == [4, 2]
    capsule = x.__dlpack__(max_version=(1, 1), copy=True)
    copied = managed_tensor(capsule)
    assert isinstance(copied, ManagedVersioned)
    assert copied.flags == 2
    assert copied.tensor.strides[:2] == [2, 1]


def test_old_readers_get_a_copy_of_their_own() -> None:
    x = np.arange(100.0)
    capsule = x.__dlpack__()
    held = managed_tensor(capsule)
    assert capsule_name(capsule) == NAME
    assert isinstance(held, Managed)
    pointer = held.tensor.data
    assert pointer != x.numpy().ctypes.data
    assert np.from_dlpack(_Legacy(x)).tolist() == x.tolist()


class _Legacy:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.x.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def test_copy_may_be_written() -> None:
    x = np.arange(100.0)
    y = numpy.from_dlpack(x, copy=True)
    assert y.flags.writeable
    y[0] = 5
    assert x[0].item() == 0


@pytest.mark.parametrize(("error", "options"), [
    (RuntimeError, {"stream": 1}), (BufferError, {"dl_device": (2, 0)}), (BufferError, {"copy": False}),
])  # fmt: skip
def test_unsupported_export_arguments_raise(error: type[Exception], options: dict[str, Any]) -> None:
    with pytest.raises(error, match=r"__dlpack__: .* must"):
        np.zeros(3).__dlpack__(**options)


def test_export_raises_the_error_of_the_computation(engine: str) -> None:
    with pytest.raises(ValueError, match="negative integer powers"):
        numpy.from_dlpack(np.arange(3) ** np.array([-1, 1, 1]))


def test_an_unused_capsule_frees_its_memory() -> None:
    before = _core.in_use()["blocks"]
    for options in ({"max_version": (1, 0)}, {}, {"max_version": (1, 0), "copy": True}):
        capsule = np.zeros(50_000).__dlpack__(**options)
        assert _core.in_use()["blocks"] > before
        del capsule
        _core.quiesce()
        assert _core.in_use()["blocks"] == before


def test_ten_thousand_capsules_leave_nothing() -> None:
    before, x = _core.in_use(), np.zeros(100)
    values = numpy.zeros(100)
    for _ in range(10_000):
        x.__dlpack__(max_version=(1, 0))
        numpy.from_dlpack(x)
        np.from_dlpack(values)
    del x
    _core.quiesce()
    assert eventually(lambda: _core.in_use()["storages"] <= before["storages"])
    assert _core.in_use()["blocks"] == before["blocks"]
    producer = Producer(values)
    for _ in range(1000):
        np.from_dlpack(producer)
    assert eventually(lambda: producer.given_back == 1000)


# --- import -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("versioned", "used"), [(True, USED_VERSIONED), (False, USED)])
def test_capsule_is_used_once(versioned: bool, used: bytes) -> None:
    producer = Producer(numpy.arange(5.0), versioned)
    capsule = producer.capsule()
    x = _core.from_dlpack(capsule, None, -1)
    assert capsule_name(capsule) == used
    with pytest.raises(ValueError, match="an unused capsule"):
        _core.from_dlpack(capsule, None, -1)
    del x
    assert eventually(lambda: producer.given_back == 1)


def change(**fields: Any) -> Callable[[Producer], None]:
    def apply(p: Producer) -> None:
        for name, value in fields.items():
            setattr(p.tensor if hasattr(p.tensor, name) else p.managed, name, value)

    return apply


def huge(p: Producer) -> None:
    p.shape[0], p.tensor.data = 1 << 62, p.values.ctypes.data


def far(p: Producer) -> None:
    p.strides[0] = 1 << 61


def negative(p: Producer) -> None:
    p.shape[0] = -1


@pytest.mark.parametrize(("spoil", "message"), [
    (change(major=2), "version of DLPack must be 1, got 2"),
    (change(device_type=2), "memory must be the host's, got device type 2"),
    (change(lanes=2), "dtype must be one that arrays can have, got code 2 with 64 bits and 2 lanes"),
    (change(code=2, bits=128), "dtype must be .* got code 2 with 128 bits"),
    (change(code=17), "dtype must be .* got code 17"),
    (change(ndim=65), "at most 64 dimensions, got 65"),
    (change(ndim=-1), "at most 64 dimensions, got -1"),
    (change(data=None), "elements must have memory"),
    (huge, "must fit into the address space"),
    (far, "must fit into the address space"),
    (negative, "extents must not be negative, got -1"),
])  # fmt: skip
def test_rejected_capsules_are_released(spoil: Callable[[Producer], None], message: str) -> None:
    producer = Producer(numpy.arange(6.0))
    spoil(producer)
    with pytest.raises(BufferError, match=message):
        np.from_dlpack(producer)
    assert producer.given_back == 1


def test_missing_parts() -> None:
    producer = Producer(numpy.arange(6.0).reshape(2, 3))
    producer.tensor.strides = None
    producer.managed.deleter = type(producer.managed.deleter)()
    assert np.from_dlpack(producer).tolist() == [[0, 1, 2], [3, 4, 5]]
    producer = Producer(numpy.arange(6.0))
    producer.tensor.byte_offset, producer.shape[0] = 16, 4
    assert np.from_dlpack(producer).tolist() == [2, 3, 4, 5]


def test_elements_out_of_line_are_copied() -> None:
    values = numpy.zeros(33, "uint8")[1:].view("float64")
    values[:] = [1, 2, 3, 4]
    x = np.from_dlpack(Producer(values))
    values[0] = 9
    assert x.tolist() == [1, 2, 3, 4]
    with pytest.raises(BufferError, match="aligned"):
        np.from_dlpack(Producer(values), copy=False)


def test_a_copy_has_its_own_memory() -> None:
    producer = Producer(numpy.arange(6.0))
    x = np.from_dlpack(producer, copy=True)
    assert producer.given_back == 1
    producer.values[0] = 9
    assert x[0].item() == 0


def test_devices(two_devices: list[forerun.Device]) -> None:
    x = np.from_dlpack(numpy.arange(3.0), device="cpu:1")
    assert x.device == two_devices[1]
    assert (x + 1).tolist() == [1, 2, 3]
    assert x.__dlpack_device__() == (1, 0)
    assert numpy.from_dlpack(x).tolist() == [0, 1, 2]
    assert np.from_dlpack(x).device == two_devices[1]
    moved = np.from_dlpack(x, device="cpu:0")
    assert moved.device == two_devices[0]
    assert moved.tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="between devices"):
        np.from_dlpack(x, device="cpu:0", copy=False)


def test_import_from_other_devices_requests_a_host_copy() -> None:
    producer = Producer(numpy.arange(3.0))
    producer.device = (2, 0)
    assert np.from_dlpack(producer).tolist() == [0, 1, 2]
    assert producer.options["dl_device"] == (1, 0)
    with pytest.raises(BufferError, match="device type 2"):
        np.from_dlpack(producer, copy=False)


def test_import_without_dlpack_method_raises() -> None:
    with pytest.raises(AttributeError, match="from_dlpack: array must have __dlpack__, got list"):
        np.from_dlpack([1])


def test_forerun_arrays_are_made_without_a_wait(gate: None) -> None:
    x = np.arange(3.0)
    same, other = np.from_dlpack(x), np.from_dlpack(x, copy=True)
    assert np.shares_memory(same, x)
    assert not np.shares_memory(other, x)


def test_bfloat16() -> None:
    x = np.array([1.5, -2.0], dtype="bfloat16")
    capsule = x.__dlpack__(max_version=(1, 0))
    tensor = managed_tensor(capsule).tensor
    assert capsule_name(capsule) == VERSIONED
    assert (tensor.code, tensor.bits) == (4, 16)
    y = _core.from_dlpack(capsule, None, -1)
    assert y.dtype == x.dtype
    assert y.tolist() == [1.5, -2.0]


@pytest.fixture(autouse=True)
def memory_comes_back() -> Iterator[None]:
    """Memory is released before the check for leaks."""
    yield
    gc.collect()
    _core.quiesce()
    eventually(lambda: False)
