"""NumPy's functions, and those of its kind from other libraries, called with forerun arrays."""

from __future__ import annotations

import ctypes
import operator
import threading
import time
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from numpy.testing import assert_array_equal
from scipy import special

import forerun
from forerun import _core, autograd, np, npx
from forerun.np import ndarray
from forerun.testing import closed_gate
from tests.support.settings import running

F32 = numpy.array([0.5, 1.0, 2.0, 3.5], "float32")
INTS = numpy.array([3, 1, 2, 4])
GRID = numpy.arange(1, 13, dtype="float32").reshape(3, 4)
MATRICES = numpy.array([[[2, 1], [1, 3]], [[1, 0], [2, 4]]], "float32")


def ours(x: Any) -> Any:
    if isinstance(x, numpy.ndarray):
        return np.array(x)
    return type(x)(map(ours, x)) if isinstance(x, (list, tuple)) else x


def check(function: Callable[..., Any], *args: Any, rtol: float = 0.0, **kwargs: Any) -> None:
    """The same results as with NumPy's arrays, and without a wait."""
    want = function(*args, **kwargs)
    mine, named = ours(args), {k: ours(v) for k, v in kwargs.items()}
    forerun.waitall()
    waits = _core.stats()["waits"]
    with closed_gate():
        found = function(*mine, **named)
        assert _core.stats()["waits"] == waits
    pairs = zip(found, want, strict=True) if isinstance(want, tuple) else [(found, want)]
    for f, w in pairs:
        assert isinstance(f, ndarray)
        assert (f.shape, f.dtype) == (w.shape, w.dtype)
        numpy.testing.assert_allclose(f.numpy(), w, rtol=rtol, atol=0) if rtol else assert_array_equal(f.numpy(), w)


# --- element-wise -------------------------------------------------------------------------------------------------

CALLS: dict[str, tuple[Any, ...]] = {
    "ours": (numpy.hypot, F32, F32),
    "scipy": (special.erf, F32),
    "scipy, complex": (special.gamma, F32.astype("complex64")),
    "scipy, float64": (special.gamma, F32.astype("float64")),
    "scipy, two dtypes": (special.jv, F32, F32.astype("complex64")),
    "scipy, a number": (special.jv, 1.5, F32),
    "scipy, an integer": (special.eval_chebyt, 2, F32),
    "scipy, two outputs": (special.sici, F32),
    "scipy, four outputs": (special.airy, F32),
    "scipy, broadcast": (special.xlogy, GRID, F32),
    "scipy, seven operands": (special.ellipj, F32, F32 / 4),
    "scipy, bools": (special.expit, numpy.array([0.0, 1.0], "float16")),
    "two outputs": (numpy.modf, F32),
    "divmod": (numpy.divmod, INTS, 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_ufuncs_are_issued(name: str) -> None:
    check(*CALLS[name])


def test_every_ufunc_of_scipy_gives_what_it_gives_numpy() -> None:
    x = numpy.array([0.3, 0.6, 0.9])
    tried = 0
    for name in special.__all__:
        ufunc = getattr(special, name)
        if not isinstance(ufunc, numpy.ufunc) or ufunc.signature:
            continue
        operands = [x] * ufunc.nin
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about fractions where numbers should be whole
            try:
                want = ufunc(*operands)
            except TypeError:
                with pytest.raises(TypeError):
                    ufunc(*map(np.array, operands))
                continue
            found = ufunc(*map(np.array, operands))
            forerun.waitall()
        for f, w in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, want)), strict=True):
            assert f.dtype == w.dtype, name
            numpy.testing.assert_array_equal(f.numpy(), w, name)
        tried += 1
    assert tried > 150


def test_layouts_give_the_same_bits() -> None:
    for function in (special.erf, special.j0, special.gammaln):
        x = numpy.linspace(0.1, 9, 3000, dtype="float32")
        wide = numpy.zeros((3000, 3), "float32")
        wide[:, 1] = x
        assert_array_equal(function(np.array(wide)[:, 1]).numpy(), function(x))


def test_integers_give_the_default_float() -> None:
    assert special.erf(np.array(INTS)).dtype == "float32"
    assert special.xlogy(np.array(INTS), np.array(F32)).dtype == "float32"
    assert_array_equal(special.erf(np.array(INTS)).numpy(), special.erf(INTS.astype("float32")))


