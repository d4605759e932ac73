"""Blocks whose calls can be recorded and issued as one program; may be written over a namespace `F`, as in MXNet."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ... import nd, np, npx
from ..._capture import core as _core
from ..._capture.captured import Recorded
from ..._capture.structures import flatten
from ..._runtime.device import Device
from ..parameter.changes import Snapshot, stale, watch
from ..parameter.parameter import Parameter
from .block import Block, times_changed
from .watched import watched_tree

__all__ = ["HybridBlock"]

Spec = tuple[tuple[int, ...], Any, Device]
"""Shape, dtype and device of an argument."""
Call = tuple[Any, Sequence[Spec]]
"""The structure of the arguments of a call, and the specs of the arrays in it."""

_inside_capture = threading.local()  # .on: blocks inside are not recorded by themselves, as one around them will be


class _Functions(type):
    def __getattr__(cls, name: str) -> Any:
        return getattr(nd, name)


class HybridBlock(Block):
    """A block that `hybridize` makes faster. It may define `hybrid_forward(F, x, **params)` instead of `forward`.

    After `hybridize()`, the first call with arrays of some shapes, dtypes and devices runs `forward` as it is
    written, and the operations that it issues are recorded. Further such calls issue these operations as one program,
    which costs a few microseconds of Python, whatever their number; results and gradients are the same. Training
    and predicting, recording and not, have programs of their own. Blocks inside belong to the outermost one's program.

    So `forward` must do the same whatever the values are. Side effects other than operations happen only when it is
    captured; `print(x)` shows a placeholder with name, shape and dtype then. A `forward` that looks at values (`if
    x.sum() > 0`, `item`, `np.unique`) runs as written each time, with one warning that names the line; so does one
    that sets attributes of blocks, draws random numbers on the host (permutations, choices), or uses an
    `autograd.Function`, without a warning: `hybridized` says so. Setting an attribute of a block makes it record anew.

    Parameters
    ----------
    prefix : str, optional
        The name, with or without "_" at its end, as in MXNet 1.x; None for one made of the class.
    params : ParameterDict, optional
        The parameters of another block, such as `other.params`, which are shared where names are the same.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import nn
    >>> net = nn.HybridSequential()
    >>> net.add(nn.Dense(4, activation="relu", in_units=2), nn.Dense(1, in_units=4))
    >>> net.initialize()
    >>> net.hybridize()
    >>> [net(np.ones((3, 2))).shape for _ in range(2)]
    [(3, 1), (3, 1)]
    >>> net.hybridized
    '1 program: matmul, add, maximum, matmul, add'

    >>> class Twice(HybridBlock):
    ...     def hybrid_forward(self, F, x):
    ...         return F.np.add(x, x)
    >>> Twice()(np.ones(2)).tolist()
    [2.0, 2.0]
    """

    class F(metaclass=_Functions):
        """The first argument of `hybrid_forward`: `np`, `npx`, and functions of `nd`, such as `F.relu`."""

        np = np
        npx = npx

    _recorded: _CaptureCache | None = None
    # Of `_export.symbol`, which sets it: a file that is written is read again as a block, and compared.
    _export: ClassVar[Callable[[HybridBlock, str, int, Call], tuple[str, str]]]

    def forward(self, *args: Any) -> Any:
        """Call `hybrid_forward` with the block's parameters by name."""
        function = getattr(self, "hybrid_forward", None)
        if function is None:
            return super().forward(*args)
        device = getattr(args[0], "device", None) if args else None
        params = {name: parameter.data(device) for name, parameter in self._params.items()}
        return function(self.F, *args, **params)

    def hybridize(self, active: bool = True, *, strict: bool = False, **settings: Any) -> None:
        """Capture calls from now on, and submit them as programs. active=False: stop, and drop the programs.

        strict: reading a value raises RuntimeError while a call is captured. Otherwise calls of the block, and those of
        blocks around it, run as they are written from then on, with one warning; blocks inside that do not read values
        have programs of their own.
        """
        super().hybridize(active, strict=strict, **settings)
        self._recorded = _CaptureCache(self, strict) if active else None

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> tuple[str, str]:
        """Write what the block computes when predicting, and its parameters: path-symbol.json and path-0000.params.

        Returns both names; `SymbolBlock.imports` reads them, without the block's code, for arrays of the shapes of the
        first call since `hybridize()`, and any number of examples if that makes no difference. The operations are those
        that `forward` issues; they are compared with the block on values of their own before anything is written. The
        formats are forerun's (npz for the parameters, with "arg:" and "aux:" before the names). Waits.

        RuntimeError before `hybridize()` and a call. ValueError if `forward` looks at values, or does what is not an
        operation of forerun's on its arguments and parameters: host tasks, random numbers, `autograd.Function`.
        """
        del remove_amp_cast
        if self._recorded is None or self._recorded.called is None:
            raise RuntimeError(f"export: {self.name} must be hybridized and called first, got no call")
        return HybridBlock._export(self, os.fspath(path), epoch, self._recorded.called)

    @property
    def hybridized(self) -> str:
        """Return the result of `hybridize`: the last program's operations, or why calls run as they are written."""
        return self._recorded.state() if self._recorded is not None else "not hybridized"

    def __call__(self, *args: Any) -> Any:
        """Run `forward`, or the program recorded of it, with the hooks before and after."""
        recorded = self._recorded
        if recorded is None:
            return super().__call__(*args)
        if _core.capturing():
            return recorded.recorded.inside(super().__call__, args)
        if self._before or self._after:
            for hook in list(self._before.values()):
                hook(self, args)
            result = recorded.call(args)
            for hook in list(self._after.values()):
                hook(self, args, result)
            return result
        return recorded.call(args)


