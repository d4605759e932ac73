"""A long short-term memory whose outputs are projected to fewer numbers than it has cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import npx
from ..parameter.parameter import Parameter
from .cell import Init, RecurrentCell
from .steps import check_states, rule_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array, DTypeLike

__all__ = ["LSTMPCell"]


class LSTMPCell(RecurrentCell):
    """One step of a long short-term memory whose output is projected, r = R h (Sak, Senior and Beaufays 2014).

    The states are r (batch, projections) and the cells (batch, units). The parameters are `i2h_weight` (4 * units,
    features), `h2h_weight` (4 * units, projections), `h2r_weight` (projections, units), `i2h_bias` and `h2h_bias`; rows
    but those of `h2r_weight` are of the input, forget, new and output gates.

    Parameters
    ----------
    hidden_size : int
        The number of units.
    projection_size : int
        The number of projections, which are the output.
    i2h_weight_initializer, h2h_weight_initializer, h2r_weight_initializer : str or Initializer, optional
        The initializers of the weights; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    input_size : int, optional
        The number of features of an input; 0 is inferred from the first data.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        If a size is not positive; when called, for states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = LSTMPCell(6, 2)
    >>> cell.initialize()
    >>> y, states = cell(np.ones((3, 4)), cell.begin_state(batch_size=3))
    >>> y.shape, [state.shape for state in states]
    ((3, 2), [(3, 2), (3, 6)])
    """

    def __init__(
        self, hidden_size: int, projection_size: int, i2h_weight_initializer: Init = None,
        h2h_weight_initializer: Init = None, h2r_weight_initializer: Init = None, i2h_bias_initializer: Init = "zeros",
        h2h_bias_initializer: Init = "zeros", input_size: int = 0, dtype: DTypeLike = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        if hidden_size < 1 or projection_size < 1:
            raise ValueError(f"LSTMPCell: sizes must be positive, got {hidden_size} units to {projection_size}")
        self._hidden_size, self._projection_size = hidden_size, projection_size
        self._step = rule_of("lstm")

        def new(name: str, shape: tuple[int, ...], init: Any) -> Parameter:
            return Parameter(name, "write", shape, dtype, init=init, allow_deferred_init=True)

        self.i2h_weight = new("i2h_weight", (4 * hidden_size, input_size), i2h_weight_initializer)
        self.h2h_weight = new("h2h_weight", (4 * hidden_size, projection_size), h2h_weight_initializer)
        self.h2r_weight = new("h2r_weight", (projection_size, hidden_size), h2r_weight_initializer)
        self.i2h_bias = new("i2h_bias", (4 * hidden_size,), i2h_bias_initializer)
        self.h2h_bias = new("h2h_bias", (4 * hidden_size,), h2h_bias_initializer)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of each state."""
        sizes = (self._projection_size, self._hidden_size)
        return [{"shape": (batch_size, size), "__layout__": "NC"} for size in sizes]

    def _take(self, x: Array) -> None:
        self.i2h_weight.shape = (4 * self._hidden_size, x.shape[-1])

    def forward(self, x: Array, states: Sequence[Array]) -> tuple[Any, list[Any]]:
        """Map x (batch, inputs) and the states before to the output (batch, projection) and the states after.

        Parameters
        ----------
        x : array
            The inputs of the step, shape (batch, features).
        states : list of arrays
            The states before the step.

        Returns
        -------
        tuple
            The output, and the states after the step.

        Raises
        ------
        ValueError
            For states of other shapes.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import rnn
        >>> cell = rnn.LSTMPCell(4, 3)
        >>> cell.initialize()
        >>> y, states = cell(np.ones((2, 4)), cell.begin_state(batch_size=2))
        >>> y.shape, [state.shape for state in states]
        ((2, 3), [(2, 3), (2, 4)])
        """
        before = check_states("LSTMPCell", states, [info["shape"] for info in self.state_info(x.shape[0])])
        at = x.device
        from_x = npx.fully_connected(x, self.i2h_weight.data(at), self.i2h_bias.data(at))
        from_r = npx.fully_connected(before[0], self.h2h_weight.data(at), self.h2h_bias.data(at))
        h, c = self._step(from_x, from_r, before)
        r = npx.fully_connected(h, self.h2r_weight.data(at), None, no_bias=True)
        return r, [r, c]

    def __repr__(self) -> str:
        width = (self.i2h_weight.shape or (-1, -1))[1]
        return f"LSTMPCell({width} -> {self._hidden_size} -> {self._projection_size})"
