"""Programs that get forerun as NumPy: arrays of NumPy's that share the memory of the program's arrays."""

from __future__ import annotations

import threading
from typing import Any

import numpy
import pytest
from numpy.testing import assert_array_equal

from forerun import _core, hybrid, np, npx, profiler
from forerun.testing import closed_gate
from tests.support.engine.late_arrays import late_array
from tests.support.many_cases import for_each
from tests.support.processes.as_numpy_program import Run, values_with_both

SHARING = """\
x.view(Derived)
x.view(type=Derived)
x[1].view(Derived)
x[:, ::2].view(Derived)
x.T.view(Derived)
np.ndarray.__new__(Derived, x.shape, float, x)
np.ndarray.__new__(Derived, (2, 2), float, x, 8)
np.ndarray((2, 2), float, x, 8)
np.asmatrix(x)
np.matrix(x, copy=False)
np.matrix(x, float, False)
np.matrix(x)
np.ma.array(x)
np.ma.array(data=x)
np.ma.array(x, copy=True)
np.ma.masked_array(x, x > 100)
np.ma.masked_array(x, x > 100, float, True)
np.ma.masked_where(x > 100, x, copy=False)
np.ma.masked_where(x > 100, x)
np.rec.array(x, copy=False)
x.view(np.recarray)
x.view([("a", float), ("b", float)])["b"]
np.array(x.view(Derived), copy=True, subok=True)
"""


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("elements", [6, 60_000])
@pytest.mark.parametrize("expression", SHARING.splitlines())
def test_what_is_written_to_one_is_seen_in_the_other(
    expression: str, elements: int, namespaces: list[dict[str, Any]]
) -> None:
    for space in namespaces:
        exec(
            "import numpy as np\n"
            "class Derived(np.ndarray): pass\n"
            f"x = np.arange({elements}.0).reshape(3, -1)\n"
            f"view = {expression}\n"
            "x *= 2\n"
            "x[0, 1] = -7\n"
            "seen_in_view = np.array(view).sum()\n"
            "view[...] = 5\n"
            "seen_in_x = (x + 1).sum()\n"
            "view[0] = x[1].max() + 3\n"
            "later = x.sum(), np.array(view).sum(), type(view).__name__\n",
            space,
        )
    for name in ("seen_in_view", "seen_in_x", "later"):
        expected, found = values_with_both(name, namespaces)
        assert found == expected, name


def test_functions_in_c_write_to_the_array(run: Run) -> None:
    names = run(
        "import ctypes\n"
        "import numpy as np\n"
        "x = np.zeros(1000)\n"
        "x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[2] = 4.5\n"
        "ctypes.memset(x[3:].ctypes.data, 255, 8)\n"
        "found = x[2], np.isnan(x[3]), np.isnan(x[4])\n"
    )
    assert names["found"] == (4.5, True, False)


@pytest.mark.parametrize("elements", [4, 50_000])
def test_functions_in_c_that_ask_for_a_writable_buffer_write_to_the_array(
    elements: int, namespaces: list[dict[str, Any]]
) -> None:
    for space in namespaces:
        exec(
            "import io, struct\n"
            "import numpy as np\n"
            f"x = np.arange({elements}.0)\n"
            "struct.pack_into('dd', x, 8, 1.5, 2.5)\n"
            "io.BytesIO(struct.pack('d', 7.5)).readinto(x[3:4])\n"
            "x += 1\n"
            "found = x[:4].tolist(), x.sum()\n"
            "x.flags.writeable = False\n"
            "try: struct.pack_into('d', x, 0, 1.5)\n"
            "except (TypeError, ValueError, BufferError) as error: locked = type(error)\n",
            space,
        )
    for name in ("found", "locked"):
        expected, found = values_with_both(name, namespaces)
        assert found == expected, name


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_masked_arrays_share_their_mask(namespaces: list[dict[str, Any]]) -> None:
    for space in namespaces:
        exec(
            "import numpy as np\n"
            "x, mask = np.arange(4.0), np.array([True, False, False, True])\n"
            "masked, matrix = np.ma.array(x, mask=mask), np.asmatrix(x)\n"
            "masked[[1, 2]], masked[0], matrix[0, 1] = 7, np.ma.masked, 9\n"
            "found = masked.tolist(), matrix.tolist(), x.tolist(), mask.tolist()\n",
            space,
        )
    expected, found = values_with_both("found", namespaces)
    assert found == expected


# --- the core's function ----------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [1, 8, 9, 100_000])
def test_an_alias_and_its_array_have_one_memory(elements: int) -> None:
    x = np.arange(elements, dtype="float64")
    before, alias = x.numpy(), _core.numpy_alias(x)
    assert alias.flags.writeable
    assert not before.flags.writeable
    x += 1
    assert alias[-1] == elements
    alias[:] = 3
    assert (x.sum().item(), before[-1]) == (3 * elements, elements - 1)


