"""The Python array API standard's rules for the namespace and the arrays; its suite has more (CONTRIBUTING.md)."""

from __future__ import annotations

import cmath
import copy
import inspect
import math
import operator
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, cpu, np, npx
from forerun.ops._base.primitive import Elementwise
from forerun.testing import closed_gate
from tests.support import array_api_standard
from tests.support.comparison.bits import assert_all_same_bits
from tests.support.many_cases import for_each

# Defaults of forerun that mean the same as the standard's.
SAME = {("norm", None, "backward"), ("correction", None, 0.0), ("stable", None, True)}
SAME |= {("rtol", ..., None)}  # of pinv: not given, it is NumPy's
SPACES: list[tuple[Any, str]] = [
    (np, array_api_standard.NAMESPACE),
    (np.linalg, array_api_standard.LINALG),
    (np.fft, array_api_standard.FFT),
    (np.__array_namespace_info__(), array_api_standard.INFO),
    (np.ones((), "int64"), array_api_standard.ARRAY),
]
FUNCTIONS = [
    (space, name, wanted) for space, table in SPACES for name, wanted in array_api_standard.signatures(table).items()
]

NAMES = {
    "bool": ["bool"],
    "signed integer": ["int8", "int16", "int32", "int64"],
    "unsigned integer": ["uint8", "uint16", "uint32", "uint64"],
    "real floating": ["float32", "float64"],
    "complex floating": ["complex64", "complex128"],
}


# --- names and parameters -------------------------------------------------------------------------


def check_parameter(name: str, parameter: Parameter | None, wanted: Parameter) -> None:
    """Checks that a parameter can be given as the standard has it, and means the same when it is not."""
    assert parameter is not None, f"{name}: there must be a parameter {wanted.name}"
    by_name = wanted.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    assert not by_name or parameter.name == wanted.name, f"{name}: {parameter.name} must be called {wanted.name}"
    allowed = {wanted.kind, Parameter.POSITIONAL_OR_KEYWORD}
    assert parameter.kind in allowed, f"{name}: {parameter.name} must be {wanted.kind.description}"
    if wanted.default is not Parameter.empty:
        same = parameter.default == wanted.default or (parameter.name, parameter.default, wanted.default) in SAME
        assert same, f"{name}: {parameter.name} must be {wanted.default!r} when not given, got {parameter.default!r}"


@for_each("space, name, wanted", FUNCTIONS, ids=lambda case: f"{getattr(case[0], '__name__', type(case[0]))}.{case[1]}")
def test_functions_take_the_parameters_of_the_standard(space: Any, name: str, wanted: Signature) -> None:
    function = getattr(space, name)
    if isinstance(function, Elementwise):  # parameters are by position
        assert [p.kind for p in wanted.parameters.values()] == [Parameter.POSITIONAL_ONLY] * function.ufunc.nin
        return
    parameters = list(inspect.signature(function).parameters.values())
    by_name = {p.name: p for p in parameters}
    for i, parameter in enumerate(wanted.parameters.values()):
        at = None if i >= len(parameters) else parameters[i]
        check_parameter(
            name, by_name.get(parameter.name) if parameter.kind == Parameter.KEYWORD_ONLY else at, parameter
        )
    known = [p for p in wanted.parameters.values() if p.kind != Parameter.KEYWORD_ONLY]
    for parameter in parameters[len(known) :]:
        variadic = parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        assert variadic or parameter.default is not Parameter.empty, f"{name}: {parameter.name} must be optional"


def test_constants_and_attributes() -> None:
    for name in array_api_standard.CONSTANTS:
        assert repr(getattr(np, name)) == repr(getattr(numpy, name))
    x = np.ones((2, 3), "int8")
    found = {name: getattr(x, name) for name in array_api_standard.ATTRIBUTES}
    assert found.pop("T").shape == found.pop("mT").shape == (3, 2)
    assert found == {"dtype": np.int8, "device": cpu(0), "ndim": 2, "shape": (2, 3), "size": 6}


# --- inspection -----------------------------------------------------------------------------------


def test_arrays_lead_to_the_namespace() -> None:
    x = np.ones(2)
    assert x.__array_namespace__() is np
    for version in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is np
    assert np.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match=r"__array_namespace__: api_version must be one of .* got '1999.12'"):
        x.__array_namespace__(api_version="1999.12")


def test_array_namespace_info() -> None:
    info = np.__array_namespace_info__()
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    assert np.ones((1,) * 64).ndim == 64
    with pytest.raises(ValueError, match="64"):
        np.ones((1,) * 65)
    assert info.devices() == tuple(forerun.devices())
    assert info.default_device() == np.empty(1).device


