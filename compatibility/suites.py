"""Run SciPy's or scikit-learn's own tests with forerun in place of array_api_strict, and print the results.

    python compatibility/suites.py scipy [SUBPACKAGE ...]
    python compatibility/suites.py sklearn [SUBPACKAGE ...]

Each subpackage's array API tests run in a process of their own, from the installed library. Each test is noted as it
ends: one that ends the process, or hangs, has failed, and the run goes on behind it. Failures go to build/suites,
grouped by exception.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
STAND_IN = ROOT / "compatibility" / "stand_in"
sys.path.insert(0, str(STAND_IN))

import noted  # noqa: E402

OUT = ROOT / "build" / "suites"
PATIENCE = 600  # seconds for one test
GRACE = 60  # seconds after which a test that ignores its alarm is ended, with the process
START = 600  # seconds until the first test may begin
ENDS = (0, 1, 5)  # pytest's status when all passed, some failed, none were left
OUTCOMES = ("passed", "failed", "skipped")
SUITES = {
    "scipy": [
        "cluster", "constants", "differentiate", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize",
        "signal", "spatial", "special", "stats",
    ],
    "sklearn": [
        "_loss", "decomposition", "linear_model", "metrics", "mixture", "model_selection", "preprocessing", "tests",
        "utils",
    ],
}  # fmt: skip
SELECTED = {"scipy": ["-m", "array_api_backends"], "sklearn": ["-k", "array_api"]}
SETTINGS = {"scipy": '["array_api_strict"]', "sklearn": "1"}


def command(library: str, part: str) -> list[str]:
    """Return the command line that tests one subpackage."""
    alone = ["-c", os.devnull, "--rootdir", str(OUT), "-p", "strict_only", "-p", "noted", "-p", "no:cacheprovider"]
    report = ["-q", "-W", "ignore", "--tb=short", "--noted", str(notes(library, part)), "--patience", str(PATIENCE)]
    return [sys.executable, "-m", "pytest", "--pyargs", f"{library}.{part}", *SELECTED[library], *alone, *report]


def notes(library: str, part: str) -> Path:
    """Return the file that knows how each test of a subpackage ended."""
    return OUT / f"{library}.{part}.jsonl"


def environment(library: str) -> dict[str, str]:
    """Return variables by which the suite finds forerun, with two devices."""
    path = os.pathsep.join(filter(None, [str(STAND_IN), os.environ.get("PYTHONPATH")]))
    more = {"PYTHONPATH": path, "SCIPY_ARRAY_API": SETTINGS[library], "FORERUN_CPU_DEVICES": "2"}
    return os.environ | more


def finished(library: str, part: str) -> bool:
    """Run the tests of a subpackage that are not in its notes; return whether pytest came to its end.

    It does not if a test ends the process, or never returns to the interpreter, whose alarm then says nothing.
    """
    path, output = notes(library, part), OUT / f"{library}.{part}.out.txt"
    path.touch()
    before = path.stat().st_size
    with output.open("w") as file:
        child = subprocess.Popen(command(library, part), cwd=OUT, env=environment(library), stdout=file, stderr=file)
        status = watched(child, path, before)
    if status not in ENDS and path.stat().st_size == before:
        raise RuntimeError(f"{library}.{part}: pytest must run, got status {status}:\n{output.read_text()[-2000:]}")
    return status in ENDS


def watched(child: subprocess.Popen[bytes], path: Path, before: int) -> int:
    """Return how a process ended; end it if nothing has been noted for longer than a test may take.

    before: the size of the notes when it began.
    """
    began = time.time()
    while True:
        try:
            return child.wait(GRACE)
        except subprocess.TimeoutExpired:
            now = path.stat()
            last, limit = (now.st_mtime, PATIENCE + GRACE) if now.st_size > before else (began, START)
            if time.time() - last > limit:
                child.kill()


def run(library: str, part: str) -> Counter[str]:
    """Test one subpackage; write its failures to a file and return how many tests ended how."""
    while not finished(library, part):
        pass  # the test that broke off is in the notes, so that the next run goes on behind it
    seen = noted.read(notes(library, part))
    failures: dict[str, list[str]] = defaultdict(list)
    for test, (outcome, why, _) in seen.items():
        if outcome in ("failed", "started"):
            failures[re.sub(r"0x[0-9a-f]+", "...", why) or "the process ended"].append(test)
    lines = [f"{len(tests)} x {why}\n" + "".join(f"    {test}\n" for test in tests) for why, tests in failures.items()]
    (OUT / f"{library}.{part}.failures.txt").write_text("".join(sorted(lines, key=len, reverse=True)))
    return Counter("failed" if outcome == "started" else outcome for outcome, *_ in seen.values())


def main(library: str, parts: list[str], resume: bool, failed: bool) -> None:
    """Print a table, each row as soon as it is complete."""
    OUT.mkdir(parents=True, exist_ok=True)
    total: Counter[str] = Counter()
    print(f"| {library} | passed | failed | skipped |\n|---|---|---|---|", flush=True)
    for part in parts or SUITES[library]:
        if failed:
            noted.forget(notes(library, part), "failed", "started")
        elif not resume:
            notes(library, part).unlink(missing_ok=True)
        counts = run(library, part)
        total += counts
        print(f"| {part} | " + " | ".join(str(counts[o]) for o in OUTCOMES) + " |", flush=True)
    print("| all | " + " | ".join(str(total[o]) for o in OUTCOMES) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=SUITES)
    parser.add_argument("parts", nargs="*", metavar="SUBPACKAGE")
    parser.add_argument("--resume", action="store_true", help="go on where an earlier run broke off")
    parser.add_argument("--failed", action="store_true", help="run the failed tests again, and those that have not run")
    main(**vars(parser.parse_args()))
