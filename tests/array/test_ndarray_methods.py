"""Arrays in Python and NumPy beside operations: copies, pickles, text, conversions, methods."""

from __future__ import annotations

import copy
import inspect
import io
import math
import operator
import pathlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, np, npx
from forerun.np import ndarray
from forerun.testing import closed_gate
from tests.support.paths import ROOT

# Attributes of NumPy's arrays that forerun's do not have; docs/reference/interoperation.md says why.
ABSENT = {
    "base", "ctypes", "__array_struct__", "resize", "setflags", "getfield", "setfield",
    "__setstate__", "__array_wrap__", "__array_finalize__",
}  # fmt: skip
ABSENT_OF_2_5 = {"_set_dtype", "_set_shape"}  # of NumPy's arrays since version 2.5


def test_attributes_of_numpys_arrays() -> None:
    missing = {name for name in dir(numpy.ndarray) if not hasattr(np.ndarray, name)}
    missing -= {"data"} | ABSENT_OF_2_5  # forerun.torch adds data when it is imported
    assert missing == ABSENT
    for name in ABSENT | ABSENT_OF_2_5:
        assert f"`{name}`" in ROOT.joinpath("docs/reference/interoperation.md").read_text()
        with pytest.raises(AttributeError):
            getattr(np.zeros(2), name)


def test_methods_have_signatures() -> None:
    names = [n for n, v in inspect.getmembers(np.ndarray, callable) if not n.startswith("_")]
    shown = {name: str(inspect.signature(getattr(np.ndarray, name)).replace(return_annotation=str)) for name in names}
    assert shown["item"] == "(self, /, *args) -> str"
    assert {shown[name] for name in ("numpy", "tolist", "wait", "wait_to_read")} == {"(self, /) -> str"}
    assert list(inspect.signature(np.flatiter).parameters) == ["base"]


# --- copies and pickles -------------------------------------------------------------------------------------------

SHAPES: dict[str, Callable[[], Any]] = {
    "dense": lambda: np.arange(6.0).reshape(2, 3),
    "view": lambda: np.arange(24.0).reshape(4, 6)[1:, ::-2],
    "broadcast": lambda: np.broadcast_to(np.arange(3.0), (2, 3)),
    "no axes": lambda: np.array(5.0),
    "empty": lambda: np.zeros((0, 3)),
    "bools": lambda: np.array([True, False]),
    "complex": lambda: np.array([1 + 2j]),
    "bfloat16": lambda: np.array([1.5, 2.5], dtype="bfloat16"),
    "large": lambda: np.arange(5000),
}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", SHAPES)
def test_pickle(name: str, protocol: int) -> None:
    x = SHAPES[name]()
    y = pickle.loads(pickle.dumps(x, protocol))
    assert type(y) is ndarray
    assert (y.dtype, y.shape, y.device, y.tolist()) == (x.dtype, x.shape, x.device, x.tolist())
    y[...] = 0  # its memory is its own


@pytest.mark.parametrize("name", ["dense", "view", "large"])
def test_pickle_out_of_band(name: str) -> None:
    x, buffers = SHAPES[name](), []
    text = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(buffers) == 1
    assert buffers[0].raw().nbytes == x.nbytes
    assert len(text) < 400
    y = pickle.loads(text, buffers=buffers)
    y += 1
    assert y.tolist() == (x + 1).tolist()
    assert pickle.loads(text, buffers=buffers).tolist() == x.tolist()


def test_pickle_of_arrays_on_the_tape() -> None:
    x = np.arange(3.0)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        z = pickle.loads(pickle.dumps(y))
    assert z.node is None
    assert z.tolist() == [0, 2, 4]
    assert pickle.loads(pickle.dumps(x)).grad is None


def test_pickle_waits_and_raises() -> None:
    with pytest.raises(ValueError, match="negative integer powers"):
        pickle.dumps(np.arange(3) ** np.array([-1, 0, 0]))


def test_pickle_keeps_the_device(two_devices: list[forerun.Device]) -> None:
    x = np.arange(3.0, device="cpu:1")
    text = pickle.dumps(x)
    assert pickle.loads(text).device == two_devices[1]
    assert copy.copy(x).device == copy.deepcopy(x).device == two_devices[1]
    forerun.configure(cpu_devices=1)  # as in a process that has fewer
    assert pickle.loads(text).device == npx.cpu(0)


