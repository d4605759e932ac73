"""Calls of NumPy's functions, and of those of its kind, with forerun's arrays: results as NumPy's, without a wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy.testing import assert_array_equal

import forerun
from forerun import _core
from forerun.np import ndarray
from forerun.testing import closed_gate
from tests.ops.cases.table import to_forerun

F32 = numpy.array([0.5, 1.0, 2.0, 3.5], "float32")
INTS = numpy.array([3, 1, 2, 4])
GRID = numpy.arange(1, 13, dtype="float32").reshape(3, 4)
MATRICES = numpy.array([[[2, 1], [1, 3]], [[1, 0], [2, 4]]], "float32")


def check_against_numpy(function: Callable[..., Any], *args: Any, rtol: float = 0.0, **kwargs: Any) -> None:
    """The same results as with NumPy's arrays, and without a wait."""
    want = function(*args, **kwargs)
    positional, named = to_forerun(args), {k: to_forerun(v) for k, v in kwargs.items()}
    forerun.waitall()
    waits = _core.stats()["waits"]
    with closed_gate():
        found = function(*positional, **named)
        assert _core.stats()["waits"] == waits
    pairs = zip(found, want, strict=True) if isinstance(want, tuple) else [(found, want)]
    for f, w in pairs:
        assert isinstance(f, ndarray)
        assert (f.shape, f.dtype) == (w.shape, w.dtype)
        numpy.testing.assert_allclose(f.numpy(), w, rtol=rtol, atol=0) if rtol else assert_array_equal(f.numpy(), w)
