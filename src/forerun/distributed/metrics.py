"""Metrics over the examples of all ranks."""

from __future__ import annotations

import copy
from typing import Any, TypeVar, cast

from ..np import array
from ._world import gathered

__all__ = ["reduce_metric"]


Metric = TypeVar("Metric")


def reduce_metric(metric: Metric) -> Metric:
    """Return a metric of the examples of all ranks; the one given stays. Each rank must call it. Waits.

    Sums are added in the order of the ranks, so all ranks have the same bits.

    Parameters
    ----------
    metric : a metric of `forerun.metric`, which each rank has updated with its own examples

    Returns
    -------
    EvalMetric
        of the same kind

    Raises
    ------
    RankFailed : if another rank has failed

    Examples
    --------
    >>> from forerun import distributed as dist, metric, np
    >>> accuracy = metric.Accuracy()
    >>> accuracy.update(np.array([1, 0]), np.array([1, 1]))
    >>> dist.reduce_metric(accuracy).get()
    ('accuracy', 0.5)
    """
    found: Any = copy.copy(metric)
    if children := getattr(metric, "metrics", None):
        found.metrics = [reduce_metric(each) for each in children]
    else:
        _add_up(found)
    return cast(Metric, found)


def _add_up(found: Any) -> None:
    """Replace the sums of a metric by those of all ranks."""
    own = [float(found.num_inst), [each.asnumpy().tolist() for each in found.sums]]
    found.num_inst, found.sums = 0.0, []
    for count, sums in gathered("reduce_metric", own):
        new = [array(each, dtype="float64") for each in sums]
        found.sums = [found.added(a, b) for a, b in zip(found.sums, new)] if found.sums and new else found.sums or new
        found.num_inst += count
