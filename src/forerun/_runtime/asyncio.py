"""Arrays in asyncio: one, several, or in the order in which they come. No thread waits.

Each event loop has a queue, a file descriptor that it polls beside its sockets. When writes end that a task awaits, the
core signals the descriptor, and the loop resumes the tasks.
"""

from __future__ import annotations

import asyncio
import select
import socket
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import _core
from .system import at_fork

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["gather", "as_completed", "arrival"]

_AT_ONCE = 8  # watches that are notified in one iteration of the loop; their tasks all run in the next one


async def gather(*arrays: Any, return_exceptions: bool = False) -> list[Any]:
    """Wait for arrays as `await` does, also for those inside lists, tuples and dicts.

    Parameters
    ----------
    *arrays : arrays, or nested lists, tuples and dicts of arrays
        The arrays to wait for.
    return_exceptions : bool
        True: no error is raised; the result has the error in place of the array.

    Returns
    -------
    list
        The arguments, in the same structure, with computed arrays.

    Raises
    ------
    TypeError
        For anything that is neither an array nor a list, tuple or dict of them.
    Exception
        Once all have ended: the error of the computation that failed, however many arrays it has poisoned; of several
        computations, an ExceptionGroup.

    Examples
    --------
    >>> import asyncio, forerun
    >>> from forerun import np
    >>> async def main():
    ...     x = np.arange(3)
    ...     total, parts = await forerun.gather(x.sum(), {"twice": x * 2})
    ...     return total.item(), parts["twice"].tolist()
    >>> asyncio.run(main())
    (3, [0, 2, 4])
    """
    leaves = list(_leaves(arrays))
    arrivals = _Arrivals(leaves)
    while arrivals.left:
        await arrivals.next()
    errors: dict[int, BaseException] = {}
    for watch in arrivals.watches:
        if watch.failure and watch.failure not in errors:
            errors[watch.failure] = _error(watch)
    try:
        if not errors or return_exceptions:
            ends = (errors[w.failure] if w.failure else x for w, x in zip(arrivals.watches, leaves))
            return [_rebuilt(part, ends) for part in arrays]
        if len(errors) == 1:
            raise next(iter(errors.values()))
        raise BaseExceptionGroup(f"gather: {len(errors)} computations failed", list(errors.values()))
    finally:
        del errors  # an error's traceback holds this frame


def as_completed(arrays: Iterable[Any]) -> AsyncIterator[Any]:
    """Iterate asynchronously over arrays in the order in which they are computed.

    An array is yielded as often as it was given. A failed one is yielded like the others; reading or awaiting it
    raises. Leaving the loop early, or cancelling it, is always possible: the computations go on.

    Parameters
    ----------
    arrays : iterable of arrays
        Computed ones come first.

    Returns
    -------
    asynchronous iterator
        The arrays.

    Raises
    ------
    TypeError
        For other objects than arrays.
    RuntimeError
        Without a running event loop.

    Examples
    --------
    >>> import asyncio, forerun
    >>> from forerun import np
    >>> async def main():
    ...     return sorted([x.item() async for x in forerun.as_completed([np.sum(np.ones(n)) for n in (3, 1, 2)])])
    >>> asyncio.run(main())
    [1.0, 2.0, 3.0]
    """
    return _AsCompleted(list(arrays))


def arrival(x: Array) -> Generator[Any, None, None]:
    """Suspend the running task until the values are computed; raise the error of their computation."""
    loop = asyncio.get_running_loop()
    watch = _Watch(_queue_of(loop).core, x)
    if watch.waits:
        future = loop.create_future()
        watch.completed = partial(_settle, future)
        yield from future
    else:  # this thread has just run some operations for it: let other tasks run
        yield
    watch.check()


class _Watch(_core.Watch):
    """The loop calls `completed()` when the array is computed, unless this is gone by then, as after a cancellation."""

    __slots__ = ("completed",)
    completed: Callable[[], object]


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():  # its task has been cancelled, and has not run since
        future.set_result(None)


class _Arrivals:
    """Watches on arrays, and those that have been notified. left: how many `next` has not returned yet."""

    def __init__(self, arrays: list[Any]) -> None:
        queue = _queue_of(asyncio.get_running_loop()).core
        self.came: asyncio.Queue[int] = asyncio.Queue()
        self.left = len(arrays)
        self.watches = [_Watch(queue, x) for x in arrays]
        for number, watch in enumerate(self.watches):
            watch.completed = partial(self.came.put_nowait, number)
            if not watch.waits:
                watch.completed()

    async def next(self) -> int:
        number = await self.came.get()
        self.left -= 1
        return number


class _AsCompleted(AsyncIterator[Any]):
    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays
        self.arrivals = _Arrivals(arrays)

    async def __anext__(self) -> Any:
        if not self.arrivals.left:
            raise StopAsyncIteration
        return self.arrays[await self.arrivals.next()]


# --- structures ---


