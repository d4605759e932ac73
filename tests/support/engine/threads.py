"""Work in several threads that start together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tests.support.processes.subprocesses import PATIENCE


def run_in_threads(n: int, work: Callable[[int], Any], *, keep: bool = False) -> list[Any]:
    """Return work(0), ..., work(n - 1), each run in a thread of its own, all started together.

    An exception of one is raised here, or is its result with `keep`.
    """
    results: list[Any] = [None] * n
    start = threading.Barrier(n)

    def run(i: int) -> None:
        start.wait(PATIENCE)
        try:
            results[i] = work(i)
        except BaseException as error:
            results[i] = error.with_traceback(None)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(PATIENCE)
    assert not any(t.is_alive() for t in threads)
    for raised in [] if keep else [r for r in results if isinstance(r, BaseException)]:
        raise raised
    return results
