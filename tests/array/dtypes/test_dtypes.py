"""Dtypes by NumPy's names, and NumPy's answers to questions about them."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy
import pytest

from forerun import np
from tests.ops.cases.table import EVERY_DTYPE

CLASSES = [
    "generic",
    "number",
    "integer",
    "signedinteger",
    "unsignedinteger",
    "inexact",
    "floating",
    "complexfloating",
]
ALIASES = [
    "half", "single", "double", "byte", "ubyte", "short", "ushort", "intc", "uintc", "int_", "uint", "long", "ulong",
    "longlong", "ulonglong", "intp", "uintp", "csingle", "cdouble", "bool_", "bool",
]  # fmt: skip
KINDS = [
    "bool",
    "signed integer",
    "unsigned integer",
    "integral",
    "real floating",
    "complex floating",
    "numeric",
]
NUMBERS: list[Any] = [True, 3, 2.5, 1j]


class TestNames:
    @pytest.mark.parametrize("name", [*CLASSES, *ALIASES, *(d.name for d in EVERY_DTYPE), "dtype"])
    def test_names_are_numpys(self, name: str) -> None:
        assert getattr(np, name) is getattr(numpy, name)
        assert name in dir(np)

    @pytest.mark.parametrize("dtype", EVERY_DTYPE, ids=str)
    def test_serve_as_dtypes_and_as_types(self, dtype: numpy.dtype) -> None:
        name = getattr(np, dtype.name)
        x = np.ones(2, name)
        assert x.dtype == name == dtype
        assert x.astype(name).dtype == np.asarray([1], dtype=name).dtype == dtype
        one = name(1)
        assert isinstance(one, name)
        assert isinstance(one, np.generic)
        assert (x * one).dtype == (one * x).dtype == np.asarray(one).dtype == dtype
        assert type(one * x) is np.ndarray
        assert name(np.ones((), "int8")) == 1

    @pytest.mark.parametrize("name", ALIASES)
    def test_other_names_make_the_same_arrays(self, name: str) -> None:
        assert np.ones(2, getattr(np, name)).dtype == numpy.dtype(getattr(numpy, name))
        x = np.asarray(numpy.ones(2, getattr(numpy, name)))
        assert (x.astype(bool) & True).tolist() == [True, True]
        assert (x + x).dtype == numpy.dtype(getattr(numpy, name))
        assert np.asarray(numpy.ones(2, getattr(numpy, name)), dtype="complex128").tolist() == [1, 1]

    def test_classes_of_dtypes_denote_them(self) -> None:
        x, kind = np.ones(2), numpy.dtypes.Float64DType
        made = np.zeros(2, kind), np.full(2, 1, kind), x.astype(kind), np.add(x, x, dtype=kind), np.array([1], kind)
        assert {y.dtype for y in made} == {numpy.dtype("float64")}
        assert numpy.subtract(x, np.ones(()), dtype=kind).dtype == "float64"  # by a protocol
        for other in (numpy.dtypes.StrDType, numpy.dtypes.ObjectDType, numpy.dtype):
            with pytest.raises(TypeError):
                np.zeros(2, other)

    def test_descriptions_are_numpys(self) -> None:
        codes = [*"?bBhHiIlLqQfdgFDGSUVO", "S1"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy's function, since 2.5
            assert [np.typename(code) for code in codes] == [numpy.typename(code) for code in codes]
        assert np.typename("f") == "single precision"
        with pytest.raises(KeyError):
            np.typename("x")

    def test_unknown_name_raises(self) -> None:
        with pytest.raises(AttributeError, match=r"module 'forerun.np' has no attribute 'float9'"):
            _ = np.float9


class TestLimits:
    @pytest.mark.parametrize("dtype", EVERY_DTYPE, ids=str)
    def test_of_a_dtype_by_any_name_or_array(self, dtype: numpy.dtype) -> None:
        known = [dtype, dtype.name, dtype.type, np.ones(2, dtype), numpy.ones(2, dtype), dtype.type(1)]
        if dtype.kind in "fc":
            found = [np.finfo(x) for x in known]
            want = numpy.finfo(dtype)
            assert all(
                (f.bits, f.eps, f.max, f.min, f.smallest_normal, f.dtype)
                == (want.bits, want.eps, want.max, want.min, want.smallest_normal, want.dtype)
                for f in found
            )
        else:
            for x in known:
                with pytest.raises(ValueError, match=f"finfo: dtype must be of floats, got {dtype}"):
                    np.finfo(x)
        if dtype.kind in "iu":
            want = numpy.iinfo(dtype)
            assert {(i.bits, i.max, i.min, i.dtype) for i in map(np.iinfo, known)} == {
                (want.bits, want.max, want.min, want.dtype)
            }
        else:
            for x in known:
                with pytest.raises(ValueError, match=f"iinfo: dtype must be of integers, got {dtype}"):
                    np.iinfo(x)

    def test_of_pythons_types_and_numbers(self) -> None:
        assert np.finfo(float).dtype == np.finfo(1.5).dtype == np.finfo(1j).dtype == "float32"
        assert np.iinfo(int).dtype == np.iinfo(3).dtype == "int64"


class TestTogether:
    def test_result_type_is_the_dtype_of_operators(self) -> None:
        for a, b in itertools.product(EVERY_DTYPE, repeat=2):
            x, y = np.ones(2, a), np.ones(2, b)
            want = (x + y).dtype
            for first, second in itertools.product((a, a.type, a.name, x), (b, b.type, y)):
                assert np.result_type(first, second) == want
            assert np.promote_types(a, b) == np.result_type(a, b) == np.result_type(b, a) == want
            if "f" not in (a.kind, b.kind) and "c" not in (a.kind, b.kind):
                assert want == numpy.result_type(a, b)

    def test_python_numbers_are_weak(self) -> None:
        for a, number in itertools.product(EVERY_DTYPE, NUMBERS):
            x = np.ones(2, a)
            want = (x * number).dtype
            assert np.result_type(x, number) == np.result_type(number, a) == want, (a, number)
            if a.kind in "fc" or not isinstance(number, (float, complex)):
                assert want == numpy.result_type(a, number)
        for number, want in zip(NUMBERS, ("bool", "int64", "float32", "complex64")):
            assert np.result_type(number) == want
        assert np.result_type(True, 2, 1j) == "complex64"
        assert np.result_type("int8", numpy.float64(1)) == "float64"

    def test_of_more_than_two(self) -> None:
        assert np.result_type("int8", "uint8", "int16") == "int16"
        assert np.result_type("int64", "uint64") == "float64"
        assert np.result_type(np.ones(2, "int64"), "float16", 3.0) == "float16"
        with pytest.raises(ValueError, match="result_type: there must be at least one array or dtype, got none"):
            np.result_type()

    def test_common_type(self) -> None:
        for a, b in itertools.product([d for d in EVERY_DTYPE if d.kind != "b"], repeat=2):
            whole = a.kind in "iu" and b.kind in "iu"
            want = numpy.dtype("float32") if whole else np.promote_types(a, b)
            assert np.common_type(np.ones(2, a), np.ones(2, b)) is want.type
        assert np.common_type() is np.float16
        with pytest.raises(TypeError, match="common_type: arrays must be of numbers, got bool"):
            np.common_type(np.ones(2), np.ones(2, bool))

    def test_min_scalar_type(self) -> None:
        for number in (
            0,
            1,
            255,
            256,
            65536,
            -1,
            -129,
            2**40,
            -(2**40),
            1.5,
            1e30,
            1e300,
            1j,
            True,
            numpy.int64(7),
        ):
            assert np.min_scalar_type(number) == numpy.min_scalar_type(number)
        assert np.min_scalar_type(np.array(300)) == "uint16"
        assert np.min_scalar_type(np.array([300])) == "int64"


class TestKinds:
    def test_can_cast(self) -> None:
        for a, b in itertools.product(EVERY_DTYPE, repeat=2):
            for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
                want = numpy.can_cast(a, b, casting)  # type: ignore[arg-type]
                for source in (a, a.name, a.type, np.ones(2, a)):
                    assert np.can_cast(source, b.type, casting) == want
        for number in NUMBERS:
            with pytest.raises(TypeError, match="can_cast: from_ must be a dtype or an array"):
                np.can_cast(number, "int8")

    def test_issubdtype(self) -> None:
        kinds = [getattr(np, name) for name in CLASSES]
        for a in [*EVERY_DTYPE, *(d.type for d in EVERY_DTYPE), *(d.name for d in EVERY_DTYPE), *kinds]:
            for b in [*kinds, *EVERY_DTYPE, "float32", float, int]:
                assert np.issubdtype(a, b) == numpy.issubdtype(a, b), (a, b)

    def test_isdtype(self) -> None:
        words: list[Any] = [*KINDS, *itertools.combinations(KINDS, 2), ("bool", numpy.dtype("int8"))]
        for a in [*EVERY_DTYPE, *(d.type for d in EVERY_DTYPE)]:
            for kind in [*words, *EVERY_DTYPE, *(d.type for d in EVERY_DTYPE)]:
                assert np.isdtype(a, kind) == numpy.isdtype(a, kind), (a, kind)

    @pytest.mark.parametrize(
        ("dtype", "kind", "error"),
        [("float32", "numeric", TypeError), (np.float32, 5, TypeError), (np.float32, "float", ValueError)],
    )
    def test_isdtype_refuses(self, dtype: Any, kind: Any, error: type[Exception]) -> None:
        for ask in (np.isdtype, numpy.isdtype):
            with pytest.raises(error):
                ask(dtype, kind)
