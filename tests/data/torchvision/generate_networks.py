"""Parameters and scores of torchvision's networks: run where torchvision is installed, this file writes two tables.

Those in the folder are of torchvision 0.28.

    python -m tests.data.torchvision.generate_networks

`parameters.tsv` has names and shapes of all parameters for 10 classes, and `scores.tsv` the scores that a network gives
with the parameters below to the image below, for the networks that are small enough.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy

from tests.data.mxnet.generate_zoo import one_image, uniform

SIZES = {"resnet18": 64, "squeezenet1_1": 224, "densenet121": 224, "alexnet": 0, "vgg11_bn": 0}  # 0: no scores
FOLDER = Path(__file__).parent


def named_value(name, shape):
    """The values of a parameter, for which signals neither fade nor explode."""
    u = uniform(name, shape)
    if len(shape) > 1:
        return (u - 0.5) * numpy.float32(math.sqrt(24 / math.prod(shape[1:])))
    if name.endswith("num_batches_tracked"):
        return numpy.array(7)
    return u + numpy.float32(0.5) if name.endswith(("weight", "running_var")) else (u - numpy.float32(0.5)) / 5


def main():
    import torch
    from torchvision import models

    with open(FOLDER / "parameters.tsv", "w") as parameters, open(FOLDER / "scores.tsv", "w") as scores:
        print("network", "name", "shape", sep="\t", file=parameters)
        print("network", "size", "scores", sep="\t", file=scores)
        for network, size in SIZES.items():
            net = getattr(models, network)(num_classes=10).eval()
            shapes = {name: tuple(value.shape) for name, value in net.state_dict().items()}
            for name, shape in shapes.items():
                print(network, name, "x".join(map(str, shape)), sep="\t", file=parameters)
            if size:
                net.load_state_dict({n: torch.from_numpy(named_value(n, shape)) for n, shape in shapes.items()})
                with torch.no_grad():
                    found = net(torch.from_numpy(one_image(size)))[0]
                print(network, size, " ".join(f"{s:.6g}" for s in found.tolist()), sep="\t", file=scores)


if __name__ == "__main__":
    main()
