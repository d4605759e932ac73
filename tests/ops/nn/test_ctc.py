"""CTC loss beside the sum over all paths, and its gradients beside differences."""

from typing import Any

import numpy
import pytest

from forerun import autograd, gluon, np, npx
from forerun.testing import check_grads, closed_gate
from tests.ops.cases.network import by_paths
from tests.support.comparison.gradients import central_differences
from tests.support.comparison.tolerances import assert_close

RNG = numpy.random.default_rng(3)


LABELS = [[1], [2, 1], [1, 1], [], [2, 2, 1], [1, 2, 1, 2], [1, 1, 1]]


def padded_labels(labels: list[list[int]], padding: int, most: int = 4) -> numpy.ndarray:
    return numpy.array([row + [padding] * (most - len(row)) for row in labels])


@pytest.mark.parametrize("blank", ["first", "last"])
@pytest.mark.parametrize("steps", [1, 2, 4, 5])
def test_loss_equals_the_sum_over_all_paths(blank: str, steps: int) -> None:
    x = RNG.normal(size=(steps, len(LABELS), 3))
    shift = 0 if blank == "first" else 1
    rows = [[c - shift for c in row] for row in LABELS]
    found = npx.ctc_loss(np.array(x, dtype="float64"), padded_labels(rows, -shift), blank_label=blank)
    expected = [by_paths(x[:, i], row, 2 * shift) for i, row in enumerate(rows)]
    assert numpy.isinf(expected).any() == (steps < 5)
    assert_close(found, expected, 1e-12)


def test_lengths_are_used_only_with_their_flags() -> None:
    x = RNG.normal(size=(5, 4, 3))
    steps, counts = numpy.array([5, 3, 0, 0]), numpy.array([2, 1, 0, 1])
    label = numpy.array([[1, 2, 1], [2, 9, -7], [9, 9, 9], [1, 1, 1]])
    data = np.array(x, dtype="float64")
    found = npx.ctc_loss(data, label, steps, counts, True, True)
    expected = [by_paths(x[:t, i], list(label[i, :n]), 0) for i, (t, n) in enumerate(zip(steps, counts))]
    assert_close(found, expected, 1e-12)
    fine = numpy.array([[1, 2, 0]] * 4)
    assert (npx.ctc_loss(data, fine, steps, counts) == npx.ctc_loss(data, fine)).all()


def test_no_labels_no_steps_no_examples() -> None:
    x = RNG.normal(size=(3, 2, 3))
    expected = [by_paths(x[:, i], [], 0) for i in range(2)]
    assert_close(npx.ctc_loss(np.array(x, dtype="float64"), numpy.zeros((2, 0), "int64")), expected, 1e-12)
    assert npx.ctc_loss(np.zeros((0, 2, 3)), np.array([[0], [1]])).tolist() == [0, numpy.inf]
    assert npx.ctc_loss(np.zeros((3, 0, 3)), np.zeros((0, 2))).shape == (0,)


def test_gradients() -> None:
    x = np.array(RNG.normal(size=(4, 3, 3)), dtype="float64")
    label = np.array([[1, 1, 0], [2, 0, 0], [1, 2, 1]])
    check_grads(lambda x: npx.ctc_loss(x, label), x)
    check_grads(lambda x: npx.ctc_loss(x, label, np.array([4, 2, 3]), None, True), x)


def test_second_gradients() -> None:
    x = np.array(RNG.normal(size=(3, 2, 3)), dtype="float64")
    x.attach_grad()
    label, rates = np.array([[1, 2], [2, 0]]), np.array(RNG.normal(size=(3, 2, 3)), dtype="float64")

    def slope() -> Any:
        with autograd.record():
            (g,) = autograd.grad(npx.ctc_loss(x, label).sum(), [x], create_graph=True)
            return (g * rates).sum(axis=(0, 2))

    with autograd.record():
        first = slope().sum()
    first.backward()
    assert_close(x.grad, central_differences(lambda: slope().sum().item(), x), 1e-7)


def test_impossible_labels_do_not_affect_other_examples() -> None:
    """Their loss is inf, and their gradient 0: one short example does not make a batch's gradients useless."""
    x = np.array(RNG.normal(size=(2, 2, 3)), dtype="float32")
    x.attach_grad()
    with autograd.record():
        loss = npx.ctc_loss(x, np.array([[1, 1], [1, 2]])).mean()
    loss.backward()
    assert loss.item() == numpy.inf
    assert not x.grad[:, 0].any()
    assert numpy.isfinite(x.grad.asnumpy()).all()
    assert x.grad[:, 1].any()


