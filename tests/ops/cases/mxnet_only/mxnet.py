"""Further functions that only MXNet has, written out in NumPy."""

import math

import numpy
import scipy.special

from tests.ops.cases.table import ZERO, Case, Options, row
from tests.support.comparison.formulas import standardized

A = (0,)


def heads_of(x, heads, parts):
    """The parts of queries, keys and values: [part][batch][head] are (steps, width)."""
    apart = x.reshape(*x.shape[:2], heads, parts, -1)
    return [[[apart[:, b, h, p] for h in range(heads)] for b in range(x.shape[1])] for p in range(parts)]


def scores(qs, ks):
    return numpy.array([q @ k.T / math.sqrt(q.shape[1]) for qb, kb in zip(qs, ks) for q, k in zip(qb, kb)])


def weighted(weights, vs, heads):
    each = [[weights[b * heads + h] @ v for h, v in enumerate(vb)] for b, vb in enumerate(vs)]
    return numpy.stack([numpy.concatenate(vb, axis=1) for vb in each], axis=1)


def masked_log_softmax(x, mask, axis=-1, temperature=1.0):
    e = numpy.where(mask, numpy.exp(x / temperature), 0)
    with numpy.errstate(all="ignore"):
        return numpy.where(mask, numpy.log(e / e.sum(axis, keepdims=True)), -numpy.inf)


def channels(v, ndim, axis=1):
    return v.reshape([-1 if i == axis % ndim else 1 for i in range(ndim)])


def batch_norm(x, gamma, beta, mean, var, eps=1e-3, momentum=0.9, fix_gamma=True, use=False, both=False, axis=1):
    of = lambda v: channels(v, x.ndim, axis)
    return (x - of(mean)) / numpy.sqrt(of(var) + eps) * (1 if fix_gamma else of(gamma)) + of(beta)


def group_norm(x, gamma, beta, groups=1, eps=1e-3):
    y = standardized(x.reshape(len(x), groups, -1), (2,), eps).reshape(x.shape)
    return y * channels(gamma, x.ndim) + channels(beta, x.ndim)


def instance_norm(x, gamma, beta, eps=1e-3, axis=1):
    y = standardized(x, tuple(i for i in range(1, x.ndim) if i != axis % x.ndim), eps)
    return y * channels(gamma, x.ndim, axis) + channels(beta, x.ndim, axis)


def sequence_last(x, lengths=None, use=False, axis=0):
    x = numpy.moveaxis(x, axis, 0)
    return numpy.stack([x[n - 1, i] for i, n in enumerate(lengths)]) if use else x[-1]


def sequence_reverse(x, lengths=None, use=False, axis=0):
    y = numpy.moveaxis(x, axis, 0).copy()
    for i, n in enumerate(lengths if use else [len(y)] * y.shape[1]):
        y[:n, i] = y[:n, i][::-1]
    return numpy.moveaxis(y, 0, axis)


def index_add(x, at, values):
    y = x.copy()
    numpy.add.at(y, tuple(at), values)
    return y


def index_update(x, at, values):
    y = x.copy()
    y[tuple(at)] = values
    return y


def foreach(body, data, states):
    total = numpy.cumsum(data, axis=0) + states
    return [data * 2, total[-1]]


def doubled(x, state):
    return x * 2, state + x


def at_place(x, r, c, fades):
    """x (channels, height, width) between pixels."""
    height, width = x.shape[1:]
    if not fades and not (0 <= r < height and 0 <= c < width):
        return 0 * x[:, 0, 0]
    total = 0 * x[:, 0, 0]
    for i, by_row in ((math.floor(r), math.floor(r) + 1 - r), (math.floor(r) + 1, r - math.floor(r))):
        for j, by_column in ((math.floor(c), math.floor(c) + 1 - c), (math.floor(c) + 1, c - math.floor(c))):
            if not fades or (0 <= i < height and 0 <= j < width):
                total = total + by_row * by_column * x[:, min(i, height - 1), min(j, width - 1)]
    return total