def test_dump(tmp_path: pathlib.Path) -> None:
    x, file = np.arange(3.0), io.BytesIO()
    x.dump(tmp_path / "x"), x.dump(file)
    for text in ((tmp_path / "x").read_bytes(), file.getvalue(), x.dumps()):
        assert pickle.loads(text).tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", SHAPES)
def test_copies_do_not_wait(name: str) -> None:
    x = SHAPES[name]()
    forerun.waitall()
    with closed_gate():
        made = copy.copy(x), copy.deepcopy(x), copy.deepcopy([x, x])
    shallow, deep, (a, b) = made
    assert a is b
    assert a is not x
    for y in (shallow, deep, a):
        assert y.tolist() == x.tolist()
        assert not np.shares_memory(x, y)


def test_deepcopy_leaves_the_tape() -> None:
    x = np.arange(3.0)
    x.attach_grad()
    with autograd.record():
        assert copy.deepcopy(x * 2).node is None
        assert copy.copy(x * 2).node is not None


# --- iteration ----------------------------------------------------------------------------------------------------


def test_iteration() -> None:
    with closed_gate():
        x = np.arange(6.0).reshape(3, 2)
        rows = list(x)
        a, b, c = x
        first, *rest = x
        assert len(x) == len(rows) == 3
        assert len(rest) == 2
        rows[1] += 10
    assert a.tolist() == first.tolist() == [0, 1]
    assert c.tolist() == [4, 5]
    assert x.tolist() == [[0, 1], [12, 13], [4, 5]]
    assert b.tolist() == [12, 13]
    assert [v.item() for v in reversed(np.arange(3))] == [2, 1, 0]
    assert list(np.zeros((0, 2))) == []
    for f in (iter, len, list):
        with pytest.raises(TypeError):
            f(np.array(1.0))
    with pytest.raises(ValueError, match="too many values"):
        a, b = x


def test_contains() -> None:
    x = np.array([1.0, 2.0, math.nan])
    assert 2 in x
    assert 3 not in x
    assert math.nan not in x
    assert "text" not in x
    assert [1, 2] in np.array([[1, 2], [3, 4]])


# --- text ---------------------------------------------------------------------------------------------------------

