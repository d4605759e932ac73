"""A recurrent network learns to spell: from each character on, it guesses the next.

    python examples/training/characters.py [--cell gru] [--epochs 8] [--quick] [--resume] [--hybridize] [--devices 2]
        [--device gpu]

The text is Python's own help, as it comes with CPython; its last tenth is held back. Guesses are judged in bits: a
character of chance p costs -log2 p. For comparison, the program prints the cost with the frequencies of pairs of
characters. After training the network writes a few lines of its own.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy
from common import SEED, Run, options
from material import bigram_bits, text, windows

from forerun import autograd, gluon, np, npx
from forerun.gluon import nn, rnn
from forerun.lr_scheduler import CosineScheduler

BATCH, LENGTH = 32, 64


class Speller(gluon.HybridBlock):
    """Characters (batch, steps) to scores for each next one (batch, steps, symbols), and the states after them."""

    def __init__(self, cell: str, symbols: int, units: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols, 64)
        self.recurrent = {"lstm": rnn.LSTM, "gru": rnn.GRU}[cell](units, layout="NTC", input_size=64)
        self.dropout = nn.Dropout(0.1)
        self.output = nn.Dense(symbols, flatten=False, in_units=units)

    def forward(self, x: Any, *states: Any) -> Any:
        """Without states, a text begins here."""
        given = list(states) or self.recurrent.begin_state(x.shape[0], device=x.device)
        y, after = self.recurrent(self.embedding(x), given)
        return (self.output(self.dropout(y)), *after)


def bits(net: Any, numbers: numpy.ndarray) -> float:
    """The mean cost of the characters of a text, in bits."""
    inputs, targets = (np.array(a) for a in windows(numbers, LENGTH))
    cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()
    costs = [
        cross_entropy(net(inputs[i : i + BATCH])[0], targets[i : i + BATCH]).sum() for i in range(0, len(inputs), BATCH)
    ]
    return sum(costs).item() / len(inputs) / math.log(2)


def written(net: Any, alphabet: str, begin: str, n: int) -> str:
    """Return text of the network: each character is drawn by the probabilities that it gives."""
    x, states, text = np.array([[alphabet.index(c) for c in begin]]), (), begin
    for _ in range(n):
        scores, *states = net(x, *states)
        chances = npx.softmax(scores[0, -1] / 0.7).asnumpy().astype("float64")  # below 1: rather the likely ones
        text += alphabet[int(numpy.searchsorted(chances.cumsum(), np.random.uniform().item() * chances.sum()))]
        x = np.array([[alphabet.index(text[-1])]])
    return text


def train(given: argparse.Namespace) -> None:
    """Trains, prints bits per character after each epoch, and lets the network write."""
    np.random.seed(SEED)
    numbers, alphabet = text(given.quick)
    past, held = numbers[: len(numbers) * 9 // 10], numbers[len(numbers) * 9 // 10 :]
    inputs, targets = windows(past, LENGTH)

    net = Speller(given.cell, len(alphabet), 32 if given.quick else 256)
    net.initialize("xavier", ctx=given.on)
    if given.hybridize:
        net.hybridize()
    steps = given.epochs * -(-len(inputs) // BATCH)
    rate = CosineScheduler(steps, base_lr=0.004, final_lr=1e-4, warmup_steps=steps // 20)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": rate, "clip_gradient": 1.0})
    cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()

    run = Run(given, net, trainer)
    for _ in run.epochs():
        for xs, ys in run.batches(BATCH, inputs, targets):
            with autograd.record():
                losses = [cross_entropy(net(x)[0], y) for x, y in zip(xs, ys)]
            autograd.backward(losses)
            trainer.step(sum(map(len, xs)))  # nothing has been waited for
            run.done(losses)
        run.epoch_done(bits=bits(net, held))
    print(f"{given.cell}: {run.curve[-1]['bits']:.3f} bits per character of {len(held):,} that it has not seen")
    print(f"pairs of characters: {bigram_bits(past, held, len(alphabet)):.3f}")
    print("\n" + written(net, alphabet, "The ", 20 if given.quick else 400))


if __name__ == "__main__":
    chosen = options(__doc__, epochs=8, cell=["lstm", "gru"])
    with chosen.on[0]:  # where new arrays are
        train(chosen)
