"""The rows with JAX: eager, and behind `jax.jit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy
from base import CompiledRows, Program
from jax import numpy as jnp
from ocean.programs import Ocean

from .functional import Functional


class Eager(Functional, Ocean):
    """JAX computes later; `block_until_ready` waits."""

    xp = jnp
    package = "jax"

    def start(self, dtype: str) -> None:
        jax.config.update("jax_enable_x64", dtype == "float64")

    def array(self, x: numpy.ndarray) -> Any:
        return jnp.array(x)

    def wait(self, y: Any) -> Any:
        return jax.block_until_ready(y)

    def grad(self, function: Any) -> Any:
        return jax.grad(function)

    def logsumexp(self, x: Any) -> Any:
        return jax.nn.logsumexp(x, 1)

    def softmax_of(self, x: Any) -> Any:
        return jax.nn.softmax(x, 1)

    def put(self, x: Any, key: Any, value: Any) -> Any:
        return x.at[key].set(value)

    def add(self, x: Any, key: Any, value: Any) -> Any:
        return x.at[key].add(value)

    def tridiagonal(self, lower: Any, diagonal: Any, upper: Any, right: Any) -> Any:
        """The same as loops, which are not unrolled where they are compiled."""

        def eliminate(above: Any, level: Any) -> Any:
            (u, r), (low, middle, up, given) = above, level
            pivot = middle - low * u
            found = up / pivot, (given - low * r) / pivot
            return found, found

        def substitute(below: Any, level: Any) -> Any:
            found = level[1] - level[0] * below
            return found, found

        levels = tuple(jnp.moveaxis(x, -1, 0) for x in (lower, diagonal, upper, right))
        zeros = jnp.zeros_like(levels[0][0])
        _, reduced = jax.lax.scan(eliminate, (zeros, zeros), levels)
        _, solved = jax.lax.scan(substitute, zeros, reduced, reverse=True)
        return jnp.moveaxis(solved, 0, -1)

    def small_each(self, x: Any, count: int) -> Program:
        def program() -> Any:
            for _ in range(count):
                y = x + 1
                y.block_until_ready()
            return y

        return program

    def normals(self, x: Any, count: int) -> Program:
        """With keys made before: JAX's generator has no state."""
        keys, shape = list(jax.random.split(jax.random.key(1), count)), x.shape

        def one(key: Any) -> Any:
            a = jax.random.normal(key, shape)
            return a @ a

        one = self.compiled(one)
        return lambda: self.wait([one(key) for key in keys])

    def compiled_step(self) -> Callable[..., Any]:
        """The training step, as it is measured."""
        return self.step

    def training(self, x: Any, y: Any, *parameters: Any, count: int) -> Program:
        state, step = list(parameters), self.compiled_step()

        def program() -> Any:
            nonlocal state
            for _ in range(count):
                state = step(state, x, y)
            return self.wait(state)

        return program


class Jit(CompiledRows, Eager):
    """The same with each row's function, and the whole training step, behind `jax.jit`."""

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return jax.jit(function)

    def compiled_step(self) -> Callable[..., Any]:
        return jax.jit(self.step, donate_argnums=0)

    def small_each(self, x: Any, count: int) -> Program:
        add = self.compiled(lambda x: x + 1)

        def program() -> Any:
            for _ in range(count):
                y = add(x)
                y.block_until_ready()
            return y

        return program
