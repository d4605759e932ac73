"""Arrays of NumPy as operands: reductions and products read large ones in place, and end before the call returns."""

from __future__ import annotations

import gc
import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np, profiler
from forerun.np import host
from forerun.testing import assert_same_bits, closed_gate
from tests.support.engine.late_arrays import HeldTask
from tests.support.many_cases import for_each

ROWS, COLUMNS = 3000, 40  # 960 kB: read in place
LARGE = (6000, 500)  # an operation on it takes much longer than the rest of a call


def make_operand(shape: tuple[int, ...], dtype: str = "float64") -> numpy.ndarray:
    numbers = numpy.random.default_rng(3).normal(size=shape) * 4
    return numbers.astype(dtype) if dtype != "bool" else numbers > 3


ORDERS: dict[str, Callable[[numpy.ndarray], numpy.ndarray]] = {
    "rows": lambda a: a,
    "columns": numpy.asfortranarray,
    "part": lambda a: numpy.concatenate([a, a], axis=1)[:, : a.shape[1]],
    "rows of a part": lambda a: numpy.concatenate([a.T, a.T], axis=1)[:, : len(a)].T,
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "repeated": lambda a: numpy.broadcast_to(a[:1], a.shape),
}
REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": np.sum, "prod": lambda a: np.prod(a, axis=0), "mean": np.mean,
    "mean of columns": lambda a: np.mean(a, axis=0),
    "max": lambda a: np.max(a, axis=1), "min": np.min, "all": np.all, "any": lambda a: np.any(a, axis=0),
    "argmax": np.argmax, "argmin": lambda a: np.argmin(a, axis=1), "trace": np.trace, "norm": np.linalg.norm,
    "norm of rows": lambda a: np.linalg.norm(a, axis=1), "count_nonzero": np.count_nonzero,
}  # fmt: skip
PRODUCTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a @ v": lambda a, v, u: np.matmul(a, v),
    "dot(a, v)": lambda a, v, u: np.dot(a, v),
    "dot(u, a)": lambda a, v, u: np.dot(u, a),
    "a @ few": lambda a, v, u: np.matmul(a, np.stack([v, v + 1], axis=1)),
    "few @ a": lambda a, v, u: np.matmul(np.stack([u, u + 1]), a),
    "a @ many": lambda a, v, u: np.matmul(a, np.outer(v, np.arange(50.0))),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
