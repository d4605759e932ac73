"""A2: the back end runs independent work in parallel, and keeps dependent operations in order.

Two chains of operations are issued, one after the other; then four threads issue a chain each, to the one back end.
The program is in src/forerun/tour/experiments/asynchronous/chains.py.

    python examples/chapters/a2_chains.py [--quick] [--out FOLDER]
"""

from common import main

from forerun.tour.experiments import chains

if __name__ == "__main__":
    main(chains, __doc__)
