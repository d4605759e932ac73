"""Counts of the engine and memory of its devices as metrics of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..._runtime.device import used_devices
from ..._runtime.engine import memory, stats

__all__ = ["metrics"]

_COUNTERS = {  # of `stats()`
    "issued": "operations that were issued",
    "done": "operations that have ended",
    "failed": "operations that have failed",
    "dropped": "operations that were not run, as nothing used their results",
    "at_once": "operations that ran in their call",
}
_MEMORY = {  # of `memory(device)`
    "live": "bytes of present arrays",
    "peak": "the maximum of these bytes so far",
    "cached": "bytes of freed buffers that are kept for later arrays",
    "limit": "bytes of arrays above which operations fail",
}


def metrics(meter: Any = None) -> None:
    """Register counts of operations, and the memory of each device, as metrics. Needs `opentelemetry-api`.

    The values are read when an exporter asks for them, and cost nothing in between. Counters are "forerun.issued",
    "forerun.done", "forerun.failed", "forerun.dropped" and "forerun.at_once"; gauges "forerun.pending", and with the
    attribute "device" "forerun.memory.live", "forerun.memory.peak", "forerun.memory.cached" and "forerun.memory.limit".

    Parameters
    ----------
    meter : opentelemetry.metrics.Meter, optional
        By default the meter "forerun" of the provider that the program has set.

    Examples
    --------
    >>> from opentelemetry.sdk.metrics import MeterProvider
    >>> from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    >>> from forerun import profiler
    >>> reader = InMemoryMetricReader()
    >>> profiler.metrics(MeterProvider([reader]).get_meter("example"))
    >>> found = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
    >>> found[0].name, found[-1].name
    ('forerun.issued', 'forerun.memory.limit')
    """
    from opentelemetry.metrics import Observation, get_meter

    def count(key: str) -> Callable[[Any], list[Any]]:
        return lambda _: [Observation(stats()[key])]

    def held(key: str) -> Callable[[Any], Iterator[Any]]:
        return lambda _: (Observation(memory(d)[key], {"device": repr(d)}) for d in used_devices())

    def pending(_: Any) -> list[Any]:
        now = stats()
        return [Observation(now["issued"] - now["done"])]

    meter = get_meter("forerun") if meter is None else meter
    for key, text in _COUNTERS.items():
        meter.create_observable_counter(f"forerun.{key}", [count(key)], "{operation}", text)
    meter.create_observable_gauge("forerun.pending", [pending], "{operation}", "operations that have not ended")
    for key, text in _MEMORY.items():
        meter.create_observable_gauge(f"forerun.memory.{key}", [held(key)], "By", text)
