"""Recording and backward passes: several heads, repeated passes, gradients of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forerun import autograd, gluon, np, npx
from stress.fuzz.pool import Pool, Slot

CURVES: tuple[Callable[[Any], Any], ...] = (
    lambda x: x * x,
    lambda x: np.tanh(x),
    lambda x: np.exp(-x * x),
    lambda x: x - x.mean(),
    lambda x: npx.softmax(x) if x.ndim else x,
    lambda x: np.where(x > 0, x, x * 0.5),
    lambda x: np.sin(x) * x.max(),
    lambda x: x[..., ::-1] * 2 if x.ndim else x,
    lambda x: np.cumsum(x, axis=0) / 8 if x.ndim else x,
    lambda x: (x[None] * np.ones((2, *x.shape), x.dtype, device=x.device)).sum(0),
)


class Gradients(Pool):
    """Only in programs that NumPy does not check: it has no gradients."""

    def leaf(self, n: int, request: str = "write") -> Slot | None:
        """A leaf of the tape: a copy of an array of floats."""
        x = self.pick(n, lambda slot: slot.value.dtype.kind == "f" and slot.value.size > 0)
        if x is None:
            return None
        w = x.value.detach().copy()
        w.attach_grad(request)
        return Slot(w, x.device)

    def curve(self, x: Any, n: int) -> Any:
        """A function of x, of x's shape."""
        for i in range(1 + n % 3):
            n, which = divmod(n, len(CURVES))
            x = CURVES[which](x) + i
        return x

    def slope(self, a: int, b: int, c: int) -> None:
        w = self.leaf(a)
        if w is None:
            return
        with autograd.record():
            y = self.curve(w.value, b).sum()
        y.backward()
        self.put(np.tanh(w.value.grad), w.device)
        if c % 2:
            self.put(y.detach(), w.device)

    def heads(self, a: int, b: int, c: int) -> None:
        """Two heads, differentiated together and then once more."""
        w = self.leaf(a, "add" if c % 2 else "write")
        if w is None:
            return
        with autograd.record():
            y = self.curve(w.value, b)
            z = self.curve(y, c)
        autograd.backward([y, z], retain_graph=True)
        if b % 2:
            autograd.backward([z])
        self.put(np.tanh(w.value.grad), w.device)

    def second(self, a: int, b: int, c: int) -> None:
        """The gradient of a gradient."""
        w = self.leaf(a)
        if w is None:
            return
        with autograd.record():
            y = self.curve(w.value, b)
            dy = autograd.grad(y, w.value, create_graph=True)
            z = (dy * dy).sum()
        z.backward()
        self.put(np.tanh(w.value.grad), w.device)

    def overwritten(self, a: int, b: int, c: int) -> None:
        """Change a value that a gradient may need between recording and the backward pass."""
        w = self.leaf(a)
        if w is None:
            return
        with autograd.record():
            y = w.value * 2
            z = y * y if b % 2 else y + 1
        y += 1
        z.backward()
        self.put(np.tanh(w.value.grad), w.device)

    def training(self, a: int, b: int, c: int) -> None:
        """A few training steps of a small network, hybridized or not."""
        x = self.pick(a, lambda s: s.value.dtype == "float32" and s.value.ndim == 2 and s.value.size > 0)
        if x is None or x.device:
            return
        net = gluon.nn.Sequential()
        net.add(gluon.nn.Dense(4, activation="relu", weight_initializer="ones"),
                gluon.nn.Dense(1, weight_initializer="ones"))  # fmt: skip
        net.initialize()
        if c % 2:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), ("sgd", "adam")[b % 2], {"learning_rate": 0.125})
        for _ in range(2 + b % 3):
            with autograd.record():
                loss = ((net(x.value) / 8 - 1) ** 2).mean()
            loss.backward()
            trainer.step(1)
            self.kept.append(loss)
        self.kept.extend(p.data() for p in net.collect_params().values())
