"""Data-parallel training of LeNet: on all devices of all ranks, with the program of D2L's chapter on several GPUs.

    forerun run -n 2 examples/ranks.py [--devices 2] [--epochs 3]

Two lines differ from the program for one process: the kind of store, and the rows of a batch that a rank takes. The
pictures are drawn by the program: a bright bar in one of ten places, in noise. All ranks print the same numbers.
"""

from __future__ import annotations

import argparse
import zlib

import numpy

import forerun
from forerun import autograd, d2l, distributed, gluon, np, npx
from forerun.gluon import nn

BATCH = 40


def lenet() -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(6, kernel_size=5, padding=2, activation="relu"), nn.AvgPool2D(2, 2))
    net.add(nn.Conv2D(16, kernel_size=5, activation="relu"), nn.AvgPool2D(2, 2), nn.Flatten())
    net.add(nn.Dense(120, activation="relu"), nn.Dense(84, activation="relu"), nn.Dense(10))
    return net


def pictures(count: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    random = numpy.random.default_rng(5)
    labels = random.integers(0, 10, count)
    images = random.normal(0, 0.3, (count, 1, 20, 20)).astype("float32")
    for image, label in zip(images, labels):
        image[0, 2 * label : 2 * label + 2] += 1
    return images, labels.astype("int32")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    given = parser.parse_args()
    if given.devices > 1:
        forerun.configure(cpu_devices=given.devices)
    devices, images, labels = forerun.devices()[: given.devices], *pictures(400)
    npx.random.seed(1)
    net, loss = lenet(), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize("xavier", ctx=devices)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2}, kvstore="dist_sync")
    shard = slice(distributed.rank(), None, distributed.size())
    for epoch in range(given.epochs):
        total = np.zeros(())
        for i in range(0, len(images), BATCH):
            rows = slice(i, i + BATCH)
            X, y = d2l.split_batch(np.array(images[rows][shard]), np.array(labels[rows][shard]), devices)
            with autograd.record():
                losses = [loss(net(part), target) for part, target in zip(X, y)]
            autograd.backward(losses)
            trainer.step(BATCH)
            total += sum(part.sum().to_device(devices[0]) for part in losses)
        right = (net(np.array(images)).argmax(axis=1) == np.array(labels)).mean()
        mean = distributed.allreduce(total) / len(images)
        print(f"epoch {epoch + 1}: loss {mean.item():.4f}, {100 * right.item():.1f} % right", flush=True)
    values = b"".join(p.data().asnumpy().tobytes() for p in net.collect_params().values())
    print(f"parameters {zlib.crc32(values):08x}")


if __name__ == "__main__":
    main()
