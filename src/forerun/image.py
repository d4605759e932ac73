"""Images: arrays (height, width, channels), read and resized by Pillow (`pip install forerun[image]`).

Images of NumPy's stay NumPy's: what is done to them is done at once, in the thread of the call.

>>> from forerun import image, np
>>> x = np.arange(12).reshape(2, 2, 3).astype("uint8")
>>> image.imresize(x, 4, 4).shape, image.fixed_crop(x, 0, 1, 2, 1).tolist()
((4, 4, 3), [[[6, 7, 8], [9, 10, 11]]])
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from . import np
from .ops._base import core as _core
from .ops._base.convert import asarray
from .ops._base.host_task import host_op
from .ops._base.random_stream import current
from .ops.vision.resize import pillow, resized

if TYPE_CHECKING:
    from .typing import Array


__all__ = [
    "imread", "imdecode", "imresize", "resize_short", "fixed_crop", "random_crop", "center_crop", "random_size_crop",
    "imrotate", "random_rotate", "color_normalize", "copyMakeBorder", "scale_down", "draws",
]  # fmt: skip

Crop = tuple[int, int, int, int]


def imread(filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True) -> Array:
    """Return the image in a file: uint8 (height, width, 3). Waits for the file.

    flag: 0 for (height, width, 1), grey. to_rgb: otherwise channels are blue, green, red. OSError if there is no such
    file, ValueError if it holds no image.

    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (4, 2), "red").save(f"{folder}/x.png")
    ...     imread(f"{folder}/x.png")[0, 0].tolist()
    [255, 0, 0]
    """
    return _core.from_numpy(values_in(filename, flag, to_rgb))


def imdecode(buf: bytes, flag: int = 1, to_rgb: bool = True) -> Any:
    """Return the image in the bytes of a file; as `imread`. ValueError if there is none in them."""
    return _core.from_numpy(decoded(buf, flag, to_rgb))


def values_in(filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True) -> numpy.ndarray:
    """Return the image in a file as an array of NumPy's; as `imread`."""
    with open(filename, "rb") as file:
        content = file.read()
    try:
        return decoded(content, flag, to_rgb)
    except ValueError as error:
        error.add_note(f"in {os.fspath(filename)}")
        raise


def decoded(buf: bytes, flag: int = 1, to_rgb: bool = True) -> numpy.ndarray:
    """Return the image in the bytes of a file as an array of NumPy's; as `imdecode`."""
    pil = pillow()
    try:
        values = numpy.asarray(pil.open(io.BytesIO(buf)).convert("RGB" if flag else "L"))
    except (OSError, pil.DecompressionBombError) as error:
        raise ValueError(f"imdecode: buf must hold an image, got {len(buf)} bytes: {error}") from None
    values = values if flag else values[..., None]
    return numpy.ascontiguousarray(values if to_rgb or not flag else values[..., ::-1])


def _image(src: Array | numpy.ndarray) -> Array | numpy.ndarray:
    return src if isinstance(src, numpy.ndarray) else asarray(src)


def imresize(src: Array | numpy.ndarray, w: int, h: int, interp: int = 1) -> Any:
    """Return the image in another size, of src's dtype. ValueError unless src has 3 axes and sizes are positive.

    interp: 0 nearest, 1 bilinear, 2 bicubic, 4 Lanczos. Images that get smaller are smoothed. Does not wait. It has no
    gradient.

    >>> from forerun import np
    >>> imresize(np.ones((2, 2, 3)), 1, 1).tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    x: Any = _image(src)
    if x.ndim != 3:
        raise ValueError(f"imresize: image must have 3 axes, got shape {x.shape}")
    return resized("imresize", x, w, h, interp)


def resize_short(src: Array | numpy.ndarray, size: int, interp: int = 2) -> Any:
    """Return the image with its shorter side of that size.

    >>> from forerun import np
    >>> resize_short(np.ones((4, 8, 3)), 2).shape
    (2, 4, 3)
    """
    h, w = src.shape[:2]
    return imresize(src, size * w // min(h, w), size * h // min(h, w), interp)


def fixed_crop(
    src: Array | numpy.ndarray, x0: int, y0: int, w: int, h: int, size: Sequence[int] | None = None, interp: int = 2
) -> Array | numpy.ndarray:
    """Return the part of an image from column x0 and row y0, w wide and h high, as a view, or resized to `size`.

    ValueError if that is not inside the image.
    """
    x = _image(src)
    if not (0 <= x0 <= x0 + w <= x.shape[-2] and 0 <= y0 <= y0 + h <= x.shape[-3]):
        raise ValueError(f"fixed_crop: crop must be inside {x.shape[-3:-1]}, got {(y0, x0)} to {(y0 + h, x0 + w)}")
    out = x[..., y0 : y0 + h, x0 : x0 + w, :]
    return out if size is None or tuple(size) == (w, h) else imresize(out, size[0], size[1], interp)


def draws() -> numpy.random.Generator:
    """Return NumPy's generator for random numbers that follow the seed of `np.random`."""
    return current().draws()


