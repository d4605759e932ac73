"""Parameters of distributions are looked at by NumPy's rules: at the call if they are known there, else at reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import _core, np, npx, torch

FLOATS = (-math.inf, -1.0, 0.0, 0.5, 1.0, 1.5, 3.0, 1e10, 1e19, math.inf, math.nan)
COUNTS = (-1, 0, 1, 3, 9, 10**9, 10**10)

# Parameters that are allowed. Each one in turn takes all of the values above, as one of its kind.
DISTRIBUTIONS: dict[str, tuple[float, ...]] = {
    "beta": (1.0, 1.0), "binomial": (3, 0.5), "chisquare": (1.0,), "exponential": (1.0,), "f": (1.0, 1.0),
    "gamma": (1.0, 1.0), "geometric": (0.5,), "gumbel": (0.0, 1.0), "hypergeometric": (5, 5, 3), "laplace": (0.0, 1.0),
    "logistic": (0.0, 1.0), "lognormal": (0.0, 1.0), "logseries": (0.5,), "negative_binomial": (3.0, 0.5),
    "noncentral_chisquare": (1.0, 1.0), "noncentral_f": (1.0, 1.0, 1.0), "normal": (0.0, 1.0), "pareto": (1.0,),
    "poisson": (1.0,), "power": (1.0,), "rayleigh": (1.0,), "standard_gamma": (1.0,), "standard_t": (1.0,),
    "triangular": (0.0, 1.0, 2.0), "uniform": (0.0, 1.0), "vonmises": (0.0, 1.0), "wald": (1.0, 1.0),
    "weibull": (1.0,), "zipf": (2.0,),
}  # fmt: skip

CASES = [
    (name, i, value)
    for name, good in DISTRIBUTIONS.items()
    for i, of in enumerate(good)
    for value in (COUNTS if type(of) is int else FLOATS)
]
SOURCES = {"functions": np.random, "Generator": np.random.default_rng(0), "RandomState": np.random.RandomState(0)}


def arguments(name: str, i: int, value: float) -> list[float]:
    return [value if k == i else v for k, v in enumerate(DISTRIBUTIONS[name])]


def refusal(name: str, args: list[float], legacy: bool = False) -> type[Exception] | None:
    """Return the error class of NumPy."""
    source = numpy.random.RandomState(0) if legacy and name == "uniform" else numpy.random.default_rng(0)
    try:
        getattr(source, name)(*args, size=(0,))
    except (ValueError, OverflowError) as error:
        return type(error)
    return None


def name_in_errors(name: str) -> str:
    """The name that errors have."""
    return "gamma" if name == "standard_gamma" else name


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("form", [float, lambda v: [v], lambda v: numpy.array([v])], ids=["number", "list", "NumPy's"])
def test_known_parameters_are_checked_in_the_call(source: str, form: Callable[[Any], Any]) -> None:
    for name, i, value in CASES:
        args = arguments(name, i, value)
        given = args if form is float else [form(v) for v in args]
        draw = getattr(SOURCES[source], name)
        if (kind := refusal(name, args, source != "Generator")) is None:
            draw(*given, size=(0,) if form is float else (0, 1))
            continue
        with pytest.raises(kind, match=rf"^{name_in_errors(name)}: .+, got "):
            draw(*given, size=(3,) if form is float else (3, 1))


@pytest.mark.parametrize("source", SOURCES)
def test_pending_parameters_are_checked_when_computed(source: str, gate: None) -> None:
    issued = []
    for name, i, value in CASES:
        args = arguments(name, i, value)
        kind = refusal(name, args, source != "Generator")
        given = [np.array(numpy.array([v])) if k == i else v for k, v in enumerate(args)]
        issued.append((name, value, kind, getattr(SOURCES[source], name)(*given, size=(0 if kind is None else 3, 1))))
    _core.gate(False)
    for name, value, kind, result in issued:
        if kind is None:
            assert result.shape == (0, 1)
            result.numpy()
            continue
        for _ in range(2):
            with pytest.raises(kind) as raised:
                result.numpy()
            assert str(raised.value).startswith(f"{name_in_errors(name)}: "), value
            assert any("test_distribution_parameters.py" in note for note in raised.value.__notes__)


@pytest.mark.parametrize("name", ["hypergeometric", "triangular"])
def test_known_parameters_are_checked_despite_pending_ones(name: str) -> None:
    late = np.array([0])
    wrong: list[Any] = [-1, late, 1] if name == "hypergeometric" else [2.0, 1.0, late]
    with pytest.raises(ValueError, match=f"^{name}: .+, got "):
        getattr(np.random, name)(*wrong)


# --- several values that belong together: (the call, the error's text) -- -------------------------

rng = np.random.default_rng(0)
Form = Callable[[Any], Any]
TOGETHER: list[tuple[Callable[[Form], Any], str]] = [
    (lambda f: np.random.choice(3, p=f([0.5, 0.6, 0.1])), r"choice: p must sum to 1, got 1\.2"),
    (lambda f: np.random.choice(3, 2, p=f([0.5, 0.25, 0.0])), r"choice: p must sum to 1, got 0\.75"),
    (lambda f: np.random.choice(3, p=f([0.5, 1.0, -0.5])), r"choice: p must not be negative, got -0\.5"),
    (lambda f: np.random.choice(3, p=f([math.nan, 0.5, 0.5])), "choice: p must sum to 1, got nan"),
    (lambda f: np.random.choice(3, 2, False, p=f([0.0, 1.0, 0.0])), "choice: p must have 2 elements above 0 .*got 1"),
    (lambda f: rng.choice(2, p=f([0.5, 0.75])), r"choice: p must sum to 1, got 1\.25"),
    (lambda f: rng.multinomial(3, f([0.75, 0.5, 0.0])),
     r"multinomial: pvals but the last must have a sum of at most 1, got 1\.25"),
    (lambda f: np.random.multinomial(3, f([-0.5, 0.5])), r"multinomial: pvals must be in \[0, 1\], got -0\.5"),
    (lambda f: np.random.multinomial(3, f([1.5, 0.5])), r"multinomial: pvals must be in \[0, 1\], got 1\.5"),
    (lambda f: np.random.multinomial(3, f([[0.5, 0.5], [math.nan, 0.5]])), r"multinomial: pvals must be .*, got nan"),
    (lambda f: np.random.dirichlet(f([1.0, -1.0])), r"dirichlet: alpha must not be negative, got -1\.0"),
    (lambda f: rng.multivariate_hypergeometric(f([-1, 3]), 1),
     "multivariate_hypergeometric: colors must not be negative, got -1"),
    (lambda f: rng.multivariate_hypergeometric(f([1, 3]), 5),
     "multivariate_hypergeometric: nsample must be at most the sum of colors, got 5 and 4"),
    (lambda f: rng.multivariate_hypergeometric(f([10**9, 3]), 5), "colors must be below 1e9 for method"),
    (lambda f: np.random.randint(f([1, 3]), f([2, 2])), "randint: low must be below high, got 3 and 2"),
    (lambda f: rng.integers(f([1, 3]), 3), "randint: low must be below high, got 3 and 3"),
    (lambda f: npx.random.bernoulli(f([0.5, 1.5])), r"bernoulli: prob must be in \[0, 1\], got 1\.5"),
    (lambda f: npx.random.bernoulli(prob=f(-0.5)), r"bernoulli: prob must be in \[0, 1\], got -0\.5"),
    (lambda f: npx.random.categorical(f([0.5, -0.5])), r"categorical: prob must not be negative, got -0\.5"),
    (lambda f: npx.random.categorical(f([[0.5, 0.5], [0.0, 0.0]])),
     r"categorical: prob must have positive sums, got 0\.0"),
    (lambda f: npx.random.normal_n(0.0, f([1.0, -1.0])), r"normal: scale must not be negative, got -1\.0"),
    (lambda f: torch.normal(0.0, f([1.0, -1.0])), r"normal: scale must not be negative, got -1\.0"),
    (lambda f: np.random.multivariate_normal(f([0.0, 0.0]), f([[1.0, 0.0]])), "multivariate_normal: mean must be"),
]  # fmt: skip


@pytest.mark.parametrize("form", [lambda v: v, numpy.array], ids=["lists", "NumPy's"])
@pytest.mark.parametrize(("call", "text"), TOGETHER)
def test_known_values_that_do_not_fit_together(call: Callable[[Form], Any], text: str, form: Form) -> None:
    with pytest.raises(ValueError, match=text):
        call(form)


@pytest.mark.parametrize(("call", "text"), TOGETHER[:-1])
def test_late_values_that_do_not_fit_together(call: Callable[[Form], Any], text: str, gate: None) -> None:
    result = call(np.array)
    _core.gate(False)
    for _ in range(2):
        with pytest.raises(ValueError, match=text) as raised:
            result.numpy()
        assert any("test_distribution_parameters.py" in note for note in raised.value.__notes__)


def test_probabilities_in_pytorchs_spelling(engine: str) -> None:
    with pytest.raises(ValueError, match=r"bernoulli: p must be in \[0, 1\], got 1\.5"):
        torch.bernoulli(torch.tensor([0.0, 1.5])).numpy()
    assert torch.bernoulli(torch.tensor([0.0, 1.0])).tolist() == [0, 1]
    x = torch.zeros(2)
    with pytest.raises(ValueError, match="normal: scale must not be negative, got -1"):
        x.normal_(0.0, -1.0)


def test_rounding_errors_in_probabilities_are_allowed() -> None:
    rounded = numpy.array([0.1] * 10, "float32")
    assert float(rounded.sum(dtype="float64")) != 1
    assert np.random.choice(10, p=rounded).shape == np.random.choice(10, p=np.array(rounded)).shape == ()
    many = numpy.array([1 / 3, 1 / 3, 1 / 3 + 1e-7, 0], "float32")
    assert np.random.multinomial(9, many).sum().item() == np.random.multinomial(9, np.array(many)).sum().item() == 9


def test_the_last_category_has_the_remaining_probability() -> None:
    assert np.random.multinomial(5, [0.0, 0.0]).tolist() == [0, 5]
    assert np.random.multinomial(5, np.array([[0.0, 0.0], [1.0, 0.0]])).tolist() == [[0, 5], [5, 0]]
    assert np.random.multinomial(5, [[0.0, 0.0], [1.0, 0.0]], size=(3, 2)).tolist() == [[[0, 5], [5, 0]]] * 3


def test_gradients_pass_through_checks(engine: str) -> None:
    from forerun import autograd

    scale = np.array([1.0, 2.0])
    scale.attach_grad()
    with autograd.record():
        x = np.random.normal(3.0, scale)
        x.backward()
    numpy.testing.assert_allclose(scale.grad.numpy(), (x.numpy() - 3) / [1, 2], rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint64", "bool"])
def test_values_of_all_dtypes_are_checked(dtype: str, engine: str) -> None:
    values = np.ones(1000).astype(getattr(np, dtype) if dtype == "bfloat16" else dtype)
    assert np.random.normal(0.0, values).shape == (1000,)
    strided = np.zeros((600, 2)).astype(values.dtype)[:, 0]
    with pytest.raises(ValueError, match=r"geometric: p must be in \(0, 1\], got"):
        np.random.geometric(strided).numpy()
    with pytest.raises(ValueError, match=r"pareto: a must be positive, got 0"):
        np.random.pareto(strided).numpy()
