"""A failed input poisons the results of every op in the table; every read of them raises the error, with its line."""

from __future__ import annotations

import asyncio
import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np
from forerun.np import host, ndarray
from tests.ops.cases import CASES
from tests.ops.cases.table import Case, arrays_of, mapped, to_forerun
from tests.support.engine.late_arrays import UserError
from tests.support.engine.settings import running
from tests.support.many_cases import for_each


def raise_user_error(*_: Any) -> None:
    raise UserError("here")


def failed_task(like: ndarray) -> ndarray:
    """An array of that shape and dtype, whose task has failed."""
    return host(raise_user_error, [], [(like.shape, like.dtype)])[0]


def failed_take(like: ndarray) -> ndarray:
    """The same, where an index was out of range; a task if there is no element."""
    if like.size == 0:
        return failed_task(like)
    return np.take(np.zeros(1, dtype=like.dtype), np.full(like.shape, 7, dtype="int64"))


LINES = {f: f"issued at {__file__}:{f.__code__.co_firstlineno + n}" for f, n in ((failed_task, 2), (failed_take, 4))}


def is_forerun(error: BaseException) -> bool:
    """Whether it is an error of the two functions, with a note that names their line."""
    where = LINES[failed_task] if isinstance(error, UserError) else LINES[failed_take]
    right = str(error) == "here" if isinstance(error, UserError) else "must be in [-1, 1), got 7" in str(error)
    return right and error.__notes__ == [where]


ERRORS = (UserError, IndexError)


def raises(read: Callable[[], Any]) -> bool:
    """Whether it raises the error of the inputs; another error is a test's failure."""
    try:
        read()
    except ERRORS as error:
        caught = error
    else:
        return False
    assert is_forerun(caught)
    return True


async def awaited(x: ndarray) -> None:
    await x


def first_element(x: ndarray) -> ndarray:
    """A view of the first element."""
    return x.reshape(-1)[0]


READERS: dict[str, Callable[[ndarray], Any]] = {
    "wait": lambda x: x.wait(),
    "wait_to_read": lambda x: x.wait_to_read(),
    "forerun.wait": lambda x: forerun.wait({"x": [x, x]}),
    "numpy": lambda x: x.numpy(),
    "asnumpy": lambda x: x.asnumpy(),
    "asarray": numpy.asarray,
    "array": lambda x: numpy.array(x, dtype="complex128"),
    "memoryview": memoryview,
    "DLPack": numpy.from_dlpack,
    "tolist": lambda x: x.tolist(),
    "repr": repr,
    "str": str,
    "format": lambda x: f"{x}",
    "pickle": pickle.dumps,
    "numpy.save": lambda x: numpy.save(io.BytesIO(), x),
    "numpy.savez": lambda x: numpy.savez(io.BytesIO(), x=x),
    "await": lambda x: asyncio.run(awaited(x)),
    "equality of Python": lambda x: bool(np.array_equal(x, x)),
    "into NumPy": lambda x: numpy.add(numpy.zeros(x.shape, "complex128"), x, out=numpy.zeros(x.shape, "complex128")),
}
SCALAR_READERS: dict[str, Callable[[ndarray], Any]] = {
    "item": lambda x: first_element(x).item(),
    "item with a place": lambda x: x.item(0),
    "bool": lambda x: bool(first_element(x)),
    "complex": lambda x: complex(first_element(x)),
    "int": lambda x: int(first_element(x).real),
    "float": lambda x: float(first_element(x).real),
    "index": lambda x: [1][first_element(x).real.astype("int64")],
    "nonzero": lambda x: np.nonzero(x.reshape(-1)),
    "in": lambda x: 1 in x,
    "mask": lambda x: x[x == 1],
}


def swapped(args: Any, old: ndarray, new: ndarray) -> Any:
    """The arguments with another array in one place."""
    return mapped(lambda a: new if a is old else a, args)


WITH_ARRAYS = [c for c in CASES if any(arrays_of(to_forerun(args)) for args in c.arguments(c.dtype_list()[-1]))]
# Ops that only look at the shape of an input: nothing is wrong with their results.
SHAPE_ONLY = {f"np.{name}_like" for name in ("zeros", "ones", "full", "empty")} | {
    "np.diag_indices_from",
    "np.tril_indices_from",
    "np.triu_indices_from",
    "npx.arange_like",
    "npx.index_array",
    "npx.multibox_prior",
    "npx.shape_array",
}
# Ops that do not read an input of some samples.
AT_TIMES = {
    "np.resize": "an array without elements",
    "np.put": "values for no place",
    "np.putmask": "no values",
    "np.piecewise": "an array whose functions are numbers",
    "np.copyto": "an array that is overwritten as a whole",
    "np.array_equal": "arrays of different shapes",
    "np.array_equiv": "arrays of different shapes",
    "np.max": "an array without elements, and an initial value",
    "np.min": "an array without elements, and an initial value",
    "np.linalg.matrix_power": "the power of zero",
    "npx.reshape_like": "an array that gives its shape",
    "npx.broadcast_like": "an array that gives its shape",
    "npx.slice_like": "an array that gives its shape",
    "npx.batch_norm": "gamma that is fixed",
}
AT_THE_CALL = {"np.quantile", "np.percentile"}  # which look at positions that are an array


