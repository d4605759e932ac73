"""The programs of a block, as which its calls are captured, and the state that must be unchanged for reuse."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..._capture import core as _core
from ..._capture.captured import Recorded
from ..._capture.changes import Snapshot, stale, watch
from ..._capture.structures import flatten
from .watched import times_changed, watched_tree

if TYPE_CHECKING:
    from ..._runtime.device import Device
    from ..parameter.parameter import Parameter
    from .block import Block
    from .hybrid import Spec

__all__ = ["CaptureCache", "written"]

_inside_capture = threading.local()  # .on: blocks inside are not recorded by themselves, as one around them will be


def written(block: Block) -> Callable[..., Any]:
    """Return the block's `forward` as it is written, also in blocks inside."""

    def run(*args: object) -> Any:
        before = getattr(_inside_capture, "on", False)
        _inside_capture.on = True
        try:
            return block._plain(*args)
        finally:
            _inside_capture.on = before

    return run


class AsWritten:
    """Runs a block as it is written, without keeping it alive: the block owns its programs, and they own this."""

    def __init__(self, block: Block) -> None:
        self._block = weakref.ref(block)

    @property
    def block(self) -> Block:
        """The block."""
        block = self._block()
        assert block is not None, "a block outlives its calls"
        return block

    def __call__(self, *args: Any) -> Any:
        return self.block._plain(*args)

    def names(self) -> list[str]:
        """Return the places of the parameters in the block."""
        names: dict[int, str] = {}
        for name, parameter in self.block.collect_params().items():
            names.setdefault(id(parameter), name)
        return list(names.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return AsWritten, (self.block,)


class _Read(Snapshot):
    """The state of the blocks and parameters of a tree on which a block's programs depend, when it was read."""

    def __init__(self) -> None:
        # The blocks of the tree, and how often each had changed.
        self.state_of: list[tuple[weakref.ref[Block], int]] = []
        self.parameters: list[Parameter] = []
        self.arrays: dict[Device, tuple[Any, ...]] = {}  # all parameters' arrays by device
        self.not_captured_because = ""  # why calls with any arguments run as they are written

    def parameters_on(self, device: Device | None) -> tuple[Any, ...] | None:
        """Return the parameters' arrays on a device; None if a parameter has no array there."""
        found = []
        for p in self.parameters:
            copy = next((array for array in p._copies if device is None or array.device == device), None)
            if copy is None:
                return None
            found.append(copy)
        if device is not None:
            self.arrays[device] = tuple(found)
        return tuple(found)


class CaptureCache:
    """The programs of a block, and the state that must be unchanged for reuse."""

    read: _Read = stale(_Read)
    automatic = False  # whether calls are captured without `hybridize`
    recorded_by: type[Recorded] = Recorded

    def __init__(self, block: Block, strict: bool = False) -> None:
        self.written = AsWritten(block)
        self.recorded = self.recorded_by(self.written, block.name, strict, self.written.names, watches=False)
        self.called: tuple[Any, list[Spec]] | None = None  # arguments of the first call, without their values

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "block" in state:  # of an older version
            state["written"] = AsWritten(state.pop("block"))
        self.__dict__.update(state)

    def for_another(self, block: Block) -> CaptureCache:
        """Return the same for another block, without programs."""
        return type(self)(block, self.recorded.strict)

    def call(self, args: tuple[Any, ...]) -> Any:
        """Call the block: issue the program for these arguments, or run it as it is written."""
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
        return self.written(*args) if held is None else self.recorded(args, held)

    def _plain_call(self, args: tuple[Any, ...], deferred: bool) -> Any:
        before = getattr(_inside_capture, "on", False)
        _inside_capture.on = before or deferred
        try:
            return self.written(*args)
        finally:
            _inside_capture.on = before

    def _revalidate(self) -> _Read:
        """Read the state of blocks and parameters again, and forget the programs if a block has changed."""
        read = _Read()
        blocks = []
        for block in watched_tree(self.written.block, read):
            blocks.append(block)
            read.state_of.append((weakref.ref(block), times_changed(block)))
        if read.state_of != self.read.state_of:
            self.recorded.clear()
        read.parameters = self.written.block.collect_params().distinct()
        for parameter in read.parameters:
            watch(parameter, read)
        read.not_captured_because = self.why_not(blocks)
        if not read.not_captured_because and any(p.is_deferred or not p._copies for p in read.parameters):
            read.not_captured_because = _DEFERRED
        self.read = read
        return read

    def why_not(self, blocks: Sequence[Block]) -> str:
        """Say why no call is captured because of the blocks of the tree; "" if they allow it."""
        hooks = any(block._before or block._after for block in blocks[1:])
        return "a block inside has hooks" if hooks else ""

    def state(self) -> str:
        """Return one line for people."""
        if self.read.not_captured_because:
            return f"runs as written: {self.read.not_captured_because}"
        return self.recorded.state()


_DEFERRED = "parameters wait for their shapes"


def _device(args: Any) -> Device | None:
    """Of the first array in a structure of arguments."""
    for x in args.values() if isinstance(args, dict) else args:
        if isinstance(x, _core.Array):
            return x.device
        if isinstance(x, (tuple, list, dict)) and (found := _device(x)) is not None:
            return found
    return None
