"""Count the instructions of the issuing thread for an operation, on cpu(0) and on gpu(0), where times say little.

    FORERUN_PJRT=plugin.so python tools/issue_instructions.py [--count 1000]

Needs valgrind. Each call runs in two loops, one twice as long as the other: their difference is the cost of a call. The
arrays are too large for operations to run in the call, and nothing runs meanwhile: the count is that of issuing, from
the call in Python to the queue, and of dropping the result.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

# A call of getppid ends one part of the counts and begins the next one.
PROGRAM = """
import os, sys, time
import forerun
from forerun import _core, np
device, count = sys.argv[1], int(sys.argv[2])
forerun.configure(ops_ahead=1 << 18)
x, b = (np.ones(65536, device=device) for _ in range(2))
m, i = x.reshape(256, 256), np.arange(1000, device=device)
def run(call, n):
    for _ in range(n):
        call()
def nothing():
    pass
for code in (*sys.argv[3:], None):
    call = eval(f"lambda: {code}") if code else nothing
    run(call, 10)  # compiles
    for n in (2 * count, count, 2 * count):  # the first one fills the lists of free memory
        forerun.waitall()
        time.sleep(0.2)  # workers release their references
        _core.gate(True)
        os.getppid()
        run(call, n)
        os.getppid()
        _core.gate(False)
forerun.waitall()
"""
CALLS = (
    "x + b", "x * 2", "np.exp(x)", "x > b", "x.sum()", "m.max(axis=1)", "m.argmax(axis=1)", "m @ m", "x[1:]", "x[i]",
    "x.copy()", "x.astype('float64')", "np.where(x, x, b)", "np.concatenate((x, b))",
)  # fmt: skip


def instructions(device: str, count: int, folder: Path) -> dict[str, float]:
    """Return the instructions of each call, in the first thread of a process."""
    out = folder / device.replace(":", "")
    command = [
        "valgrind", "--tool=callgrind", "--separate-threads=yes", "--dump-before=getppid",
        f"--callgrind-out-file={out}", sys.executable, "-c", PROGRAM, device, str(count), *CALLS,
    ]  # fmt: skip
    environment = os.environ | {"FORERUN_MODULE_CACHE": "", "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"issue_instructions: the program must run on {device}, got\n{done.stderr}")

    def part(number: int) -> int:
        text = Path(f"{out}.{number}-01").read_text()
        return int(re.findall(r"^(?:totals|summary): (\d+)$", text, re.MULTILINE)[-1])

    costs = [(part(6 * i + 6) - part(6 * i + 4)) / count for i in range(len(CALLS) + 1)]
    return {call: cost - costs[-1] for call, cost in zip(CALLS, costs)}  # without those of the loop


def table(found: Mapping[str, Mapping[str, float]]) -> str:
    """Return the counts as a table in Markdown, a column for each device."""
    rows = [f"| call | {' | '.join(f'`{device}`' for device in found)} |", f"|---|{'---|' * len(found)}"]
    rows += [f"| `{call}` | {' | '.join(f'{counts[call]:,.0f}' for counts in found.values())} |" for call in CALLS]
    return "\n".join(rows)


def main() -> None:
    """Print the instructions of each call on each device."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="how many calls the shorter loop has")
    count = parser.parse_args().count
    if not shutil.which("valgrind"):
        sys.exit("issue_instructions: valgrind must be installed")
    with tempfile.TemporaryDirectory() as name:
        print(table({device: instructions(device, count, Path(name)) for device in ("cpu:0", "gpu:0")}))


if __name__ == "__main__":
    main()
