"""Cost of recording for gradients, and of a small training step, beside NumPy by hand in the same run.

    python benchmarks/recording.py

(a) a chain of y = y * w + b on (32, 10) arrays: issued, issued and recorded, and differentiated. Gradients of the
products are ops themselves; the rest is the cost of the tape. (b) a step of gradient descent: batch 32, dense layers
of 64 (relu) and 10, cross-entropy; 100 steps, then a wait. Aim: the step at most 2 times NumPy's, which does only the
necessary work.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy

import forerun
from forerun import autograd, gluon, np
from forerun._display.terminal import Terminal
from forerun.tour.measure import in_turn, median_ratio

LINKS, CHAINS, STEPS = 50, 20, 100
BATCH, FEATURES, HIDDEN, CLASSES, RATE = 32, 64, 64, 10, 0.01


def chains() -> dict[str, Callable[[], None]]:
    """The programs of (a): each does CHAINS times LINKS products and sums."""
    x, w, b = (np.ones((BATCH, CLASSES)) for _ in range(3))
    leaf = np.ones((BATCH, CLASSES))
    leaf.attach_grad()

    def chain(y: Any) -> Any:
        for _ in range(LINKS):
            y = y * w + b
        return y

    def issued() -> None:
        for _ in range(CHAINS):
            chain(x)

    def recorded() -> None:
        for _ in range(CHAINS):
            with autograd.record():
                chain(leaf)

    def walked() -> None:
        for _ in range(CHAINS):
            with autograd.record():
                y = chain(leaf)
            y.backward()

    return {"issued": issued, "recorded": recorded, "recorded and walked": walked}


def by_hand(x: numpy.ndarray, labels: numpy.ndarray, parameters: list[numpy.ndarray]) -> Callable[[], None]:
    """The steps of (b) in NumPy."""
    w1, b1, w2, b2 = (p.copy() for p in parameters)
    rows = numpy.arange(BATCH)

    def steps() -> None:
        for _ in range(STEPS):
            hidden = numpy.maximum(x @ w1.T + b1, 0)
            out = hidden @ w2.T + b2
            e = numpy.exp(out - out.max(1, keepdims=True))
            g = e / e.sum(1, keepdims=True)
            g[rows, labels] -= 1
            g /= BATCH
            h = (g @ w2) * (hidden > 0)
            for p, d in ((w2, g.T @ hidden), (b2, g.sum(0)), (w1, h.T @ x), (b1, h.sum(0))):
                p -= RATE * d

    return steps


def training(x: numpy.ndarray, labels: numpy.ndarray, parameters: list[numpy.ndarray]) -> Callable[[], None]:
    """The same in gluon."""
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(HIDDEN, activation="relu", in_units=FEATURES), gluon.nn.Dense(CLASSES, in_units=HIDDEN))
    net.initialize()
    for parameter, values in zip(net.collect_params().values(), parameters, strict=True):
        parameter.set_data(values)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": RATE})
    data, classes = np.array(x), np.array(labels)

    def steps() -> None:
        for _ in range(STEPS):
            with autograd.record():
                cost = loss(net(data), classes)
            cost.backward()
            trainer.step(BATCH)
        forerun.waitall()

    return steps


def main() -> None:
    generator = numpy.random.default_rng(0)
    shapes = ((HIDDEN, FEATURES), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,))
    parameters = [generator.standard_normal(s, "float32") / numpy.float32(s[-1] ** 0.5) for s in shapes]
    x = generator.standard_normal((BATCH, FEATURES), "float32")
    labels = generator.integers(0, CLASSES, BATCH)
    programs: dict[str, Callable[[], object]] = {}
    for name, program in chains().items():  # work that one leaves does not count for the next
        programs |= {name: program, f"({name}: the rest)": forerun.waitall}
    programs |= {"NumPy": by_hand(x, labels, parameters), "forerun": training(x, labels, parameters)}
    in_turn(programs, 5)  # warm
    before = forerun.stats()["issued"]
    programs["forerun"]()
    ops = (forerun.stats()["issued"] - before) / STEPS
    seconds = in_turn(programs, 41)

    def row(name: str, count: int, beside: str) -> list[str]:
        t, ratio = seconds[name], median_ratio(seconds[name], seconds[beside])
        return [
            name,
            f"{1e6 * statistics.median(t) / count:.2f}",
            f"{1e6 * min(t) / count:.2f}",
            f"{ratio:.2f}",
        ]

    print(f"(a) y = y * w + b on ({BATCH}, {CLASSES}), {CHAINS} chains of {2 * LINKS} operations\n")
    rows = [row(name, CHAINS * 2 * LINKS, "issued") for name in ("issued", "recorded", "recorded and walked")]
    Terminal().table(["", "us per op, median", "least", "times issued"], rows)
    print(f"\n(b) a training step of {ops:.0f} operations, {STEPS} times, then a wait\n")
    Terminal().table(
        ["", "us per step, median", "least", "times NumPy"],
        [row(n, STEPS, "NumPy") for n in ("NumPy", "forerun")],
    )


if __name__ == "__main__":
    main()
