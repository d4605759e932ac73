"""Metrics against NumPy's formulas over two batches, updates that do not wait."""

import math
from typing import Any

import numpy
import pytest

from forerun import _core, autograd, metric, np

RNG = numpy.random.default_rng(3)
P = RNG.dirichlet([1, 1, 1], size=8)
LABELS = RNG.integers(0, 3, 8)
PICKED = P[range(8), LABELS]
BINARY, PREDICTIONS = RNG.integers(0, 2, 8), RNG.integers(0, 2, 8)
X, Y = RNG.normal(size=(2, 8))
PAIRS = [numpy.sum((a == BINARY) & (b == PREDICTIONS)) for a, b in ((1, 1), (0, 1), (1, 0), (0, 0))]
TP, FP, FN, TN = (float(n) for n in PAIRS)
M = RNG.integers(0, 2, (8, 3))
Q = RNG.uniform(size=(8, 3))
FOUND = numpy.array([0.3, 0.5, 0.6]) < Q
U, V = RNG.normal(size=(2, 8, 4))


def fbeta(labels: Any, predictions: Any, beta: float) -> Any:
    """Of each column, by precision and recall."""
    found = []
    for a, b in zip(labels.T == 1, predictions.T == 1):
        p, r = (a & b).sum() / max(b.sum(), 1), (a & b).sum() / max(a.sum(), 1)
        found.append((1 + beta**2) * p * r / (beta**2 * p + r) if p * r else 0.0)
    return numpy.array(found)


def class_correlation(labels: Any, predictions: Any) -> float:
    """Gorodkin's, by covariances of columns of zeros and ones."""
    one, two = (numpy.eye(3)[x] - numpy.eye(3)[x].mean(0) for x in (labels, predictions))
    return (one * two).sum() / math.sqrt((one * one).sum() * (two * two).sum())


def ones(x: Any) -> Any:
    return numpy.eye(3)[x]


