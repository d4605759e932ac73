"""Long groups: hundreds of element-wise operations in one pass, pairs of them in one loop, slices among them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import np
from forerun.testing import closed_gate
from tests.support.engine.passes import ALL, check_all_passes, random_floats, results_and_pass_counts
from tests.support.engine.settings import configured

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv)


pytestmark = pytest.mark.usefixtures("any_op_is_worth_a_group")


def compare_with_numpy(program: Callable[..., Any], *inputs: Any) -> dict[str, int]:
    """Compares a program's results with NumPy's, in sync mode and in groups; returns the counts of the passes."""
    with numpy.errstate(all="ignore"):
        expected = [x.tobytes() for x in program(numpy, *(numpy.array(x) for x in inputs))]
    with configured(engine="sync"):
        assert [x.asnumpy().tobytes() for x in program(np, *map(np.array, inputs))] == expected
    did: dict[str, int] = {}
    for settings in ({"workers": 1, "passes": ALL}, {"workers": 3, "passes": "fuse,reuse"}):
        with configured(engine="async", **settings):
            results, did = results_and_pass_counts(lambda *x: program(np, *x), *inputs)
            assert [x.asnumpy().tobytes() for x in results] == expected, settings
    return did


# --- length -----------------------------------------------------------------------------------------------------


def test_a_loop_that_adds_to_two_arrays_is_one_group():
    def program(xp: Any, x: Any) -> list[Any]:
        totals = [xp.zeros_like(x), xp.zeros_like(x)]
        for k in range(20):
            weight = (x - k) * (x + k)
            totals[0] += weight * x
            totals[1] += weight
        return totals

    did = compare_with_numpy(program, random_floats(40, 50))
    assert did["groups"] == 1
    assert did["grouped"] >= 20 * 6
    assert did["elided"] == 20 * 4 * 40 * 50 * 4


def exponential_series(x: Any, degree: int) -> Any:
    y = x * 0.5
    for i in range(degree):
        y = y * x + 1.0 / (i + 1)
    return y


@pytest.mark.parametrize("n", [20, 2049, 70_000])
def test_hundreds_of_operations_are_one_group(n):
    did = compare_with_numpy(lambda _, x: [exponential_series(x, 200)], random_floats(n, dtype="float64"))
    assert did["groups"] == 1
    assert did["grouped"] == 401
    assert did["elided"] == 400 * n * 8


def test_arrays_larger_than_the_cache():
    """Lines of the next block are fetched beside the steps of this one."""

    def program(lib: Any, x: Any, y: Any, row: Any) -> list[Any]:
        z = (x - y) * (x + y) + row
        return [z / (1.0 + z * z), (z[:, :1000] + x[:, :1000]) * y[:, :1000] - 0.5, x * 2.0]

    for n in (131, 1100):
        compare_with_numpy(
            program, *(random_floats(n, 1031, dtype="float64") for _ in range(2)), random_floats(1031, dtype="float64")
        )


def test_the_size_of_a_group_is_bounded():
    did = check_all_passes(lambda x: exponential_series(x, 700), random_floats(300))
    assert 2 <= did["groups"] <= 4
    assert did["grouped"] == 1401


def test_the_same_program_is_grouped_the_same_way():
    def program(_: Any, x: Any, y: Any) -> list[Any]:
        a, b = exponential_series(x, 30), exponential_series(y, 30)
        return [a * b, numpy.sqrt(b * b) if _ is numpy else np.sqrt(b * b)]

    seen = {
        tuple(sorted(compare_with_numpy(program, random_floats(5000), random_floats(5000)).items())) for _ in range(3)
    }
    assert len(seen) == 1


def test_a_group_is_halved_when_memory_does_not_admit_it():
    n, parts = 50_000, 40
    with configured(engine="async", workers=1, passes=ALL):
        x = np.array(random_floats(n))
        forerun.waitall()
        before = forerun.stats()
        limit = forerun.memory()["live"] + (parts // 2) * n * 4
        with configured(memory_limit=limit, workers=1, passes=ALL):
            x = np.array(random_floats(n))
            forerun.waitall()
            with closed_gate():
                results = [x * float(i) for i in range(parts // 3)]
            total = sum(float(y.sum()) for y in results)
        assert total == pytest.approx(
            float(random_floats(n).astype("float64").sum()) * sum(range(parts // 3)), rel=1e-3
        )
        assert forerun.stats()["grouped"] - before["grouped"] >= 2


# --- pairs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("first", "second"), [*itertools.product(ARITHMETIC, ARITHMETIC)])
def test_pairs_of_arithmetic_round_twice(first, second, dtype):
    """For each place of a number among the operands, either side, lengths with and without a rest, and in place."""

    def program(lib: Any, a: Any, b: Any, c: Any) -> list[Any]:
        results = []
        for x, y, z in ((a, b, c), (a, b, 1.7), (2.3, b, c), (a, 0.3, c), (1.1, b, 0.7), (a, 5.5, 1.3)):
            results += [second(first(x, y), z), second(z, first(x, y))]
        d = a + b
        d *= c
        results += [lib.square(first(a, b)), lib.square(first(0.7, b)), lib.square(first(a, 3.1))]
        return [*results, d, second(first(d, d), d), (a * a) * c, lib.square(a * a)]

    for n in (1, 3, 64, 1025, 5003):
        did = compare_with_numpy(program, *(random_floats(n, dtype=dtype) * k for k in (1, 3, -2)))
        assert did["grouped"] >= 24


def test_operands_overwritten_within_a_pair():
    """The first of a pair is computed later than it was issued: not after its operands have been replaced."""

    def program(_: Any, a: Any, b: Any) -> list[Any]:
        x = a + 1.0
        t = x * b  # its partner comes when x is another
        x *= 2.0
        u = x - b
        b += 1.0
        return [t + u, x, b, u * b]

    compare_with_numpy(program, random_floats(3000), random_floats(3000) + 3)


@pytest.mark.parametrize("seed", range(24))
def test_random_strings_of_arithmetic(seed):
    """Arrays die at random, so results take over their memory; numbers, rows and columns are among the operands."""
    shape = [(7,), (33, 40), (5, 700), (2048,), (3, 4, 26), (17, 1001)][seed % 6]
    dtype = ("float64", "float32")[seed % 2]

    def program(lib: Any, *inputs: Any) -> list[Any]:
        pick = numpy.random.default_rng(seed)
        live, rows = list(inputs[:3]), list(inputs[3:])
        for _ in range(150):
            a, b = live[pick.integers(len(live))], live[pick.integers(len(live))]
            kind = pick.integers(12)
            other = (b, b, 0.75, rows[0], rows[1])[pick.integers(5)]
            if kind < 6:
                made = ARITHMETIC[kind % 3](*((a, other) if pick.integers(2) else (other, a)))
            elif kind == 6:
                made = a / (1.5 + lib.abs(b))
            elif kind == 7:
                made = lib.where(a > b, a, 0.5 * b)
            elif kind == 8:
                made = lib.maximum(lib.sqrt(lib.abs(a)), -b)
            elif kind == 9:
                a *= 0.5
                made = a.copy()
            elif kind == 10:
                a[..., 1:] = b[..., :-1]
                a[..., :-1] += b[..., 1:]
                made = a[..., ::-1] * 1.0
            else:
                made = (a * a).astype("float32").astype(dtype)
            live.append(lib.clip(made, -9.0, 9.0))
            if len(live) > 8:
                del live[pick.integers(len(live))]
        return live

    arrays = [random_floats(*shape, dtype=dtype) * k for k in (1, 2, 3)]
    rows = [random_floats(shape[-1], dtype=dtype), random_floats(*shape[:-1], 1, dtype=dtype)]
    compare_with_numpy(program, *arrays, *rows)


# --- slices -----------------------------------------------------------------------------------------------------


def test_stencils_read_and_write_slices_in_one_group():
    def program(lib: Any, x: Any, out: Any) -> list[Any]:
        mean = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
        out[1:-1, 1:-1] = mean - x[1:-1, 1:-1]
        return [out]

    did = compare_with_numpy(program, random_floats(120, 90), numpy.zeros((120, 90), "float32"))
    assert did["groups"] == 1
    assert did["grouped"] == 6


def test_a_slice_may_be_written_again_and_again_in_one_group():
    def program(lib: Any, x: Any, out: Any) -> list[Any]:
        inner = out[1:-1, 2:, 1]
        for i in range(5):
            inner += x * float(i)
            inner *= 0.5
        return [out]

    did = compare_with_numpy(program, random_floats(40, 30), numpy.ones((42, 32, 3), "float32"))
    assert did["groups"] == 1
    assert did["grouped"] == 15


def test_slices_that_overlap_are_not_in_one_group():
    """One position reads elements that another one writes."""

    def program(lib: Any, x: Any) -> list[Any]:
        x[1:] += x[:-1] * 0.5
        x[:-1] -= x[1:] * 0.25
        x[::2] = x[1::2] + 1.0
        return [x]

    compare_with_numpy(program, random_floats(6000, dtype="float64"))
    compare_with_numpy(program, random_floats(3000, 8))


def test_a_row_that_several_operations_read_is_spread_once():
    def program(lib: Any, x: Any, row: Any, column: Any) -> list[Any]:
        y = x
        for i in range(6):
            y = y * row + column - float(i)
        return [y + x[:, ::-1], y * x[:, ::-1] - row]

    for shape in ((300, 26), (81, 81), (3, 5000)):
        did = compare_with_numpy(program, random_floats(*shape), random_floats(shape[1]), random_floats(shape[0], 1))
        assert did["groups"] == 1


def test_fills_and_copies_are_in_groups():
    def program(lib: Any, x: Any) -> list[Any]:
        zeros = lib.full(x.shape, 2.0, x.dtype)
        wide = (zeros * x + x.copy()).astype("float64")
        return [wide * 3.0, zeros]

    did = compare_with_numpy(program, random_floats(4000))
    assert did["groups"] == 1


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "int64", "complex128"])
def test_where_keeps_bits(dtype):
    values = numpy.random.default_rng(3).integers(0, 256, 16 * 1003, dtype="uint8").view("uint8")
    a = (values % 2).astype(bool)[:1003] if dtype == "bool" else values.view(dtype)[:1003].copy()
    b = a[::-1].copy()
    mask = random_floats(1003) > 0

    def program(lib: Any, m: Any, x: Any, y: Any) -> list[Any]:
        choices = ((m, x, y), (m, x, y[:1]), (m, x[3:4], y), (m[::-1], x, y), (m, x[::-1], y))
        return [lib.where(*choice) for choice in choices]

    compare_with_numpy(program, mask, a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(14, 150), (200, 150), (30, 700), (3, 2047), (2, 3, 2049)])
def test_row_reductions_with_many_values_in_a_group(shape, dtype):
    """A block has whole rows, however many values of its elements are kept meanwhile."""

    def program(x: Any) -> Any:
        shifted = x - x.max(axis=-1, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis=-1, keepdims=True)
        centred = x - x.mean(axis=-1, keepdims=True)
        wide = (centred**2).mean(axis=-1, keepdims=True)
        return e / total + (shifted - np.log(total)) * (centred / np.sqrt(wide + 0.125)) - x * centred

    check_all_passes(program, random_floats(*shape, dtype=dtype))


# --- rows and choices -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_least_and_greatest_choose_among_zeros_and_nans_as_numpy_does(dtype):
    numbers = numpy.array([0.0, -0.0, 1.5, -1.5, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan], dtype)
    payload = numbers[6:].view(f"u{numbers.itemsize}") + numpy.arange(1, 3, dtype=f"u{numbers.itemsize}")
    special = numpy.concatenate([numbers, payload.view(dtype)])
    a, b = (x.ravel().copy() for x in numpy.meshgrid(numpy.tile(special, 2), special))

    def program(lib: Any, a: Any, b: Any, *each: Any) -> list[Any]:
        made = []
        for choose in (lib.minimum, lib.maximum):
            made += [choose(a, b), choose(a[1:], b[:-1]), choose(a[::2], b[::2])]
            for x in each:
                made += [choose(a, x), choose(x, a), choose(x, x + a[:0].sum())]
            made += [choose(a, float(x)) for x in (0.0, -0.0, numpy.nan)]
            made += [choose(float(x), a) for x in (0.0, -0.0, numpy.nan)]
        return made

    compare_with_numpy(program, a, b, *(numpy.array(x, dtype) for x in special))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_signs_change_as_numpy_changes_them(dtype):
    """Of zeros and of NaN too, for any length, strides and place of results."""
    special = numpy.array([0.0, -0.0, 1.5, -2.0, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan, 1e-45, -1e-45], dtype)

    def program(lib: Any, x: Any) -> list[Any]:
        made = []
        for n in (1, 7, 16, 33, 1000):
            for y in (x[:n], x[::2][:n], x[n:][::-1], x[n : n + 1]):
                made += [-y, lib.abs(y), lib.negative(y[1:], out=y.copy()[1:]), -lib.abs(-y) * 1.0]
        shifted = x.copy()
        lib.absolute(shifted[:-1], out=shifted[1:])
        return [*made, lib.negative(x, out=x), shifted]

    compare_with_numpy(program, numpy.resize(special, 3001))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_short_rows_are_copied_and_computed_to_their_ends(dtype):
    x = (random_floats(5, 6, 140, dtype="float64") * 3).astype(dtype)

    def program(lib: Any, x: Any) -> list[Any]:
        made = []
        for n in [*range(1, 36), 63, 64, 65, 129]:
            row, to = x[:, 1:-1, 2 : 2 + n], lib.zeros_like(x)
            to[1:, 2:, 3 : 3 + n] = row[1:]
            to[0, :, :n] = x[0, :, :1]
            made += [to, row * x[:, 2:, :n], row * x[:, 1:-1, :1], x[:, :1, :n] + row, row.copy()]
            inplace = x.copy()
            inplace[:, 1:-1, 1 : 1 + n] *= row
            made += [inplace]
        return made

    compare_with_numpy(program, x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pairs_over_long_rows_of_any_layout(dtype):
    """Of slices, rows and columns that are broadcast, and views that run backwards, in steps, or across."""

    def program(lib: Any, x: Any, wide: Any, row: Any, column: Any) -> list[Any]:
        views = [x, x[:, ::-1], x[::-1], wide[:, 1:141], wide[:, ::2], x.T, row, column]
        made = [(a - b) ** 2 for a, b in itertools.product(views, repeat=2)]
        for (i, a), b, c in itertools.product(enumerate(views), views, views):
            made += [a * b - c] if i % 2 else [c / (a + b)]
        out = wide.copy()
        out[:, 1:141] -= x * row
        out[:, :-1] = (out[:, :-1] + column) * out[:, :-1]
        return [*made, out]

    compare_with_numpy(
        program, *(random_floats(*shape, dtype=dtype) for shape in ((140, 140), (140, 280), (140,), (140, 1)))
    )

    def blocks(lib: Any, x: Any, *others: Any) -> list[Any]:
        """Axes of operands that are broadcast in different ways are merged in different ways."""
        return [y for a, b in itertools.product(others, repeat=2) for y in (x * a - b, a / (x + b))]

    shapes = ((4, 5, 140), (140,), (5, 140), (4, 1, 1), (4, 5, 1))
    compare_with_numpy(blocks, *(random_floats(*shape, dtype=dtype) for shape in shapes))


@pytest.mark.parametrize("length", [128, 150, 1000, 3000])
def test_blocks_of_many_values_have_whole_rows(length):
    """Of so many that a block has no more rows than a reduction by itself would take."""

    def program(lib: Any, x: Any) -> list[Any]:
        y = x - x.max(1, keepdims=True)
        powers = [y * float(i) for i in range(1, 40)]
        total = sum(powers[1:], powers[0])
        for a, b in itertools.pairwise(powers):
            total = lib.maximum(total, a * b)
        return [total - total.min(1, keepdims=True), y]

    did = compare_with_numpy(program, random_floats(40, length, dtype="float64"))
    assert did["groups"] == 1


# --- boxes of arrays whose rows are little longer ---------------------------------------------------------------------


def views_of_shape(x: Any, shape: tuple[int, ...]) -> list[Any]:
    """All views of this shape, some of them with an axis of one element."""
    starts = itertools.product(*(range(n - m + 1) for n, m in zip(x.shape, shape, strict=True)))
    found = [x[tuple(slice(a, a + m) for a, m in zip(start, shape, strict=True))] for start in starts]
    return [*found, found[0][:, :, :1], found[1][:, :1], found[2][:1], found[3][:, :1, :1], found[4][:1, :1, :1]]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(7, 9, 10), (3, 40, 5), (30, 2, 100), (2, 3, 127), (19, 23, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_boxes_are_computed_with_the_gaps_between_their_rows(shape, dtype, seed):
    def program(lib: Any, x: Any, y: Any, z: Any, wide: Any, deep: Any) -> list[Any]:
        pick = numpy.random.default_rng(seed)
        inputs = [*views_of_shape(x, shape), *views_of_shape(y, shape), wide[..., 1], lib.moveaxis(z, 0, -1)]
        inputs += [x[2:, 2:, 2:] > 0.0, wide[..., 0]]
        live = [inputs[0] * 0.5, inputs[1] - inputs[2]]
        for _ in range(60):
            a, b = live[pick.integers(len(live))], inputs[pick.integers(len(inputs))]
            kind, out = pick.integers(9), (x, wide[..., 0], deep[..., 1], deep[..., 1])[pick.integers(4)]
            if kind < 3:
                made = ARITHMETIC[kind](a, b)
            elif kind == 3:
                made = lib.where(a > b, b, a) / (1.0 + lib.abs(b))
            elif kind == 4:
                made = (lib.tanh(b) * a).astype("int64").astype(dtype)
            elif kind == 5:
                made = lib.zeros_like(a)
                made[:, 1:] = a[:, :-1] + b[:, -1:]
            elif kind == 6:
                a += b
                made = a * 0.25
            elif kind == 7:
                view = views_of_shape(out, shape)[0] if out.shape != shape else out
                view[...] = a
                made = view + 1.0
            else:
                view = views_of_shape(out, shape)[4] if out.shape != shape else out
                view *= b
                made = view - a
            live.append(lib.clip(made, -9.0, 9.0))
            if len(live) > 6:
                del live[pick.integers(len(live))]
        return [*live, x, y, wide, deep]

    around = [random_floats(*(n + 2 for n in shape), dtype=dtype) for _ in range(2)]
    others = [
        random_floats(shape[-1], *shape[:-1], dtype=dtype),
        *(random_floats(*shape, 2, dtype=dtype) for _ in range(2)),
    ]
    compare_with_numpy(program, *around, *others)


def test_group_reads_its_own_writes_of_boxes():
    def program(lib: Any, x: Any, y: Any, wide: Any) -> list[Any]:
        here, there, view = x[1:-1, 1:-1, 1:-1], y[:-2, 2:, 2:], wide[..., 1]
        view += here
        b = view * there
        view *= there
        c = view - here
        view[...] = here
        return [b, c, view * there, wide]

    boxed = [random_floats(8, 9, 14, dtype="float64") for _ in range(2)]
    did = compare_with_numpy(program, *boxed, random_floats(6, 7, 12, 2, dtype="float64"))
    assert did["groups"] == 1