def test_default_dtypes_are_those_of_creation() -> None:
    for setting in ({}, {"dtype": True}):
        if setting:
            npx.set_np(**setting)
        try:
            found = np.__array_namespace_info__().default_dtypes(device=cpu(0))
            assert found == {
                "real floating": np.asarray(1.5).dtype,
                "complex floating": np.asarray(1.5j).dtype,
                "integral": np.asarray(1).dtype,
                "indexing": np.argsort(np.ones(3)).dtype,
            }
        finally:
            npx.reset_np()
    with pytest.raises(ValueError, match="device: must be one of"):
        np.__array_namespace_info__().default_dtypes(device="cpu:64")


@pytest.mark.parametrize("kind", NAMES)
def test_dtypes_of_a_kind(kind: str) -> None:
    assert np.__array_namespace_info__().dtypes(kind=kind) == {n: numpy.dtype(n) for n in NAMES[kind]}


def test_dtypes_of_several_kinds() -> None:
    dtypes = np.__array_namespace_info__().dtypes
    assert list(dtypes()) == [n for names in NAMES.values() for n in names]
    integers = [*NAMES["signed integer"], *NAMES["unsigned integer"]]
    floats = [*NAMES["real floating"], *NAMES["complex floating"]]
    assert list(dtypes(kind="integral", device=cpu(0))) == integers
    assert list(dtypes(kind="numeric")) == [*integers, *floats]
    assert list(dtypes(kind=("bool", "real floating", "bool"))) == ["bool", "float32", "float64"]
    with pytest.raises(ValueError, match=r"dtypes: kind must be one of bool, .*, got 'float32'"):
        dtypes(kind="float32")
    with pytest.raises(TypeError, match="dtypes: kind must be text or a tuple, got 1"):
        dtypes(kind=1)
    with pytest.raises(ValueError, match="device: must be one of"):
        dtypes(device="cpu:64")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "bfloat16"])
def test_limits_of_floats_are_python_numbers(dtype: str) -> None:
    for info in (np.finfo(dtype), np.finfo(np.ones(2, dtype)), copy.copy(np.finfo(dtype))):
        assert all(type(v) is float for v in (info.eps, info.max, info.min, info.smallest_normal, info.tiny))
        assert type(info.bits) is type(info.precision) is int
        assert info.dtype == np.real(np.ones(1, dtype)).dtype
        x = np.ones(2, dtype)
        assert (x + info.eps).dtype == dtype
        assert (x + info.eps != x).all()
        assert (x + info.eps / 4 == x).all()
    with pytest.raises(AttributeError):
        info.no_such_limit  # noqa: B018
    assert "max" in dir(info)
    assert repr(info) == repr(np.finfo(info.dtype))


# --- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, np.array])
def test_copy_argument_is_honoured(make: Any) -> None:
    x = np.arange(3)
    assert make(x, copy=None) is x
    assert make(x, copy=False) is x
    assert make(x, "int64", copy=False, device=x.device) is x
    y = make(x, copy=True)
    y += 1
    assert x.tolist() == [0, 1, 2]
    assert make(x, copy=None, dtype="int8").dtype == "int8"
    for refused in ((x, "int8"), ([1, 2],), (1.5,), (numpy.ones(2),)):
        with pytest.raises(ValueError, match="copy must not be False where values are copied, got"):
            make(*refused, copy=False)


def test_shapes_are_changed_with_and_without_a_copy() -> None:
    x = np.arange(6).reshape(2, 3)
    view, copied = np.reshape(x, (3, 2), copy=False), np.reshape(x, (3, 2), copy=True)
    assert np.may_share_memory(view, x)
    assert not np.may_share_memory(copied, x)
    assert view.tolist() == copied.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert np.reshape(x.T, (6,), copy=None).tolist() == [0, 3, 1, 4, 2, 5]
    with pytest.raises(ValueError, match="reshape: "):
        np.reshape(x.T, (6,), copy=False)


def test_order() -> None:
    for order in ("C", "K", "A", "F"):
        assert np.asarray([[1, 2]], order=order).tolist() == np.array([[1, 2]], order=order).tolist() == [[1, 2]]
    for make in (np.asarray, np.array):
        with pytest.raises(ValueError, match="order must be one of C, F, A, K, got 'Q'"):
            make([1], order="Q")
    assert np.array([1, 2], ndmin=3).shape == (1, 1, 2)