def test_long_sequences_neither_overflow_nor_lose_their_gradient() -> None:
    x = np.array(RNG.normal(size=(300, 2, 5)) * 20, dtype="float32")
    x.attach_grad()
    label = RNG.integers(1, 5, size=(2, 40))
    with autograd.record():
        loss = npx.ctc_loss(x, label)
    loss.backward()
    assert_close(x.grad.sum(axis=2), numpy.zeros((300, 2)), 1e-4)  # of each softmax
    double = npx.ctc_loss(x.astype("float64"), label)
    assert numpy.isfinite(double.asnumpy()).all()
    assert_close(loss, double, 1e-3)


def test_half_precision_and_integers() -> None:
    x = RNG.integers(-2, 3, size=(3, 1, 3))
    expected = [by_paths(x[:, 0], [2], 0)]
    for dtype in ("float16", "int64"):
        assert_close(npx.ctc_loss(np.array(x, dtype=dtype), [[2]]), expected, 1e-3)


@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("label_layout", ["NT", "TN"])
def test_layer(layout: str, label_layout: str) -> None:
    x, label = RNG.normal(size=(3, 2, 4)), numpy.array([[0, -1], [2, 1]])
    steps, counts, weights = numpy.array([3, 2]), numpy.array([1, 1]), numpy.array([0.5, 2])
    pred = np.array(x if layout == "TNC" else x.swapaxes(0, 1), dtype="float64")
    given = np.array(label.T if label_layout == "TN" else label, dtype="float32")
    loss = gluon.loss.CTCLoss(layout, label_layout, weight=3)
    assert_close(loss(pred, given), [3 * by_paths(x[:, 0], [0], 3), 3 * by_paths(x[:, 1], [2, 1], 3)], 1e-12)
    found = loss(pred, given, np.array(steps), np.array(counts), np.array(weights))
    assert_close(found, [1.5 * by_paths(x[:, 0], [0], 3), 6 * by_paths(x[:2, 1], [2], 3)], 1e-12)


def test_hybridized() -> None:
    loss = gluon.loss.CTCLoss()
    loss.hybridize()
    for _ in range(3):
        x = RNG.normal(size=(4, 3))
        found = loss(np.array(x[None], dtype="float64"), np.array([[0, 1]]))
        assert_close(found, [by_paths(x, [0, 1], 2)], 1e-12)
    assert loss.hybridized.startswith("1 program")


def test_invalid_arguments_raise() -> None:
    with pytest.raises(ValueError, match=r"ctc_loss: data and label must be .*, got \(2, 3\) and \(2, 1\)"):
        npx.ctc_loss(np.zeros((2, 3)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match=r"ctc_loss: data and label must be .*, got \(2, 3, 4\) and \(2, 1\)"):
        npx.ctc_loss(np.zeros((2, 3, 4)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match='ctc_loss: blank_label must be "first" or "last", got 0'):
        npx.ctc_loss(np.zeros((2, 3, 4)), np.zeros((3, 1)), blank_label=0)
    with pytest.raises(ValueError, match=r"CTCLoss: layouts must be .*, got 'NCT' and 'NT'"):
        gluon.loss.CTCLoss("NCT")


@pytest.mark.parametrize(("blank", "wrong"), [("first", 3), ("first", -1), ("last", 2), ("last", 3), ("last", -2)])
def test_labels_out_of_range_raise_where_the_loss_is_read(blank: str, wrong: int) -> None:
    label = np.array([[1, wrong]])
    with closed_gate():
        loss = npx.ctc_loss(np.zeros((4, 1, 3)), label, blank_label=blank)
    with pytest.raises(IndexError, match=r"ctc_loss, class of a label: index must be in \[-3, 3\), got 3"):
        loss.item()


@pytest.mark.parametrize(
    ("steps", "counts", "name"), [(5, 1, "data"), (-1, 1, "data"), (4, 3, "label"), (4, -1, "label")]
)
def test_invalid_lengths_raise_where_the_loss_is_read(steps: int, counts: int, name: str) -> None:
    with closed_gate():
        loss = npx.ctc_loss(np.zeros((4, 1, 3)), np.array([[1, 2]]), np.array([steps]), np.array([counts]), True, True)
    with pytest.raises(IndexError, match=f"ctc_loss, {name}_lengths: index must be in"):
        loss.item()


def test_lengths_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match=r"ctc_loss: data_lengths must have shape \(1,\), got \(2,\)"):
        npx.ctc_loss(np.zeros((4, 1, 3)), np.array([[1, 2]]), np.array([4, 4]), use_data_lengths=True)
