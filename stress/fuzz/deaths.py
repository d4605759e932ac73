"""Programs that die with workers running and files half written: no process survives, files are whole or missing."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy

PATIENCE = 60.0  # seconds after which a surviving process is a finding

METHODS = ("fork", "fork", "forkserver", "spawn")
ACTS = ("nothing", "loop", "sleep", "lock", "compute")  # the activity of a worker when its consumer dies
ENDS = ("SIGKILL", "SIGTERM", "SIGABRT", "SIGINT", "_exit", "exit", "raise")

PROGRAM = """
import ctypes, json, multiprocessing, os, resource, signal, sys, threading, time
import numpy
from forerun import np
from forerun.gluon import data


def compute():
    while True:
        np.ones((100, 100)).sum().item()


def loop():
    while True:
        pass


ACTS = {
    "nothing": lambda: None, "loop": loop, "sleep": lambda: time.sleep(100_000), "compute": compute,
    "lock": lambda: ctypes.PyDLL(None).sleep(100_000),  # which keeps the interpreter lock
}


class Examples(data.Dataset):
    def __init__(self, act, first):
        self.act, self.first = act, first

    def __len__(self):
        return 60

    def __getitem__(self, i):
        if i >= self.first:
            ACTS[self.act]()
        return numpy.full((3,), i)


def end(how):
    if how == "_exit":
        os._exit(3)
    if how == "exit":
        sys.exit(3)
    if how == "raise":
        raise ArithmeticError("as asked for")
    if how != "SIGKILL":
        signal.signal(getattr(signal, how), signal.SIG_DFL)
    os.kill(os.getpid(), getattr(signal, how))


if __name__ == "__main__":
    spec = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    multiprocessing.set_start_method(spec["method"])
    loader = data.DataLoader(Examples(spec["act"], spec["batches"]), 1, num_workers=spec["workers"])
    made = []
    if spec["thread"]:
        thread = threading.Thread(target=lambda: made.append(iter(loader)))
        thread.start()
        thread.join()
    else:
        made.append(iter(loader))
    for i in range(spec["batches"]):
        assert next(made[0]).asnumpy()[0, 0] == i
        np.save("x", np.full((50_000,), i), wait=i % 2 == 0)
    for i in range(spec["saves"]):
        np.save("x", np.full((50_000,), 100 + i), wait=False)
    for _ in range(spec["turns"]):
        pass
    end(spec["end"])
"""


def spec_of(seed: int) -> dict[str, Any]:
    """The program of a number."""
    rng = numpy.random.default_rng([seed, 2])
    choice = lambda some: some[int(rng.integers(len(some)))]
    return {
        "method": choice(METHODS), "act": choice(ACTS), "end": choice(ENDS), "workers": int(rng.integers(1, 4)),
        "batches": int(rng.integers(0, 5)), "saves": int(rng.integers(0, 4)), "thread": bool(rng.random() < 0.3),
        "turns": int(10 ** rng.uniform(0, 5)),
    }  # fmt: skip


def fault_of_program(spec: dict[str, Any]) -> str:
    """Return the fault found once the program has ended; empty if there is no fault."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(PROGRAM)
        (Path(folder) / "files").mkdir()
        line = [sys.executable, os.fspath(script), json.dumps(spec)]
        with subprocess.Popen(
            line, cwd=script.parent / "files", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        ) as program:
            assert program.stdout
            output = b""
            try:
                while select.select([program.stdout], [], [], PATIENCE)[0]:
                    if not (more := os.read(program.stdout.fileno(), 1 << 16)):
                        return _wrong(spec, program.wait(), output.decode("utf-8", "replace"), script.parent / "files")
                    output += more
                return f"processes that live on, or hang, after {output.decode('utf-8', 'replace')}"
            finally:
                if program.poll() is None:
                    program.kill()


def _wrong(spec: dict[str, Any], status: int, output: str, folder: Path) -> str:
    """Return the fault of a program whose processes have all ended."""
    ends = {"_exit": 3, "exit": 3, "raise": 1, "SIGINT": -2, "SIGKILL": -9, "SIGTERM": -15, "SIGABRT": -6}
    if status != ends[spec["end"]]:
        return f"status {status}: {output}"
    if "AssertionError" in output:
        return output
    names = sorted(os.listdir(folder))
    if (spec["batches"] and names != ["x.npy"]) or not set(names) <= {"x.npy"}:
        return f"files {names}"
    if names:
        try:
            values = numpy.load(folder / "x.npy")
        except (ValueError, EOFError) as error:
            return f"a file that cannot be read: {error}"
        if values.shape != (50_000,) or (values != values[0]).any():
            return f"a file of {values.shape} from {values[0]} to {values[-1]}"
        last = 99 + spec["saves"] if spec["saves"] else spec["batches"] - 1
        if spec["end"] in ("exit", "raise") and values[0] != last:
            return f"the last save must be there when a program has ended in order, got {values[0]} for {last}"
    return ""


def main(arguments: list[str]) -> None:
    """Run programs, and report the findings: `batch FIRST COUNT`."""
    _, first, count = arguments
    for seed in range(int(first), int(first) + int(count)):
        spec = spec_of(seed)
        text = fault_of_program(spec)
        finding = {"target": "death", "text": text, "data": json.dumps(spec).encode().hex()}
        print(json.dumps({"counts": {"deaths": 1}, "findings": [finding] if text else []}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
