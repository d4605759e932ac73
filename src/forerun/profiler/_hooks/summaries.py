"""Numbers of a training run for TensorBoard, written when they are computed."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..._runtime import core as _core
from ..events import Trace

__all__ = ["Summaries"]


class Summaries:
    """Writes numbers to a summary writer without waiting for them: an array is written once it is computed.

    `writer.add_scalar("loss", loss, step)` would wait for the loss in each step. This keeps the array, and writes it in
    a later call that finds it computed; `flush` and `close` wait for the rest.

    Parameters
    ----------
    writer : object
        A writer with `add_scalar(tag, value, step)`: of `tensorboard`, `tensorboardX` or `torch.utils.tensorboard`.

    Examples
    --------
    >>> import tempfile
    >>> from tensorboard.summary import Writer
    >>> from forerun import np, profiler
    >>> with tempfile.TemporaryDirectory() as folder, profiler.Summaries(Writer(folder)) as log:
    ...     for step in range(3):
    ...         log.add_scalar("loss", (np.ones(3) / (step + 1)).sum(), step)
    """

    def __init__(self, writer: Any) -> None:
        self.writer = writer
        self._waiting: deque[tuple[str, Any, int | None]] = deque()

    def add_scalar(self, tag: str, value: object, step: int | None = None) -> None:
        """Write a number, or keep an array with one element until it is computed. Does not wait.

        Parameters
        ----------
        tag : str
            The name of the curve.
        value : float or array
            The number.
        step : int, optional
            The number of the step.

        Raises
        ------
        ValueError
            If an array has not one element. The errors of arrays that were kept before are raised, too, where their
            computation has failed.
        """
        if isinstance(value, _core.Array) and value.size != 1:
            raise ValueError(f"add_scalar: value must have one element, got shape {value.shape}")
        self._waiting.append((tag, value, step))
        while self._waiting and getattr(self._waiting[0][1], "ready", True):
            self._write()

    def add_trace(self, trace: Trace, step: int | None = None) -> None:
        """Write the summary of a recorded part of the program.

        Seconds of the stretch, in waits, lost by them, and in which operations ran; numbers of operations and waits;
        the largest memory of arrays, in bytes. The tags begin with "forerun/".

        Parameters
        ----------
        trace : Trace
            The recording.
        step : int, optional
            The number of the step.
        """
        numbers = {
            "seconds": trace.span,
            "seconds_in_waits": sum(line.seconds for line in trace.lines),
            "seconds_lost": sum(line.lost for line in trace.lines),
            "seconds_busy": trace.busy(),
            "ops": len(trace.ops),
            "waits": sum(line.waits for line in trace.lines),
            "memory": max((max(e.live) for e in trace.ops), default=0),
        }
        for name, number in numbers.items():
            self.add_scalar(f"forerun/{name}", float(number), step)

    def flush(self) -> None:
        """Wait for the arrays that were kept, write them, and flush the writer."""
        while self._waiting:
            self._write()
        self.writer.flush()

    def close(self) -> None:
        """Write the rest as `flush` does, and close the writer."""
        self.flush()
        self.writer.close()

    def __enter__(self) -> Summaries:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _write(self) -> None:
        tag, value, step = self._waiting.popleft()
        number = value.item() if isinstance(value, _core.Array) else value
        self.writer.add_scalar(tag, number, step)
