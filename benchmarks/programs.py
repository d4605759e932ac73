"""Programs written for NumPy, run with NumPy and with forerun in its place: the same output, and how long each took.

    python benchmarks/programs.py                       all programs at small and medium sizes
    python benchmarks/programs.py --sizes small         at one size
    python benchmarks/programs.py jacobi nbody --json   these programs, as JSON
    python benchmarks/programs.py --page docs/howto/numpy.md   the table of the page, written anew

The programs are the files of examples/numpy_programs, not changed: `import numpy` in them gives one or the other. Both
run in one process in turns; times are those of the fastest rounds, which other work on the machine disturbs least. The
output of a program is compared: words are the same, and numbers are within the last digits of sums.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import gc
import io
import json
import math
import re
import statistics
import sys
import time
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import forerun
from forerun.as_numpy import install_as_numpy, report

PROGRAMS = Path(__file__).resolve().parents[1] / "examples" / "numpy_programs"
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf")
_ENOUGH = 2.0  # seconds for a program at one size, after its first round
_MOST_ROUNDS = 15
_BEGIN, _END = "<!-- times of programs -->", "<!-- end of times -->"
# The reason for which a program is slower than with NumPy.
WHY = {
    "conjugate_gradient": "short products and sums, each of the one before",
    "edit_distance": "arrays of a diagonal's positions, hardly work enough to be handed to another thread",
    "epidemic": "sizes that the values tell: each step waits for the one before",
    "gauss_seidel": "one element a step, of two short products",
    "histogram_equalization": "a few calls in all, each of some microseconds",
    "image_filters": "`np.percentile`, a task that Python runs",
    "jacobi": "each sweep waits for the change that ends the loop",
    "knapsack": "rows of the table, each a little too long to be done in the call, and of the one before",
    "logistic_regression": "small products, each of the one before",
    "longest_path": "rows of the table, each of the one before",
    "mandelbrot": "sizes that the values tell: each step waits for the one before",
    "metropolis": "random numbers drawn by NumPy, and elements under a mask",
    "monte_carlo_pi": "random numbers drawn by NumPy, and a few calls",
    "pca": "a few calls in all; decompositions are tasks that Python runs",
    "polynomials": "NumPy's own functions, for arrays that are converted to and fro",
    "qr_and_power": "short products, each of the one before, behind a decomposition",
    "recurrence": "one element a step",
    "signal_processing": "a few calls in all, each of some microseconds",
    "sorting_and_sets": "a few calls in all, of lists and elements",
    "spectral_poisson": "a few calls in all, each of some microseconds",
    "table_of_records": "records and dates, which are NumPy's, and calls that fall back",
    "with_scipy": "SciPy, which calls the program for each step with arrays of two or three elements",
}


def names() -> list[str]:
    """All programs."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def load(name: str, library: str) -> Any:
    """A program as a module whose `import numpy` gives NumPy ("numpy"), or forerun ("forerun"; installed before)."""
    path = PROGRAMS / f"{name}.py"
    module = types.ModuleType(f"{name}_{library}")
    module.__file__ = str(path) if library == "forerun" else f"/with numpy/{name}.py"  # whose imports stay
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    exec(code, vars(module))
    return module