def poisonings(case: Case) -> Iterator[Any]:
    """Arguments with one bad input, in each place in turn."""
    for args in map(to_forerun, case.arguments(case.dtype_list()[-1])):
        for i, old in enumerate(arrays_of(args)):
            yield swapped(args, old, (failed_task, failed_take)[i % 2](old))


def bad_results(case: Case, args: Any) -> list[ndarray]:
    """The results with which something is wrong; nothing may be wrong with the call."""
    return [r for r in case(case.op, args) if isinstance(r, ndarray) and raises(r.wait)]


@for_each("case", WITH_ARRAYS, ids=lambda c: c.name)
def test_every_op_propagates_the_error(case: Case, ahead_failing: str) -> None:
    passed_on = []
    for args in poisonings(case):
        if case.waits or case.name in AT_THE_CALL:
            found: list[ndarray] = []
            passed_on.append(raises(lambda args=args, found=found: found.extend(bad_results(case, args))) or found)
        else:
            passed_on.append(bad_results(case, args))
    if case.name in SHAPE_ONLY:
        assert not any(passed_on)
    else:
        assert any(passed_on) if case.name in AT_TIMES else all(passed_on)


@for_each("case", WITH_ARRAYS, ids=lambda c: c.name)
def test_every_op_raises_at_the_call_in_synchronous_mode(case: Case) -> None:
    with running("1 worker"):
        samples = list(poisonings(case))
    with running("sync"):
        raised = [raises(lambda args=args: case(case.op, args)) for args in samples]
    # A view is not an op: its values raise where they are read.
    shown = [r or bool(bad_results(case, args)) for r, args in zip(raised, samples, strict=True)]
    if case.name in SHAPE_ONLY:
        assert not any(shown)
    else:
        assert any(shown) if case.name in AT_TIMES else all(shown)


@for_each("case", WITH_ARRAYS, ids=lambda c: c.name)
def test_every_reader_of_its_result_raises(case: Case) -> None:
    """Again and again, and the same."""
    if case.waits or case.name in SHAPE_ONLY:
        return
    with running("1 worker"):
        result = next(bad for args in poisonings(case) for bad in bad_results(case, args))
        first = result.size and case.name != "np.pad"  # whose first element is not the operand's
        readers = READERS | (SCALAR_READERS if first else {})
        for _ in range(2):
            assert [name for name, read in readers.items() if not raises(lambda read=read: read(result))] == []


@pytest.mark.parametrize("make", [failed_task, failed_take])
@pytest.mark.parametrize("name", [*READERS, *SCALAR_READERS])
def test_every_reader_raises(name: str, make: Any, ahead_failing: str) -> None:
    bad = make(np.ones(3))
    for x in (bad, bad * 2 + 1, bad[1:], bad.T.reshape(3, 1)):
        assert raises(lambda x=x: (READERS | SCALAR_READERS)[name](x))


def float_leaves(args: Any) -> list[ndarray]:
    """The arrays among arguments that can have a gradient, with one."""
    leaves = [a for a in arrays_of(args) if a.dtype.kind == "f"]
    for x in leaves:
        x.attach_grad()
    return leaves


def backward_from_results(case: Case, args: Any, head: Callable[[ndarray], ndarray]) -> bool:
    """Records the op and goes back from its results with gradients made by `head`; False if nothing is on the tape."""
    with autograd.record():
        outputs = [r for r in case(case.op, args) if isinstance(r, ndarray) and r.node is not None]
    if outputs:
        autograd.backward(outputs, [head(y) for y in outputs])
    return bool(outputs)


@for_each("case", [c for c in CASES if isinstance(c.grad, tuple)], ids=lambda c: c.name)
def test_gradients_are_poisoned_and_heal(case: Case, ahead_failing: str) -> None:
    for args in map(to_forerun, case.arguments("float32")):
        leaves = float_leaves(args)
        if not leaves or not backward_from_results(case, args, failed_task):
            continue
        bad = [x for x in leaves if raises(x.grad.wait)]
        assert bad or not any(x.size for x in leaves)
        backward_from_results(case, args, np.ones_like)
        forerun.wait([x.grad for x in leaves])
        forerun.wait(leaves)
