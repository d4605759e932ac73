"""Operations described by NumPy arrays: their specs, and their results on a plugin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from forerun._pjrt.emit import emit
from forerun._pjrt.spec import Operand, Output, Spec
from tests.support.device_plugins.pjrt_plugin import Plugin, dtype_of

# Kinds whose tests are about the last digits of floats: an optimising compiler might join products and sums.
BY_DIGITS = {"elementwise", "masked", "random"}


def storage(x: Any) -> Any:
    """The array whose memory a view uses, as a vector."""
    under = x
    while (under := getattr(under, "base", None)) is not None:  # as_strided puts an object in between
        x = under if isinstance(under, numpy.ndarray) else x
    return x.reshape(-1)


def _described(x: Any, kind: type[Operand], **more: Any) -> Any:
    flat = storage(x)
    offset = x.__array_interface__["data"][0] - flat.__array_interface__["data"][0] if x.size else 0
    return kind(x.dtype.name, x.shape, x.strides, offset, flat.dtype.name, flat.size, **more)


def operand(x: Any) -> Operand:
    """An input: an array of any layout, or a scalar of NumPy's."""
    return Operand.number(x.dtype.name) if isinstance(x, numpy.generic) else _described(x, Operand)


def dense_output(x: Any, mode: str = "write") -> Output:
    """An output that lies as an array does."""
    return _described(x, Output, mode=mode)


def spec(
    kind: str, name: str, inputs: Sequence[Any], outputs: Sequence[Any], update: bool = False, **attributes: Any
) -> Spec:
    """The spec of an operation on arrays."""
    results = tuple(dense_output(x, "update" if update else "write") for x in outputs)
    return Spec(kind, name, tuple(operand(x) for x in inputs), results, attributes)


def run_op(
    plugin: Plugin, kind: str, name: str, inputs: Sequence[Any], outputs: Sequence[Any], update: bool = False,
    **attributes: Any,
) -> list[Any]:  # fmt: skip
    """The storages of the outputs after an operation, and `bad` behind them where it is asked for."""
    text = emit(spec(kind, name, inputs, outputs, update, **attributes))
    assert text is not None, f"{kind} {name} has no lowering"
    given = [x if isinstance(x, numpy.generic) else storage(x) for x in inputs]
    optimised = kind in BY_DIGITS and any(x.dtype.name[:2] in ("fl", "bf", "co") for x in (*inputs, *outputs))
    return plugin.run(text, *given, *(storage(x) for x in outputs if update), optimised=optimised)


def empty_array(shape: tuple[int, ...], dtype: str) -> Any:
    """A new array, which an operation writes."""
    return numpy.zeros(shape, dtype_of(dtype))


def compute(plugin: Plugin, kind: str, name: str, inputs: Sequence[Any], shape: Any, dtype: str, **more: Any) -> Any:
    """The one result of an operation, as a new array."""
    return run_op(plugin, kind, name, inputs, [empty_array(shape, dtype)], **more)[0].reshape(shape)


def ulps(got: Any, expected: Any) -> float:
    """The largest distance of real or complex numbers, in units of the last place of the expected ones.

    expected: in a wider dtype, or the same. NaN and infinity must be where they are expected.
    """
    if got.dtype.kind == "c":
        return max(ulps(got.real, expected.real), ulps(got.imag, expected.imag))
    exact = numpy.asarray(expected)
    rounded = exact.astype(got.dtype)
    same = (got == rounded) | (numpy.isnan(got) & numpy.isnan(rounded))
    finite = numpy.isfinite(got.astype("f8")) & numpy.isfinite(rounded.astype("f8"))
    if not (same | finite).all():
        return numpy.inf
    mantissa = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}[got.dtype.name]
    least = {"float16": -14, "bfloat16": -126, "float32": -126, "float64": -1022}[got.dtype.name]
    exponent = numpy.maximum(numpy.frexp(numpy.where(finite, exact, 1))[1] - 1, least)
    unit = numpy.ldexp(numpy.ones_like(exact), exponent - mantissa)
    distance = numpy.abs(got.astype(exact.dtype) - exact) / unit
    return float(numpy.where(same, 0, distance).max(initial=0))


def assert_same(got: Any, expected: Any) -> None:
    """The same dtype, shape and values; NaN is equal to NaN."""
    assert got.dtype == expected.dtype
    wide = [x.astype("float32") if x.dtype.name == "bfloat16" else x for x in (got, expected)]
    numpy.testing.assert_array_equal(*wide, strict=True)
