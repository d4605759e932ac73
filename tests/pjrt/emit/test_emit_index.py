"""Elements at indices as modules: read, written, combined; indices out of range, and those that are there twice."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun._pjrt.emit import emit
from tests.support.device_plugins.pjrt_plugin import Plugin, dtype_of
from tests.support.device_plugins.pjrt_specs import assert_same, compute, empty_array, run_op, spec, storage


def base(shape: tuple[int, ...], dtype: str = "float32") -> Any:
    return numpy.random.default_rng(1).integers(0, 100, shape).astype(dtype_of(dtype))


def random_positions_in(extent: int, shape: tuple[int, ...], dtype: str = "int64", seed: int = 2) -> Any:
    low = 0 if dtype[0] == "u" else -extent
    return numpy.random.default_rng(seed).integers(low, extent, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "bool", "uint8", "complex64", "bfloat16"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(4,), (2, 3), (0,)])
def test_gather_of_one_axis(plugin: Plugin, dtype: str, axis: int, shape: tuple[int, ...]) -> None:
    x = base((5, 6, 7), dtype)[::-1]
    i = random_positions_in(x.shape[axis], shape)
    expected = numpy.take(x, i, axis)
    assert_same(compute(plugin, "gather", "", [x, i], expected.shape, dtype, axis=axis, n_indices=1), expected)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint64"])
def test_gather_of_several_axes(plugin: Plugin, dtype: str) -> None:
    x = base((5, 6, 7))
    i, j = random_positions_in(5, (3, 1), dtype), random_positions_in(6, (4,), dtype)
    both = [numpy.broadcast_to(v, (3, 4)) for v in (i, j)]
    assert_same(compute(plugin, "gather", "", [x, *both], (3, 4, 7), "float32", axis=0, n_indices=2), x[i, j])
    second = [random_positions_in(6, (3,), dtype), random_positions_in(7, (3,), dtype)]
    expected = x[:, second[0], second[1]]
    assert_same(compute(plugin, "gather", "", [x, *second], (5, 3), "float32", axis=1, n_indices=2), expected)
    one = [numpy.asarray(2, dtype), numpy.broadcast_to(numpy.asarray(3, dtype), ())]
    assert_same(compute(plugin, "gather", "", [x, *one], (7,), "float32", axis=0, n_indices=2), x[2, 3])


@pytest.mark.parametrize(("index", "bad"), [([0, -5], False), ([5, 0], True), ([-6, 0], True), ([4, 4], False)])
def test_indices_out_of_range_are_found(plugin: Plugin, index: list[int], bad: bool) -> None:
    x, i = base((5, 2)), numpy.array(index)
    got = run_op(plugin, "gather", "", [x, i], [empty_array((2, 2), "float32")], axis=0, n_indices=1, check=True)
    assert got[1].dtype == bool
    assert bool(got[1]) is bad
    got = run_op(plugin, "scatter", "", [i, base((2, 2))], [x], update=True, axis=0, check=True)
    assert bool(got[1]) is bad
    i = numpy.array(index, "int64")[:, None]
    along = run_op(plugin, "gather_along", "", [x, i], [empty_array((2, 1), "float32")], axis=0, check=True)
    assert bool(along[1]) is bad
    along = run_op(
        plugin, "gather_along", "", [x, i], [empty_array((2, 1), "float32")], axis=0, check=True, from_end=False
    )
    assert bool(along[1]) is (bad or min(index) < 0)


def test_large_unsigned_indices_are_those_of_numpy(plugin: Plugin) -> None:
    """NumPy takes them for int64."""
    x, i = base((5,)), numpy.array([2**64 - 1, 3], "uint64")
    got = run_op(plugin, "gather", "", [x, i], [empty_array((2,), "float32")], axis=0, n_indices=1, check=True)
    assert got[0].tolist() == x[i].tolist()
    assert not got[1]
    got = run_op(plugin, "gather", "", [x, i - 7], [empty_array((2,), "float32")], axis=0, n_indices=1, check=True)
    assert bool(got[1])
    wide, i = base((300,)), numpy.array([255, 0], "uint8")
    got = run_op(plugin, "gather", "", [wide, i], [empty_array((2,), "float32")], axis=0, n_indices=1, check=True)
    assert got[0].tolist() == wide[[255, 0]].tolist()
    assert not got[1]


@pytest.mark.parametrize("axis", [0, 1])
def test_gather_along(plugin: Plugin, axis: int) -> None:
    x = base((4, 5))
    i = random_positions_in(x.shape[axis], (4, 3) if axis else (3, 5))
    expected = numpy.take_along_axis(x, i, axis)
    assert_same(compute(plugin, "gather_along", "", [x, i], i.shape, "float32", axis=axis), expected)
    one = x[:, :1] if axis == 0 else x[:1]
    expected = numpy.take_along_axis(numpy.broadcast_to(one, x.shape), i, axis)
    assert_same(compute(plugin, "gather_along", "", [one, i], i.shape, "float32", axis=axis), expected)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_last_of_several_values_stays(plugin: Plugin, dtype: str, axis: int) -> None:
    x = base((4, 5, 6), dtype)
    i = random_positions_in(x.shape[axis], (7,))
    shape = (*x.shape[:axis], 7, *x.shape[axis + 1 :])
    values = base(shape, dtype)
    (got,) = run_op(plugin, "scatter", "", [i, values], [x], update=True, axis=axis)
    x[(*[slice(None)] * axis, i)] = values
    assert_same(got, storage(x))


def test_scatter_of_two_axes_into_a_part(plugin: Plugin) -> None:
    x = base((6, 5, 4))
    part = x[::2, ::-1]
    i, j, values = random_positions_in(3, (2, 3)), random_positions_in(5, (2, 3)), base((2, 3, 4))
    (got,) = run_op(plugin, "scatter", "", [i, j, values], [part], update=True, axis=0)
    part[i, j] = values
    assert_same(got, storage(x))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "float16"])
def test_values_are_combined(plugin: Plugin, name: str, dtype: str) -> None:
    x, i = base((5, 3), dtype), random_positions_in(5, (8,))
    values = (base((8, 3), dtype) % numpy.asarray(3, dtype)).astype(dtype)
    (got,) = run_op(plugin, "scatter", "", [i, values], [x], update=True, axis=0, combine=name)
    getattr(numpy, name).at(x, i, values)
    assert_same(got, storage(x))


@pytest.mark.parametrize("combine", [None, "add"])
@pytest.mark.parametrize("axis", [0, 1])
def test_scatter_along(plugin: Plugin, axis: int, combine: str | None) -> None:
    x = base((4, 5))
    i = random_positions_in(x.shape[axis], (4, 3) if axis else (3, 5))
    values = base(i.shape)
    (got,) = run_op(plugin, "scatter_along", "", [i, values], [x], update=True, axis=axis, combine=combine)
    places = tuple(i % x.shape[axis] if a == axis else numpy.indices(i.shape)[a] for a in range(2))
    if combine:
        numpy.add.at(x, places, values)
    else:
        x[places] = values
    assert_same(got, storage(x))


@pytest.mark.parametrize("combine", [None, "add", "multiply"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("dtype", "computed"), [("float32", "float32"), ("int8", "float64")])
def test_scatter_along_once(plugin: Plugin, axis: int, combine: str | None, dtype: str, computed: str) -> None:
    """One value for each slice is put there by a comparison: no scatter, whose order a compiler may have to keep."""
    x = base((4, 5, 3), dtype)
    i = random_positions_in(x.shape[axis], tuple(1 if a == axis else n for a, n in enumerate(x.shape)))
    values = base(i.shape, dtype)
    more: Any = {"update": True, "axis": axis, "combine": combine, "computed": computed}
    text = emit(spec("scatter_along", "", [i, values], [x], **more))
    assert text is not None
    assert "stablehlo.scatter" not in text
    (got,) = run_op(plugin, "scatter_along", "", [i, values], [x], **more)
    old = numpy.take_along_axis(x, i, axis)
    new = values if combine is None else getattr(numpy, combine)(old, values)
    numpy.put_along_axis(x, i, new, axis)
    assert_same(got, storage(x))


@pytest.mark.parametrize(("index", "bad"), [([0, 4], False), ([-5, 1], False), ([0, 5], True), ([-6, 2], True)])
def test_scatter_along_once_checks(plugin: Plugin, index: list[int], bad: bool) -> None:
    x, i, values = base((2, 5)), numpy.array(index)[:, None], numpy.float32([[7], [8]])
    got, check = run_op(plugin, "scatter_along", "", [i, values], [x], update=True, axis=1, check=True)
    assert bool(check) is bad
    for row, at in enumerate(index):
        if -5 <= at < 5:
            x[row, at] = values[row, 0]
    assert_same(got, storage(x))


def test_put(plugin: Plugin) -> None:
    x = base((4, 5))
    i, values = random_positions_in(20, (9,)), base((2,))
    for target in (x, x.T):
        (got, bad) = run_op(plugin, "put", "", [i, values], [target], update=True, check=True)
        expected = target.copy()
        expected.put(i, values)
        assert_same(got, numpy.ascontiguousarray(expected if target is x else expected.T).reshape(-1))
        assert not bad


def test_unsupported_combine_has_no_lowering() -> None:
    x, i = base((5,)), random_positions_in(5, (2,))
    assert emit(spec("scatter", "", [i, base((2,))], [x], update=True, axis=0, combine="less")) is None
