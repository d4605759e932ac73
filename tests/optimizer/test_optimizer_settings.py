"""Settings of all optimizers: float32 masters, the number of weights per update, factors by name; noise; updaters."""

import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy
import pytest

from forerun import _core, autograd, gluon, np, optimizer
from forerun.gluon import nn
from tests.support.comparison.bits import assert_all_same_bits

KINDS = sorted(name for name in optimizer.base._by_name if name not in ("sgld", "still", "signs"))
GRADS = numpy.random.default_rng(3).normal(size=(4, 2, 3)).astype("float32")
DRAWN = numpy.random.default_rng(4).normal(size=(2, 3))
NARROW = {"float16": numpy.dtype("float16"), "bfloat16": numpy.dtype(ml_dtypes.bfloat16)}


def items(made: optimizer.Optimizer, dtypes: list[str]) -> tuple[list[Any], list[Any]]:
    """Weights of these dtypes, and their states."""
    weights = [np.array(DRAWN * (k + 1)).astype(dtype) for k, dtype in enumerate(dtypes)]
    return weights, [made.create_state_multi_precision(i, w) for i, w in enumerate(weights)]


def updated_weights(made: optimizer.Optimizer, dtypes: list[str]) -> tuple[list[Any], list[Any]]:
    """Weights and states after a few steps."""
    weights, states = items(made, dtypes)
    for g in GRADS:
        grads = [np.array(g).astype(w.dtype) for w in weights]
        made.update_all([(i, w, grad, s) for i, (w, grad, s) in enumerate(zip(weights, grads, states))])
    return weights, states


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", NARROW)
def test_weights_of_16_bits_are_computed_with_in_float32(kind: str, dtype: str) -> None:
    """The master equals a float32 weight after the same gradients; the weight is its rounded value."""
    made = optimizer.create(kind, multi_precision=True, wd=0.1, clip_gradient=2.0)
    (weight, wide), (state, other) = updated_weights(made, [dtype, "float32"])
    beside = optimizer.create(kind, wd=0.1, clip_gradient=2.0)
    alone = np.array(DRAWN).astype(dtype).astype("float32")
    memory = beside.create_state(0, alone)
    for g in GRADS:
        beside.update(0, alone, np.array(g).astype(dtype).astype("float32"), memory)
    assert state["master"].dtype == "float32"
    assert "master" not in other
    assert wide.dtype == "float32"
    numpy.testing.assert_allclose(state["master"].asnumpy(), alone.asnumpy(), rtol=1e-6, atol=1e-7)
    rounded = state["master"].asnumpy().astype(NARROW[dtype])
    assert weight.dtype == dtype
    assert (weight.asnumpy() == rounded).all()
    assert not (state["master"].asnumpy() == rounded.astype("float32")).all()


def test_steps_too_small_for_16_bits_add_up() -> None:
    moved = {}
    for precise in (True, False):
        made = optimizer.create("sgd", learning_rate=1e-4, multi_precision=precise)
        weight = np.ones(1, dtype="float16")
        state = made.create_state_multi_precision(0, weight)
        for _ in range(100):
            made.update(0, weight, np.ones(1, dtype="float16"), state)
        moved[precise] = weight.item()
    assert moved[False] == 1.0
    assert abs(moved[True] - 0.99) < 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_programs_of_some_weights_and_single_operations_give_the_same_bits(kind: str) -> None:
    dtypes = ["float16", "float16", "float32"]
    results = []
    each: list[tuple[dict[str, Any], int]] = [  # settings, and how many programs there are then: equal ones are shared
        ({}, 1), ({"aggregate_num": 2}, 2), ({"aggregate_num": 0}, 2), ({"use_fused_step": False}, 0),
    ]  # fmt: skip
    for settings, programs in each:
        made = optimizer.create(kind, multi_precision=True, **settings)
        results.append([w.asnumpy() for w in updated_weights(made, dtypes)[0]])
        assert len(made._programs.cache) == programs
    for found in results[1:]:
        assert_all_same_bits(found, results[0])