def chance() -> float:
    """Return a random number in [0, 1), which follows the seed of `np.random`."""
    return current().chance()


def _largest(shape: Sequence[int], size: Sequence[int]) -> tuple[int, int]:
    """Return the width and height of `size`'s proportions that fit into the image, at most `size`."""
    if size[0] <= shape[1] and size[1] <= shape[0]:
        return size[0], size[1]
    scale = min(shape[1] / size[0], shape[0] / size[1])
    return max(int(size[0] * scale), 1), max(int(size[1] * scale), 1)


def random_crop(src: Any, size: Sequence[int], interp: int = 2) -> tuple[Any, Crop]:
    """Return a crop of `size` (width, height) somewhere, and where it is: (x0, y0, width, height).

    If the image is smaller, the largest crop of these proportions is resized.

    >>> from forerun import np
    >>> x, (x0, y0, w, h) = random_crop(np.ones((4, 8, 3)), (2, 3))
    >>> x.shape, (w, h)
    ((3, 2, 3), (2, 3))
    """
    w, h = _largest(src.shape, size)
    x0, y0 = int(chance() * (src.shape[1] - w + 1)), int(chance() * (src.shape[0] - h + 1))
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def center_crop(src: Array | numpy.ndarray, size: Sequence[int], interp: int = 2) -> tuple[Any, Crop]:
    """Return the crop of `size` (width, height) in the middle, and where it is; as `random_crop`."""
    w, h = _largest(src.shape, size)
    x0, y0 = (src.shape[1] - w) // 2, (src.shape[0] - h) // 2
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def random_size_crop(
    src: Array | numpy.ndarray, size: Sequence[int], area: Any, ratio: Sequence[float], interp: int = 2
) -> tuple[Any, Crop]:
    """Crop a random area (between two parts of the image's, or from one to all) of random proportions; resize to
    `size`.

    After ten crops that do not fit, the one in the middle (Szegedy et al. 2015).
    """
    height, width = src.shape[:2]
    low, high = (area, 1.0) if isinstance(area, (int, float)) else area
    rng = draws()
    for _ in range(10):
        pixels = rng.uniform(low, high) * height * width
        proportion = math.exp(rng.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(pixels * proportion)), round(math.sqrt(pixels / proportion))
        if 0 < w <= width and 0 < h <= height:
            x0, y0 = int(rng.random() * (width - w + 1)), int(rng.random() * (height - h + 1))
            return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)
    return center_crop(src, size, interp)


def scale_down(src_size: Sequence[int], size: Sequence[int]) -> tuple[int, int]:
    """Return the largest size (width, height) of `size`'s proportions that fits into `src_size`, at most `size`.

    >>> scale_down((640, 480), (720, 120))
    (640, 106)
    """
    return _largest((src_size[1], src_size[0]), size)


def color_normalize(src: Array, mean: Array | float, std: Array | float | None = None) -> Any:
    """Return (src - mean) / std, with numbers, or one for each channel.

    >>> from forerun import np
    >>> color_normalize(np.full((1, 1, 3), 5.0), np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[[2.0, 1.5, 1.0]]]
    """
    less = _image(src) - mean
    return less if std is None else less / std


