"""A small Transformer learns to spell: each character looks at those before it, and guesses the next.

    python examples/training/transformer.py [--epochs 10] [--quick] [--resume] [--hybridize] [--devices 2]
        [--device gpu]

Four layers of width 128 with four heads (Vaswani et al. 2017), norms before each part. The text is that of
characters.py, and so are the figures.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy
from common import SEED, Run, options
from material import bigram_bits, text, windows

from forerun import autograd, gluon, np, npx
from forerun.gluon import nn
from forerun.lr_scheduler import CosineScheduler

BATCH, LENGTH, WIDTH, HEADS, LAYERS = 32, 64, 128, 4, 4


class Attention(gluon.HybridBlock):
    """Each step attends to itself and the steps before it, by its query and their keys."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inward = nn.Dense(3 * width, flatten=False, in_units=width)  # queries, keys and values, of all heads
        self.outward = nn.Dense(width, flatten=False, in_units=width)

    def forward(self, x: Any) -> Any:
        """x: (steps, batch, width)."""
        both = self.inward(x)
        past = np.tril(np.ones((len(x), len(x)), device=x.device))
        weights = npx.masked_softmax(npx.interleaved_matmul_selfatt_qk(both, self.heads), past)
        return self.outward(npx.interleaved_matmul_selfatt_valatt(both, weights, self.heads))


class Layer(gluon.HybridBlock):
    """Attention, then two dense layers for each step by itself; the result of each is added to its input."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention, self.norm, self.norm_too = Attention(width, heads), nn.LayerNorm(), nn.LayerNorm()
        self.dense = nn.HybridSequential()
        self.dense.add(nn.Dense(4 * width, flatten=False), nn.GELU("tanh"), nn.Dense(width, flatten=False))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Any) -> Any:
        """(steps, batch, width), twice."""
        x = x + self.dropout(self.attention(self.norm(x)))
        return x + self.dropout(self.dense(self.norm_too(x)))


class Transformer(gluon.HybridBlock):
    """Characters (batch, steps) to scores for each next one, (batch, steps, symbols)."""

    def __init__(self, symbols: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.symbols = nn.Embedding(symbols, width)
        self.places = nn.Embedding(LENGTH, width)
        self.layers = nn.HybridSequential()
        self.layers.add(*[Layer(width, heads) for _ in range(layers)], nn.LayerNorm())
        self.output = nn.Dense(symbols, flatten=False, in_units=width)

    def forward(self, x: Any) -> Any:
        """At most LENGTH steps."""
        where = np.arange(x.shape[1], dtype="int64", device=x.device)
        y = self.symbols(x.swapaxes(0, 1)) + np.expand_dims(self.places(where), 1)
        return self.output(self.layers(y)).swapaxes(0, 1)


def bits(net: Any, numbers: numpy.ndarray) -> float:
    """The mean cost of the characters of a text, in bits."""
    inputs, targets = (np.array(a) for a in windows(numbers, LENGTH))
    cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()
    costs = [
        cross_entropy(net(inputs[i : i + BATCH]), targets[i : i + BATCH]).sum() for i in range(0, len(inputs), BATCH)
    ]
    return sum(costs).item() / len(inputs) / math.log(2)


def train(given: argparse.Namespace) -> None:
    """Trains, and prints bits per character after each epoch."""
    np.random.seed(SEED)
    numbers, alphabet = text(given.quick)
    past, held = numbers[: len(numbers) * 9 // 10], numbers[len(numbers) * 9 // 10 :]
    inputs, targets = windows(past, LENGTH)

    width, heads, layers = (32, 2, 2) if given.quick else (WIDTH, HEADS, LAYERS)
    net = Transformer(len(alphabet), width, heads, layers)
    net.initialize("xavier", ctx=given.on)
    if given.hybridize:
        net.hybridize()
    net(np.array(inputs[:1]))  # shapes are known from here on
    steps = given.epochs * -(-len(inputs) // BATCH)
    rate = CosineScheduler(steps, base_lr=0.002, final_lr=2e-5, warmup_steps=steps // 10)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": rate})
    cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()

    run = Run(given, net, trainer)
    for _ in run.epochs():
        for xs, ys in run.batches(BATCH, inputs, targets):
            with autograd.record():
                losses = [cross_entropy(net(x), y) for x, y in zip(xs, ys)]
            autograd.backward(losses)
            trainer.step(sum(map(len, xs)))  # nothing has been waited for
            run.done(losses)
        run.epoch_done(bits=bits(net, held))
    print(f"transformer: {run.curve[-1]['bits']:.3f} bits per character of {len(held):,} that it has not seen")
    print(f"pairs of characters: {bigram_bits(past, held, len(alphabet)):.3f}")


if __name__ == "__main__":
    chosen = options(__doc__, epochs=10)
    with chosen.on[0]:  # where new arrays are
        train(chosen)
