"""Machines: devices, ranks, the links between them, and the time of a collective there."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["COLLECTIVES", "Link", "Machine"]

_BYTES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_RATE = re.compile(r"([\d.]+)\s*([kmgt]?)(bit|b)/s", re.IGNORECASE)
_TIME = re.compile(r"([\d.]+)\s*(ns|us|ms|s)", re.IGNORECASE)
_FORM = "whatif: link must be a rate and a latency, and may have copy=RATE and call=TIME, as"


@dataclass(frozen=True, slots=True)
class Link:
    """A link: bytes a second in each direction, and seconds until the first byte arrives.

    copy, call: a core's work for each message: bytes that it copies and adds per second, and seconds; by default none.
    """

    rate: float
    latency: float
    copy: float = math.inf
    call: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Link:
        """Return the link that a text names. ValueError if it names none.

        >>> Link.parse("25GB/s,2us")
        Link(rate=25000000000.0, latency=2e-06, copy=inf, call=0.0)
        >>> Link.parse("100Gbit/s, 10us").rate
        12500000000.0
        >>> Link.parse("8GB/s,1us,copy=4GB/s,call=20us").copy
        4000000000.0
        """
        rate, _, rest = text.partition(",")
        latency, *more = rest.split(",")
        given = [part.partition("=")[::2] for part in more]
        names = [name.strip() for name, _ in given]
        try:
            if len(set(names)) < len(names):
                raise ValueError
            of_core = {name: _READ[name](value) for name, (_, value) in zip(names, given)}
            return cls(_rate(rate), _time(latency), **of_core)
        except (KeyError, ValueError):
            raise ValueError(f'{_FORM} "25GB/s,2us" or "8GB/s,1us,copy=4GB/s,call=20us", got {text!r}') from None

    @property
    def of_core(self) -> Link:
        """A link whose rate and latency are those with which a core handles messages."""
        return Link(self.copy, self.call)

    def __str__(self) -> str:
        copy = f", copy {self.copy / 1e9:g} GB/s" if self.copy < math.inf else ""
        call = f", call {self.call * 1e6:g} us" if self.call else ""
        return f"{self.rate / 1e9:g} GB/s, {self.latency * 1e6:g} us{copy}{call}"


def _rate(text: str) -> float:
    found = _RATE.fullmatch(text.strip())
    if found is None or float(found[1]) <= 0:
        raise ValueError
    return float(found[1]) * _BYTES[found[2].lower()] / (8 if found[3].lower() == "bit" else 1)


def _time(text: str) -> float:
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError
    return float(found[1]) * _SECONDS[found[2].lower()]


_READ: dict[str, Callable[[str], float]] = {"copy": _rate, "call": _time}


def _ring(n: int, size: float, link: Link) -> float:
    return 2 * (n - 1) * (size / n / link.rate + link.latency)


def _tree(n: int, size: float, link: Link) -> float:
    return 2 * math.ceil(math.log2(n)) * (size / link.rate + link.latency)


def _halving(n: int, size: float, link: Link) -> float:
    return 2 * ((n - 1) / n * size / link.rate + math.ceil(math.log2(n)) * link.latency)


def _best(n: int, size: float, link: Link) -> float:
    return min(f(n, size, link) for f in (_ring, _tree, _halving))


COLLECTIVES: dict[str, Callable[[int, float, Link], float]] = {
    "ring": _ring, "tree": _tree, "halving": _halving, "best": _best,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine: `ranks` processes, each with `devices` like the recorded one and as much data for each of them.

    link: between ranks. local: between devices of a rank; None where they share memory, and gradients are added there
    by operations as fast as the recorded updates. slowdown: how many times as long an operation takes while all devices
    and ranks run: they may share memory and caches. cores: of processors, which the operations of all devices, the
    threads of all ranks and their collectives share; None: each has as many as in the recording. bucket, first: bytes
    of gradients that a collective takes.
    """

    devices: int = 1
    ranks: int = 1
    link: Link = Link(25e9, 2e-6)
    collective: str = "ring"
    local: Link | None = None
    slowdown: float = 1.0
    cores: float | None = None
    bucket: int = 1 << 20
    first: int = 256 << 10

    def __post_init__(self) -> None:
        if self.collective not in COLLECTIVES:
            raise ValueError(f"whatif: collective must be one of {', '.join(COLLECTIVES)}, got {self.collective!r}")
        for name in ("devices", "ranks", "bucket", "first"):
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"whatif: {name} must be at least 1, got {value}")
        if not self.slowdown > 0:
            raise ValueError(f"whatif: slowdown must be positive, got {self.slowdown}")
        if self.cores is not None and not self.cores > 0:
            raise ValueError(f"whatif: cores must be positive, got {self.cores}")

    @property
    def shared(self) -> bool:
        """Whether operations may have to share memory, caches and cores with those of others."""
        return self.devices > 1 or self.ranks > 1

    def between_ranks(self, size: float) -> float:
        """Return the seconds of an all-reduce of so many bytes over all ranks.

        >>> Machine(ranks=2, link=Link(1e9, 0.0)).between_ranks(1e9)
        1.0
        """
        return self._over(self.link, size)

    def core_between_ranks(self, size: float) -> float:
        """Return the seconds of a core that it takes each rank, for copies, additions and calls.

        >>> Machine(ranks=2, link=Link(1e9, 0.0, copy=2e9, call=0.25)).core_between_ranks(1e9)
        1.0
        """
        return self._over(self.link.of_core, size)

    def _over(self, link: Link, size: float) -> float:
        return COLLECTIVES[self.collective](self.ranks, size, link) if self.ranks > 1 else 0.0

    def between_devices(self, size: float) -> float:
        """Return seconds of a sum over the devices of a rank that have links."""
        if self.local is None or self.devices == 1:
            return 0.0
        return COLLECTIVES[self.collective](self.devices, size, self.local)

    def __str__(self) -> str:
        parts = f"{self.devices} device{'s' * (self.devices > 1)}, {self.ranks} rank{'s' * (self.ranks > 1)}"
        return f"{parts}, {self.collective} over {self.link}" if self.ranks > 1 else parts
