"""A1: ten times, a matrix of normal numbers is made and multiplied by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy

from forerun import np, npx

from ...finding import Finding, Run, Table, experiment, ratio, seconds
from ...measure import apart, gpus, medians

TIMES = 10


def in_numpy(n: int) -> None:
    """The loop of the chapter, in NumPy."""
    for _ in range(TIMES):
        a = numpy.random.normal(size=(n, n))  # noqa: NPY002 - the chapter's own
        numpy.dot(a, a)


def in_numpy_float32(n: int) -> None:
    """The same, in the dtype that forerun computes in."""
    generator = numpy.random.default_rng()
    for _ in range(TIMES):
        a = generator.standard_normal((n, n), "float32")
        numpy.dot(a, a)


def issue(n: int) -> list[np.ndarray]:
    """The same, in forerun."""
    results = []  # are kept, because operations whose results no program can read are dropped
    for _ in range(TIMES):
        a = np.random.normal(size=(n, n))
        results.append(np.dot(a, a))
    return results


def issue_and_waitall(n: int) -> None:
    """The same, until the work is done."""
    results = issue(n)
    npx.waitall()
    del results


PROMISE = "issuing returns orders of magnitude sooner than the work is done; a wait shows the true time."


@experiment("A1", "Issuing is not computing", PROMISE)
def issue_and_wait(run: Run) -> Finding:
    n = run.size("n", 100, 1000)
    issue_and_waitall(n)  # the first run makes threads and memory
    programs = {
        "NumPy, float64 as in the chapter": lambda: in_numpy(n),
        "NumPy, float32": lambda: in_numpy_float32(n),
        "forerun, issued": lambda: issue(n),
        "forerun, waited for": lambda: issue_and_waitall(n),
    }
    found = medians(programs, run.rounds)
    base, issued, done = (found[name] for name in list(programs)[1:])
    return Finding(
        [
            Table(
                (f"{TIMES} x (normal {n} x {n}, dot)", "time", "to NumPy float32"),
                [(name, seconds(t), ratio(t, base)) for name, t in found.items()],
            )
        ],
        [f"Issuing takes {issued / done:.2%} of the time that the work takes: {done / issued:,.0f} times less."],
        [] if run.quick or issued < done / 10 else ["issuing took more than a tenth of the time of the work"],
    )


@experiment("A1", "Issuing is not computing, on a GPU either", PROMISE)
def issue_and_wait_on_gpu(run: Run) -> Finding:
    n, devices = run.size("n", 100, 1000), gpus(1)

    def on_gpu(program: Callable[[int], object]) -> Callable[[], object]:
        def there() -> object:
            with devices[0]:
                return program(n)

        return there

    on_gpu(issue_and_waitall)()  # the first run compiles
    issue_and_waitall(n)
    programs = {
        "NumPy, float32": lambda: in_numpy_float32(n),
        "forerun on cpu(0), waited for": lambda: issue_and_waitall(n),
        "forerun on gpu(0), issued": on_gpu(issue),
        "forerun on gpu(0), waited for": on_gpu(issue_and_waitall),
    }
    found = medians(programs, run.rounds)
    base, _, issued, done = found.values()
    late = apart(devices) and not run.quick and issued >= done / 10
    return Finding(
        [
            Table(
                (f"{TIMES} x (normal {n} x {n}, dot)", "time", "to NumPy float32"),
                [(name, seconds(t), ratio(t, base)) for name, t in found.items()],
            )
        ],
        [f"Issuing takes {issued / done:.2%} of the time that the work takes: {done / issued:,.0f} times less."],
        ["issuing took more than a tenth of the time of the work"] if late else [],
    )
