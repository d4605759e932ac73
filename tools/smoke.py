"""Say whether an installed forerun works: `python tools/smoke.py`. `make wheels` runs this program with each wheel."""

import platform
import sys
import sysconfig
import threading
from collections.abc import Callable
from typing import Any

import numpy

import forerun
from forerun import autograd, np


def arithmetic() -> None:
    """Element-wise operations, a group of them, and a reduction."""
    x = np.arange(10_000, dtype="float64")
    numpy_x = numpy.arange(10_000, dtype="float64")
    assert ((x * 2 + 1) / 3).tolist() == ((numpy_x * 2 + 1) / 3).tolist()
    assert x.sum().item() == numpy_x.sum()


def products() -> None:
    """Real products, and complex ones, which are OpenBLAS's."""
    a = numpy.random.default_rng(0).normal(size=(70, 50))
    for numpy_array in (a, a + 1j * a):
        array = np.array(numpy_array, dtype=numpy_array.dtype)
        assert numpy.allclose((array @ array.T).numpy(), numpy_array @ numpy_array.T)


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "indexing": lambda m, x: (x[1:, ::-1], x[x > 0], x[[1, 0], 2]),
    "shapes": lambda m, x: (m.concatenate([x, x[:1]]), m.stack([x, x], 1), x.T.reshape(2, -1), m.pad(x, 1)),
    "reductions": lambda m, x: (x.max(0), m.argmin(x, 1), m.any(x > 1), m.count_nonzero(x), m.nanmax(x)),
    "scans": lambda m, x: (m.cumsum(x, 1), m.cumprod(x), m.diff(x), m.maximum.accumulate(x)),
    "orders": lambda m, x: (m.sort(x), m.argsort(x, 0), m.unique(x), m.searchsorted(m.sort(x[0]), 0.5), m.median(x)),
    "selection": lambda m, x: (m.where(x > 0, x, 0), m.clip(x, -1, 1), m.take(x, [2, 0], 1), m.select([x > 0], [x])),
    "integers": lambda m, x: m.where(x > 0, x.astype("int8"), 300),  # an error since NumPy 2.5
    "matrices": lambda m, x: (m.linalg.inv(x @ x.T), m.linalg.eigvalsh(x @ x.T), m.einsum("ij,kj->ik", x, x)),
    "transforms": lambda m, x: (m.fft.fft(x), m.fft.irfft(x, axis=0)),
    "functions of NumPy": lambda m, x: (numpy.add(x, x), numpy.sum(x, 0), numpy.hypot.reduce(x), numpy.stack([x, x])),
    "samples": lambda m, x: (*m.histogram(x, 3), m.interp(x, [-1.0, 1.0], [0.0, 2.0]), m.trapezoid(x)),
    "views": lambda m, x: (m.lib.stride_tricks.sliding_window_view(x, (2, 2)), m.broadcast_to(x, (2, *x.shape))),
    "dtypes": lambda m, x: (m.zeros(2, numpy.dtypes.Int16DType), x.astype("complex64"), m.result_type(x.dtype, "int8")),
    "text": lambda m, x: (repr(m.ones(2, "int64")), m.array2string(x, precision=2)),
}


def outcome(call: Callable[[Any, Any], Any], module: Any, values: Any) -> list[Any]:
    """Return the results of a call as lists, or the kind of its error."""
    try:
        found = call(module, module.asarray(values))
    except Exception as error:
        return [type(error)]
    return [x.tolist() if hasattr(x, "tolist") else x for x in (found if isinstance(found, tuple) else (found,))]


def calls() -> None:
    """Functions of each family have the results of the installed NumPy."""
    values = numpy.random.default_rng(1).normal(size=(4, 6))
    for name, call in CALLS.items():
        got, want = outcome(call, np, values), outcome(call, numpy, values)
        for result, expected in zip(got, want, strict=True):
            if isinstance(expected, list | float | complex):
                numpy.testing.assert_allclose(result, expected, 1e-12, 1e-12, err_msg=name)
            else:
                assert result == expected, (name, result, expected)


def gradients() -> None:
    """The slope of a sum of squares."""
    x = np.arange(4.0)
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [0, 2, 4, 6]


def threads() -> None:
    """Threads that issue at the same time, and wait."""
    sums: list[float] = []

    def count(start: int) -> None:
        x = np.zeros(100)
        for i in range(200):
            x += start + i
        sums.append(x.sum().item())

    group = [threading.Thread(target=count, args=(i,)) for i in range(4)]
    for thread in group:
        thread.start()
    for thread in group:
        thread.join()
    assert sorted(sums) == [100.0 * sum(start + i for i in range(200)) for start in range(4)]


def one_array_of_all_threads() -> None:
    """Threads that write one array: each operation has its place in the order, with the interpreter lock or without."""
    x = np.zeros(100)

    def add() -> None:
        nonlocal x
        for _ in range(500):
            x += 1

    group = [threading.Thread(target=add) for _ in range(4)]
    for thread in group:
        thread.start()
    for thread in group:
        thread.join()
    assert x.tolist() == [2000.0] * 100


def lock() -> None:
    """The import leaves the interpreter lock as it is: a free-threaded interpreter stays one."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert has_lock != bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def errors() -> None:
    """An error of the computation reaches its read, through C++ and Python."""
    bad = np.linalg.cholesky(np.zeros((2, 2)) - 1)
    try:
        bad.wait()
    except numpy.linalg.LinAlgError:
        return
    raise AssertionError("an error should reach the read")


def main() -> None:
    """Run all checks; a failure raises."""
    for check in (arithmetic, products, calls, gradients, threads, one_array_of_all_threads, lock, errors):
        check()
    free = " free-threaded" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}{free}"
    print(f"forerun {forerun.__version__} works: {python}, NumPy {numpy.__version__}, {platform.machine()}")


if __name__ == "__main__":
    main()
