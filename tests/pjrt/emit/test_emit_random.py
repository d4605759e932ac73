"""Random numbers as modules: the CPU's, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun.ops._base.random_stream import OwnStream
from tests.support.device_plugins.pjrt_plugin import Plugin
from tests.support.device_plugins.pjrt_specs import assert_same, compute

SEED = 0x123456789ABCDEF0


def numbers_of_both(
    plugin: Plugin, kind: str, shape: tuple[int, ...], dtype: str, low: Any, high: Any, **more: Any
) -> Any:
    """Numbers of the module, and of the CPU. high: of integers, how much more than low the last one is."""
    end = low + high + 1 if kind == "integers" else high
    expected = OwnStream(SEED).fill(kind, shape, numpy.dtype(dtype), None, low, end).asnumpy().copy()
    keys = numpy.uint64(SEED), numpy.uint64(0)
    ends = (numpy.int64(low), numpy.uint64(high)) if kind == "integers" else (numpy.float64(low), numpy.float64(high))
    return compute(plugin, "random", kind, [*keys, *ends], shape, dtype, **more), expected


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("kind", "low", "high"), [
    ("uniform", 0, 1), ("uniform", -3.7, 12.1), ("normal", 0, 1), ("normal", 2.3, 0.7), ("exponential", 0, 1),
    ("exponential", 1.3, 3.1),
])  # fmt: skip
def test_floating_numbers_are_the_cpus(plugin: Plugin, kind: str, low: float, high: float, dtype: str) -> None:
    for shape in [(3000,), *([(7, 5), (1,), (0,)] if kind == "uniform" else [])]:
        assert_same(*numbers_of_both(plugin, kind, shape, dtype, low, high))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", "int64", "bool"])
def test_integers_are_the_cpus(plugin: Plugin, dtype: str) -> None:
    ends = {"bool": (0, 1)}.get(dtype) or (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    spans = [9, 99, 999_999, 1 << 20, 2**32 - 2, 2**32 - 1, 3 << 61, 2**64 - 1]
    for span in [s for s in spans if s < ends[1] - ends[0]] + [ends[1] - ends[0]]:
        low = max(ends[0], min(-7, ends[1] - span))
        assert_same(*numbers_of_both(plugin, "integers", (2000,), dtype, low, span, wide=span >= 1 << 20))