TEXTS: dict[str, Any] = {
    "one axis": numpy.array([1.5, -2.0, 3.25]), "no axes": numpy.array(2.5), "empty": numpy.zeros(0),
    "no rows": numpy.zeros((0, 3)), "large": numpy.arange(5000.0), "large table": numpy.zeros((100, 100)),
    "wide": numpy.linspace(0, 1, 40),
    "special": numpy.array([numpy.nan, numpy.inf, -0.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_numpys(name: str) -> None:
    """Where NumPy's default dtype is the default here, the text is the same."""
    npx.set_np(dtype=True)
    x, values = np.array(TEXTS[name]), TEXTS[name]
    assert repr(x) == repr(values)
    assert str(x) == str(values)
    ints, numpy_ints = np.array(values.shape), numpy.array(values.shape)
    assert (repr(ints), str(ints)) == (repr(numpy_ints), str(numpy_ints))


@pytest.mark.parametrize("name", TEXTS)
def test_default_dtype_is_not_named(name: str) -> None:
    values = TEXTS[name]
    x = np.array(values.astype("float32"))
    assert "dtype" not in repr(x)
    assert str(x) == str(values.astype("float32"))
    assert "dtype=float64" in repr(np.array(values))
    assert "float16" in repr(np.array(values.astype("float16")))


def test_text_of_devices_and_options(two_devices: list[forerun.Device]) -> None:
    assert repr(np.array([1.0, 2.0], device="cpu:1")) == "array([1., 2.], device=cpu(1))"
    with numpy.printoptions(precision=2, threshold=3, edgeitems=1):
        assert str(np.array([1 / 3, 2.0, 3.0, 4.0])) == "[0.33 ... 4.  ]"


def test_format() -> None:
    assert f"{np.array(2.5):.2f} {np.array(7):>4d} {np.array([1, 2])}" == "2.50    7 [1 2]"
    assert f"{np.array(0.1)}" == f"{numpy.float32(0.1)}"
    with pytest.raises(TypeError, match="format: "):
        format(np.array([1.0]), ".2f")


# --- conversions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("convert", [bool, int, float, complex])
def test_conversions(convert: Callable[[Any], Any]) -> None:
    assert convert(np.array(3)) == convert(3)
    assert type(convert(np.array(3))) is convert
    assert convert(np.array([[1.0]])) == convert(1)  # as MXNet and PyTorch do it
    for many in (np.zeros(0), np.zeros(2)):
        with pytest.raises(ValueError if convert is bool else TypeError, match="exactly one element"):
            convert(many)


def test_lossy_conversions() -> None:
    assert int(np.array(2.9)) == 2
    assert complex(np.array(1 + 2j)) == 1 + 2j
    for f in (int, float):
        with pytest.raises(TypeError):
            f(np.array(1 + 2j))
    with pytest.raises(ValueError, match="NaN"):
        int(np.array(math.nan))
    assert round(np.array(2.567), 1).item() == pytest.approx(2.6)
    assert [float(v) for v in divmod(np.array(7.0), 2)] == [3, 1]


def test_index() -> None:
    assert operator.index(np.array(3)) == 3
    assert [1, 2, 3][np.array(1)] == 2
    assert list(range(np.array(2))) == [0, 1]
    for x in (np.array([1]), np.array(1.0), np.array(True), np.zeros(0, dtype=int)):
        with pytest.raises(TypeError, match="index: array must"):
            operator.index(x)


def test_item_and_tolist() -> None:
    x, values = np.arange(6).reshape(2, 3), numpy.arange(6).reshape(2, 3)
    for args in [(4,), (1, 2), ((1, 0),), (-1,)]:
        assert x.item(*args) == values.item(*args)
        assert type(x.item(*args)) is int
    for args in [(), (9,), (0, 0, 0)]:
        with pytest.raises((ValueError, IndexError)) as expected:
            values.item(*args)
        with pytest.raises(expected.type):
            x.item(*args)
    assert np.array(1.5).tolist() == 1.5
    assert type(np.array(True).tolist()) is bool


# --- methods ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtypes", [
    ("float32", "int32"), ("float32", "uint8"), ("int8", "int32"), ("complex64", "float32"), ("float64", "uint64"),
    ("bool", "uint8"),
], ids=" ".join)  # fmt: skip
@pytest.mark.parametrize("part", ["whole", "rows", "last"])
def test_view_of_bytes(dtypes: tuple[str, str], part: str) -> None:
    values = numpy.arange(64).reshape(4, 16).astype(dtypes[0])
    index = {"whole": ..., "rows": slice(None, None, -2), "last": (slice(None), slice(8, 16))}[part]
    x = np.array(values)
    with closed_gate():
        view = x[index].view(dtypes[1])
        if dtypes[1] != "bool":
            view[0, 0] = 1
    values[index].view(dtypes[1])[0, 0] = 1
    want = values[index].view(dtypes[1])
    assert view.shape == want.shape
    assert view.dtype == want.dtype
    assert view.tolist() == want.tolist()
    assert x.tolist() == values.tolist()
    assert np.shares_memory(x, view)
    assert np.shares_memory(x, x.view())


@pytest.mark.parametrize(("x", "dtype", "message"), [
    (lambda: np.zeros((2, 3)), "float64", "whole elements"),
    (lambda: np.zeros((4, 6))[:, ::2], "int8", "without gaps"),
    (lambda: np.array(1.0), "int8", "must have an axis"),
    (lambda: np.zeros(6)[1:5], "float64", "aligned"),
    (lambda: np.zeros((2, 3), dtype="int16")[:, :2], "int32", "aligned"),
])  # fmt: skip
def test_invalid_view_raises(x: Callable[[], Any], dtype: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"view: .*{message}"):
        x().view(dtype)


def test_view_has_no_gradient() -> None:
    x = np.zeros(2)
    x.attach_grad()
    with autograd.record():
        y = x.view("int32").view("float32")
        same = x.view() * 2
    same.backward()
    assert x.grad.tolist() == [2, 2]
    assert y.shape == (2,)
    with pytest.raises(TypeError, match="view: dtype must be a dtype"):
        x.view(numpy.ndarray)


def test_bytes() -> None:
    values = numpy.arange(6, dtype="int16").reshape(2, 3)
    x = np.array(values)
    assert x.tobytes() == values.tobytes()
    assert x.T.tobytes() == values.T.tobytes()
    assert x.tobytes("F") == values.tobytes("F")
    assert x.byteswap().tolist() == values.byteswap().tolist()
    assert x.tolist() == values.tolist()
    assert x.byteswap(inplace=True) is x
    assert x.tolist() == values.byteswap().tolist()


@pytest.mark.parametrize("name", SHAPES)
def test_flags_and_layout(name: str) -> None:
    if name == "bfloat16":
        return
    x = SHAPES[name]()
    like = x.numpy().flags
    for flag in ("c_contiguous", "f_contiguous", "aligned", "forc", "fnc", "writebackifcopy"):
        assert getattr(x.flags, flag) == getattr(like, flag), flag
    for flag in ("C", "F", "C_CONTIGUOUS", "FORC", "A"):
        assert x.flags[flag] == like[flag]
    written = name != "broadcast"  # x.numpy() is read-only
    behaved = (written, written and like.c_contiguous, written and like.fnc)
    assert (x.flags.behaved, x.flags.carray, x.flags.farray) == behaved
    assert (x.flags["B"], x.flags["CARRAY"], x.flags["FA"]) == behaved
    assert x.flags.writeable == written
    assert x.strides == x.numpy().strides
    assert x.itemsize == x.dtype.itemsize
    assert x.nbytes == x.size * x.itemsize
    with pytest.raises(AttributeError, match="must stay"):
        x.flags.writeable = False
    with pytest.raises(KeyError):
        x.flags["Q"]
    assert "C_CONTIGUOUS" in repr(x.flags)


def test_matmul_in_place() -> None:
    x = y = np.array([[1.0, 2.0], [3.0, 4.0]])
    x @= np.array([[0.0, 1.0], [1.0, 0.0]])
    assert x is y
    assert y.tolist() == [[2, 1], [4, 3]]
    with pytest.raises(ValueError):
        x @= np.ones((2, 3))


def test_generic_alias() -> None:
    assert np.ndarray[Any, numpy.dtype].__origin__ is np.ndarray


def test_unpickled_in_another_process() -> None:
    text = pickle.dumps({"x": np.arange(4.0)[::2]})
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer)['x'].tolist())"
    done = subprocess.run([sys.executable, "-c", program], input=text, capture_output=True, timeout=100, check=True)
    assert done.stdout.decode().strip() == "[0.0, 2.0]"
    assert _core.unseen_failures() == []


