"""What the Python array API standard asks of the namespace and the arrays; its suite asks more (CONTRIBUTING.md)."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import forerun
from conftest import closed_gate
from forerun import cpu, np, npx

NAMES = {
    "bool": ["bool"],
    "signed integer": ["int8", "int16", "int32", "int64"],
    "unsigned integer": ["uint8", "uint16", "uint32", "uint64"],
    "real floating": ["float32", "float64"],
    "complex floating": ["complex64", "complex128"],
}


# --- inspection -----------------------------------------------------------------------------------


def test_arrays_lead_to_the_namespace() -> None:
    x = np.ones(2)
    assert x.__array_namespace__() is np
    for version in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is np
    assert np.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match=r"__array_namespace__: api_version must be one of .* got '1999.12'"):
        x.__array_namespace__(api_version="1999.12")


def test_what_can_be_asked_of_the_namespace() -> None:
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
        np.__array_namespace_info__().default_dtypes(device="cpu:7")


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
        dtypes(device="cpu:7")


# --- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, np.array])
def test_copies_are_made_as_asked(make: Any) -> None:
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


def test_order_is_c() -> None:
    for order in ("C", "K", "A"):
        assert np.asarray([[1, 2]], order=order).tolist() == np.array([[1, 2]], order=order).tolist() == [[1, 2]]
    for make in (np.asarray, np.array):
        with pytest.raises(ValueError, match='order must be "C", got \'F\''):
            make([1], order="F")
    assert np.array([1, 2], ndmin=3).shape == (1, 1, 2)


def test_a_copy_of_another_dtype() -> None:
    x = np.arange(3)
    assert np.astype(x, np.int64, copy=False) is x
    assert np.astype(x, np.int64) is not x
    assert np.astype(x, np.float32, device=cpu(0)).dtype == "float32"
    with pytest.raises(ValueError, match="device: must be one of"):
        np.astype(x, np.float32, device="cpu:7")


def test_a_device_is_given() -> None:
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
