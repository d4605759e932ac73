"""Splitting a batch over devices of different speed, by measured times."""

from __future__ import annotations

import itertools
import statistics
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..._runtime.device import Device, resolve
from ...ops._base import core as _core
from .collectives import collective_scope

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["LoadBalancer", "Shares"]

_STEPS = 5  # of which the median counts
_GAIN = 0.05  # of a step's time, below which shares stay: each change of shapes costs memory and recordings anew
_WAITING = 32  # measurements that are not there yet


class LoadBalancer(tuple[Device, ...]):
    """Devices, each with the share of a batch that it can compute in the same time as the others.

    It takes the place of a list of devices: in `initialize`, in `split_and_load`. A Trainer that is given it measures
    how long each device takes from a step's new parameters to its gradients. Nothing waits: clocks are operations, and
    the next steps go on with the present shares until the times are known. At first shares are equal. Of the last five
    steps the median counts, and shares change only where a step would take five per cent less.

    Sums over a batch are added over devices, so that losses with one number per example need no further care.
    Where each device's loss is a mean, multiply it by its weight (`weights`).

    The shares follow measured times, so they differ from run to run, and results then differ by rounding.

    Parameters
    ----------
    devices : iterable of Devices
        The devices.
    clock : callable, optional
        From arrays to an array with the time at which all of them are computed; tests give another one.

    Raises
    ------
    ValueError
        Without a device, or if one is given twice.

    Examples
    --------
    >>> import forerun
    >>> from forerun import np
    >>> from forerun.gluon.utils import LoadBalancer, split_and_load
    >>> devices = LoadBalancer([forerun.cpu(0)])
    >>> devices.sizes(6), [part.shape for part in split_and_load(np.zeros((6, 2)), devices)]
    ([6], [(6, 2)])
    """

    _clock: Callable[[Sequence[Any]], Any]

    def __new__(
        cls, devices: Iterable[Device | str], clock: Callable[[Sequence[Any]], Any] = _core.clock
    ) -> LoadBalancer:
        """clock: returns an array with the time at which all of some arrays are computed."""
        made = super().__new__(cls, map(resolve, devices))
        if len(set(made)) != len(made) or not made:
            raise ValueError(f"LoadBalancer: devices must be given, each once, got {list(made)}")
        made._clock = clock
        made._fractions = [1 / len(made)] * len(made)
        made._rates = [deque(maxlen=_STEPS) for _ in made]
        made._begun = {}
        made._waiting = deque(maxlen=_WAITING)
        made._sizes = []
        return made

    _fractions: list[float]
    _rates: list[deque[float]]  # examples a second
    _begun: Mapping[Device, Any]  # times at which a step could begin
    _waiting: deque[tuple[Mapping[Device, Any], Mapping[Device, Any], list[int]]]
    _sizes: list[int]  # of the last batch that was split

    @property
    def fractions(self) -> list[float]:
        """The devices' shares; they sum to 1."""
        return list(self._fractions)

    @property
    def weights(self) -> list[float]:
        """Return the share of each device in the last batch that was split."""
        return [n / sum(self._sizes) for n in self._sizes]

    def sizes(self, n: int) -> list[int]:
        """Return the number of examples of `n` for each device: at least one.

        ValueError for fewer examples than devices.

        Examples
        --------
        >>> import forerun
        >>> LoadBalancer([forerun.cpu(0), forerun.cpu(1)]).sizes(6)
        [3, 3]
        """
        if n < len(self):
            raise ValueError(f"LoadBalancer: examples must be at least one for each of {len(self)} devices, got {n}")
        self._sizes = _whole(self._fractions, n)
        return list(self._sizes)

    def parts(self, data: Array, batch_axis: int = 0) -> list[Any]:
        """Return the devices' parts of an array.

        Parameters
        ----------
        data : array
            The batch.
        batch_axis : int, optional
            The axis of examples.

        Returns
        -------
        list of arrays
            A view for each device.

        Raises
        ------
        ValueError
            For fewer examples than devices.

        Examples
        --------
        >>> import forerun
        >>> from forerun import np
        >>> devices = LoadBalancer([forerun.cpu(0), forerun.cpu(1)])
        >>> [part.shape for part in devices.parts(np.zeros((6, 2)))]
        [(3, 2), (3, 2)]
        """
        bounds = [0, *itertools.accumulate(self.sizes(data.shape[batch_axis]))]
        before = (slice(None),) * (batch_axis % data.ndim)
        return [data[(*before, slice(start, stop))] for start, stop in itertools.pairwise(bounds)]

    def ended(self, gradients: Iterable[Any]) -> None:
        """Mark the end of a step, when these gradients are computed; called by the Trainer."""
        times = self._times(gradients)
        if self._begun and self._sizes and set(times) >= set(self):
            self._waiting.append((self._begun, times, self._sizes))
        self._begun = {}

    def begun(self, weights: Iterable[Any]) -> None:
        """Mark the begin of a step, when these parameters are computed; called by the Trainer."""
        self._begun = self._times(weights)
        self._look()

    def _times(self, arrays: Iterable[Any]) -> Mapping[Device, Any]:
        found: dict[Device, list[Any]] = {}
        for x in arrays:
            found.setdefault(x.device, []).append(x)
        with collective_scope():
            return {device: self._clock(some) for device, some in found.items()}

    def _look(self) -> None:
        """Use the times that have been measured by now."""
        while self._waiting and all(x.ready for times in self._waiting[0][:2] for x in times.values()):
            begun, ended, sizes = self._waiting.popleft()
            if any(_core.is_poisoned(x) for times in (begun, ended) for x in times.values()):
                continue
            for rates, device, n in zip(self._rates, self, sizes):
                rates.append(n / max(ended[device].item() - begun[device].item(), 1e-9))
        if all(self._rates):
            self._follow([statistics.median(rates) for rates in self._rates])

    def _follow(self, rates: list[float]) -> None:
        best = [rate / sum(rates) for rate in rates]
        now = max(fraction / rate for fraction, rate in zip(self._fractions, rates))
        if now * (1 - _GAIN) > 1 / sum(rates):
            self._fractions = best


def _whole(fractions: Sequence[float], n: int) -> list[int]:
    """Whole numbers from 1 on that sum to n, near to its fractions; the largest remainders are rounded up."""
    free = n - len(fractions)
    exact = [max(0.0, fraction * n - 1) for fraction in fractions]
    scale = free / (sum(exact) or 1)
    found = [int(x * scale) for x in exact]
    rest = sorted(range(len(exact)), key=lambda k: (found[k] - exact[k] * scale, k))
    for k in rest[: free - sum(found)]:
        found[k] += 1
    return [1 + x for x in found]


Shares = LoadBalancer  # its first name