def written(block: HybridBlock) -> Callable[..., Any]:
    """Return the block's `forward` as it is written, also in blocks inside."""

    def run(*args: object) -> Any:
        before = getattr(_inside_capture, "on", False)
        _inside_capture.on = True
        try:
            return block._plain(*args)
        finally:
            _inside_capture.on = before

    return run


class _Read(Snapshot):
    """The state of the blocks and parameters of a tree on which a block's programs depend, when it was read."""

    def __init__(self) -> None:
        self.state_of: list[tuple[Block, int]] = []  # the blocks of the tree, and how often each had changed
        self.parameters: list[Parameter] = []
        self.arrays: dict[Device, tuple[Any, ...]] = {}  # all parameters' arrays by device
        self.not_captured_because = ""  # why calls run as they are written, whatever the arguments

    def parameters_on(self, device: Device | None) -> tuple[Any, ...] | None:
        """Return the parameters' arrays on a device; None if there is none of some."""
        found = []
        for p in self.parameters:
            copy = next((array for array in p._copies if device is None or array.device == device), None)
            if copy is None:
                return None
            found.append(copy)
        if device is not None:
            self.arrays[device] = tuple(found)
        return tuple(found)


class _CaptureCache:
    """The programs of a block, and what must be as it was for them to be right."""

    read: _Read = stale(_Read)

    def __init__(self, block: HybridBlock, strict: bool) -> None:
        self.block = block
        self.recorded = Recorded(block._plain, block.name, strict, self._names, watches=False)
        self.called: tuple[Any, list[Spec]] | None = None  # arguments of the first call, without their values

    def _names(self) -> list[str]:
        """Of the parameters, by their place in the block."""
        names: dict[int, str] = {}
        for name, parameter in self.block.collect_params().items():
            names.setdefault(id(parameter), name)
        return list(names.values())

    def call(self, args: tuple[Any, ...]) -> Any:
        read = self.read
        if read.stale:
            read = self._revalidate()
        if self.called is None:
            arrays, form = flatten(args)
            self.called = form, [(x.shape, x.dtype, x.device) for x in arrays]
        if read.not_captured_because or getattr(_inside_capture, "on", False):
            return self._plain_call(args, read.not_captured_because == _DEFERRED)
        device: Any = args[0].device if args and isinstance(args[0], _core.Array) else _device(args)
        held = read.arrays.get(device)
        if held is None:
            held = read.parameters_on(device)
        return self.block._plain(*args) if held is None else self.recorded(args, held)

    def _plain_call(self, args: tuple[Any, ...], deferred: bool) -> Any:
        before = getattr(_inside_capture, "on", False)
        _inside_capture.on = before or deferred
        try:
            return self.block._plain(*args)
        finally:
            _inside_capture.on = before

    def _revalidate(self) -> _Read:
        """Read again what depends on blocks and parameters, and forget the programs if a block has changed."""
        read = _Read()
        blocks = []
        for block in watched_tree(self.block, read):
            blocks.append(block)
            read.state_of.append((block, times_changed(block)))
        if read.state_of != self.read.state_of:
            self.recorded.clear()
        read.parameters = self.block.collect_params().distinct()
        for parameter in read.parameters:
            watch(parameter, read)
        if any(block._before or block._after for block in blocks[1:]):
            read.not_captured_because = "a block inside has hooks"
        elif any(p.is_deferred or not p._copies for p in read.parameters):
            read.not_captured_because = _DEFERRED
        self.read = read
        return read

    def state(self) -> str:
        """Return one line for people."""
        if self.read.not_captured_because:
            return f"runs as written: {self.read.not_captured_because}"
        return self.recorded.state()


_Block = _CaptureCache  # pickles of hybridized blocks know it by this name


_DEFERRED = "parameters wait for their shapes"


def _device(args: Any) -> Device | None:
    """Of the first array in a structure of arguments."""
    for x in args.values() if isinstance(args, dict) else args:
        if isinstance(x, _core.Array):
            return x.device
        if isinstance(x, (tuple, list, dict)) and (found := _device(x)) is not None:
            return found
    return None
