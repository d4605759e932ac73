"""E3: a two-layer network on a CPU and two further devices; gradients are added as soon as each is computed.

The dependency graph and the timeline of a step of training, drawn from the run.
The program is in src/forerun/tour/experiments/parallel/two_layers.py.

    python examples/chapters/e3_two_layer_graph.py [--quick] [--device gpu] [--out FOLDER]
"""

from common import main

from forerun.tour.experiments import two_layers, two_layers_on_gpus

if __name__ == "__main__":
    main(two_layers, __doc__, two_layers_on_gpus)