OPERANDS: dict[str, Any] = {
    "array of NumPy": numpy.ones(4, "float32"), "list": [1.0, 2.0, 3.0, 4.0], "scalar of NumPy": numpy.float32(2),
    "Python's": 2.0, "no axes": numpy.array(3.0, "float32"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERANDS)
def test_mixed_operands(name: str) -> None:
    other, x = OPERANDS[name], np.array(F32)
    want = (F32 + numpy.asarray(other, "float32")).tolist()
    for found in (numpy.add(x, other), numpy.add(other, x), x + other, other + x, special.xlogy(x, other)):
        assert isinstance(found, ndarray)
        assert found.dtype == "float32"
    assert numpy.add(other, x).tolist() == (other + x).tolist() == (x + other).tolist() == want


def test_lists_are_operands() -> None:
    x = np.array([1, 2, 3])
    assert (x == [1, 5, 3]).tolist() == [True, False, True]
    assert ((4, 4, 4) - x).tolist() == [3, 2, 1]
    assert (x < [2, 2, 2]).tolist() == [True, False, False]
    x += [1, 1, 1]
    assert x.tolist() == [2, 3, 4]
    with closed_gate():
        y = x + [x[0], 1, x[1]]
    assert y.tolist() == [4, 4, 7]


OUT_SHAPE = (4,)


@pytest.mark.parametrize("function", [numpy.add, special.xlogy, numpy.arctan2], ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", [
    {"where": numpy.array([True, False, True, False])}, {"dtype": "float64"}, {"casting": "unsafe"},
    {"order": "C"}, {"subok": False}, {"signature": "dd->d"}, {"dtype": "float64", "casting": "safe"},
], ids=str)  # fmt: skip
def test_options(function: Any, options: dict[str, Any]) -> None:
    out = numpy.full(4, -1.0, options.get("dtype", "float64" if "signature" in options else "float32"))
    if "where" in options:  # SciPy's loops are wrong for NumPy's way of leaving elements out
        want = numpy.where(options["where"], function(F32, F32), out)
    else:
        want = function(F32, F32, out=out.copy(), **options)
    mine = np.array(out)
    named = {k: ours(v) for k, v in options.items()}
    with closed_gate():
        found = function(np.array(F32), np.array(F32), out=mine, **named)
    assert found is mine
    assert mine.dtype == want.dtype
    assert_array_equal(mine.numpy(), want)
    if "where" not in options:
        check(function, F32, F32, **options)


def test_where_without_out_gives_zeros() -> None:
    x = np.array(F32)
    assert numpy.add(x, x, where=x > 1).tolist() == np.add(x, x, where=x > 1).tolist() == [0, 0, 4, 7]


def test_options_of_our_ops() -> None:
    x = np.array(F32)
    target = numpy.zeros(4, "float32")
    assert np.add(x, x, out=target) is target
    assert target.tolist() == [1, 2, 4, 7]
    pair = np.zeros(4), np.zeros(4)
    assert numpy.modf(x, out=pair)[0] is pair[0]
    assert pair[1].tolist() == [0, 1, 2, 3]
    wide = np.zeros((2, 4))
    assert numpy.add(x, x, out=wide) is wide
    assert wide.tolist() == [[1, 2, 4, 7]] * 2
    assert np.multiply.outer(x, x).shape == (4, 4)
    assert np.add.reduce(x).item() == 7
    assert np.add.identity == 0


