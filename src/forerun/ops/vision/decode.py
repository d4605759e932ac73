"""Images in files, read by Pillow (`pip install forerun[image]`)."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .resize import pillow

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["decoded", "imdecode", "imread", "values_in"]


def imread(filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True) -> Array:
    """Return the image in a file. Waits for the file.

    Parameters
    ----------
    filename : path
        The file, of any format that Pillow reads.
    flag : int, optional
        1 for three channels, 0 for one, of greys.
    to_rgb : bool, optional
        Whether channels are red, green, blue; otherwise blue, green, red.

    Returns
    -------
    array
        uint8, of shape (height, width, 3), or (height, width, 1) of greys.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If the file holds no image, or one that is larger than Pillow's limit.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (4, 2), "red").save(f"{folder}/x.png")
    ...     imread(f"{folder}/x.png")[0, 0].tolist()
    [255, 0, 0]
    """
    return _core.from_numpy(values_in(filename, flag, to_rgb))


def imdecode(buf: bytes, flag: int = 1, to_rgb: bool = True) -> Array:
    """Return the image in the bytes of a file. It is computed in the call.

    Parameters
    ----------
    buf : bytes
        The contents of the file.
    flag : int, optional
        1 for three channels, 0 for one, of greys.
    to_rgb : bool, optional
        Whether channels are red, green, blue; otherwise blue, green, red.

    Returns
    -------
    array
        uint8, of shape (height, width, 3), or (height, width, 1) of greys.

    Raises
    ------
    ValueError
        If the bytes hold no image, or one that is larger than Pillow's limit.

    Examples
    --------
    >>> import io
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (4, 2), "blue").save(file, "png")
    >>> imdecode(file.getvalue(), flag=0).shape
    (2, 4, 1)
    """
    return _core.from_numpy(decoded(buf, flag, to_rgb))


def values_in(filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True) -> numpy.ndarray:
    """Return the image in a file as a NumPy array; as `imread`.

    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (4, 2), "red").save(f"{folder}/x.png")
    ...     values_in(f"{folder}/x.png", flag=0).shape
    (2, 4, 1)
    """
    with open(filename, "rb") as file:
        content = file.read()
    try:
        return decoded(content, flag, to_rgb)
    except ValueError as error:
        error.add_note(f"in {os.fspath(filename)}")
        raise


def decoded(buf: bytes, flag: int = 1, to_rgb: bool = True) -> numpy.ndarray:
    """Return the image in the bytes of a file as a NumPy array; as `imdecode`.

    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (4, 2), "red").save(file, "png")
    >>> decoded(file.getvalue(), to_rgb=False)[0, 0].tolist()
    [0, 0, 255]
    """
    pil = pillow()
    try:
        values = numpy.asarray(pil.open(io.BytesIO(buf)).convert("RGB" if flag else "L"))
    except (OSError, pil.DecompressionBombError) as error:
        raise ValueError(f"imdecode: buf must hold an image, got {len(buf)} bytes: {error}") from None
    values = values if flag else values[..., None]
    return numpy.ascontiguousarray(values if to_rgb or not flag else values[..., ::-1])
