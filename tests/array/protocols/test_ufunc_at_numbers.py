"""`ufunc.at` with a number of any dtype and any kind of index: computed and cast as NumPy does it."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import np

NUMBERS: list[Any] = [3, -3, 300, 2.5, 2**40, numpy.float64(2.7), numpy.int64(3)]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "uint64", "int64", "float32", "float64"])
@pytest.mark.parametrize("ufunc", ["add", "subtract", "multiply", "maximum"])
def test_as_numpy(ufunc: str, dtype: str) -> None:
    for index in ([1], [0, 0, 3], 2, slice(1, 3), numpy.array([True, False, True, False, False])):
        for number in NUMBERS:
            outcomes = []
            for lib in (numpy, np):
                x: Any = lib.array(numpy.full(5, 7).astype(dtype))
                try:
                    with numpy.errstate(all="ignore"):
                        getattr(lib, ufunc).at(x, index, number)
                    outcomes.append(numpy.asarray(x).tolist())
                except TypeError:
                    outcomes.append(TypeError)
            assert outcomes[0] == outcomes[1], (index, number)
