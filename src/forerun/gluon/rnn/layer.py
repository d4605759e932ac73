"""Recurrent layers: all steps of a sequence, in several layers, in one direction or both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ... import np, npx
from ...init import Initializer
from ..block.hybrid import HybridBlock
from ..parameter.parameter import Parameter
from .sequence import projected, run
from .steps import GATES, STATES, check_states, rule_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array, DTypeLike

__all__ = ["RNN", "LSTM", "GRU"]

Init = str | Initializer | None


# MXNet's settings that are not there, and the values that ask for nothing.
_ABSENT = {
    "state_clip_min": None, "state_clip_max": None, "state_clip_nan": False, "use_sequence_length": False,
    "prefix": None, "params": None,
}  # fmt: skip


class _Layer(HybridBlock):
    """The base of recurrent layers; see `RNN`."""

    mode = "rnn"

    _automatic = True

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Init = None,
        h2h_weight_initializer: Init = None,
        i2h_bias_initializer: Init = "zeros",
        h2h_bias_initializer: Init = "zeros",
        projection_size: int | None = None,
        h2r_weight_initializer: Init = None,
        dtype: DTypeLike = "float32",
        activation: str = "tanh",
        **settings: Any,
    ) -> None:
        super().__init__()
        self._check_sizes(layout, hidden_size, num_layers, dropout, projection_size)
        self._check_settings(activation, settings)
        self._hidden_size, self._num_layers, self._input_size = hidden_size, num_layers, input_size
        self._layout, self._dropout, self._dir = layout, dropout, 1 + bidirectional
        self._projection_size = projection_size
        width_out = self._width_out = projection_size or hidden_size
        self._activation = activation
        rows = GATES[self.mode] * hidden_size
        for prefix, width in self._places(input_size):
            for kind, shape, init in (
                ("i2h_weight", (rows, width), i2h_weight_initializer),
                ("h2h_weight", (rows, width_out), h2h_weight_initializer),
                ("i2h_bias", (rows,), i2h_bias_initializer),
                ("h2h_bias", (rows,), h2h_bias_initializer),
                ("h2r_weight", (projection_size or 0, hidden_size), h2r_weight_initializer),
            ):
                if kind == "h2r_weight" and projection_size is None:
                    continue
                full = f"{prefix}_{kind}"
                setattr(self, full, Parameter(full, "write", shape, dtype, init=init, allow_deferred_init=True))

    def _check_sizes(
        self, layout: str, hidden_size: int, num_layers: int, dropout: float, projection_size: int | None
    ) -> None:
        name = type(self).__name__
        if layout not in ("TNC", "NTC"):
            raise ValueError(f'{name}: layout must be "TNC" or "NTC", got {layout!r}')
        if hidden_size < 1 or num_layers < 1:
            raise ValueError(f"{name}: sizes must be positive, got {hidden_size} units in {num_layers} layers")
        if not 0 <= dropout < 1:
            raise ValueError(f"{name}: dropout must be in [0, 1), got {dropout}")
        if projection_size is not None and (self.mode != "lstm" or projection_size < 1):
            raise ValueError(f"{name}: projection_size must be positive, and of an LSTM, got {projection_size}")

    def _check_settings(self, activation: str, settings: dict[str, Any]) -> None:
        name = type(self).__name__
        if self.mode != "rnn" and activation != "tanh":
            raise ValueError(f'{name}: activation must be "tanh" (cells take others), got {activation!r}')
        if unknown := sorted(set(settings) - set(_ABSENT)):
            raise TypeError(f"{name}: settings must be among those documented, got {', '.join(unknown)}")
        if given := {key: value for key, value in settings.items() if value is not _ABSENT[key]}:
            raise NotImplementedError(f"{name}: settings must be among those documented, got {given}")
        rule_of(self.mode, activation)  # raises an error for one that is unknown

    def _places(self, input_size: int) -> Iterator[tuple[str, int]]:
        """Yield the prefix of the parameters of each layer and direction, and the width of its input."""
        for k in range(self._num_layers):
            for direction in "lr"[: self._dir]:
                yield f"{direction}{k}", self._width_out * self._dir if k else input_size

    def infer_shape(self, x: Array, *states: Array | Sequence[Array]) -> None:
        """Take input_size from the data."""
        self._check(x)
        for prefix, width in self._places(x.shape[2]):
            getattr(self, f"{prefix}_i2h_weight").shape = (GATES[self.mode] * self._hidden_size, width)

    def _check(self, x: Array) -> None:
        if x.ndim != 3:
            name = type(self).__name__
            raise ValueError(f"{name}: input must have 3 axes ({self._layout}), got shape {x.shape}")

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of each state."""
        widths = (self._width_out, self._hidden_size)[: STATES[self.mode]]
        n = self._num_layers * self._dir
        return [{"shape": (n, batch_size, width), "__layout__": "LNC"} for width in widths]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] | None = None, **settings: Any) -> list[Any]:
        """Return the states before the first step: `func(shape, **settings)` of each, by default zeros.

        settings: such as dtype, and device or ctx.
        """
        return [(func or np.zeros)(info["shape"], **settings) for info in self.state_info(batch_size)]

    def forward(self, x: Array, states: Sequence[Array] | None = None) -> Any:
        """Outputs in x's layout, (steps, batch, units * directions) in TNC; with the states after it if any were given.

        x has 3 axes, ValueError for others. states: a list of arrays (layers * directions, batch, units), one for
        RNN and GRU, two for LSTM (the outputs' and the cells'); ValueError for others. Without, they are zeros.
        """
        self._check(x)
        x = x.swapaxes(0, 1) if self._layout == "NTC" else x
        before = None
        if states is not None:
            before = check_states(type(self).__name__, states, [i["shape"] for i in self.state_info(x.shape[1])])
        y, after = self._layers(x, before)
        y = y.swapaxes(0, 1) if self._layout == "NTC" else y
        return y if states is None else (y, after)

    def _layers(self, x: Array, before: list[Any] | None) -> tuple[Any, list[Any]]:
        after: list[list[Any]] = []
        for k in range(self._num_layers):
            if k and self._dropout:
                x = npx.dropout(x, self._dropout)
            outputs = []
            for d in range(self._dir):
                of = k * self._dir + d
                y, last = self._run(x, before and [state[of] for state in before], f"{'lr'[d]}{k}", d == 1)
                outputs.append(y)
                after.append(last)
            x = outputs[0] if len(outputs) == 1 else np.concatenate(outputs, axis=-1)
        return x, [np.stack(parts) for parts in zip(*after)]

    def _run(self, x: Array, states: list[Any] | None, prefix: str, backward: bool) -> tuple[Any, list[Any]]:
        """Return one layer in one direction: the inputs' terms of the gates are one product for all steps."""
        wx, wh, bx, bh = (
            getattr(self, f"{prefix}_{kind}").data(x.device)
            for kind in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
        )
        together = self.mode != "gru"  # in a GRU, the part of the state has a factor of its own
        gates = npx.fully_connected(x, wx, bx, no_bias=together, flatten=False)
        if self._projection_size is not None:
            return projected(backward, gates, states, wh, bx + bh, getattr(self, f"{prefix}_h2r_weight").data(x.device))
        return run(self.mode, self._activation, backward, gates, states, wh, bx + bh if together else bh)

    def __repr__(self) -> str:
        width = self._input_size or None
        return f"{type(self).__name__}({width} -> {self._hidden_size}, {self._layout}, num_layers={self._num_layers})"


