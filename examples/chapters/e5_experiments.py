"""E5: experiments on parallel execution.

Independent products, small operations and more threads, two devices that compute and copy, and a grid of dependencies.
The program is in src/forerun/tour/experiments/parallel/exercises.py.

    python examples/chapters/e5_experiments.py [--quick] [--out FOLDER]
"""

from common import main

from forerun.tour.experiments import exercises

if __name__ == "__main__":
    main(exercises, __doc__)