CHANGES: list[Callable[[optimizer.Optimizer], None]] = [
    lambda made: made.set_learning_rate(0.25),
    lambda made: setattr(made, "rescale_grad", 0.5),
    lambda made: setattr(made, "wd", 0.125),
    lambda made: setattr(made, "clip_gradient", 0.5),
    lambda made: setattr(made, "momentum", 0.75),
    lambda made: made.set_lr_mult({1: 0.5}),
    lambda made: made.set_learning_rate(0.0),
    lambda made: made.set_learning_rate(-0.0),
]


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_each_change_of_a_setting_holds_from_the_next_step_on(momentum: float) -> None:
    results = []
    for fused in (True, False):
        made = optimizer.create("sgd", momentum=momentum, learning_rate=0.1, use_fused_step=fused)
        weights, states = items(made, ["float32", "float32"])
        found = []
        for change in CHANGES:
            if momentum or "momentum" not in change.__code__.co_consts:
                change(made)
            for g in GRADS[:2]:  # the second step has the settings of the first
                made.update_all([(i, w, np.array(g), s) for i, (w, s) in enumerate(zip(weights, states))])
            found += [w.asnumpy() for w in weights]
        results.append(found)
    assert_all_same_bits(*results)


def test_an_optimizer_keeps_no_weight_of_its_last_step() -> None:
    made, weight = optimizer.SGD(learning_rate=0.5), np.ones((100, 100))
    made.update_all([(0, weight, weight * 0.5, made.create_state(0, weight))])
    assert len(pickle.dumps(made)) < 2000


def test_trainers_keep_masters_and_files_have_them(tmp_path: Any) -> None:
    net = nn.Dense(2, in_units=3, dtype="float16")
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"multi_precision": True, "learning_rate": 0.1})
    for _ in range(2):
        with autograd.record():
            y = net(np.ones((1, 3), dtype="float16")).sum()
        y.backward()
        trainer.step(1)
    trainer.save_states(tmp_path / "states")
    other = gluon.Trainer(net.collect_params(), "adam", {"multi_precision": True})
    other.load_states(tmp_path / "states")
    masters = [[s[0]["master"].asnumpy() for _, s in sorted(t._states.items())] for t in (trainer, other)]
    assert all((a == b).all() and a.dtype == "float32" for a, b in zip(*masters))
    assert (net.weight.data().asnumpy() == masters[0][0].astype("float16")).all()


def test_masters_do_not_wait(gate: None) -> None:
    weights, _ = updated_weights(optimizer.create("adam", multi_precision=True), ["float16"])
    assert not weights[0].ready
    _core.gate(False)
    assert numpy.isfinite(weights[0].asnumpy()).all()


def test_sgld_adds_noise_of_the_learning_rates_variance() -> None:
    np.random.seed(7)
    made = optimizer.SGLD(learning_rate=0.09, wd=0.5)
    weight = np.full((200, 200), 2.0)
    made.update(0, weight, np.ones((200, 200)), made.create_state(0, weight))
    noise = weight.asnumpy().astype("float64") - (2 - 0.045 * (1 + 0.5 * 2))
    assert abs(noise.mean()) < 5 * 0.3 / 200
    assert abs(noise.std() - 0.3) < 0.01
    assert abs((abs(noise) < 0.3).mean() - 0.6827) < 0.02


def test_sgld_draws_anew_in_each_step() -> None:
    made = optimizer.SGLD(learning_rate=0.04)
    weights, states = items(made, ["float32", "float32"])
    zero = np.zeros((2, 3))
    seen = [w.asnumpy().copy() for w in weights]
    for _ in range(3):
        made.update_all([(i, w, zero, s) for i, (w, s) in enumerate(zip(weights, states))])
        seen += [w.asnumpy().copy() for w in weights]
    steps = [(b - a).tobytes() for a, b in zip(seen, seen[2:])]
    assert len(set(steps)) == 6


def test_lars_does_not_scale_biases_and_zeros() -> None:
    own = {1: SimpleNamespace(name="bias", lr_mult=1.0, wd_mult=1.0)}
    made = optimizer.LARS(0.1, eta=0.5, epsilon=0.0, param_dict=own, param_idx2name={2: "norm_gamma"})
    weights = [np.array([3.0, 4.0], dtype="float64") for _ in range(3)] + [np.zeros(2, dtype="float64")]
    grads = [np.array([0.0, 2.0], dtype="float64") for _ in weights]
    states = [made.create_state(i, w) for i, w in enumerate(weights)]
    made.update_all([(i, w, g, s) for i, (w, g, s) in enumerate(zip(weights, grads, states))])
    steps = [w.asnumpy()[1] for w in weights]
    numpy.testing.assert_allclose(steps, [4 - 0.1 * 0.5 * 5 / 2 * 2, 3.8, 3.8, -0.2])


