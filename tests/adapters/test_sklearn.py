"""Networks as estimators of scikit-learn."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy
import pytest
import sklearn.utils.estimator_checks as checks
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import forerun
from forerun import gluon
from forerun.gluon import nn
from forerun.sklearn import NetClassifier, NetRegressor

RNG = numpy.random.default_rng(0)
X = RNG.normal(size=(60, 4))
LABELS = numpy.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [NetClassifier, NetRegressor])
def test_check_estimator(make):
    float32 = {"check_methods_subset_invariance": "allows differences of 1e-7, less than float32 tells apart"}
    found = checks.check_estimator(make(random_state=0), on_fail=None, on_skip=None, expected_failed_checks=float32)
    assert [(row["check_name"], row["exception"]) for row in found if row["status"] == "failed"] == []
    assert sum(row["status"] == "passed" for row in found) > 40


def test_predictions_do_not_depend_on_other_examples():
    model = NetRegressor(random_state=0).fit(X, X[:, 0])
    one_by_one = numpy.concatenate([model.predict(X[i : i + 1]) for i in range(len(X))])
    numpy.testing.assert_allclose(one_by_one, model.predict(X), rtol=1e-5, atol=1e-6)


def test_fit_does_not_change_the_passed_network():
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu"), nn.Dense(2))
    model = NetClassifier(net, learning_rate=0.01, random_state=0).fit(X, LABELS)
    assert model.score(X, LABELS) > 0.9
    assert net[0].weight.is_deferred or not net[0].weight._copies
    assert model.net_ is not net
    assert len(model.losses_) == 100
    assert model.losses_[-1] < model.losses_[0]


def test_a_function_makes_the_network():
    seen: list[int] = []

    def make(outputs: int) -> gluon.Block:
        seen.append(outputs)
        return nn.Dense(outputs)

    assert cross_val_score(NetClassifier(make, learning_rate=0.1, random_state=0), X, LABELS, cv=2).min() > 0.7
    assert seen == [2, 2]


def test_images_and_probabilities():
    x, y = RNG.normal(size=(12, 1, 5, 5)), numpy.arange(12) % 3
    model = NetClassifier(lambda n: nn.Dense(n), epochs=1).fit(x, y)
    probabilities = model.predict_proba(x)
    assert probabilities.shape == (12, 3)
    numpy.testing.assert_allclose(probabilities.sum(1), 1)


def test_the_same_seed_gives_the_same_network():
    first, second = (NetClassifier(epochs=3, random_state=7).fit(X, LABELS).predict_proba(X) for _ in range(2))
    assert (first == second).all()
    other = clone(NetClassifier(epochs=3, random_state=8)).fit(X, LABELS).predict_proba(X)
    assert (first != other).any()


def test_several_targets():
    y = X[:, :2] @ numpy.array([[1.0, 0.5], [-1.0, 2.0]])
    model = NetRegressor(hidden=(), learning_rate=0.05, loss=gluon.loss.HuberLoss(), random_state=0).fit(X, y)
    assert model.predict(X).shape == (60, 2)
    assert model.score(X, y) > 0.9
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()


def test_training_does_not_wait_in_its_steps():
    """Only the barriers of `pace`, once in an epoch, and the losses at the end."""
    with forerun.profiler.record() as recording:
        NetRegressor(hidden=(8,), epochs=3, batch_size=4).fit(X, X[:, 0])
    read = [line for line in recording.trace.lines if "_estimators" in (line.site or ("",))[0]]
    assert sum(line.waits + line.reads for line in read) <= 8


def test_scikit_learn_is_imported_with_the_first_estimator(monkeypatch: pytest.MonkeyPatch):
    module: Any = forerun.sklearn
    assert dir(module)[:2] == ["NetClassifier", "NetRegressor"]
    with pytest.raises(AttributeError, match=r"module 'forerun.sklearn' has no attribute 'Nothing'"):
        module.Nothing  # noqa: B018
    assert "forerun.sklearn" in sys.modules
