"""B1: `waitall` waits for everything, `wait_to_read` for one array while later work goes on.

How long until the program goes on after each, with more and more products issued behind the array?
The program is in src/forerun/tour/experiments/asynchronous/barriers.py.

    python examples/chapters/b1_waitall.py [--quick]
"""

from common import main

from forerun.tour.experiments import barriers

if __name__ == "__main__":
    main(barriers, __doc__)
