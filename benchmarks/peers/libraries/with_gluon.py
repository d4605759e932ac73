"""The rows with forerun and with MXNet, which have one spelling."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from base import RATE, Peer, Program, Rows
from ocean.programs import PROGRAMS, Ocean

from .gluon_networks import networks


class Gluon(Peer):
    """The base of both: arrays, waits, and the training step in gluon."""

    hybrid = False

    def __init__(self) -> None:
        package = importlib.import_module(self.package)
        self.np, self.npx, self.autograd, self.gluon = (
            package.np,
            package.npx,
            package.autograd,
            package.gluon,
        )
        self.xp = self.np

    def array(self, x: numpy.ndarray) -> Any:
        return self.np.array(x)

    def wait(self, y: Any) -> Any:
        self.npx.waitall()
        return y

    def values(self, y: Any) -> numpy.ndarray:
        return y.asnumpy()

    def training(self, x: Any, y: Any, *parameters: Any, count: int) -> Program:
        gluon = self.gluon
        net = gluon.nn.HybridSequential()
        last = parameters[-1].shape[0]
        for w in parameters[::2]:
            width, features = w.shape
            net.add(gluon.nn.Dense(width, activation=None if width == last else "relu", in_units=features))
        net.initialize()
        return self._steps(net, gluon.loss.L2Loss() if y.ndim == 2 else None, x, y, parameters, count)

    def _steps(self, net: Any, loss: Any, x: Any, y: Any, parameters: Sequence[Any], count: int) -> Program:
        """Steps of a network from those parameters; None: cross-entropy."""
        gluon, autograd, batch = self.gluon, self.autograd, len(x)
        held = [p for p in net.collect_params().values() if p.grad_req != "null"]
        for p, value in zip(held, parameters, strict=True):
            p.set_data(value)
        loss = loss or gluon.loss.SoftmaxCrossEntropyLoss()
        if self.hybrid:
            net.hybridize()
            loss.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": RATE})

        def step(x: Any, y: Any) -> None:
            with autograd.record():
                cost = loss(net(x), y)
            cost.backward()
            trainer.step(batch)

        captured = self.captured(step)

        def program() -> Any:
            for _ in range(count):
                captured(x, y)
            self.npx.waitall()
            return [p.data() for p in held]

        return program

    def captured(self, step: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """The training step, as it is measured: captured by those that can."""
        return step

    def network(self, name: str, x: Any, y: Any, *parameters: Any, count: int) -> Program:
        net = networks(importlib.import_module(self.package))[name]()
        net.initialize()
        return self._steps(net, None, x, y, parameters, count)


class GluonRows(Gluon, Rows):
    """All rows."""

    def normal(self, shape: tuple[int, ...]) -> Any:
        return self.np.random.normal(size=shape)

    def softmax_of(self, x: Any) -> Any:
        return self.npx.softmax(x)

    def small_each(self, x: Any, count: int) -> Program:
        def program() -> Any:
            for _ in range(count):
                y = x + 1
                y.wait_to_read()
            return y

        return program


class Forerun(GluonRows, Ocean):
    """This package."""

    package = "forerun"


class Hybrid(Gluon):
    """This package with a network and a loss that are hybridized, and with programs that are captured as a whole."""

    package = "forerun"
    lacks = "applies to gluon networks and programs of many operations"
    hybrid = True

    def ocean(self, name: str, *inputs: Any, count: int) -> Program:
        plain, compute = Forerun(), PROGRAMS[name].compute
        function = importlib.import_module(self.package).hybrid(lambda *inputs: compute(plain, *inputs))
        return lambda: self.wait(function(*inputs))


class WholeStep(Gluon):
    """This package with training steps that are one program each."""

    package = "forerun"
    lacks = "applies to training steps"

    def captured(self, step: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        whole: Callable[[Any, Any], None] = importlib.import_module(self.package).hybrid(step)
        return whole


class MXNet(GluonRows):
    """MXNet with its arrays in NumPy's style."""

    package = "mxnet"
    lacks = "is left out of the programs in float64"

    def __init__(self) -> None:
        super().__init__()
        self.npx.set_np()
