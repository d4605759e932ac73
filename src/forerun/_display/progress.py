"""How far a loop is, in a program that runs ahead: how many of its iterations are issued, and how many computed."""

from __future__ import annotations

import html
import shutil
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO, TypeVar

from .._runtime import core as _core
from .terminal import coloured, encodes, moving

__all__ = ["progress"]

T = TypeVar("T")
EVERY = 0.1  # seconds from one picture to the next
WIDTH = 30  # characters


def progress(items: Iterable[T], title: str = "", *, total: int | None = None, done: int = 0) -> Iterator[T]:
    """Iterate over items, and show how many iterations have been issued, and how many of these are computed.

    A loop that issues is through its items long before the work is done; a bar that counted items would be full at
    once. This one has two parts. It waits for nothing: where the loop ends, the last iterations may still be
    computed, and the last words say how many. On a terminal it is a line of standard error. In a notebook it is a bar
    below the cell, which is updated until all iterations are computed. Elsewhere nothing is shown.

    Parameters
    ----------
    items : iterable
        The items.
    title : str
        Text before the bar.
    total : int, optional
        How many iterations there are in all; by default `done` and the items' length, if they have one.
    done : int
        How many came before, in a program that goes on where another one has stopped.

    Returns
    -------
    iterator
        The items.

    Raises
    ------
    ValueError
        If a number is negative.

    Examples
    --------
    >>> import forerun
    >>> from forerun import np
    >>> w = np.ones(3)
    >>> for step in forerun.progress(range(4), "training"):
    ...     w = w / 2
    >>> w.tolist()
    [0.0625, 0.0625, 0.0625]
    """
    if total is None and (length := _length(items)) is not None:
        total = done + length
    if done < 0 or (total is not None and total < 0):
        raise ValueError(f"progress: total and done must not be negative, got {total} and {done}")
    show = _picture()
    return _shown(items, _Loop(title, total, done), show) if show else iter(items)


def _length(items: Any) -> int | None:
    try:
        return len(items)
    except TypeError:
        return None


class _Loop:
    """How far a loop is."""

    def __init__(self, title: str, total: int | None, done: int) -> None:
        self.title, self.total = title, total
        self.issued = self.computed = done
        self._ends: deque[int] = deque()  # of iterations that may not be computed: the number of the op behind each
        self.began = time.perf_counter()

    def step(self) -> None:
        """Count an iteration as issued."""
        self.issued += 1
        self._ends.append(_core.mark())

    def look(self) -> None:
        """Count the iterations that are computed: all operations before their end have ended."""
        left = _core.pending(1)
        while self._ends and (not left or self._ends[0] <= left[0][0]):
            self._ends.popleft()
            self.computed += 1

    def words(self) -> str:
        """Return numbers and time."""
        seconds = int(time.perf_counter() - self.began)
        of = "" if self.total is None else f"/{self.total}"
        ahead = f", {self.issued - self.computed} being computed" if self.issued > self.computed else ""
        return f"{self.issued}{of} issued{ahead}, {seconds // 60}:{seconds % 60:02}"

    def parts(self, width: float) -> tuple[float, float]:
        """Of a bar so wide, the computed part, and the part that is issued but not computed."""
        total = max(self.total or self.issued, self.issued, 1)
        return width * self.computed / total, width * (self.issued - self.computed) / total


Show = Callable[[_Loop, bool], None]


def _shown(items: Iterable[T], loop: _Loop, show: Show) -> Iterator[T]:
    show(loop, False)
    after = time.perf_counter() + EVERY
    try:
        for item in items:
            yield item
            del item  # the loop alone decides how long an item lives
            loop.step()
            if time.perf_counter() >= after:
                loop.look()
                show(loop, False)
                after = time.perf_counter() + EVERY
    finally:
        loop.look()
        show(loop, True)


def _picture() -> Show | None:
    """Return where it is shown: in a notebook, on a terminal, or nowhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        return _Notebook()
    return _Line(sys.stderr) if moving(sys.stderr) else None


class _Line:
    """A line of a terminal, which goes away at the end."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.marks = "█▒·" if encodes(stream, "█▒·") else "#+."
        self.colour = ("\033[36m", "\033[0m") if coloured(stream) else ("", "")

    def __call__(self, loop: _Loop, last: bool) -> None:
        if last:
            print("\r\033[K", end="", file=self.stream, flush=True)
            return
        computed, issued = map(round, loop.parts(WIDTH))
        bar = self.marks[0] * computed + self.marks[1] * issued + self.marks[2] * (WIDTH - computed - issued)
        text = f"{loop.title} {self.colour[0]}{bar[:WIDTH]}{self.colour[1]} {loop.words()}".lstrip()
        room = shutil.get_terminal_size((100, 24)).columns + len("".join(self.colour)) - 1
        print(f"\r\033[K{text[:room]}", end="", file=self.stream, flush=True)


class _Notebook:
    """A bar below a cell, which stays."""

    def __init__(self) -> None:
        self.handle: Any = None

    def __call__(self, loop: _Loop, last: bool) -> None:
        from IPython.display import HTML, display

        if self.handle is None:
            self.handle = display(HTML(self.html(loop)), display_id=True)  # type: ignore[no-untyped-call]  # untyped
        else:
            self.handle.update(HTML(self.html(loop)))  # type: ignore[no-untyped-call]
        if last and loop.issued > loop.computed:
            threading.Thread(target=self.follow, args=(loop,), name="forerun progress", daemon=True).start()

    def follow(self, loop: _Loop) -> None:
        """Update the bar until all iterations are computed, while the notebook continues."""
        while loop.issued > loop.computed:
            time.sleep(EVERY)
            loop.look()
            self(loop, False)

    def html(self, loop: _Loop) -> str:
        """Return the bar as HTML, in colours for light and dark backgrounds."""
        parts = zip(loop.parts(100), ("#0b5e8a", "#8fbfd8"))
        bars = "".join(f'<div style="width:{p:.1f}%;height:100%;background:{c}"></div>' for p, c in parts)
        frame = "display:inline-flex;width:20em;height:0.9em;border:1px solid #888;border-radius:3px;overflow:hidden"
        return (
            f'<div style="font-family:sans-serif">{html.escape(loop.title)} '
            f'<span style="{frame}">{bars}</span> {loop.words()}</div>'
        )
