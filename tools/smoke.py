"""Say whether an installed forerun works: `python tools/smoke.py`. `make wheels` runs this program with each wheel."""

import platform
import sys
import sysconfig
import threading

import numpy

import forerun
from forerun import autograd, np


def arithmetic() -> None:
    """Element-wise operations, a group of them, and a reduction."""
    x = np.arange(10_000, dtype="float64")
    theirs = numpy.arange(10_000, dtype="float64")
    assert ((x * 2 + 1) / 3).tolist() == ((theirs * 2 + 1) / 3).tolist()
    assert x.sum().item() == theirs.sum()


def products() -> None:
    """Real products, and complex ones, which are OpenBLAS's."""
    a = numpy.random.default_rng(0).normal(size=(70, 50))
    for theirs in (a, a + 1j * a):
        ours = np.array(theirs, dtype=theirs.dtype)
        assert numpy.allclose((ours @ ours.T).numpy(), theirs @ theirs.T)


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
    """Run all of it; what fails raises."""
    for check in (arithmetic, products, gradients, threads, one_array_of_all_threads, lock, errors):
        check()
    free = " free-threaded" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}{free}"
    print(f"forerun {forerun.__version__} works: {python}, NumPy {numpy.__version__}, {platform.machine()}")


if __name__ == "__main__":
    main()
