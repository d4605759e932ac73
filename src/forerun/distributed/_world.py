"""The network of all ranks: MPI, which mpi4py finds and starts, and which a thread of the core drives."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from .. import autograd
from .._launch import link, siblings, watch
from .._runtime import core as _core
from .._runtime import engine
from .._runtime.logging import say
from .._runtime.settings import config
from ..ops._base.convert import is_array
from . import _peers

__all__ = ["fail", "gathered", "issue", "open_group"]

_KINDS = ("allreduce", "broadcast", "allgather", "reduce_scatter", "all_to_all", "send", "recv", "barrier")
REDUCTIONS = ("none", "sum", "max", "min")
# MPI's names of dtypes, in the core's order. It lacks floats of 16 bits.
_DTYPES = (
    "C_BOOL", "INT8_T", "INT16_T", "INT32_T", "INT64_T", "UINT8_T", "UINT16_T", "UINT32_T", "UINT64_T", None, None,
    "FLOAT", "DOUBLE", "C_FLOAT_COMPLEX", "C_DOUBLE_COMPLEX",
)  # fmt: skip
_tokens: dict[str, Any] = {}  # arrays that operations write, so that they keep the program's order
_SOON = 0.5  # seconds in which a call of MPI ends that all ranks have issued
_communicators: list[Any] = []  # which live as long as the process
_opened_by = 0  # number of the process
_calls: queue.SimpleQueue[Callable[[], None]] | None = None  # for the thread of _perform


def issue(
    kind: str, reduction: str, peer: int, count: int, source: Any, target: object, group: int = 0, label: str = ""
) -> Any:
    """Issue an operation between ranks. target: an array to write, or the shape and dtype of a new one.

    label: a name of the contents, to detect ranks that exchange different arrays of the same size.
    """
    _open(kind)
    if _is_far(source) or _is_far(target):
        return _issue_far(kind, reduction, peer, count, source, target, group, label)
    if kind == "send" and config()["engine"] == "sync":
        source = source.copy()  # a later write of the operand would wait for the other rank to receive it
    # Sends and receives of a pair of ranks are in order among themselves alone: two ranks may send to each other first.
    order = f"{kind} {peer} {group}" if kind in ("send", "recv") else "collectives"
    if order not in _tokens:
        _tokens[order] = _core.net_token()
    code = _KINDS.index(kind), REDUCTIONS.index(reduction)
    return _core.net_issue(kind, *code, group, peer, count, _tokens[order], source, target, label)


def _is_far(x: Any) -> bool:
    """Whether x is an array in the memory of a device that MPI cannot access."""
    return is_array(x) and x.device.device_type != "cpu"


def _issue_far(
    kind: str, reduction: str, peer: int, count: int, source: Any, target: Any, group: int, label: str
) -> Any:
    """Issue an operation on copies of its arrays in the host's memory, and copy its results back."""
    with autograd.pause():
        sent = source.to_device("cpu") if _is_far(source) else source
        if is_array(target):
            here = sent if target is source else target.to_device("cpu")
            issue(kind, reduction, peer, count, sent, here, group, label)
            target[...] = here.to_device(target.device)
            return target
        found = issue(kind, reduction, peer, count, sent, target, group, label)
        return found if target is None else found.to_device(source.device)


def fail(message: str) -> None:
    """Let all operations between ranks fail, those in flight and later ones. Any thread may call it."""
    _core.net_fail(message)


def open_group(number: int, ranks: Sequence[int], tag: int) -> None:
    """Open a group of ranks under a number. Each of them must call it, with the same tag; waits for all of them."""
    _open("Group")
    mpi = importlib.import_module("mpi4py.MPI")
    world = mpi.COMM_WORLD

    def made() -> list[Any]:
        members = world.Get_group().Incl(list(ranks))
        values = world.Create_group(members, tag)
        return [values, values.Dup()]

    values, checks = _handles(mpi, _together("Group", made, ranks))
    _core.net_add_group(number, values, checks, list(ranks).index(world.rank), list(ranks))