class RNN(_Layer):
    """Elman's recurrence, h = activation(W x + b + U h + c), over a sequence, in layers.

    Inputs (steps, batch, features) become outputs (steps, batch, units * directions), or the first two axes change
    places in the layout "NTC". A call without states begins with zeros and returns the outputs; with a list of states,
    each (layers * directions, batch, units), it returns the outputs and the states after the last step.

    The parameters are "l0_i2h_weight" (units, features), "l0_h2h_weight" (units, units), "l0_i2h_bias" and
    "l0_h2h_bias" (units,), then those of layer 1; "r0_..." and so on are of the other direction.

    Parameters
    ----------
    hidden_size : int
        The number of units of each layer.
    num_layers : int, optional
        The number of layers: each reads the outputs of the one before.
    activation : str, optional
        The activation: "relu", "tanh", or another name of `npx.activation`.
    layout : {"TNC", "NTC"}, optional
        The order of the axes of inputs and outputs: steps T, batch N, features C.
    dropout : float, optional
        The share of the outputs of each layer but the last that are dropped while training, in [0, 1).
    bidirectional : bool, optional
        Whether a second recurrence runs from the last step to the first; its outputs follow the others' on the last
        axis.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    input_size : int, optional
        The number of features of an input; 0 is inferred from the first data.
    dtype : dtype, optional
        The dtype of the parameters.
    **settings : optional
        Other settings of MXNet's, such as `use_sequence_length`, with the values that change nothing.

    Raises
    ------
    ValueError
        For another layout or activation, a size that is not positive, a dropout outside of [0, 1);
        when called, for inputs without 3 axes and states of other shapes.
    NotImplementedError
        For other values of MXNet's other settings.
    TypeError
        For settings that MXNet does not have.

    Examples
    --------
    >>> from forerun import np
    >>> layer = RNN(4)
    >>> layer.initialize()
    >>> layer(np.ones((5, 2, 3))).shape
    (5, 2, 4)
    >>> y, (h,) = layer(np.ones((5, 2, 3)), layer.begin_state(batch_size=2))
    >>> h.shape
    (1, 2, 4)
    """

    def __init__(
        self, hidden_size: int, num_layers: int = 1, activation: str = "relu", layout: str = "TNC", dropout: float = 0,
        bidirectional: bool = False, i2h_weight_initializer: Init = None, h2h_weight_initializer: Init = None,
        i2h_bias_initializer: Init = "zeros", h2h_bias_initializer: Init = "zeros", input_size: int = 0,
        dtype: DTypeLike = "float32", **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, dtype=dtype, activation=activation,
            **settings,
        )  # fmt: skip