def deformable(x, offset, mask, weight, bias, stride, dilate, pad, groups, parts):
    """Dai et al. 2017, and with a mask Zhu et al. 2018, place by place."""
    (filters, _, height, width), (batch, channels) = weight.shape, x.shape[:2]
    y = numpy.zeros((batch, filters, *offset.shape[2:]))
    for b, r, c in numpy.ndindex(batch, *offset.shape[2:]):
        seen = numpy.zeros((channels, height, width))
        for part, i, j in numpy.ndindex(parts, height, width):
            of = slice(part * channels // parts, (part + 1) * channels // parts)
            k = (part * height + i) * width + j
            row = r * stride[0] - pad[0] + i * dilate[0] + offset[b, 2 * k, r, c]
            column = c * stride[1] - pad[1] + j * dilate[1] + offset[b, 2 * k + 1, r, c]
            by = 1 if mask is None else mask[b, k, r, c]
            seen[of, i, j] = by * at_place(x[b, of], row, column, mask is not None)
        for f in range(filters):
            g = f * groups // filters
            y[b, f, r, c] = (weight[f] * seen[g * channels // groups : (g + 1) * channels // groups]).sum()
    return y + bias[:, None, None]


BENT = {"stride": (2, 1), "dilate": (1, 2), "pad": (1, 0), "num_group": 2, "num_deformable_group": 2}


def bent(x, offset, weight, bias, settings):
    return deformable(x, offset, None, weight, bias, *settings.values())


def bent_by_mask(x, offset, mask, weight, bias, settings):
    return deformable(x, offset, mask, weight, bias, *settings.values())


AT = numpy.array([[0, 2, 1], [3, 0, 3]])
TWICE = numpy.array([[0, 2, 0], [3, 0, 3]])

ROWS: list[Case] = [
    row("npx.masked_log_softmax", lambda x: (x(3, 4), numpy.array([True] * 4)),
        lambda x: (x(3, 4), numpy.array([[True], [True], [True]]), 0, 2.0), grad=A, tolerance=16,
        reference=masked_log_softmax),
    row("npx.interleaved_matmul_selfatt_qk", lambda x: (x(4, 2, 18), 3), grad=A, tolerance=16,
        reference=lambda x, n: scores(*heads_of(x, n, 3)[:2])),
    row("npx.interleaved_matmul_selfatt_valatt", lambda x: (x(4, 2, 18), x(6, 5, 4), 3), grad=(0, 1), tolerance=16,
        reference=lambda x, w, n: weighted(w, heads_of(x, n, 3)[2], n)),
    row("npx.interleaved_matmul_encdec_qk", lambda x: (x(4, 2, 6), x(5, 2, 12), 3), grad=(0, 1), tolerance=16,
        reference=lambda q, kv, n: scores(heads_of(q, n, 1)[0], heads_of(kv, n, 2)[0])),
    row("npx.interleaved_matmul_encdec_valatt", lambda x: (x(5, 2, 12), x(6, 4, 5), 3), grad=(0, 1), tolerance=16,
        reference=lambda kv, w, n: weighted(w, heads_of(kv, n, 2)[1], n)),
    row("npx.batch_norm", lambda x: (x(3, 4, 2), x(4), x(4), x(4), abs(x(4)) + 1),
        lambda x: (x(3, 4), x(4), x(4), x(4), abs(x(4)) + 1, 0.1, 0.5, False, True, False, -1), grad=(0, 2),
        tolerance=16, reference=batch_norm),
    row("npx.group_norm", lambda x: (x(3, 4), x(4), x(4)), lambda x: (x(2, 4, 3), x(4), x(4), 2, 0.1),
        grad=(0, 1, 2), tolerance=32, reference=group_norm),
    row("npx.instance_norm", lambda x: (x(2, 3, 4), x(3), x(3)), lambda x: (x(2, 3, 4), x(4), x(4), 0.1, -1),
        grad=(0, 1, 2), tolerance=32, reference=instance_norm),
    row("npx.gammaln", lambda x: (x(40, low=0.1, high=30),), lambda x: (x(20, low=-3.9, high=-3.1),), grad=A,
        tolerance=16, reference=scipy.special.gammaln),
    row("npx.gamma", lambda x: (x(40, low=0.5, high=4),), lambda x: (x(20, low=-2.9, high=-2.1),), grad=A,
        tolerance=128, reference=scipy.special.gamma),
    row("npx.digamma", lambda x: (x(40, low=0.1, high=30),), lambda x: (x(20, low=-3.9, high=-3.1),), grad=A,
        tolerance=128, reference=scipy.special.psi),
    row("npx.erfinv", lambda x: (x(40, low=-0.99, high=0.99),), grad=A, tolerance=16,
        reference=scipy.special.erfinv),
    row("npx.sequence_last", lambda x: (x(4, 3, 2),), lambda x: (x(4, 3, 2), numpy.array([1, 4, 2]), True),
        lambda x: (x(3, 4), numpy.array([4, 1, 3]), True, 1), dtypes="if", grad=A, reference=sequence_last),
    row("npx.sequence_reverse", lambda x: (x(4, 3, 2),), lambda x: (x(4, 3, 2), numpy.array([1, 4, 3]), True),
        lambda x: (x(3, 4), numpy.array([4, 0, 3]), True, 1), dtypes="if", grad=A, reference=sequence_reverse),
    row("npx.broadcast_like", lambda x: (x(1, 4), x(3, 4)), lambda x: (x(1, 4), x(5, 3), (0,), (1,)), dtypes="if",
        grad=A, reference=lambda x, like, own=None, other=None: numpy.broadcast_to(x, (3, 4))),
    row("npx.index_add", lambda x: (x(3, 4), TWICE, x(3)), lambda x: (x(3, 4), AT[:1], x(4)), dtypes="if",
        grad=(0, 2), tolerance=2, reference=index_add),
    row("npx.index_update", lambda x: (x(3, 4), AT, x(3)), lambda x: (x(3, 4), AT[:1], x(4)), dtypes="if",
        grad=(0, 2), reference=index_update),
    row("npx.nonzero", lambda x: (x(3, 4) > 0,), lambda x: (x(5) > 9,), waits=True, grad=None,
        reference=numpy.argwhere),
    row("npx.slice", lambda x: (x(3, 4), (0, None), (2, None)), lambda x: (x(5, 4), (-2,), (0,), (-2,)), dtypes="if",
        grad=A, reference=lambda x, b, e, s=(None,): x[tuple(slice(*z) for z in zip(b, e, s * len(b)))]),
    row("npx.shape_array", lambda x: (x(3, 4),), grad=None, reference=lambda x: numpy.array(x.shape, "int64")),
    row("npx.stop_gradient", lambda x: (x(3, 4),), grad=ZERO, reference=lambda x: x),
    row("npx.foreach", lambda x: (doubled, x(5, 2), x(2)), grad=(1, 2), tolerance=8, reference=foreach),
    row("npx.deformable_convolution", lambda x: (x(1, 4, 3, 4), x(1, 8, 2, 4), x(2, 2, 2, 1), x(2), Options(BENT)),
        grad=(0, 1, 2, 3), tolerance=64, reference=lambda *args, **settings: bent(*args, settings)),
    row("npx.modulated_deformable_convolution",
        lambda x: (x(1, 4, 3, 4), x(1, 8, 2, 4), x(1, 4, 2, 4), x(2, 2, 2, 1), x(2), Options(BENT)),
        grad=(0, 1, 2, 3, 4), tolerance=64, reference=lambda *args, **settings: bent_by_mask(*args, settings)),
    row("npx.reshape", lambda x: (x(3, 1, 4), (-2, -3, -6, 2, -1)), dtypes="if", grad=A,
        reference=lambda x, shape: x.reshape(3, 2, 2)),
]  # fmt: skip
