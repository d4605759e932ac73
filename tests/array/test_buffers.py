"""The buffer of an array: values as bytes, which stay where they are for readers that keep the address alone."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.engine.waiting import result_without_waiting

SIZES = (0, 1, 3, 8, 9, 100, 10_000)


@pytest.mark.parametrize("n", SIZES)
def test_an_array_of_numpy_on_the_memory_of_another(n: int) -> None:
    """NumPy keeps the array that it got, and no buffer of it."""
    x = np.arange(n, dtype="float64") / 2
    found: Any = numpy.ndarray((n,), "float64", x)
    others = [np.full(n, 7.0) * 2 for _ in range(100)], [numpy.full(n, 7.0) for _ in range(100)]
    assert found.base is x
    assert found.tolist() == [k / 2 for k in range(n)]
    assert not found.flags.writeable
    del others


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32", "float64", "complex64"])
@pytest.mark.parametrize("n", SIZES)
def test_bytes_are_numpys(n: int, dtype: str) -> None:
    x = np.arange(n).astype(dtype)
    for y in (x, x[n // 2 :], x[::2]):
        assert bytes(y) == y.asnumpy().tobytes()
        if dtype != "complex64":  # which memoryview cannot read
            assert memoryview(y).tolist() == y.tolist()
    for y in (x, x[n // 2 :]):
        assert hashlib.sha1(y).digest() == hashlib.sha1(y.asnumpy()).digest()
        if y.size:
            assert numpy.frombuffer(y, dtype).tolist() == y.tolist()


def test_a_buffer_for_writing_is_refused_without_a_wait() -> None:
    """Julia's PyCall asks the result of each call for one."""
    x = np.zeros(3)

    def write() -> None:
        y = x + 1
        with pytest.raises(TypeError, match="read-write"):
            struct.pack_into("f", y, 0, 1.0)

    result_without_waiting(write)
