"""Sums and products start where NumPy's do, which zeros with a sign and complex numbers show."""

from __future__ import annotations

import numpy
import pytest

from forerun import autograd, np
from tests.support.comparison.bits import same_bits

SHAPES = [(1,), (3,), (300_000,), (2, 5), (5, 1), (1, 4), (2, 3, 4), (300, 700), (70_000, 2), (2, 70_000), (2, 0)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_zeros_have_numpys_sign(dtype: str, shape: tuple[int, ...], engine: str) -> None:
    """Nothing but -0.0 gives 0.0, wherever it lies."""
    x = numpy.full(shape, complex(-0.0, -0.0) if dtype.startswith("c") else -0.0, dtype)
    array = np.array(x)
    for axis in (None, *range(len(shape))):
        want = numpy.asarray(x.sum(axis))
        assert not numpy.signbit(want.real).any()
        assert same_bits(array.sum(axis).numpy(), want)
        assert same_bits((array * 1).sum(axis).numpy(), want)
        assert same_bits(np.repeat(array, 2, -1)[..., ::2].sum(axis).numpy(), want)
        assert same_bits(np.array(x.T).sum(axis).numpy(), numpy.asarray(x.T.sum(axis)))
        if 0 not in shape:
            assert same_bits(array.mean(axis).numpy(), numpy.asarray(x.mean(axis)))


@pytest.mark.parametrize("initial", [-0.0, 0.0, 2.0, numpy.float32(-0.0), numpy.array(-0.0), None], ids=repr)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
def test_zeros_to_start_from_keep_their_sign(initial: float | None, dtype: str, engine: str) -> None:
    for values in ([], [-0.0], [0.0], [-0.0, -0.0], [-0.0, 0.0], [0.0, -0.0], [1.0, -1.0], [-0.0, 3.0], [numpy.nan]):
        x = numpy.array([values, values])
        if dtype == "int64" and numpy.isnan(x).any():
            continue
        x = x.astype(dtype)
        array = np.array(x)
        more = {} if initial is None else {"initial": initial}
        for axis in (None, 0, 1, (0, 1)):
            for kept in (False, True):
                want = numpy.sum(x, axis, keepdims=kept, **more)
                assert same_bits(np.sum(array, axis, keepdims=kept, **more).numpy(), numpy.asarray(want))
        mask = numpy.array([[True], [False]])
        assert same_bits(np.sum(array, where=mask, **more).numpy(), numpy.asarray(numpy.sum(x, where=mask, **more)))
        for f in ("max", "min"):
            if initial is not None and not numpy.isnan(x).any():
                want = getattr(numpy, f)(x, axis=1, initial=initial)
                assert same_bits(getattr(np, f)(array, axis=1, initial=initial).numpy(), want)


SIGNS = [complex(a, b) for a in (0.0, -0.0) for b in (0.0, -0.0)]
STARTS = [-0.0, *SIGNS, numpy.complex64(complex(0, -0.0)), numpy.array(complex(-0.0, 0)), complex(-0.0, 2), None]


@pytest.mark.parametrize("initial", STARTS, ids=repr)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_each_part_of_a_complex_zero_keeps_its_sign(initial: complex | None, dtype: str, engine: str) -> None:
    more = {} if initial is None else {"initial": initial}
    both = [[SIGNS[1], SIGNS[3]], [SIGNS[2], SIGNS[3]], [SIGNS[3]] * 9, [1, -1], [2j, -2j]]
    for values in ([], *([s] for s in SIGNS), *both):
        x = numpy.array([values, values], dtype)
        array = np.array(x)
        for axis in (None, 0, 1, (0, 1), ()):
            for kept in (False, True):
                want = numpy.sum(x, axis, keepdims=kept, **more)
                assert same_bits(np.sum(array, axis, keepdims=kept, **more).numpy(), numpy.asarray(want))
        mask = numpy.array([[True], [False]])
        for axis in (None, 0, 1):
            want = numpy.sum(x, axis, where=mask, **more)
            assert same_bits(np.sum(array, axis, where=mask, **more).numpy(), numpy.asarray(want))
    real = numpy.array([-0.0, -0.0])
    want = numpy.sum(real, dtype=dtype, **more)
    assert same_bits(np.sum(np.array(real), dtype=dtype, **more).numpy(), numpy.asarray(want))


def test_the_gradient_of_a_sum_from_minus_zero() -> None:
    for values in ([-0.0, -0.0], [1.0, -1.0], [0.0, 2.0], [-0j, 2 + 1j]):
        x = np.array(values)
        x.attach_grad()
        with autograd.record():
            y = np.sum(x, initial=-0.0)
        y.backward()
        assert x.grad.tolist() == [1, 1]


@pytest.mark.parametrize("number", [complex(numpy.inf, 1), complex(-0.0, 2), complex(0, -0.0), 2 - 3j], ids=str)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_products_of_complex_numbers_start_from_one(number: complex, n: int, engine: str) -> None:
    x = numpy.full((n, 3), number)
    for axis in (None, 0, 1):
        with numpy.errstate(all="ignore"):
            want = x.prod(axis)
        assert same_bits(np.array(x).prod(axis).numpy(), numpy.asarray(want))


VALUES = numpy.array([[1.5, 2, 4], [-5, 6, 8.7]])


@pytest.mark.parametrize("given", ["float64", "int64", "int8"])
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool", "complex64", "float32"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_means_in_a_dtype_are_numpys(given: str, dtype: str, axis: int | None) -> None:
    """A dtype without fractions cuts them off: of the sum's terms, of the quotient."""
    x = VALUES.astype(given)
    array = np.array(x)
    mask = numpy.array([[True, False, True], [True, True, False]])
    for f in ("mean", "var"):
        for more in ({}, {"keepdims": True}, {"where": mask}, {"ddof": 1} if f == "var" else {}):
            want = numpy.asarray(getattr(numpy, f)(x, axis, dtype=dtype, **more))
            forerun_options = {k: np.array(v) if k == "where" else v for k, v in more.items()}
            got = getattr(np, f)(array, axis, dtype=dtype, **forerun_options).numpy()
            assert got.dtype == want.dtype
            assert got.shape == want.shape
            numpy.testing.assert_allclose(got, want, rtol=1e-6)


def test_means_of_many_or_large_integers_are_exact() -> None:
    large = numpy.full(3, 2**40 + 1)
    assert np.mean(np.array(large), dtype=int).item() == numpy.mean(large, dtype=int) == 2**40 + 1
    for kind in ("int8", "bool"):
        many = numpy.arange(300) % 2 == 0
        array = np.array(many.astype(kind))
        mask = numpy.arange(300) < 290
        want = numpy.mean(many.astype(kind), dtype=int, where=mask)
        assert np.mean(array, dtype=int, where=np.array(mask)).item() == want
        want = numpy.mean(1000 * many, dtype=int, where=mask)
        assert np.mean(np.array(1000 * many), dtype=int, where=np.array(mask)).item() == want == 500


def test_a_standard_deviation_without_fractions_is_one_number() -> None:
    assert np.std(VALUES, dtype=int).item() == numpy.std(VALUES, dtype=int)
    with pytest.raises(TypeError):
        numpy.std(VALUES, 0, dtype=int)
    with pytest.raises(TypeError, match="std: dtype must have fractions for several results, got int64"):
        np.std(VALUES, 0, dtype=int)
    assert np.std(VALUES, 0, dtype="complex64").dtype == "complex64"
