"""Indexing in all its forms, read and written: integers, slices, arrays of positions, masks, new axes."""

from __future__ import annotations

from typing import Any

from stress.fuzz.pool import Pool, Slot


class Indexing(Pool):
    """Keys made of numbers and of arrays that the program has computed."""

    def filled(self, n: int) -> Slot | None:
        """An array with elements."""
        return self.pick(n, lambda slot: slot.value.ndim > 0 and slot.value.size > 0)

    def basic_key(self, x: Any, n: int) -> tuple[Any, ...]:
        """Integers, slices with steps, an ellipsis, new axes."""
        key: list[Any] = []
        for extent in x.shape:
            n, choice = divmod(n, 7)
            at = n % extent if extent else 0
            last = at - extent if extent else slice(0, 0)
            key.append((slice(None), slice(at, None), slice(None, -at or None, 2), slice(at, None, -1),
                        slice(-2, None), last, slice(extent, at, -2))[choice])  # fmt: skip
        if n % 3 == 0:
            key.insert(n % (len(key) + 1), None)
        if n % 5 == 0:
            key[n % len(key) :] = [...]
        return tuple(key)

    def mask(self, x: Slot, n: int) -> Any:
        """A condition on x's elements, or on its first axis."""
        value = x.value if n % 2 else x.value.reshape(x.value.shape[0], -1)[:, 0]
        return value > self.scalar(value, n) if self.exact else value > 0

    def cut(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is not None:
            view = x.value[self.basic_key(x.value, b)]
            self.put_view(view, x.device) if c % 3 else self.put(self.settle(view + 1), x.device)

    def paste(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is None:
            return
        key = self.basic_key(x.value, b)
        if c % 3 == 0:
            x.value[key] = self.scalar(x.value, c)
        elif c % 3 == 1:
            x.value[key] = x.value[key][..., ::-1] if x.value[key].ndim else x.value[key]
        else:
            x.value[key] += 1
        self.settle_inplace(x.value)

    def positions(self, extent: int, n: int, device: int) -> Any:
        """Positions along an axis: computed from the program's numbers if there are any."""
        whole = self.pick(n, lambda s: s.value.dtype in ("int64", "int32") and s.value.ndim > 0 and s.device == device)
        if whole is None:
            return None
        value = whole.value.reshape(-1)[: 1 + n % 5] % extent
        return value - extent if n % 3 == 0 else value

    def pick_points(self, a: int, b: int, c: int) -> None:
        x = self.filled(a)
        if x is None:
            return
        first = self.positions(x.value.shape[0], b, x.device)
        if first is None:
            return
        if c % 2 and x.value.ndim > 1:
            second = self.positions(x.value.shape[1], b, x.device)
            self.put(x.value[first, second], x.device)
        else:
            self.put(x.value[first], x.device)

    def put_points(self, a: int, b: int, c: int) -> None:
        x = self.filled(a)
        if x is None:
            return
        first = self.positions(x.value.shape[0], b, x.device)
        if first is not None:
            x.value[first] = self.scalar(x.value, c)

    def mask_read(self, a: int, b: int, c: int) -> None:
        """An operation whose shape depends on values, so that it waits."""
        x = self.filled(a)
        if x is not None:
            with self.back.reading():
                mask = self.back.known(self.mask(x, b))
                found, where = x.value[mask], self.xp.nonzero(mask)[0]
            self.put(self.settle(found), x.device)
            if c % 2:
                self.put(where, x.device)

    def mask_write(self, a: int, b: int, c: int) -> None:
        x = self.filled(a)
        if x is not None:
            x.value[self.mask(x, b)] = self.scalar(x.value, c)

    def along_axis(self, a: int, b: int, c: int) -> None:
        x = self.filled(a)
        if x is not None:
            axis = b % x.value.ndim
            order = self.xp.argsort(x.value, axis=axis, kind="stable")
            self.put(self.xp.take_along_axis(x.value, order[..., ::-1] if c % 2 else order, axis=axis), x.device)

    def ends(self, a: int, b: int, c: int) -> None:
        """Positions of extremes, and running sums."""
        x = self.filled(a)
        if x is not None:
            axis = b % x.value.ndim
            f = self.xp.argmax if c % 2 else self.xp.argmin
            self.put(f(x.value, axis=axis), x.device)

    def rearranged(self, a: int, b: int, c: int) -> None:
        x = self.filled(a)
        if x is None:
            return
        axis = b % x.value.ndim
        names = ("roll", "flip", "repeat", "stack", "expand", "pad", "diff")
        name = names[c % len(names)]
        if name == "roll":
            self.put(self.xp.roll(x.value, c % 5 - 2, axis=axis), x.device)
        elif name == "flip":
            self.put_view(self.xp.flip(x.value, axis), x.device)
        elif name == "repeat":
            self.put(self.xp.repeat(x.value, 1 + c % 2, axis=axis), x.device)
        elif name == "stack":
            self.put(self.xp.stack([x.value, x.value], axis=axis), x.device)
        elif name == "expand":
            self.put_view(self.xp.broadcast_to(self.xp.expand_dims(x.value, 0), (2, *x.value.shape)).copy(), x.device)
        elif name == "pad":
            self.put(self.xp.pad(x.value, 1), x.device)
        else:
            self.put(self.settle(self.xp.diff(x.value, axis=axis)), x.device)
