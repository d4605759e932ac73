"""Losses against NumPy's formulas, and their gradients against differences."""

import copy
import math
from typing import Any

import numpy
import pytest

from forerun import autograd, gluon, np
from forerun.testing import check_grads
from tests.support.comparison.formulas import log_softmax, sigmoid
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import CLASSES, LABEL, PRED, PROBABILITIES, RNG, WEIGHTS, array


def cross_entropy(p: numpy.ndarray, q: numpy.ndarray) -> numpy.ndarray:
    return -q * numpy.log(p) - (1 - q) * numpy.log(1 - p)


def huber(e: numpy.ndarray) -> numpy.ndarray:
    return numpy.where(abs(e) > 0.5, abs(e) - 0.25, e**2)


SIGNS = numpy.sign(LABEL)
LOSSES: list[tuple[gluon.loss.Loss, numpy.ndarray, numpy.ndarray, numpy.ndarray]] = [
    (gluon.loss.L2Loss(), PRED, LABEL, (PRED - LABEL) ** 2 / 2),
    (gluon.loss.L2Loss(weight=4), PRED, LABEL, (PRED - LABEL) ** 2 * 2),
    (gluon.loss.L1Loss(), PRED, LABEL, abs(PRED - LABEL)),
    (gluon.loss.HuberLoss(rho=0.5), PRED, LABEL, huber(PRED - LABEL)),
    (gluon.loss.HingeLoss(), PRED, numpy.sign(LABEL), numpy.maximum(0, 1 - PRED * numpy.sign(LABEL))),
    (gluon.loss.HingeLoss(margin=2), PRED, SIGNS, numpy.maximum(0, 2 - PRED * SIGNS)),
    (gluon.loss.SquaredHingeLoss(), PRED, SIGNS, numpy.maximum(0, 1 - PRED * SIGNS) ** 2),
    (gluon.loss.LogisticLoss(), PRED, SIGNS, numpy.log(1 + numpy.exp(-PRED * SIGNS))),
    (gluon.loss.LogisticLoss(label_format="binary"), PRED, (SIGNS + 1) / 2, numpy.log(1 + numpy.exp(-PRED * SIGNS))),
    (gluon.loss.SoftmaxCrossEntropyLoss(), PRED, CLASSES, -log_softmax(PRED)[range(4), CLASSES][:, None]),
    (
        gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False),
        PRED,
        PROBABILITIES,
        -(log_softmax(PRED) * PROBABILITIES).sum(1, keepdims=True),
    ),
    (
        gluon.loss.SoftmaxCrossEntropyLoss(from_logits=True),
        log_softmax(PRED),
        CLASSES,
        -log_softmax(PRED)[range(4), CLASSES][:, None],
    ),
    (gluon.loss.SigmoidBinaryCrossEntropyLoss(), PRED, PROBABILITIES, cross_entropy(sigmoid(PRED), PROBABILITIES)),
    (
        gluon.loss.SigmoidBCELoss(from_sigmoid=True),
        sigmoid(PRED),
        PROBABILITIES,
        cross_entropy(sigmoid(PRED), PROBABILITIES),
    ),
    (
        gluon.loss.KLDivLoss(),
        log_softmax(PRED),
        PROBABILITIES,
        PROBABILITIES * (numpy.log(PROBABILITIES) - log_softmax(PRED)),
    ),
    (
        gluon.loss.KLDivLoss(from_logits=False),
        PRED,
        PROBABILITIES,
        PROBABILITIES * (numpy.log(PROBABILITIES) - log_softmax(PRED)),
    ),
]
IDS = [f"{type(case[0]).__name__}{i}" for i, case in enumerate(LOSSES)]


@pytest.mark.parametrize(("loss", "pred", "label", "elements"), LOSSES, ids=IDS)
def test_losses_are_means_over_all_but_the_batch(
    loss: gluon.loss.Loss, pred: numpy.ndarray, label: numpy.ndarray, elements: numpy.ndarray
) -> None:
    loss, p, q = copy.deepcopy(loss), array(pred), array(label, None)  # with programs of its own
    assert loss(p, q).shape == (4,)
    assert_close(loss(p, q), elements.mean(1))
    assert_close(loss(p, q, array(WEIGHTS)), (elements * WEIGHTS).mean(1))
    check_grads(lambda p: loss(p, q), p)


def test_l2_loss_gives_the_label_the_shape_of_the_prediction() -> None:
    loss = gluon.loss.L2Loss()
    assert_close(loss(array([1.0, 2.0]), array([[3.0], [5.0]])), [2, 4.5])
    with pytest.raises(ValueError, match=r"L2Loss: label must have as many elements as pred, got \(2,\) for \(3,\)"):
        loss(np.ones(3), np.ones(2))


def test_losses_of_extreme_predictions_are_finite() -> None:
    assert_close(gluon.loss.SigmoidBCELoss()(array([[1000.0], [-1000.0]]), array([[0.0], [0.0]])), [1000, 0])
    assert_close(gluon.loss.SoftmaxCELoss()(array([[1000.0, 0.0]]), np.array([1])), [1000])


