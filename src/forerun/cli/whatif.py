"""Predicts a step of a recorded program on a machine that is not there: more devices, more ranks, another network.

The recording is of some steps of a loop on one device, as `FORERUN_PROFILE=FILE python train.py`,
`forerun trace train.py` or `profiler.record(FILE)` write it, or of ranks, as `forerun trace -n 2` does. It is replayed
with the recorded durations and dependencies: each device of every rank does the recorded work on as much data, and
gradients are summed over all of them.

The output has the time of a step with the error of the replay, the critical path of a step, the scaling curve to
1,024 ranks, and the line of the program to change next. A picture shows the curve and the lanes of a rank.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from .._display.terminal import Terminal
from .misuse import Misuse, writable

if TYPE_CHECKING:
    from ..profiler import Prediction

HELP = "predict a recorded program's step on more devices and ranks"
EPILOG = """\
examples:
  FORERUN_PROFILE=profile.frec python train.py          records the program
  forerun whatif profile.frec --devices 8 --ranks 64    and predicts its step there
  forerun whatif profile.frec --ranks 16 --link 100Gbit/s,5us --collective halving
  forerun whatif profile.frec --devices 4 --local-link 200GB/s,3us
  forerun whatif profile.frec --ranks 4 --cores 8 --link 8GB/s,1us,copy=4GB/s,call=20us
                                                        all ranks on one machine of 8 cores, which also
                                                        move and add the messages between ranks
  forerun whatif profile.frec --step train.py:31        a step begins with this line's operation
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    command.add_argument(
        "recording", type=Path, metavar="FILE", help="a recording of some steps, on one device or of ranks"
    )
    command.add_argument("--devices", type=int, default=1, metavar="N", help="devices of each rank (%(default)s)")
    command.add_argument("--ranks", type=int, default=1, metavar="N", help="ranks (%(default)s)")
    command.add_argument(
        "--link",
        default="25GB/s,2us",
        metavar="RATE,LATENCY[,copy=RATE][,call=TIME]",
        help="network between ranks (%(default)s); copy and call: a core's time for a message",
    )
    command.add_argument(
        "--local-link", metavar="RATE,LATENCY", help="links between devices of a rank; without it, shared memory"
    )
    command.add_argument(
        "--collective", default="ring", metavar="KIND", help="how ranks sum: ring, tree, halving or best (%(default)s)"
    )
    command.add_argument(
        "--slowdown",
        type=float,
        default=1.0,
        metavar="X",
        help="of operations while all devices and ranks run (%(default)s)",
    )
    command.add_argument(
        "--cores", type=float, metavar="N", help="cores that all devices and ranks share, if they run on one machine"
    )
    command.add_argument(
        "--step", metavar="FILE:LINE", help="the line that begins a step; default: recurring operations"
    )
    command.add_argument("--json", action="store_true", help="print the prediction as JSON")
    command.add_argument(
        "--out", type=Path, default=Path("build/whatif"), metavar="DIR", help="folder for the picture (%(default)s)"
    )


def run(given: argparse.Namespace) -> int:
    """Predict, print and draw."""
    from .. import profiler

    try:
        trace = profiler.load(given.recording)
        found = profiler.whatif(
            trace,
            given.devices,
            given.ranks,
            given.link,
            given.collective,
            given.local_link,
            given.step,
            given.slowdown,
            given.cores,
        )
    except OSError as error:
        raise Misuse(f"cannot read {given.recording}: {error.strerror}") from None
    except ValueError as error:
        raise Misuse(str(error).removeprefix("whatif: ")) from None
    picture = writable(given.out, f"{given.recording.stem}.svg")
    found.save(picture)
    if given.json:
        print(json.dumps({**_figures(found), "picture": str(picture)}, indent=2))
    else:
        screen = Terminal()
        for number, line in enumerate(str(found).splitlines()):
            screen.line(screen.style(line, "1") if number == 2 else line)
        screen.line(f"picture: {picture}")
    return 0


def _figures(found: Prediction) -> dict[str, object]:
    """Return the prediction's figures; times in seconds."""
    machine = found.machine
    return {
        "devices": machine.devices,
        "ranks": machine.ranks,
        "seconds": found.seconds,
        "recorded": found.recorded,
        "replayed": found.replayed,
        "error": found.error,
        "uncertainty": found.uncertainty,
        "checked": found.checked,
        "speed": found.speed,
        "waits": [
            {"kind": s.kind, "name": s.name, "line": list(s.site or ()), "seconds": s.seconds, "after": s.after}
            for s in found.waits
        ],
        "scaling": [{"ranks": n, "seconds": s} for n, s in found.scaling()],
        "changes": [
            {"kind": c.kind, "where": c.where, "seconds": c.seconds, "gain": c.gain, "advice": c.advice}
            for c in found.changes()
        ],
    }