class LSTM(_Layer):
    """Long short-term memory over a sequence, in layers.

    Inputs, outputs and parameters are those of `RNN`, with four times as many rows of weights and biases: of the input,
    forget, new and output gates. There are two states: the outputs (layers * directions, batch, units or projections)
    and the cells (layers * directions, batch, units).

    With `projection_size` the outputs are projected to as many numbers by "l0_h2r_weight" (projections, units), and
    "l0_h2h_weight" is (4 * units, projections). Such a layer runs step by step; see `LSTMPCell`.

    Parameters
    ----------
    hidden_size : int
        The number of units of each layer.
    num_layers : int, optional
        The number of layers: each reads the outputs of the one before.
    layout : {"TNC", "NTC"}, optional
        The order of the axes of inputs and outputs: steps T, batch N, features C.
    dropout : float, optional
        The share of the outputs of each layer but the last that are dropped while training, in [0, 1).
    bidirectional : bool, optional
        Whether a second recurrence runs from the last step to the first; its outputs follow the others' on the last
        axis.
    input_size : int, optional
        The number of features of an input; 0 is inferred from the first data.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    projection_size : int, optional
        The number of projections, which are the outputs; None for outputs that are not projected.
    h2r_weight_initializer : str or Initializer, optional
        The initializer of the weights of projections; None for that of the network.
    dtype : dtype, optional
        The dtype of the parameters.
    activation : str, optional
        "tanh"; the cells take others.
    **settings : optional
        Other settings of MXNet's, such as `use_sequence_length`, with the values that change nothing.

    Raises
    ------
    ValueError
        For another layout or activation, a size that is not positive, a dropout outside of [0, 1);
        when called, for inputs without 3 axes and states of other shapes.
    NotImplementedError
        For other values of MXNet's other settings.
    TypeError
        For settings that MXNet does not have.

    Examples
    --------
    >>> from forerun import np
    >>> layer = LSTM(4, num_layers=2, bidirectional=True)
    >>> layer.initialize()
    >>> y, (h, c) = layer(np.ones((5, 2, 3)), layer.begin_state(batch_size=2))
    >>> y.shape, h.shape, c.shape
    ((5, 2, 8), (4, 2, 4), (4, 2, 4))
    """

    mode = "lstm"


class GRU(_Layer):
    """Gated recurrent units over a sequence, in layers.

    Inputs, outputs, states and parameters are those of `RNN`, with three times as many rows of weights and biases: of
    the reset, update and new gates.

    Parameters
    ----------
    hidden_size : int
        The number of units of each layer.
    num_layers : int, optional
        The number of layers: each reads the outputs of the one before.
    layout : {"TNC", "NTC"}, optional
        The order of the axes of inputs and outputs: steps T, batch N, features C.
    dropout : float, optional
        The share of the outputs of each layer but the last that are dropped while training, in [0, 1).
    bidirectional : bool, optional
        Whether a second recurrence runs from the last step to the first; its outputs follow the others' on the last
        axis.
    input_size : int, optional
        The number of features of an input; 0 is inferred from the first data.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    projection_size : int, optional
        None: only an `LSTM` has projections.
    h2r_weight_initializer : str or Initializer, optional
        Of an `LSTM`; it has no effect.
    dtype : dtype, optional
        The dtype of the parameters.
    activation : str, optional
        "tanh"; the cells take others.
    **settings : optional
        Other settings of MXNet's, such as `use_sequence_length`, with the values that change nothing.

    Raises
    ------
    ValueError
        For another layout or activation, a size that is not positive, a dropout outside of [0, 1);
        when called, for inputs without 3 axes and states of other shapes.
    NotImplementedError
        For other values of MXNet's other settings.
    TypeError
        For settings that MXNet does not have.

    Examples
    --------
    >>> from forerun import np
    >>> layer = GRU(4, layout="NTC")
    >>> layer.initialize()
    >>> layer(np.ones((2, 5, 3))).shape
    (2, 5, 4)
    """

    mode = "gru"