def _together(op: str, call: Callable[[], list[Any]], ranks: Sequence[int] = ()) -> list[Any]:
    """Return the result of an MPI call that waits for other ranks.

    Raises RankFailed if one of them has failed, or if one of `ranks` has ended its program.
    """
    found: list[Any] = []
    ended = threading.Event()

    def run() -> None:
        try:
            found.append(call())
        except Exception as error:
            found.append(error)
        ended.set()

    if (connection := link.connect()) is not None:
        connection.on_failure(lambda _: ended.set())
    _perform(run)
    obstacle = _wait_together(ended, ranks)
    if not found:
        failure = (connection.failure if connection else "") or obstacle
        _core.net_abort(failure)  # the call goes on, so that MPI cannot end
        raise link.RankFailed(f"{failure}; this rank waited in {op}")
    if isinstance(found[0], Exception):
        raise found[0]
    made: list[Any] = found[0]
    return made


def _wait_together(ended: threading.Event, ranks: Sequence[int]) -> str:
    """Wait for an event that needs these ranks. Return the reason if one of them has ended before."""
    waits = config()["engine"] == "sync"  # the others may come here only behind a collective that waits for this rank
    if waits:
        _core.net_thread_waits(True)
    try:
        while not ended.wait(0.1):
            if obstacle := _core.net_obstacle(ranks) or _missing():
                ended.wait(0 if _core.net_failed() else _SOON)  # a rank may have ended after its part
                return obstacle
        return ""
    finally:
        if waits:
            _core.net_thread_waits(False)


def _missing() -> str:
    """Return which rank has ended while MPI begins, if no launcher reports it."""
    if not _opened_by and link.connect() is None and (rank := siblings.ended()):
        return f"{rank} ended before its first operation between ranks"
    return ""


def _perform(call: Callable[[], None]) -> None:
    """Make a call in a thread of this module: MPI must begin and end in the same thread.

    It has been started before the exit, where no thread can start any more.
    """
    global _calls
    if _calls is None:
        calls = _calls = queue.SimpleQueue()

        def run() -> None:
            while True:
                calls.get()()

        threading.Thread(target=run, name="forerun-mpi", daemon=True).start()
    _calls.put(call)


def _handle(mpi: Any, of: Any) -> int:
    return ctypes.c_int64(mpi._handleof(of)).value


def _handles(mpi: Any, communicators: list[Any]) -> list[int]:
    for communicator in communicators:
        communicator.Set_errhandler(mpi.ERRORS_RETURN)
    _communicators.extend(communicators)
    return [_handle(mpi, each) for each in communicators]


def _open(op: str) -> None:
    global _opened_by
    if _opened_by == os.getpid():
        return
    if _opened_by:
        raise RuntimeError(f"{op}: the process that opened MPI must issue it, got its forked child")
    if (connection := link.connect()) is not None:
        connection.join(op)
    mpi = _initialized(op)
    world = mpi.COMM_WORLD
    _check_size(op, world.size)
    values, checks = _handles(mpi, _together(op, lambda: [world.Dup(), world.Dup()]))
    if connection is None and world.size > 1:
        connection = _watch_all(op, world)
    constants = {
        "pointers": mpi._sizeof(mpi.COMM_WORLD) == 8, "in_place": int(mpi.IN_PLACE), "any_source": mpi.ANY_SOURCE,
        "sum": _handle(mpi, mpi.SUM), "max": _handle(mpi, mpi.MAX), "min": _handle(mpi, mpi.MIN),
        "bytes": _handle(mpi, mpi.BYTE),
    }  # fmt: skip
    dtypes = [_handle(mpi, getattr(mpi, name)) if name else 0 for name in _DTYPES]
    _core.set_rank_failed(link.RankFailed)
    _core.net_open_mpi(mpi.__file__, constants, dtypes, values, checks, world.rank, list(range(world.size)))
    _opened_by = os.getpid()
    if connection is not None:
        connection.on_failure(fail)
    _report_exceptions(world.rank)


def _watch_all(op: str, world: Any) -> link.Link | None:
    """Return a connection to a process beside rank 0 that watches all ranks, as no launcher does; None without one."""

    def started() -> list[str]:
        hosts = world.allgather(link.host())
        found = "", ""
        if world.rank == 0:
            with contextlib.suppress(OSError):
                found = watch.start_beside(world.size, len(set(hosts)) > 1)
        return list(world.bcast(found))

    def connected() -> str:
        try:
            link.connect_to(address, key, world.rank).beat(_core.net_heartbeat, address)
        except (OSError, RuntimeError) as error:  # no connection, or no thread
            return f"rank {world.rank} (host {link.host()}) does not reach {address}: {error}"
        return ""

    address, key = _together(op, started)
    why = connected() if address else "the process that watches the ranks does not start"
    if reasons := [each for each in _together(op, lambda: world.allgather(why)) if each]:
        link.disconnect()
        if world.rank == 0:
            say("warning", "%s: ranks that are killed or frozen will not be noticed: %s", op, reasons[0])
    return link.connect()


