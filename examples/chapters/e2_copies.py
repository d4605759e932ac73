"""E2: results are copied to another device while later ones are still computed.

Products on one device are copied to another: with a wait between computing and copying, and without.
The program is in src/forerun/tour/experiments/parallel/copies.py.

    python examples/chapters/e2_copies.py [--quick] [--device gpu] [--out FOLDER]
"""

from common import main

from forerun.tour.experiments import copies, copies_from_gpu

if __name__ == "__main__":
    main(copies, __doc__, copies_from_gpu)
