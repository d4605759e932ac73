"""Random numbers: the words of ChaCha8, as the CPU draws them (core/cpu/kernels/random/random.cpp).

The words are the CPU's, and so are integers. Floating numbers are computed from them by the same steps; each product is
kept from being joined with the sum behind it, so that they are rounded as on the CPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from ..builder import Builder
from ..types import Type
from ..values import Value
from .call import Call
from .elementwise.casts import unsigned_of

__all__ = ["random"]

_BLOCKS, _WORDS = 16, 256  # of a chunk
_WORD = "uint32"
_CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)  # "expand 32-byte k"


def random(call: Call) -> Sequence[Value] | None:
    """Numbers of one distribution."""
    b, (out,) = call.b, call.spec.outputs
    seed, number, first, second = call.inputs
    integers = call.spec.name == "integers"
    if not integers and out.dtype not in ("float32", "float64"):
        return None
    size = math.prod(out.shape)
    wide = call.attribute("wide", False) if integers else out.dtype == "float64"
    chunks = -(-size // (_WORDS // 2 if wide else _WORDS))
    if not size:
        return [b.constant(0, Type(out.shape, out.dtype))]
    keys = b.convert(seed, "uint64"), b.convert(number, "uint64")
    if integers:
        drawn = _integers(b, keys, chunks, wide, first, second, out.dtype)
    else:
        words = _sized(b, _words(b, *keys, b.scalar(0, _WORD), chunks), wide)
        drawn = _reals(b, call.spec.name, words, b.convert(first, out.dtype), b.convert(second, out.dtype))
    drawn = b.slice(b.reshape(drawn, (drawn.type.size,)), [0], [size])
    return [b.reshape(drawn, out.shape)]


# --- words


def _words(b: Builder, seed: Value, number: Value, attempt: Value, chunks: int) -> Value:
    """The words of all chunks, (chunks, 256): ChaCha with eight rounds, a block for each column of 16 words."""
    shape = (chunks, _BLOCKS)
    halves = [*_halves(b, seed), *_halves(b, number)]
    counter = b.iota(shape, 0, "uint64") * _BLOCKS + b.iota(shape, 1, "uint64")
    zero = b.constant(0, Type(shape, _WORD))
    rows = [
        [b.constant(k, Type(shape, _WORD)) for k in _CONSTANTS],
        [b.broadcast(h, shape) for h in halves],
        [zero] * 4,
        [*_halves(b, counter), b.broadcast(attempt, shape), zero],
    ]
    start = [_lanes(b, row) for row in rows]
    state = b.loop(
        [b.scalar(0, "int32"), *start],
        lambda i, *_: i < 4,
        lambda i, *rows: [i + 1, *_two_rounds(b, list(rows))],
    )[1:]
    ended = [x + y for x, y in zip(state, start)]
    return b.reshape(b.concatenate(ended, 1), (chunks, _WORDS))


def _halves(b: Builder, x: Value) -> list[Value]:
    """The lower and the upper 32 bits of 64."""
    return [b.convert(x & 0xFFFFFFFF, _WORD), b.convert(x >> 32, _WORD)]


def _lanes(b: Builder, row: Sequence[Value]) -> Value:
    """Four words of each block, (chunks, 4, blocks)."""
    return b.concatenate([b.reshape(w, (w.shape[0], 1, w.shape[1])) for w in row], 1)


def _two_rounds(b: Builder, rows: list[Value]) -> list[Value]:
    """One of the columns, and one of the diagonals."""
    a, c, d, e = _quarters(*rows)
    a, c, d, e = _quarters(a, _rolled_lanes(b, c, 1), _rolled_lanes(b, d, 2), _rolled_lanes(b, e, 3))
    return [a, _rolled_lanes(b, c, 3), _rolled_lanes(b, d, 2), _rolled_lanes(b, e, 1)]


def _quarters(a: Value, c: Value, d: Value, e: Value) -> tuple[Value, Value, Value, Value]:
    for one, other in ((16, 12), (8, 7)):
        a = a + c
        e = _rotated(e ^ a, one)
        d = d + e
        c = _rotated(c ^ d, other)
    return a, c, d, e


def _rotated(x: Value, n: int) -> Value:
    return (x << n) | (x >> (32 - n))


def _rolled_lanes(b: Builder, x: Value, n: int) -> Value:
    """The lanes from the n-th on, then those before."""
    return b.concatenate([b.along(x, 1, n, 4), b.along(x, 1, 0, n)], 1)


def _sized(b: Builder, words: Value, wide: bool) -> Value:
    """Words of 32 bits, or two as one of 64."""
    if not wide:
        return words
    chunks = words.shape[0]
    return b.bitcast(b.reshape(words, (chunks, _WORDS // 2, 2)), "uint64", (chunks, _WORDS // 2))


# --- integers: Lemire (2019), "Fast random integer generation in an interval"


def _integers(
    b: Builder, keys: tuple[Value, Value], chunks: int, wide: bool, low: Value, span: Value, dtype: str
) -> Value:
    """low + the upper half of a product; words that would make some numbers likelier are drawn again."""
    seed, number = keys
    word = "uint64" if wide else _WORD
    words = _sized(b, _words(b, seed, number, b.scalar(0, _WORD), chunks), wide)
    width = b.convert(b.convert(span, "uint64") + 1, word)
    one = b.select(width.equals(0), 1, width)
    refused = b.binary("remainder", b.scalar(0, word) - width, one)
    refused = b.select(width.equals(0), 0, refused)

    def below(words: Value, width: Value, refused: Value) -> Value:
        return _product(b, words, b.broadcast(width, words.shape))[1] < b.broadcast(refused, words.shape)

    def again(words: Value, attempt: Value, width: Value, refused: Value, seed: Value, number: Value) -> list[Value]:
        fresh = _sized(b, _words(b, seed, number, attempt, chunks), wide)
        words = b.select(below(words, width, refused), fresh, words)
        return [words, attempt + 1, width, refused, seed, number]

    state = [words, b.scalar(1, _WORD), width, refused, seed, number]
    words = b.loop(state, lambda words, attempt, width, refused, *_: b.any(below(words, width, refused)), again)[0]
    upper = _product(b, words, b.broadcast(width, words.shape))[0]
    every = b.broadcast(width.equals(0), words.shape)
    upper = b.convert(b.select(every, words, upper), "uint64")
    found = upper + b.broadcast(b.bitcast(b.convert(low, "int64"), "uint64"), words.shape)
    if dtype == "bool":
        return (found & 0xFF).differs(0)
    return b.bitcast(b.convert(found, unsigned_of(dtype)), dtype)


def _product(b: Builder, x: Value, y: Value) -> tuple[Value, Value]:
    """Upper and lower half of a product of words."""
    if x.dtype == _WORD:
        product = b.convert(x, "uint64") * b.convert(y, "uint64")
        upper, lower = b.convert(product >> 32, _WORD), b.convert(product & 0xFFFFFFFF, _WORD)
        return upper, lower
    low = 0xFFFFFFFF
    x0, x1, y0, y1 = x & low, x >> 32, y & low, y >> 32
    first = x0 * y0
    middle = x1 * y0 + (first >> 32)
    other = x0 * y1 + (middle & low)
    return x1 * y1 + (middle >> 32) + (other >> 32), (other << 32) | (first & low)


# --- floating numbers


@dataclass(frozen=True)
class _Float:
    """Conversions of words, and how many terms series have."""

    b: Builder
    dtype: str

    @property
    def single(self) -> bool:
        return self.dtype == "float32"

    @property
    def mantissa(self) -> int:
        return 23 if self.single else 52

    @property
    def bits(self) -> int:
        """Of whole and centred numbers."""
        return 31 if self.single else 52

    def _of_signed(self, w: Value) -> Value:
        return self.b.convert(self.b.bitcast(w, "int32"), "float32")

    def joined(self, bits: Value, high: int) -> Value:
        """A double of these bits under those of an exponent."""
        return self.b.bitcast(bits | high, "float64")

    def _between(self, bits: Value, low: float) -> Value:
        """The integer of these 52 bits + 2^52 - low; two constants are not to be joined, which loses bits."""
        joined = self.joined(bits, 0x4330000000000000)
        return self.rounded(joined - low, joined)

    def unit(self, w: Value) -> Value:
        """[0, 1)."""
        if self.single:
            return self._of_signed(w >> 8) * 2.0**-24
        upper = self.joined(w >> 32, 0x4530000000000000) - (2.0**84 + 2.0**52)
        return (upper + self.joined(w & 0xFFFFF800, 0x4330000000000000)) * 2.0**-64

    def whole(self, w: Value) -> Value:
        """[0, 2^bits)."""
        return self._of_signed(w >> 1) if self.single else self._between(w >> 12, 2.0**52)

    def below(self, w: Value) -> Value:
        """whole() - 2^bits."""
        if self.single:
            return self._of_signed((w >> 1) | 1 << 31)
        return self._between(w >> 12, 2.0**53)

    def centred(self, w: Value) -> Value:
        """Half of the numbers below 0."""
        if self.single:
            return self.b.convert(self.b.bitcast(w, "int32") >> 1, "float32")
        return self._between(w >> 12, 1.5 * 2.0**52)

    def exponent(self, e: Value) -> Value:
        """A small integer."""
        return self._of_signed(e) if self.single else self._between(e, 2.0**52)

    def number(self, x: float) -> float:
        """A constant, rounded to the dtype."""
        return float(numpy.float32(x)) if self.single else x

    def ratio(self, n: int) -> float:
        """1 / n, rounded to the dtype."""
        return float(numpy.float32(1) / numpy.float32(n)) if self.single else 1 / n

    def quotient(self, x: Value, y: Value) -> Value:
        """x / y, rounded to nearest, which GPUs do for doubles alone."""
        b = self.b
        if not self.single:
            return x / y
        # Without the factor, a compiler would see that the result is that of a division of floats.
        scaled = b.convert(x, "float64") * 2.0**64 / b.convert(y, "float64")
        return b.convert(scaled, "float32") * 2.0**-64

    def root(self, x: Value) -> Value:
        """The square root, rounded to nearest, which GPUs do for doubles alone."""
        b = self.b
        if not self.single:
            return b.unary("sqrt", x)
        return b.convert(b.unary("sqrt", b.convert(x, "float64") * 2.0**64), "float32") * 2.0**-32

    def rounded(self, product: Value, other: Value) -> Value:
        """A product or sum that compilers do not join with others: they cannot know that it is not `other`."""
        ordered = (product <= other) | (product > other)  # none is NaN, which compilers do not know of both
        return self.b.select(ordered, product, other)


def _reals(b: Builder, name: str, words: Value, first: Value, second: Value) -> Value:
    f = _Float(b, first.dtype)
    low, high = (b.broadcast(v, words.shape) for v in (first, second))
    if name == "uniform":
        unit = f.unit(words)
        x = low + f.rounded((high - low) * unit, unit)
        end = b.select(high > low, high, math.inf)
        return b.select(x < end, x, low)
    if name == "exponential":
        drawn = _minus_log(f, words)
    else:
        half = words.shape[1] // 2
        drawn = b.concatenate(_normal_pairs(f, b.along(words, 1, 0, half), b.along(words, 1, half, 2 * half)), 1)
    return low + f.rounded(high * drawn, drawn)


def _minus_log(f: _Float, w: Value) -> Value:
    """-log((upper bits of w + 1/2) / 2^bits)."""
    b, scale, word = f.b, 2.0**-f.bits, w.dtype
    root = f.number(math.sqrt(0.5))
    root_bits = int(numpy.array(root, f.dtype).view(word))
    u = b.bitcast((f.whole(w) + 0.5) * scale, word)
    e = (u - root_bits + (64 << f.mantissa)) >> f.mantissa
    m = b.bitcast(u - ((e - 64) << f.mantissa), f.dtype)
    near = (f.below(w) + 0.5) * scale
    part = b.select(e.equals(64), f.rounded(near, m), m - 1.0)
    s = f.quotient(part, part + 2.0)
    z = s * s
    total = b.constant(0, s.type)
    for i in reversed(range(1, 5 if f.single else 10)):
        total = f.rounded((total + f.ratio(2 * i + 1)) * z, s)
    logs = f.rounded((64.0 - f.exponent(e)) * f.number(math.log(2)), s)
    return logs - f.rounded(2.0 * (s + f.rounded(s * total, z)), z)


def _normal_pairs(f: _Float, radius: Value, angle: Value) -> list[Value]:
    """Box and Muller (1958): the coordinates of points."""
    b = f.b
    to_angle = f.number(math.pi / 4) / 2.0 ** (f.bits - 1)
    r = f.root(2.0 * _minus_log(f, radius))
    a = (f.centred(angle) + 0.5) * to_angle
    z = a * a
    sine = cosine = b.constant(0, a.type)
    for i in reversed(range(5 if f.single else 8)):
        sine = f.rounded((1.0 - sine) * z * f.ratio((2 * i + 2) * (2 * i + 3)), a)
        cosine = f.rounded((1.0 - cosine) * z * f.ratio((2 * i + 1) * (2 * i + 2)), a)
    sine, cosine = a - f.rounded(a * sine, z), 1.0 - cosine
    r = b.select((radius & 1).differs(0), -r, r)
    mirrored = (angle & 1).differs(0)
    return [r * b.select(mirrored, sine, cosine), r * b.select(mirrored, cosine, sine)]