_BORDERS = {0: "constant", 1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect"}  # OpenCV's numbers to NumPy's words


def copyMakeBorder(
    src: Array | numpy.ndarray,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,
    value: float = 0,
    values: Any = None,
) -> Any:
    """Return the image with a border: so many pixels above, below, left and right.

    type: 0 of one colour (`value`, or `values`, one for each channel), 1 the outermost pixels again, 2 mirrored, 3 from
    the other side, 4 mirrored without the outermost pixels. ValueError for another.

    >>> from forerun import np
    >>> copyMakeBorder(np.ones((1, 1, 1)), 0, 1, 1, 0, value=7)[..., 0].tolist()
    [[7.0, 1.0], [7.0, 7.0]]
    """
    x = _image(src)
    if type not in _BORDERS:
        raise ValueError(f"copyMakeBorder: type must be one of {sorted(_BORDERS)}, got {type}")
    widths, xp = ((top, bot), (left, right), (0, 0)), numpy if isinstance(x, numpy.ndarray) else np
    if type:
        return xp.pad(x, widths, mode=_BORDERS[type])
    if values is None:
        return xp.pad(x, widths, constant_values=value)
    planes = [xp.pad(x[..., i], widths[:2], constant_values=v) for i, v in enumerate(values)]
    return xp.stack(planes, axis=-1)


def imrotate(
    src: Array | numpy.ndarray, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False
) -> Array | numpy.ndarray:
    """Rotate images (channels, height, width) of float32, or a batch of such, counter-clockwise around the center.

    rotation_degrees: a number, or one for each image of a batch. Between pixels values are interpolated linearly;
    beyond the image they are 0. zoom_in: enlarged so that nothing of that is seen; zoom_out: made smaller so that all
    of the image is seen. Does not wait. ValueError with both, or for another shape; TypeError for another dtype.

    >>> from forerun import np
    >>> imrotate(np.array([[[1.0, 2.0], [3.0, 4.0]]]), 90).round(3).tolist()
    [[[2.0, 4.0], [1.0, 3.0]]]
    """
    x = _image(src)
    if zoom_in and zoom_out:
        raise ValueError("imrotate: zoom_in and zoom_out must not be given together, got both")
    if x.dtype != "float32":
        raise TypeError(f"imrotate: dtype must be float32, got {x.dtype}")
    if x.ndim not in (3, 4) or numpy.ndim(rotation_degrees) > x.ndim - 3:
        raise ValueError(f"imrotate: an angle must be given for each image, got {rotation_degrees} for {x.shape}")
    zoom = 1 if zoom_out else -1 if zoom_in else 0
    if isinstance(x, numpy.ndarray):
        return _turned(x, numpy.asarray(rotation_degrees), zoom)
    angles = asarray(numpy.asarray(rotation_degrees, "float64"))
    return host_op("imrotate", lambda v, a: _turned(v, a, zoom), [x, angles], x.shape, x.dtype)


def random_rotate(
    src: Array | numpy.ndarray, angle_limits: Sequence[float], zoom_in: bool = False, zoom_out: bool = False
) -> Any:
    """Return images as for `imrotate`, each turned by an angle between two limits."""
    angles = draws().uniform(*angle_limits, src.shape[0] if src.ndim == 4 else None)
    return imrotate(src, angles, zoom_in, zoom_out)


def _turned(values: numpy.ndarray, degrees: numpy.ndarray, zoom: int) -> numpy.ndarray:
    if values.ndim == 4:
        angles = numpy.broadcast_to(degrees, len(values))
        return numpy.stack([_turned(x, angle, zoom) for x, angle in zip(values, angles)])
    h, w = values.shape[1:]
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    larger = max(abs(c) + abs(s) * h / w, abs(c) + abs(s) * w / h)  # than the image is the frame around it
    y, x = (larger**zoom * (numpy.arange(n) - (n - 1) / 2) for n in (h, w))
    columns, rows = c * x - s * y[:, None] + (w - 1) / 2, s * x + c * y[:, None] + (h - 1) / 2
    return _sampled(values, rows, columns).astype("float32")


def _sampled(values: numpy.ndarray, rows: numpy.ndarray, columns: numpy.ndarray) -> numpy.ndarray:
    """Return values at places between pixels, from the four around each, of which those beyond the image are 0."""
    padded = numpy.pad(values, ((0, 0), (1, 1), (1, 1)))
    top, left = numpy.floor(rows).astype(int), numpy.floor(columns).astype(int)
    down, right = rows - top, columns - left
    corners = ((top, left, (1 - down) * (1 - right)), (top, left + 1, (1 - down) * right),
               (top + 1, left, down * (1 - right)), (top + 1, left + 1, down * right))  # fmt: skip
    limits = values.shape[1], values.shape[2]
    sampled: numpy.ndarray = sum(padded[:, numpy.clip(y, -1, limits[0]) + 1, numpy.clip(x, -1, limits[1]) + 1] * share
               for y, x, share in corners)  # fmt: skip
    return sampled