def gathered(op: str, value: object) -> list[Any]:
    """Return values of all ranks, which are JSON's: each rank must call it as often as the others. Waits.

    Raises RankFailed.
    """
    if _peers.size() == 1:
        return [value]
    if link.connect() is None:
        _open(op)
    if (connection := link.connect()) is None:
        raise RuntimeError(f"{op}: ranks must be started by `forerun run -n`, or reach the machine of rank 0")
    return connection.gather(value)


def _initialized(op: str) -> Any:
    """Return mpi4py's module, with MPI initialized, which waits for all ranks."""
    try:
        if "mpi4py.MPI" not in sys.modules:
            settings = importlib.import_module("mpi4py").rc
            settings.initialize = settings.finalize = False
        mpi: Any = importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(f"{op}: ranks need MPI, and mpi4py found none ({error}): pip install mpi4py mpich") from None
    if not mpi.Is_initialized():
        _together(op, lambda: _initialize(mpi))
        for each in (mpi.COMM_WORLD, mpi.COMM_SELF):  # as mpi4py does
            each.Set_errhandler(mpi.ERRORS_RETURN)
    return mpi


def _initialize(mpi: Any) -> list[Any]:
    """Initialize MPI. mpi4py would hold the interpreter lock meanwhile, and no thread could learn of a failure."""
    return _call(mpi, "MPI_Init_thread", None, None, mpi.THREAD_MULTIPLE, ctypes.byref(ctypes.c_int()))


def _call(mpi: Any, name: str, *arguments: Any) -> list[Any]:
    """Call a function of the library without the interpreter lock."""
    if status := getattr(ctypes.CDLL(mpi.__file__), name)(*arguments):
        raise RuntimeError(f"{name} must succeed, got error {status}")
    return []


def _check_size(op: str, found: int) -> None:
    """MPI must have been started with as many ranks as the launcher's variables say."""
    expected = _peers.size()
    if found != expected:
        raise RuntimeError(
            f"{op}: MPI must have the {expected} ranks that its launcher started, got {found}: the launcher belongs to "
            f"another MPI than mpi4py's, or this is a world inside a world"
        )


def _report_exceptions(rank: int) -> None:
    """Notify the other ranks of an exception that ends this one."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        before(kind, error, where)
        connection = link.connect()
        if connection and not connection.launched and not isinstance(error, link.RankFailed):
            connection.raised(f"{kind.__name__}: {error}")
        _core.net_abort(f"rank {rank} raised {kind.__name__}: {error}")

    sys.excepthook = hook


def _leave() -> None:
    """End MPI after all operations, if none has failed; otherwise MPI is not called."""
    if _calls and not _opened_by and link.connect() is None:  # MPI has begun, and another rank has not come
        _linger()
    if _opened_by != os.getpid():
        return
    connection = link.connect()
    with contextlib.suppress(Exception):  # the engine reports it at the exit
        engine.waitall()
    mpi = importlib.import_module("mpi4py.MPI")
    if _core.net_leave():
        with contextlib.suppress(link.RankFailed):  # `forerun run` reports it
            _together("the end of MPI", lambda: _call(mpi, "MPI_Finalize"))
    elif connection is None or not connection.launched:
        _linger()
    if connection is not None:
        connection.close_mpi()
        if not connection.launched:
            connection.end()


def _linger() -> None:
    """Give the other ranks time to report this failure.

    MPI's launcher kills all when one has ended like this, and takes the status of the first: the one that failed.
    """
    error = getattr(sys, "last_value", None)
    time.sleep(2.0 if error and not isinstance(error, link.RankFailed) else 3.0)


if _peers.size() > 1 and "FORERUN_LAUNCHER" not in os.environ:
    siblings.note(_peers.rank())
atexit.register(_leave)
