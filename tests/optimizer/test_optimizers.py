"""Optimizers against loops over NumPy arrays, five steps each; and updates that do not wait."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from forerun import _core, autograd, np, npx, optimizer
from tests.support.comparison.bits import all_same_bits

Rule = Callable[[numpy.ndarray, numpy.ndarray, dict[str, Any], int], numpy.ndarray]
WEIGHT = numpy.linspace(-2, 2, 6, dtype="float64").reshape(2, 3)
GRADS = numpy.random.default_rng(0).normal(size=(5, 2, 3))


def sgd(w, g, s, t):
    return w - 0.1 * g


def momentum(w, g, s, t):
    s["v"] = 0.9 * s.get("v", 0) - 0.1 * g
    return w + s["v"]


def nesterov(w, g, s, t):
    s["v"] = 0.9 * s.get("v", 0) + g
    return w - 0.1 * (g + 0.9 * s["v"])


def adam(w, g, s, t, lr=0.1, b1=0.8, b2=0.9):
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0) + (1 - b2) * g**2
    m, v = s["m"] / (1 - b1**t), s["v"] / (1 - b2**t)
    return w - lr * m / (numpy.sqrt(v) + 1e-3)


def adamw(w, g, s, t):
    return adam(w * (1 - 0.1 * 0.5), g, s, t)


def rmsprop(w, g, s, t):
    s["v"] = 0.8 * s.get("v", 0) + 0.2 * g**2
    return w - 0.1 * g / (numpy.sqrt(s["v"]) + 1e-3)


def adagrad(w, g, s, t):
    s["h"] = s.get("h", 0) + g**2
    return w - 0.1 * g / (numpy.sqrt(s["h"]) + 1e-3)


def lamb(w, g, s, t):
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["v"] = 0.9 * s.get("v", 0) + 0.1 * g**2
    r = s["m"] / (1 - 0.8**t) / (numpy.sqrt(s["v"] / (1 - 0.9**t)) + 1e-3) + 0.5 * w
    return w - 0.1 * numpy.clip(numpy.linalg.norm(w), None, 2) / numpy.linalg.norm(r) * r


def lamb_plain(w, g, s, t):
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["v"] = 0.9 * s.get("v", 0) + 0.1 * g**2
    r = s["m"] / (numpy.sqrt(s["v"]) + 1e-3)
    return w - 0.1 * numpy.linalg.norm(w) / numpy.linalg.norm(r) * r


def adadelta(w, g, s, t):
    s["v"] = 0.8 * s.get("v", 0) + 0.2 * g**2
    d = numpy.sqrt(s.get("s", 0) + 1e-3) / numpy.sqrt(s["v"] + 1e-3) * g
    s["s"] = 0.8 * s.get("s", 0) + 0.2 * d**2
    return w - 0.5 * d


def ftrl(w, g, s, t):
    z, n = s.get("z", 0), s.get("n", 0)
    s["n"] = n + g**2
    s["z"] = z + g - (numpy.sqrt(s["n"]) - numpy.sqrt(n)) / 0.1 * w
    w = -(s["z"] - numpy.sign(s["z"]) * 0.7) / ((2 + numpy.sqrt(s["n"])) / 0.1 + 0.5)
    return numpy.where(abs(s["z"]) > 0.7, w, 0)


def signum(w, g, s, t):
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * (g + 0.5 * w)
    return w * (1 - 0.1 * 0.3) - 0.1 * numpy.sign(s["m"])


def signs(w, g, s, t):
    return w - 0.1 * numpy.sign(g)


def norm(x):
    return numpy.sqrt((x * x).sum())


def lars(w, g, s, t):
    rate = 0.1 * 0.02 * norm(w) / (norm(g) + 0.5 * norm(w) + 1e-3)
    s["v"] = 0.9 * s.get("v", 0) - rate * (g + 0.5 * w)
    return w + s["v"]


def lans(w, g, s, t):
    g = g / norm(g)
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["v"] = 0.9 * s.get("v", 0) + 0.1 * g**2
    root = numpy.sqrt(s["v"] / (1 - 0.9**t)) + 1e-3
    r, c = s["m"] / (1 - 0.8**t) / root + 0.5 * w, g / root + 0.5 * w
    return w - 0.1 * min(norm(w), 2) * (0.8 * r / norm(r) + 0.2 * c / norm(c))


def ftml(w, g, s, t):
    s["v"] = 0.9 * s.get("v", 0) + 0.1 * g**2
    before = s.get("d", 0)
    s["d"] = (1 - 0.8**t) / 0.1 * (numpy.sqrt(s["v"] / (1 - 0.9**t)) + 1e-3)
    s["z"] = 0.8 * s.get("z", 0) + 0.2 * g - (s["d"] - 0.8 * before) * w
    return -s["z"] / s["d"]


def nadam(w, g, s, t):
    u = lambda k: 0.8 * (1 - 0.5 * 0.96 ** (k * 0.02))
    p = numpy.prod([u(k) for k in range(1, t + 1)])
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["v"] = 0.9 * s.get("v", 0) + 0.1 * g**2
    m = (1 - u(t)) * g / (1 - p) + u(t + 1) * s["m"] / (1 - p * u(t + 1))
    return w - 0.1 * m / (numpy.sqrt(s["v"] / (1 - 0.9**t)) + 1e-3)


def adamax(w, g, s, t):
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["u"] = numpy.maximum(0.9 * s.get("u", 0), abs(g))
    return w - 0.1 / (1 - 0.8**t) * s["m"] / (s["u"] + 1e-3)


def dcasgd(w, g, s, t):
    late = g + 0.5 * w + 0.3 * g * g * (w - s.get("p", w))
    s["v"], s["p"] = 0.9 * s.get("v", 0) - 0.1 * late, w
    return w + s["v"]


def dcasgd_plain(w, g, s, t):
    late, s["p"] = g + 0.3 * g * g * (w - s.get("p", w)), w
    return w - 0.1 * late


def adabelief(w, g, s, t, corrected=True):
    g = g + 0.5 * w
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["s"] = 0.9 * s.get("s", 0) + 0.1 * (g - s["m"]) ** 2 + 1e-3
    rate = 0.1 * numpy.sqrt(1 - 0.9**t) / (1 - 0.8**t) if corrected else 0.1
    return w - rate * s["m"] / (numpy.sqrt(s["s"]) + 1e-3)


def adabelief_plain(w, g, s, t):
    return adabelief(w, g, s, t, False)


def adamw_plain(w, g, s, t):
    w = w * (1 - 0.1 * 0.5)
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["v"] = 0.9 * s.get("v", 0) + 0.1 * g**2
    return w - 0.1 * s["m"] / (numpy.sqrt(s["v"]) + 1e-3)


def rmsprop_centered(w, g, s, t):
    s["v"] = 0.8 * s.get("v", 0) + 0.2 * g**2
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["d"] = 0.7 * s.get("d", 0) - 0.1 * g / numpy.sqrt(s["v"] - s["m"] ** 2 + 1e-3)
    return numpy.clip(w + s["d"], -1.5, 1.5)


ADAM = {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}
CASES: list[tuple[str, dict[str, Any], Rule]] = [
    ("sgd", {"learning_rate": 0.1}, sgd),
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9}, momentum),
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}, nesterov),
    ("NAG", {"learning_rate": 0.1}, nesterov),
    ("adam", ADAM, adam),
    ("adamw", {**ADAM, "wd": 0.5}, adamw),
    ("rmsprop", {"learning_rate": 0.1, "rho": 0.8, "epsilon": 1e-3}, rmsprop),
    ("rmsprop", {"learning_rate": 0.1, "gamma1": 0.8, "epsilon": 1e-3}, rmsprop),
    ("lamb", {**ADAM, "wd": 0.5, "upper_bound": 2.0}, lamb),
    ("lamb", {**ADAM, "wd": 0.0, "bias_correction": False}, lamb_plain),
    ("adadelta", {"learning_rate": 0.5, "rho": 0.8, "epsilon": 1e-3}, adadelta),
    ("ftrl", {"learning_rate": 0.1, "lamda1": 0.7, "beta": 2.0, "wd": 0.5}, ftrl),
    ("signum", {"learning_rate": 0.1, "momentum": 0.8, "wd": 0.5, "wd_lh": 0.3}, signum),
    ("signum", {"learning_rate": 0.1, "momentum": 0.0, "wd": 0.0}, signs),
    ("adagrad", {"learning_rate": 0.1, "epsilon": 1e-3}, adagrad),
    ("adagrad", {"learning_rate": 0.1, "eps": 1e-3}, adagrad),
    ("lars", {"learning_rate": 0.1, "momentum": 0.9, "eta": 0.02, "wd": 0.5, "epsilon": 1e-3}, lars),
    ("lans", {**ADAM, "wd": 0.5, "upper_bound": 2.0}, lans),
    ("ftml", ADAM, ftml),
    ("nadam", {**ADAM, "schedule_decay": 0.02}, nadam),
    ("adamax", ADAM, adamax),
    ("dcasgd", {"learning_rate": 0.1, "momentum": 0.9, "lamda": 0.3, "wd": 0.5}, dcasgd),
    ("dcasgd", {"learning_rate": 0.1, "lamda": 0.3}, dcasgd_plain),
    ("adabelief", {**ADAM, "wd": 0.5}, adabelief),
    ("adabelief", {**ADAM, "wd": 0.5, "correct_bias": False}, adabelief_plain),
    ("adamw", {**ADAM, "wd": 0.5, "correct_bias": False}, adamw_plain),
    (
        "rmsprop",
        {"learning_rate": 0.1, "rho": 0.8, "momentum": 0.7, "epsilon": 1e-3, "centered": True, "clip_weights": 1.5},
        rmsprop_centered,
    ),
]
IDS = [f"{name}-{rule.__name__}" for name, _, rule in CASES]


def steps(made: optimizer.Optimizer, weight: Any, index: int = 0) -> dict[str, Any]:
    state = made.create_state(index, weight)
    for g in GRADS:
        made.update(index, weight, np.array(g, dtype=weight.dtype), state)
    return state


@pytest.mark.parametrize(("name", "settings", "rule"), CASES, ids=IDS)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-5)])
def test_five_steps_are_those_of_numpy(
    name: str, settings: dict[str, Any], rule: Rule, dtype: str, tolerance: float
) -> None:
    weight = np.array(WEIGHT, dtype=dtype)
    state = steps(optimizer.create(name, **settings), weight)
    expected, memory = WEIGHT, dict[str, Any]()
    for t, g in enumerate(GRADS, 1):
        expected = rule(expected, g, memory, t)
    assert weight.dtype == dtype
    assert state["t"] == 5
    numpy.testing.assert_allclose(weight.asnumpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "settings", "rule"), CASES, ids=IDS)
def test_steps_as_programs_are_the_same(name: str, settings: dict[str, Any], rule: Rule) -> None:
    made = optimizer.create(name, **settings)
    weights = [np.array(WEIGHT * k, dtype="float64") for k in (1, 2)]
    states = [made.create_state(i, w) for i, w in enumerate(weights)]
    for g in GRADS:
        grads = [np.array(g, dtype="float64"), np.array(g[::-1].copy(), dtype="float64")]
        made.update_all([(i, w, grad, s) for i, (w, grad, s) in enumerate(zip(weights, grads, states))])
    for k, weight in enumerate(weights):
        expected, memory = WEIGHT * (k + 1), dict[str, Any]()
        for t, g in enumerate(GRADS, 1):
            expected = rule(expected, g[::-1] if k else g, memory, t)
        numpy.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-12, atol=1e-12)
    assert len(made._programs.cache) == 1


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("name", "settings", "rule"), CASES, ids=IDS)
def test_sizes_of_batches_do_not_need_programs_of_their_own(
    name: str, settings: dict[str, Any], rule: Rule, dtype: str
) -> None:
    """As in a loop that steps by the number of words of each batch."""

    def weights(fused: bool) -> list[Any]:
        made = optimizer.create(name, use_fused_step=fused, **{"wd": 0.1, **settings})
        ws = [np.array(WEIGHT, dtype=dtype), np.array(WEIGHT[::-1].copy(), dtype=dtype)]
        items = [(i, w, np.array(GRADS[i], dtype=dtype), made.create_state(i, w)) for i, w in enumerate(ws)]
        for batch in (3, 7, 1, 3, 12, 1):
            npx.random.seed(batch)
            made.rescale_grad = 1 / batch
            made.update_all(items)
        known = [len(programs) for programs in made._programs.cache.known.values()]
        assert not fused or made._programs.refused or sum(known) == 2  # one without a factor of gradients
        return [w.asnumpy() for w in ws]

    assert all_same_bits(weights(True), weights(False))


def test_a_rule_of_a_program_may_read_the_factor_of_gradients() -> None:
    class Scaled(optimizer.Optimizer):
        constants = ()

        def step(self, weight: Any, g: Any, state: Any, lr: Any) -> None:
            weight -= g * self.rescale_grad

    made, w = Scaled(), np.zeros(1)
    state = made.create_state(0, w)
    for factor in (2.0, 3.0, 2.0):
        made.rescale_grad = factor
        made.update_all([(0, w, np.ones(1), state)])
    assert w.tolist() == [-(4.0 + 9.0 + 4.0)]


@pytest.mark.parametrize(("name", "settings", "rule"), CASES, ids=IDS)
def test_updates_do_not_wait(name: str, settings: dict[str, Any], rule: Rule, gate: None) -> None:
    weight = np.ones((2, 3))
    made = optimizer.create(name, clip_gradient=1.0, rescale_grad=0.5, **{"wd": 0.1, **settings})
    steps(made, weight)
    assert not weight.ready
    _core.gate(False)
    assert numpy.isfinite(weight.asnumpy()).all()


def test_gradients_are_rescaled_then_clipped_then_decayed() -> None:
    weight = np.array(WEIGHT, dtype="float64")
    made = optimizer.SGD(0.1, rescale_grad=3.0, clip_gradient=0.5, wd=0.2)
    made.update(0, weight, np.array(GRADS[0], dtype="float64"), made.create_state(0, weight))
    g = numpy.clip(3 * GRADS[0], -0.5, 0.5) + 0.2 * WEIGHT
    numpy.testing.assert_allclose(weight.asnumpy(), WEIGHT - 0.1 * g)


def test_parameters_have_factors_of_their_own() -> None:
    own = {1: SimpleNamespace(lr_mult=0.0, wd_mult=1.0), 2: SimpleNamespace(lr_mult=1.0, wd_mult=0.0)}
    made = optimizer.SGD(0.1, wd=0.5, param_dict=own)
    weights = [np.array(WEIGHT, dtype="float64") for _ in range(3)]
    for i, weight in enumerate(weights):
        made.update(i, weight, np.zeros((2, 3), dtype="float64"), made.create_state(i, weight))
    for weight, factor in zip(weights, (0.95, 1, 1)):
        numpy.testing.assert_allclose(weight.asnumpy(), factor * WEIGHT)


def test_a_scheduler_decides_by_the_number_of_steps() -> None:
    rates = []
    made = optimizer.SGD(lr_scheduler=lambda t: rates.append(t) or 1 / t)  # type: ignore[func-returns-value]
    weight = np.array(WEIGHT, dtype="float64")
    steps(made, weight)
    assert rates == [1, 2, 3, 4, 5]
    expected = WEIGHT - sum(g / t for t, g in enumerate(GRADS, 1))
    numpy.testing.assert_allclose(weight.asnumpy(), expected)
    with pytest.raises(ValueError, match="set_learning_rate: there must be no lr_scheduler"):
        made.set_learning_rate(1.0)


def test_the_learning_rate_can_be_changed() -> None:
    made, weight = optimizer.create("sgd", learning_rate=1.0), np.zeros(1)
    made.set_learning_rate(0.25)
    made.update(0, weight, np.ones(1), made.create_state(0, weight))
    assert made.learning_rate == 0.25
    assert weight.item() == -0.25


def test_updates_are_not_recorded() -> None:
    weight = np.ones(2)
    weight.attach_grad()
    made = optimizer.create("adam", wd=0.1)
    with autograd.record():
        made.update(0, weight, np.ones(2), made.create_state(0, weight))
        y = (weight * weight).sum()
    y.backward()
    numpy.testing.assert_allclose(weight.grad.asnumpy(), 2 * weight.asnumpy())


def test_errors_of_create() -> None:
    made = optimizer.Adam()
    assert optimizer.create(made) is made
    with pytest.raises(ValueError, match=r"optimizer: name must be one of sgd, .* got 'lion'"):
        optimizer.create("lion")
    with pytest.raises(ValueError, match="settings must be in the object"):
        optimizer.create(made, wd=0.1)
