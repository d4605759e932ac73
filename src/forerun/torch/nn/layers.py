"""Layers with parameters, layers without, and containers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...ops._base import convert
from .. import creation, shapes
from ..places import Where
from . import functional
from .module import Module, Parameter

if TYPE_CHECKING:
    from ...typing import Array, DTypeLike

__all__ = [
    "Linear", "LazyLinear", "Embedding", "LayerNorm", "Dropout", "Flatten", "Identity", "ReLU", "LeakyReLU",
    "Sigmoid", "Tanh", "GELU", "SiLU", "Softplus", "Softmax", "LogSoftmax", "Sequential", "ModuleList",
]  # fmt: skip


class Linear(Module):
    """x @ weight.T + bias: (..., in_features) to (..., out_features). Weights start in +-1 / sqrt(in_features).

    >>> from forerun import torch
    >>> Linear(3, 2)(torch.ones(4, 3)).shape
    (4, 2)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Where = None, dtype: DTypeLike = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self._make(bias, device, dtype)

    def _make(self, bias: bool, device: Where, dtype: DTypeLike) -> None:
        bound = 1 / math.sqrt(max(self.in_features, 1))

        def drawn(*shape: int) -> Any:
            return Parameter(creation.rand(shape, dtype=dtype, device=device) * (2 * bound) - bound)

        self.weight = drawn(self.out_features, self.in_features)
        self.bias = drawn(self.out_features) if bias else None

    def forward(self, x: Array) -> Array:
        """Return the affine map of the last axis."""
        return functional.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class LazyLinear(Linear):
    """A Linear whose in_features are those of the first data: it has no parameters before."""

    def __init__(self, out_features: int, bias: bool = True, device: Where = None, dtype: DTypeLike = None) -> None:
        Module.__init__(self)
        self.in_features, self.out_features = 0, out_features
        self._settings = (bias, device, dtype)
        self.weight = self.bias = None

    def forward(self, x: Array) -> Array:
        """Return the affine map of the last axis."""
        if self.weight is None:
            self.in_features = x.shape[-1]
            bias, device, dtype = self._settings
            self._make(bias, x.device if device is None else device, dtype)
        return super().forward(x)


class Embedding(Module):
    """Rows of a matrix (num_embeddings, embedding_dim), which start normally distributed, at positions."""

    def __init__(self, num_embeddings: int, embedding_dim: int, *, device: Where = None) -> None:
        super().__init__()
        self.weight = Parameter(creation.randn(num_embeddings, embedding_dim, device=device))

    def forward(self, index: Array) -> Array:
        """Return the rows: index (...) to (..., embedding_dim)."""
        return functional.embedding(index, self.weight)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axes, which have this shape; then times a weight, plus a bias."""

    def __init__(self, normalized_shape: int | Iterable[int], eps: float = 1e-5, *, device: Where = None) -> None:
        super().__init__()
        given = normalized_shape
        self.normalized_shape = (given,) if isinstance(given, int) else tuple(given)
        self.eps = eps
        self.weight = Parameter(creation.ones(self.normalized_shape, device=device))
        self.bias = Parameter(creation.zeros(self.normalized_shape, device=device))

    def forward(self, x: Array) -> Array:
        """Return x normalised."""
        return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class Dropout(Module):
    """While training, elements are zero with probability p, and others divided by 1 - p."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout: p must be in [0, 1], got {p}")
        self.p = p

    def forward(self, x: Array) -> Array:
        """Return x, with dropped elements in training."""
        return functional.dropout(x, self.p, self.training)

    def extra_repr(self) -> str:
        """Return the probability."""
        return f"p={self.p}"


class Flatten(Module):
    """The axes from start_dim to end_dim as one; by default all but the first."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Array) -> Array:
        """Return x with another shape."""
        return shapes.flatten(x, self.start_dim, self.end_dim)


class Identity(Module):
    """x itself, whatever it was made with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, x: Array) -> Any:
        """Return x."""
        return x


class _Activation(Module):
    """A function of each element. inplace: the result is written into x, RuntimeError if x is on the tape."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def function(self, x: Array) -> Any:
        """Return the function."""
        raise NotImplementedError(f"{type(self).__name__}: function must be defined, got none")

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        y = self.function(x)
        return convert.write_out(type(self).__name__, y, x) if self.inplace else y


class ReLU(_Activation):
    """max(x, 0). inplace: the result is written into x, RuntimeError if x is on the tape."""

    function = staticmethod(functional.relu)


class SiLU(_Activation):
    """x * sigmoid(x). inplace: the result is written into x, RuntimeError if x is on the tape."""

    function = staticmethod(functional.silu)


class LeakyReLU(_Activation):
    """x where it is positive, negative_slope * x elsewhere. inplace: as for `ReLU`.

    >>> from forerun import torch
    >>> LeakyReLU(0.5)(torch.tensor([-2.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def function(self, x: Array) -> Array:
        """Return the function."""
        return functional.leaky_relu(x, self.negative_slope)


class Sigmoid(Module):
    """1 / (1 + exp(-x)) of each element."""

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return functional.sigmoid(x)


class Tanh(Module):
    """The hyperbolic tangent of each element."""

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return functional.tanh(x)


class GELU(Module):
    """`functional.gelu` of each element. approximate: "none" or "tanh", ValueError for another word."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        convert.check_choice("GELU", "approximate", approximate, ("none", "tanh"))
        self.approximate = approximate

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return functional.gelu(x, self.approximate)


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta of each element, and x where beta * x is above the threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return functional.softplus(x, self.beta, self.threshold)


class Softmax(Module):
    """exp(x) divided by its sum along an axis."""

    function = staticmethod(functional.softmax)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Array) -> Array:
        """Return the function along the axis."""
        return self.function(x, self.dim)


class LogSoftmax(Softmax):
    """log(softmax(x)) along an axis."""

    function = staticmethod(functional.log_softmax)


class ModuleList(Module):
    """Modules in a list; their parameters belong to the owner."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> Any:
        """Put a module at the end; return self."""
        self.add_module(str(len(self._modules)), module)
        return self

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: int) -> Any:
        found = list(self._modules.values())[index]
        return type(self)(*found) if isinstance(index, slice) and isinstance(self, Sequential) else found


class Sequential(ModuleList):
    """Modules one after the other.

    >>> from forerun import torch
    >>> net = Sequential(Linear(4, 8), ReLU(), Linear(8, 1))
    >>> net(torch.ones(2, 4)).shape
    (2, 1)
    """

    def __init__(self, *modules: Any) -> None:
        named = modules[0] if len(modules) == 1 and isinstance(modules[0], dict) else None
        super().__init__(() if named is not None else modules)
        for name, module in (named or {}).items():
            self.add_module(name, module)

    def forward(self, x: Array) -> Any:
        """Return the last module's output."""
        for module in self:
            x = module(x)
        return x
