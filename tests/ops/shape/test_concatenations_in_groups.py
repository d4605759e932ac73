"""Concatenations, of which `roll` is made, run within groups of element-wise operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.engine.passes import check_all_passes, random_floats

pytestmark = pytest.mark.usefixtures("any_op_is_worth_a_group")


def check_groups(program: Callable[..., Any], *inputs: numpy.ndarray) -> dict[str, int]:
    """Compares a program `f(module, *arrays)` with NumPy, and any choice of passes with each other."""
    numpy.testing.assert_array_equal(numpy.asarray(program(np, *map(np.array, inputs))), program(numpy, *inputs))
    return check_all_passes(lambda *arrays: program(np, *arrays), *inputs)


class TestRolls:
    @pytest.mark.parametrize(
        ("shape", "axis", "shift"),
        [((9000,), 0, 1), ((9000,), 0, -4096), ((70, 90), 0, 3), ((70, 90), 1, -1), ((70, 90), 1, 45),
         ((7, 9, 11), 1, 2), ((7, 9, 11), 2, 10), ((2, 1, 3000), 2, 1), ((3000, 1), 0, 5), ((3, 1, 1000), 0, 2),
         ((70, 90), None, 100)],
    )  # fmt: skip
    def test_is_a_part_of_a_group(self, shape, axis, shift):
        did = check_groups(lambda m, x: m.roll(x, shift, axis) * 2 + x, random_floats(*shape))
        assert (did["groups"], did["grouped"]) == (1, 3)
        assert did["elided"] == 2 * 4 * numpy.prod(shape)

    def test_of_both_axes_in_a_stencil(self):
        def laplacian(m: Any, u: Any) -> Any:
            around = m.roll(u, 1, 0) + m.roll(u, -1, 0) + m.roll(u, 1, 1) + m.roll(u, -1, 1)
            return around - 4 * u

        assert check_groups(laplacian, random_floats(123, 77, dtype="float64"))["groups"] == 1

    @pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float32", "int64", "complex128"])
    def test_of_elements_of_any_size(self, dtype):
        did = check_groups(lambda m, x: m.roll(x, 3, 1) == x, (random_floats(33, 65) > 0).astype(dtype))
        assert did["grouped"] == 2

    @pytest.mark.parametrize("axis", [0, 1])
    def test_before_a_reduction(self, axis):
        did = check_groups(lambda m, x: m.roll(x, 1, 0).max(axis) + 1, numpy.round(random_floats(130, 90) * 8))
        assert did["grouped"] >= 2


class TestHazards:
    def test_source_is_computed_in_the_group(self):
        check_groups(lambda m, x: m.roll(x * 2, 1, 0) + x * 2, random_floats(90, 50))

    def test_source_is_written_later(self):
        def program(m: Any, x: Any) -> Any:
            before = m.roll(x, 1, 0) + 1
            x += before
            return x - before

        check_groups(lambda m, x: program(m, x.copy()), random_floats(90, 50))

    def test_source_is_written_before(self):
        def program(m: Any, x: Any) -> Any:
            x[3:] *= 2
            return m.roll(x, 1, 1) + x

        check_groups(lambda m, x: program(m, x.copy()), random_floats(90, 50))

    def test_source_ends_with_the_group(self):
        """Its memory is not given to a result that is written while others are read."""

        def program(m: Any, x: Any) -> Any:
            y = x + 1
            return (m.roll(y, 7, 0) + m.roll(y, 1, 1)) * y

        check_groups(program, random_floats(300, 100))


class TestConcatenations:
    @pytest.mark.parametrize("axis", [0, 1])
    @pytest.mark.parametrize("n", [1, 2, 5, 6])
    def test_of_several_arrays(self, n, axis):
        did = check_groups(
            lambda m, *arrays: m.concatenate(arrays, axis) * 2, *(random_floats(30, 40) + i for i in range(n))
        )
        assert did["grouped"] == (2 if n < 6 else 0)

    def test_of_unequal_arrays_and_slices(self):
        check_groups(
            lambda m, x, y: 1 / m.concatenate([x[2:, 1:4], y, x[:8, -1:]], 1),
            random_floats(10, 20),
            random_floats(8, 300),
        )

    @pytest.mark.parametrize("layout", ["transposed", "every other", "backwards", "repeated", "inner repeated"])
    def test_of_other_layouts(self, layout):
        def program(m: Any, x: Any) -> Any:
            one = {
                "transposed": lambda: x.T,
                "every other": lambda: x[:, ::2],
                "backwards": lambda: x[::-1],
                "repeated": lambda: m.broadcast_to(x[0], (40, 40)),
                "inner repeated": lambda: m.broadcast_to(x[:, :1], (40, 40)),
            }[layout]()
            return m.concatenate([one, x[:, :2]], 1) + 1

        check_groups(program, random_floats(40, 40))

    def test_with_an_empty_one(self):
        check_groups(lambda m, x: m.concatenate([x[:0], x, x[5:5]]) + 1, random_floats(40, 3))

    def test_concatenation_with_boxes_of_arrays(self):
        """A group that would compute rows with the gaps between them."""

        def program(m: Any, x: Any) -> Any:
            inner = x[1:-1, 1:-1] - x[:-2, 1:-1] * x[2:, 1:-1] + x[1:-1, 2:]
            return inner + m.roll(inner * 0 + x[1:-1, :-2], 1, 0), inner * m.concatenate([x[:40, 1:-1], x[-40:, 1:-1]])

        check_all_passes(lambda x: program(np, x), random_floats(82, 34))
