"""Functions of MXNet beside layers, written out in NumPy: parts, sums, checks, boxes, branches, activations."""

import itertools

import numpy
import scipy.special

from tests.ops.cases.table import Case, Options, row

A = (0,)


def rest_of(x, like, axes=()):
    wanted = range(x.ndim) if axes == () else axes
    return x[tuple(slice(like.shape[a]) if a in wanted else slice(None) for a in range(x.ndim))]


def to_space(x, b):
    n, c, h, w = x.shape
    y = numpy.empty((n, c // (b * b), h * b, w * b), x.dtype)
    for i, j in itertools.product(range(b), range(b)):
        part = (i * b + j) * y.shape[1]
        y[:, :, i::b, j::b] = x[:, part : part + y.shape[1]]
    return y


def to_depth(x, b):
    return numpy.concatenate([x[:, :, i::b, j::b] for i, j in itertools.product(range(b), range(b))], 1)


def khatri_rao(*matrices):
    columns = []
    for parts in zip(*(m.T for m in matrices)):
        whole = numpy.ones(1, matrices[0].dtype)
        for part in parts:
            whole = numpy.kron(whole, part)
        columns.append(whole)
    return numpy.stack(columns, 1)


def area(box):
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


def iou(a, b):
    shared = area([max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])])
    covered = area(a) + area(b) - shared
    return shared / covered if covered > 0 else 0


def corners(box, format):
    x, y, w, h = box
    return [x - w / 2, y - h / 2, x + w / 2, y + h / 2] if format == "center" else list(box)


def ious(a, b, format="corner"):
    pairs = [[iou(corners(p, format), corners(q, format)) for q in b.reshape(-1, 4)] for p in a.reshape(-1, 4)]
    return numpy.array(pairs, a.dtype).reshape(a.shape[:-1] + b.shape[:-1])


def matching(scores, ascend=False, threshold=None, topk=-1):
    rows, columns = numpy.full(scores.shape[0], -1.0), numpy.full(scores.shape[1], -1.0)
    order = sorted(numpy.ndindex(scores.shape), key=lambda at: scores[at] if ascend else -scores[at])
    for i, j in order:
        good = scores[i, j] < threshold if ascend else scores[i, j] > threshold
        if good and rows[i] < 0 and columns[j] < 0 and (topk < 0 or (rows >= 0).sum() < topk):
            rows[i], columns[j] = j, i
    return rows.astype(scores.dtype), columns.astype(scores.dtype)


def encoded_boxes(samples, matches, anchors, refs, means=(0, 0, 0, 0), stds=(0.1, 0.1, 0.2, 0.2)):
    codes, mask = numpy.zeros((2, *matches.shape, 4), refs.dtype)
    for b, i in numpy.ndindex(matches.shape):
        if samples[b, i] > 0.5:
            a, r = anchors[b, i], refs[b, int(matches[b, i])]
            size, wanted = a[2:] - a[:2], r[2:] - r[:2]
            moved = ((r[:2] + r[2:]) / 2 - (a[:2] + a[2:]) / 2) / size
            codes[b, i] = (numpy.concatenate([moved, numpy.log(wanted / size)]) - means) / stds
            mask[b, i] = 1
    return codes, mask


def decoded(codes, anchors, s0=1.0, s1=1.0, s2=1.0, s3=1.0, clip=-1.0, format="center"):
    y = numpy.empty_like(codes)
    for b, i in numpy.ndindex(codes.shape[:2]):
        box = corners(anchors[0, i], format)
        w, h = box[2] - box[0], box[3] - box[1]
        x, top = (box[0] + box[2]) / 2 + codes[b, i, 0] * s0 * w, (box[1] + box[3]) / 2 + codes[b, i, 1] * s1 * h
        grown = [codes[b, i, 2] * s2, codes[b, i, 3] * s3]
        grown = [min(g, clip) for g in grown] if clip > 0 else grown
        y[b, i] = corners([x, top, w * numpy.exp(grown[0]), h * numpy.exp(grown[1])], "center")
    return y


