"""Helpers that programs of Dive into Deep Learning import from its `d2l` package, without plots, downloads and models.

They serve both interfaces, because there is one kind of array. Counters and sums stay arrays as long as possible, and
are read once: a read in a loop would wait in every iteration.

>>> from forerun import d2l, np
>>> with d2l.Benchmark('ten products'):
...     results = [np.dot(np.ones((8, 8)), np.ones((8, 8))) for _ in range(10)]
ten products: issued after 0... sec, done after 0... sec
"""

from __future__ import annotations

from .. import np, npx
from .._display.namespaces import dir_of
from .measures import Accumulator, accuracy, evaluate_accuracy, evaluate_accuracy_gpu, evaluate_loss
from .places import numpy, split_batch, to, try_all_gpus, try_gpu
from .timing import Benchmark, Timer
from .training import grad_clipping, linreg, load_array, sgd, squared_loss, synthetic_data

__all__ = [
    "Timer", "Benchmark", "Accumulator", "try_gpu", "try_all_gpus", "synthetic_data", "load_array", "linreg",
    "squared_loss", "sgd", "accuracy", "evaluate_loss", "evaluate_accuracy", "evaluate_accuracy_gpu",
    "grad_clipping", "split_batch", "numpy", "tensor", "size", "to", "reshape", "transpose", "reduce_sum",
    "reduce_mean", "argmax", "astype", "concat", "matmul", "batch_matmul", "rand", "randn", "abs", "arange",
    "cos", "cosh", "exp", "expand_dims", "eye", "float32", "int32", "int64", "linspace", "log", "meshgrid", "ones",
    "repeat", "sin", "sinh", "sqrt", "square", "stack", "swapaxes", "tanh", "zeros",
]  # fmt: skip
__dir__ = dir_of(__name__)

# One name for functions that the front ends spell differently.
ones, zeros, arange, linspace, meshgrid, eye = np.ones, np.zeros, np.arange, np.linspace, np.meshgrid, np.eye
sin, cos, sinh, cosh, tanh, exp, log = np.sin, np.cos, np.sinh, np.cosh, np.tanh, np.exp, np.log
abs, sqrt, square, concat, stack, matmul = np.abs, np.sqrt, np.square, np.concatenate, np.stack, np.matmul
int32, int64, float32, tensor, batch_matmul = np.int32, np.int64, np.float32, np.array, npx.batch_dot
rand, randn, expand_dims = np.random.uniform, np.random.normal, np.expand_dims
swapaxes, repeat = np.swapaxes, np.repeat
reduce_sum, reduce_mean, reshape, argmax = np.sum, np.mean, np.reshape, np.argmax
transpose, size, astype = np.transpose, np.size, np.astype
