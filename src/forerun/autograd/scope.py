"""Scopes that switch recording and training mode on and off, per thread."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .. import _core

__all__ = [
    "record", "pause", "train_mode", "predict_mode", "is_recording", "is_training", "set_recording",
    "set_training",
]  # fmt: skip


class Scope:
    """Sets recording and training inside a `with` block, or inside a function that it decorates; None
    leaves as is."""

    __slots__ = ("recording", "training", "_before")

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self.recording = recording
        self.training = training
        self._before: dict[int, list[tuple[bool, bool]]] = {}  # by thread

    def __enter__(self) -> None:
        recording, training = self.recording, self.training
        recording = _core.recording() if recording is None else _core.set_recording(recording)
        training = _core.training() if training is None else _core.set_training(training)
        self._before.setdefault(threading.get_ident(), []).append((recording, training))

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        before = self._before[threading.get_ident()]
        recording, training = before.pop()
        if not before:
            del self._before[threading.get_ident()]
        _core.set_recording(recording)
        _core.set_training(training)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: object, **kwargs: Any) -> Any:
            with Scope(self.recording, self.training):
                return function(*args, **kwargs)

        return inside


def record(train_mode: bool = True) -> Scope:
    """Return a context manager inside which operations on arrays with gradients are recorded.

    Parameters
    ----------
    train_mode : bool, optional
        Whether the program counts as training inside, which layers such as dropout ask for.

    Returns
    -------
    context manager
        For a `with` statement.

    Examples
    --------
    >>> from forerun import autograd, np
    >>> x = np.array([1.0, 2.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad.tolist()
    [2.0, 4.0]
    """
    return Scope(True, train_mode)


def pause(train_mode: bool = False) -> Scope:
    """Return a context manager in which operations of this thread are not recorded.

    Parameters
    ----------
    train_mode : bool
        Whether the thread is in training mode meanwhile.

    Returns
    -------
    context manager
        For a `with` statement.

    Examples
    --------
    >>> from forerun import autograd
    >>> with autograd.record(), autograd.pause():
    ...     autograd.is_recording()
    False
    """
    return Scope(False, train_mode)


def train_mode() -> Scope:
    """Return a context manager in which this thread is in training mode: dropout drops, batch normalization uses the
    batch.

    Returns
    -------
    context manager
        For a `with` statement.

    Examples
    --------
    >>> from forerun import autograd
    >>> with autograd.train_mode():
    ...     autograd.is_recording(), autograd.is_training()
    (False, True)
    """
    return Scope(None, True)


def predict_mode() -> Scope:
    """Return a context manager in which this thread is not in training mode: dropout keeps everything.

    Returns
    -------
    context manager
        For a `with` statement.

    Examples
    --------
    >>> from forerun import autograd
    >>> with autograd.record(), autograd.predict_mode():
    ...     autograd.is_recording(), autograd.is_training()
    (True, False)
    """
    return Scope(None, False)


def is_recording() -> bool:
    """Return whether operations of this thread are recorded.

    Returns
    -------
    bool
        True inside of `record()`.

    Examples
    --------
    >>> from forerun import autograd
    >>> with autograd.record():
    ...     autograd.is_recording()
    True
    """
    return _core.recording()


def is_training() -> bool:
    """Return whether this thread is in training mode.

    Returns
    -------
    bool
        True inside of `record()` and `train_mode()`.

    Examples
    --------
    >>> from forerun import autograd
    >>> with autograd.predict_mode():
    ...     autograd.is_training()
    False
    """
    return _core.training()


def set_recording(is_recording: bool) -> bool:
    """Switch the recording of this thread.

    Parameters
    ----------
    is_recording : bool
        Whether operations are recorded from now on.

    Returns
    -------
    bool
        Whether they were before.

    Examples
    --------
    >>> from forerun import autograd
    >>> before = autograd.set_recording(True)
    >>> autograd.set_recording(before)
    True
    """
    return _core.set_recording(is_recording)


def set_training(train_mode: bool) -> bool:
    """Switch the training mode of this thread.

    Parameters
    ----------
    train_mode : bool
        Whether the thread is in training mode from now on.

    Returns
    -------
    bool
        Whether it was before.

    Examples
    --------
    >>> from forerun import autograd
    >>> before = autograd.set_training(True)
    >>> autograd.set_training(before)
    True
    """
    return _core.set_training(train_mode)