def output(module: Any, n: int) -> str:
    """Return the output of a program at a size."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        module.main(n)
    return printed.getvalue()


def difference(expected: str, found: str, rtol: float = 1e-5) -> str | None:
    """The first line in which two outputs differ by more than last digits; None: no line does."""
    lines, others = expected.splitlines(), found.splitlines()
    if len(lines) != len(others):
        return f"{len(lines)} lines, got {len(others)}: {others[-1:]}"
    return next((f"{a!r}, got {b!r}" for a, b in zip(lines, others) if not _same(a, b, rtol)), None)


def _same(a: str, b: str, rtol: float) -> bool:
    if a == b:
        return True
    if _NUMBER.sub("#", a).split() != _NUMBER.sub("#", b).split():
        return False
    pairs = zip(map(float, _NUMBER.findall(a)), map(float, _NUMBER.findall(b)))
    return all(x == y or math.isclose(x, y, rel_tol=rtol, abs_tol=1e-9) for x, y in pairs)


def _seconds(module: Any, n: int) -> float:
    gc.collect()
    begun = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        module.main(n)
    forerun.waitall()
    return time.perf_counter() - begun


def measured(name: str, size: str) -> dict[str, Any]:
    """Seconds of the fastest round with each library, their ratio, calls that fell back; or the difference of
    outputs."""
    modules = [load(name, library) for library in ("numpy", "forerun")]
    n = modules[0].SIZES[size]
    log = report()
    assert log is not None
    log.clear()
    wrong = difference(*(output(module, n) for module in modules))
    back = sum(row["calls"] for row in log.rows())
    if wrong:
        return {"wrong": wrong}
    times: list[list[float]] = []
    end = time.perf_counter() + _ENOUGH
    while len(times) < 3 or (time.perf_counter() < end and len(times) < _MOST_ROUNDS):
        times.append([_seconds(module, n) for module in modules])
    numpy_seconds, forerun_seconds = map(min, zip(*times))
    return {
        "NumPy": numpy_seconds,
        "forerun": forerun_seconds,
        "ratio": forerun_seconds / numpy_seconds,
        "fell back": back,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 1 if an output differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="names of programs; all by default")
    parser.add_argument("--sizes", nargs="+", default=["small", "medium"], choices=["tiny", "small", "medium"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--page", metavar="FILE", type=Path, help="a page in Markdown whose table is replaced")
    given = parser.parse_args(arguments)
    if unknown := set(given.programs) - set(names()):
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    install_as_numpy(PROGRAMS)
    found: dict[str, dict[str, Any]] = {}
    for size in given.sizes:
        found[size] = rows = {}
        _say(given.json, f"{size:24}  NumPy, ms  forerun, ms  ratio  fell back")
        for name in given.programs or names():
            rows[name] = measured(name, size)
            _say(given.json, _line(name, rows[name]))
        ratios = [row["ratio"] for row in rows.values() if "ratio" in row]
        _say(given.json, f"{'geometric mean':24}{statistics.geometric_mean(ratios or [1]):31.2f}\n")
    if given.page:
        text = given.page.read_text(encoding="utf-8")
        given.page.write_text(paged(text, table(found)), encoding="utf-8")
    if given.json:
        print(json.dumps(found, indent=2))
    return int(any("wrong" in row for rows in found.values() for row in rows.values()))


def table(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The times as a table in Markdown: by size, NumPy's time and forerun's as a multiple of it; and the reason."""
    sizes = list(found)
    head = ["program", *(f"{size}: NumPy, ms | ratio" for size in sizes), "slower, as"]
    lines = [
        f"Measured on {datetime.date.today():%Y-%m-%d} by `python benchmarks/programs.py --page docs/howto/numpy.md`.",
        "",
        "| " + " | ".join(head) + " |",
        "|---|" + "--:|--:|" * len(sizes) + "---|",
    ]
    for name in next(iter(found.values())):
        rows = [found[size][name] for size in sizes]
        times = [_cells(row) for row in rows]
        slow = max(row.get("ratio", 0) for row in rows) > 1.2
        lines.append(f"| {' | '.join([name, *times, WHY.get(name, '') if slow else ''])} |")
    means = [
        statistics.geometric_mean([r["ratio"] for r in rows.values() if "ratio" in r] or [1]) for rows in found.values()
    ]
    lines.append("| " + " | ".join(["**geometric mean**", *(f" | **{mean:.2f}**" for mean in means), ""]) + " |")
    return "\n".join(lines)


def _cells(row: dict[str, Any]) -> str:
    return f"{row['NumPy'] * 1e3:.2f} | {row['ratio']:.2f}" if "ratio" in row else "other output | "


def paged(text: str, written: str) -> str:
    """A page with this between the marks of its table."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"page: marks must be there, {_BEGIN!r} and {_END!r}")
    return f"{before}{begin}\n\n{written}\n\n{end}{after}"


def _say(silent: bool, line: str) -> None:
    if not silent:
        print(line, flush=True)


def _line(name: str, row: dict[str, Any]) -> str:
    if "wrong" in row:
        return f"{name:24}  {row['wrong']}"
    times = f"{row['NumPy'] * 1e3:9.2f}  {row['forerun'] * 1e3:11.2f}"
    return f"{name:24}  {times}  {row['ratio']:5.2f}  {row['fell back']:9,}"


if __name__ == "__main__":
    sys.exit(main())
