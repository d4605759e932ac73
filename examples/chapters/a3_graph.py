"""A3: the dependency graph of `z = x * y + 2`, drawn from the running program.

Four operations, which of them read which results, and the line that waited.
The program is in src/forerun/tour/experiments/asynchronous/graph.py.

    python examples/chapters/a3_graph.py [--quick] [--out FOLDER]
"""

from common import main

from forerun.tour.experiments import graph

if __name__ == "__main__":
    main(graph, __doc__)
