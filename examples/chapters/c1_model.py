"""C1: many times `y = x + 1`: a model of the time, and measurements.

With a wait after each operation, with one wait, with results kept or not, beside NumPy; and the parts of one operation.
The program is in src/forerun/tour/experiments/asynchronous/small_operations.py.

    python examples/chapters/c1_model.py [--quick]
"""

from common import main

from forerun.tour.experiments import small_operations

if __name__ == "__main__":
    main(small_operations, __doc__)