def best_boxes(x, options):
    """One batch of box_nms."""
    o = {"overlap_thresh": 0.5, "valid_thresh": 0.0, "topk": -1, "id_index": -1, "background_id": -1,
         "force_suppress": False, "in_format": "corner", "out_format": "corner"} | options  # fmt: skip
    rows = [r for r in sorted(x.tolist(), key=lambda r: -r[1]) if r[1] > o["valid_thresh"]]
    if o["id_index"] >= 0:
        rows = [r for r in rows if r[o["id_index"]] != o["background_id"]]
    kept = []
    for r in rows[: o["topk"]] if o["topk"] > 0 else rows:
        box = corners(r[2:6], o["in_format"])
        same = [k for k, _ in kept if o["force_suppress"] or o["id_index"] < 0 or k[o["id_index"]] == r[o["id_index"]]]
        if all(iou(corners(k[2:6], o["in_format"]), box) <= o["overlap_thresh"] for k in same):
            kept.append((r, box))
    out = numpy.full_like(x, -1)
    for i, (r, (a, b, c, d)) in enumerate(kept):
        changed = o["in_format"] != o["out_format"]
        box = r[2:6] if not changed else [a, b, c, d] if o["out_format"] == "corner" else [
            (a + c) / 2, (b + d) / 2, c - a, d - b]  # fmt: skip
        out[i] = [*r[:2], *box, *r[6:]]
    return out


def nms(x, **options):
    return numpy.stack([best_boxes(b, options) for b in x.reshape(-1, *x.shape[-2:])]).reshape(x.shape)


def boxes(x, *shape):
    """Corners with areas."""
    start = x(*shape, 2, low=0, high=1)
    return numpy.concatenate([start, start + x(*shape, 2, low=0.5, high=1.5)], -1)


def scored(x, n, kinds):
    """Boxes behind classes and scores that differ."""
    ids = x.rng.integers(0, kinds, (n, 1))
    return numpy.concatenate([ids, x.order(n, 1) / n + 0.5, boxes(x, n), x(n, 1)], 1).astype(x.dtype)


def by_length(function, beyond):
    def reference(x, axis=-1, length=None, temperature=None, use_length=False):
        if not x.size:
            return x
        x = numpy.moveaxis(x / (temperature or 1), axis, -1)
        if length is None:
            return numpy.moveaxis(function(x, -1), -1, axis)
        y = numpy.full_like(x, beyond)
        for i in numpy.ndindex(length.shape):
            if length[i]:
                y[i][: length[i]] = function(x[i][: length[i]])
        return numpy.moveaxis(y, -1, axis)

    return reference


def leaky(x, slope=0.25, gamma=None, act_type="leaky"):
    if act_type == "prelu":
        return numpy.where(x > 0, x, x * (gamma.reshape(-1, *[1] * (x.ndim - 2)) if x.ndim > 1 else gamma))
    if act_type == "gelu":
        return x * scipy.special.ndtr(x)
    return numpy.where(x > 0, x, x * {"leaky": slope, "rrelu": (0.125 + 0.334) / 2}[act_type])


def l2(x, eps=1e-10, mode="instance"):
    axes = {"instance": tuple(range(1, x.ndim)), "channel": (1,), "spatial": tuple(range(2, x.ndim))}[mode]
    return x / numpy.sqrt((x * x).sum(axes, keepdims=True) + eps)


def counted(i, total):
    return total * 2, [i + 1, total + i]


def padded(cond, func, state, max_iterations):
    outputs = numpy.zeros((max_iterations, *state[1].shape), state[1].dtype)
    step = 0
    while step < max_iterations and cond(*state):
        outputs[step], state = func(*state)
        step += 1
    return [outputs, *state]


