"""Capture without `hybridize`: small, repeated calls of the library's own containers and losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._capture import core as _core
from ..._capture.captured import Recorded
from ..._capture.tape_template import NotRepeatable
from .captured_calls import CaptureCache

if TYPE_CHECKING:
    from ...typing import Array
    from .block import Block

__all__ = ["AutomaticCapture"]

_PACKAGE = __name__.partition(".")[0] + "."
_REPEATS = 3  # the third call of a kind is captured
_ELEMENTS = 1 << 16  # of the arguments, at most
_PRODUCTS = 1 << 22  # examples times elements of parameters, at most


class _SmallCalls(Recorded):
    """Programs of calls that are small, and that have been repeated."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.calls: dict[Any, int] = {}  # by kind

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"calls": {}}

    def clear(self) -> None:
        """Drop all programs, and count anew."""
        super().clear()
        self.calls = {}

    def warn(self, look: object) -> None:
        """Do not warn, as the program has not asked for capture."""

    def warn_of_many(self) -> None:
        """Do not warn, either."""

    def _record(self, args: Any, signature: Any, arrays: Any, held: Any) -> Any:
        if self._due(signature, arrays, held):
            return super()._record(args, signature, arrays, held)
        return self.function(*args)

    def _due(self, signature: Any, arrays: tuple[Array, ...], held: tuple[Array, ...]) -> bool:
        """Count a call; say whether it is to be captured."""
        if not arrays or sum(x.size for x in arrays) > _ELEMENTS or len(self.programs) >= self.programs.most:
            return False
        examples = arrays[0].shape[0] if arrays[0].ndim else 1
        if examples * sum(x.size for x in held) > _PRODUCTS or arrays[0].device.device_type != "cpu":
            return False
        mode = signature, _core.recording(), _core.training()
        kind = mode, tuple((x.shape, x.dtype, x.device) for x in arrays)
        if len(self.calls) > self.programs.most and kind not in self.calls:
            self.calls = {}
        self.calls[kind] = self.calls.get(kind, 0) + 1
        return self.calls[kind] >= _REPEATS

    def _finish(self, *args: Any) -> Any:
        call = super()._finish(*args)
        if not call.program.whole:
            raise NotRepeatable("its operations take longer to run than to issue")
        return call


class AutomaticCapture(CaptureCache):
    """The programs of a block that is not hybridized.

    Python takes longer to issue an operation of a small network than a worker to run it, so one program of all of them
    saves most of the time. Other calls run as they are written: large ones, which would gain nothing; those on
    accelerators, where a program has to be compiled first; and those of blocks in which there is code of another
    package, since it may have effects besides operations.
    """

    automatic = True
    recorded_by = _SmallCalls

    def why_not(self, blocks: Sequence[Block]) -> str:
        """Say why no call is captured because of the blocks of the tree; "" if they allow it."""
        foreign = next((block for block in blocks if not _own(block)), None)
        return super().why_not(blocks) or (f"{type(foreign).__name__} is not the library's" if foreign else "")

    def state(self) -> str:
        """Return one line for people."""
        return f"not hybridized; small calls automatically: {super().state()}"


def _own(block: Block) -> bool:
    """Say whether a block runs code of the library alone: no class, method or function in it is of another package."""
    functions = (value for value in block.__dict__.values() if callable(value) and not isinstance(value, type))
    parts = block, type(block).forward, *functions
    return all((getattr(part, "__module__", None) or "").startswith(_PACKAGE) for part in parts)
