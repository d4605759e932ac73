"""The trainer: sums gradients over devices, and lets an optimizer change the parameters. Nothing here waits.

Gradients of the last layers are computed first, so their sums are issued first. Each sum runs as soon as its gradients
are computed, while the backward pass goes on, and so does the update that uses it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy

from .._capture import core as _capture
from .._capture.changes import Snapshot, stale, watch
from .._capture.participants import Participant, current
from .._io.file_ops import opened, save_arrays
from .._io.npy import read_arrays
from .._runtime.device import Device
from ..distributed import broadcast
from ..distributed.buckets import buckets_of, sum_over_ranks
from ..kvstore import KVStore
from ..optimizer import Item, Optimizer, State, create
from ._training.collectives import Copies, broadcast_to_replicas, collective_scope, owners, reduce_replicas
from ._training.load_balancer import LoadBalancer
from ._training.optimizer_state import beside, check, moved, number, of_number, restore
from ._training.used_gradients import UsedGradients
from .parameter.dictionary import named
from .parameter.parameter import Parameter

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["Trainer"]


class Trainer:
    """Applies an optimizer to parameters, each with a copy on every device it was initialised on.

    Over ranks, rank 0's parameters are given to all when the trainer is made, or when their shapes are known. Some
    gradients at a time are summed while the backward pass goes on, those of the last layers first.

    Parameters
    ----------
    params : mapping or sequence of Parameters
        The parameters, such as those that `collect_params` gives.
    optimizer : str or Optimizer
        The optimizer, or its name.
    optimizer_params : mapping, optional
        The settings of the optimizer.
    kvstore : str, KVStore or None, optional
        Where gradients are summed over devices. "device": those of each parameter on one of its devices, by size, so
        that all have as much to do; "local": all on cpu(0), or the first device where that has no copy; None: nowhere,
        each device goes its own way. "dist_sync" and "dist_sync_device" are "local" and "device", and then sum over all
        ranks (docs/howto/distributed.md).
    compression_params : None, optional
        Must be None.
    update_on_kvstore : bool, optional
        True: the parameter is updated where gradients are summed, once, and the other devices get its values, while
        their gradients stay their own; two devices each update their copy by the same sum, if the optimizer remembers
        nothing. False: they get the sum, and each updates its copy. None: True with a kvstore. The values are the same
        bits on all devices.
    shares : LoadBalancer, optional
        Devices whose speed is measured from step to step.

    Raises
    ------
    TypeError
        For other parameters.
    ValueError
        For another kvstore.
    NotImplementedError
        For `compression_params`.

    Examples
    --------
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

    _snapshot = stale(Snapshot)  # of the parameters

    def __init__(
        self,
        params: Mapping[str, Parameter] | Sequence[Parameter],
        optimizer: str | Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: str | KVStore | None = "device",
        compression_params: Mapping[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
        *,
        shares: LoadBalancer | None = None,
    ) -> None:
        store = KVStore(kvstore) if isinstance(kvstore, str) else kvstore
        if not isinstance(store, KVStore | None):
            raise TypeError(f"Trainer: kvstore must be a name, a KVStore or None, got {type(kvstore).__name__}")
        if compression_params:
            raise NotImplementedError(f"Trainer: compression_params must be None, got {compression_params!r}")
        if kvstore is None and update_on_kvstore:
            raise ValueError("Trainer: there must be a kvstore for update_on_kvstore, got None")
        self._kvstore = store
        self._ranks = store.num_workers if store is not None else 1
        self._buckets: list[list[int]] = []
        self._shares = shares
        self._once = kvstore is not None and update_on_kvstore is not False
        distinct = _distinct(params)
        self._names, self._params = list(distinct), list(distinct.values())
        self._optimizer = _made(optimizer, optimizer_params or {}, self._params)
        self._scale = self._optimizer.rescale_grad
        self._states: dict[int, list[State]] = {}
        self._used = UsedGradients()
        self._copies: list[Copies] = []  # these and the following: as they were when `_snapshot` was new
        self._owners: dict[int, int] = {}
        self._devices: list[Device] = []
        self._updated: dict[int, list[tuple[Any, State, int, int]]] = {}
        self._several = False  # whether there are copies to be kept equal
        self._each = False  # all copies are updated, each where it is, rather than one that the others then get
        if self._ranks > 1:
            self._take_rank_0s(self._params)

    def _take_rank_0s(self, params: list[Parameter]) -> None:
        """Give rank 0's values to all ranks: now, or when a parameter's shape is known."""
        for p in params:
            p.over_ranks = broadcast
            if p.is_initialized:
                p.set_data(broadcast(p.data()))

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer."""
        return self._optimizer

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate. Raises ValueError if a scheduler decides it.

        Examples
        --------
        >>> from forerun import gluon
        >>> net = gluon.nn.Dense(1, in_units=1)
        >>> net.initialize()
        >>> trainer = gluon.Trainer(net.collect_params(), "sgd")
        >>> trainer.set_learning_rate(0.5)
        >>> trainer.learning_rate
        0.5
        """
        self._optimizer.set_learning_rate(lr)

    def _trained(self) -> list[Copies]:
        """Return numbers and copies of parameters that have gradients, from the last layer to the first."""
        if self._snapshot.stale:
            snapshot = Snapshot()
            for p in self._params:
                watch(p, snapshot)
            params = reversed(list(enumerate(self._params)))
            self._copies = [(i, named(self._names[i], p.list_data)) for i, p in params if p.grad_req != "null"]
            self._owners = owners(self._copies, self._kvstore is not None and self._kvstore.balanced)
            self._devices = list({x.device: None for _, copies in self._copies for x in copies})
            self._updated = {}
            self._used.follow(self._copies)
            pairs = any(len(copies) > 1 for _, copies in self._copies)
            self._several = self._ranks > 1 or (self._kvstore is not None and pairs)
            self._buckets = []
            alone = len(self._devices) == 2 and not self._optimizer.slots and self._ranks == 1
            self._each = (alone or not self._once) and not self._optimizer.draws
            self._snapshot = snapshot
        return self._copies

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Sum the gradients over devices, and update the parameters with the sums divided by `batch_size`.

        Parameters
        ----------
        batch_size : float
            The number of examples of the batch, on all devices together.
        ignore_stale_grad : bool, optional
            Whether parameters without a new gradient stay as they are; otherwise they raise an error.

        Raises
        ------
        RuntimeError
            If a gradient has not been written since the last step, on one device or all, or for parameters that are not
            initialised.

        Examples
        --------
        >>> from forerun import autograd, gluon, np
        >>> net = gluon.nn.Dense(1, use_bias=False, in_units=1, weight_initializer="ones")
        >>> net.initialize()
        >>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
        >>> with autograd.record():
        ...     loss = net(np.ones((4, 1)))
        >>> loss.backward()
        >>> trainer.step(4)
        >>> net.weight.data().tolist()
        [[0.5]]
        """
        fresh = self._fresh(ignore_stale_grad)
        if self._shares is not None:
            self._shares.ended(x.grad for _, copies in fresh for x in copies)
        if self._several:
            self._exchange(fresh, batch_size)
        else:
            self._update(fresh, batch_size)
        if self._shares is not None:
            self._shares.begun(x for _, copies in fresh for x in copies)

    def _exchange(self, params: list[Copies], batch_size: float) -> None:
        with collective_scope():
            if not self._once:
                self._sum(params)
            self._update(params, batch_size, sums=self._once)

    def allreduce_grads(self) -> None:
        """All-reduce the gradients over devices, without an update: for changes of the sums before `update`."""
        trained = self._trained()
        if self._several:
            with collective_scope():
                self._sum(trained)

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update the parameters, after `allreduce_grads`.

        Parameters
        ----------
        batch_size : float
            The number that gradients are divided by.
        ignore_stale_grad : bool, optional
            As for `step`.

        Raises
        ------
        RuntimeError
            As `step` does.

        Examples
        --------
        >>> from forerun import autograd, gluon, np
        >>> net = gluon.nn.Dense(1, use_bias=False, in_units=1, weight_initializer="ones")
        >>> net.initialize()
        >>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5}, update_on_kvstore=False)
        >>> with autograd.record():
        ...     loss = net(np.ones((4, 1)))
        >>> loss.backward()
        >>> trainer.allreduce_grads()
        >>> trainer.update(4)
        >>> net.weight.data().tolist()
        [[0.5]]
        """
        fresh = self._fresh(ignore_stale_grad)
        with collective_scope() if self._several else nullcontext():
            self._update(fresh, batch_size)

    def _fresh(self, ignore_stale: bool) -> list[Copies]:
        """Return the parameters whose gradients were written on all devices since the last step; at first all."""
        trained = self._trained()
        stale = self._used.stale()
        if not stale:
            return trained
        if not ignore_stale:
            names = [self._names[i] for i in dict.fromkeys(stale)]
            raise RuntimeError(f"Trainer.step: gradients must be computed anew between steps, got old ones for {names}")
        return [(i, copies) for i, copies in trained if i not in stale]

    def _sum(self, params: list[Copies]) -> None:
        """Give all gradients of a parameter their sum."""
        for i, copies in params:
            grads, at = [x.grad for x in copies], self._owners[i]
            for k, g in enumerate(grads):
                if k != at:
                    grads[at] += g
            if self._ranks == 1:
                broadcast_to_replicas(grads, at)
        if self._ranks > 1:
            self._over_ranks(params, [copies[self._owners[i]].grad for i, copies in params], into=True)
            for i, copies in params:
                broadcast_to_replicas([x.grad for x in copies], self._owners[i])

    def _over_ranks(self, params: list[Copies], grads: list[Any], into: bool = False) -> list[Any]:
        """Return the sums of gradients over ranks."""
        if not self._buckets:
            order = [i for i, _ in self._copies]
            every = [copies[self._owners[i]].grad for i, copies in self._copies]
            self._buckets = [[order[k] for k in bucket] for bucket in buckets_of(every)]
        return sum_over_ranks(grads, [i for i, _ in params], self._buckets, into=into)

    def _update(self, params: list[Copies], batch_size: float, sums: bool = False) -> None:
        """Updates the copies by their gradients; or one of each parameter, which the others then get.

        sums: the gradients have not been summed yet.
        """
        self._optimizer.rescale_grad = self._scale / batch_size
        if _capture.capturing():
            self._take_part(params)
        items = self._items(params, sums)
        self._used.used(params, written=self._several)
        for some in items:
            self._optimizer.update_all(some)
        if self._several and not self._each:
            for i, copies in params:
                if self._ranks > 1 and self._optimizer.draws:  # other random numbers on each rank
                    copies[self._owners[i]][...] = broadcast(copies[self._owners[i]])
                broadcast_to_replicas(copies, self._owners[i])

    def _items(self, params: list[Copies], sums: bool) -> list[list[Item]]:
        """Return the items that the optimizer updates on each device. sums: with gradients summed over devices and
        ranks."""
        items: list[list[Item]] = [[] for _ in self._devices]
        summed = self._summed(params) if sums and self._ranks > 1 else {}
        for i, copies in params:
            for weight, state, device, place in self._updated.get(i) or self._updates(i, copies):
                if not sums:
                    g = weight.grad
                else:
                    g = summed[i] if summed else reduce_replicas([x.grad for x in copies], place)
                items[device].append((i, weight, g, state))
        return items

    def _take_part(self, params: list[Copies]) -> None:
        """Take part in the calls of a function that is being captured, which must compute the gradients."""
        capture = current()
        makers = [_capture.capture_maker(x.grad) for _, copies in params for x in copies]
        if capture is None or self._shares is not None or any(isinstance(m, int) or m == "constant" for m in makers):
            _capture.capture_refuse("it steps a trainer whose gradients it does not compute")
        else:
            capture.guards.append(self._snapshot)
            capture.participants.append(_Steps(self, params))

    def _summed(self, params: list[Copies]) -> dict[int, Any]:
        """Return the sums of gradients over devices and ranks, by parameter."""
        here = [reduce_replicas([x.grad for x in copies], self._owners[i]) for i, copies in params]
        return dict(zip((i for i, _ in params), self._over_ranks(params, here)))

    def _updates(self, i: int, copies: list[Any]) -> list[tuple[Any, State, int, int]]:
        """Return the copies that the optimizer changes, each with state, number of the device, and place."""
        places = range(len(copies)) if self._each else [self._owners[i]]
        weights = [copies[k] for k in places]
        states = self._states_of(i, weights)
        self._updated[i] = [(w, s, self._devices.index(w.device), k) for w, s, k in zip(weights, states, places)]
        return self._updated[i]

    def _states_of(self, i: int, weights: list[Any]) -> list[State]:
        """Return one state per weight, where it is. A parameter that has moved takes its state along."""
        states = self._states.get(i, [])
        if len(states) != len(weights) or any(not beside(s, w) for s, w in zip(states, weights)):
            new = self._optimizer.create_state_multi_precision
            made = lambda: [moved(states[0], w) if states else new(i, w) for w in weights]
            self._states[i] = states = _capture.capture_paused(made)
        return states

    def save_states(self, filename: str | os.PathLike[str], *, wait: bool = True) -> Array:
        """Write the optimizer's states to an npz file.

        Parameters
        ----------
        filename : str or path
            The name of the file.
        wait : bool, optional
            Whether the call returns when the file is written; with False it returns at once, as `np.save` does.

        Returns
        -------
        array
            The size of the file, in bytes.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import gluon
        >>> net = gluon.nn.Dense(1, in_units=1)
        >>> net.initialize()
        >>> trainer = gluon.Trainer(net.collect_params(), "adam")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = trainer.save_states(f"{folder}/adam.states")
        ...     trainer.load_states(f"{folder}/adam.states")
        """
        values: dict[str, Any] = {
            f"{i}.{name}": value for i, states in self._states.items() for name, value in states[0].items()
        }
        values["num_update"] = numpy.asarray(self._optimizer.num_update)
        return save_arrays("save_states", filename, values, wait=wait)

    def load_states(self, filename: str | os.PathLike[str]) -> None:
        """Load states that `save_states` wrote, on all devices.

        Raises ValueError for another kind of file or optimizer; then nothing has changed.
        """
        with opened(filename) as file:
            values = read_arrays(file, "load_states")
        count = number(values.pop("num_update", None))
        self._trained()
        for i in (numbers := self._numbers(values)):
            for state in self._all_states(i):
                check(self._names[i], state, of_number(values, i))
        self._optimizer.num_update = count
        for i in numbers:
            for state in self._all_states(i):
                restore(state, of_number(values, i))

    def _all_states(self, i: int) -> list[State]:
        """Return the states of a parameter, made if they do not exist."""
        copies = named(self._names[i], self._params[i].list_data)
        if i not in self._owners:  # it is not trained now
            return self._states_of(i, copies[:1])
        return [state for _, state, *_ in self._updates(i, copies)]

    def _numbers(self, values: Mapping[str, Any]) -> list[int]:
        """Of the parameters that values named "number.name" belong to."""
        known = {str(i): i for i in range(len(self._params))}
        for name in values:
            number, dot, _ = name.partition(".")
            if not dot or number not in known:
                raise ValueError(f"load_states: names must be of {len(known)} parameters, got {name!r}")
        return sorted({known[name.partition(".")[0]] for name in values})


class _Steps(Participant):
    """Steps of a trainer in a captured function."""

    def __init__(self, trainer: Trainer, params: list[Copies]) -> None:
        self.trainer, self.params = trainer, params
        self.rescale_grad = self.before = trainer.optimizer.rescale_grad

    def advance(self) -> tuple[Any, ...]:
        """Rescale gradients by the batch size of the captured call."""
        self.before, self.trainer.optimizer.rescale_grad = self.trainer.optimizer.rescale_grad, self.rescale_grad
        return ()

    def undo(self) -> None:
        """Rescale them as before."""
        self.trainer.optimizer.rescale_grad = self.before

    def issued(self) -> None:
        """Note which gradients the step has used."""
        self.trainer._used.used(self.params)


def _made(kind: str | Optimizer, settings: Mapping[str, Any], params: list[Parameter]) -> Optimizer:
    made = create(kind, **settings)
    made.param_dict = dict(enumerate(params))
    return made


def _distinct(params: Mapping[str, Parameter] | Sequence[Parameter]) -> dict[str, Parameter]:
    """Return the parameters by name, in order, shared ones once. Repeated names of a sequence get a number."""
    given = params.items() if isinstance(params, Mapping) else [(getattr(p, "name", ""), p) for p in params]
    found: dict[str, Parameter] = {}
    seen: set[int] = set()
    for name, p in given:
        if not isinstance(p, Parameter):
            raise TypeError(f"Trainer: params must be Parameters, got {type(p).__name__}")
        if id(p) not in seen:
            seen.add(id(p))
            found[name if name not in found else f"{name} ({len(found)})"] = p
    return found