FOUND = numpy.array([[0, 2, 1], [1, 1, 0]])
ANCHORS = numpy.array([[[0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 0.9, 0.9], [0.0, 0.0, 0.9, 0.3], [0.6, 0.1, 0.9, 0.4]]])
LABELS = numpy.array([[[1, 0.1, 0.1, 0.5, 0.4], [0, 0.55, 0.5, 0.95, 0.9], [-1, 0, 0, 1, 1]], [[-1] * 5] * 3])


def targets(anchors, labels, scores):
    """Return the targets of two images' anchors: the first has two objects, and the second none."""
    codes, mask, classes = numpy.zeros((2, 4, 4)), numpy.zeros((2, 4, 4)), numpy.full((2, 4), -1.0)
    classes[0] = [2, 1, 0, 0]
    for i in (0, 1):
        ones = numpy.ones((1, 1))
        code, _ = encoded_boxes(ones, 0 * ones, ANCHORS[:, i : i + 1], LABELS[:1, i : i + 1, 1:])
        codes[0, i], mask[0, i] = code, 1
    return [v.reshape(2, -1).astype(anchors.dtype) for v in (codes, mask, classes)]


def detections(prob, codes, anchors):
    found = numpy.full((len(prob), anchors.shape[1], 6), -1.0)
    for b in range(len(prob)):
        places = decoded(codes[b].reshape(1, -1, 4), anchors, 0.1, 0.1, 0.2, 0.2, format="corner")[0].clip(0, 1)
        real = prob[b, 1:]
        order = [i for i in numpy.argsort(-real.max(0)) if real[:, i].max() >= 0.01]
        kept = []
        for at, i in enumerate(order):
            kind = real[:, i].argmax()
            alone = all(kind != k or iou(places[i], places[j]) <= 0.5 for k, j in kept)
            found[b, at] = [kind if alone else -1, real[:, i].max(), *places[i]]
            kept += [(kind, i)] if alone else []
    return found.astype(prob.dtype)


def between(x, y, c):
    """x (channels, height, width) at a place between pixels."""
    _, height, width = x.shape
    if not (-1 <= y <= height and -1 <= c <= width):
        return 0 * x[:, 0, 0]
    y, c = min(max(y, 0), height - 1), min(max(c, 0), width - 1)
    total = 0 * x[:, 0, 0]
    for i, j in itertools.product((int(y), int(y) + 1), (int(c), int(c) + 1)):
        share = max(1 - abs(y - i), 0) * max(1 - abs(c - j), 0)
        total = total + (share * x[:, i, j] if share else 0)
    return total


def aligned_regions(x, rois, size, scale, samples=-1, sensitive=False, aligned=False):
    out = numpy.zeros((len(rois), x.shape[1], *size), x.dtype)
    for r, (image, left, top, right, bottom) in enumerate(rois):
        starts = [v * scale - (0.5 if aligned else 0) for v in (top, left)]
        lengths = [(b - a) * scale if aligned else max((b - a) * scale, 1) for a, b in ((top, bottom), (left, right))]
        counts = [samples if samples > 0 else int(numpy.ceil(n / m)) for n, m in zip(lengths, size)]
        for cell in numpy.ndindex(*size):
            seen = []
            for at in numpy.ndindex(*counts):
                place = [s + (i + (k + 0.5) / n) * m / p for s, i, k, n, m, p in zip(
                    starts, cell, at, counts, lengths, size)]  # fmt: skip
                seen.append(between(x[int(image)], *place))
            out[r, :, *cell] = numpy.mean(seen, 0)
    return out


REGIONS = numpy.array([[1, 0.3, 0.2, 6.9, 5.1], [0, 2, -3, 9.3, 4], [1, 3, 3, 3.2, 3.1]])

