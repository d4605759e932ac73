"""A worker as a process of its own, and asking it."""

from __future__ import annotations

import json
import select
import subprocess
from pathlib import Path
from typing import IO, Any

WORKER = Path(__file__).parent / "worker.py"
START, ANSWER = 180, 300  # seconds; first answers compile


class Process:
    """A worker of one column. One that dies or does not answer is started again with the next question.

    log: the file for its standard error.
    """

    def __init__(self, python: Path | str, factory: str, quick: bool, log: Path) -> None:
        self.command = [str(python), str(WORKER), factory, *["--quick"] * quick]
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None
        self.version = ""

    def start(self) -> dict[str, Any]:
        """Starts it; its version, or why it does not start."""
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0
            )
        answer = self._answer(START)
        self.version = answer.get("version", "")
        return answer

    def ask(self, row: str) -> dict[str, Any]:
        """The worker's answer; or an "error"."""
        if self.process is None:
            started = self.start()
            if "error" in started:
                return started
        assert self.process is not None
        try:
            _pipe(self.process.stdin).write(f"{row}\n".encode())
        except BrokenPipeError:
            return self._died()
        return self._answer(ANSWER)

    def _answer(self, seconds: float) -> dict[str, Any]:
        assert self.process is not None
        stdout = _pipe(self.process.stdout)
        if not select.select([stdout], [], [], seconds)[0]:
            self.close()
            return {"error": f"no answer within {seconds:.0f} s"}
        line = stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else self._died()

    def _died(self) -> dict[str, Any]:
        self.close()
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return {"error": lines[-1].strip() if lines else "the process ended"}

    def close(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            _pipe(self.process.stdin).close()
            _pipe(self.process.stdout).close()
            self.process = None


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
