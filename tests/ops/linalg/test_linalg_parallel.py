"""Linear algebra beside other work: stacks are cut by shape for all workers; LAPACK needs no interpreter lock."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np
from forerun.np.linalg import LinAlgError
from forerun.ops._base import core
from tests.ops.cases.table import results, to_forerun
from tests.support.engine.settings import ENGINES, running

RNG = numpy.random.default_rng(3)
STACK = RNG.standard_normal((6, 50, 32, 32)) + 20 * numpy.eye(32)  # large enough to be cut

CUT: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[numpy.ndarray, ...]]] = {
    "inv": (np.linalg.inv, numpy.linalg.inv, (STACK,)),
    "det": (np.linalg.det, numpy.linalg.det, (STACK,)),
    "slogdet": (np.linalg.slogdet, numpy.linalg.slogdet, (STACK[:, ::2],)),
    "solve": (np.linalg.solve, numpy.linalg.solve, (STACK, STACK[0, :, :, :3])),
    "solve, one matrix": (np.linalg.solve, numpy.linalg.solve, (STACK[0, 0], STACK)),
    "cholesky": (np.linalg.cholesky, numpy.linalg.cholesky, (STACK @ STACK.swapaxes(-1, -2),)),
    "qr": (np.linalg.qr, numpy.linalg.qr, (STACK[..., :30],)),
    "eigh": (np.linalg.eigh, numpy.linalg.eigh, (STACK[0, :20],)),
    "svd": (np.linalg.svd, numpy.linalg.svd, (STACK[0, :20],)),
    "pinv": (np.linalg.pinv, numpy.linalg.pinv, (STACK[0, :20], numpy.full(20, 1e-12))),
    "matrix_rank": (np.linalg.matrix_rank, numpy.linalg.matrix_rank, (STACK[0],)),
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The tasks that are issued: names, and into how many calls they are cut."""
    seen = []
    host = core.host

    def issue(*args: Any, pieces: int = 1, **options: Any) -> Any:
        seen.append((args[4], pieces))
        return host(*args, pieces=pieces, **options)

    monkeypatch.setattr(core, "host", issue)
    return seen


@pytest.mark.parametrize("mode", ["1 worker", "4 workers"])
@pytest.mark.parametrize("name", CUT)
def test_parallel_results_have_the_bits_of_numpy(name: str, calls: list[tuple[str, int]], mode: str) -> None:
    function, reference, arrays = CUT[name]
    with running(mode):
        got = [r.numpy() for r in results(function(*map(to_forerun, arrays)))]
    assert any(pieces > 1 for _, pieces in calls)
    for g, w in zip(got, map(numpy.asarray, results(reference(*arrays)))):
        assert g.shape == w.shape
        assert g.tobytes() == w.tobytes()


def test_cuts_depend_on_shapes_alone(calls: list[tuple[str, int]]) -> None:
    for mode in ENGINES:
        with running(mode):
            np.linalg.inv(to_forerun(STACK)).wait()
    assert len(set(calls)) == 1
    assert calls[0][1] > 1


def test_every_part_is_computed_once_and_may_fail() -> None:
    x = to_forerun(numpy.arange(12.0).reshape(3, 4))
    seen: list[tuple[int, ...]] = []

    def task(v: numpy.ndarray) -> numpy.ndarray:
        seen.append(v.shape)
        return v + 1

    spec = [(x.shape, x.dtype)]
    y = _core.host(task, [x], spec, None, "task", pieces=3, axis=1)[0]
    assert y.tolist() == (x + 1).tolist()
    assert sorted(seen) == [(3, 1), (3, 1), (3, 2)]
    y = _core.host(lambda v: v[:1], [x], spec, None, "task", pieces=2)[0]
    with pytest.raises(ValueError, match=r"task: must return shape \(2, 4\), got \(1, 4\)"):
        y.wait()
    for pieces, axis in ((4, 0), (5, 1), (2, 2), (0, 0), (2, -1)):
        with pytest.raises(ValueError, match="task: operands must have one extent of at least"):
            _core.host(task, [x], spec, None, "task", pieces=pieces, axis=axis)
    with pytest.raises(ValueError, match="task: a task that fills memory must not be cut, got 2 pieces"):
        _core.host(task, [x], spec, None, "task", fills=True, pieces=2)
    with pytest.raises(ValueError, match="one extent"):
        _core.host(task, [x], [((4, 4), x.dtype)], None, "task", pieces=2)


@pytest.mark.parametrize("mode", ["1 worker", "4 workers"])
@pytest.mark.parametrize("place", [0, 49])
def test_one_singular_matrix_fails_the_stack_as_in_numpy(place: int, mode: str) -> None:
    x = STACK[0].copy()
    x[place] = 0
    with pytest.raises(LinAlgError, match="Singular matrix"):
        numpy.linalg.inv(x)
    with running(mode):
        y = np.linalg.inv(to_forerun(x))
        for _ in range(2):
            with pytest.raises(LinAlgError, match="Singular matrix") as caught:
                y.numpy()
            assert caught.value.__notes__[0].startswith("issued at")
        assert np.linalg.slogdet(to_forerun(x))[1][place].item() == -numpy.inf


def test_parts_are_shared_by_workers() -> None:
    """Each call waits for the other: a single worker would never get there."""
    meet = threading.Barrier(2)

    def task(v: numpy.ndarray) -> numpy.ndarray:
        meet.wait(60)
        return v

    before = forerun.config()
    forerun.configure(workers=2)
    x = np.ones((2, 3))
    y = _core.host(task, [x], [(x.shape, x.dtype)], None, "task", pieces=2)[0]
    assert y.tolist() == [[1.0] * 3] * 2
    forerun.configure(workers=before["workers"])


# --- the interpreter lock -------------------------------------------------------------------------

LARGE = RNG.standard_normal((400, 400))
LARGE = LARGE @ LARGE.T + numpy.eye(400)
LOCK: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "inv": (numpy.linalg, "inv", np.linalg.inv),
    "solve": (numpy.linalg, "solve", lambda x: np.linalg.solve(x, x)),
    "cholesky": (numpy.linalg, "cholesky", np.linalg.cholesky),
    "eigh": (numpy.linalg, "eigh", np.linalg.eigh),
    "svd": (numpy.linalg, "svd", np.linalg.svd),
    "qr": (numpy.linalg, "qr", np.linalg.qr),
}


@pytest.mark.parametrize("name", LOCK)
def test_other_threads_run_while_lapack_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that runs Python between the beginning and the end of NumPy's function got the interpreter lock because
    NumPy released it, not by a request. It may come too late, so there are several tries."""
    module, attribute, function = LOCK[name]
    assert any(seen_between(module, attribute, function, monkeypatch) for _ in range(200))


def seen_between(module: Any, attribute: str, function: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    real = getattr(module, attribute)
    begun, ended, seen = threading.Event(), threading.Event(), []

    def observed(*args: Any, **options: Any) -> Any:
        begun.set()
        result = real(*args, **options)
        ended.set()
        return result

    def look() -> None:
        begun.wait(60)
        seen.append(ended.is_set())

    watcher = threading.Thread(target=look)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(module, attribute, observed)
            watcher.start()
            for y in results(function(to_forerun(LARGE))):
                y.wait()
        called = begun.is_set()
        begun.set()
        watcher.join()
    finally:
        sys.setswitchinterval(interval)
    assert called, f"the operation must call NumPy's function {attribute}"
    return seen == [False]
