"""The functions of neural networks, written out in NumPy."""

import itertools
import math

import numpy

from tests.ops.cases.elementwise import one
from tests.ops.cases.table import NONE, Case, Options, row
from tests.support.comparison.formulas import log_softmax, sigmoid, softmax

A = (0,)


def softrelu(x):
    return numpy.logaddexp(x, 0)


def numpy_gelu(x):
    return 0.5 * x * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3)))


def elu(x, alpha=1.0):
    return numpy.where(x > 0, x, alpha * numpy.expm1(x))


def selu(x):
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def picked_losses(x, index, axis=-1, keepdims=False):
    wide = index if index.ndim == x.ndim else numpy.expand_dims(index, axis)
    losses = -numpy.take_along_axis(log_softmax(x, axis), wide, axis)
    return losses if keepdims else losses.squeeze(axis)


def masked_softmax(x, mask, axis=-1):
    return softmax(numpy.where(mask, x, -1e30), axis) * mask


def multibox_prior(x, sizes, ratios, clip=False, steps=(-1, -1), offsets=(0.5, 0.5)):
    height, width = x.shape[-2:]
    dy, dx = (s if s > 0 else 1 / n for s, n in zip(steps, (height, width)))
    kinds = [(s, ratios[0]) for s in sizes] + [(sizes[0], r) for r in ratios[1:]]
    boxes = []
    for i in range(height):
        for j in range(width):
            y, x0 = (i + offsets[0]) * dy, (j + offsets[1]) * dx
            for s, r in kinds:
                w, h = s * r**0.5 * height / width, s / r**0.5
                boxes.append([x0 - w / 2, y - h / 2, x0 + w / 2, y + h / 2])
    return numpy.array([boxes], "float32").clip(*((0, 1) if clip else (-9, 9)))


BOXES = numpy.array([[0, 0, 0, 17, 13], [1, 3, 2, 4, 3], [1, 9, 5, 30, 30], [0, -8, -8, 5, 5]])


def roi_pooling(x, rois, size, scale):
    result = numpy.zeros((len(rois), x.shape[1], *size), x.dtype)
    for n, (of, *corners) in enumerate(rois):
        x0, y0, x1, y1 = (int(numpy.floor(c * scale + 0.5)) for c in corners)
        for i, j in numpy.ndindex(*size):
            h, w = max(y1 - y0 + 1, 1) / size[0], max(x1 - x0 + 1, 1) / size[1]
            inside = [
                x[int(of), :, r, c]
                for r in range(x.shape[2]) for c in range(x.shape[3])
                if numpy.floor(i * h) <= r - y0 < numpy.ceil((i + 1) * h)
                and numpy.floor(j * w) <= c - x0 < numpy.ceil((j + 1) * w)
            ]  # fmt: skip
            result[n, :, i, j] = numpy.max(inside, axis=0) if inside else 0
    return result


ACTIVATIONS = {
    "relu": lambda x: numpy.maximum(x, 0),
    "sigmoid": sigmoid,
    "tanh": numpy.tanh,
    "softrelu": softrelu,
    "softsign": lambda x: x / (1 + abs(x)),
    "silu": lambda x: x * sigmoid(x),
    "gelu": numpy_gelu,
    "log_sigmoid": lambda x: -softrelu(-x),
    "elu": elu,
    "selu": selu,
    "leaky": lambda x: numpy.where(x > 0, x, 0.25 * x),
}


def topk(x, k=1, axis=-1, kind="indices", ascending=False):
    order = numpy.argsort(x if ascending else -x, axis, kind="stable").take(range(k), axis)
    values = numpy.take_along_axis(x, order, axis)
    return {"indices": order, "value": values, "both": [values, order]}[kind]


def fully_connected(x, weight, bias=0, units=None, no_bias=False, flatten=True):
    return (x.reshape(len(x), -1) if flatten else x) @ weight.T + bias


def layer_norm(x, gamma, beta, axis=-1, eps=1e-5):
    wide = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
    scaled = (x - x.mean(axis, keepdims=True)) / numpy.sqrt(x.var(axis, keepdims=True) + eps)
    return scaled * gamma.reshape(wide) + beta.reshape(wide)


def smooth_l1(x, s=1.0):
    return numpy.where(abs(x) < 1 / s**2, 0.5 * (s * x) ** 2, abs(x) - 0.5 / s**2)


def collapsed(path, blank):
    """Return the labels of a path: equal neighbours count once, blanks not at all."""
    return [c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c)]


def by_paths(x, labels, blank):
    """-log of the sum of the chances of all paths that say the labels; x: (steps, classes)."""
    p = numpy.exp(x) / numpy.exp(x).sum(1, keepdims=True)
    paths = itertools.product(range(x.shape[1]), repeat=len(x))
    chance = sum(
        numpy.prod([p[t, c] for t, c in enumerate(path)]) for path in paths if collapsed(path, blank) == labels
    )
    return -numpy.log(chance) if chance else numpy.inf


