"""How parameters start: callables that fill an array in place, with draws made on the array's device.

>>> from forerun import init, np
>>> w = np.zeros((2, 3))
>>> init.create("ones")(w)
>>> w.tolist()
[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]

A new way to start is a subclass that overrides `_init_weight(name, data)`. Nothing here waits for values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy

from . import autograd, np
from ._runtime.registry import known_by, look_up
from .npx import load as _load
from .ops._base.host_task import host

if TYPE_CHECKING:
    from .typing import Array, ArrayLike


__all__ = [
    "Initializer", "Zero", "One", "Constant", "Uniform", "Normal", "TruncNorm", "Xavier", "MSRAPrelu", "He",
    "Orthogonal", "Bilinear", "LSTMBias", "Mixed", "Load", "InitDesc", "alias", "create", "register",
]  # fmt: skip


class Initializer:
    """Fills arrays in place. Subclasses say how in `_init_weight(name, data)`.

    >>> from forerun import np
    >>> class Halves(Initializer):
    ...     def _init_weight(self, name, data):
    ...         data[:] = 0.5
    >>> w = np.zeros(2)
    >>> Halves()(w)
    >>> w.tolist()
    [0.5, 0.5]
    """

    def __call__(self, array: Array, name: str = "weight") -> None:
        """Fills `array`, of any shape that the rule can start; `name` is passed on. Never recorded, never waits."""
        with autograd.pause():
            self._init_weight(name, array)

    def _init_weight(self, name: str, data: Array) -> None:
        raise NotImplementedError(f"{type(self).__name__}: _init_weight must be defined, got none")

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


class Constant(Initializer):
    """Fills with a number, or with an array of the same shape.

    >>> from forerun import np
    >>> w = np.zeros(2)
    >>> Constant(3)(w)
    >>> w.tolist()
    [3.0, 3.0]
    """

    def __init__(self, value: ArrayLike = 0.0) -> None:
        self.value = value

    def _init_weight(self, name: str, data: Array) -> None:
        data[...] = self.value


class Zero(Constant):
    """Fills with zeros.

    >>> from forerun import np
    >>> w = np.full(2, 5.0)
    >>> Zero()(w)
    >>> w.tolist()
    [0.0, 0.0]
    """

    def __init__(self) -> None:
        super().__init__(0)


class One(Constant):
    """Fills with ones.

    >>> from forerun import np
    >>> w = np.full(2, 5.0)
    >>> One()(w)
    >>> w.tolist()
    [1.0, 1.0]
    """

    def __init__(self) -> None:
        super().__init__(1)


class Uniform(Initializer):
    """Draws from the uniform distribution on [-scale, scale).

    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> Uniform()(w)
    >>> bool(abs(w).max() <= 0.07)
    True
    """

    def __init__(self, scale: float = 0.07) -> None:
        self.scale = scale

    def _init_weight(self, name: str, data: Array) -> None:
        _fill_uniform(data, self.scale)


class Normal(Initializer):
    """Draws from the normal distribution with mean 0 and standard deviation sigma.

    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> Normal()(w)
    >>> bool(abs(w).mean() < 0.1)
    True
    """

    def __init__(self, sigma: float = 0.01) -> None:
        self.sigma = sigma

    def _init_weight(self, name: str, data: Array) -> None:
        _fill_normal(data, self.sigma)


class TruncNorm(Initializer):
    """Draws from the normal distribution, again where a value is further than two standard deviations from the mean.

    After four draws what is still outside (4 in a million values) is clipped.

    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> TruncNorm()(w)
    >>> bool(abs(w).max() <= 0.02)
    True
    """

    def __init__(self, mean: float = 0.0, stdev: float = 0.01) -> None:
        self.mean = mean
        self.stdev = stdev

    def _init_weight(self, name: str, data: Array) -> None:
        _fill_normal(data, 1.0)
        for _ in range(3):
            again = np.random.normal(size=data.shape, dtype=data.dtype, device=data.device)
            data[...] = np.where(np.abs(data) > 2, again, data)
        data[...] = np.clip(data, -2, 2) * self.stdev + self.mean


class Xavier(Initializer):
    """Draws so that the variance of what flows through a layer stays the same (Glorot and Bengio, 2010).

    The scale is sqrt(magnitude / factor), where factor is the mean of fan-in and fan-out, or one of them. "uniform"
    draws on [-scale, scale), "gaussian" with that standard deviation. Weights are (out, in, ...); ValueError for fewer
    axes.

    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> Xavier()(w)
    >>> bool(abs(w).max() <= (3 / 3.5) ** 0.5)
    True
    """

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3) -> None:
        if rnd_type not in ("uniform", "gaussian"):
            raise ValueError(f'Xavier: rnd_type must be "uniform" or "gaussian", got {rnd_type!r}')
        if factor_type not in ("avg", "in", "out"):
            raise ValueError(f'Xavier: factor_type must be "avg", "in" or "out", got {factor_type!r}')
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = magnitude

    def _init_weight(self, name: str, data: Array) -> None:
        fan_in, fan_out = _fans(type(self).__name__, data.shape)
        factor = {"avg": (fan_in + fan_out) / 2, "in": fan_in, "out": fan_out}[self.factor_type]
        scale = math.sqrt(self.magnitude / max(factor, 1))
        fill = _fill_uniform if self.rnd_type == "uniform" else _fill_normal
        fill(data, scale)


class MSRAPrelu(Xavier):
    """Xavier's rule for layers followed by a (leaky) ReLU of the given slope (He et al., 2015).

    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> MSRAPrelu()(w)
    >>> bool(abs(w).mean() < 2)
    True
    """

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2 / (1 + slope**2))


class He(Xavier):
    """Normal draws with variance 2 / fan-in: the rule for layers followed by a ReLU (He et al., 2015).

    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> He()(w)
    >>> bool(abs(w).mean() < 2)
    True
    """

    def __init__(self) -> None:
        super().__init__("gaussian", "in", 2)


class Orthogonal(Initializer):
    """An orthogonal matrix times `scale` (Saxe et al., 2013): rows, or columns if there are fewer, are orthogonal.

    Axes after the first count as one. ValueError for arrays of fewer than two axes.

    >>> from forerun import np
    >>> w = np.zeros((2, 4))
    >>> Orthogonal(scale=1.0)(w)
    >>> print(abs(np.round(w @ w.T, 3)))
    [[1. 0.]
     [0. 1.]]
    """

    def __init__(self, scale: float = math.sqrt(2), rand_type: str = "uniform") -> None:
        if rand_type not in ("uniform", "normal"):
            raise ValueError(f'Orthogonal: rand_type must be "uniform" or "normal", got {rand_type!r}')
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, data: Array) -> None:
        fan_in, _ = _fans("Orthogonal", data.shape)
        shape = (data.shape[0], fan_in)
        draw = np.random.uniform(-1, 1, size=shape, device=data.device)
        if self.rand_type == "normal":
            draw = np.random.normal(size=shape, device=data.device)
        (q,) = host(_orthogonal, [draw], [(shape, draw.dtype)], name="orthogonal")
        data[...] = (q * self.scale).reshape(data.shape)


class Bilinear(Initializer):
    """The weights that make a transposed convolution scale images up: tents over the last two axes, of any extent.

    >>> from forerun import np
    >>> w = np.zeros((1, 1, 4, 4))
    >>> Bilinear()(w)
    >>> (w[0, 0, 0] * 16).tolist()
    [1.0, 3.0, 3.0, 1.0]
    """

    def _init_weight(self, name: str, data: Array) -> None:
        if data.ndim < 2:
            raise ValueError(f"Bilinear: array must have at least 2 axes, got shape {data.shape}")
        half = math.ceil(data.shape[-1] / 2)
        centre = (2 * half - 1 - half % 2) / (2 * half)
        rows, columns = (1 - numpy.abs(numpy.arange(n) / half - centre) for n in data.shape[-2:])
        data[...] = np.array(rows[:, None] * columns, dtype=data.dtype, device=data.device)


class LSTMBias(Initializer):
    """Zeros, but `forget_bias` for the second quarter, which is of forget gates.

    >>> from forerun import np
    >>> b = np.ones(4)
    >>> LSTMBias(2.0)(b)
    >>> b.tolist()
    [0.0, 2.0, 0.0, 0.0]
    """

    def __init__(self, forget_bias: float = 1.0) -> None:
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, data: Array) -> None:
        if data.ndim != 1 or data.shape[0] % 4:
            raise ValueError(f"LSTMBias: array must be a vector of four equal parts, got shape {data.shape}")
        n = data.shape[0] // 4
        data[...] = 0
        data[n : 2 * n] = self.forget_bias


class Mixed(Initializer):
    """The first initializer whose pattern is found in the parameter's name. ValueError where none is.

    >>> from forerun import np
    >>> w = np.zeros(1)
    >>> Mixed(["bias", ".*"], [Zero(), One()])(w, "weight")
    >>> w.tolist()
    [1.0]
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Any]) -> None:
        if len(patterns) != len(initializers):
            raise ValueError(
                f"Mixed: patterns and initializers must be as many, got {len(patterns)} and {len(initializers)}"
            )
        self.rules = [(re.compile(pattern), create(rule)) for pattern, rule in zip(patterns, initializers)]

    def _init_weight(self, name: str, data: Array) -> None:
        for pattern, rule in self.rules:
            if pattern.search(name):
                return rule(data, name)
        raise ValueError(f"Mixed: a pattern must match each name, got {name!r}")


