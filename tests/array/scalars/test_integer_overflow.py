"""Python integers that a dtype does not hold, and arrays without axes: NumPy's answers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.many_cases import for_each

WHOLE = ["bool", "int8", "uint8", "int32", "uint32", "int64"]
NUMBERS = [0, 1, -1, 127, 128, 255, 300, -129, 2**31, 2**40, 2**63 - 1, -(2**63), 2**63, 2**64 - 1]


def result_or_exception(function: Any, module: Any) -> Any:
    """The values, the shape and the dtype that a function of arrays gives, or the exception's type."""
    try:
        found = numpy.asarray(function(module))
    except Exception as error:
        return type(error)
    return found.tolist(), found.shape, found.dtype


def pair(module: Any, dtype: str) -> Any:
    return module.asarray([0, 1], dtype=dtype)


@pytest.mark.parametrize("n", NUMBERS)
@pytest.mark.parametrize("dtype", [*WHOLE, "uint64"])
def test_where_has_numpys_answer_for_integers(dtype, n):
    after, before = (
        (lambda m: m.where(pair(m, "bool"), pair(m, dtype), n)),
        (lambda m: m.where(pair(m, "bool"), n, pair(m, dtype))),
    )
    assert result_or_exception(after, np) == result_or_exception(after, numpy)
    assert result_or_exception(before, np) == result_or_exception(before, numpy)


@pytest.mark.parametrize("n", NUMBERS)
def test_where_of_two_integers(n):
    call = lambda m: m.where(pair(m, "bool"), n, -1)
    assert result_or_exception(call, np) == result_or_exception(call, numpy)


def test_where_of_an_integer_of_more_than_64_bits():
    with pytest.raises(OverflowError):
        np.where(np.array([True]), np.array([1]), 2**64)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("n", [300, -300, 2**40, 2**63 - 1])
def test_an_integer_beyond_the_dtype_is_true(n, dtype, name):
    after, before = (lambda m: getattr(m, name)(pair(m, dtype), n)), (lambda m: getattr(m, name)(n, pair(m, dtype)))
    assert result_or_exception(after, np) == result_or_exception(after, numpy)
    assert result_or_exception(before, np) == result_or_exception(before, numpy)
    out = np.zeros(2, bool)
    assert getattr(np, name)(pair(np, dtype), n, out=out) is out
    assert out.tolist() == after(numpy).tolist()


# --- arrays without axes --------------------------------------------------------------------------

# Further arguments of functions with `axis`; None stands for the array itself.
NAMES = """
    sum prod max min all any mean var std ptp average median cumsum cumprod cumulative_sum cumulative_prod argmax argmin
    nansum nanprod nanmax nanmin nanmean nanvar nanstd nanmedian nancumsum nancumprod count_nonzero sort argsort flip
    squeeze diff expand_dims unwrap trapezoid concatenate stack
"""
OF_AXIS: dict[str, tuple[Any, ...]] = dict.fromkeys(NAMES.split(), ()) | {
    "quantile": (0.5,), "percentile": (50,), "nanquantile": (0.5,), "take": (0,), "repeat": (2,), "partition": (0,),
    "argpartition": (0,), "append": (1.0,), "delete": (0,), "insert": (0, 1.0), "vecdot": (None,),
}  # fmt: skip


@for_each("name, axis", itertools.product(OF_AXIS, [0, -1, 1, None, (), (0,), (-1,), 0.5]))
def test_arrays_without_axes(name, axis):
    def call(m: Any) -> Any:
        x = m.asarray(1.5, dtype="float32")
        return getattr(m, name)(x, *(x if a is None else a for a in OF_AXIS[name]), axis=axis)

    got, want = result_or_exception(call, np), result_or_exception(call, numpy)
    if isinstance(want, type):
        assert issubclass(got, want)
    else:
        assert got[:2] == want[:2]


@pytest.mark.parametrize("name", ["cumsum", "argmax", "sort", "diff", "take", "repeat", "concatenate"])
@pytest.mark.parametrize("axis", [(0, 1), (0,), [0]])
def test_axis_must_be_an_integer(name, axis):
    x = np.ones((2, 2))
    with pytest.raises(TypeError, match=f"{name}: axis must be an integer"):
        getattr(np, name)(x, *OF_AXIS.get(name, ()), axis=axis)
