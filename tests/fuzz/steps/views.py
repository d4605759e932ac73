"""Views, and views of views."""

from __future__ import annotations

import math

from fuzz.pool import Pool


class Views(Pool):
    """Other ways to see the same memory."""

    def slices(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is not None:
            cut = (slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), slice(1, 3))[
                b % 5
            ]
            self.put_view(x.value[(slice(None),) * (c % x.value.ndim) + (cut,)], x.device)

    def element(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0 and slot.value.shape[0] > 0)
        if x is not None:
            self.put_view(x.value[b % x.value.shape[0], ...], x.device)

    def transpose(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        n = x.value.ndim
        self.put_view(
            x.value.transpose([(i + 1 + b) % n for i in range(n)]) if b % 2 else x.value.T, x.device
        )

    def reshape(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        fitting = [s for s in (*self.shapes, (x.value.size,)) if math.prod(s) == x.value.size]
        self.put_view(x.value.reshape(fitting[b % len(fitting)]), x.device)
