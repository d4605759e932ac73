"""Conversion of values between dtypes: defined for every value, and the same at every position."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy
import pytest

from forerun import np, npx
from tests.ops.cases.table import EVERY_DTYPE
from tests.support.engine.settings import ENGINES, running

INTEGERS = [d for d in EVERY_DTYPE if d.kind in "iu"]
FLOATS = [d for d in EVERY_DTYPE if d.kind == "f"]
# Inside and outside of every integer: halves, edges and their neighbours, and values without an integer part.
EDGES = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 300.0, -1.0, -129.0, 255.9, 40000.0, 65504.0, 3e9, -3e9, 5e9, 1e19,
         -1e19, 1e20, 1e300, -1e300, math.inf, -math.inf, math.nan, 5e-324] + [
    sign * math.ldexp(1.0, n) + step
    for n in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1) for step in (-1.0, -0.5, 0.0, 0.5, 1.0)
]  # fmt: skip


def integer_of(value: float, dtype: numpy.dtype) -> int:
    """The rule of docs/reference/arrays.md: low bits of the integer part, or of the least integer of the first step."""
    bits = 8 * dtype.itemsize
    unsigned = dtype == numpy.uint64
    steps = 32 if bits < 32 or dtype == numpy.int32 else 64
    low, high = -(2 ** (steps - 1)), 2 ** (steps - 1)
    if unsigned and not math.isnan(value) and value >= high:
        whole = int(value) if value < 2**64 else 0
    else:
        whole = int(value) if not math.isnan(value) and low <= value < high else low
    kept = whole % 2**bits
    return kept - 2**bits if dtype.kind == "i" and kept >= 2 ** (bits - 1) else kept


def edges_of_dtype(dtype: numpy.dtype) -> numpy.ndarray:
    with numpy.errstate(all="ignore"):
        return numpy.array(EDGES).astype(dtype)


@pytest.mark.parametrize("to", INTEGERS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
class TestFloatsToIntegers:
    def test_known_casts(self, source: numpy.dtype, to: numpy.dtype) -> None:
        values = edges_of_dtype(source)
        want = [integer_of(float(v), to) for v in values]
        assert np.asarray(values).astype(to).tolist() == want

    def test_casts_equal_numpy_where_defined(self, source: numpy.dtype, to: numpy.dtype) -> None:
        limits = numpy.iinfo(to)
        values = edges_of_dtype(source)
        held = numpy.array([limits.min - 1 < float(v) < limits.max + 1 for v in values])
        assert np.asarray(values[held]).astype(to).tolist() == values[held].astype(to).tolist()

    def test_casts_do_not_depend_on_position(self, source: numpy.dtype, to: numpy.dtype) -> None:
        values = edges_of_dtype(source)
        one = np.asarray(values).astype(to).numpy()
        for length in (1, 3, 8, 17, 64, 100, 1000):
            for start in (0, 1, 5):
                row = numpy.resize(numpy.roll(values, start), length)
                want = numpy.resize(numpy.roll(one, start), length)
                x = np.asarray(row)
                assert (x.astype(to).numpy() == want).all()
                spread = np.zeros((length, 3), source)
                spread[:, 1] = x
                assert (spread[:, 1].astype(to).numpy() == want).all()
                assert (spread[::-1, 1].astype(to).numpy() == want[::-1]).all()

    def test_casts_do_not_depend_on_the_call(self, source: numpy.dtype, to: numpy.dtype) -> None:
        values = edges_of_dtype(source)
        want = np.asarray(values).astype(to).tolist()
        assigned = np.zeros(len(values), to)
        assigned[...] = np.asarray(values)
        assert assigned.tolist() == want
        assert np.asarray(values, to).tolist() == want
        assert [np.full((), float(v), to).item() for v in values] == [integer_of(float(v), to) for v in values]


@pytest.mark.parametrize("to", INTEGERS, ids=str)
def test_tiles_and_workers_make_no_difference(to: numpy.dtype) -> None:
    values = numpy.resize(edges_of_dtype(numpy.dtype("float64")), 300_001)
    want = numpy.resize(np.asarray(edges_of_dtype(numpy.dtype("float64"))).astype(to).numpy(), 300_001)
    for mode in ENGINES:
        with running(mode):
            x = np.asarray(values)
            assert (x.astype(to).numpy() == want).all()
            together = x * 1  # with the cast in one group
            assert (together.astype(to).numpy() == want).all()


@pytest.mark.parametrize("source", EVERY_DTYPE, ids=str)
@pytest.mark.parametrize("to", [d for d in EVERY_DTYPE if d.kind in "fcb"], ids=str)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning", "ignore:.*encountered in cast")
def test_other_casts_are_numpys(source: numpy.dtype, to: numpy.dtype) -> None:
    rng = numpy.random.default_rng(0)
    if source.kind == "b":
        values = numpy.array([True, False])
    elif source.kind in "iu":
        limits = numpy.iinfo(source)
        values = numpy.concatenate([rng.integers(limits.min, limits.max, 999, source, True), [limits.min, limits.max]])
    else:
        values = edges_of_dtype(source)
    got, want = np.asarray(values).astype(to).numpy(), values.astype(to)
    assert numpy.array_equal(got, want, equal_nan=to.kind in "fc")
    if to.kind == "f":
        assert (numpy.signbit(got) == numpy.signbit(want)).all()


class TestWarnings:
    @pytest.mark.parametrize(
        "lose",
        [
            lambda z: z.astype("float32"),
            lambda z: np.astype(z, "int64"),
            lambda z: np.asarray(z, dtype="float64"),
            lambda z: np.array(numpy.array([1j]), dtype=float),
            lambda z: np.full(2, 1j, float),
            lambda z: np.zeros(1).__setitem__(..., z),
            lambda z: np.zeros(1).__setitem__(np.array([0]), z),
            lambda z: np.zeros(1).__setitem__(slice(None), numpy.array([1j])),
        ],
    )
    def test_imaginary_parts_are_not_lost_in_silence(self, lose: Any) -> None:
        z = np.array([1 + 2j])
        with pytest.warns(numpy.exceptions.ComplexWarning, match="discards the imaginary part") as caught:
            lose(z)
        assert [w.filename for w in caught] == [__file__]

    def test_no_other_warnings(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.array([1j, 0]).astype(bool).tolist() == [True, False]
            assert np.array([1j]).astype("complex128").dtype == "complex128"
            np.array([math.nan, 1e300]).astype("int8").wait()
            np.array([1e300], "float64").astype("float16").wait()


class TestRules:
    @pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
    def test_astype_follows_casting_rules(self, casting: str) -> None:
        for a in EVERY_DTYPE:
            x = np.zeros(2, a)
            for b in EVERY_DTYPE:
                allowed = numpy.can_cast(a, b, casting)  # type: ignore[arg-type]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
                    if allowed or a == b:
                        assert x.astype(b, casting=casting).dtype == b
                    else:
                        with pytest.raises(TypeError, match="astype: casting must be possible by rule"):
                            x.astype(b, casting=casting)

    def test_astype_refuses_unknown_orders_and_castings(self) -> None:
        x = np.ones(2)
        with pytest.raises(ValueError, match="astype: order must be one of C, F, A, K, got 'Q'"):
            x.astype("int8", order="Q")
        with pytest.raises(ValueError, match="casting must be one of"):
            x.astype("int8", casting="some")

    def test_ufuncs_with_a_dtype_or_an_output(self) -> None:
        for a in EVERY_DTYPE:
            for b in EVERY_DTYPE:
                x, wide = numpy.ones(2, a), numpy.ones(2, b)
                for call in (
                    lambda n, x, o: n.add(x, x, dtype=o.dtype),
                    lambda n, x, o: n.add(x, x, out=o),
                    lambda n, x, o: n.multiply(x, 1, out=o),
                ):
                    try:
                        want = call(numpy, x, wide.copy()).dtype
                    except TypeError:
                        with pytest.raises(TypeError):
                            call(np, np.asarray(x), np.asarray(wide))
                    else:
                        assert call(np, np.asarray(x), np.asarray(wide)).dtype == want


class TestPythonNumbers:
    """As in NumPy 2: they take the dtype of the array, and one that does not fit is refused."""

    @pytest.mark.parametrize("dtype", INTEGERS, ids=str)
    def test_integers_that_do_not_fit(self, dtype: numpy.dtype) -> None:
        limits = numpy.iinfo(dtype)
        x = np.ones(2, dtype)
        for fits in (limits.min, limits.max):
            made = (
                np.array(fits, dtype),
                np.array([fits], dtype),
                np.full((), fits, dtype),
                np.full_like(x, fits),
            )
            assert {int(m.reshape(-1)[0].item()) for m in made} == {fits}
            assert (x * 0 + fits).tolist() == [fits, fits]
        for beyond in (limits.min - 1, limits.max + 1):
            for use in (
                lambda v: np.array(v, dtype),
                lambda v: np.array([1, v], dtype),
                lambda v: np.full(2, v, dtype),
                lambda v: np.full_like(x, v),
                lambda v: x + v,
                lambda v: v * x,
                lambda v: np.maximum(x, v),
                lambda v: x.__setitem__(0, v),
                lambda v: x.__setitem__(..., v),
            ):
                with pytest.raises(OverflowError):
                    use(beyond)
            assert (x < beyond).tolist() == [beyond > 1] * 2
            assert (x == beyond).tolist() == [False, False]
        assert np.clip(x, limits.min - 1, limits.max + 1).tolist() == [1, 1]

    @pytest.mark.parametrize("dtype", [*FLOATS, numpy.dtype("complex64")], ids=str)
    def test_floats_too_large_are_infinite(self, dtype: numpy.dtype) -> None:
        if dtype != numpy.float64:
            assert np.isinf(np.ones(1, dtype) + 1e300).item()
            assert np.isinf(np.array([1e300], dtype)).item()

    def test_lists_are_taken_as_by_numpy(self) -> None:
        assert np.array([1.5, -2.5], int).tolist() == [1, -2]
        assert np.array(["1.5"], float).tolist() == [1.5]
        for refused, kind in (
            (lambda: np.array([math.nan], int), ValueError),
            (lambda: np.array([1j], float), TypeError),
            (lambda: np.array([3e9], "int32"), OverflowError),
        ):
            with pytest.raises(kind):
                refused()

    def test_numpy_input_keeps_its_dtype(self) -> None:
        assert np.array(numpy.float64(1.5)).dtype == np.full(2, numpy.float64(1.5)).dtype == "float64"
        assert np.array([numpy.float16(1)]).dtype == "float16"
        assert np.array(numpy.arange(3, dtype=">i2")).dtype == "int16"

    def test_filling_loses_fractions_as_numpy(self) -> None:
        assert np.full(2, 1.5, int).tolist() == numpy.full(2, 1.5, int).tolist()
        assert np.full_like(np.ones(2, int), -1.5).tolist() == [-1, -1]


@pytest.mark.parametrize("dtype", [d for d in EVERY_DTYPE if d.itemsize > 1], ids=str)
def test_the_other_byte_order_is_swapped(dtype: numpy.dtype) -> None:
    values = numpy.array([0, 1, 2, 100]).astype(dtype)
    swapped = values.astype(dtype.newbyteorder(">"))
    assert not swapped.dtype.isnative
    for made in (
        np.array(swapped),
        np.asarray(swapped),
        np.asarray(swapped[::2]),
        np.zeros(4, dtype) + swapped,
    ):
        assert made.dtype == dtype
        assert made.dtype.isnative
        assert made.tolist() == values[:: 4 // made.size].tolist()
    with pytest.raises(TypeError, match=r"zeros: dtype must be .* in native byte order, got"):
        np.zeros(2, swapped.dtype)


@pytest.mark.parametrize(
    "dtype", ["longdouble", "clongdouble", object, "U3", "S3", "M8[s]", "m8[s]", [("a", "i4")]], ids=str
)
def test_dtypes_that_arrays_cannot_have(dtype: Any) -> None:
    supported = "bool, integer, float16/32/64, bfloat16 or complex64/128"
    npx.waitall()
    for refused in (
        lambda: np.zeros(2, dtype),
        lambda: np.asarray(numpy.zeros(2, dtype)),
        lambda: np.array([0], dtype=dtype),
        lambda: np.ones(2).astype(dtype),
        lambda: np.result_type("int8", dtype),
        lambda: np.random.normal(size=2, dtype=dtype),
    ):
        with pytest.raises(TypeError, match=supported):
            refused()
    with pytest.raises(TypeError, match=f"operand must be {supported}"):
        np.add(np.ones(2), numpy.zeros(2, dtype))
