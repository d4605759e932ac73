"""A network trained on two devices by a Trainer: a timeline of one step, with the purpose of each operation.

The gradients of the last layer are summed, the parameters updated and sent to the devices, while the backward passes of
the layers before go on. The program is in src/forerun/tour/experiments/parallel/several_devices.py.

    python examples/several_devices.py [--quick] [--out FOLDER]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "chapters"))

from common import main

from forerun.tour.experiments import several_devices

if __name__ == "__main__":
    main(several_devices, __doc__)
