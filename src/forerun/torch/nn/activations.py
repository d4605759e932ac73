"""Activations as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops._base import convert
from . import functional
from .module import Module

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["GELU", "LeakyReLU", "LogSoftmax", "ReLU", "Sigmoid", "SiLU", "Softmax", "Softplus", "Tanh"]


class _Activation(Module):
    """A function of each element. inplace: the result is written into x, RuntimeError if x is on the tape."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def _function(self, x: Array) -> Any:
        """Return the function."""
        raise NotImplementedError(f"{type(self).__name__}: _function must be defined, got none")

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        y = self._function(x)
        return convert.write_out(type(self).__name__, y, x) if self.inplace else y


class ReLU(_Activation):
    """`max(x, 0)` of each element.

    Parameters
    ----------
    inplace : bool, optional
        Whether the result is written into x; that is a RuntimeError if x is on the tape.

    Examples
    --------
    >>> from forerun import torch
    >>> ReLU()(torch.tensor([-2.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    _function = staticmethod(functional.relu)


class SiLU(_Activation):
    """`x * sigmoid(x)` of each element.

    Parameters
    ----------
    inplace : bool, optional
        Whether the result is written into x; that is a RuntimeError if x is on the tape.

    Examples
    --------
    >>> from forerun import torch
    >>> SiLU()(torch.tensor([0.0, 100.0])).tolist()
    [0.0, 100.0]
    """

    _function = staticmethod(functional.silu)


class LeakyReLU(_Activation):
    """`x` where it is positive, and `negative_slope * x` elsewhere.

    Parameters
    ----------
    negative_slope : float, optional
        The factor of negative elements.
    inplace : bool, optional
        Whether the result is written into x; that is a RuntimeError if x is on the tape.

    Examples
    --------
    >>> from forerun import torch
    >>> LeakyReLU(0.5)(torch.tensor([-2.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def _function(self, x: Array) -> Array:
        """Return the function."""
        return functional.leaky_relu(x, self.negative_slope)


class Sigmoid(Module):
    """`1 / (1 + exp(-x))` of each element.

    Examples
    --------
    >>> from forerun import torch
    >>> Sigmoid()(torch.tensor([0.0, 100.0])).tolist()
    [0.5, 1.0]
    """

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return functional.sigmoid(x)


class Tanh(Module):
    """The hyperbolic tangent of each element.

    Examples
    --------
    >>> from forerun import torch
    >>> Tanh()(torch.tensor([0.0, 100.0])).tolist()
    [0.0, 1.0]
    """

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return functional.tanh(x)


class GELU(Module):
    """`x * Phi(x)` of each element, where Phi is the distribution function of the normal distribution.

    Parameters
    ----------
    approximate : {"none", "tanh"}, optional
        Whether Phi is computed itself, or approximated with a hyperbolic tangent.

    Raises
    ------
    ValueError
        For another word.

    Examples
    --------
    >>> from forerun import torch
    >>> GELU()(torch.tensor([0.0, 10.0])).tolist()
    [0.0, 10.0]
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        convert.check_choice("GELU", "approximate", approximate, ("none", "tanh"))
        self.approximate = approximate

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return functional.gelu(x, self.approximate)


class Softplus(Module):
    """`log(1 + exp(beta * x)) / beta` of each element, and x where `beta * x` is above the threshold.

    Parameters
    ----------
    beta : float, optional
        The factor of x.
    threshold : float, optional
        Where the function is x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> Softplus()(torch.tensor([-1000.0, 100.0])).tolist()
    [0.0, 100.0]
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return functional.softplus(x, self.beta, self.threshold)


class Softmax(Module):
    """`exp(x)` divided by its sum along an axis.

    Parameters
    ----------
    dim : int, optional
        The axis.

    Examples
    --------
    >>> from forerun import torch
    >>> Softmax()(torch.zeros(1, 4)).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """

    _function = staticmethod(functional.softmax)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Array) -> Array:
        """Return the function along the axis."""
        return self._function(x, self.dim)


class LogSoftmax(Softmax):
    """`log(softmax(x))` along an axis, without overflow.

    Parameters
    ----------
    dim : int, optional
        The axis.

    Examples
    --------
    >>> from forerun import torch
    >>> LogSoftmax()(torch.zeros(1, 1)).tolist()
    [[0.0]]
    """

    _function = staticmethod(functional.log_softmax)