ROWS: list[Case] = [
    row("npx.roi_align", lambda x: (x(2, 3, 5, 6), REGIONS.astype(x.dtype), (2, 3), 0.8),
        lambda x: (x(2, 1, 4, 6), REGIONS.astype(x.dtype), (2, 2), 0.5, 3, False, True), grad=A, tolerance=64,
        reference=aligned_regions),
    row("npx.add_n", lambda x: (x(3, 4), x(3, 4), x(3, 4)), lambda x: ([x(4), x(4)],), dtypes="if", grad=(0, 1),
        reference=lambda *v: sum(v[0][1:], v[0][0]) if isinstance(v[0], list) else v[0] + v[1] + v[2]),
    row("npx.slice_axis", lambda x: (x(3, 4), 1, 1, -1), lambda x: (x(3, 4), -2, 1, None), dtypes="if", grad=A,
        reference=lambda x, axis, b, e: x[:, b:e] if axis == 1 else x[b:e]),
    row("npx.slice_like", lambda x: (x(3, 4), x(2, 2)), lambda x: (x(3, 4), x(2, 3, 5), (1,)), dtypes="if", grad=A,
        reference=rest_of),
    row("npx.batch_take", lambda x: (x(3, 4), numpy.array([0, 3, 1])), dtypes="if", grad=A,
        reference=lambda x, i: x[numpy.arange(3), i]),
    row("npx.index_array", lambda x: (x(2, 3),), lambda x: (x(2, 3), (1, 0)), grad=None,
        reference=lambda x, axes=(0, 1): numpy.stack([numpy.indices(x.shape)[a] for a in axes], -1)),
    row("npx.depth_to_space", lambda x: (x(2, 8, 3, 1), 2), dtypes="if", grad=A, reference=to_space),
    row("npx.space_to_depth", lambda x: (x(2, 3, 4, 2), 2), dtypes="if", grad=A, reference=to_depth),
    row("npx.khatri_rao", lambda x: (x(2, 3), x(4, 3)), lambda x: (x(2, 3), x(1, 3), x(2, 3)), dtypes="if", grad=A,
        tolerance=2, reference=khatri_rao),
    row("npx.div_sqrt_dim", lambda x: (x(3, 4),), grad=A, reference=lambda x: x / 2),
    row("npx.constraint_check", lambda x: (x(3) < 9, "small"), grad=None, reference=lambda x, msg: x.all()),
    row("npx.all_finite", lambda x: (x(3),), lambda x: (x(3) * numpy.array([1, numpy.inf, 1], x.dtype),), grad=None,
        reference=lambda x: numpy.array([numpy.isfinite(x).all()], "float32")),
    row("npx.multi_all_finite", lambda x: (x(3), x(2, 2)), grad=None,
        reference=lambda *v: numpy.array([all(numpy.isfinite(x).all() for x in v)], "float32")),
    row("npx.amp_cast", lambda x: (x(3), "float64"), dtypes="if", grad=A,
        reference=lambda x, dtype: x.astype(dtype, copy=False) if x.dtype.kind == "f" else x),
    row("npx.amp_multicast", lambda x: (x(3), x(3).astype("float32")),
        lambda x: (x(3), x(3).astype("float32"), Options(cast_narrow=True)), grad=None,
        reference=lambda a, b, cast_narrow=False: [
            v.astype("float32" if cast_narrow else a.dtype, copy=False) for v in (a, b)]),
    row("npx.cast", lambda x: (x(3, 4), "int32"), dtypes="if", grad=None, reference=lambda x, dtype: x.astype(dtype)),
    row("npx.cond", lambda x: (x(1) < 9, lambda v: v * 2, lambda v: v, [x(3)]), waits=True, grad=(1,),
        reference=lambda p, yes, no, v: v[0] * 2),
    row("npx.while_loop", lambda x: (lambda i, t: i < 3, counted, [numpy.array(0), x(2)], 4), waits=True, grad=None,
        reference=padded),
    row("npx.box_iou", lambda x: (boxes(x, 3), boxes(x, 2, 2)), lambda x: (boxes(x, 2), boxes(x, 3), "center"),
        grad=(0, 1), tolerance=32, reference=ious),
    row("npx.bipartite_matching", lambda x: (x.order(3, 4), False, -2.0), lambda x: (x.order(4, 2), True, 2.0, 1),
        grad="none", reference=matching),
    row("npx.box_encode",
        lambda x: (numpy.array([[1, -1, 0.9]] * 2, x.dtype), FOUND, boxes(x, 2, 3), boxes(x, 2, 4)), grad=(2, 3),
        tolerance=128, reference=encoded_boxes),
    row("npx.box_decode", lambda x: (x(2, 3, 4), abs(x(1, 3, 4))),
        lambda x: (x(2, 3, 4), boxes(x, 1, 3), 0.1, 0.1, 0.2, 0.2, 0.1, "corner"), grad=(0, 1), tolerance=64,
        reference=decoded),
    row("npx.box_nms", lambda x: (scored(x, 9, 2),), lambda x: (scored(x, 9, 2)[None], Options(out_format="center")),
        lambda x: (scored(x, 6, 1), Options(valid_thresh=0.51, in_format="center", out_format="corner")), grad=A,
        tolerance=8, reference=nms),
    row("npx.multibox_target", lambda x: (ANCHORS.astype(x.dtype), LABELS.astype(x.dtype), x(2, 3, 4)), grad="none",
        tolerance=64, reference=targets),
    row("npx.multibox_detection", lambda x: (abs(x(2, 3, 4)), x(2, 16), ANCHORS.astype(x.dtype)), grad="none",
        tolerance=64, reference=detections),
    row("npx.mish", lambda x: (x(40),), grad=A, tolerance=16,
        reference=lambda x: x * numpy.tanh(numpy.logaddexp(x, x.dtype.type(0)))),
    row("npx.hard_sigmoid", lambda x: (x(40, low=-4, high=4),), grad=A, tolerance=2,
        reference=lambda x: numpy.clip(0.2 * x + 0.5, 0, 1)),
    row("npx.softmin", lambda x: (x(3, 4), 0), grad=A, tolerance=16,
        reference=lambda x, axis: scipy.special.softmax(-x, axis)),
    row("npx.l2_normalization", lambda x: (x(3, 4),), lambda x: (x(2, 3, 4), 0.1, "channel"),
        lambda x: (x(2, 3, 4), 0.1, "spatial"), grad=A, tolerance=16, reference=l2),
    row("np.msort", lambda x: (x.order(4, 3),), dtypes="if", grad=A, reference=lambda x: numpy.sort(x, 0)),
    row("np.in1d", lambda x: (x(4, 3), x(5)), dtypes="i", grad=None,
        reference=lambda x, y: numpy.isin(x.ravel(), y)),
]  # fmt: skip