class Load(Initializer):
    """Values of arrays by name, with or without "arg:" or "aux:" before it; others start by `default_init`.

    param: the arrays, or a file that `npx.load` reads. verbose: prints where values are from. ValueError for a value of
    another shape, or a name that is not there where there is no default_init.

    >>> from forerun import np
    >>> w = np.zeros(2)
    >>> Load({"arg:weight": np.array([1.0, 2.0])})(w, "weight")
    >>> w.tolist()
    [1.0, 2.0]
    """

    def __init__(self, param: Any, default_init: str | None = None, verbose: bool = False) -> None:
        values = param if isinstance(param, Mapping) else _load(param)
        self.param = {re.sub("^(arg|aux):", "", name): value for name, value in values.items()}
        self.default_init, self.verbose = default_init, verbose

    def _init_weight(self, name: str, data: Array) -> None:
        if name in self.param:
            if tuple(self.param[name].shape) != data.shape:
                raise ValueError(f"Load: {name} must have shape {data.shape}, got {self.param[name].shape}")
            data[...] = self.param[name]
        elif self.default_init is None:
            raise ValueError(f"Load: there must be a value or a default_init for {name}, got none")
        else:
            create(self.default_init)(data, name)
        if self.verbose:
            print(f"{name}: {'loaded' if name in self.param else 'by default_init'}")


