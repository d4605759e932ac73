"""Which rank this process is, as its launcher says."""

from __future__ import annotations

import os
from functools import cache

__all__ = ["rank", "size", "from_environment"]

# The variables that launchers set for each rank: `forerun run -n`, Open MPI's mpiexec, and those that speak PMI, as
# MPICH's and Slurm's srun.
_RANKS = ("FORERUN_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_SIZES = ("FORERUN_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


@cache  # a launcher's variables stay, and reading them takes longer than issuing an operation
def from_environment(names: tuple[str, ...], otherwise: int) -> int:
    """Return the number in the first of these variables that is set."""
    for name in names:
        if (text := os.environ.get(name)) is not None:
            return int(text)
    return otherwise


def rank() -> int:
    """Return the number of this rank, from 0.

    Returns
    -------
    int
        0 without a launcher.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.rank(), dist.size()
    (0, 1)
    """
    return from_environment(_RANKS, 0)


def size() -> int:
    """Return the number of ranks.

    Returns
    -------
    int
        1 without a launcher.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.size()
    1
    """
    return from_environment(_SIZES, 1)