REFUSED: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "object loops": (TypeError, "dtype must be .* got object", lambda x: numpy.frompyfunc(abs, 1, 1)(x)),
    "shapes": (ValueError, "xlogy: shapes must broadcast", lambda x: special.xlogy(x, np.zeros(3))),
    "no loop": (TypeError, "gammaln: there must be a loop", lambda x: special.gammaln(x.astype("complex64"))),
    "casting": (TypeError, "castable", lambda x: special.erf(x, out=np.zeros(4, dtype="int32"))),
    "safe": (TypeError, "safe", lambda x: special.erf(x.astype("float64"), dtype="float32", casting="safe")),
    "rule": (ValueError, "casting must be one of", lambda x: special.erf(x, casting="perhaps")),
    "order": (ValueError, "order must be one of", lambda x: special.erf(x, order="F")),
    "shape of out": (ValueError, "out must have a shape", lambda x: special.erf(x, out=np.zeros(1))),
    "number of outs": (ValueError, "out must have 1 entries", lambda x: np.add(x, x, out=(x, x))),
    "mask": (TypeError, "where must be", lambda x: special.erf(x, where=np.ones(4))),
    "axes of reduce": (ValueError, "reduce", lambda x: np.subtract.reduce(x.reshape(2, 2), axis=None)),
    "axis of reduce": (IndexError, "axis must be", lambda x: np.hypot.reduce(x, axis=3)),
    "reduce of nothing": (ValueError, "subtract.reduce: .*identity", lambda x: np.subtract.reduce(x[:0])),
    "unary reduce": (ValueError, "two inputs", lambda x: np.sin.reduce(x)),
    "index": (IndexError, "add.at: index must be in", lambda x: numpy.add.at(x, [9], 1)),
    "core axes": (ValueError, "operands must fit", lambda x: numpy.linalg._umath_linalg.det(x.reshape(1, 4))),
    "too few axes": (ValueError, "must have the axes", lambda x: numpy.linalg._umath_linalg.det(x)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_the_call(name: str, gate: None) -> None:
    error, message, call = REFUSED[name]
    with pytest.raises(error, match=message):
        call(np.array(F32))


# --- methods ------------------------------------------------------------------------------------------------------

METHODS: dict[str, tuple[Any, ...]] = {
    "reduce": (numpy.add.reduce, GRID),
    "reduce, keepdims": (numpy.maximum.reduce, GRID, 1, None, None, True),
    "reduce in order": (numpy.subtract.reduce, GRID, 1),
    "reduce, bitwise": (numpy.bitwise_xor.reduce, INTS),
    "reduce, small integers": (numpy.add.reduce, INTS.astype("int8")),
    "reduce, scipy's": (special.xlogy.reduce, GRID),
    "reduce, empty": (numpy.add.reduce, GRID[:0]),
    "accumulate": (numpy.add.accumulate, GRID),
    "accumulate, maximum": (numpy.maximum.accumulate, INTS),
    "accumulate, in order": (numpy.subtract.accumulate, GRID, 1),
    "accumulate, empty": (numpy.subtract.accumulate, GRID[:, :0], 1),
    "reduceat": (numpy.add.reduceat, GRID, [0, 2, 1]),
    "reduceat, an array": (numpy.minimum.reduceat, GRID, numpy.array([0, 3]), 1),
    "outer": (numpy.multiply.outer, GRID, F32),
    "outer, scipy's": (special.xlogy.outer, F32, F32),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_issued(name: str) -> None:
    check(*METHODS[name], rtol=1e-6 if "add" in repr(METHODS[name][0]) else 0.0)


def test_reductions_start_where_they_are_told() -> None:
    check(numpy.add.reduce, GRID, initial=5, rtol=1e-6)
    check(numpy.minimum.reduce, GRID, initial=5, axis=1)
    check(numpy.add.reduce, GRID, where=GRID > 3, rtol=1e-6)
    check(numpy.maximum.reduce, GRID, where=GRID > 3, initial=-1, axis=(0, 1))
    out = np.zeros(4)
    assert numpy.subtract.reduce(np.array(GRID), out=out) is out
    assert_array_equal(out.numpy(), numpy.subtract.reduce(GRID))


@pytest.mark.parametrize("indices", [
    [0, 0, 3], numpy.array([1, 1, 1]), (numpy.array([0, 2]),), slice(1, 3), -1,
], ids=str)  # fmt: skip
def test_at_counts_each_index(engine: str, indices: Any) -> None:
    want, x = F32.copy(), np.array(F32)
    numpy.add.at(want, indices, 2.0)
    numpy.add.at(x, ours(indices), 2.0)
    assert_array_equal(x.numpy(), want)
    special.exprel.at(x, 0)
    theirs = F32.copy()
    numpy.add.at(theirs, ours(indices), 2.0)  # NumPy's own, at our indices
    assert_array_equal(theirs, want)


def test_at_returns_at_once() -> None:
    with closed_gate():
        x = np.zeros((3, 2))
        numpy.add.at(x, (np.array([0, 0, 2]), 1), np.array([1.0, 2.0, 3.0]))
        assert not x.ready
    assert x.tolist() == [[0, 3], [0, 0], [0, 3]]


# --- core axes ----------------------------------------------------------------------------------------------------

_LINALG = numpy.linalg._umath_linalg

GENERALISED: dict[str, tuple[Any, ...]] = {
    "det": (_LINALG.det, MATRICES),
    "inv": (_LINALG.inv, MATRICES),
    "solve": (_LINALG.solve, MATRICES, MATRICES[0]),
    "slogdet": (_LINALG.slogdet, MATRICES),
    "eigh": (_LINALG.eigh_lo, MATRICES[0]),
    "matmul": (numpy.matmul, MATRICES, MATRICES),
}


@pytest.mark.parametrize("name", GENERALISED)
def test_ufuncs_with_core_axes_are_issued(name: str) -> None:
    check(*GENERALISED[name], rtol=1e-5)


def test_core_axes_may_stand_elsewhere() -> None:
    a, b = numpy.arange(24.0).reshape(2, 3, 4), numpy.arange(8.0).reshape(4, 2)
    check(numpy.vecdot, a, numpy.arange(3.0), axes=[1, 0, ()])
    check(numpy.vecdot, a, a, axis=1)
    check(numpy.vecdot, a, a, axis=0, keepdims=True)
    check(numpy.matmul, a, b, axes=[(0, 2), (0, 1), (1, 0)])
    out = np.zeros((2, 4), dtype="float64")
    numpy.vecdot(np.array(a), np.array(a), axis=1, out=out)
    assert_array_equal(out.numpy(), numpy.vecdot(a, a, axis=1))


# --- loops of others ----------------------------------------------------------------------------------------------

_SIZES = ctypes.POINTER(ctypes.c_ssize_t)
_Loop = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), _SIZES, _SIZES, ctypes.c_void_p)
_kept: list[Any] = []


