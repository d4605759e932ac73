"""Properties of the networks of MXNet 1.9.1's model zoo: run there (NumPy below 1.24), this file writes zoo.tsv.

    python tests/data/mxnet/generate_zoo.py > tests/data/mxnet/zoo.tsv

A line per network: how many parameters there are, of how many elements, a digest of all names and shapes, and for one
or two of each kind the scores that it gives with the parameters below to the image below, of the size in the table.
"""

from __future__ import annotations

import hashlib
import math
import sys
import zlib

import numpy

SIZES = {
    "resnet18_v1": 64, "resnet50_v1": 64, "resnet18_v2": 64, "resnet50_v2": 64, "vgg11": 32, "vgg11_bn": 32,
    "alexnet": 64, "squeezenet1.0": 224, "squeezenet1.1": 224, "mobilenet0.25": 64, "mobilenetv2_0.25": 64,
    "densenet121": 224, "inceptionv3": 299,
}  # fmt: skip


def uniform(name, shape):
    """Numbers below 1 that depend on the name alone."""
    return numpy.random.default_rng(zlib.crc32(name.encode())).random(shape, numpy.float32)


def parameter_value(name, shape):
    """The values of a parameter, for which signals neither fade nor explode."""
    u = uniform(name, shape)
    if name.endswith("weight"):
        return (u - 0.5) * numpy.float32(math.sqrt(24 / math.prod(shape[1:])))
    return u + numpy.float32(0.5) if name.endswith(("gamma", "running_var")) else (u - numpy.float32(0.5)) / 5


def one_image(size):
    """One image, its numbers between 0 and 1."""
    return uniform("image", (1, 3, size, size))


def digest(shapes):
    """Of names and shapes, in the order of names."""
    lines = (f"{name} {'x'.join(map(str, shapes[name]))}" for name in sorted(shapes))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def shapes_of(net, mx, size):
    """The shape of each parameter, by its place in the network; nothing is computed."""
    y = net(mx.sym.var("data"))
    arguments, _, others = y.infer_shape(data=(1, 3, size, size))
    found = dict(zip(y.list_arguments() + y.list_auxiliary_states(), arguments + others))
    return {name: found[p.name] for name, p in net._collect_params_with_prefix().items()}


def network_outputs(name, mx, get_model):
    """Return the outputs of the network, for 10 classes."""
    net, size = get_model(name, classes=10), SIZES[name]
    shapes = shapes_of(net, mx, size)
    net.initialize(mx.init.Zero())
    net(mx.nd.array(one_image(size)))
    for key, p in net._collect_params_with_prefix().items():
        p.set_data(mx.nd.array(parameter_value(key, shapes[key])))
    return net(mx.nd.array(one_image(size))).asnumpy()[0]


def main():
    import mxnet as mx
    from mxnet.gluon.model_zoo.vision import get_model

    names = [name.strip() for name in _message(get_model).split("\n")[1:]]
    print("name", "parameters", "elements", "digest", "size", "scores", sep="\t")
    for name in sorted(names):
        shapes = shapes_of(get_model(name), mx, 299 if name == "inceptionv3" else 224)
        elements = sum(math.prod(shape) for shape in shapes.values())
        text = " ".join(f"{s:.6g}" for s in network_outputs(name, mx, get_model)) if name in SIZES else ""
        print(name, len(shapes), elements, digest(shapes), SIZES.get(name, ""), text, sep="\t", flush=True)


def _message(get_model):
    """Return get_model's error for an unknown name, which lists the known ones."""
    try:
        get_model("?")
    except ValueError as error:
        return str(error)
    sys.exit("get_model must not know '?'")


if __name__ == "__main__":
    main()
