"""Arrays as NumPy's, as buffers and through the protocols of other libraries."""

from __future__ import annotations

import re
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np


def test_array_protocol() -> None:
    x = np.arange(4.0)
    view = x.__array__()
    assert not view.flags.writeable
    assert x.__array__("float64").dtype == "float64"
    copy = x.__array__(copy=True)
    copy[0] = 9
    assert copy.flags.writeable
    assert x[0].item() == 0
    with pytest.raises(ValueError, match="copy=False"):
        x.__array__("float64", copy=False)
    with pytest.raises(ValueError):
        numpy.asarray(x, dtype="float64", copy=False)
    assert numpy.asarray(x, copy=False).tolist() == [0, 1, 2, 3]
    assert numpy.array(x).flags.writeable
    assert not hasattr(x, "__array_struct__")


@pytest.mark.parametrize("make", [
    lambda: np.arange(6, dtype="uint8").reshape(2, 3),
    lambda: np.arange(12.0).reshape(3, 4)[::2, ::-1],
    lambda: np.array(7),
    lambda: np.zeros((0, 3)),
])  # fmt: skip
def test_array_interface(make: Callable[[], Any]) -> None:
    """Libraries that know no buffers read a snapshot, which holds its memory."""
    x = make()
    before = x.numpy()
    reader = types.SimpleNamespace(__array_interface__=x.__array_interface__)
    x += 1
    del x
    seen = numpy.asarray(reader)
    assert (seen.tolist(), seen.dtype, seen.shape) == (before.tolist(), before.dtype, before.shape)
    assert not seen.flags.writeable


def test_array_interface_of_an_image() -> None:
    image = pytest.importorskip("PIL.Image")
    x = np.arange(24, dtype="uint8").reshape(2, 4, 3)
    for picture in (x, x[:, ::-1]):
        assert numpy.asarray(image.fromarray(picture)).tolist() == picture.tolist()


def test_array_interface_of_bfloat16() -> None:
    pytest.importorskip("ml_dtypes")
    assert not hasattr(np.zeros(2, dtype="bfloat16"), "__array_interface__")


def test_buffers() -> None:
    x = np.arange(6, dtype="int16").reshape(2, 3)
    m = memoryview(x[:, ::2])
    assert (m.format, m.shape, m.strides, m.readonly, m.itemsize) == ("h", (2, 2), (6, 4), True, 2)
    assert m.tolist() == [[0, 2], [3, 5]]
    m.release()
    assert bytes(x) == x.numpy().tobytes()
    assert bytes(np.array([3], dtype="uint8")) == b"\x03"
    formats = {"bool": "?", "uint8": "B", "float16": "e", "float32": "f", "float64": "d", "complex64": "Zf"}
    assert {d: memoryview(np.zeros(2, dtype=d)).format for d in formats} == formats
    with pytest.raises(TypeError, match="read-only"):
        memoryview(x)[0, 0] = 1
    assert b"".join([np.array([1, 2], dtype="uint8")]) == b"\x01\x02"


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 4)])
def test_an_empty_mask_of_several_axes_is_no_index_of_numpys_array(shape: tuple[int, ...]) -> None:
    mask, values = np.zeros(shape, dtype=bool), numpy.ones((*shape, 2))
    with pytest.raises(IndexError, match=rf"must be NumPy's .* of shape {re.escape(str(shape))}: pass"):
        values[mask]
    with pytest.raises(IndexError, match="an empty mask of several axes"):
        values[mask] = 1
    with pytest.raises(IndexError, match="an empty mask of several axes"):
        values[mask, 0] += 1
    assert values[mask.asnumpy()].shape == (0, 2)
    assert np.ones((*shape, 2))[mask].shape == (0, 2)
    assert [numpy.asarray(mask).shape, memoryview(mask).shape, numpy.array([mask])[0].shape] == [shape] * 3
    assert numpy.ones(0)[np.zeros(0, dtype=bool)].shape == (0,)


def test_arrays_can_be_referred_to_weakly() -> None:
    x = np.zeros(2)
    assert weakref.ref(x)() is x