def made(name: bytes, function: Callable[[float, float], float]) -> Any:
    """A ufunc of two float64, with a loop in this interpreter, under any name."""

    def loop(args: Any, n: Any, steps: Any, _: Any) -> None:
        for i in range(n[0]):
            a, b, y = (ctypes.c_double.from_address(args[k] + i * steps[k]) for k in range(3))
            y.value = function(a.value, b.value)

    api: Any = ctypes.pythonapi
    pointer = api.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = pointer(numpy._core._multiarray_umath._UFUNC_API, None)
    from_data = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_int,
        ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
    )(ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[1])  # fmt: skip
    compiled = _Loop(loop)
    functions = (ctypes.c_void_p * 1)(ctypes.cast(compiled, ctypes.c_void_p).value)
    data, types = (ctypes.c_void_p * 1)(), b"\x0c\x0c\x0c"  # NPY_DOUBLE
    _kept.extend([compiled, functions, data, types, name])
    return from_data(functions, data, types, 1, 2, 1, -1, name, b"", 0)


def test_names_of_others_mean_nothing(engine: str) -> None:
    """A ufunc that has the name of one of NumPy's is another one all the same."""
    x = np.array([1.0, 2.0], dtype="float64")
    assert made(b"add", lambda a, b: a - b)(x, 5.0).tolist() == [-4, -3]
    assert made(b"power", lambda a, b: a + b)(x, -1.0).tolist() == [0, 1]
    assert made(b"subtract", lambda a, b: a)(x.astype("bool"), x).tolist() == [1, 1]


def test_loops_may_come_for_the_interpreter(engine: str) -> None:
    seen: list[int] = []
    slow = made(b"watched", lambda a, b: seen.append(threading.get_ident()) or a * b)
    x = np.arange(300.0, dtype="float64")
    y = slow(x, 2.0)
    z = slow(y, y)
    assert z[-1].item() == (299 * 2) ** 2
    assert len(seen) == 600


@pytest.fixture
def strict_scipy() -> Iterator[None]:
    """scipy.special raises where a function has a pole, in this thread and in the one worker there is."""
    with running("1 worker"):
        for state in ("raise", "ignore"):
            set_there = npx.host(lambda state=state: special.seterr(singular=state) and None, [], [((), "bool")])[0]
            while not set_there.ready:  # a wait would do it here
                time.sleep(0)
            special.seterr(singular=state)
            if state == "raise":
                yield
                _core.waitall()


def test_error_of_a_loop_is_raised_where_its_result_is_read(strict_scipy: None) -> None:
    x = np.array([1.0, 0.0, 2.0])
    bad, good = special.gammaln(x), special.gammaln(x + 1)
    while not bad.ready:  # so it is the worker that has met it
        time.sleep(0)
    for _ in range(2):
        with pytest.raises(special.SpecialFunctionError, match="singularity") as caught:
            (bad + 1).tolist()
        assert any("issued at" in note and "test_numpy_protocols.py" in note for note in caught.value.__notes__)
    assert good.tolist() == special.gammaln(numpy.array([2, 1, 3], "float32")).tolist()


def test_ufuncs_are_not_forgotten_while_their_loops_run() -> None:
    x = np.arange(50.0, dtype="float64")
    with closed_gate():
        results = [made(b"short-lived", lambda a, b, k=k: a + k)(x, 0.0) for k in range(20)]
    assert [r[0].item() for r in results] == list(range(20))


