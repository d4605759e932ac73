"""Errors that only the computation finds: positions out of range, tasks that fail. And writes that remove them."""

from __future__ import annotations

from typing import Any

import numpy

from stress.fuzz.pool import Pool


class Broken(Exception):
    """The error of a failing task; its text names the step."""


class Failing(Pool):
    """Each failure's text has its step's number: a read that raises says whose failure it is."""

    def mark(self) -> int:
        """A number that no other step has, and that is not a position."""
        return 1_000_000 + self.number

    def far_index(self, a: int, b: int, c: int) -> None:
        """A position out of range, among others."""
        x = self.pick(a, lambda slot: slot.value.ndim > 0 and slot.value.size > 0)
        if x is not None:
            index = self.back.array(numpy.array([0, self.mark() * (-1 if b % 2 else 1), 0]), x.device)
            self.put(self.back.take(x.value, index), x.device)

    def far_write(self, a: int, b: int, c: int) -> None:
        """A write to a position out of range: the array is poisoned."""
        x = self.pick(a, lambda slot: slot.value.ndim > 0 and slot.value.size > 0)
        if x is not None:
            index = self.back.array(numpy.array([self.mark()]), x.device)
            self.back.scatter(x.value, index, self.scalar(x.value, c))

    def task_fails(self, a: int, b: int, c: int) -> None:
        """A host task that raises."""
        x = self.any(a)
        error = (Broken, ValueError, KeyError, ZeroDivisionError)[b % 4]
        text = f"step {self.number}"

        def task(values: numpy.ndarray) -> Any:
            raise error(text)

        specs = [(x.value.shape, x.value.dtype)] * (1 + c % 2)
        for result in self.back.host(task, [x.value], specs):
            self.put(result, x.device)

    def task_fails_sometimes(self, a: int, b: int, c: int) -> None:
        """A host task that raises if its values say so."""
        x = self.any(a)
        text = f"step {self.number}"

        def task(values: numpy.ndarray) -> Any:
            if values.size and values.reshape(-1)[0] > 0:
                raise Broken(text)
            return values

        self.put(self.back.host(task, [x.value], [(x.value.shape, x.value.dtype)])[0], x.device)

    def heal(self, a: int, b: int, c: int) -> None:
        """All of an array is written over."""
        x = self.any(a)
        if b % 3 == 0:
            x.value[...] = self.scalar(x.value, c)
        elif b % 3 == 1:
            x.value[...] = self.back.array(numpy.zeros(x.value.shape, x.value.dtype), x.device)
        elif x.value.ndim:
            x.value[:1] = self.scalar(x.value, c)  # only a part: the array stays poisoned

    def spread(self, a: int, b: int, c: int) -> None:
        """Operations to which an array passes its failures."""
        x = self.any(a)
        y = self.partner(x, b)
        z = self.settle(x.value + y)
        self.put(self.settle(z * 2), x.device)
        self.put(z.sum() % 31, x.device)
