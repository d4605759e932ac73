"""The fully connected layer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ... import npx
from ...init import Initializer
from ..block.hybrid import HybridBlock
from ..parameter.parameter import Parameter
from .function import Activation

if TYPE_CHECKING:
    from ...typing import Array, DTypeLike

__all__ = ["Dense"]


class Dense(HybridBlock):
    """A fully connected layer: x @ weight.T + bias, and an activation; weight (units, in_units), bias (units,).

    Parameters
    ----------
    units : int
        The number of outputs.
    activation : str, optional
        The name of a function on top, such as "relu".
    use_bias : bool, optional
        Whether a bias is added.
    flatten : bool, optional
        Whether axes after the first count as one; otherwise only the last axis of x is changed.
    dtype : dtype, optional
        The dtype of the parameters.
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.
    bias_initializer : str or Initializer, optional
        The initializer of the bias.
    in_units : int, optional
        The number of inputs; 0 is inferred from the first data.

    Raises
    ------
    ValueError
        If `units` is not positive.

    Examples
    --------
    >>> from forerun import np
    >>> layer = Dense(2, in_units=3, weight_initializer="ones")
    >>> layer.initialize()
    >>> layer(np.ones((1, 3))).tolist()
    [[3.0, 3.0]]
    """

    _automatic = True

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: DTypeLike = "float32",
        weight_initializer: str | Initializer | None = None,
        bias_initializer: str | Initializer | None = "zeros",
        in_units: int = 0,
    ) -> None:
        super().__init__()
        if units < 1:
            raise ValueError(f"Dense: units must be positive, got {units}")
        self._units = units
        self._flatten = flatten
        self.weight = Parameter(
            "weight", shape=(units, in_units), dtype=dtype, init=weight_initializer, allow_deferred_init=True
        )
        self.bias = Parameter("bias", shape=(units,), dtype=dtype, init=bias_initializer) if use_bias else None
        self.act = Activation(activation) if activation is not None else None

    def infer_shape(self, x: Array) -> None:
        """Take in_units from the data."""
        self.weight.shape = (self._units, math.prod(x.shape[1:]) if self._flatten else x.shape[-1])

    def forward(self, x: Array) -> Array:
        """Map x (batch, ...) to (batch, units), or without flatten (..., in_units) to (..., units)."""
        device = x.device
        weight = self.weight.data(device)
        bias = self.bias.data(device) if self.bias is not None else None
        try:
            y = npx.fully_connected(x, weight, bias, flatten=self._flatten)
        except ValueError:
            features = math.prod(x.shape[1:]) if self._flatten else x.shape[-1]
            if features == weight.shape[1]:
                raise
            message = f"Dense: the input must have in_units = {weight.shape[1]} features, got {features}"
            raise ValueError(f"{message}: shape {x.shape} for {self.name or 'a layer'}, {self!r}") from None
        return self.act(y) if self.act is not None else y

    def __repr__(self) -> str:
        shape = self.weight.shape or (self._units, -1)
        after = repr(self.act) if self.act is not None else "linear"
        return f"{type(self).__name__}({shape[1]} -> {shape[0]}, {after})"
