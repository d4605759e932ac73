"""Helpers that programs of Dive into Deep Learning import from its `d2l` package, without plots, downloads and models.

They serve both interfaces, because there is one kind of array. Counters and sums stay arrays as long as possible, and
are read once: a read in a loop would wait in every iteration.

>>> from forerun import d2l, np
>>> with d2l.Benchmark('ten products'):
...     results = [np.dot(np.ones((8, 8)), np.ones((8, 8))) for _ in range(10)]
ten products: issued after 0... sec, done after 0... sec
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as _numpy

from . import autograd, gluon, np, npx
from ._runtime import core as _core
from ._runtime.device import Device, cpu, devices, gpu, num_gpus

if TYPE_CHECKING:
    from .typing import Array, ArrayLike


__all__ = [
    "Timer", "Benchmark", "Accumulator", "try_gpu", "try_all_gpus", "synthetic_data", "load_array", "linreg",
    "squared_loss", "sgd", "accuracy", "evaluate_loss", "evaluate_accuracy", "evaluate_accuracy_gpu",
    "grad_clipping", "split_batch", "numpy", "tensor", "size", "to", "reshape", "transpose", "reduce_sum",
    "reduce_mean", "argmax", "astype", "concat", "matmul", "batch_matmul", "rand", "randn",
]  # fmt: skip


class Timer:
    """A stopwatch that remembers its runs. It starts when it is made; times are in seconds.

    It does not wait: to time a whole program, wait before `stop`. `dropped` has for each run the number of
    operations that were dropped because their results were not used.

    >>> timer = Timer()
    >>> timer.stop() >= 0, len(timer.times)
    (True, 1)
    """

    def __init__(self) -> None:
        self.times: list[float] = []
        self.dropped: list[int] = []
        self.start()

    def start(self) -> None:
        """Start a run."""
        self._before = _dropped()
        self.tik = time.perf_counter()

    def stop(self) -> float:
        """End a run; return its time."""
        self.times.append(time.perf_counter() - self.tik)
        self.dropped.append(_dropped() - self._before)
        return self.times[-1]

    def avg(self) -> float:
        """Return the average time of a run."""
        return sum(self.times) / len(self.times)

    def sum(self) -> float:
        """Return the total time of all runs."""
        return sum(self.times)

    def cumsum(self) -> list[float]:
        """Return the cumulative times of the runs."""
        sums: list[float] = _numpy.array(self.times).cumsum().tolist()
        return sums


class Benchmark:
    """Prints two times of a `with` block: until its work was issued, and until all of it was done.

    The end of the block waits for the work, so what a block takes never counts for the next one. Where the two are the
    same, the block has waited itself. Errors of the operations are raised by reads of their results. Operations with
    unused results are not run, and so take no time: the line says how many there were, if any.
    """

    def __init__(self, description: str = "Done") -> None:
        self.description = description

    def __enter__(self) -> Benchmark:
        self._before = _dropped()
        self.timer = Timer()
        return self

    def __exit__(self, *exc: object) -> None:
        issued = self.timer.stop()
        _core.wait_mark(_core.mark())
        done = time.perf_counter() - self.timer.tik
        shown = never_run(_dropped() - self._before)
        print(f"{self.description}: issued after {issued:.4f} sec, done after {done:.4f} sec{shown}")


def _dropped() -> int:
    """Return the number of eliminated operations since the start of the process."""
    return _core.stats()["dropped"]


def never_run(dropped: int) -> str:
    """Return the text about operations that were not run; empty if there are none.

    >>> never_run(9)
    ' (9 operations dropped: result never read)'
    """
    shown = "1 operation" if dropped == 1 else f"{dropped:,} operations"
    return f" ({shown} dropped: result never read)" if dropped else ""


class Accumulator:
    """Running sums of n variables. Adding arrays does not wait; reading a sum does, for all that was added.

    >>> sums = Accumulator(2)
    >>> sums.add(1.5, np.ones(()))
    >>> sums.add(1, 2)
    >>> sums[0], sums[1]
    (2.5, 3.0)
    """

    def __init__(self, n: int) -> None:
        self.data: list[Any] = [0.0] * n

    def add(self, *values: Array | float) -> None:
        """Add one value to each sum: numbers, or arrays of one element."""
        self.data = [total + _wide(value) for total, value in zip(self.data, values, strict=True)]

    def reset(self) -> None:
        """Set the sums to zero."""
        self.data = [0.0] * len(self.data)

    def __getitem__(self, index: int) -> float:
        return float(self.data[index])


def _wide(value: Array | float) -> Any:
    """As float64, so that long sums stay exact; out of sight of gradients."""
    if not isinstance(value, np.ndarray):
        return float(value)
    with autograd.pause():
        return value.detach().astype("float64").reshape(())


# --- devices --------------------------------------------------------------------------------------


def try_gpu(i: int = 0) -> Device:
    """Return GPU number i if there is one, otherwise the first CPU device."""
    return gpu(i) if num_gpus() > i else cpu()


def try_all_gpus() -> list[Device]:
    """Return all GPUs; without any, all CPU devices (`FORERUN_CPU_DEVICES` says into how many the cores are split)."""
    return [gpu(i) for i in range(num_gpus())] or devices()


# --- data, models and training from scratch -------------------------------------------------------


def synthetic_data(w: Array, b: ArrayLike, num_examples: int) -> tuple[Any, Any]:
    """Return normal features X (num_examples, len(w)), and labels X @ w + b (num_examples, 1) with a little noise."""
    X = np.random.normal(0, 1, (num_examples, len(w)))
    y = np.dot(X, w) + b + np.random.normal(0, 0.01, (num_examples,) if w.ndim == 1 else (num_examples, 1))
    return X, y.reshape((-1, 1))


def load_array(data_arrays: Sequence[Any], batch_size: int, is_train: bool = True) -> Any:
    """Return batches of arrays side by side, in another order in each epoch if `is_train`."""
    return gluon.data.DataLoader(gluon.data.ArrayDataset(*data_arrays), batch_size, shuffle=is_train)


def linreg(X: Array, w: Array, b: Array) -> Array:
    """Return the linear model X @ w + b."""
    return np.matmul(X, w) + b


def squared_loss(y_hat: Array, y: Array) -> Array:
    """Return half the squared error of each prediction."""
    return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2


def sgd(params: Iterable[Any], lr: float, batch_size: int) -> None:
    """Return one step of gradient descent, in place; gradients that add up (`grad_req="add"`) start anew."""
    with autograd.pause():
        for param in params:
            param -= lr * param.grad / batch_size
            if param.node.grad_req == "add":
                param.zero_grad()


def grad_clipping(net: object, theta: float) -> None:
    """Scale gradients in place so that their common 2-norm is at most theta. Waits for nothing."""
    params = net if isinstance(net, (list, tuple)) else list(_parameters(net))
    with autograd.pause():
        norm = np.sqrt(np.sum(np.stack([np.sum(np.square(p.grad)) for p in params])))
        factor = np.minimum(theta / np.maximum(norm, 1e-30), 1.0)
        for p in params:
            p.grad[...] = p.grad * factor


def _parameters(net: Any) -> Iterable[Any]:
    if hasattr(net, "collect_params"):
        return [p.data() for p in net.collect_params().values() if p.grad_req != "null"]
    found: Iterable[Any] = net.params if hasattr(net, "params") else net.parameters()
    return found


def split_batch(X: Array, y: Array, devices: Sequence[Device]) -> tuple[list[Any], list[Any]]:
    """Return X and y in equal parts on several devices. ValueError for different numbers of examples."""
    if X.shape[0] != y.shape[0]:
        raise ValueError(f"split_batch: X and y must have one length, got {X.shape[0]} and {y.shape[0]}")
    return gluon.utils.split_and_load(X, devices), gluon.utils.split_and_load(y, devices)


# --- measures -------------------------------------------------------------------------------------


def _correct(y_hat: Array, y: Array) -> Array:
    """Return the number of correct predictions, as an array: y_hat holds classes, or scores along its last axis."""
    if y_hat.ndim > 1 and y_hat.shape[1] > 1:
        y_hat = np.argmax(y_hat, axis=1)
    return np.sum(y_hat.astype(y.dtype).reshape(y.shape) == y)


def accuracy(y_hat: Array, y: Array) -> float:
    """Return the number of correct predictions. Waits.

    >>> accuracy(np.array([[0.1, 0.9], [0.8, 0.2]]), np.array([1, 1]))
    1.0
    """
    return float(_correct(y_hat, y))


def evaluate_accuracy(net: Any, data_iter: Iterable[Any], device: Device | None = None) -> float:
    """Return the accuracy of the predictions for a data set; batches go to `device` if given. Waits once."""
    metric = Accumulator(2)
    with autograd.pause(), _predicting(net):
        for X, y in data_iter:
            X, y = (X, y) if device is None else (to(X, device), to(y, device))
            metric.add(_correct(net(X), y), y.size)
    return metric[0] / metric[1]


evaluate_accuracy_gpu = evaluate_accuracy


def evaluate_loss(net: Any, data_iter: Iterable[Any], loss: Callable[[Any, Any], Any]) -> float:
    """Return the mean loss over a data set. Waits once."""
    metric = Accumulator(2)
    with autograd.pause(), _predicting(net):
        for X, y in data_iter:
            out = net(X)
            losses = loss(out, y.reshape(out.shape) if y.size == out.size else y)
            metric.add(np.sum(losses), losses.size)
    return metric[0] / metric[1]


@contextlib.contextmanager
def _predicting(net: Any) -> Iterator[None]:
    """Switches a module to predicting inside a `with` block; other models are left alone."""
    was = getattr(net, "training", None)
    if was:
        net.eval()
    try:
        yield
    finally:
        if was:
            net.train()


# --- one name for what the front ends spell differently ------------------------------------------

ones, zeros, arange, linspace, meshgrid, eye = np.ones, np.zeros, np.arange, np.linspace, np.meshgrid, np.eye
sin, cos, sinh, cosh, tanh, exp, log = np.sin, np.cos, np.sinh, np.cosh, np.tanh, np.exp, np.log
abs, sqrt, square, concat, stack, matmul = np.abs, np.sqrt, np.square, np.concatenate, np.stack, np.matmul
int32, int64, float32, tensor, batch_matmul = np.int32, np.int64, np.float32, np.array, npx.batch_dot
rand, randn, expand_dims = np.random.uniform, np.random.normal, np.expand_dims
swapaxes, repeat = np.swapaxes, np.repeat
reduce_sum, reduce_mean, reshape, argmax = np.sum, np.mean, np.reshape, np.argmax
transpose, size, astype = np.transpose, np.size, np.astype


def numpy(x: Any) -> _numpy.ndarray:
    """Return a NumPy array with the values. Waits."""
    values: _numpy.ndarray = x.asnumpy()
    return values


def to(x: Array, device: Device | str) -> Array:
    """Return the array itself if it is on that device, otherwise a copy there."""
    return x.to_device(device)
