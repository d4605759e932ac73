"""Print a table of the models: the number of states of each, and the fault that the checker finds in each mutant.

python -m verification.run           the bounds of the test suite
python -m verification.run --deep    larger ones, for some minutes
python -m verification.run --trace   with the way to each mutant's fault
"""

from __future__ import annotations

import sys
import time

from verification.bounds import DEEP, LEANS, MODELS, MUTANTS
from verification.checker import check


def main(deep: bool, trace: bool) -> int:
    """Check all models; return the number of unexpected results."""
    wrong = 0
    print("| model | bounds | states | steps | seconds |\n|---|---|---|---|---|")
    for make, bounds in DEEP if deep else MODELS:
        started = time.perf_counter()
        found = check(make(**bounds), 20_000_000)
        what = ", ".join(f"{name}={value}" for name, value in bounds.items())
        print(
            f"| {make.__name__} | {what} | {found.states:,} | {found.steps:,} | {time.perf_counter() - started:.1f} |",
            flush=True,
        )
        if found.fault:
            wrong += 1
            print(found)
    for make, name, bounds in [] if deep else [*MUTANTS, *LEANS]:
        found = check(make(**bounds, **({"broken": name} if name in make.mutants else {})))
        wrong += found.fault is None
        print(f"\n{make.__name__}, {make.mutants.get(name, name)}:\n  {found if trace else found.fault}")
    return wrong


if __name__ == "__main__":
    sys.exit(main("--deep" in sys.argv, "--trace" in sys.argv))
