"""The functions of collectives, and operations that may be waited for."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import timedelta

__all__ = ["ReduceOp", "Work", "work_of"]


class ReduceOp(Enum):
    """The function of the ranks' tensors that collectives such as `all_reduce` compute.

    Attributes
    ----------
    SUM, AVG, MAX, MIN : ReduceOp
        The sum, the mean, the largest and the smallest of the values.

    Examples
    --------
    >>> from forerun.torch.distributed import ReduceOp
    >>> ReduceOp.SUM.value
    'sum'
    """

    SUM = "sum"
    AVG = "mean"
    MAX = "max"
    MIN = "min"


class Work:
    """An operation with `async_op=True`, which may be waited for.

    Parameters
    ----------
    *results : Tensor
        The tensors that the operation computes.

    Examples
    --------
    >>> from forerun import torch
    >>> x = torch.ones(2)
    >>> Work(x).wait()
    True
    """

    def __init__(self, *results: Any) -> None:
        self._results = results

    def wait(self, timeout: timedelta | float | None = None) -> bool:
        """Wait until the result is computed; raises RankFailed if another rank has failed.

        Examples
        --------
        >>> from forerun import torch
        >>> Work(torch.ones(2)).wait()
        True
        """
        for x in self._results:
            x.wait()
        return True

    def is_completed(self) -> bool:
        """Return whether the result is computed.

        Examples
        --------
        >>> from forerun import torch
        >>> work = Work(torch.ones(2))
        >>> work.wait(), work.is_completed()
        (True, True)
        """
        return all(x.ready for x in self._results)


def work_of(async_op: bool, *results: Any) -> Work | None:
    """Return a `Work` of tensors if the caller asked for one."""
    return Work(*results) if async_op else None