# Further rows of functions that have one: parameters that only MXNet has.
ARGUMENTS: list[Case] = [
    row("npx.box_nms", lambda x: (scored(x, 9, 2), Options(id_index=0)),
        lambda x: (scored(x, 9, 3)[None], Options(id_index=0, background_id=1, topk=5, overlap_thresh=0.2)),
        lambda x: (scored(x, 6, 2), Options(id_index=0, force_suppress=True)), grad=None, tolerance=8, reference=nms),
    row("npx.softmax", lambda x: (x(3, 4), 0, numpy.array([1, 3, 2, 0]), 2.0, True), lambda x: (x(3, 0),),
        lambda x: (x(0, 3),), grad=A, tolerance=16, reference=by_length(scipy.special.softmax, 0)),
    row("npx.log_softmax", lambda x: (x(3, 4), -1, numpy.array([4, 4, 4]), 2.0, True), lambda x: (x(3, 0),), grad=A,
        tolerance=32, reference=by_length(scipy.special.log_softmax, -numpy.inf)),
    row("npx.leaky_relu", lambda x: (x(2, 3, 4), x(3), Options(act_type="prelu")),
        lambda x: (x(5), Options(gamma=x(1), act_type="prelu")), lambda x: (x(5), Options(act_type="gelu")),
        lambda x: (x(5), Options(act_type="rrelu")), grad=(0, 1), tolerance=32,
        reference=lambda x, slope=0.25, gamma=None, act_type="leaky": leaky(
            x, slope, slope if act_type == "prelu" and gamma is None else gamma, act_type)),
    row("npx.activation", lambda x: (x(9), "mish"), grad=A, tolerance=16,
        reference=lambda x, _: x * numpy.tanh(numpy.logaddexp(x, x.dtype.type(0)))),
    row("npx.broadcast_like", lambda x: (x(1, 4), x(5, 3), 0, 1), lambda x: (x(1, 4), x(5, 3), -2, -1), dtypes="if",
        grad=A, reference=lambda x, like, own, other: numpy.broadcast_to(x, (3, 4))),
    row("np.cross", lambda x: (x(3, 2), x(2)), dtypes="if", grad=(0, 1), tolerance=4,
        reference=lambda a, b: a[:, 0] * b[1] - a[:, 1] * b[0]),
    row("np.cross", lambda x: (x(4, 2), x(3)), lambda x: (x(3), x(2, 4), Options(axisb=0)), dtypes="if", grad=(0, 1),
        tolerance=4, reference=lambda a, b, axisb=-1: numpy.cross(
            *(v if v.shape[-1] == 3 else numpy.pad(v, [(0, 0), (0, 1)]) for v in (a, numpy.moveaxis(b, axisb, -1))))),
    row("np.linalg.norm", lambda x: (x(4), "inf"), lambda x: (x(3, 4), "-inf"), lambda x: (x(2, 3, 4), "inf", [0, 2]),
        grad=A, tolerance=8,
        reference=lambda x, ord, axis=None: numpy.linalg.norm(x, float(ord), None if axis is None else tuple(axis))),
    row("np.linalg.matrix_norm", lambda x: (x(2, 3, 4), Options(ord="inf", axis=(0, 1))), grad=A, tolerance=8,
        reference=lambda x, ord, axis: numpy.linalg.norm(x, numpy.inf, axis)),
    row("np.linalg.eigvalsh", lambda x: (x(3, 3) + 4 * numpy.eye(3, dtype=x.dtype), Options(upper=True)), tolerance=64,
        grad=None, reference=lambda x, upper: numpy.linalg.eigvalsh(x, "U")),
    row("np.quantile", lambda x: (x(9), 0.3, Options(interpolation="lower")), grad="none",
        reference=lambda x, q, interpolation: numpy.quantile(x, q, method=interpolation)),
    row("np.percentile", lambda x: (x(9), 30, Options(interpolation="midpoint")), grad="none", tolerance=4,
        reference=lambda x, q, interpolation: numpy.percentile(x, q, method=interpolation)),
    row("np.broadcast_to", lambda x: (x(3, 1, 2), (5, -2, 4, -2)), dtypes="if", grad=A,
        reference=lambda x, shape: numpy.broadcast_to(x, (5, 3, 4, 2))),
    row("np.argsort", lambda x: (x.order(4, 3), 0, True), dtypes="if", grad=None,
        reference=lambda x, axis, _: numpy.argsort(-x, axis)),
    row("np.sort", lambda x: (x.order(4, 3), 0, True), dtypes="if", grad=A,
        reference=lambda x, axis, _: -numpy.sort(-x, axis)),
    *(row(f"np.{name}", lambda x: (5, Options(dtype=x.dtype)), grad=None, tolerance=1,
          reference=lambda n, dtype, name=name: getattr(numpy, name)(n).astype(dtype))
      for name in ("hanning", "hamming", "blackman")),
]  # fmt: skip
