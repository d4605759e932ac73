"""Run SciPy's or scikit-learn's own tests with forerun in place of array_api_strict, and print what they said.

    python tools/suites.py scipy [SUBPACKAGE ...]
    python tools/suites.py sklearn [SUBPACKAGE ...]

Each subpackage's array API tests run in a process of their own, from the installed library. Failures go to
build/suites, grouped by what was raised.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "suites"
PATIENCE = 3600  # seconds for one subpackage
OUTCOMES = ("passed", "failed", "skipped")
SUITES = {
    "scipy": [
        "cluster", "constants", "differentiate", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize",
        "signal", "spatial", "special", "stats",
    ],
    "sklearn": [
        "_loss", "decomposition", "linear_model", "metrics", "mixture", "model_selection", "preprocessing", "tests",
        "tree", "utils",
    ],
}  # fmt: skip
SELECTED = {"scipy": ["-m", "array_api_backends"], "sklearn": ["-k", "array_api"]}
SETTINGS = {"scipy": '["array_api_strict"]', "sklearn": "1"}


def command(library: str, part: str) -> list[str]:
    """Return the command line that tests one subpackage."""
    alone = ["-c", os.devnull, "--rootdir", str(OUT), "-p", "strict_only", "-p", "no:cacheprovider"]
    report = ["-q", "-W", "ignore", "--tb=short", "--junit-xml", str(OUT / f"{library}.{part}.xml")]
    return [
        sys.executable,
        "-m",
        "pytest",
        "--pyargs",
        f"{library}.{part}",
        *SELECTED[library],
        *alone,
        *report,
    ]


def environment(library: str) -> dict[str, str]:
    """Return variables by which the suite finds forerun, with two devices."""
    path = os.pathsep.join(filter(None, [str(ROOT / "tools" / "stand_in"), os.environ.get("PYTHONPATH")]))
    more = {"PYTHONPATH": path, "SCIPY_ARRAY_API": SETTINGS[library], "FORERUN_CPU_DEVICES": "2"}
    return os.environ | more


def outcome(case: ElementTree.Element) -> tuple[str, str]:
    """Return how a test ended, and in a line why if it did not pass."""
    for kind in ("failure", "error", "skipped"):
        if (found := case.find(kind)) is not None:
            why = found.get("message") or (found.text or "").strip()
            return "skipped" if kind == "skipped" else "failed", " ".join(why.split())[:160]
    return "passed", ""


def run(library: str, part: str) -> Counter[str]:
    """Test one subpackage; write its failures to a file and return how many tests ended how."""
    report = OUT / f"{library}.{part}.xml"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        command(library, part),
        cwd=OUT,
        env=environment(library),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if not report.exists():
        raise RuntimeError(
            f"{library}.{part}: pytest must write a report, got status {done.returncode}:\n{done.stdout[-2000:]}"
        )
    counts: Counter[str] = Counter()
    failures: dict[str, list[str]] = defaultdict(list)
    for case in ElementTree.parse(report).iter("testcase"):
        kind, why = outcome(case)
        counts[kind] += 1
        if kind == "failed":
            failures[re.sub(r"0x[0-9a-f]+", "...", why)].append(
                f"{case.get('classname')}::{case.get('name')}"
            )
    lines = [
        f"{len(tests)} x {why}\n" + "".join(f"    {test}\n" for test in tests)
        for why, tests in failures.items()
    ]
    (OUT / f"{library}.{part}.failures.txt").write_text("".join(sorted(lines, key=len, reverse=True)))
    return counts


def main(library: str, parts: list[str]) -> None:
    """Print a table, a row as soon as it is there."""
    OUT.mkdir(parents=True, exist_ok=True)
    total: Counter[str] = Counter()
    print(f"| {library} | passed | failed | skipped |\n|---|---|---|---|", flush=True)
    for part in parts or SUITES[library]:
        counts = run(library, part)
        total += counts
        print(f"| {part} | " + " | ".join(str(counts[o]) for o in OUTCOMES) + " |", flush=True)
    print("| all | " + " | ".join(str(total[o]) for o in OUTCOMES) + " |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
