"""The rows with JAX: eager, and behind `jax.jit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy
from base import CompiledRows, Program
from functional import Functional
from jax import numpy as jnp


class Eager(Functional):
    """JAX computes later; `block_until_ready` waits."""

    xp = jnp
    package = "jax"

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
