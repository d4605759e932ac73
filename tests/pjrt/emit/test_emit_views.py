"""Operands and results that are views of storages: slices, steps, negative strides, other dtypes, repeated elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from forerun._pjrt.emit import emit
from forerun._pjrt.spec import Operand, Output, Spec
from tests.support.device_plugins.pjrt_plugin import Plugin, dtype_of
from tests.support.device_plugins.pjrt_specs import assert_same, compute, dense_output, empty_array, run_op, storage

View = Callable[[Any], Any]


def distinct_base(shape: tuple[int, ...], dtype: str) -> Any:
    """Different numbers in each place."""
    values = numpy.arange(1, numpy.prod(shape, dtype=int) + 1).reshape(shape)
    return (values * (1 + 0.5j) if dtype[:7] == "complex" else values % 3 == 0 if dtype == "bool" else values).astype(
        dtype_of(dtype)
    )


# Views whose elements do not overlap: of a base of this shape and dtype.
PLAIN: dict[str, tuple[tuple[int, ...], str, View]] = {
    "whole": ((3, 4), "float32", lambda x: x),
    "row": ((3, 4), "float32", lambda x: x[1]),
    "column": ((3, 4), "float32", lambda x: x[:, 2]),
    "element": ((3, 4), "float32", lambda x: x[2, 3, ...]),
    "box": ((4, 5, 6), "int16", lambda x: x[1:3, 1:4, 2:]),
    "step": ((7,), "float32", lambda x: x[::2]),
    "step from 1": ((8,), "float32", lambda x: x[1::3]),
    "steps": ((5, 7), "int32", lambda x: x[1::2, ::3]),
    "columns with a step": ((4, 5), "float64", lambda x: x[:, ::2]),
    "rows with a step": ((5, 5, 6), "float64", lambda x: x[::2, 1:3, 1::2]),
    "turned": ((3, 4), "float32", lambda x: x[::-1, ::-1]),
    "turned step": ((9,), "int8", lambda x: x[7:0:-3]),
    "transposed": ((3, 4, 5), "float32", lambda x: x.transpose(2, 0, 1)),
    "transposed part": ((3, 4, 5), "float32", lambda x: x.transpose(2, 0, 1)[1:4, ::-1, ::2]),
    "diagonal": ((4, 4), "float32", lambda x: as_strided(x, (4,), (20,))),
    "diagonal of a wide matrix": ((3, 5), "float32", lambda x: as_strided(x, (3,), (24,))),
    "over the ends of rows": ((4, 6), "int64", lambda x: as_strided(x[0, 4:], (3, 4), (48, 8))),
    "one of an axis": ((3, 4), "float32", lambda x: x[1:2, ::4]),
    "new axes": ((3, 4), "float32", lambda x: x[:, None, 1:3, None]),
    "nothing": ((3, 4), "float32", lambda x: x[:, 2:2]),
    "empty base": ((0, 4), "float32", lambda x: x),
    "real part": ((3, 4), "complex64", lambda x: x.real),
    "imaginary part": ((3, 4), "complex128", lambda x: x.imag[::-1]),
    "bytes": ((3, 2), "int32", lambda x: x.view("uint8")[:, 1::2]),
    "wider": ((3, 8), "int16", lambda x: x.view("int64")[1:]),
    "floats as integers": ((3, 4), "float32", lambda x: x.view("int32").T),
    "bools as numbers": ((4, 6), "bool", lambda x: x.view("int8")[:, ::2]),
    "numbers as bools": ((4, 6), "uint8", lambda x: (x % 2).view("bool")[1:]),
    "complex as floats": ((4,), "complex64", lambda x: x.view("float32")[1::2]),
    "floats as complex": ((4, 6), "float64", lambda x: x.view("complex128")[::2]),
    "at odd bytes": ((30,), "uint8", lambda x: x[3:27].view("int32")),
    "odd rows": ((3, 7), "uint8", lambda x: x[:, 1:5].view("int32")),
    "small floats": ((4, 6), "bfloat16", lambda x: x[::2, ::-1]),
}
# Of elements that are several times there.
REPEATED: dict[str, tuple[tuple[int, ...], str, View]] = {
    "broadcast row": ((4,), "float32", lambda x: numpy.broadcast_to(x, (3, 4))),
    "broadcast column": ((3, 1), "float32", lambda x: numpy.broadcast_to(x, (2, 3, 4))),
    "broadcast number": ((), "int64", lambda x: numpy.broadcast_to(x, (2, 3))),
    "broadcast part": ((3, 4), "float32", lambda x: numpy.broadcast_to(x[::2, None, 1:], (2, 5, 3))),
    "windows": ((9,), "float32", lambda x: sliding_window_view(x, 3)),
    "windows of a matrix": ((5, 6), "int32", lambda x: sliding_window_view(x, (2, 3))[::2]),
}
ALL = {**PLAIN, **REPEATED}


@pytest.mark.parametrize("name", ALL)
def test_views_are_read(plugin: Plugin, name: str) -> None:
    shape, dtype, view = ALL[name]
    x = view(distinct_base(shape, dtype))
    assert_same(compute(plugin, "copy", "", [x], x.shape, x.dtype.name), numpy.ascontiguousarray(x).reshape(x.shape))


@pytest.mark.parametrize("name", PLAIN)
def test_parts_are_written(plugin: Plugin, name: str) -> None:
    shape, dtype, view = PLAIN[name]
    old = distinct_base(shape, dtype)
    part = view(old)
    value = (
        distinct_base(part.shape, part.dtype.name) if part.dtype == bool else distinct_base(part.shape, "int64") + 50
    ).astype(part.dtype)
    (got,) = run_op(plugin, "copy", "", [value], [part], update=True)
    part[...] = value
    assert_same(got, storage(part))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
def test_whole_storages_are_written_in_any_order(plugin: Plugin, order: tuple[int, ...]) -> None:
    out = numpy.zeros((3, 4, 5), "float32").transpose(order)[::-1]
    value = distinct_base(out.shape, "float32")
    (got,) = run_op(plugin, "copy", "", [value], [out])
    out[...] = value
    assert_same(got, storage(out))


def test_overlapping_outputs_have_no_lowering() -> None:
    x = Operand.dense("float32", (3,))
    assert emit(Spec("copy", "", (x,), (Output("float32", (3,), (0,), 0, "float32", 3, mode="update"),))) is None
    assert emit(Spec("copy", "", (x,), (Output("float32", (3, 3), (4, 4), 0, "float32", 9, mode="update"),))) is None


def test_old_storages_may_be_donated() -> None:
    x = Operand.dense("float32", (2,))
    text = emit(Spec("copy", "", (x,), (dense_output(numpy.zeros(4, "float32")[1:3], "update"),)))
    assert text is not None
    assert "@main(%a0: tensor<2xf32>, %a1: tensor<4xf32> {tf.aliasing_output = 0 : i32})" in text


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64", "complex64"])
def test_fill_and_zeros(plugin: Plugin, dtype: str) -> None:
    value = numpy.asarray(3, dtype_of(dtype))[()]
    assert_same(
        run_op(plugin, "fill", "", [value], [empty_array((2, 3), dtype)])[0], numpy.full(6, value, dtype_of(dtype))
    )
    assert_same(
        run_op(plugin, "fill", "", [numpy.float64(1)], [empty_array((2,), dtype)])[0], numpy.ones(2, dtype_of(dtype))
    )
    assert_same(run_op(plugin, "zeros", "", [], [empty_array((2, 0), dtype)])[0], numpy.zeros(0, dtype_of(dtype)))
    assert_same(run_op(plugin, "zeros", "", [], [empty_array((), dtype)])[0], numpy.zeros(1, dtype_of(dtype)))


def test_fill_of_a_part(plugin: Plugin) -> None:
    x = distinct_base((4, 6), "float32")
    (got,) = run_op(plugin, "fill", "", [numpy.float32(-1)], [x[1:3, ::2]], update=True)
    x[1:3, ::2] = -1
    assert_same(got, storage(x))


@pytest.mark.parametrize("axis", [0, 1])
def test_concatenate(plugin: Plugin, axis: int) -> None:
    arrays = [
        distinct_base((2, 3), "float32"),
        distinct_base((4, 4), "int8")[:2, :3],
        distinct_base((3, 2), "float64").T,
        distinct_base((2, 3), "bool"),
    ]
    expected = numpy.concatenate([x.astype("float64") for x in arrays], axis)
    assert_same(compute(plugin, "concatenate", "", arrays, expected.shape, "float64", axis=axis), expected)
    empty = distinct_base((0, 3), "float32")
    assert_same(compute(plugin, "concatenate", "", [empty, arrays[0]], (2, 3), "float32", axis=0), arrays[0])
