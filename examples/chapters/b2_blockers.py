"""B2: lines that wait implicitly, and the profile that names them.

A loop reads a number in every round, as `item()`, as a NumPy array, or as text; or all of them at the end.
The program is in src/forerun/tour/experiments/asynchronous/blockers.py.

    python examples/chapters/b2_blockers.py [--quick]
"""

from common import main

from forerun.tour.experiments import blockers

if __name__ == "__main__":
    main(blockers, __doc__)
