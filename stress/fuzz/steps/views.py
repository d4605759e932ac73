"""Views, and views of views."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stress.fuzz.pool import Pool

# Ways to request views, and copies where no view is possible.
KINDS: tuple[tuple[str, Callable[[Any, Any], Any]], ...] = (
    ("ravel", lambda xp, x: xp.ravel(x)),
    ("method ravel", lambda xp, x: x.ravel()),
    ("reshape", lambda xp, x: xp.reshape(x, (-1,))),
    ("reshape and back", lambda xp, x: xp.reshape(x, (*x.shape[::-1], 1))),
    ("squeeze", lambda xp, x: xp.squeeze(x)),
    ("expand_dims", lambda xp, x: xp.expand_dims(x, 0)),
    ("atleast_1d", lambda xp, x: xp.atleast_1d(x)),
    ("atleast_3d", lambda xp, x: xp.atleast_3d(x)),
    ("moveaxis", lambda xp, x: xp.moveaxis(x, 0, -1) if x.ndim else x),
    ("swapaxes", lambda xp, x: xp.swapaxes(x, 0, -1) if x.ndim else x),
    ("flip", lambda xp, x: xp.flip(x) if x.ndim else x),
    ("rot90", lambda xp, x: xp.rot90(x) if x.ndim > 1 else x),
    ("diagonal", lambda xp, x: xp.diagonal(x) if x.ndim > 1 else x),
    ("real", lambda xp, x: xp.real(x)),
    ("split", lambda xp, x: xp.array_split(x, 2)[1] if x.ndim else x),
    ("same dtype", lambda xp, x: x.astype(x.dtype, copy=False)),
    ("flatten", lambda xp, x: x.flatten()),
)
READ_ONLY = ("diagonal",)


class Views(Pool):
    """Views of the same memory."""

    def slices(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is not None:
            cut = (slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), slice(1, 3))[b % 5]
            self.put_view(x.value[(slice(None),) * (c % x.value.ndim) + (cut,)], x.device)

    def element(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0 and slot.value.shape[0] > 0)
        if x is not None:
            self.put_view(x.value[b % x.value.shape[0], ...], x.device)

    def transpose(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        n = x.value.ndim
        self.put_view(x.value.transpose([(i + 1 + b) % n for i in range(n)]) if b % 2 else x.value.T, x.device)

    def reshape(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        fitting = [s for s in (*self.shapes, (x.value.size,)) if math.prod(s) == x.value.size]
        self.put_view(x.value.reshape(fitting[b % len(fitting)]), x.device)

    def view_or_copy(self, a: int, b: int, c: int) -> None:
        """Functions that return a view or a copy, depending on the layout; then a write into one, or into both."""
        x = self.any(a)
        name, made = KINDS[b % len(KINDS)]
        y = made(self.xp, x.value)
        if c % 2 and y.size and name not in READ_ONLY:
            y[...] = self.scalar(y, c)
        if c % 3:
            x.value[...] = self.scalar(x.value, c // 2)
        self.log.append(self.back.look(x.value))
        self.put_view(y, x.device)
