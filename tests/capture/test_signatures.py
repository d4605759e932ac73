"""Which calls one program stands for: shapes, dtypes, layouts, plain arguments and written arrays."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, np, npx
from tests.support.comparison.bits import all_same_bits
from tests.support.gluon.hybrid_blocks import counting_block, program_count

pytestmark = pytest.mark.usefixtures("engine")


def test_a_program_is_replayed_for_the_same_shapes_and_dtypes() -> None:
    block, calls = counting_block()
    for shape, dtype in [((2,), "float32"), ((3,), "float32"), ((2,), "float64"), ((2, 1), "int32")]:
        for value in (1, 2, 3):
            y = block(np.full(shape, value, dtype=dtype))
            assert all_same_bits(y, numpy.full(shape, 2 * value, dtype))
    assert len(calls) == 4


def test_layouts_are_distinguished() -> None:
    block, calls = counting_block()
    x = numpy.arange(12.0, dtype="float32").reshape(3, 4)
    for look in (lambda a: a.T, lambda a: a[::2], lambda a: a[:, 1:], lambda a: a[::-1]):
        a, view = look(x), look(np.array(x))
        assert all_same_bits(block(view), a * 2)
        assert all_same_bits(block(view), a * 2)
    assert len(calls) == 4


def test_rows_of_a_larger_array_are_one_signature() -> None:
    block, calls = counting_block()
    x = np.array(numpy.arange(12.0, dtype="float32").reshape(6, 2))
    for i in range(0, 6, 2):
        assert all_same_bits(block(x[i : i + 2]), x.asnumpy()[i : i + 2] * 2)
    assert all_same_bits(block(np.ones((2, 2))), numpy.full((2, 2), 2, "float32"))
    assert len(calls) == 1


@pytest.mark.parametrize("factors", [(1, 1.0, True), (0.0, -0.0)])
def test_plain_arguments_are_part_of_the_signature(factors: tuple[Any, ...]) -> None:
    block, calls = counting_block()
    x = np.array([1.0, -2.0])
    for _ in range(2):
        for factor in factors:
            assert all_same_bits(block(x, factor), (x * factor).asnumpy())
    assert len(calls) == len(factors)


def test_calls_that_always_differ_run_as_written() -> None:
    """Capturing each of them would take many times as long as the calls."""
    block, calls = counting_block()
    x = np.array([1.0, -2.0])
    with pytest.warns(UserWarning, match="has been captured 64 times, .* pass numbers that change as arrays") as found:
        values = [block(x, float(k)).tolist() for k in range(64 + 3 * 128)]
    assert values == [[k, -2.0 * k] for k in range(64 + 3 * 128)]
    (warned,) = found
    assert "block(x, float(k))" in linecache.getline(warned.filename, warned.lineno)
    assert len(calls) == 64 + 3 * 128
    assert block._recorded.recorded._captures == 64 + 3
    for _ in range(3):  # the last one has a program
        assert block(x, float(64 + 3 * 128 - 1)).tolist() == [447.0, -894.0]
    assert len(calls) == 64 + 3 * 128


def test_the_order_of_names_is_part_of_the_signature() -> None:
    difference = forerun.hybrid(lambda given: given["a"] - given["b"])
    a, b = np.array([5.0]), np.array([3.0])
    assert [difference(given).item() for given in ({"a": a, "b": b}, {"b": b, "a": a}) for _ in range(2)] == [2.0] * 4


def test_numpy_arguments_are_not_frozen() -> None:
    block, _ = counting_block()
    for value in (1.0, 2.0):
        assert block(np.ones(1), numpy.array([value])).tolist() == [value]


def test_structures_of_arguments_and_results() -> None:
    class Cell(gluon.HybridBlock):
        def forward(self, x: Any, states: Any, scale: Any) -> Any:
            h, more = states
            return x + h, [more["c"] * scale, {"h": h}, None, 3]

    cell, plain = Cell(), Cell()
    cell.hybridize()
    for i in range(3):
        args = (np.full(2, i), [np.ones(2), {"c": np.full(2, 2.0)}], 0.5)
        y, (c, rest, none, three) = cell(*args)
        z, others = plain(*args)
        assert all_same_bits([y, c, rest["h"]], [z, others[0], others[1]["h"]])
        assert none is None
        assert three == 3
    assert program_count(cell) == 1


def test_two_arguments_that_share_memory() -> None:
    class Add(gluon.HybridBlock):
        def forward(self, x: Any, y: Any) -> Any:
            x += 1
            return x * y

    block = Add()
    block.hybridize()
    for _ in range(2):
        x, y = np.ones(2), np.ones(2)
        assert block(x, y).tolist() == [2.0, 2.0]
        assert x.tolist() == [2.0, 2.0]
        assert block(x, x).tolist() == [9.0, 9.0]
    assert program_count(block) == 2


def test_writing_into_a_part_of_an_argument() -> None:
    class Fill(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            x[:] = 7
            return x + 1

    block = Fill()
    block.hybridize()
    for _ in range(3):
        whole = np.zeros((3, 2))
        assert block(whole[1:2]).tolist() == [[8.0, 8.0]]
        assert whole.tolist() == [[0, 0], [7, 7], [0, 0]]


def test_default_dtype_is_part_of_the_signature() -> None:
    class Ones(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return x + np.ones(2)

    block, x = Ones(), np.zeros(2, dtype="float32")
    block.hybridize()
    assert block(x).dtype == "float32"
    npx.set_np(dtype=True)
    assert block(x).dtype == "float64"
    assert block(x).dtype == "float64"


@pytest.fixture
def twice() -> Iterator[Any]:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x * 2

    f.calls = calls  # type: ignore[attr-defined]
    return f


def test_functions_may_be_hybrid(twice: Any) -> None:
    quick = forerun.hybrid(twice)
    for value in (1.0, 2.0, 3.0):
        x = np.array([value])
        x.attach_grad()
        with autograd.record():
            y = quick(x)
        y.backward()
        assert (y.item(), x.grad.item()) == (2 * value, 2)
    assert len(twice.calls) == 1
    assert quick.__name__ == "f"
