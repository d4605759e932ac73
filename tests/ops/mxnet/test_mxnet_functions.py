"""Functions that only MXNet has, where the table of cases does not reach: ends, masks, errors."""

import math
from typing import Any

import numpy
import pytest
import scipy.special

from forerun import np, npx
from forerun.testing import check_grads
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import random_leaf

RNG = numpy.random.default_rng(5)


# --- functions ------------------------------------------------------------------------------------


def test_gamma_at_its_ends() -> None:
    x = np.array([0.0, -1.0, -2.0, math.inf, 171.5, 172.0, math.nan, -0.5, 1e-300], dtype="float64")
    nan, inf = math.nan, math.inf
    assert_close(npx.gamma(x), [inf, nan, nan, inf, math.gamma(171.5), inf, nan, math.gamma(-0.5), 1e300], 1e-12)
    assert_close(npx.gammaln(x)[:5], [inf, inf, inf, inf, math.lgamma(171.5)], 1e-14)
    assert npx.gamma([3]).dtype == "float32"
    assert npx.gamma(np.array([3.0], dtype="float16")).tolist() == [2.0]


def test_gamma_of_integers() -> None:
    x = np.arange(1, 20, dtype="float64")
    expected = [math.factorial(n - 1) for n in range(1, 20)]
    numpy.testing.assert_allclose(npx.gamma(x).asnumpy(), expected, rtol=1e-13)


def test_erfinv_at_its_ends() -> None:
    x = np.array([-1.0, 1.0, 1.5, 0.0, 1 - 1e-15, -1e-200], dtype="float64")
    found = npx.erfinv(x).asnumpy()
    assert found[:2].tolist() == [-math.inf, math.inf]
    assert math.isnan(found[2])
    assert_close(found[3:], [0, scipy.special.erfinv(1 - 1e-15), -math.sqrt(math.pi) / 2 * 1e-200], 1e-9)
    inside = np.array(RNG.uniform(-0.999, 0.999, 50), dtype="float64")
    assert_close(npx.erf(npx.erfinv(inside)), inside, 1e-14)


def test_masked_elements_have_no_part() -> None:
    x, mask = random_leaf(3, 4), RNG.random((3, 4)) < 0.6
    mask[:, 1] = True
    y = npx.masked_log_softmax(x, np.array(mask))
    assert (y.asnumpy()[~mask] == -math.inf).all()
    assert_close(np.exp(y), npx.masked_softmax(x, np.array(mask)), 1e-12)
    check_grads(lambda x: np.where(np.array(mask), npx.masked_log_softmax(x, np.array(mask)), 0), x)
    numbers = np.where(np.array(mask), -2, 0)
    assert_close(npx.masked_softmax(x, numbers), npx.masked_softmax(x, np.array(mask)), 0)
    nowhere = npx.masked_log_softmax(x, np.zeros((3, 4)))
    assert (nowhere.asnumpy() == -math.inf).all()


def test_attention_of_many_heads_beside_each_head() -> None:
    """Self-attention that does not look ahead, as products for all heads at once and as sums for each."""
    steps, batch, heads, width = 5, 2, 3, 4
    x = random_leaf(steps, batch, heads * 3 * width)
    mask = numpy.tril(numpy.ones((steps, steps)))
    weights = npx.masked_softmax(npx.interleaved_matmul_selfatt_qk(x, heads), np.array(mask))
    found = npx.interleaved_matmul_selfatt_valatt(x, weights, heads).asnumpy()
    apart = x.asnumpy().reshape(steps, batch, heads, 3, width)
    for b in range(batch):
        for h in range(heads):
            q, k, v = (apart[:, b, h, i] for i in range(3))
            for t in range(steps):
                e = numpy.exp(k[: t + 1] @ q[t] / 2)
                assert_close(found[t, b, h * width : (h + 1) * width], e @ v[: t + 1] / e.sum(), 1e-12)


@pytest.mark.parametrize(
    ("codes", "reverse", "expected"),
    [
        ((-2, -5), False, (2, 24)),
        ((-2, -2, -6, 2, -1), False, (2, 3, 2, 4)),
        ((-1, -4), False, (2, 3, 8)),
        ((-1, -2), True, (6, 8)),
        ((-5, -2), True, (6, 8)),
        ((-6, 1, 2, -4), False, (1, 2, 3, 8)),
        ((-4, -6, -1, 4), True, (2, 3, 2, 4)),
        ((-2, -1), False, (2, 24)),
        ((-1, 4), False, (12, 4)),
        ((-4, 1), False, (2, 3, 8, 1)),
        (48, False, (48,)),
    ],
)  # fmt: skip
def test_codes_of_reshape_are_those_of_mxnet(codes: Any, reverse: bool, expected: tuple[int, ...]) -> None:
    assert npx.reshape(np.zeros((2, 3, 8)), codes, reverse).shape == expected


@pytest.mark.parametrize("codes", [(-2, -2, -2, -2), (-3, -4), (-6, 3, 2, -4), (5, -4), (-6,)])
def test_codes_that_do_not_fit(codes: Any) -> None:
    with pytest.raises(ValueError, match="reshape"):
        npx.reshape(np.zeros((2, 3, 8)), codes)


def test_of_several_values_for_a_place_the_last_stays() -> None:
    at = np.array([[1, 1, 0]])
    assert npx.index_update(np.zeros(3), at, np.array([5.0, 6.0, 7.0])).tolist() == [7, 6, 0]
    assert npx.index_update(np.ones(2), np.zeros((1, 0)).astype("int64"), np.zeros(0)).tolist() == [1, 1]
    assert npx.index_add(np.zeros((2, 2)), np.array([[1, 1]]), 2).tolist() == [[0, 0], [4, 4]]


def test_loops_over_several_arrays() -> None:
    x, y = random_leaf(4, 2), random_leaf(4, 3)
    body = lambda parts, states: ([parts[0] * 2, parts[1].sum()], [states[0] + parts[0]])
    (doubled, sums), (total,) = npx.foreach(body, [x, y], [np.zeros(2, dtype="float64")])
    assert_close(doubled, 2 * x.asnumpy())
    assert_close(sums, y.asnumpy().sum(1))
    assert_close(total, x.asnumpy().sum(0))


def test_invalid_arguments_raise() -> None:
    x = np.zeros((3, 2, 12))
    for call, message in [
        (lambda: npx.interleaved_matmul_selfatt_qk(x, 5), r"selfatt_qk: array must have 3 axes, .*, got shape"),
        (lambda: npx.sequence_last(x, axis=2), "sequence_last: axis must be 0 or 1"),
        (lambda: npx.sequence_reverse(x, np.ones(3), True), r"sequence_length must have shape \(2,\), got \(3,\)"),
        (lambda: npx.broadcast_like(x, x, (0,)), "broadcast_like: both axes must be given, or none"),
        (lambda: npx.group_norm(x, x, x, 3), "group_norm: array must have a multiple of 3 channels"),
        (lambda: npx.instance_norm(x[0], x, x), "instance_norm: array must have 3 axes or more"),
        (lambda: npx.batch_norm(x, x, x, x, x, axis=3), "batch_norm: array must have axis 3"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()