def test_sigmoid_cross_entropy_has_its_gradient_at_zero() -> None:
    x = np.zeros((1, 1))
    x.attach_grad()
    with autograd.record():
        y = gluon.loss.SigmoidBCELoss()(x, np.ones((1, 1)))
    y.backward()
    assert x.grad.item() == -0.5


OTHER = RNG.normal(size=(4, 3))


def loss_arrays() -> list[Any]:
    return [array(x) for x in (PRED, LABEL, OTHER)]


def test_sigmoid_cross_entropy_counts_positives_by_their_weight() -> None:
    weight, (p, _, _) = numpy.array([0.5, 2.0, 3.0]), loss_arrays()
    expected = -weight * PROBABILITIES * numpy.log(sigmoid(PRED)) - (1 - PROBABILITIES) * numpy.log(1 - sigmoid(PRED))
    plain, from_p = gluon.loss.SigmoidBCELoss(), gluon.loss.SigmoidBCELoss(from_sigmoid=True)
    assert_close(plain(p, array(PROBABILITIES), None, array(weight)), expected.mean(1))
    assert_close(plain(p, array(PROBABILITIES), array(WEIGHTS), array(weight)), (expected * WEIGHTS).mean(1))
    assert_close(from_p(array(sigmoid(PRED)), array(PROBABILITIES), None, array(weight)), expected.mean(1))
    check_grads(lambda p: plain(p, array(PROBABILITIES), None, array(weight)), p)


def test_poisson_loss_is_one_mean() -> None:
    p, _, _ = loss_arrays()
    label = numpy.array([[0, 1, 2], [3, 5, 1], [0, 0, 4], [9, 2, 1]], "float64")
    loss = gluon.loss.PoissonNLLLoss()
    assert_close(loss(p, array(label)), (numpy.exp(PRED) - label * PRED).mean())
    check_grads(lambda p: loss(p, array(label)), p)
    mean = numpy.exp(PRED)
    exact = mean - label * PRED + [[math.lgamma(v + 1) for v in row] for row in label]
    full = gluon.loss.PoissonNLLLoss(from_logits=False, compute_full=True)(array(mean), array(label))
    assert full.item() == pytest.approx(exact.mean(), abs=0.03)  # Stirling's formula is short by 1 / (12 label)
    assert_close(loss(p, array(label), array(WEIGHTS)), ((numpy.exp(PRED) - label * PRED) * WEIGHTS).mean())


def test_triplet_loss_is_of_three_examples() -> None:
    a, b, c = loss_arrays()
    loss = gluon.loss.TripletLoss(margin=0.5)
    expected = numpy.maximum(0, ((LABEL - PRED) ** 2 - (OTHER - PRED) ** 2).sum(1) + 0.5)
    assert 0 < (expected > 0).sum() < 4
    assert_close(loss(a, b, c), expected)
    assert_close(loss(a, b, c, array(WEIGHTS[:, 0])), expected * WEIGHTS[:, 0])
    check_grads(loss, a, b, c)


def test_cosine_loss_is_of_angles() -> None:
    a, b, _ = loss_arrays()
    cos = (PRED * LABEL).sum(1) / numpy.linalg.norm(PRED, axis=1) / numpy.linalg.norm(LABEL, axis=1)
    same = numpy.array([1, -1, -1, 1])
    loss = gluon.loss.CosineEmbeddingLoss(margin=-0.3)
    assert_close(loss(a, b, array(same)), numpy.where(same == 1, 1 - cos, numpy.maximum(0, cos + 0.3)))
    check_grads(lambda a, b: loss(a, b, array(same)), a, b)


def test_sdml_loss_is_of_pairs() -> None:
    a, b, _ = loss_arrays()
    distances = ((PRED[:, None] - LABEL[None]) ** 2).sum(-1)
    labels = numpy.where(numpy.eye(4) == 1, 0.7, 0.1)
    loss = gluon.loss.SDMLLoss(0.3)
    assert_close(loss(a, b), (labels * (numpy.log(labels) - log_softmax(-distances))).sum(1))
    check_grads(loss, a, b)
    with pytest.raises(ValueError, match=r"SDMLLoss: shapes must be the same, .* got \(1, 2\) and \(1, 2\)"):
        loss(np.ones((1, 2)), np.ones((1, 2)))


def test_other_losses_refuse_invalid_arguments() -> None:
    with pytest.raises(ValueError, match="LogisticLoss: label_format must be"):
        gluon.loss.LogisticLoss(label_format="x")
    with pytest.raises(ValueError, match=r"TripletLoss: label must have as many elements"):
        gluon.loss.TripletLoss()(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 3)))


@pytest.mark.parametrize("label", [-1, 3])
@pytest.mark.parametrize("from_logits", [False, True])
def test_a_label_out_of_range_is_an_error(label: int, from_logits: bool) -> None:
    """Also a negative one: padding by -1 does not count as the last class."""
    cost = gluon.loss.SoftmaxCrossEntropyLoss(from_logits=from_logits)(np.zeros((2, 3)), np.array([0, label]))
    with pytest.raises(IndexError, match=rf"(cross_entropy|pick): index must be in \[0, 3\), got {label}"):
        cost.asnumpy()
