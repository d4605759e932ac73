"""Metrics against NumPy's formulas over two batches, updates that do not wait; learning rates by step."""

import math
from typing import Any

import numpy
import pytest

from forerun import _core, autograd, lr_scheduler, metric, np, optimizer

RNG = numpy.random.default_rng(3)
P = RNG.dirichlet([1, 1, 1], size=8)
LABELS = RNG.integers(0, 3, 8)
PICKED = P[range(8), LABELS]
BINARY, SAID = RNG.integers(0, 2, 8), RNG.integers(0, 2, 8)
X, Y = RNG.normal(size=(2, 8))
PAIRS = [numpy.sum((a == BINARY) & (b == SAID)) for a, b in ((1, 1), (0, 1), (1, 0), (0, 0))]
TP, FP, FN, TN = (float(n) for n in PAIRS)


CASES: list[tuple[metric.EvalMetric, Any, Any, float]] = [
    (metric.Accuracy(), LABELS, P, (P.argmax(1) == LABELS).mean()),
    (metric.Accuracy(), SAID, BINARY, (SAID == BINARY).mean()),
    (metric.BinaryAccuracy(threshold=0.2), BINARY, X, ((X > 0.2) == BINARY).mean()),
    (metric.TopKAccuracy(2), LABELS, P, (numpy.argsort(P)[:, 1:] == LABELS[:, None]).any(1).mean()),
    (metric.F1(), BINARY, SAID, 2 * TP / (2 * TP + FP + FN)),
    (metric.MCC(), BINARY, SAID, numpy.corrcoef(BINARY, SAID)[0, 1]),
    (metric.MAE(), Y, X, abs(X - Y).mean()),
    (metric.MSE(), Y, X, ((X - Y) ** 2).mean()),
    (metric.RMSE(), Y, X, math.sqrt(((X - Y) ** 2).mean())),
    (metric.CrossEntropy(), LABELS, P, -numpy.log(PICKED).mean()),
    (metric.CrossEntropy(ignore_label=1), LABELS, P, -numpy.log(PICKED[LABELS != 1]).mean()),
    (metric.NegativeLogLikelihood(), LABELS, P, -numpy.log(PICKED).mean()),
    (metric.Perplexity(), LABELS, P, math.exp(-numpy.log(PICKED).mean())),
    (metric.PearsonCorrelation(), Y, X, numpy.corrcoef(X, Y)[0, 1]),
    (metric.Loss(), Y, X, X.mean()),
    (metric.CustomMetric(lambda y, x: (abs(y - x).sum(), len(x))), Y, X, abs(X - Y).mean()),
]
IDS = [f"{type(case[0]).__name__}{i}" for i, case in enumerate(CASES)]


@pytest.mark.parametrize(("measure", "label", "pred", "expected"), CASES, ids=IDS)
def test_metrics_are_over_all_batches(
    measure: metric.EvalMetric, label: Any, pred: Any, expected: float
) -> None:
    assert math.isnan(measure.get()[1])
    for part in (slice(0, 3), slice(3, 8)):  # unequal: a mean of means would be another number
        measure.update([np.array(label[part])], [np.array(pred[part], dtype=pred.dtype)])
    assert measure.get()[1] == pytest.approx(expected, rel=1e-7)
    assert measure.get_name_value() == [(measure.name, measure.get()[1])]
    measure.reset()
    assert math.isnan(measure.get()[1])


def test_updates_do_not_wait(gate: None) -> None:
    measures = [case[0] for case in CASES if not isinstance(case[0], metric.CustomMetric)]
    arrays = [(np.array(label) * 1, np.array(pred, dtype=pred.dtype) * 1) for _, label, pred, _ in CASES]
    for measure, (label, pred) in zip(measures, arrays):
        with autograd.record():
            measure.update(label, pred)
        assert not measure.sums[0].ready
    _core.gate(False)
    assert measures[0].get() == ("accuracy", CASES[0][3])
    for measure in measures:
        measure.reset()


def test_several_metrics_at_once() -> None:
    both = metric.create(["acc", metric.CrossEntropy()])
    both.update(np.array(LABELS), np.array(P))
    names, found = both.get()
    assert names == ["accuracy", "cross-entropy"]
    assert found == pytest.approx([CASES[0][3], CASES[9][3]], rel=1e-6)
    both.reset()
    assert all(math.isnan(value) for value in both.get()[1])


def test_metrics_refuse_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="Accuracy: labels and preds must be as many, got 1 and 2"):
        metric.Accuracy().update([np.ones(1)], [np.ones(1)] * 2)
    with pytest.raises(ValueError, match=r"MAE: label must have as many elements as pred, got \(2,\) for \(3,\)"):
        metric.MAE().update(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match=r"metric: name must be one of acc, .* got 'nothing'"):
        metric.create("nothing")
    with pytest.raises(TypeError, match="metric: must be a name"):
        metric.create(3)
    out_of_range = metric.CrossEntropy()
    out_of_range.update(np.array([7]), np.array([[0.5, 0.5]]))
    with pytest.raises(IndexError):
        out_of_range.get()


# --- learning rates -------------------------------------------------------------------------------


def test_factors_are_applied_after_their_steps() -> None:
    rate = lr_scheduler.FactorScheduler(step=10, factor=0.5, stop_factor_lr=0.2, base_lr=1.0)
    assert [rate(n) for n in (0, 1, 10, 11, 20, 21, 31, 41)] == [1, 1, 1, 0.5, 0.5, 0.25, 0.2, 0.2]
    rate = lr_scheduler.MultiFactorScheduler(step=[5, 8], factor=0.1, base_lr=1.0)
    assert [rate(n) for n in (5, 6, 8, 9, 100)] == pytest.approx([1, 0.1, 0.1, 0.01, 0.01])
    assert rate(2) == 1  # not a function of what was asked before


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


def test_schedulers_refuse_what_cannot_be() -> None:
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
