"""D2: a training loop that runs one minibatch ahead: minibatch t ends before minibatch t + 2 begins.

The trace says when the operations of each minibatch ran: each may overlap with its neighbours, none with the next but
one. And two uneven devices, simulated: what do waits in each minibatch cost there?
The program is in src/forerun/tour/experiments/asynchronous/one_ahead.py.

    python examples/chapters/d2_one_ahead.py [--quick] [--out FOLDER]
"""

from common import main

from forerun.tour.experiments import one_ahead

if __name__ == "__main__":
    main(one_ahead, __doc__)
