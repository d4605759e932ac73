"""E1: the same work on two devices at once takes clearly less time than on one after the other.

Products of a matrix with itself, on each of two devices alone, and issued for both without a wait in between.
The program is in src/forerun/tour/experiments/parallel/two_devices.py.

    python examples/chapters/e1_two_devices.py [--quick] [--device gpu] [--out FOLDER]
"""

from common import main

from forerun.tour.experiments import two_devices, two_gpus

if __name__ == "__main__":
    main(two_devices, __doc__, two_gpus)
