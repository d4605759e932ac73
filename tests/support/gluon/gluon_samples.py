"""Samples for layers and losses, and layers with random parameters."""

from typing import Any

import numpy

from forerun import gluon, np

RNG = numpy.random.default_rng(1)
PRED = RNG.normal(size=(4, 3))
LABEL = RNG.normal(size=(4, 3))
CLASSES = numpy.array([0, 2, 1, 1])
PROBABILITIES = numpy.abs(LABEL) / numpy.abs(LABEL).sum(1, keepdims=True)
WEIGHTS = numpy.array([[0.5], [2.0], [0.0], [1.0]])


def array(values: Any, dtype: str | None = "float64") -> Any:
    return np.array(values, dtype=dtype)


def with_data(layer: gluon.Block, *shape: int) -> tuple[gluon.Block, Any]:
    """The layer in float64 with random parameters, and data of that shape, both with gradients."""
    layer.initialize()
    layer(np.zeros(shape))
    layer.cast("float64")
    for parameter in layer.collect_params().values():
        if parameter.grad_req != "null":
            parameter.set_data(RNG.normal(size=parameter.shape))
    x = array(RNG.normal(size=shape))
    x.attach_grad()
    return layer, x


def with_random_parameters(block: Any) -> Any:
    """The block, whose parameters have shapes, with random ones."""
    for parameter in block.collect_params().values():
        parameter.set_data(RNG.normal(size=parameter.shape))
    return block


def random_leaf(*shape: int) -> Any:
    """Random numbers in double precision, with a gradient."""
    x = array(RNG.normal(size=shape))
    x.attach_grad()
    return x


def parameter_values(block: Any) -> dict[str, numpy.ndarray]:
    return {name: p.data().asnumpy() for name, p in block.collect_params().items()}


def initialized(layer: Any) -> Any:
    layer.initialize()
    return layer
