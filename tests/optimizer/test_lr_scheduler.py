"""Learning rates by step."""

import math

import pytest

from forerun import lr_scheduler, np, optimizer


def test_factors_are_applied_after_their_steps() -> None:
    rate = lr_scheduler.FactorScheduler(step=10, factor=0.5, stop_factor_lr=0.2, base_lr=1.0)
    assert [rate(n) for n in (0, 1, 10, 11, 20, 21, 31, 41)] == [1, 1, 1, 0.5, 0.5, 0.25, 0.2, 0.2]
    rate = lr_scheduler.MultiFactorScheduler(step=[5, 8], factor=0.1, base_lr=1.0)
    assert [rate(n) for n in (5, 6, 8, 9, 100)] == pytest.approx([1, 0.1, 0.1, 0.01, 0.01])
    assert rate(2) == 1  # does not depend on earlier calls


def test_descents_end_at_the_final_rate() -> None:
    poly = lr_scheduler.PolyScheduler(10, base_lr=1.0, pwr=3, final_lr=0.5)
    assert [poly(n) for n in (0, 5, 10, 11)] == [1, 0.5 + 0.5 / 8, 0.5, 0.5]
    cosine = lr_scheduler.CosineScheduler(20, base_lr=0.3, final_lr=0.01)
    expected = [0.01 + 0.29 * (1 + math.cos(math.pi * n / 20)) / 2 for n in range(21)]
    assert [cosine(n) for n in range(21)] == pytest.approx(expected)
    assert cosine(30) == 0.01


def test_the_rate_is_reached_in_steps() -> None:
    cosine = lr_scheduler.CosineScheduler(20, warmup_steps=5, base_lr=0.3, final_lr=0.1, warmup_begin_lr=0.05)
    assert [cosine(n) for n in (0, 1, 5)] == pytest.approx([0.05, 0.1, 0.3])
    assert cosine(12.5) == cosine(12)
    assert lr_scheduler.FactorScheduler(1, warmup_steps=3, warmup_mode="constant")(2) == 0


def test_optimizers_take_schedulers() -> None:
    made = optimizer.SGD(lr_scheduler=lr_scheduler.MultiFactorScheduler([2], 0.5, base_lr=1.0))
    w = np.zeros(1)
    state = made.create_state(0, w)
    for expected in (-1.0, -2.0, -2.5):
        made.update(0, w, np.ones(1), state)
        assert w.item() == expected


def test_schedulers_refuse_invalid_arguments() -> None:
    with pytest.raises(ValueError, match=r"MultiFactorScheduler: step must increase .* got \[3, 3\]"):
        lr_scheduler.MultiFactorScheduler([3, 3])
    with pytest.raises(ValueError, match="FactorScheduler: factor must be at most 1, got 2"):
        lr_scheduler.FactorScheduler(1, factor=2)
    with pytest.raises(ValueError, match="CosineScheduler: max_update must be at least 6, got 5"):
        lr_scheduler.CosineScheduler(5, warmup_steps=5)
    with pytest.raises(ValueError, match=r"warmup_begin_lr must be at most 0\.1, got 1"):
        lr_scheduler.PolyScheduler(5, base_lr=0.1, warmup_begin_lr=1)
    with pytest.raises(ValueError, match='warmup_mode must be "linear" or "constant"'):
        lr_scheduler.PolyScheduler(5, warmup_mode="slow")
