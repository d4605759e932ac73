"""Images and random numbers as only MXNet has them, written out in NumPy."""

import numpy
from PIL import Image

from tests.ops.cases.table import Case, Options, row

A = (0,)
GREY = numpy.array([0.299, 0.587, 0.114])
TO_YIQ = numpy.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
LIGHT = numpy.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])


def picture(x, *shape):
    """Colours of an image, or of a batch; of the dtype, from 0 to 8."""
    return x(*(shape or (4, 5, 3)), low=0, high=2)


def to_tensor(x):
    return numpy.moveaxis(x, -1, -3).astype("float32") / numpy.float32(255)


def normalize(x, mean=0.0, std=1.0):
    return ((x - numpy.reshape(mean, (-1, 1, 1))) / numpy.reshape(std, (-1, 1, 1))).astype(x.dtype)


def like(x, values):
    if x.dtype.kind in "iu":
        values = numpy.rint(values).clip(0, numpy.iinfo(x.dtype).max)
    return values.astype(x.dtype)


def brighter(x, low, high):
    return like(x, x * low)


def contrasted(x, low, high):
    grey = (x * GREY).sum(-1).mean((-2, -1), keepdims=True)[..., None]
    return like(x, grey + (x - grey) * low)


def saturated(x, low, high):
    grey = (x * GREY).sum(-1, keepdims=True)
    return like(x, grey + (x - grey) * low)


def tinted(x, low, high):
    c, s = numpy.cos(2 * numpy.pi * low), numpy.sin(2 * numpy.pi * low)
    turn = numpy.linalg.inv(TO_YIQ) @ [[1, 0, 0], [0, c, -s], [0, s, c]] @ TO_YIQ
    return like(x, x @ turn.T)


def lit(x, alpha):
    return like(x, x + (LIGHT * alpha) @ [55.46, 4.794, 1.148])


def resized(x, size, keep=False, interp=1):
    w, h = size if isinstance(size, tuple) else (size * x.shape[1] // x.shape[0], size) if keep else (size, size)
    planes = [Image.fromarray(x[..., c].astype("float32")).resize((w, h), 2) for c in range(x.shape[2])]
    return numpy.stack([numpy.asarray(p) for p in planes], -1).astype(x.dtype)


def image(name, *samples, **options):
    return row(f"npx.image.{name}", *samples, **options)


def random_row(name, *samples, **options):
    return row(f"npx.{name}", *samples, random=True, **options)


ROWS: list[Case] = [
    image("to_tensor", lambda x: (picture(x),), lambda x: (picture(x, 2, 3, 4, 1),), dtypes="uf", reference=to_tensor),
    image("normalize", lambda x: (x(3, 4, 5),), lambda x: (x(2, 3, 4, 5), (0.5, 1.0, 2.0), (1.0, 0.5, 0.25)), grad=A,
          reference=normalize, tolerance=4),
    image("resize", lambda x: (picture(x), 3), lambda x: (picture(x), (2, 6)), lambda x: (picture(x, 4, 8, 1), 2, True),
          reference=resized, grad="none"),
    image("crop", lambda x: (picture(x), 1, 2, 3, 2), lambda x: (picture(x, 2, 4, 5, 1), 0, 0, 5, 4), dtypes="uf",
          grad=A, reference=lambda v, x, y, w, h: v[..., y : y + h, x : x + w, :]),
    image("flip_left_right", lambda x: (picture(x),), dtypes="uf", grad=A, reference=lambda v: v[..., ::-1, :]),
    image("flip_top_bottom", lambda x: (picture(x),), dtypes="uf", grad=A, reference=lambda v: v[..., ::-1, :, :]),
    image("random_flip_left_right", lambda x: (picture(x), 1.0), dtypes="uf", grad=A,
          reference=lambda v, p: v[..., ::-1, :]),
    image("random_flip_top_bottom", lambda x: (picture(x), 0.0), dtypes="uf", grad=A, reference=lambda v, p: v),
    image("random_brightness", lambda x: (picture(x), 0.5, 0.5), lambda x: (picture(x, 2, 2, 2, 1), 9.0, 9.0), grad=A,
          tolerance=4, reference=brighter),
    image("random_contrast", lambda x: (picture(x), 0.5, 0.5), lambda x: (picture(x, 2, 3, 4, 3), 2.0, 2.0), grad=A,
          tolerance=64, reference=contrasted),
    image("random_saturation", lambda x: (picture(x), 0.5, 0.5), lambda x: (picture(x, 2, 3, 4, 3), 2.0, 2.0), grad=A,
          tolerance=64, reference=saturated),
    image("random_hue", lambda x: (picture(x), 0.2, 0.2), lambda x: (picture(x, 2, 3, 4, 3), 1.0, 1.0), grad=A,
          dtypes="f", tolerance=1e8, reference=tinted),
    image("adjust_lighting", lambda x: (picture(x), (0.1, 0.2, -0.1)), grad=A, tolerance=1e8, reference=lit),
    image("random_lighting", lambda x: (picture(x),), random=True),
    image("random_color_jitter", lambda x: (picture(x), 0.5, 0.5, 0.5, 0.5), random=True),
    image("random_crop", lambda x: (picture(x), Options(width=2, height=3)),
          lambda x: (picture(x, 2, 4, 5, 1), (0.0, 0.5), (0.5, 1.0), 3, 8), random=True),
    image("random_resized_crop", lambda x: (picture(x), 6, 3), random=True),
    random_row("random.categorical", lambda x: (x(3, 4, low=0.1), 5), lambda x: (x(4, low=0.1), (2, 3), True)),
    random_row("random.uniform_n", lambda x: (x(3), 2.0, (2,)), lambda x: (0.0, 1.0, 4, x.dtype)),
    random_row("random.normal_n", lambda x: (x(3), 2.0, (2,)), lambda x: (0.0, 1.0, 4, x.dtype)),
]  # fmt: skip
