"""Results have the order of axes in memory that NumPy gives them, and NumPy's bits, for operands in any order."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "operators": lambda m, x, y: x * y + 1,
    "number": lambda m, x, y: 2 - x,
    "comparison": lambda m, x, y: x > y,
    "one operand": lambda m, x, y: m.sqrt(abs(x)),
    "two results": lambda m, x, y: m.modf(x)[0],
    "complex": lambda m, x, y: (x + 1j).conj(),
    "where": lambda m, x, y: m.where(x > y, x, 0.0),
    "astype": lambda m, x, y: x.astype("float32"),
    "copy": lambda m, x, y: m.copy(x),
    "copy in C order": lambda m, x, y: x.copy(),
    "array": lambda m, x, y: m.array(x),
    "array of another dtype": lambda m, x, y: m.array(x, "int32"),
    "array in C order": lambda m, x, y: m.array(x, order="C"),
    "astype in C order": lambda m, x, y: x.astype("float32", order="C"),
    "list": lambda m, x, y: m.array([x, x]),
    "list of a dtype": lambda m, x, y: m.array([x, x], "float32"),
    "sort": lambda m, x, y: m.sort(x, 0),
    "cumsum": lambda m, x, y: m.cumsum(x, -1),
    "concatenate": lambda m, x, y: m.concatenate([x, x]),
    "stack": lambda m, x, y: m.stack([x, x]),
    "max": lambda m, x, y: x.max(0),
    "max, kept": lambda m, x, y: x.max(-1, keepdims=True),
    "clip": lambda m, x, y: m.clip(x, 1, 3),
}  # fmt: skip


def in_any_order(choose: random.Random, shape: list[int]) -> Callable[[Any], Any]:
    """Return a function that makes an array of that shape, of random integers, with axes in a random order.

    Some axes are reversed, others have gaps between their elements.
    """
    axes = list(range(len(shape)))
    choose.shuffle(axes)
    steps = [choose.choice([1, 1, 1, 2, -1]) for _ in shape]
    extents = [shape[i] * abs(steps[i]) for i in axes]
    values = numpy.random.default_rng(choose.randrange(9**9)).integers(-9, 9, extents).astype("float64")

    def made(m: Any) -> Any:
        transposed = m.array(values).transpose([axes.index(i) for i in range(len(shape))])
        return transposed[tuple(slice(None, None, step) for step in steps)]

    return made


def order_of(x: Any) -> list[tuple[int, int]]:
    """Return the steps and extents of the axes with several elements."""
    return [(step, n) for step, n in zip(x.strides, x.shape) if n > 1]


@pytest.mark.parametrize("name", CALLS)
def test_results_have_numpys_order(name: str) -> None:
    choose = random.Random(name)
    for _ in range(60):
        shape = [choose.choice([1, 2, 3, 4]) for _ in range(choose.randint(1, 4))]
        x = in_any_order(choose, shape)
        y = in_any_order(choose, [n if choose.random() < 0.7 else 1 for n in shape][choose.randint(0, 1) :])
        want, got = CALLS[name](numpy, x(numpy), y(numpy)), CALLS[name](np, x(np), y(np))
        assert got.dtype == want.dtype
        assert numpy.array_equal(got, want), (shape, x(numpy).strides)
        assert order_of(got) == order_of(want), (shape, x(numpy).strides, y(numpy).strides)


@pytest.mark.parametrize("extents", [(3, 4), (60, 70), (2, 30, 40)])
def test_chains_over_orders_have_numpys_bits(extents: tuple[int, ...]) -> None:
    """Operations over arrays in both orders are in one group, and write into either."""

    def chain(m: Any) -> list[Any]:
        a = m.array(values)
        transposed = m.array(values.T.copy()).T
        total = transposed * 2 + a
        transposed += 1
        transposed[1:] *= a[1:]
        a -= transposed
        out = m.zeros(extents[::-1], "float64").T
        m.multiply(transposed, total, out=out)
        m.add(out, a, out=a)
        transposed[...] = transposed * out - a
        return [a, transposed, total, out, (transposed.T * 2).T, transposed.T + 1]

    values = numpy.random.default_rng(0).random(extents)
    for got, want in zip(chain(np), chain(numpy)):
        assert got.strides == want.strides
        assert got.numpy().tobytes() == want.tobytes()


def test_new_arrays_have_the_order_of_the_one_that_they_are_like() -> None:
    views = (lambda x: x, lambda x: x.T, lambda x: x[:, ::2].T, lambda x: x[:, :1], lambda x: x[0], lambda x: x[None].T)
    for view in views:
        for make in ("zeros_like", "ones_like", "empty_like"):
            want, got = (getattr(m, make)(view(m.ones((3, 4), "float64"))) for m in (numpy, np))
            assert got.strides == want.strides
    assert np.zeros_like(np.ones((2, 3, 4)).transpose(1, 2, 0)).flags.c_contiguous  # in neither order


def test_a_ufunc_takes_the_order_of_its_results() -> None:
    x, y = numpy.arange(6.0).reshape(3, 2).T, numpy.ones((2, 3))
    for order in "KCFA":
        got = numpy.add(np.array(x), np.array(y), order=order), numpy.negative(np.array(x), order=order)
        want = numpy.add(x, y, order=order), numpy.negative(x, order=order)
        assert [r.strides for r in got] == [r.strides for r in want], order
