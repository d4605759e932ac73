"""Losses against NumPy's formulas, and their gradients against differences."""

import numpy
import pytest

from forerun import autograd, gluon, np
from gluon_tools import CLASSES, LABEL, PRED, SHARES, WEIGHTS, array, check_gradients, close


def log_softmax(x: numpy.ndarray) -> numpy.ndarray:
    return x - numpy.log(numpy.exp(x).sum(-1, keepdims=True))


def sigmoid(x: numpy.ndarray) -> numpy.ndarray:
    return 1 / (1 + numpy.exp(-x))


def cross_entropy(p: numpy.ndarray, q: numpy.ndarray) -> numpy.ndarray:
    return -q * numpy.log(p) - (1 - q) * numpy.log(1 - p)


def huber(e: numpy.ndarray) -> numpy.ndarray:
    return numpy.where(abs(e) > 0.5, abs(e) - 0.25, e**2)


LOSSES: list[tuple[gluon.loss.Loss, numpy.ndarray, numpy.ndarray, numpy.ndarray]] = [
    (gluon.loss.L2Loss(), PRED, LABEL, (PRED - LABEL) ** 2 / 2),
    (gluon.loss.L2Loss(weight=4), PRED, LABEL, (PRED - LABEL) ** 2 * 2),
    (gluon.loss.L1Loss(), PRED, LABEL, abs(PRED - LABEL)),
    (gluon.loss.HuberLoss(rho=0.5), PRED, LABEL, huber(PRED - LABEL)),
    (gluon.loss.HingeLoss(), PRED, numpy.sign(LABEL), numpy.maximum(0, 1 - PRED * numpy.sign(LABEL))),
    (gluon.loss.SoftmaxCrossEntropyLoss(), PRED, CLASSES, -log_softmax(PRED)[range(4), CLASSES][:, None]),
    (
        gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False),
        PRED,
        SHARES,
        -(log_softmax(PRED) * SHARES).sum(1, keepdims=True),
    ),
    (
        gluon.loss.SoftmaxCrossEntropyLoss(from_logits=True),
        log_softmax(PRED),
        CLASSES,
        -log_softmax(PRED)[range(4), CLASSES][:, None],
    ),
    (gluon.loss.SigmoidBinaryCrossEntropyLoss(), PRED, SHARES, cross_entropy(sigmoid(PRED), SHARES)),
    (
        gluon.loss.SigmoidBCELoss(from_sigmoid=True),
        sigmoid(PRED),
        SHARES,
        cross_entropy(sigmoid(PRED), SHARES),
    ),
    (gluon.loss.KLDivLoss(), log_softmax(PRED), SHARES, SHARES * (numpy.log(SHARES) - log_softmax(PRED))),
    (gluon.loss.KLDivLoss(from_logits=False), PRED, SHARES, SHARES * (numpy.log(SHARES) - log_softmax(PRED))),
]
IDS = [f"{type(case[0]).__name__}{i}" for i, case in enumerate(LOSSES)]


@pytest.mark.parametrize(("loss", "pred", "label", "elements"), LOSSES, ids=IDS)
def test_losses_are_means_over_all_but_the_batch(
    loss: gluon.loss.Loss, pred: numpy.ndarray, label: numpy.ndarray, elements: numpy.ndarray
) -> None:
    p, q = array(pred), array(label, None)
    assert loss(p, q).shape == (4,)
    close(loss(p, q), elements.mean(1))
    close(loss(p, q, array(WEIGHTS)), (elements * WEIGHTS).mean(1))
    p.attach_grad()
    check_gradients(lambda: loss(p, q), p)


def test_l2_loss_gives_the_label_the_shape_of_the_prediction() -> None:
    loss = gluon.loss.L2Loss()
    close(loss(array([1.0, 2.0]), array([[3.0], [5.0]])), [2, 4.5])
    with pytest.raises(
        ValueError, match=r"L2Loss: label must have as many elements as pred, got \(2,\) for \(3,\)"
    ):
        loss(np.ones(3), np.ones(2))


def test_losses_of_extreme_predictions_are_finite() -> None:
    close(gluon.loss.SigmoidBCELoss()(array([[1000.0], [-1000.0]]), array([[0.0], [0.0]])), [1000, 0])
    close(gluon.loss.SoftmaxCELoss()(array([[1000.0, 0.0]]), np.array([1])), [1000])


def test_sigmoid_cross_entropy_has_its_gradient_at_zero() -> None:
    x = np.zeros((1, 1))
    x.attach_grad()
    with autograd.record():
        y = gluon.loss.SigmoidBCELoss()(x, np.ones((1, 1)))
    y.backward()
    assert x.grad.item() == -0.5
