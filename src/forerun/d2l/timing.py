"""Clocks that tell the time of issue from the time of the work."""

from __future__ import annotations

import time

import numpy

from .._runtime import core as _core

__all__ = ["Benchmark", "Timer", "never_run"]


class Timer:
    """A stopwatch that remembers its runs. It starts when it is made; times are in seconds.

    It does not wait: to time a whole program, wait before `stop`.

    Attributes
    ----------
    times : list of floats
        The time of each run.
    dropped : list of ints
        For each run the number of operations that were dropped because their results were not used.

    Examples
    --------
    >>> timer = Timer()
    >>> timer.stop() >= 0, len(timer.times)
    (True, 1)
    """

    def __init__(self) -> None:
        self.times: list[float] = []
        self.dropped: list[int] = []
        self.start()

    def start(self) -> None:
        """Start a run.

        Examples
        --------
        >>> timer = Timer()
        >>> timer.start()
        >>> timer.stop() >= 0
        True
        """
        self._before = _dropped()
        self.tik = time.perf_counter()

    def stop(self) -> float:
        """End a run; return its time.

        Examples
        --------
        >>> Timer().stop() >= 0
        True
        """
        self.times.append(time.perf_counter() - self.tik)
        self.dropped.append(_dropped() - self._before)
        return self.times[-1]

    def avg(self) -> float:
        """Return the average time of a run. ZeroDivisionError before the first has ended.

        Examples
        --------
        >>> timer = Timer()
        >>> timer.times = [1.0, 3.0]
        >>> timer.avg()
        2.0
        """
        return sum(self.times) / len(self.times)

    def sum(self) -> float:
        """Return the total time of all runs.

        Examples
        --------
        >>> timer = Timer()
        >>> timer.times = [1.0, 3.0]
        >>> timer.sum()
        4.0
        """
        return sum(self.times)

    def cumsum(self) -> list[float]:
        """Return the cumulative times of the runs.

        Examples
        --------
        >>> timer = Timer()
        >>> timer.times = [1.0, 3.0]
        >>> timer.cumsum()
        [1.0, 4.0]
        """
        sums: list[float] = numpy.array(self.times).cumsum().tolist()
        return sums


class Benchmark:
    """A context manager that prints two times: until its work was issued, and until all of it was done.

    The end of the block waits for the work, so the work of a block never counts for the next one. Where the two times
    are the same, the block has waited itself. Errors of the operations are raised by reads of their results. Operations
    with unused results are not run, and so take no time: the line says how many there were, if any.

    Parameters
    ----------
    description : str, optional
        The beginning of the line.

    Examples
    --------
    >>> from forerun import np
    >>> with Benchmark("a sum"):
    ...     total = np.ones(8).sum()
    a sum: issued after 0... sec, done after 0... sec
    """

    def __init__(self, description: str = "Done") -> None:
        self.description = description

    def __enter__(self) -> Benchmark:
        self._before = _dropped()
        self.timer = Timer()
        return self

    def __exit__(self, *exc: object) -> None:
        issued = self.timer.stop()
        _core.wait_mark(_core.mark())
        done = time.perf_counter() - self.timer.tik
        shown = never_run(_dropped() - self._before)
        print(f"{self.description}: issued after {issued:.4f} sec, done after {done:.4f} sec{shown}")


def _dropped() -> int:
    """Return the number of eliminated operations since the start of the process."""
    return _core.stats()["dropped"]


def never_run(dropped: int) -> str:
    """Return the text about operations that were not run; empty if all were run.

    >>> never_run(9)
    ' (9 operations dropped: result never read)'
    """
    shown = "1 operation" if dropped == 1 else f"{dropped:,} operations"
    return f" ({shown} dropped: result never read)" if dropped else ""
