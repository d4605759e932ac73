"""Ufuncs that other libraries make: their loops run as operations, also those that need the interpreter."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from numpy._core import _umath_tests
from numpy.testing import assert_array_equal
from scipy import special

from forerun import _core, autograd, np, npx
from forerun.np import ndarray
from forerun.testing import closed_gate
from tests.support.comparison.numpy_calls import F32
from tests.support.engine.settings import running

_SIZES = ctypes.POINTER(ctypes.c_ssize_t)
_Loop = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), _SIZES, _SIZES, ctypes.c_void_p)
_kept: list[Any] = []


def ufunc_of_function(name: bytes, function: Callable[[float, float], float]) -> Any:
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


def test_foreign_ufuncs_are_not_looked_up_by_name(engine: str) -> None:
    """A ufunc that has the name of one of NumPy's is another one all the same."""
    x = np.array([1.0, 2.0], dtype="float64")
    assert ufunc_of_function(b"add", lambda a, b: a - b)(x, 5.0).tolist() == [-4, -3]
    assert ufunc_of_function(b"power", lambda a, b: a + b)(x, -1.0).tolist() == [0, 1]
    assert ufunc_of_function(b"subtract", lambda a, b: a)(x.astype("bool"), x).tolist() == [1, 1]


def test_loops_may_take_the_interpreter_lock(engine: str) -> None:
    seen: list[int] = []
    slow = ufunc_of_function(b"watched", lambda a, b: seen.append(threading.get_ident()) or a * b)
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
        assert any("issued at" in note and "test_ufuncs_of_others.py" in note for note in caught.value.__notes__)
    assert good.tolist() == special.gammaln(numpy.array([2, 1, 3], "float32")).tolist()


def test_ufuncs_are_not_forgotten_while_their_loops_run() -> None:
    x = np.arange(50.0, dtype="float64")
    with closed_gate():
        results = [ufunc_of_function(b"short-lived", lambda a, b, k=k: a + k)(x, 0.0) for k in range(20)]
    assert [r[0].item() for r in results] == list(range(20))


def test_later_ufuncs_are_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    from forerun._array import ufunc_calls

    monkeypatch.setattr(ufunc_calls, "_MOST", 0)
    y = ufunc_of_function(b"one-too-many", lambda a, b: a * b)(np.arange(5.0, dtype="float64"), 3.0)
    assert y.tolist() == [0, 3, 6, 9, 12]


class Compiling:
    """Compiles a loop when it meets dtypes, as numba's functions do: it asks arrays with itself as the ufunc."""

    def __init__(self) -> None:
        self.ufunc = ufunc_of_function(b"compiled", lambda a, b: a * 10 + b)
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


def test_gradients_of_foreign_ufuncs_raise() -> None:
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


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_of_ufuncs_with_core_axes_are_those_of_each_operand(axis: int, keepdims: bool, engine: str) -> None:
    """Operands and results may differ in how many axes they have in front."""
    inner, a = _umath_tests.inner1d, numpy.arange(24.0).reshape(2, 3, 4)
    b = numpy.arange(float(a.shape[axis]))
    for x, y in ((a, a), (a, numpy.swapaxes(a, axis, 0)[:, 0, 0]), (b, a) if axis in (0, -1) else (a, a[:1])):
        try:
            expected = inner(x, y, axis=axis, keepdims=keepdims)
        except ValueError as error:
            with pytest.raises(type(error)):
                inner(np.array(x), np.array(y), axis=axis, keepdims=keepdims)
            continue
        assert_array_equal(inner(np.array(x), np.array(y), axis=axis, keepdims=keepdims).numpy(), expected)
    assert_array_equal(_umath_tests.cumsum(np.array(a), axis=axis).numpy(), numpy.cumsum(a, axis))


def test_an_axis_of_an_operand_beside_numbers(engine: str) -> None:
    rows, factor = numpy.arange(6.0).reshape(2, 3), numpy.arange(2.0)
    found = _umath_tests.inner1d(np.array(rows), np.array(factor), axis=0)
    assert_array_equal(found.numpy(), factor @ rows)
