"""The rows as programs, written once, so that all peers do the same work; a peer's class has the differences.

A row's method takes the peer's arrays and a count and returns a program: a function that computes everything, waits
for it, and returns the results. A program keeps its results until its end, except where the row's title says that they
are dropped: a library that computes late could leave out results that are not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

Program = Callable[[], Any]
RATE = 0.01  # of learning


class Peer:
    """How a library makes arrays, waits for them and reads them; functions that it does not define are as in NumPy."""

    xp: Any = numpy
    package = "numpy"
    lacks = "has no layers for these networks"  # why rows are missing, where some are

    def start(self, dtype: str) -> None:
        """Before a row whose inputs are of this dtype."""

    def array(self, x: numpy.ndarray) -> Any:
        """The peer's array with these values."""
        return x

    def wait(self, y: Any) -> Any:
        """Waits for an array, or a list of them, and returns it."""
        return y

    def values(self, y: Any) -> numpy.ndarray:
        """An array's values."""
        return numpy.asarray(y)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function behind the peer's decorator, where it is measured with one."""
        return function


class Rows(Peer):
    """The rows."""

    def small_dropped(self, x: Any, count: int) -> Program:
        def program() -> Any:
            for _ in range(count):
                y = x + 1
            return self.wait(y)

        return program

    def small_kept(self, x: Any, count: int) -> Program:
        return lambda: self.wait([x + 1 for _ in range(count)])

    def small_each(self, x: Any, count: int) -> Program:
        """Of those that compute at once: there is nothing to wait for."""
        return self.small_dropped(x, count)

    def chain(self, x: Any, count: int) -> Program:
        def program() -> Any:
            y = x
            for _ in range(count):
                y = y + 1
            return self.wait(y)

        return program

    def _once(self, function: Callable[..., Any], *inputs: Any) -> Program:
        function = self.compiled(function)
        return lambda: self.wait(function(*inputs))

    def multiply_add(self, x: Any, y: Any, count: int) -> Program:
        return self._once(lambda x, y: x * y + 2, x, y)

    def gelu(self, x: Any, count: int) -> Program:
        tanh = self.xp.tanh
        return self._once(lambda x: 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))), x)

    def softmax_of(self, x: Any) -> Any:
        """The softmax of each row; the peer's own function, where it has one."""
        raise NotImplementedError

    def softmax(self, x: Any, count: int) -> Program:
        return self._once(self.softmax_of, x)

    def moments_of(self, x: Any, axis: int) -> Any:
        """Mean and variance over an axis."""
        return x.mean(axis), x.var(axis)

    def moments_1(self, x: Any, count: int) -> Program:
        return self._once(lambda x: self.moments_of(x, 1), x)

    def moments_0(self, x: Any, count: int) -> Program:
        return self._once(lambda x: self.moments_of(x, 0), x)

    def sum(self, x: Any, count: int) -> Program:
        return self._once(lambda x: x.sum(), x)

    def squares(self, a: Any, b: Any, count: int) -> Program:
        return self._once(lambda a, b: ((a - b) ** 2).mean(), a, b)

    def product(self, a: Any, b: Any, count: int) -> Program:
        return self._once(lambda a, b: a @ b, a, b)

    def many_products(self, a: Any, b: Any, count: int) -> Program:
        pairs = [(self.wait(a[i] + 0), self.wait(b[i] + 0)) for i in range(len(a))]
        products = self.compiled(lambda pairs: [a @ b for a, b in pairs])
        return lambda: self.wait([y for _ in range(count) for y in products(pairs)])

    def normal(self, shape: tuple[int, ...]) -> Any:
        """Normal random numbers."""
        raise NotImplementedError

    def normals(self, x: Any, count: int) -> Program:
        shape = tuple(x.shape)

        def one() -> Any:
            a = self.normal(shape)
            return a @ a

        one = self.compiled(one)
        return lambda: self.wait([one() for _ in range(count)])

    def training(self, x: Any, y: Any, *parameters: Any, count: int) -> Program:
        """Steps of gradient descent on dense layers with relu between them; results are the parameters.

        The loss is half the mean square if y is of floats, cross-entropy if it is of class numbers.
        """
        raise NotImplementedError


class CompiledRows(Rows):
    """The rows of a peer with a decorator: also x + 1 is behind it. The loops around it are Python's."""

    def small_dropped(self, x: Any, count: int) -> Program:
        add = self.compiled(lambda x: x + 1)

        def program() -> Any:
            for _ in range(count):
                y = add(x)
            return self.wait(y)

        return program

    def small_kept(self, x: Any, count: int) -> Program:
        add = self.compiled(lambda x: x + 1)
        return lambda: self.wait([add(x) for _ in range(count)])

    def chain(self, x: Any, count: int) -> Program:
        add = self.compiled(lambda x: x + 1)

        def program() -> Any:
            y = x
            for _ in range(count):
                y = add(y)
            return self.wait(y)

        return program
