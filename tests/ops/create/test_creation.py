"""Parameters of creation that libraries use: shape and order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np

LIKE: dict[str, Callable[..., Any]] = {
    "empty_like": np.empty_like,
    "zeros_like": np.zeros_like,
    "ones_like": np.ones_like,
    "full_like": lambda x, *args, **kwargs: np.full_like(x, 7, *args, **kwargs),
}
SHAPED: dict[str, Callable[..., Any]] = {
    "empty": np.empty,
    "zeros": np.zeros,
    "ones": np.ones,
    "full": lambda *args, **kwargs: np.full(args[0], 7, *args[1:], **kwargs),
}


@pytest.mark.parametrize("name", LIKE)
@pytest.mark.parametrize("shape", [(2, 3), 4, (), (0, 2)])
def test_like_takes_another_shape(name: str, shape: Any) -> None:
    x = np.arange(3, dtype="int16")
    made = LIKE[name](x, shape=shape)
    assert made.shape == numpy.empty(shape).shape
    assert made.dtype == numpy.int16
    assert LIKE[name](x, "float64", "C", True, shape).dtype == numpy.float64
    if name != "empty_like":
        assert set(made.ravel().tolist()) <= {0, 1, 7}


@pytest.mark.parametrize("name", [*LIKE, *SHAPED])
def test_order_is_that_of_memory(name: str) -> None:
    make = LIKE[name] if name in LIKE else SHAPED[name]
    first = np.zeros((2, 3)) if name in LIKE else (2, 3)
    for order, steps in (("C", (3, 1)), ("F", (1, 2))):
        x = make(first, None, order)
        assert x.strides == tuple(n * x.itemsize for n in steps)
    with pytest.raises(ValueError, match=f"{name}: order must be one of C, F, A, K, got 'Q'"):
        make(first, order="Q")


def test_like_is_where_its_prototype_is(two_devices: list[Any]) -> None:
    there = np.ones(2, device=two_devices[1])
    for name, make in LIKE.items():
        assert make(there).device == two_devices[1], name
        assert make(there, device=two_devices[0]).device == two_devices[0], name
