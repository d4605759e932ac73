"""Gradients of random numbers to the parameters of their distributions."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from scipy import special

from forerun import autograd, gluon, np, npx
from forerun.ops.random.implicit import gamma_slope
from tests.support.comparison.gradients import leaves_of

CLOSED: dict[str, tuple[float, ...]] = {
    "exponential": (1.5,), "weibull": (1.7,), "pareto": (3.5,), "power": (1.3,), "rayleigh": (0.7,),
    "logistic": (0.3, 1.2), "lognormal": (0.3, 0.4), "gumbel": (0.3, 1.2), "laplace": (-0.3, 0.8),
    "normal": (0.3, 1.2), "uniform": (-0.5, 2.0),
}  # fmt: skip
MEANS = {  # of a distribution with these parameters
    "exponential": lambda s: s, "weibull": lambda a: special.gamma(1 + 1 / a), "pareto": lambda a: 1 / (a - 1),
    "power": lambda a: a / (a + 1), "rayleigh": lambda s: s * numpy.sqrt(numpy.pi / 2), "logistic": lambda m, s: m,
    "lognormal": lambda m, s: numpy.exp(m + s * s / 2), "gumbel": lambda m, s: m + s * numpy.euler_gamma,
    "laplace": lambda m, s: m, "normal": lambda m, s: m, "uniform": lambda a, b: (a + b) / 2,
    "gamma": lambda a, s: a * s, "chisquare": lambda df: df, "standard_gamma": lambda a: a,
}  # fmt: skip
IMPLICIT: dict[str, tuple[float, ...]] = {"gamma": (0.8, 1.5), "chisquare": (3.0,), "standard_gamma": (0.4,)}


def backward(draw: Callable[..., Any], parameters: list[Any], weights: Any = 1.0) -> Any:
    with autograd.record():
        y = draw(*parameters)
        loss = (y * weights).sum()
    loss.backward()
    return y


@pytest.mark.parametrize("name", CLOSED)
def test_gradients_are_those_of_the_numbers_with_this_seed(name: str) -> None:
    weights = np.array(numpy.cos(numpy.arange(12)).reshape(4, 3), dtype="float64")
    values = [numpy.array([p, 1.2 * p, 0.9 * p]) for p in CLOSED[name]]

    def draw(*parameters: Any) -> Any:
        np.random.seed(5)
        return getattr(np.random, name)(*parameters, size=(4, 3), dtype="float64")

    parameters = leaves_of(*values)
    backward(draw, parameters, weights)
    for i, x in enumerate(parameters):
        assert x.grad.dtype == "float64"
        for j in range(3):
            ends = []
            for h in (1e-5, -1e-5):
                moved = [v.copy() for v in values]
                moved[i][j] += h
                ends.append((draw(*(np.array(v, dtype="float64") for v in moved)) * weights).sum().item())
            assert x.grad[j].item() == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_as_parameters_give_the_numbers_that_numbers_give(name: str, dtype: str) -> None:
    draw = getattr(np.random, name)
    plain = draw(*CLOSED[name], size=50, dtype=dtype).asnumpy()
    np.random.seed(12)
    arrays = draw(*(np.array(p, dtype="float64") for p in CLOSED[name]), size=50, dtype=dtype).asnumpy()
    assert arrays.dtype == dtype
    numpy.testing.assert_allclose(plain, arrays, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", CLOSED | IMPLICIT)
def test_gradients_of_means_are_slopes_of_the_mean(name: str) -> None:
    """Per draw, so that their spread tells how far the mean of gradients may be off."""
    n, values = 40_000, (CLOSED | IMPLICIT)[name]
    parameters = leaves_of(*(numpy.full(n, p) for p in values))
    backward(getattr(np.random, name), parameters)
    for i, x in enumerate(parameters):
        h = numpy.eye(len(values))[i] * 1e-6
        slope = (MEANS[name](*(values + h)) - MEANS[name](*(values - h))) / 2e-6
        g = x.grad.asnumpy()
        assert abs(g.mean() - slope) < 5 * g.std() / n**0.5 + 1e-8


def quantile_slope(p: Any, a: Any) -> Any:
    """The derivative of the quantile by the shape: central differences of its logarithm, with an error of order 4."""

    def central(h: Any) -> Any:
        return numpy.log(special.gammaincinv(a + h, p) / special.gammaincinv(a - h, p)) / (2 * h)

    return special.gammaincinv(a, p) * (4 * central(1e-3 * a) - central(2e-3 * a)) / 3


@pytest.mark.parametrize("a", [0.05, 0.3, 1.0, 2.5, 30.0, 199.0, 201.0, 1000.0])
def test_gamma_numbers_move_as_the_quantile_does(a: float) -> None:
    p = numpy.array([1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999])
    p = p[special.gammaincinv(a, p) > 1e-200]
    x = special.gammaincinv(a, p)
    numpy.testing.assert_allclose(gamma_slope(x, numpy.array(a)), quantile_slope(p, a), rtol=2e-6)


def test_far_tails_of_gamma_numbers() -> None:
    """Where probabilities do not tell: the formulas agree where one takes over from another."""
    for a, x in [(0.5, 3.5), (5.0, 8.0), (150.0, 153.0)]:
        below, above = gamma_slope(numpy.array([x, x * (1 + 1e-12)]), numpy.array(a))
        assert above == pytest.approx(below, rel=1e-10)
    for z in (-6.0, 0.0, 6.0):
        ends = [gamma_slope(numpy.array(a + z * a**0.5), numpy.array(a)) for a in (200 - 1e-9, 200.0)]
        assert ends[0] == pytest.approx(ends[1], rel=2e-6)
    assert numpy.isfinite(gamma_slope(numpy.array([1e-300, 1e3, 1e8]), numpy.array([0.05, 0.5, 2.0]))).all()
    none = gamma_slope(numpy.array([0.0, 0.0, 1.0]), numpy.array([1.0, 0.0, numpy.nan]))
    assert none[:2].tolist() == [0, 0]
    assert numpy.isnan(none[2])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gamma_gradients_reach_shape_and_scale(dtype: str) -> None:
    a, s = leaves_of([0.5, 2.0, 9.0], [[1.0], [3.0]])
    y = backward(lambda a, s: np.random.gamma(a, s, (2, 3), dtype), [a, s])
    assert y.dtype == dtype
    x = y.asnumpy().astype("float64")
    standard = x / [[1.0], [3.0]]
    slopes = quantile_slope(special.gammainc([0.5, 2.0, 9.0], standard), numpy.array([0.5, 2.0, 9.0]))
    tolerance = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-6}[dtype]
    numpy.testing.assert_allclose(a.grad.asnumpy(), (slopes * [[1.0], [3.0]]).sum(0), rtol=tolerance)
    numpy.testing.assert_allclose(s.grad.asnumpy()[:, 0], standard.sum(1), rtol=tolerance)


def test_second_gradients_of_gamma_numbers_raise() -> None:
    (a,) = leaves_of(2.0)
    with autograd.record():
        (slope,) = autograd.grad(np.random.gamma(a), [a], create_graph=True)
    with pytest.raises(NotImplementedError, match="gamma_slope"):
        slope.backward()


WRONG = {**{name: -1.0 for name in CLOSED if name not in ("normal", "uniform")}, "gamma": -1.0, "chisquare": 0.0}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_are_errors_at_the_call_or_where_numbers_are_read(name: str) -> None:
    others = (0.0,) if name in ("logistic", "lognormal", "gumbel", "laplace") else ()
    draw = getattr(np.random, name)
    with pytest.raises(ValueError, match=f"{name}: .* must .*, got {WRONG[name]}"):
        draw(*others, numpy.array([1.0, WRONG[name]]))
    late = draw(*others, np.array([1.0, WRONG[name]]))
    with pytest.raises(ValueError, match=f"{name}: .* must .*, got {WRONG[name]}"):
        late.tolist()


@pytest.mark.parametrize("name", [*CLOSED, "gamma"])
def test_out_and_ctx(name: str) -> None:
    values = (CLOSED | IMPLICIT)[name]
    draw, out = getattr(np.random, name), np.zeros((2, 2), dtype="float64")
    assert draw(*values, out=out) is out
    assert (out != 0).all().item()
    np.random.seed(12)
    expected = draw(*values, size=(2, 2), dtype="float64", ctx=npx.cpu())
    assert out.tolist() == expected.tolist()
    with pytest.raises(ValueError, match=f"{name}: size must be that of out"):
        draw(*values, size=3, out=out)


def test_shapes_must_fit() -> None:
    with pytest.raises(ValueError, match=r"exponential: parameters must broadcast to size \(3,\), got"):
        np.random.exponential(np.ones((2, 3)), size=3)
    with pytest.raises(ValueError, match="gamma: "):
        np.random.gamma(np.ones(3), size=2)
    assert np.random.weibull(np.array([0.0, 1.0]), (4, 2)).asnumpy()[:, 0].tolist() == [0] * 4
    assert np.random.weibull(0.0, 2).tolist() == [0, 0]


def test_blocks_that_were_traced_give_gradients_too() -> None:
    class Draws(gluon.HybridBlock):
        def forward(self, a: Any) -> Any:
            return np.random.exponential(a, (4, 3)) + np.random.weibull(a + 1, (4, 3))

    block = Draws()
    found = []
    for _ in range(2):
        block.hybridize(active=bool(found))
        for _ in range(2):
            np.random.seed(3)
            (a,) = leaves_of([1.0, 2.0, 3.0], dtype="float32")
            backward(block, [a])
        found.append(a.grad.asnumpy())
    numpy.testing.assert_allclose(found[0], found[1], rtol=1e-5)
