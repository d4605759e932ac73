"""Questions about dtypes and shapes are answered as by NumPy, but for an integer with a float."""

from __future__ import annotations

import numpy
import pytest

from forerun import autograd, np
from tests.ops.cases.table import EVERY_DTYPE


def test_scalars_and_kinds() -> None:
    for x in (1, 1.5, True, numpy.float32(2), "a"):
        assert np.isscalar(x)
    for x in (np.ones(()), np.ones(3), [1]):
        assert not np.isscalar(x)
    assert np.iscomplexobj(np.ones(2, "complex64"))
    assert np.iscomplexobj(1j)
    assert np.isrealobj(np.ones(2))
    assert not np.isrealobj([1j, 2])


def test_types_together() -> None:
    for a in EVERY_DTYPE:
        for b in EVERY_DTYPE:
            want = (np.ones(1, a) + np.ones(1, b)).dtype
            assert np.promote_types(a, b) == want
            assert np.can_cast(a, b) == numpy.can_cast(a, b)
            assert np.can_cast(np.ones(2, a), b, "same_kind") == numpy.can_cast(a, b, "same_kind")


def test_limits() -> None:
    assert np.finfo(np.float32).max == numpy.finfo("float32").max
    assert np.iinfo("int8").min == -128
    assert np.issubdtype(np.ones(1).dtype, numpy.floating)


def test_shapes_together() -> None:
    assert np.broadcast_shapes((3, 1), (4,), 1) == (3, 4)
    assert np.broadcast_shapes() == ()


@pytest.mark.parametrize("x", [2.5, -2.5, 0.25])
def test_the_fraction_has_the_slope(x: float) -> None:
    a = np.array(x)
    a.attach_grad()
    with autograd.record():
        fraction, whole = np.modf(a)
        y = fraction * 2 + whole
    y.backward()
    assert a.grad.item() == 2


def test_frexp_and_modf() -> None:
    assert [r.item() for r in np.frexp(6)] == [0.75, 3]
    assert [r.tolist() for r in np.frexp(np.zeros(2))] == [[0, 0], [0, 0]]
    assert [r.item() for r in np.modf(-3)] == [0, -3]
    assert [r.tolist() for r in np.divmod(7, np.array([2, -2]))] == [[3, -4], [1, -1]]


def test_numpy_functions_of_several_results_and_of_vectors_run_here() -> None:
    m, v = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0])
    for function in (numpy.modf, numpy.frexp, lambda x: numpy.divmod(7, x)):
        assert all(isinstance(r, np.ndarray) for r in function(v))
    assert [r.tolist() for r in numpy.divmod(7, np.array([2, -2]))] == [[3, -4], [1, -1]]
    for name, args, want in (
        ("matvec", (m, v), [-1, -1]),
        ("vecmat", (v, m), [-2, -2]),
        ("vecdot", (v, v), 2),
    ):
        got = getattr(numpy, name, getattr(np, name))(*args)  # matvec and vecmat: since NumPy 2.2
        assert isinstance(got, np.ndarray)
        assert got.tolist() == want
    assert isinstance(numpy.fft.fft(v), np.ndarray)
    assert isinstance(numpy.isin(v, [1]), np.ndarray)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("exponent", [2, 2.0, 0.5, -1, -1.0, 0, 1, 3])
def test_the_power_operator_has_the_bits_of_numpys(dtype, exponent):
    x = numpy.array([1, 2, 3.3, 7, 0.1, -0.0 if exponent >= 0 else 5], dtype)
    array = np.array(x)
    assert (array**exponent).asnumpy().tobytes() == (x**exponent).tobytes()
    array **= exponent
    assert array.asnumpy().tobytes() == (x**exponent).tobytes()
