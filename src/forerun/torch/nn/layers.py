"""Layers with parameters, some without, and containers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from ..._capture.core import capture_paused
from .. import creation, shapes
from ..places import Where
from . import functional
from .module import Module, Parameter

if TYPE_CHECKING:
    from ...typing import Array, DTypeLike

__all__ = [
    "Linear",
    "LazyLinear",
    "Embedding",
    "LayerNorm",
    "Dropout",
    "Flatten",
    "Identity",
    "Sequential",
    "ModuleList",
]


class Linear(Module):
    """`x @ weight.T + bias`: inputs (..., in_features) become outputs (..., out_features).

    `weight` is (out_features, in_features) and `bias` (out_features,); both start uniformly distributed in
    +-1 / sqrt(in_features).

    Parameters
    ----------
    in_features : int
        The number of inputs.
    out_features : int
        The number of outputs.
    bias : bool, optional
        Whether a bias is added.
    device : device or str, optional
        Where the parameters are; the current device by default.
    dtype : dtype, optional
        The dtype of the parameters; the default float dtype otherwise.

    Examples
    --------
    >>> from forerun import torch
    >>> layer = Linear(3, 2)
    >>> layer(torch.ones(4, 3)).shape
    (4, 2)
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
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
    """A `Linear` whose number of inputs is that of the first data; before that it has no parameters.

    Parameters
    ----------
    out_features : int
        The number of outputs.
    bias : bool, optional
        Whether a bias is added.
    device : device or str, optional
        Where the parameters are; the device of the first data by default.
    dtype : dtype, optional
        The dtype of the parameters; the default float dtype otherwise.

    Examples
    --------
    >>> from forerun import torch
    >>> layer = LazyLinear(2)
    >>> layer(torch.ones(4, 3)).shape, layer.in_features
    ((4, 2), 3)
    """

    def __init__(self, out_features: int, bias: bool = True, device: Where = None, dtype: DTypeLike = None) -> None:
        Module.__init__(self)
        self.in_features, self.out_features = 0, out_features
        self._settings = (bias, device, dtype)
        self.weight = self.bias = None

    def forward(self, x: Array) -> Array:
        """Return the affine map of the last axis."""
        if self.weight is None:
            capture_paused(lambda: self._make_for(x))
        return super().forward(x)

    def _make_for(self, x: Array) -> None:
        self.in_features = x.shape[-1]
        bias, device, dtype = self._settings
        self._make(bias, x.device if device is None else device, dtype)


class Embedding(Module):
    """Rows of a matrix by their numbers: positions (...) become rows (..., embedding_dim).

    `weight` is (num_embeddings, embedding_dim) and starts normally distributed.

    Parameters
    ----------
    num_embeddings : int
        The number of rows.
    embedding_dim : int
        The length of a row.
    device : device or str, optional
        Where the parameters are; the current device by default.

    Examples
    --------
    >>> from forerun import torch
    >>> layer = Embedding(10, 4)
    >>> layer(torch.tensor([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, *, device: Where = None) -> None:
        super().__init__()
        self.weight = Parameter(creation.randn(num_embeddings, embedding_dim, device=device))

    def forward(self, index: Array) -> Array:
        """Return the rows: index (...) to (..., embedding_dim)."""
        return functional.embedding(index, self.weight)


class LayerNorm(Module):
    """Data with mean 0 and variance 1 over the last axes; then times `weight`, plus `bias`.

    Both have the shape of these axes; they start as ones and zeros.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The extents of the last axes.
    eps : float, optional
        Added to the variance.
    device : device or str, optional
        Where the parameters are; the current device by default.

    Examples
    --------
    >>> from forerun import torch
    >>> LayerNorm(2)(torch.tensor([[1.0, 3.0]])).round(decimals=3).tolist()
    [[-1.0, 1.0]]
    """

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
    """Zero for some elements of x at random, and the others divided by 1 - p, while training; otherwise x.

    Parameters
    ----------
    p : float, optional
        The probability with which an element becomes zero, in [0, 1].

    Raises
    ------
    ValueError
        For a probability outside of [0, 1].

    Examples
    --------
    >>> from forerun import torch
    >>> layer = Dropout(0.5)
    >>> set(layer(torch.ones(100)).tolist()) == {0.0, 2.0}
    True
    >>> layer.eval()(torch.ones(2)).tolist()
    [1.0, 1.0]
    """

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
    """Data with some axes as one; by default with all but the first.

    Parameters
    ----------
    start_dim : int, optional
        The first of these axes.
    end_dim : int, optional
        The last of these axes.

    Examples
    --------
    >>> from forerun import torch
    >>> Flatten()(torch.ones(2, 3, 4)).shape
    (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Array) -> Array:
        """Return x with another shape."""
        return shapes.flatten(x, self.start_dim, self.end_dim)


class Identity(Module):
    """Data unchanged, for any arguments of the constructor.

    Parameters
    ----------
    *args : optional
        Anything; it has no effect.
    **kwargs : optional
        Likewise.

    Examples
    --------
    >>> from forerun import torch
    >>> Identity(54, unused=True)(torch.ones(2)).tolist()
    [1.0, 1.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, x: Array) -> Array:
        """Return x."""
        return x


class ModuleList(Module):
    """Modules in a list: their parameters belong to the module that has the list.

    Parameters
    ----------
    modules : iterable of Module, optional
        The modules.

    Examples
    --------
    >>> from forerun import torch
    >>> layers = ModuleList(Linear(4, 4) for _ in range(2))
    >>> len(layers), layers[0], len(list(layers.parameters()))
    (2, Linear(in_features=4, out_features=4, bias=True), 4)
    """

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> Self:
        """Put a module at the end; return self.

        Examples
        --------
        >>> len(ModuleList().append(Linear(2, 1)))
        1
        """
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
    """Modules that run one after another: each gets the output of the one before.

    Parameters
    ----------
    *modules : Module
        The modules; or one dict of modules by name.

    Examples
    --------
    >>> from forerun import torch
    >>> net = Sequential(Linear(4, 8), torch.nn.ReLU(), Linear(8, 1))
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
