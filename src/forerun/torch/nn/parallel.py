"""Training of a module in several ranks: a module whose gradients are the means over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..._display.namespaces import dir_of
from ...autograd.backward_pass import follow
from ...distributed import Group, broadcast, size
from ...distributed.buckets import buckets_of, sum_over_ranks
from ...ops._base import core as _core
from ..grad import no_grad
from .module import Module

__all__ = ["DistributedDataParallel"]
__dir__ = dir_of(__name__)


class DistributedDataParallel(Module):
    """A module that each rank trains with its part of the data; gradients are the means over the ranks.

    All ranks begin with the parameters and buffers of rank 0, or of the group's first rank. A backward pass behind a
    call of the module is followed by sums over the ranks, some gradients at a time, those of the last parameters first.
    They are issued at once, and run while the backward pass goes on.

    Parameters
    ----------
    module : Module
        The module, the same on all ranks.
    process_group : Group, optional
        The ranks that train together; all by default.
    broadcast_buffers : bool
        Buffers, such as running means, become those of the first rank at each call in training mode.
    find_unused_parameters : bool
        True: parameters that a backward pass did not reach take part with the gradients that they have. False: they
        are an error.
    device_ids, output_device, bucket_cap_mb, gradient_as_bucket_view, static_graph : optional
        Ignored.

    Raises
    ------
    ValueError
        No parameter has a gradient.
    RuntimeError
        From `backward`: a parameter was not reached.

    Examples
    --------
    >>> from forerun import torch
    >>> net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    >>> net(torch.ones(3, 2)).sum().backward()
    >>> net.module.weight.grad.tolist()              # of one rank
    [[3.0, 3.0]]
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[object] | None = None,
        output_device: object = None,
        broadcast_buffers: bool = True,
        process_group: Group | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
    ) -> None:
        super().__init__()
        self.module = module
        self.process_group = process_group
        self._ranks = size() if process_group is None else process_group.size
        self._root = 0 if process_group is None else process_group.ranks[0]
        self._broadcast_buffers = broadcast_buffers
        self._unused_allowed = find_unused_parameters
        self._synchronises, self._awaited = True, False
        self._names = [name for name, p in module.named_parameters() if p.requires_grad][::-1]
        if not self._names:
            raise ValueError(f"DistributedDataParallel: a parameter must have a gradient, got none in {module!r}")
        if self._ranks > 1:
            self._take_over(module.state_dict().values())

    def _take_over(self, tensors: Any) -> None:
        """Give the first rank's values to all."""
        with no_grad():
            for x in tensors:
                x[...] = broadcast(x, self._root, self.process_group)

    def _trained(self) -> list[Any]:
        found = dict(self.module.named_parameters())
        return [found[name] for name in self._names]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result of the module.

        Parameters
        ----------
        *args, **kwargs
            Those of the module.

        Returns
        -------
        Any
            The result of the module.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        >>> net(torch.ones(3, 2)).shape
        (3, 1)
        """
        if self._ranks > 1 and self._broadcast_buffers and self.training:
            self._take_over([x for _, x in self.module._named("_buffers")])
        if self._ranks > 1 and self._synchronises and not self._awaited and _core.recording():
            before = _core.gradient_versions(self._trained())
            self.__dict__["_awaited"] = True  # captured calls do not depend on it
            follow(lambda: self._sum(before))
        return self.module(*args, **kwargs)

    def _sum(self, before: list[int]) -> None:
        """Behind a backward pass: put the means over the ranks into the gradients."""
        self.__dict__["_awaited"] = False
        trained = self._trained()
        now = _core.gradient_versions(trained)
        missed = [name for name, a, b in zip(self._names, before, now) if a == b]
        if missed and not self._unused_allowed:
            raise RuntimeError(
                f"DistributedDataParallel: backward must reach all parameters, or find_unused_parameters be True, got "
                f"no gradient of {', '.join(missed)}"
            )
        grads = [p.grad for p in trained]
        buckets, numbers = buckets_of(grads), range(len(grads))
        before_in = _core.set_in_collective(True)
        try:
            with no_grad():
                sum_over_ranks(grads, numbers, buckets, "mean", self.process_group, into=True)
        finally:
            _core.set_in_collective(before_in)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Inside, gradients stay those of this rank, and add up; the next backward pass behind it sums them.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        >>> with net.no_sync():
        ...     net(torch.ones(3, 2)).sum().backward()
        """
        before, self._synchronises = self._synchronises, False
        try:
            yield
        finally:
            self._synchronises = before
