"""Rows that train networks: their inputs, and the expected result of a step.

A step is checked without a second implementation of gradients: along the way that the step went, the
loss that NumPy computes in float64 must fall as the length of the step says, which is so for the gradient alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from base import RATE

Shape = tuple[int, ...]
Parameters = Any  # an iterator over them, in order


@dataclass(frozen=True)
class Network:
    """Data, classes and the shapes of parameters; `forward(x, parameters)` is NumPy's, in float64.

    classes: how many there are; words: x has integers below that; None: x has floats.
    batch_axis: along which the examples of x and y are.
    """

    x: Shape
    y: Shape
    classes: int
    parameters: Sequence[Shape]
    forward: Callable[[Any, Parameters], Any]
    words: int | None = None
    batch_axis: int = 0

    def inputs(self, quick: bool) -> list[numpy.ndarray]:
        """x, y and parameters, which are scaled by the number of terms of each sum; of fewer examples if `quick`."""
        generator = numpy.random.default_rng(0)
        small = lambda shape: tuple(4 if i == self.batch_axis and quick else n for i, n in enumerate(shape))
        x = generator.standard_normal(small(self.x), dtype="float32")
        if self.words:
            x = generator.integers(0, self.words, x.shape)
        y = generator.integers(0, self.classes, small(self.y))
        values = [generator.standard_normal(shape, dtype="float32") for shape in self.parameters]
        fans = [max(1, int(numpy.prod(shape[1:]))) for shape in self.parameters]
        return [x, y, *(v / numpy.float32(fan**0.5 if v.ndim > 1 else 4) for v, fan in zip(values, fans))]

    def loss(self, x: Any, y: Any, parameters: Sequence[Any]) -> float:
        """The mean cross-entropy."""
        scores = self.forward(x, iter(parameters))
        flat = scores.reshape(-1, self.classes)
        top = flat.max(1)
        logs = top + numpy.log(numpy.exp(flat - top[:, None]).sum(1))
        return float((logs - flat[numpy.arange(len(flat)), y.reshape(-1)]).mean())

    def check(self, name: str, inputs: Sequence[numpy.ndarray], stepped: Sequence[numpy.ndarray]) -> None:
        """Raises ValueError unless `stepped` are the parameters after one step."""
        x, y, *before = (v.astype("float64") if v.dtype.kind == "f" else v for v in inputs)
        moved = [p - numpy.asarray(q, "float64") for p, q in zip(before, stepped, strict=True)]
        up, down = ([p + part * m for p, m in zip(before, moved)] for part in (1e-3, -1e-3))
        slope = (self.loss(x, y, up) - self.loss(x, y, down)) / 2e-3
        expected = sum(float((m * m).sum()) for m in moved) / RATE
        if not (expected > 0 and abs(slope / expected - 1) < 0.02):
            raise ValueError(f"{name}: loss must fall by {expected:.3e} per step, got {slope:.3e}")


# --- NumPy's forward ------------------------------------------------------------------------------


def convolution(x: Any, w: Any, b: Any = None, stride: int = 1, pad: int = 0) -> Any:
    x = numpy.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = numpy.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    y = numpy.einsum("nchwij,ocij->nohw", windows, w, optimize=True)
    return y if b is None else y + b[:, None, None]


def pooled(x: Any) -> Any:
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))


def relu(x: Any) -> Any:
    return numpy.maximum(x, 0)


def normed(x: Any, p: Parameters, axes: tuple[int, ...]) -> Any:
    """Over the axes; scale and shift are along axis 1, or the last."""
    y = (x - x.mean(axes, keepdims=True)) / numpy.sqrt(x.var(axes, keepdims=True) + 1e-5)
    shape = (-1, 1, 1) if x.ndim == 4 else (-1,)
    return y * next(p).reshape(shape) + next(p).reshape(shape)


def dense(x: Any, p: Parameters) -> Any:
    return x @ next(p).T + next(p)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + numpy.exp(-x))


def lenet(x: Any, p: Parameters) -> Any:
    x = pooled(relu(convolution(x, next(p), next(p), pad=2)))
    x = pooled(relu(convolution(x, next(p), next(p))))
    return dense(relu(dense(relu(dense(x.reshape(len(x), -1), p)), p)), p)


def resnet(x: Any, p: Parameters) -> Any:
    x = relu(normed(convolution(x, next(p), pad=1), p, (0, 2, 3)))
    for ins, width, stride in RESIDUALS:
        y = relu(normed(convolution(x, next(p), stride=stride, pad=1), p, (0, 2, 3)))
        y = normed(convolution(y, next(p), pad=1), p, (0, 2, 3))
        x = relu(y + (x if ins == width else convolution(x, next(p), stride=stride)))
    return dense(x.mean((2, 3)), p)


def lstm(x: Any, p: Parameters) -> Any:
    x = next(p)[x]
    for _ in range(2):
        wx, wh, bx, bh = (next(p) for _ in range(4))
        h = c = numpy.zeros((x.shape[1], wh.shape[1]))
        steps = []
        for gates in x @ wx.T + bx:
            i, f, n, o = numpy.split(gates + h @ wh.T + bh, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(n)
            h = sigmoid(o) * numpy.tanh(c)
            steps.append(h)
        x = numpy.stack(steps)
    return dense(x, p)


def transformer(x: Any, p: Parameters) -> Any:
    x = next(p)[x]
    n, steps, width = x.shape
    mask = numpy.triu(numpy.full((steps, steps), -1e9), 1)
    heads = lambda a: a.reshape(n, steps, HEADS, width // HEADS).swapaxes(1, 2)
    for _ in range(LAYERS):
        q, k, v = map(heads, numpy.split(dense(normed(x, p, (-1,)), p), 3, axis=-1))
        scores = q @ k.swapaxes(2, 3) * (width // HEADS) ** -0.5 + mask
        e = numpy.exp(scores - scores.max(-1, keepdims=True))
        x = x + dense((e / e.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(x.shape), p)
        x = x + dense(relu(dense(normed(x, p, (-1,)), p)), p)
    return dense(x, p)


# --- shapes of parameters -------------------------------------------------------------------------

WIDTHS, LAYERS, HEADS = (32, 64, 128, 256), 4, 4
RESIDUALS = [  # channels in and out, and the stride, of two blocks of each width
    (before if first else width, width, 2 if first and width > WIDTHS[0] else 1)
    for before, width in itertools.pairwise((WIDTHS[0], *WIDTHS))
    for first in (True, False)
]


def _dense(i: int, o: int) -> list[Shape]:
    return [(o, i), (o,)]


def _resnet() -> list[Shape]:
    norm = lambda n: [(n,), (n,)]
    shapes = [(32, 1, 3, 3), *norm(32)]
    for ins, width, _ in RESIDUALS:
        shapes += [(width, ins, 3, 3), *norm(width), (width, width, 3, 3), *norm(width)]
        shapes += [(width, ins, 1, 1)] if ins != width else []
    return [*shapes, *_dense(256, 10)]


def _transformer(width: int) -> list[Shape]:
    norm = [(width,), (width,)]
    layer = [*norm, *_dense(width, 3 * width), *_dense(width, width), *norm]
    layer += [*_dense(width, 4 * width), *_dense(4 * width, width)]
    return [(256, width), *layer * LAYERS, *_dense(width, 256)]


NETWORKS = {
    "lenet": Network(
        (128, 1, 28, 28), (128,), 10,
        [(6, 1, 5, 5), (6,), (16, 6, 5, 5), (16,), *_dense(400, 120), *_dense(120, 84), *_dense(84, 10)], lenet,
    ),
    "resnet": Network((32, 1, 28, 28), (32,), 10, _resnet(), resnet),
    "lstm": Network(
        (35, 32), (35, 32), 1000,
        [(1000, 256), *[(1024, 256), (1024, 256), (1024,), (1024,)] * 2, *_dense(256, 1000)],
        lstm, words=1000, batch_axis=1,
    ),
    "transformer": Network((32, 64), (32, 64), 256, _transformer(128), transformer, words=256),
}  # fmt: skip