def test_later_ufuncs_are_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    from forerun._array import ufunc_calls

    monkeypatch.setattr(ufunc_calls, "_MOST", 0)
    y = made(b"one-too-many", lambda a, b: a * b)(np.arange(5.0, dtype="float64"), 3.0)
    assert y.tolist() == [0, 3, 6, 9, 12]


class Compiling:
    """Compiles a loop when it meets dtypes, as numba's functions do: it asks arrays with itself as the ufunc."""

    def __init__(self) -> None:
        self.ufunc = made(b"compiled", lambda a, b: a * 10 + b)
        self.met: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for x in args:
            if isinstance(x, ndarray):
                return x.__array_ufunc__(self, "__call__", *args, **kwargs)
        self.met.append([a.dtype.name for a in args])
        return self.ufunc(*args)


def test_ufuncs_that_compile_when_called(gate: None) -> None:
    f, x = Compiling(), np.arange(3.0)
    y = f(x, 2.0)
    assert f.met == [["float32", "float32"]]
    assert y.dtype == "float64"
    assert y.shape == (3,)
    _core.gate(False)
    assert y.tolist() == [2, 12, 22]


def test_gradients_of_others_are_refused() -> None:
    x = np.array(F32)
    x.attach_grad()
    for f in (special.erf, lambda a: numpy.add(a, a, where=a > 0), numpy.subtract.reduce):
        with autograd.record():
            y = f(x)
        with pytest.raises(NotImplementedError, match=r"gradient of operand [01]"):
            y.backward()
    with autograd.record():
        y = numpy.tanh(x)
    y.backward()
    assert_array_equal(x.grad.numpy(), (1 - np.tanh(x.detach()) ** 2).numpy())


# --- functions ----------------------------------------------------------------------------------------------------


def test_functions_run_here_if_they_can(gate: None) -> None:
    x = np.array(GRID)
    for y in (numpy.concatenate([x, x]), numpy.mean(x, axis=0), numpy.linalg.inv(x[:, :3]), numpy.fft.fft(x)):
        assert isinstance(y, ndarray)
        assert not y.ready


def test_other_functions_wait_and_give_our_arrays() -> None:
    x = np.array(GRID)
    packed = numpy.packbits(x > 3)
    assert isinstance(packed, ndarray)
    assert packed.dtype == "uint8"
    assert packed.tolist() == numpy.packbits(GRID > 3).tolist()
    values = numpy.linalg.cond(x[:, :3])
    assert isinstance(values, ndarray)
    assert values.shape == ()
    counts, edges = numpy.histogram(x, bins=3, density=True)
    assert isinstance(counts, ndarray)
    assert isinstance(edges, ndarray)
    assert numpy.array2string(x) == numpy.array2string(GRID)
    assert numpy.shape(x) == (3, 4)
    assert numpy.iscomplexobj(x) is False


def test_functions_that_write() -> None:
    x = np.zeros(4)
    numpy.copyto(x, numpy.ones(4, "float32"), where=numpy.array([True, False, True, False]))
    assert x.tolist() == [1, 0, 1, 0]
    numpy.place(x, x > 0, [7.0])
    assert x.tolist() == [7, 0, 7, 0]
    theirs = numpy.zeros(4, "float32")
    numpy.copyto(theirs, x)
    assert theirs.tolist() == [7, 0, 7, 0]


