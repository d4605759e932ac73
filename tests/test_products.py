"""Matrix products: however they are cut, and whatever the strides, their values; and that workers do not show."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import np
from settings import configured

# What is cut: into nothing, in two, in four, along one side, by vectors' memory, in groups of a batch.
SHAPES = [
    ((64, 64), (64, 64)),
    ((245, 247), (247, 251)),
    ((249, 245), (245, 251)),
    ((256, 256), (256, 256)),
    ((257, 255), (255, 259)),
    ((600, 601), (601, 602)),
    ((8, 900), (900, 3000)),
    ((3000, 900), (900, 8)),
    ((20_000, 4), (4, 300)),
    ((1, 2000), (2000, 700)),
    ((700, 2000), (2000, 1)),
    ((37, 20, 30), (37, 30, 40)),
    ((64, 64, 64), (64, 64, 64)),
    ((3, 300, 300), (300, 300)),
    ((2, 1, 64, 64), (3, 64, 64)),
    ((5, 1, 300), (5, 300, 7)),
]


def operands(a: tuple[int, ...], b: tuple[int, ...], dtype: str) -> list[numpy.ndarray]:
    rng = numpy.random.default_rng(7)
    return [
        (rng.standard_normal(s) + (1j * rng.standard_normal(s) if dtype[0] == "c" else 0)).astype(dtype)
        for s in (a, b)
    ]


def close(product: Any, a: numpy.ndarray, b: numpy.ndarray) -> None:
    """Within what rounding each of k steps allows."""
    exact = a.astype("complex128") @ b.astype("complex128")
    scale = numpy.abs(a).astype("float64") @ numpy.abs(b).astype("float64")
    error = numpy.abs(product.asnumpy() - exact) / scale
    assert product.dtype == a.dtype
    assert error.max() < 4 * numpy.finfo(a.dtype).eps * a.shape[-1] ** 0.5


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_are_right_however_they_are_cut(a, b, dtype):
    x, y = operands(a, b, dtype)
    close(np.array(x) @ np.array(y), x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_number_of_workers_does_not_show_in_products(dtype):
    pairs = [operands(a, b, dtype) for a, b in SHAPES]

    def bits(**settings: Any) -> list[bytes]:
        with configured(**settings):
            products = [np.array(x) @ np.array(y) for x, y in pairs]
            return [p.asnumpy().tobytes() for p in products]

    expected = bits(engine="sync")
    for workers in (1, 2, 4):
        assert bits(engine="async", workers=workers) == expected


VIEWS = {
    "transposed": lambda x: np.array(x.swapaxes(-1, -2)).swapaxes(-1, -2),
    "every second row": lambda x: np.array(numpy.repeat(x, 2, -2))[..., ::2, :],
    "every second column": lambda x: np.array(numpy.repeat(x, 2, -1))[..., ::2],
    "backwards": lambda x: np.array(x[..., ::-1, :])[..., ::-1, :],
    "within wider rows": lambda x: np.array(numpy.concatenate([x, x], -1))[..., : x.shape[-1]],
}


@pytest.mark.parametrize("first", VIEWS)
@pytest.mark.parametrize("second", VIEWS)
@pytest.mark.parametrize(
    "shapes", [((300, 200), (200, 310)), ((9, 30, 20), (9, 20, 10)), ((5, 7, 1), (5, 1, 9))]
)
def test_products_of_views(shapes, first, second):
    x, y = operands(*shapes, "float32")
    close(VIEWS[first](x) @ VIEWS[second](y), x, y)


def test_broadcast_batches_share_an_operand():
    x, y = operands((4, 30, 20), (1, 20, 30), "float32")
    shared = np.broadcast_to(np.array(y), (4, 20, 30))
    close(np.array(x) @ shared, x, numpy.broadcast_to(y, (4, 20, 30)))
