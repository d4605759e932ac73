"""Counts the instructions of the issuing thread for `x + 1`, on cpu(0) and on gpu(0), where times say little.

    FORERUN_PJRT=plugin.so python tools/issue_instructions.py

Needs valgrind. Each device runs two loops, one twice as long as the other: their difference is what an operation takes.
Operations are queued on both; what the issuing thread does for workers, or for a lane, while it issues is counted, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import sys
import forerun
from forerun import np
x = np.ones((1, 2), device=sys.argv[1])
for _ in range(int(sys.argv[2]) // 200):  # the first ones compile, and fill the lists of free memory
    for _ in range(200):
        x = x + 1
    forerun.waitall()
"""
COUNT = 2000


def instructions(device: str, count: int, folder: Path) -> int:
    """Return the instructions of the first thread of a process with a loop of so many operations."""
    out = folder / f"{device}-{count}".replace(":", "")
    environment = os.environ | {
        "FORERUN_PASSES": "drop,fuse,reuse", "FORERUN_MODULE_CACHE": str(folder), "PYTHONHASHSEED": "0",
    }  # fmt: skip
    command = [
        "valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}",
        sys.executable, "-c", PROGRAM, device, str(count),
    ]  # fmt: skip
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (total,) = re.findall(r"^(?:totals|summary): (\d+)$", Path(f"{out}-01").read_text(), re.MULTILINE)[-1:]
    return int(total)


def main() -> None:
    """Print the instructions of an operation on each device."""
    if not shutil.which("valgrind"):
        sys.exit("issue_instructions: valgrind must be installed")
    with tempfile.TemporaryDirectory() as name:
        for device in ("cpu:0", "gpu:0"):
            instructions(device, COUNT, Path(name))  # compiles, so that the others load
            short, long = (instructions(device, n, Path(name)) for n in (COUNT, 2 * COUNT))
            print(f"x + 1 on {device}: {(long - short) / COUNT:,.0f} instructions of the issuing thread")


if __name__ == "__main__":
    main()