CTC_LABELS = numpy.array([[1, 2, 0], [2, 0, 0], [1, 1, 0]])


def ctc_loss(x, labels):
    return numpy.array([by_paths(x[:, i], [c for c in row if c], 0) for i, row in enumerate(labels)], x.dtype)


ROWS: list[Case] = [
    row("npx.relu", one, reference=ACTIVATIONS["relu"], dtypes="iuhf", grad=A),
    row("npx.leaky_relu", one, lambda x: (x(3, 4), 0.125), dtypes="hf", grad=A,
        reference=lambda x, slope=0.25: numpy.where(x > 0, x, slope * x)),
    row("npx.sigmoid", one, reference=sigmoid, grad=A, tolerance=4),
    row("npx.log_sigmoid", one, reference=ACTIVATIONS["log_sigmoid"], grad=A, tolerance=4),
    row("npx.softrelu", one, reference=softrelu, grad=A, tolerance=4),
    row("npx.softsign", one, reference=ACTIVATIONS["softsign"], grad=A),
    row("npx.silu", one, reference=ACTIVATIONS["silu"], grad=A, tolerance=4),
    row("npx.gelu", one, reference=numpy_gelu, grad=A, tolerance=4),
    row("npx.erf", one, lambda x: (x(50, low=-7, high=7),), lambda x: (x(9, low=-1e-3, high=1e-3),), grad=A,
        tolerance=16, reference=numpy.vectorize(math.erf, "d")),
    row("npx.elu", one, lambda x: (x(3, 4), 0.5), reference=elu, grad=A, tolerance=4),
    row("npx.selu", one, reference=selu, grad=A, tolerance=4),
    row("npx.activation", *[lambda x, name=name: (x(3, 4), name) for name in ACTIVATIONS], grad=A, tolerance=4,
        reference=lambda x, name: ACTIVATIONS[name](x)),
    row("npx.softmax", one, lambda x: (x(3, 4), 0), lambda x: (x(3, 4), -1, Options(temperature=2.0)), grad=A,
        tolerance=8, reference=softmax),
    row("npx.log_softmax", one, lambda x: (x(3, 4), 0), lambda x: (x(3, 4), -1, Options(temperature=2.0)), grad=A,
        tolerance=8, reference=log_softmax),
    row("npx.masked_softmax", lambda x: (x(3, 4), x.ones(3, 4)), lambda x: (x(3, 4), x.ones(3, 4), 0), grad=A,
        tolerance=8, reference=masked_softmax),
    row("npx.cross_entropy", lambda x: (x(3, 4), abs(x.index(4, 3)) % 4),
        lambda x: (x(3, 4), abs(x.index(3, 1, 4)) % 3, 0),
        lambda x: (x(2, 3, 4), abs(x.index(3, 2, 4)) % 3, -2, True), grad=A, tolerance=16, reference=picked_losses),
    row("npx.ctc_loss", lambda x: (x(4, 3, 3), CTC_LABELS), reference=ctc_loss, grad=A, tolerance=32),
    row("npx.topk", lambda x: (x.order(3, 4),), lambda x: (x.order(3, 4), 2, 0, "both", True),
        lambda x: (x.order(3, 4), 3, 1, "value"), dtypes="ihf", reference=topk),
    row("npx.fully_connected", lambda x: (x(2, 3), x(4, 3), x(4)), lambda x: (x(2, 3, 2), x(4, 6)),
        lambda x: (x(2, 3, 2), x(4, 2), x(4), 4, False, False), grad=(0, 1), tolerance=16, reference=fully_connected),
    row("npx.layer_norm", lambda x: (x(3, 4), x(4), x(4)), lambda x: (x(3, 4), x(3), x(3), 0), grad=(0, 1, 2),
        tolerance=32, reference=layer_norm),
    row("npx.smooth_l1", one, lambda x: (x(3, 4), 2.0), reference=smooth_l1, grad=A, tolerance=4),
    row("npx.batch_flatten", lambda x: (x(2, 3, 4),), lambda x: (x(3),), grad=A,
        reference=lambda x: x.reshape(len(x), -1)),
    row("npx.multibox_prior", lambda x: (x(1, 3, 2, 4), [0.75, 0.25], [1, 2, 0.5]),
        lambda x: (x(2, 3), [0.5, 0.3], [4], True, (0.2, -1), (0, 0.25)), reference=multibox_prior, tolerance=4),
    row("npx.roi_pooling", lambda x: (x(2, 3, 7, 9), BOXES.astype(x.dtype), (2, 3), 0.5), grad=NONE,
        reference=roi_pooling),
    row("npx.dropout", lambda x: (x(3, 4),), grad=A, reference=lambda x, p=0.5: x),
    row("npx.host", lambda x: (numpy.sort, [x(3, 4)], [((3, 4), x.dtype)]), dtypes="iuhf", grad=NONE,
        reference=lambda fn, inputs, outs: [fn(*inputs)]),
]  # fmt: skip