def _leaves(part: object) -> Iterator[Any]:
    if isinstance(part, _core.Array):
        yield part
    elif isinstance(part, (list, tuple, dict)):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _leaves(inner)
    else:
        raise TypeError(f"gather: must be given arrays, or lists, tuples and dicts of them, got {part!r}")


def _rebuilt(part: Any, ends: Iterator[Any]) -> Any:
    """Return the structure of `part`, with the next of `ends` in each array's place."""
    if isinstance(part, _core.Array):
        return next(ends)
    if isinstance(part, dict):
        return {key: _rebuilt(inner, ends) for key, inner in part.items()}
    inner_parts = [_rebuilt(inner, ends) for inner in part]
    if hasattr(part, "_fields"):  # a named tuple
        return type(part)(*inner_parts)
    return tuple(inner_parts) if isinstance(part, tuple) else inner_parts


def _error(watch: _Watch) -> BaseException:
    try:
        watch.check()
    except BaseException as error:
        return error
    raise AssertionError("only of watches with a failure")


# --- queues ---


class _LoopQueue:
    """The completion queue of one event loop, which owns it until the loop is closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._guarded = None  # the thread whose guard warns of lines that block this loop
        if loop.get_debug():
            guard = _core.set_guard(1)
            if guard:
                _core.set_guard(guard)  # the program has set one
            else:
                self._guarded = threading.get_ident()
        self.core = _core.CompletionQueue()
        try:
            loop.add_reader(self.core.fileno(), self.report)
        except NotImplementedError:
            _poller().add(self, loop)

    def __del__(self) -> None:
        if self._guarded == threading.get_ident():
            _core.set_guard(0)

    def report(self) -> None:
        """Report completed watches. If more are left, the descriptor stays readable: the loop calls this again."""
        for watch in self.core.take(_AT_ONCE):
            watch.completed()


_queues: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[_LoopQueue]] = weakref.WeakKeyDictionary()


def _queue_of(loop: asyncio.AbstractEventLoop) -> _LoopQueue:
    known = _queues.get(loop)
    queue = known() if known else None
    if queue is None:
        queue = _LoopQueue(loop)
        _queues[loop] = weakref.ref(queue)
    return queue


_ONCE = 0x40000001  # EPOLLIN | EPOLLONESHOT


class _SelectPoll:
    """Report a descriptor that is readable once, as `select.epoll` does, which only Linux has."""

    def __init__(self) -> None:
        self._asked: set[int] = set()
        self._woken, self._wakes = socket.socketpair()
        self._woken.setblocking(False)

    def register(self, descriptor: int, _events: int) -> None:
        self._asked.add(descriptor)
        self._wakes.send(b"x")

    modify = register

    def unregister(self, descriptor: int) -> None:
        self._asked.discard(descriptor)
        self._wakes.send(b"x")

    def poll(self) -> list[tuple[int, int]]:
        try:
            looked_at: list[Any] = [self._woken, *self._asked.copy()]
            ready, _, _ = select.select(looked_at, [], [])
        except OSError:  # one that was closed meanwhile
            return []
        with suppress(BlockingIOError):
            self._woken.recv(4096)
        found = self._asked.intersection(ready)
        self._asked.difference_update(found)
        return [(descriptor, _ONCE) for descriptor in found]


class _Poller:
    """One thread, which polls the queues of all loops that cannot poll descriptors themselves."""

    def __init__(self) -> None:
        self.poll: Any = select.epoll() if hasattr(select, "epoll") else _SelectPoll()
        self.queues: dict[int, tuple[weakref.ref[asyncio.AbstractEventLoop], _LoopQueue]] = {}
        threading.Thread(target=self.run, name="forerun-await", daemon=True).start()

    def add(self, queue: _LoopQueue, loop: asyncio.AbstractEventLoop) -> None:
        descriptor = queue.core.fileno()
        self.queues[descriptor] = weakref.ref(loop), queue
        weakref.finalize(loop, self.remove, descriptor).atexit = False
        self.poll.register(descriptor, _ONCE)

    def remove(self, descriptor: int) -> None:
        self.poll.unregister(descriptor)
        del self.queues[descriptor]

    def run(self) -> None:
        while True:
            for descriptor, _ in self.poll.poll():
                loop = self.queues[descriptor][0]() if descriptor in self.queues else None
                if loop:
                    with suppress(RuntimeError):  # it has been closed
                        loop.call_soon_threadsafe(self.report, descriptor)
                del loop

    def report(self, descriptor: int) -> None:
        """In the loop's thread. The thread does not poll the descriptor again before."""
        self.queues[descriptor][1].report()
        self.poll.modify(descriptor, _ONCE)


_the_poller: _Poller | None = None
_starting = threading.Lock()


def _poller() -> _Poller:
    global _the_poller
    with _starting:
        if _the_poller is None:
            _the_poller = _Poller()
        return _the_poller


def _after_fork() -> None:
    """Forget the threads, which a child does not have; its loops get queues of their own."""
    global _the_poller, _starting
    _queues.clear()
    _the_poller, _starting = None, threading.Lock()


at_fork(after_in_child=_after_fork)
