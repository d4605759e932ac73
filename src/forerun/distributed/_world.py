"""The network of all ranks: MPI, which mpi4py finds and starts, and which a thread of the core drives."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import os
import sys
from types import TracebackType
from typing import Any

from .. import np
from .._launch import link
from .._runtime import core as _core
from .._runtime import engine

__all__ = ["fail", "issue"]

_KINDS = ("allreduce", "broadcast", "allgather", "reduce_scatter", "all_to_all", "send", "recv", "barrier")
REDUCTIONS = ("none", "sum", "max", "min")
# MPI's names of dtypes, in the core's order. It has none for floats of 16 bits.
_DTYPES = (
    "C_BOOL", "INT8_T", "INT16_T", "INT32_T", "INT64_T", "UINT8_T", "UINT16_T", "UINT32_T", "UINT64_T", None, None,
    "FLOAT", "DOUBLE", "C_FLOAT_COMPLEX", "C_DOUBLE_COMPLEX",
)  # fmt: skip
_tokens: dict[str, Any] = {}  # arrays that operations write, so that they keep the program's order
_opened_by = 0  # number of the process


def issue(kind: str, reduction: str, peer: int, count: int, source: Any, target: object) -> Any:
    """Issue an operation between ranks. target: an array to write, or the shape and dtype of a new one."""
    _open(kind)
    # Sends and receives of a pair of ranks are in order among themselves alone: two ranks may send to each other first.
    order = f"{kind} {peer}" if kind in ("send", "recv") else "collectives"
    if order not in _tokens:
        _tokens[order] = np.zeros(1, "uint8", device="cpu")
    return _core.net_issue(
        kind, _KINDS.index(kind), REDUCTIONS.index(reduction), 0, peer, count, _tokens[order], source, target
    )


def fail(message: str) -> None:
    """Let all operations between ranks fail, those in flight and later ones. Any thread may call it."""
    _core.net_fail(message)


def _open(op: str) -> None:
    global _opened_by
    if _opened_by == os.getpid():
        return
    if _opened_by:
        raise RuntimeError(f"{op}: the process that opened MPI must issue it, got its forked child")
    try:
        importlib.import_module("mpi4py").rc.finalize = False
        mpi: Any = importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(f"{op}: ranks need MPI, and mpi4py found none ({error}): pip install mpi4py mpich") from None
    world = mpi.COMM_WORLD
    communicators = [world.Dup(), world.Dup()]
    for communicator in communicators:
        communicator.Set_errhandler(mpi.ERRORS_RETURN)

    def handle(of: Any) -> int:
        return ctypes.c_int64(mpi._handleof(of)).value

    constants = {
        "pointers": mpi._sizeof(mpi.COMM_WORLD) == 8, "in_place": int(mpi.IN_PLACE), "any_source": mpi.ANY_SOURCE,
        "sum": handle(mpi.SUM), "max": handle(mpi.MAX), "min": handle(mpi.MIN), "bytes": handle(mpi.BYTE),
    }  # fmt: skip
    dtypes = [handle(getattr(mpi, name)) if name else 0 for name in _DTYPES]
    values, checks = map(handle, communicators)
    _core.set_rank_failed(link.RankFailed)
    _core.net_open_mpi(mpi.__file__, constants, dtypes, values, checks, world.rank, list(range(world.size)))
    _opened_by = os.getpid()
    _tokens["communicators"] = communicators  # which live as long
    if (connection := link.connect()) is not None:
        connection.on_failure(fail)
    _report_exceptions(world.rank)
    atexit.register(_leave, mpi)


def _report_exceptions(rank: int) -> None:
    """Tell the other ranks of an exception that ends this one."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        before(kind, error, where)
        fail(f"rank {rank} raised {kind.__name__}: {error}")

    sys.excepthook = hook


def _leave(mpi: Any) -> None:
    """End MPI after all operations, if none has failed; otherwise it is left alone."""
    if _opened_by != os.getpid():
        return
    with contextlib.suppress(Exception):  # the engine reports it at the exit
        engine.waitall()
    if _core.net_leave():
        mpi.Finalize()
