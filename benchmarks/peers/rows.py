"""The rows of the table: their computations, and the shapes of their arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from networks import NETWORKS, Network
from ocean.programs import PROGRAMS

Shape = tuple[int, ...]
UNITS = {"us": 1e6, "ms": 1e3}


@dataclass(frozen=True)
class Row:
    """A line of the table: `method` of a peer's class, called with `extra`, inputs of these shapes and `count`.

    The time is that of one run, or if `each`, of a run divided by `count`.
    """

    name: str
    title: str
    method: str
    unit: str
    shapes: Sequence[Shape]
    count: int = 1
    each: bool = False
    extra: tuple[str, ...] = ()
    dtype = "float32"  # of results
    tolerance = 1e-4  # beside NumPy's in float64, of the largest

    def sizes(self, quick: bool) -> tuple[list[Shape], int]:
        """Shapes and count; small ones if `quick`."""
        if not quick:
            return list(self.shapes), self.count
        return [tuple(map(_small, shape)) for shape in self.shapes], min(self.count, 100)

    def inputs(self, quick: bool) -> list[numpy.ndarray]:
        """Float32 arrays around 0.5; of a training step, the parameters are scaled by the number of terms of each
        sum."""
        generator = numpy.random.default_rng(0)
        shapes, _ = self.sizes(quick)
        found = [generator.standard_normal(shape, dtype="float32") for shape in shapes]
        if self.method != "training":
            return [x + numpy.float32(0.5) for x in found]
        x, y, *parameters = found
        if y.ndim == 1:
            y = generator.integers(0, shapes[-1][0], shapes[1])
        return [x, y, *(p / numpy.float32(p.shape[-1] ** 0.5) for p in parameters)]


@dataclass(frozen=True)
class Training(Row):
    """Steps of training the network of the row's name."""

    @property
    def network(self) -> Network:
        return NETWORKS[self.name]

    def sizes(self, quick: bool) -> tuple[list[Shape], int]:
        return [x.shape for x in self.inputs(quick)], 1 if quick else self.count

    def inputs(self, quick: bool) -> list[numpy.ndarray]:
        return self.network.inputs(quick)


@dataclass(frozen=True)
class Physics(Row):
    """A program of ocean physics on a grid of so many cells."""

    dtype = "float64"

    @property
    def tolerance(self) -> float:
        return PROGRAMS[self.extra[0]].TOLERANCE

    def sizes(self, quick: bool) -> tuple[list[Shape], int]:
        return [(min(elements, 4096) if quick else elements,) for (elements,) in self.shapes], self.count

    def inputs(self, quick: bool) -> list[numpy.ndarray]:
        [(elements,)], _ = self.sizes(quick)
        return PROGRAMS[self.extra[0]].inputs(elements, numpy.random.default_rng(0))


def _small(extent: int) -> int:
    return extent if extent <= 96 else 96 if extent <= 4096 else 10_000


def _dense(batch: int, *widths: int) -> list[Shape]:
    """The shapes of a batch, and of weights (out, in) and biases of dense layers."""
    layers = [shape for i, o in itertools.pairwise(widths) for shape in ((o, i), (o,))]
    return [(batch, widths[0]), *layers]


def _regression(batch: int, *widths: int) -> list[Shape]:
    x, *parameters = _dense(batch, *widths)
    return [x, (batch, widths[-1]), *parameters]


def _classes(batch: int, *widths: int) -> list[Shape]:
    x, *parameters = _dense(batch, *widths)
    return [x, (batch,), *parameters]


def _training(name: str, title: str, count: int) -> Training:
    """count: steps until a wait, so many that they take a tenth of a second and more."""
    return Training(name, f"training step, {title}", "network", "ms", (), count, each=True, extra=(name,))


def _physics(program: str, title: str) -> list[Physics]:
    sizes = (4096, 65_536, 1_048_576)
    name = lambda n: f"{title}, {n:,} cells"
    return [Physics(f"{program}_{n}", name(n), "ocean", "ms", [(n,)], extra=(program,)) for n in sizes]


ONE, FLAT, GELU, TALL = (1, 2), (10_000_000,), (4_000_000,), (4096, 1024)
SMALL = "y = x + 1, (1, 2), 10,000"

ROWS = [
    Row("small_dropped", f"{SMALL}, results dropped", "small_dropped", "us", [ONE], 10_000, each=True),
    Row("small_kept", f"{SMALL}, results kept in a list", "small_kept", "us", [ONE], 10_000, each=True),
    Row("small_each", f"{SMALL}, a wait after each", "small_each", "us", [ONE], 10_000, each=True),
    Row("chain", "y = y + 1, (1, 2), 10,000", "chain", "us", [ONE], 10_000, each=True),
    Row("multiply_add", "x*y + 2, 10 M", "multiply_add", "ms", [FLAT, FLAT]),
    Row("gelu", "tanh-GELU in array ops, 4 M", "gelu", "ms", [GELU]),
    Row("softmax", "softmax over rows, 4096 x 1024", "softmax", "ms", [TALL]),
    Row("moments_1", "mean and variance of rows, 4096 x 1024", "moments_1", "ms", [TALL]),
    Row("moments_0", "mean and variance of columns, 4096 x 1024", "moments_0", "ms", [TALL]),
    Row("sum", "sum of 10 M", "sum", "ms", [FLAT]),
    Row("squares", "((a - b)**2).mean(), 10 M", "squares", "ms", [FLAT, FLAT]),
    Row("product_256", "product, 256 x 256", "product", "ms", [(256, 256)] * 2),
    Row("product_1000", "product, 1000 x 1000", "product", "ms", [(1000, 1000)] * 2),
    Row("product_4000", "product, 4000 x 4000", "product", "ms", [(4000, 4000)] * 2),
    Row("many_products", "64 products of 64 x 64, 20 times", "many_products", "ms", [(64, 64, 64)] * 2, 20),
    Row("normals", "10 x (normal 1000 x 1000, product)", "normals", "ms", [(1000, 1000)], 10),
    Row(
        "training", "training step, 1024 x 512, 2048, 512, 1", "training", "ms",
        _regression(1024, 512, 2048, 512, 1), 5, each=True,
    ),
    Row(
        "small_training", "training step, 32 x 64, 64, 10, cross-entropy", "training", "us",
        _classes(32, 64, 64, 10), 100, each=True,
    ),
    _training("lenet", "LeNet, 128 of 28 x 28", 40),
    _training("resnet", "ResNet-18 of 32 to 256 channels, 32 of 28 x 28", 2),
    _training("lstm", "LSTM 2 x 256, 35 steps of 32", 4),
    _training("transformer", "Transformer 4 x 128, 32 of 64", 3),
    *_physics("state", "equation of state of sea water"),
    *_physics("mixing", "isoneutral mixing"),
    *_physics("turbulence", "turbulent kinetic energy"),
]  # fmt: skip
BY_NAME = {row.name: row for row in ROWS}