class Duck:
    """An array of another library: it wants to be asked."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ("duck", ufunc.__name__)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return ("duck", func.__name__)


class Subclass(numpy.ndarray):
    pass


def test_others_are_asked() -> None:
    x = np.zeros(2)
    assert numpy.add(x, Duck()) == numpy.add(Duck(), x) == ("duck", "add")
    assert numpy.add(x, x, out=Duck()) == ("duck", "add")
    assert numpy.concatenate([x, Duck()]) == ("duck", "concatenate")
    refused = numpy.ma.masked_array([1.0, 2.0])
    with pytest.raises(TypeError):
        numpy.concatenate([x, refused])
    assert numpy.zeros(2).view(Subclass).__class__ is Subclass


# --- __array__ and operators --------------------------------------------------------------------------------------


def test_array_protocol() -> None:
    x = np.arange(4.0)
    view = x.__array__()
    assert not view.flags.writeable
    assert x.__array__("float64").dtype == "float64"
    copy = x.__array__(copy=True)
    copy[0] = 9
    assert copy.flags.writeable
    assert x[0].item() == 0
    with pytest.raises(ValueError, match="copy=False"):
        x.__array__("float64", copy=False)
    with pytest.raises(ValueError):
        numpy.asarray(x, dtype="float64", copy=False)
    assert numpy.asarray(x, copy=False).tolist() == [0, 1, 2, 3]
    assert numpy.array(x).flags.writeable
    assert not hasattr(x, "__array_struct__")


@pytest.mark.parametrize("make", [
    lambda: np.arange(6, dtype="uint8").reshape(2, 3),
    lambda: np.arange(12.0).reshape(3, 4)[::2, ::-1],
    lambda: np.array(7),
    lambda: np.zeros((0, 3)),
])  # fmt: skip
def test_array_interface(make: Callable[[], Any]) -> None:
    """Libraries that know no buffers read a snapshot, which holds its memory."""
    x = make()
    before = x.numpy()
    reader = types.SimpleNamespace(__array_interface__=x.__array_interface__)
    x += 1
    del x
    seen = numpy.asarray(reader)
    assert (seen.tolist(), seen.dtype, seen.shape) == (before.tolist(), before.dtype, before.shape)
    assert not seen.flags.writeable


def test_array_interface_of_an_image() -> None:
    image = pytest.importorskip("PIL.Image")
    x = np.arange(24, dtype="uint8").reshape(2, 4, 3)
    for picture in (x, x[:, ::-1]):
        assert numpy.asarray(image.fromarray(picture)).tolist() == picture.tolist()


def test_array_interface_of_bfloat16() -> None:
    pytest.importorskip("ml_dtypes")
    assert not hasattr(np.zeros(2, dtype="bfloat16"), "__array_interface__")


def test_buffers() -> None:
    x = np.arange(6, dtype="int16").reshape(2, 3)
    m = memoryview(x[:, ::2])
    assert (m.format, m.shape, m.strides, m.readonly, m.itemsize) == ("h", (2, 2), (6, 4), True, 2)
    assert m.tolist() == [[0, 2], [3, 5]]
    m.release()
    assert bytes(x) == x.numpy().tobytes()
    assert bytes(np.array([3], dtype="uint8")) == b"\x03"
    formats = {"bool": "?", "uint8": "B", "float16": "e", "float32": "f", "float64": "d", "complex64": "Zf"}
    assert {d: memoryview(np.zeros(2, dtype=d)).format for d in formats} == formats
    with pytest.raises(TypeError, match="read-only"):
        memoryview(x)[0, 0] = 1
    assert b"".join([np.array([1, 2], dtype="uint8")]) == b"\x01\x02"


def test_foreign_operands_are_asked() -> None:
    x = np.zeros(2)
    for op in (operator.add, operator.mul, operator.lt, operator.matmul):
        for other in (None, "text", object()):
            with pytest.raises(TypeError):
                op(x, other)
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True

    class Right:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> str:
            return "right"

        def __eq__(self, other: object) -> bool:
            return True

    assert x + Right() == "right"
    assert (x == Right()) is True
    assert numpy.zeros(2).__add__(x) is NotImplemented or isinstance(numpy.zeros(2) + x, ndarray)


@pytest.mark.parametrize("dtypes", [
    ("int64", "float32"), ("float32", "float64"), ("uint8", "int64"), ("int8", "int64"), ("float32", "complex64"),
    ("bool", "int64"), ("float16", "float32"), ("uint8", "uint16"), ("complex64", "complex128"), ("int64", "uint64"),
], ids=" ".join)  # fmt: skip
def test_in_place_casts_by_numpys_rule(dtypes: tuple[str, str]) -> None:
    into, value = dtypes
    theirs, x = numpy.ones(2, into), np.ones(2, dtype=into)
    allowed = numpy.can_cast(numpy.result_type(into, value), into, "same_kind")
    if numpy.dtype(into).kind != numpy.dtype(value).kind == "f":
        allowed = False
    if allowed:
        theirs += numpy.ones(2, value)
        x += np.ones(2, dtype=value)
        assert x.dtype == into
        assert x.tolist() == theirs.tolist()
    else:
        with pytest.raises(TypeError):
            theirs += numpy.ones(2, value)
        with pytest.raises(TypeError, match="must fit out's kind"):
            x += np.ones(2, dtype=value)


def test_arrays_can_be_referred_to_weakly() -> None:
    x = np.zeros(2)
    assert weakref.ref(x)() is x
