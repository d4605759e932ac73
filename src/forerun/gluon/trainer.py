"""The trainer: sums gradients over devices, and lets an optimizer change the parameters. Nothing here waits.

Gradients of the last layers are there first, so their sums are issued first: they run while the backward pass goes on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from .. import _core, autograd
from ..optimizer import Item, Optimizer, State, create
from ..storage.issue import opened, save_arrays
from ..storage.npy import read_arrays
from . import changes
from .parameter import Parameter

__all__ = ["Trainer"]

Copies = tuple[int, list[Any]]
"""The number of a parameter, and its arrays: one per device."""


class Trainer:
    """Applies an optimizer to parameters, each with a copy on every device it was initialised on.

    params: what `collect_params` gives, or a sequence of parameters. optimizer: a name or an Optimizer;
    optimizer_params: its settings. kvstore: "device", "local" or None, which mean the same here: sums are made on the
    first device. Raises TypeError for other params, ValueError for another kvstore.

    >>> from forerun import autograd, gluon, np
    >>> net = gluon.nn.Dense(1, use_bias=False, in_units=1, weight_initializer="ones")
    >>> net.initialize()
    >>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    >>> with autograd.record():
    ...     loss = net(np.ones((2, 1)))
    >>> loss.backward()
    >>> trainer.step(batch_size=2)
    >>> net.weight.data().tolist()
    [[0.5]]
    """

    def __init__(
        self,
        params: Mapping[str, Parameter] | Sequence[Parameter],
        optimizer: str | Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: str | None = "device",
        compression_params: Any = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        if kvstore not in ("device", "local", None):
            raise ValueError(f'Trainer: kvstore must be "device", "local" or None, got {kvstore!r}')
        self._params = _distinct(params)
        self._optimizer = _made(optimizer, optimizer_params or {}, self._params)
        self._scale = self._optimizer.rescale_grad
        self._states: dict[int, list[State]] = {}
        self._seen: dict[int, list[int]] = {}
        self._copies: list[Copies] = []  # as they were at the change of this number
        self._count = -1

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer."""
        return self._optimizer

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate. Raises ValueError if a scheduler decides it."""
        self._optimizer.set_learning_rate(lr)

    def _trained(self) -> list[Copies]:
        """Numbers and copies of parameters that have gradients, from the last layer to the first."""
        if self._count != changes.count:
            params = reversed(list(enumerate(self._params)))
            self._copies = [(i, p.list_data()) for i, p in params if p.grad_req != "null"]
            self._count = changes.count
        return self._copies

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Sums the gradients over devices, and updates the parameters with the sums divided by `batch_size`.

        Raises RuntimeError if a gradient has not been written since the last step; with `ignore_stale_grad`, such
        parameters stay as they are. RuntimeError for parameters that are not initialised.
        """
        fresh = self._fresh(ignore_stale_grad)
        self._sum(fresh)
        self._update(fresh, batch_size)

    def allreduce_grads(self) -> None:
        """Only sums the gradients over devices: for changes of the sums before `update`."""
        self._sum(self._trained())

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Only updates the parameters, after `allreduce_grads`. Raises as `step` does."""
        self._update(self._fresh(ignore_stale_grad), batch_size)

    def _fresh(self, ignore_stale: bool) -> list[Copies]:
        """Those whose gradients have been written since the last step; all before the first one."""
        trained = self._trained()
        stale = [i for i, copies in trained if self._seen.get(i) == _core.gradient_versions(copies)]
        if not stale:
            return trained
        if not ignore_stale:
            names = [self._params[i].name for i in stale]
            raise RuntimeError(
                f"Trainer.step: gradients must be computed anew between steps, got old ones for {names}"
            )
        return [(i, copies) for i, copies in trained if i not in stale]

    def _sum(self, params: list[Copies]) -> None:
        for _, copies in params:
            if len(copies) == 1:
                continue
            first, *others = (x.grad for x in copies)
            with autograd.pause():
                for g in others:
                    first += g.as_in_ctx(first.device)
                for g in others:
                    g[...] = first

    def _update(self, params: list[Copies], batch_size: float) -> None:
        self._optimizer.rescale_grad = self._scale / batch_size
        items: list[Item] = []
        for i, copies in params:
            items += [(i, w, w.grad, state) for w, state in zip(copies, self._states_of(i, copies))]
            self._seen[i] = _core.gradient_versions(copies)
        self._optimizer.update_all(items)

    def _states_of(self, i: int, copies: list[Any]) -> list[State]:
        """One state per copy; made anew where the parameter has moved."""
        if len(self._states.get(i, ())) != len(copies):
            self._states[i] = [self._optimizer.create_state(i, weight) for weight in copies]
        return self._states[i]

    def save_states(self, filename: str | os.PathLike[str]) -> Any:
        """Writes what the optimizer remembers to an npz file, as `np.savez` does: returns its size, an array."""
        values: dict[str, Any] = {
            f"{i}.{name}": value
            for i, states in self._states.items()
            for name, value in states[0].items()
        }
        values["num_update"] = numpy.asarray(self._optimizer.num_update)
        return save_arrays("save_states", filename, values)

    def load_states(self, filename: str | os.PathLike[str]) -> None:
        """Takes over what `save_states` wrote, on all devices.

        Raises ValueError for another kind of file or optimizer; then nothing has changed.
        """
        with opened(filename) as file:
            values = read_arrays(file, "load_states")
        count = _number(values.pop("num_update", None))
        found = {i: self._states_of(i, self._params[i].list_data()) for i in self._numbers(values)}
        of = lambda i: {n.partition(".")[2]: v for n, v in values.items() if n.startswith(f"{i}.")}
        news = [(state, of(i)) for i, states in found.items() for state in states]
        for state, new in news:
            _check(state, new)
        self._optimizer.num_update = count
        for state, new in news:
            _restore(state, new)

    def _numbers(self, values: Mapping[str, Any]) -> list[int]:
        """Of the parameters that values named "number.name" belong to."""
        known = {str(i): i for i in range(len(self._params))}
        for name in values:
            number, dot, _ = name.partition(".")
            if not dot or number not in known:
                raise ValueError(f"load_states: names must be of {len(known)} parameters, got {name!r}")
        return sorted({known[name.partition(".")[0]] for name in values})


def _number(value: numpy.ndarray | None) -> int:
    if value is None or value.size != 1 or value.dtype.kind not in "iu":
        raise ValueError(f"load_states: counts must be integers, got {value!r}")
    return int(value.item())


def _check(state: State, values: dict[str, numpy.ndarray]) -> None:
    if state.keys() != values.keys():
        raise ValueError(f"load_states: file must have {sorted(state)}, got {sorted(values)}")
    for name, value in values.items():
        if name == "t":
            _number(value)
        elif value.shape != state[name].shape or value.dtype.kind not in "biuf":
            raise ValueError(f"load_states: {name} must be of {state[name].shape}, got {value.dtype} of {value.shape}")


def _restore(state: State, values: dict[str, numpy.ndarray]) -> None:
    for name, value in values.items():
        if name == "t":
            state[name] = _number(value)
        else:
            state[name][...] = value


def _made(kind: str | Optimizer, settings: Mapping[str, Any], params: list[Parameter]) -> Optimizer:
    made = create(kind, **settings)
    made.param_dict = dict(enumerate(params))
    return made


def _distinct(params: Mapping[str, Parameter] | Sequence[Parameter]) -> list[Parameter]:
    """The parameters in order, shared ones once."""
    given = list(params.values()) if isinstance(params, Mapping) else list(params)
    wrong = [type(p).__name__ for p in given if not isinstance(p, Parameter)]
    if wrong:
        raise TypeError(f"Trainer: params must be Parameters, got {wrong[0]}")
    return list({id(parameter): parameter for parameter in given}.values())
