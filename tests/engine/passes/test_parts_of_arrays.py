"""Groups that use several parts of one array: fused where the parts do not overlap, and in order where they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import np, npx
from forerun.testing import closed_gate
from tests.support.engine.passes import check_all_passes, random_floats, results_and_pass_counts

pytestmark = pytest.mark.usefixtures("any_op_is_worth_a_group")

ROWS, COLUMNS = 40, 50


def planes(x: Any) -> Any:
    """Each plane of the last axis is written."""
    out = np.empty((ROWS, COLUMNS, 3), dtype="float32")
    a = x * 2 + 1
    out[..., 0] = a
    b = a * 3 - x
    out[..., 1] = b
    out[..., 2] = a * b
    return out


def written_halves(x: Any) -> Any:
    """The second half is computed from the first one, which was written before."""
    out = np.empty((2, ROWS, COLUMNS), dtype="float32")
    out[0] = x * 2
    out[1] = out[0] - x
    return out


def columns_in_turn(x: Any) -> Any:
    """Even columns take the values of odd ones, which then change."""
    y = x + 0
    y[:, ::2] += y[:, 1::2]
    y[:, 1::2] = y[:, ::2] * 0.5
    return y


def read_before_it_is_written(x: Any) -> Any:
    y = np.stack([x, x + 1])
    c = y[1] * 2
    y[0] = c
    y[1] = c + y[0]
    return y, c


@pytest.mark.parametrize(("program", "operations"), [(planes, 8), (written_halves, 4)])
def test_parts_that_do_not_overlap_are_written_by_one_group(improving, program, operations):
    _, did = results_and_pass_counts(program, random_floats(ROWS, COLUMNS))
    assert (did["groups"], did["grouped"]) == (1, operations)


def test_uninitialised_arrays_are_no_slow_operations_after_host_tasks(improving):
    """Planning waits for host tasks; the operation of `np.empty` may be made in the memory of one that has ended."""
    for tasks in range(8, 400, 8):
        with closed_gate():
            ended = [npx.host(lambda v: v, [np.ones(3)], [((3,), "float64")]) for _ in range(tasks)]
        forerun.waitall()
        del ended
        _, did = results_and_pass_counts(planes, random_floats(ROWS, COLUMNS))
        assert (did["groups"], did["grouped"]) == (1, 8)


@pytest.mark.parametrize("program", [planes, written_halves, columns_in_turn, read_before_it_is_written])
def test_parts_have_the_bits_of_each_operation_alone(program):
    check_all_passes(program, random_floats(ROWS, COLUMNS))


def test_parts_that_overlap_are_written_in_order(improving):
    def program(x: Any) -> Any:
        out = np.zeros((ROWS + 1, COLUMNS), dtype="float32")
        out[:-1] = x * 2
        out[1:] = x * 3
        return out

    x = random_floats(ROWS, COLUMNS)
    expected = numpy.concatenate([x[:1] * 2, x * 3])
    out, did = results_and_pass_counts(program, x)
    assert did["groups"] <= 2
    numpy.testing.assert_array_equal(out.asnumpy(), expected)
    check_all_passes(program, x)


def test_a_part_that_reads_over_two_written_ones_is_of_another_group():
    def program(x: Any) -> Any:
        out = np.zeros((4, ROWS, COLUMNS), dtype="float32")
        out[0] = x * 2
        out[1] = x * 3
        both = out[:2] + 1
        out[1] = x * 5
        return out, both, out[1] - both[1]

    check_all_passes(program, random_floats(ROWS, COLUMNS))


def random_parts_program(seed: int) -> Callable[[Any], Any]:
    """Twelve steps: each writes a part of an array, from parts of it, from other values and from earlier results."""

    def program(x: Any) -> Any:
        rng = numpy.random.default_rng(seed)
        y = np.stack([x, x * 2, x * 3, x * 4])
        values = [x]
        for _ in range(12):
            kind, to, source = rng.integers(0, 5), *rng.integers(0, 4, 2)
            value = values[rng.integers(len(values))]
            if kind == 0:
                y[to] = value * 0.5 + y[source]
            elif kind == 1:
                y[to] += value
            elif kind == 2:
                values.append(y[source] - value)
            elif kind == 3:
                y[to, ::2] = value[::2] + y[source, 1::2]
            else:
                low = rng.integers(0, 3)
                y[low : low + 2] = y[2 - low : 4 - low] * 0.25 + value
        return y, values

    return program


@pytest.mark.parametrize("seed", range(25))
def test_random_programs_on_parts(seed):
    check_all_passes(random_parts_program(seed), random_floats(ROWS, COLUMNS))
