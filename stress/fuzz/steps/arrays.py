"""New arrays, copies, casts, moves between devices, reads, and released handles."""

from __future__ import annotations

import numpy

from stress.fuzz.pool import Pool


class Arrays(Pool):
    """Steps that create, copy, read and release arrays."""

    def make(self, a: int, b: int, c: int) -> None:
        shape, dtype = self.shapes[a % len(self.shapes)], self.dtypes[b % len(self.dtypes)]
        values = numpy.random.default_rng(c).integers(0 if dtype[0] == "u" else -30, 31, shape)
        if not self.exact and dtype != "int64":
            values = values / 31
        self.put(self.back.array(numpy.asarray(values, dtype), (a + b + c) % 2), (a + b + c) % 2)

    def fill(self, a: int, b: int, c: int) -> None:
        x = self.pick(a)
        if x is not None:
            self.put(self.xp.full_like(x.value, self.scalar(x.value, b)), x.device)

    def drop(self, a: int, b: int, c: int) -> None:
        if len(self.pool) > 2:
            del self.pool[a % len(self.pool)]

    def read(self, a: int, b: int, c: int) -> None:
        if b % 4 == 0:  # seldom, so that many operations are pending between two reads
            self.log.append(self.back.look(self.any(a).value, c))

    def move(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        self.put(self.back.move(x.value, 1 - x.device), 1 - x.device)

    def copy(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        self.put(x.value.copy(), x.device)

    def cast(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        self.put(self.cast_to(x.value, self.dtypes[b % len(self.dtypes)]), x.device)
