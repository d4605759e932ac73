"""Statistics where there is nothing to count, and their gradients."""

from __future__ import annotations

import numpy
import pytest

from forerun import autograd, np
from tests.support.comparison.bits import same_bits

NAN = float("nan")


@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanmean", "nanvar", "nanstd"])
def test_a_column_of_nan_gives_nan(name: str) -> None:
    x = np.array([[NAN, 1.0], [NAN, NAN]])
    got = getattr(np, name)(x, 0).tolist()
    assert numpy.isnan(got[0])
    assert got[1] == (0.0 if name in ("nanvar", "nanstd") else 1.0)


def test_nansum_and_nanprod_of_nan_are_the_identities() -> None:
    x = np.array([NAN, NAN])
    assert np.nansum(x).item() == 0
    assert np.nanprod(x).item() == 1
    assert np.nancumsum(x).tolist() == [0, 0]
    assert np.nancumprod(x).tolist() == [1, 1]


def test_gradient_of_nan_elements_is_zero() -> None:
    x = np.array([NAN, 2.0, 5.0])
    for function, want in ((np.nanmax, [0, 0, 1]), (np.nansum, [0, 1, 1]), (np.nanmean, [0, 0.5, 0.5])):
        x.attach_grad()
        with autograd.record():
            y = function(x)
        y.backward()
        assert x.grad.tolist() == want


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_spread_of_infinities_is_nan_as_that_of_var(name: str) -> None:
    x = numpy.array([[1, numpy.inf, NAN], [1, NAN, 3]])
    assert repr(getattr(np, name)(np.array(x), 1).tolist()) == repr([NAN, 1.0])
    assert numpy.isnan(getattr(np, name)(np.array(x)).item())


def test_nanvar_of_not_more_than_ddof_is_nan() -> None:
    assert numpy.isnan(np.nanvar(np.array([1.0, NAN]), ddof=1).item())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "int32"])
def test_nan_to_num(dtype: str) -> None:
    values = numpy.array([1.0, NAN, numpy.inf, -numpy.inf, 0.5])
    with numpy.errstate(all="ignore"):
        values = values.astype(dtype)
    x = np.array(values)
    assert same_bits(np.nan_to_num(x).numpy(), numpy.nan_to_num(values))
    assert same_bits(np.nan_to_num(x, True, 2, 3, -4).numpy(), numpy.nan_to_num(values, True, 2, 3, -4))
    assert np.nan_to_num(x, copy=False) is x
    assert same_bits(x.numpy(), numpy.nan_to_num(values))


def test_covariance_of_too_few_observations_is_nan() -> None:
    assert numpy.isnan(np.cov(np.array([1.0])).item())


def test_edges_that_fall_are_an_error_where_the_counts_are_read() -> None:
    counts, _ = np.histogram(np.arange(3), np.array([0.0, 2.0, 1.0]))
    with pytest.raises(ValueError, match="must increase monotonically"):
        counts.numpy()


def test_edges_may_be_given_as_a_list() -> None:
    counts, edges = np.histogram(np.array([0.5, 1.5, 1.6]), [0, 1, 2])
    assert counts.tolist() == [1, 2]
    assert edges.tolist() == [0, 1, 2]
    assert edges.dtype == numpy.int64
