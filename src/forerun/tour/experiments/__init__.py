"""Experiments: programs with a claim about each, which run on this machine and say whether it holds.

Those of the two chapters are in `asynchronous` and `parallel`; `images` trains beside scikit-learn; the programs of
`libraries` run with several libraries. The tour, the scripts of `examples`, benchmarks and `forerun bench` take them
from here; each has a `run(quick=...)` that returns a `Finding`.
"""

from .asynchronous.barriers import barriers as barriers
from .asynchronous.blockers import blockers as blockers
from .asynchronous.chains import chains as chains
from .asynchronous.graph import graph as graph
from .asynchronous.issue_and_wait import issue_and_wait as issue_and_wait
from .asynchronous.issue_and_wait import issue_and_wait_on_gpu as issue_and_wait_on_gpu
from .asynchronous.memory import memory as memory
from .asynchronous.one_ahead import one_ahead as one_ahead
from .asynchronous.small_operations import small_operations as small_operations
from .asynchronous.timeline import timeline as timeline
from .image_training import images as images
from .libraries import EXPERIMENTS as _OF_LIBRARIES
from .parallel.copies import copies as copies
from .parallel.copies import copies_from_gpu as copies_from_gpu
from .parallel.exercises import exercises as exercises
from .parallel.files import files as files
from .parallel.several_devices import several_devices as several_devices
from .parallel.two_devices import two_devices as two_devices
from .parallel.two_devices import two_gpus as two_gpus
from .parallel.two_layers import two_layers as two_layers
from .parallel.two_layers import two_layers_on_gpus as two_layers_on_gpus

TOUR = (
    issue_and_wait, chains, graph, timeline, barriers, blockers, small_operations, memory, one_ahead, two_devices,
    copies, two_layers, files, exercises, several_devices, images,
)  # fmt: skip
ON_GPUS = {issue_and_wait_on_gpu: 1, two_gpus: 2, copies_from_gpu: 1, two_layers_on_gpus: 2}  # how many each needs
BENCH = tuple(_OF_LIBRARIES)
EXPERIMENTS = {experiment.name: experiment for experiment in (*TOUR, *BENCH)}