@for_each("name, order", itertools.product(REDUCTIONS, ORDERS))
def test_reduction_has_the_bits_of_that_of_a_copy(name: str, order: str, dtype: str) -> None:
    given = ORDERS[order](make_operand((ROWS, COLUMNS), dtype))
    assert_same_bits(REDUCTIONS[name](given), REDUCTIONS[name](np.array(given)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_product_has_the_bits_of_that_of_a_copy(name: str, order: str) -> None:
    given = ORDERS[order](make_operand((ROWS, COLUMNS)))
    v, u = np.array(make_operand((COLUMNS,))), np.array(make_operand((ROWS,)))
    assert_same_bits(PRODUCTS[name](given, v, u), PRODUCTS[name](np.array(given), v, u))


@pytest.mark.parametrize("name", ["sum", "max", "argmax", "norm"])
def test_reduction_has_ended_when_the_call_returns(name: str) -> None:
    given = make_operand(LARGE)
    expected = REDUCTIONS[name](np.array(given))
    forerun.waitall()  # nothing that is pending makes the call copy the array
    found = REDUCTIONS[name](given)
    assert found.ready
    given[:] = 0
    assert_same_bits(found, expected)


@pytest.mark.parametrize("name", ["a @ v", "dot(u, a)", "a @ few", "few @ a", "a @ many"])
def test_product_does_not_see_writes_after_the_call(name: str) -> None:
    given = make_operand(LARGE)
    v, u = np.array(make_operand((LARGE[1],))), np.array(make_operand((LARGE[0],)))
    expected = PRODUCTS[name](np.array(given), v, u)
    forerun.waitall()
    found = PRODUCTS[name](given, v, u)
    assert found.ready or name == "a @ many"  # which copies it
    given[:] = 0
    assert_same_bits(found, expected)


@pytest.mark.parametrize("is_operand", [True, False])
def test_operations_that_take_long_are_not_waited_for(is_operand: bool) -> None:
    given, v = make_operand((ROWS, COLUMNS)), np.array(make_operand((COLUMNS,)))
    with HeldTask(v) as task:
        release = threading.Timer(10, task.go.set)  # of a call that waits for the task after all
        release.start()
        product = np.matmul(given, task.result if is_operand else v)
        assert not task.go.is_set()
        release.cancel()
        before = given.copy()
        given[:] = 0
        assert not (is_operand and product.ready)
    assert_same_bits(product, np.matmul(np.array(before), v))


def test_calls_do_not_wait_behind_a_closed_gate() -> None:
    given, v = make_operand((ROWS, COLUMNS)), np.array(make_operand((COLUMNS,)))
    expected = np.matmul(np.array(given), v), np.sum(np.array(given))
    with closed_gate():
        product, total = np.matmul(given, v), np.sum(given)
        given[:] = 0
        assert not product.ready
        assert not total.ready
    assert_same_bits(product, expected[0])
    assert_same_bits(total, expected[1])


def test_a_guard_against_waits_gets_a_copy() -> None:
    given, v = make_operand((ROWS, COLUMNS)), np.array(make_operand((COLUMNS,)))
    with profiler.guard("raise"):
        product = np.matmul(given, v)
        given[:] = 0
    assert product.any()


def test_gradients_are_of_the_values_at_the_call() -> None:
    given, v = make_operand((ROWS, COLUMNS)), np.array(make_operand((COLUMNS,)))
    v.attach_grad()
    with autograd.record():
        total = np.matmul(given, v).sum()
    expected = np.sum(np.array(given), axis=0)
    given[:] = 0
    total.backward()
    assert numpy.allclose(v.grad, expected)


def test_memory_is_not_kept() -> None:
    given, v = make_operand((ROWS, COLUMNS)), np.array(make_operand((COLUMNS,)))
    before = sys.getrefcount(given)
    for _ in range(5):
        np.matmul(given, v)
        np.sum(given, axis=0)
    forerun.waitall()
    np.zeros(1).item()  # a call releases objects that workers no longer use
    gc.collect()
    assert sys.getrefcount(given) == before


def test_a_call_is_counted_as_a_wait_with_its_line() -> None:
    given = make_operand(LARGE)
    forerun.waitall()
    with profiler.record() as recorded:
        for _ in range(30):  # a worker may have ended one before the call would wait
            np.sum(given)
    assert {wait.name for wait in recorded.trace.waits} <= {"read of an array of NumPy", "end of the recording"}
    assert "read of an array of NumPy" in profiler.report(recorded.trace)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_bools_of_any_nonzero_byte_are_true(name: str) -> None:
    odd = (numpy.arange(1 << 15, dtype="uint8") % 3).view("bool").reshape(-1, 32)
    assert_same_bits(REDUCTIONS[name](odd), REDUCTIONS[name](np.array(odd)))


def test_failure_of_the_other_operand_is_raised_by_the_read() -> None:
    given, v = make_operand((ROWS, COLUMNS)), np.array(make_operand((COLUMNS,)))
    with HeldTask(v, fails="lost") as task:
        task.go.set()
        product = np.matmul(given, task.result)
    with pytest.raises(KeyError, match="lost"):
        product.wait()


def test_threads_read_one_array() -> None:
    given = make_operand(LARGE)
    expected = np.sum(np.array(given)).item()
    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.append(np.sum(given).item())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@pytest.mark.parametrize("kind", ["rows", "columns", "part"])
def test_copies_have_the_order_of_numpy_s_copies(kind: str) -> None:
    given = ORDERS[kind](make_operand((30, 4)))
    assert np.array(given).flags.f_contiguous == given.copy(order="K").flags.f_contiguous
    assert_same_bits(np.array(given), given)
    assert np.ascontiguousarray(given).flags.c_contiguous


def test_captured_calls_have_the_values_at_the_capture() -> None:
    given, v = make_operand((ROWS, COLUMNS)), np.array(make_operand((COLUMNS,)))
    expected = v @ np.array(given.T)
    function = forerun.hybrid(lambda x: x @ given.T)
    for _ in range(3):
        assert_same_bits(function(v), expected)
        given[:] = 0


def test_host_tasks_use_arrays_of_numpy() -> None:
    given = make_operand((ROWS, COLUMNS))
    total = np.sum(np.array(given))
    found = host(lambda: np.sum(given).item(), [], [((), "float64")])[0]
    assert_same_bits(found, total)