def test_a_copy_of_another_dtype() -> None:
    x = np.arange(3)
    assert np.astype(x, np.int64, copy=False) is x
    assert np.astype(x, np.int64) is not x
    assert np.astype(x, np.float32, device=cpu(0)).dtype == "float32"
    with pytest.raises(ValueError, match="device: must be one of"):
        np.astype(x, np.float32, device="cpu:64")


def test_device_argument() -> None:
    x = np.arange(3)
    assert x.to_device(cpu(0)) is x
    assert x.to_device("cpu:0", stream=None) is x
    with pytest.raises(ValueError, match="to_device: stream must be None, got 1"):
        x.to_device(cpu(0), stream=1)
    with pytest.raises(TypeError):
        x.to_device(device=cpu(0))


def test_two_devices(two_devices: list[forerun.Device]) -> None:
    info = np.__array_namespace_info__()
    assert info.devices() == (cpu(0), cpu(1))
    with cpu(1):
        assert info.default_device() == np.ones(1).device == cpu(1)
    x = np.arange(3)
    for y in (
        np.astype(x, np.int64, device=cpu(1), copy=False),
        np.astype(x, np.int8, device=cpu(1)),
        np.asarray(x, device=cpu(1)),
        x.to_device(cpu(1)),
    ):
        assert y.device == cpu(1)
        assert y.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="copy must not be False"):
        np.asarray(x, device=cpu(1), copy=False)


# --- the rest -------------------------------------------------------------------------------------


def test_tuples_of_arrays() -> None:
    x, y = np.arange(2), np.arange(3)
    for found in (np.meshgrid(x, y), np.broadcast_arrays(x, y[:1]), np.unstack(x), np.nonzero(x)):
        assert type(found) is tuple
    a, b = np.meshgrid(x, y, copy=False, indexing="ij")
    x += 1
    assert a.tolist() == [[1, 1, 1], [2, 2, 2]]
    assert b.tolist() == [[0, 1, 2], [0, 1, 2]]


def test_slices_are_views_that_stack_puts_together() -> None:
    x = np.arange(6).reshape(2, 3)
    for axis in (-2, -1, 0, 1):
        assert np.stack(np.unstack(x, axis=axis), axis=axis).tolist() == x.tolist()
    with closed_gate():
        np.unstack(x)[1][:] = 7
    assert x.tolist() == [[0, 1, 2], [7, 7, 7]]
    with pytest.raises(ValueError, match="unstack: array must have at least one axis"):
        np.unstack(np.ones(()))
    with pytest.raises(IndexError):
        np.unstack(x, axis=2)


def test_products_in_place() -> None:
    x, turn = np.arange(6).reshape(3, 2), np.asarray([[0, 1], [1, 0]])
    part, same = x[1:], x
    with closed_gate():
        part @= turn
        x @= turn
    assert x is same
    assert x.tolist() == [[1, 0], [2, 3], [4, 5]]
    with pytest.raises(ValueError, match=r"matmul: out must have shape \(3,\), got \(3, 2\)"):
        x @= np.ones(2, "int64")
    with pytest.raises(ValueError, match="matmul: out must have shape"):  # it would fit if it were repeated
        x[:2] @= np.ones(2, "int64")
    with pytest.raises(TypeError, match="matmul: out must be of a dtype that float32 casts to, got int64"):
        x @= np.ones((2, 2))
    y = np.ones((2, 2))
    y.attach_grad()
    with autograd.record(), pytest.raises(RuntimeError, match="must not be written in place while recording"):
        y @= y
    assert x.tolist() == [[1, 0], [2, 3], [4, 5]]


@pytest.mark.parametrize("into", [np.sum, np.linalg.multi_dot, np.fft.fft])
def test_results_in_given_arrays_do_not_lose_gradients(into: Any) -> None:
    x = np.ones((2, 2))
    x.attach_grad()
    operand = [x, x] if into is np.linalg.multi_dot else x
    out = np.zeros_like(into(operand))
    with autograd.record(), pytest.raises(RuntimeError, match="must not be written in place while recording"):
        into(operand, out=out)
    assert not out.any().item()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64"])
@pytest.mark.parametrize("shape", [(), (0,), (2,), (2, 3)])
def test_python_numbers_are_made_of_the_same_arrays_as_by_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    array, numpy_array = np.ones(shape, dtype), numpy.ones(shape, dtype)
    for make in (bool, int, float, complex, operator.index, lambda x: x.item()):
        try:
            want = make(numpy_array)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                make(array)
        else:
            assert make(array) == want
            assert type(make(array)) is type(want)