def test_lars_carries_momentum_over_to_another_learning_rate() -> None:
    moved = []
    for corrected in (True, False):
        made = optimizer.LARS(1.0, 0.5, eta=1.0, epsilon=0.0, momentum_correction=corrected)
        weight = np.array([1.0], dtype="float64")
        state = made.create_state(0, weight)
        made.update(0, weight, np.array([0.1], dtype="float64"), state)  # v = -1 * (|w| / |g|) g = -1
        made.set_learning_rate(0.5)
        weight[...] = 1.0
        made.update(0, weight, np.array([0.1], dtype="float64"), state)
        moved.append(weight.item() - 1)
    numpy.testing.assert_allclose(moved, [0.5 * -0.5 - 0.5, 0.5 * -1 - 0.5])


def test_a_zero_gradient_does_not_change_weights() -> None:
    for kind in ("lars", "lans", "lamb"):
        made = optimizer.create(kind, learning_rate=0.1)
        weight = np.ones(2)
        made.update(0, weight, np.zeros(2), made.create_state(0, weight))
        assert weight.tolist() == [1.0, 1.0], kind


def test_factors_by_name_and_number() -> None:
    names = {0: "a_weight", 1: "a_bias", 2: "b_weight"}
    made = optimizer.create("sgd", learning_rate=1.0, wd=0.1, param_idx2name=names)
    made.set_lr_mult({"b_weight": 0.5, 3: 0.25})
    weights = [np.ones(1, dtype="float64") for _ in range(4)]
    for i, w in enumerate(weights):
        made.update(i, w, np.ones(1, dtype="float64"), made.create_state(i, w))
    numpy.testing.assert_allclose([w.item() for w in weights], [-0.1, 0.0, 0.45, 0.725])


def test_counting_may_begin_later() -> None:
    rates: list[int] = []
    made = optimizer.create("adam", begin_num_update=10, lr_scheduler=lambda t: rates.append(t) or 0.1)
    weight = np.ones(1)
    state = made.create_state(0, weight)
    made.update(0, weight, np.ones(1), state)
    assert rates == [11]
    assert state["t"] == 11


def test_lists_are_updated_together() -> None:
    made = optimizer.create("sgd", learning_rate=0.5)
    weights = [np.ones(2), np.zeros(3)]
    states = [made.create_state(i, w) for i, w in enumerate(weights)]
    made.update([0, 1], weights, [np.ones(2), np.ones(3)], states)
    assert [w.tolist() for w in weights] == [[0.5] * 2, [-0.5] * 3]


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match=r"SGD: aggregate_num must not be negative, got -1"):
        optimizer.SGD(aggregate_num=-1)
    assert optimizer.SGD(lazy_update=True).lazy_update


def test_a_registered_class_is_known_by_its_name() -> None:
    @optimizer.register
    class Signs(optimizer.Optimizer):
        def step(self, weight: Any, g: Any, state: Any, lr: Any) -> None:
            weight -= lr * np.sign(g)

    try:
        assert isinstance(optimizer.create("signs", learning_rate=1.0), Signs)
    finally:
        del optimizer.base._by_name["signs"]


def test_updaters_make_and_keep_states() -> None:
    settings = {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True}
    update = optimizer.get_updater(optimizer.create("sgd", **settings))
    again = optimizer.get_updater(optimizer.create("sgd", **settings))
    weights = [np.ones(2, dtype="float16"), np.ones(2)]
    copies = [w.copy() for w in weights]
    grads = [np.ones(2, dtype="float16"), np.ones(2)]
    update([0, 1], grads, weights)
    again([0, 1], grads, copies)
    third = optimizer.get_updater(optimizer.create("sgd", **settings))
    third.set_states(again.get_states())
    update([0, 1], grads, weights)
    third([0, 1], grads, copies)
    assert [w.tolist() for w in weights] == [w.tolist() for w in copies]
    assert third.states[0]["t"] == 2
    assert abs(weights[1][0].item() - (1 - 0.1 - 0.19)) < 1e-6
