"""Samples for layers, losses and functions of images, and layers with random parameters."""

from typing import Any

import numpy

from forerun import gluon, np
from tests.support.comparison.gradients import leaves_of

RNG = numpy.random.default_rng(1)
PRED = RNG.normal(size=(4, 3))
LABEL = RNG.normal(size=(4, 3))
CLASSES = numpy.array([0, 2, 1, 1])
PROBABILITIES = numpy.abs(LABEL) / numpy.abs(LABEL).sum(1, keepdims=True)
PICTURE = numpy.random.default_rng(5).integers(0, 256, (6, 9, 3)).astype("uint8")
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
    return leaves_of(RNG.normal(size=shape))[0]


def shifted_leaves(*shapes: tuple[int, ...]) -> list[Any]:
    """Return random numbers around 0.5 in double precision, with gradients: data, factors and offsets of norms."""
    return leaves_of(*(RNG.normal(size=shape) + 0.5 for shape in shapes))


def parameter_values(block: Any) -> dict[str, numpy.ndarray]:
    return {name: p.data().asnumpy() for name, p in block.collect_params().items()}


def initialized(layer: Any) -> Any:
    layer.initialize()
    return layer


def picture_array() -> Any:
    """Return `PICTURE` as an array of forerun."""
    return np.array(PICTURE, dtype="uint8")