class InitDesc(str):
    """The name of a parameter, with attributes and the initializer of the whole network.

    >>> InitDesc("weight", {"lr_mult": "2"}).attrs
    {'lr_mult': '2'}
    """

    attrs: dict[str, Any]
    global_init: Any

    def __new__(cls, name: str, attrs: Mapping[str, Any] | None = None, global_init: Any = None) -> InitDesc:
        made = super().__new__(cls, name)
        made.attrs, made.global_init = dict(attrs or {}), global_init
        return made


def _orthogonal(values: numpy.ndarray) -> numpy.ndarray:
    u, _, v = numpy.linalg.svd(values, full_matrices=False)
    return u if u.shape == values.shape else v


def _fans(op: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """Return how many inputs one output sees, and the other way round."""
    if len(shape) < 2:
        raise ValueError(f"{op}: array must have at least 2 axes, got shape {shape}")
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def _fill_uniform(data: Array, scale: float) -> None:
    data[...] = np.random.uniform(-scale, scale, size=data.shape, dtype=data.dtype, device=data.device)


def _fill_normal(data: Array, sigma: float) -> None:
    data[...] = np.random.normal(0, sigma, size=data.shape, dtype=data.dtype, device=data.device)


_by_name: dict[str, type[Initializer]] = {
    "zeros": Zero, "zero": Zero, "ones": One, "one": One, "constant": Constant, "uniform": Uniform, "normal": Normal,
    "truncnorm": TruncNorm, "xavier": Xavier, "msraprelu": MSRAPrelu, "he": He, "orthogonal": Orthogonal,
    "bilinear": Bilinear, "lstmbias": LSTMBias,
}  # fmt: skip


_Kind = TypeVar("_Kind", bound=type[Initializer])


def alias(*names: str) -> Callable[[_Kind], _Kind]:
    """Return a decorator that makes a class known to `create` by these names.

    >>> @alias("halves", "half")
    ... class Halves(Initializer):
    ...     pass
    >>> create("half")
    Halves()
    """
    return known_by(_by_name, *names)


def register(klass: _Kind) -> _Kind:
    """Make a class known to `create`, by its name in small letters; usable as a decorator. Returns the class.

    >>> @register
    ... class Sevens(Constant):
    ...     def __init__(self):
    ...         super().__init__(7)
    >>> type(create("sevens")).__name__
    'Sevens'
    """
    return alias(klass.__name__)(klass)


def create(init: str | Initializer | None) -> Initializer:
    """Return the initializer meant by a name or an object; None means Uniform(0.07).

    Raises ValueError for an unknown name, TypeError for anything that cannot be called.

    >>> create("Xavier").magnitude
    3
    """
    if init is None:
        return Uniform()
    if isinstance(init, str):
        return look_up("init", _by_name, init)()
    if isinstance(init, Initializer):
        return init
    raise TypeError(f"init: must be a name or an Initializer, got {type(init).__name__}")
