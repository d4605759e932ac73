"""The layer that looks rows up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import npx
from ...init import Initializer
from ..block.hybrid import HybridBlock
from ..parameter.parameter import Parameter

if TYPE_CHECKING:
    from ...typing import Array, DTypeLike

__all__ = ["Embedding"]


class Embedding(HybridBlock):
    """Rows of weight (input_dim, output_dim) at the given positions, which are integers or floats without a fraction.

    Parameters
    ----------
    input_dim : int
        The number of rows.
    output_dim : int
        The extent of a row.
    dtype : dtype, optional
        The dtype of the weight.
    weight_initializer : str or Initializer, optional
        The initializer of the weight; None for that of the network.

    Raises
    ------
    ValueError
        If an extent is not positive.
    IndexError
        Where the result is read, for positions out of range.

    Examples
    --------
    >>> from forerun import np
    >>> layer = Embedding(10, 4)
    >>> layer.initialize()
    >>> layer(np.array([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: DTypeLike = "float32",
        weight_initializer: str | Initializer | None = None,
    ) -> None:
        super().__init__()
        if input_dim < 1 or output_dim < 1:
            raise ValueError(f"Embedding: extents must be positive, got {(input_dim, output_dim)}")
        self.weight = Parameter("weight", shape=(input_dim, output_dim), dtype=dtype, init=weight_initializer)

    def forward(self, x: Array) -> Array:
        """Map positions (...) to rows (..., output_dim)."""
        return npx.embedding(x, self.weight.data(x.device))

    def __repr__(self) -> str:
        rows, width = self.weight.shape or (-1, -1)
        return f"Embedding({rows} -> {width}, {self.weight.dtype})"
