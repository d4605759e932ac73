"""Host tasks that end when a test lets them, or fail, and their arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from forerun import np
from forerun.np import host

PATIENCE = 60.0  # seconds after which a task that is not released stops


class UserError(Exception):
    """An exception of the user's own."""


def _task(go: threading.Event, begun: threading.Event, fails: str) -> Callable[..., Any]:
    """The function of a task, which knows nothing of its result: an error that it raises would keep that."""

    def run(*values: Any) -> Any:
        begun.set()
        if not go.wait(PATIENCE):
            raise TimeoutError("the task was not released")
        if fails:
            raise KeyError(fails)
        return values[0] if values else 1

    return run


class HeldTask:
    """A host task that begins when it may, and ends when `go` is set, or its block ends. `result` is its array.

    value: its value, an array; 1 by default. fails: it raises KeyError of this text instead. go: the event,
    which several tasks may share.
    """

    def __init__(
        self, value: Any = None, *, go: threading.Event | None = None, fails: str = "", device: Any = None,
        queue: str = "compute",
    ) -> None:  # fmt: skip
        self.go, self.begun = go or threading.Event(), threading.Event()
        inputs = [] if value is None else [value]
        spec = ((), "int64") if value is None else (value.shape, value.dtype)
        task = _task(self.go, self.begun, fails)
        self.result = host(task, inputs, [spec], device=device, queue=queue)[0]

    def __enter__(self) -> HeldTask:
        return self

    def __exit__(self, *exc: object) -> None:
        self.go.set()


def late_array(
    go: threading.Event, fails: str = "", value: float = 1.0, shape: tuple[int, ...] = (3,), dtype: str = "float32"
) -> Any:  # fmt: skip
    """An array of one value whose task waits for an event; or which fails then."""
    return HeldTask(np.full(shape, value, dtype=dtype), go=go, fails=fails).result


def failing_array(
    error: BaseException, shape: tuple[int, ...] = (3,), dtype: Any = "float32", *, reads: Sequence[Any] = (),
    device: Any = None,
) -> Any:  # fmt: skip
    """Return an array whose task raises an error. reads: arrays that the task reads."""

    def task(*values: Any) -> None:
        raise error

    return host(task, list(reads), [(shape, dtype)], device=device)[0]


# The note of such an error.
FAILURE_NOTE = f"issued at {__file__}:{failing_array.__code__.co_firstlineno + 9}"


def failing_like(x: Any, error: type[Exception] = UserError) -> Any:
    """Return an array of x's shape and dtype whose task reads x and fails."""
    return failing_array(error("here"), x.shape, x.dtype, reads=[x])