def test_an_alias_waits_for_pending_reads_and_writes() -> None:
    go = threading.Event()
    (late,) = npx.host(lambda: (go.wait(10), numpy.full(100_000, 1.0))[1], [], [((100_000,), "float64")])
    x = np.ones(100_000, dtype="float64")
    reads = x + late
    x *= 2
    threading.Timer(0.05, go.set).start()
    alias = _core.numpy_alias(x)
    alias[:] = 100
    assert (reads[0].item(), x[0].item()) == (2, 100)


def test_operations_on_an_alias_have_ended_when_their_call_returns() -> None:
    x = np.ones(1_000_000, dtype="float64")
    alias = _core.numpy_alias(x)
    for i in range(5):
        found = np.exp(x) + x
        alias[:] = i
        assert found.ready
        assert found[-1].item() == pytest.approx(numpy.exp(max(i - 1, 0) if i else 1) + (i - 1 if i else 1))
    x[1:] = np.sqrt(x[1:])
    assert alias[-1] == 2


def test_captured_calls_on_an_alias_have_ended_when_they_return() -> None:
    x = np.zeros(100_000, dtype="float64")
    f = hybrid(lambda x: np.exp(x * 2) + 1)
    f(x), f(x)
    alias = _core.numpy_alias(x)
    for i in range(1, 4):
        y = f(x)
        alias[:] = i
        assert y.ready
        assert y[0].item() == numpy.exp(2.0 * (i - 1)) + 1


def test_snapshots_of_an_aliased_array_do_not_change() -> None:
    x = np.ones(1000, dtype="float64")
    alias = _core.numpy_alias(x)
    snapshot, other = x.numpy(), numpy.from_dlpack(x)
    alias[:] = 2
    x += 1
    assert (snapshot[0], other[0], alias[0]) == (1, 1, 3)


def test_other_arrays_are_not_waited_for() -> None:
    aliased, free = np.ones(1000, dtype="float64"), np.ones(100_000, dtype="float64")
    _core.numpy_alias(aliased)
    with closed_gate():
        y = np.exp(free)
        assert not y.ready
    assert y[0].item() == pytest.approx(numpy.e)


def test_the_alias_holds_the_memory() -> None:
    x = np.full(100_000, 7.0, dtype="float64")
    alias = _core.numpy_alias(x)
    del x
    again = np.zeros(100_000, dtype="float64")
    again.wait()
    assert (alias == 7).all()


def test_an_alias_can_be_written_if_its_array_can() -> None:
    x = np.arange(6.0)
    assert _core.numpy_alias(x).flags.writeable
    assert not _core.numpy_alias(_core.read_only(x, True)).flags.writeable
    assert not _core.numpy_alias(np.broadcast_to(x, (2, 6))).flags.writeable


@pytest.mark.parametrize("shape", [(0,), (0, 3), (70_000, 0)])
def test_arrays_without_elements_have_an_alias(shape: tuple[int, ...]) -> None:
    assert _core.numpy_alias(np.empty(shape)).shape == shape


def test_memory_that_was_never_written_has_an_alias() -> None:
    x = np.empty(3_000_000)
    alias = _core.numpy_alias(x)
    alias[:] = 1
    assert x.sum().item() == 3_000_000


def test_a_failed_array_has_no_alias() -> None:
    x = np.linalg.inv(np.zeros((300, 300)))
    with pytest.raises(numpy.linalg.LinAlgError):
        _core.numpy_alias(x)


def test_an_error_of_an_operation_is_raised_by_its_call() -> None:
    x = np.zeros((300, 300), dtype="float64")
    _core.numpy_alias(x)
    with pytest.raises(numpy.linalg.LinAlgError):
        np.linalg.inv(x)


def test_waits_for_an_alias_are_named_in_the_profile() -> None:
    x = np.ones(1_000_000, dtype="float64")
    _core.numpy_alias(x)
    with profiler.record() as recording:
        np.exp(x)
    (line,) = (line for line in recording.trace.lines if line.cause == "shared")
    assert line.waits == 1


