"""D1: loops with a barrier in each minibatch and without one: time, and memory.

Training, and a sum of products, with a wait in each minibatch, with `forerun.pace`, and with none. Each loop runs in a
process of its own.
The program is in src/forerun/tour/experiments/asynchronous/memory.py.

    python examples/chapters/d1_memory.py [--quick]
"""

from common import main

from forerun.tour.experiments import memory

if __name__ == "__main__":
    main(memory, __doc__)