class TestClass:
    """The class as a function, as programs for NumPy call it."""

    def test_it_makes_an_array_of_any_values(self):
        x = np.ndarray((2, 3), dtype="int32")
        assert (x.shape, x.dtype) == ((2, 3), "int32")
        assert np.ndarray(4).dtype == np.empty(4).dtype
        x[...] = 7
        assert x.tolist() == [[7] * 3] * 2

    @pytest.mark.parametrize(
        "more", [{"buffer": bytearray(8)}, {"buffer": numpy.zeros(3)}, {"offset": 4}, {"strides": (4,)}]
    )
    def test_it_views_no_other_memory(self, more):
        with pytest.raises(TypeError, match="ndarray: there must be no buffer, offset or strides, got"):
            np.ndarray((2,), **more)

    def test_a_derived_class_makes_none(self):
        class Derived(np.ndarray):
            pass

        with pytest.raises(TypeError, match="Derived: a class derived from ndarray must not be called"):
            Derived(3)

    def test_the_shape_is_set_in_place(self):
        x = np.arange(6)
        view, late = x[:], x * 2
        x.shape = 2, -1
        x[1, 0] = 70
        assert (x.shape, view.tolist(), late.tolist()) == ((2, 3), [0, 1, 2, 70, 4, 5], [0, 2, 4, 6, 8, 10])
        x.shape = 6
        assert x.tolist() == view.tolist()

    def test_a_shape_that_cannot_be_set(self):
        x = np.arange(6).reshape(2, 3)
        with pytest.raises(AttributeError, match="shape: must be set without a copy"):
            x.T.shape = (6,)
        with pytest.raises(ValueError, match="must hold 6 elements"):
            x.shape = (4,)
        with pytest.raises(AttributeError, match="neither a scalar"):
            x[0, 0].shape = (1,)
        with autograd.record():
            y = np.ones(4)
            y.attach_grad()
            z = y * 2
            with pytest.raises(AttributeError, match="on the tape"):
                z.shape = (2, 2)
        assert (x.shape, z.shape) == ((2, 3), (4,))