def test_numbers_that_are_no_integers() -> None:
    for value, error in ((np.nan, ValueError), (np.inf, OverflowError), (-np.inf, OverflowError)):
        with pytest.raises(error):
            int(np.asarray(value))
    with pytest.raises(TypeError, match="index: array must have no axes"):
        [1, 2][np.ones((1,), "int64")]


# --- the suite's expected failures (array_api_xfails.txt) ------------------------------------------


def test_floors_of_infinities_are_those_of_python_and_numpy() -> None:
    inf = math.inf
    pairs = [(inf, 2.0), (inf, -2.0), (-inf, 2.0), (-inf, -2.0), (2.0, -inf), (-2.0, inf), (2.0, inf), (-2.0, -inf)]
    a, b = (np.asarray(v, dtype="float64") for v in zip(*pairs, strict=True))
    found = np.floor_divide(a, b)
    with numpy.errstate(invalid="ignore"):
        assert found.numpy().tobytes() == numpy.floor_divide(a.numpy(), b.numpy()).tobytes()
    assert repr(found.tolist()) == repr([x // y for x, y in pairs])


def test_signs_of_zeros() -> None:
    for b in (1.0, 2.0, 4.0, -1.0, -2.0):
        found = np.tanh(np.asarray(complex(math.inf, b), dtype="complex128")).item()
        assert repr(found) == repr(cmath.tanh(complex(math.inf, b)))
    assert repr(np.expm1(np.asarray(complex(-0.0, 0.0))).item()) == "(-0+0j)"
    assert repr(np.expm1(np.asarray(-0.0)).item()) == "-0.0"


def test_expected_failures_have_reasons() -> None:
    reasoned = False
    for line in Path(__file__).with_name("array_api_xfails.txt").read_text(encoding="utf-8").splitlines():
        assert not line.startswith("array_api_tests/") or reasoned
        reasoned = line.startswith("#") or (reasoned and bool(line))


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_each_nan_is_a_value_of_its_own(name: str, dtype: str) -> None:
    values = numpy.array([[math.nan, 1.0, -0.0], [math.nan, 0.0, 1.0]], dtype)
    found, want = getattr(np, name)(np.asarray(values)), getattr(numpy, name)(values)
    assert found._fields == want._fields
    assert_all_same_bits(tuple(found), tuple(want))
    assert np.isnan(np.unique_values(np.asarray(values))).sum().item() == 2


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_in_axes_that_have_elements(name: str) -> None:
    x = np.zeros((2, 0, 3))
    for axis, keepdims in ((0, False), (-1, True)):
        assert_all_same_bits(
            getattr(np, name)(x, axis, keepdims=keepdims), getattr(numpy, name)(x.numpy(), axis, keepdims=keepdims)
        )
    for axis in (None, 1):
        with pytest.raises(ValueError, match="reduced axes must not be empty, got shape"):
            getattr(np, name)(x, axis)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_scans_of_a_number(name: str) -> None:
    for initial in (False, True):
        found = getattr(np, name)(np.asarray(7), include_initial=initial)
        assert_all_same_bits(found, getattr(numpy, name)(numpy.asarray(7), include_initial=initial))


def test_inner_products_along_an_axis_of_each() -> None:
    a, b = np.arange(12).reshape(2, 3, 2), np.arange(6).reshape(3, 2)
    for axis in (-2, -1):
        assert_all_same_bits(np.vecdot(a, b, axis=axis), numpy.vecdot(a.numpy(), b.numpy(), axis=axis))
    c = np.arange(4).reshape(2, 2)
    assert_all_same_bits(np.vecdot(a, c, axis=0), numpy.vecdot(a.numpy(), c.numpy(), axis=0))
    for bad in ((a, b[:, :1]), (a, np.ones((1, 1), "int64")), (a, np.ones(()))):
        with pytest.raises(ValueError, match="vecdot: "):
            np.vecdot(*bad)


def test_bounds_have_the_names_of_the_standard_and_of_numpy() -> None:
    x = np.asarray([1, 5, 9])
    for found in (
        np.clip(x, 2, 6),
        np.clip(x, min=2, max=6),
        np.clip(x, a_min=2, a_max=6),
        np.clip(x, 2, max=6),
    ):
        assert found.tolist() == [2, 5, 6]
    assert np.clip(x, max=6).tolist() == [1, 5, 6]
    assert np.clip(x, 2).tolist() == [2, 5, 9]
    y = np.clip(x)
    y += 1
    assert x.tolist() == [1, 5, 9]
