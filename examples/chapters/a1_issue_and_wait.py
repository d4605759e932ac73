"""A1: operations are issued far sooner than their work is done.

Ten times, a matrix of normal numbers is made and multiplied by itself: by NumPy, which returns when each product is
computed, and by forerun, whose calls return when the work is written down. The clock is read twice for forerun: when
the loop has ended, and when `waitall` has returned. The second reading is the one to compare with NumPy's.
The program is in src/forerun/tour/experiments/asynchronous/issue_and_wait.py.

    python examples/chapters/a1_issue_and_wait.py [--quick] [--device gpu]
"""

from common import main

from forerun.tour.experiments import issue_and_wait, issue_and_wait_on_gpu

if __name__ == "__main__":
    main(issue_and_wait, __doc__, issue_and_wait_on_gpu)