CASES: list[tuple[metric.EvalMetric, Any, Any, float]] = [
    (metric.Accuracy(), LABELS, P, (P.argmax(1) == LABELS).mean()),
    (metric.Accuracy(), PREDICTIONS, BINARY, (PREDICTIONS == BINARY).mean()),
    (metric.BinaryAccuracy(threshold=0.2), BINARY, X, ((X > 0.2) == BINARY).mean()),
    (metric.TopKAccuracy(2), LABELS, P, (numpy.argsort(P)[:, 1:] == LABELS[:, None]).any(1).mean()),
    (metric.F1(), BINARY, PREDICTIONS, 2 * TP / (2 * TP + FP + FN)),
    (metric.MCC(), BINARY, PREDICTIONS, numpy.corrcoef(BINARY, PREDICTIONS)[0, 1]),
    (metric.F1(threshold=0.2), BINARY, X, fbeta(BINARY[:, None], X[:, None] > 0.2, 1)[0]),
    (
        metric.F1(threshold=0.7),
        BINARY,
        numpy.stack([1 - Q[:, 0], Q[:, 0]], 1),
        fbeta(BINARY[:, None], Q[:, :1] > 0.7, 1)[0],
    ),
    (metric.Fbeta(beta=2), BINARY, PREDICTIONS, fbeta(BINARY[:, None], PREDICTIONS[:, None], 2)[0]),
    (
        metric.Fbeta(class_type="multiclass", beta=0.5, average="macro"),
        LABELS,
        P,
        fbeta(ones(LABELS), ones(P.argmax(1)), 0.5).mean(),
    ),
    (metric.F1(class_type="multiclass"), LABELS, P, (P.argmax(1) == LABELS).mean()),
    (metric.F1(class_type="multilabel", average="macro", threshold=[0.3, 0.5, 0.6]), M, Q, fbeta(M, FOUND, 1).mean()),
    (metric.Fbeta(class_type="multilabel", beta=2), M, Q, fbeta(M.reshape(-1, 1), Q.reshape(-1, 1) > 0.5, 2)[0]),
    (metric.PCC(), LABELS, P, class_correlation(LABELS, P.argmax(1))),
    (metric.MeanPairwiseDistance(), V, U, numpy.sqrt(((U - V) ** 2).sum(1)).mean()),
    (metric.MeanPairwiseDistance(p=3), V, U, ((abs(U - V) ** 3).sum(1) ** (1 / 3)).mean()),
    (
        metric.MeanCosineSimilarity(),
        V,
        U,
        ((U * V).sum(1) / numpy.linalg.norm(U, axis=1) / numpy.linalg.norm(V, axis=1)).mean(),
    ),
    (metric.CrossEntropy(from_logits=True), LABELS, numpy.log(P) + 3, -numpy.log(PICKED).mean()),
    (metric.Perplexity(from_logits=True), LABELS, numpy.log(P) + 3, math.exp(-numpy.log(PICKED).mean())),
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
def test_metrics_are_over_all_batches(measure: metric.EvalMetric, label: Any, pred: Any, expected: float) -> None:
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
    assert found == pytest.approx([CASES[0][3], -numpy.log(PICKED).mean()], rel=1e-6)
    both.reset()
    assert all(math.isnan(value) for value in both.get()[1])


def test_f1_of_each_class() -> None:
    measure = metric.F1(class_type="multilabel", average=None)
    assert math.isnan(measure.get()[1])
    measure.update(np.array(M), np.array(Q))
    numpy.testing.assert_allclose(measure.get()[1], fbeta(M, Q > 0.5, 1))


def test_classes_may_come_up_later() -> None:
    measure = metric.PCC()
    labels, predictions = numpy.array([0, 1, 0, 2, 2, 1]), numpy.array([0, 1, 1, 2, 0, 1])
    for part in (slice(0, 3), slice(3, 6), slice(0, 2)):
        measure.update(np.array(labels[part]), np.array(predictions[part]))
    both = [numpy.append(x, x[:2]) for x in (labels, predictions)]
    assert measure.get()[1] == pytest.approx(class_correlation(*both))
    two = metric.PCC()
    two.update(np.array(BINARY), np.array(PREDICTIONS))
    assert two.get()[1] == pytest.approx(numpy.corrcoef(BINARY, PREDICTIONS)[0, 1])


def test_one_module_has_two_places() -> None:
    import forerun.gluon.metric as there

    from forerun import gluon

    assert there is metric
    assert gluon.metric is metric


def test_custom_metrics() -> None:
    @metric.alias("furthest", "far")
    class Furthest(metric.EvalMetric):
        def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
            return [np.abs(label - pred).max()], 1

    try:
        measure = metric.create("far", "f")
        measure.update(np.zeros(2), np.array([1.0, -3.0]))
        assert measure.get() == ("f", 3.0)
        assert metric.register(Furthest) is Furthest
        assert isinstance(metric.create("Furthest", "f"), Furthest)
    finally:
        for name in ("furthest", "far"):
            del metric.base._by_name[name]


def test_outputs_without_a_label_may_be_left_out() -> None:
    far = lambda label, pred: abs(label - pred).max()
    measure = metric.np(far, name="far", allow_extra_outputs=True)
    measure.update([np.zeros(2)], [np.array([1.0, -3.0]), np.ones(5)])
    assert measure.get() == ("far", 3.0)
    with pytest.raises(ValueError, match="CustomMetric: labels and preds must be as many, got 1 and 2"):
        metric.np(far).update([np.zeros(2)], [np.zeros(2)] * 2)


def test_metrics_refuse_invalid_arguments() -> None:
    with pytest.raises(ValueError, match="Accuracy: labels and preds must be as many, got 1 and 2"):
        metric.Accuracy().update([np.ones(1)], [np.ones(1)] * 2)
    with pytest.raises(ValueError, match=r"MAE: label must have as many elements as pred, got \(2,\) for \(3,\)"):
        metric.MAE().update(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match=r"metric: name must be one of acc, .* got 'unheard of'"):
        metric.create("unheard of")
    with pytest.raises(ValueError, match='Fbeta: class_type must be "binary", "multiclass" or "multilabel", got 3'):
        metric.Fbeta(class_type=3)
    with pytest.raises(ValueError, match='F1: average must be "micro", "macro" or None, got \'weighted\''):
        metric.F1(average="weighted")
    with pytest.raises(ValueError, match=r"F1: pred must be of two classes for labels \(2,\), got \(2, 3\)"):
        metric.F1().update(np.ones(2), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"F1: pred must have scores for each label, got \(2,\) for \(2,\)"):
        metric.F1(class_type="multiclass").update(np.ones(2), np.ones(2))
    with pytest.raises(TypeError, match="metric: must be a name"):
        metric.create(3)
    out_of_range = metric.CrossEntropy()
    out_of_range.update(np.array([7]), np.array([[0.5, 0.5]]))
    with pytest.raises(IndexError):
        out_of_range.get()