# Arrays as libraries give them: of NumPy's, whose elements operations with the program's arrays write and name.
OF_LIBRARIES = """\
import sys
numpy = sys.modules["numpy"]
k, u, v = numpy.array([2, 0, -1], numpy.int32), numpy.array([1, 2], numpy.uint8), numpy.arange(5.0)
y, z, large = np.arange(5.0), np.arange(12.0).reshape(3, 4), numpy.arange(200_000.0)
"""
WITH_LIBRARIES = """\
y[k], y[u], z[k, u[0]], z[u[:, None], k[:2]], z[:, k], z[k, ..., None].shape, y[k[:0]]
y[numpy.array([5], numpy.int32)]
[y.__setitem__(k, 7.0), z.__setitem__((u, u), y[:2]), y, z]
y.__setitem__(numpy.array([-6], numpy.int16), 1.0)
[v.__iadd__(y), v]
[v.__setitem__(k, v[k] + y[:3] * 2), v]
numpy.multiply(v, y, out=v), v
numpy.less(v, y[::-1], out=v > 9), numpy.divmod(v + 1, y + 2, out=(v * 0, v * 0))
numpy.add(v, y, out=numpy.zeros(5, int))
numpy.add(v, y, out=v, where=y > 2), v
numpy.add(v, y[:2], out=v)
(np.asarray(large).__setitem__(0, 9.0), large[0]), (np.asarray(large)[1:].fill(3.0), large[1:3])
(np.array(large, copy=None).__setitem__(1, 8.0), large[1]), (np.array(large).__setitem__(2, 8.0), large[2])
(z := np.asarray(large) * 2, large.fill(0.0), z[:2], np.asarray(large, 'f4').fill(1.0), large[3])
np.ravel(large).fill(2.0), np.reshape(large, (2, -1)).__setitem__(1, 4.0), large[[0, -1]]
np.asarray(numpy.broadcast_to(large, (2, 200_000))).flags.writeable
"""


@pytest.mark.parametrize("expression", WITH_LIBRARIES.splitlines())
def test_arrays_of_libraries_are_written_and_are_indices(namespaces: list[dict[str, Any]], expression: str) -> None:
    expected, found = values_with_both(expression, namespaces, OF_LIBRARIES)
    assert found == expected


def test_an_operation_that_reads_few_values_does_not_wait() -> None:
    given = numpy.arange(1000.0)
    v = _core.shared_with_numpy(given)
    big = np.ones((100, 1000), dtype="float64")
    with closed_gate():
        late = big * v + v[:1]
        given[:] = -1.0
    assert_array_equal(late.asnumpy(), numpy.arange(1000.0) * numpy.ones((100, 1)))
    assert_array_equal((v * 2).asnumpy(), given * 2)


def test_an_operation_that_writes_few_values_waits() -> None:
    given = numpy.zeros(1000)
    v = _core.shared_with_numpy(given)
    slow = late_array(go := threading.Event(), value=2.0, shape=(1000,), dtype="float64")
    threading.Timer(0.05, go.set).start()
    v += slow
    assert_array_equal(given, numpy.full(1000, 2.0))


def test_a_failed_value_of_shared_memory_is_no_copy() -> None:
    v = _core.shared_with_numpy(numpy.zeros((3, 3)))
    with pytest.raises(numpy.linalg.LinAlgError):
        v[...] = np.linalg.inv(np.zeros((3, 3)))
    with pytest.raises(numpy.linalg.LinAlgError):
        (np.ones((300, 3)) @ v).wait_to_read()


BUFFERS = """\
(lambda b: (np.frombuffer(b).__setitem__(0, 1.0), bytes(b)))(bytearray(8))
(lambda b: (v := np.frombuffer(b, 'u1', 2, 1), b.__setitem__(1, 7), v.tolist(), v.flags.writeable))(bytearray(8))
(lambda b: (v := np.frombuffer(buffer=b, dtype='i4', offset=4), b.__setitem__(4, 7), v))(bytearray(8))
(lambda b: (v := np.frombuffer(b, 'u1'), v.flags.writeable, v + 1))(b'abc')
np.frombuffer(b'abc', dtype='u1').__setitem__(0, 1)
np.frombuffer(b'ab', '>u2'), np.frombuffer(b'ab', 'S1'), np.frombuffer(b'', 'u1')
(lambda b: (v := np.frombuffer(b), v.__setitem__(0, 1), b[0]))(array.array('d', [3.0, 4.0]))
(lambda v: (v.__setitem__(0, 9), f, v[1:] * 2))(np.frombuffer(f))
(lambda b: (v := np.ctypeslib.as_array(b), v.__setitem__(0, 1), b[0]))((ctypes.c_double * 2)())
(lambda a: (a.data.__setitem__(slice(0, 2), b'ab'), a))(np.zeros(4, 'u1'))
(lambda a: (a.data.__setitem__((0, 1), 5), a + 1, a.data.readonly, a.T.data.shape))(np.zeros((2, 3)))
(lambda a: (np.frombuffer(a.data).__setitem__(0, 5.0), a + 1))(np.zeros(3))
np.broadcast_to(f, (2, 5)).data.readonly, f[1:].data.tolist(), f[1].data.tolist(), x.data.format
"""


@for_each("expression", BUFFERS.splitlines())
def test_arrays_on_buffers_and_buffers_of_arrays_share_memory(
    namespaces: list[dict[str, Any]], expression: str
) -> None:
    expected, found = values_with_both(expression, namespaces, "import array, ctypes\n")
    assert found == expected
