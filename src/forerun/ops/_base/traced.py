"""Arrays while `hybridize` records: their text, which does not wait for values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ... import _core

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["inputs", "placeholder"]


class _Inputs(threading.local):
    names: Callable[[], Sequence[str]] = staticmethod(lambda: ())  # of the call that this thread records


inputs = _Inputs()


def placeholder(x: Array) -> str | None:
    """Return the placeholder of an array where this thread captures: name, shape and dtype. Elsewhere None.

    The name is that of an argument ("argument 0") or a parameter ("0.weight"), or of the operation that made it.

    >>> from forerun import np
    >>> placeholder(np.ones(2)) is None
    True
    """
    made_by = _core.capture_maker(x)
    if made_by is None:
        return None
    if isinstance(made_by, int):
        names = inputs.names()
        made_by = names[made_by] if made_by < len(names) else "argument"
    return f"<traced array {made_by}: shape {x.shape}, {x.dtype}>"
