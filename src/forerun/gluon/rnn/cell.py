"""Recurrent cells: one step, for loops that do something between steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import np, npx
from ...init import Initializer
from ..block.hybrid import HybridBlock
from ..parameter.parameter import Parameter
from .steps import GATES, STATES, Activation, check_states, rule_of

if TYPE_CHECKING:
    from ...typing import Array, DTypeLike

__all__ = ["RecurrentCell", "HybridRecurrentCell", "RNNCell", "LSTMCell", "GRUCell"]

Init = str | Initializer | None


class RecurrentCell(HybridBlock):
    """The base of recurrent cells, which compute one step.

    Subclasses define `state_info` and `forward(inputs, states)`. A cell called with inputs (batch, features) and a list
    of states returns the output and the list of states after the step. `begin_state` makes the first states, and
    `unroll` runs the steps of a sequence.

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        The parameters of another block to share, as for `Block`.

    Examples
    --------
    >>> from forerun import np
    >>> class Sum(RecurrentCell):
    ...     def state_info(self, batch_size=0):
    ...         return [{"shape": (batch_size, 1), "__layout__": "NC"}]
    ...     def forward(self, x, states):
    ...         return x + states[0], [x + states[0]]
    >>> y, states = Sum().unroll(3, np.ones((2, 3, 1)), merge_outputs=True)
    >>> y[0].tolist()
    [[1.0], [2.0], [3.0]]
    """

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of each state.

        Examples
        --------
        >>> LSTMCell(4).state_info(2)
        [{'shape': (2, 4), '__layout__': 'NC'}, {'shape': (2, 4), '__layout__': 'NC'}]
        """
        raise NotImplementedError(f"{type(self).__name__}: state_info must be defined, got none")

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] | None = None, **settings: Any) -> list[Any]:
        """Return the states before the first step.

        Parameters
        ----------
        batch_size : int, optional
            The number of examples.
        func : callable, optional
            Called for each state with its shape; `np.zeros` by default.
        **settings : object
            Passed on to `func`, such as `dtype` and `device`.

        Returns
        -------
        list
            The states.

        Examples
        --------
        >>> [state.shape for state in LSTMCell(4).begin_state(batch_size=2)]
        [(2, 4), (2, 4)]
        """
        return [(func or np.zeros)(info["shape"], **settings) for info in self.state_info(batch_size)]

    def infer_shape(self, *args: Any) -> None:
        """Take the width of inputs, as yet unknown, from data: `infer_shape(x, states)`.

        As in MXNet 2.0 also `infer_shape(layer, x, bidirectional)`: in layer 0 inputs are as wide as x, or its steps
        where it is a list; in others as wide as the cell's own outputs, twice as wide with `bidirectional`.

        >>> from forerun import np
        >>> cell = GRUCell(4)
        >>> cell.infer_shape(0, np.ones((2, 5, 3)), False)
        >>> cell.i2h_weight.shape
        (12, 3)
        """
        self._take(_seen(self, args))

    def _take(self, x: Array) -> None:
        """Take the width of inputs from a first one: a cell without weights has nothing to do."""

    def _width(self, before: int) -> int:
        """Return how wide outputs are, for inputs of some width."""
        return self.state_info()[0]["shape"][-1] if self.state_info() else before

    def reset(self) -> None:
        """Reset the state that a cell keeps between sequences: a cell without such state resets its inner cells.

        Examples
        --------
        >>> from forerun.gluon import rnn
        >>> cell = rnn.ZoneoutCell(rnn.RNNCell(4), 0.5)
        >>> cell.reset()
        """
        for child in self._children.values():
            if isinstance(child, RecurrentCell):
                child.reset()

    def unroll(
        self,
        length: int,
        inputs: Array | Sequence[Array],
        begin_state: list[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Array | None = None,
    ) -> tuple[Any, list[Any]]:
        """Run the steps of a sequence.

        Parameters
        ----------
        length : int
            The number of steps.
        inputs : array, or list of arrays
            The inputs as one array in the layout, or a list with an array (batch, ...) for each step.
        begin_state : list, optional
            The states before the first step; zeros by default.
        layout : {"NTC", "TNC"}, optional
            The order of the axes of examples, steps and features.
        merge_outputs : bool, optional
            Whether the outputs are one array or a list; by default they are as the inputs are.
        valid_length : array, optional
            The number of steps of each sequence, shape (batch,): later outputs are zero, and states are those after its
            last step.

        Returns
        -------
        tuple
            The outputs, and the list of states after the last step.

        Raises
        ------
        ValueError
            For another number of steps, or another layout.

        Examples
        --------
        >>> from forerun import np
        >>> cell = RNNCell(4)
        >>> cell.initialize()
        >>> y, states = cell.unroll(5, np.ones((2, 5, 3)))
        >>> y.shape, states[0].shape
        ((2, 5, 4), (2, 4))
        """
        steps, axis = _as_steps(length, inputs, layout)
        merge = merge_outputs if merge_outputs is not None else not isinstance(inputs, (list, tuple))
        self.reset()
        first = steps[0]
        states = begin_state
        if states is None:
            states = self.begin_state(first.shape[0], dtype=first.dtype, device=first.device)
        outputs = []
        for t, x in enumerate(steps):
            y, new = self(x, states)
            if valid_length is not None:
                y, new = _valid(t < valid_length, y, new, states)
            states = new
            outputs.append(y)
        return (np.stack(outputs, axis=axis) if merge else outputs), states


def _seen(cell: RecurrentCell, args: Sequence[Any]) -> Any:
    """Return the array whose last extent is the width of a cell's inputs."""
    if not isinstance(args[0], int):
        return args[0]
    layer, x, bidirectional = args
    if layer:
        return like(cell._width(0) * (2 if bidirectional else 1))
    return x[0] if isinstance(x, (list, tuple)) else x


def like(width: int) -> Array:
    """Return an array as wide as inputs are."""
    return np.zeros((1, width))


def _as_steps(length: int, inputs: Array | Sequence[Array], layout: str) -> tuple[list[Any], int]:
    if layout[:2] not in ("NT", "TN"):
        raise ValueError(f'unroll: layout must be "NTC" or "TNC" (or begin so), got {layout!r}')
    axis = layout.index("T")
    steps: Any = inputs
    if not isinstance(steps, (list, tuple)):
        steps = np.unstack(steps, axis=axis)
    n = len(steps)
    if n != length or length < 1:
        raise ValueError(f"unroll: inputs must have {length} steps, at least 1, got {n}")
    return list(steps), axis


def _valid(inside: Array, y: Array, new: list[Any], states: list[Any]) -> tuple[Any, list[Any]]:
    """Output zero and the states before, where a sequence is over."""

    def column(x: np.ndarray) -> np.ndarray:
        shaped: np.ndarray = inside.reshape((-1,) + (1,) * (x.ndim - 1))
        return shaped

    return np.where(column(y), y, 0), [np.where(column(a), a, b) for a, b in zip(new, states)]


HybridRecurrentCell = RecurrentCell


class _Cell(RecurrentCell):
    """A cell with weights; see `RNNCell`."""

    mode = "rnn"

    _automatic = True

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Init = None,
        h2h_weight_initializer: Init = None,
        i2h_bias_initializer: Init = "zeros",
        h2h_bias_initializer: Init = "zeros",
        input_size: int = 0,
        dtype: DTypeLike = "float32",
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
    ) -> None:
        super().__init__()
        if hidden_size < 1:
            raise ValueError(f"{type(self).__name__}: hidden_size must be positive, got {hidden_size}")
        self._hidden_size = hidden_size
        self._step = rule_of(self.mode, activation, recurrent_activation)
        rows = GATES[self.mode] * hidden_size

        def new(name: str, shape: tuple[int, ...], init: Any) -> Parameter:
            return Parameter(name, "write", shape, dtype, init=init, allow_deferred_init=True)

        self.i2h_weight = new("i2h_weight", (rows, input_size), i2h_weight_initializer)
        self.h2h_weight = new("h2h_weight", (rows, hidden_size), h2h_weight_initializer)
        self.i2h_bias = new("i2h_bias", (rows,), i2h_bias_initializer)
        self.h2h_bias = new("h2h_bias", (rows,), h2h_bias_initializer)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of each state."""
        info = {"shape": (batch_size, self._hidden_size), "__layout__": "NC"}
        return [dict(info) for _ in range(STATES[self.mode])]

    def _take(self, x: Array) -> None:
        self.i2h_weight.shape = (GATES[self.mode] * self._hidden_size, x.shape[-1])

    def forward(self, x: Array, states: Sequence[Array]) -> tuple[Any, list[Any]]:
        """Map x (batch, inputs) and the states before to the output (batch, units) and the states after."""
        name, shapes = type(self).__name__, [info["shape"] for info in self.state_info(x.shape[0])]
        before = check_states(name, states, shapes)
        at = x.device
        from_x = npx.fully_connected(x, self.i2h_weight.data(at), self.i2h_bias.data(at))
        from_h = npx.fully_connected(before[0], self.h2h_weight.data(at), self.h2h_bias.data(at))
        after = self._step(from_x, from_h, before)
        return after[0], after

    def __repr__(self) -> str:
        return f"{type(self).__name__}({(self.i2h_weight.shape or (-1, -1))[1]} -> {self._hidden_size})"


class RNNCell(_Cell):
    """One step of Elman's recurrence: activation(W x + b + U h + c).

    The output, (batch, units), is the state, too. The parameters are `i2h_weight` (units, features), `h2h_weight`
    (units, units), `i2h_bias` and `h2h_bias` (units,).

    Parameters
    ----------
    hidden_size : int
        The number of units.
    activation : str or callable, optional
        The activation: a name of `npx.activation`, or a function.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    input_size : int, optional
        The number of features of an input; 0 is inferred from the first data.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        If `hidden_size` is not positive; when called, for states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = RNNCell(4)
    >>> cell.initialize()
    >>> y, states = cell(np.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> y.shape, len(states)
    ((2, 4), 1)
    """

    def __init__(
        self, hidden_size: int, activation: Activation = "tanh", i2h_weight_initializer: Init = None,
        h2h_weight_initializer: Init = None, i2h_bias_initializer: Init = "zeros",
        h2h_bias_initializer: Init = "zeros", input_size: int = 0, dtype: DTypeLike = "float32",
    ) -> None:  # fmt: skip
        super().__init__(
            hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
            input_size, dtype, activation,
        )  # fmt: skip


class LSTMCell(_Cell):
    """One step of a long short-term memory.

    The states are the output and the cells, (batch, units) each. The parameters are those of `RNNCell`, with four times
    as many rows: of the input, forget, new and output gates.

    Parameters
    ----------
    hidden_size : int
        The number of units.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    input_size : int, optional
        The number of features of an input; 0 is inferred from the first data.
    dtype : dtype, optional
        The dtype of the parameters.
    activation : str or callable, optional
        The activation of the new values and of the output: a name of `npx.activation`, or a function.
    recurrent_activation : str or callable, optional
        The activation of the gates, likewise.

    Raises
    ------
    ValueError
        If `hidden_size` is not positive; when called, for states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = LSTMCell(4)
    >>> cell.initialize()
    >>> y, (h, c) = cell(np.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> y.shape, c.shape, cell.i2h_weight.shape
    ((2, 4), (2, 4), (16, 3))
    """

    mode = "lstm"


class GRUCell(_Cell):
    """One step of a gated recurrent unit.

    The output, (batch, units), is the state, too. The parameters are those of `RNNCell`, with three times as many rows:
    of the reset, update and new gates.

    Parameters
    ----------
    hidden_size : int
        The number of units.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    input_size : int, optional
        The number of features of an input; 0 is inferred from the first data.
    dtype : dtype, optional
        The dtype of the parameters.
    activation : str or callable, optional
        The activation of the new values: a name of `npx.activation`, or a function.
    recurrent_activation : str or callable, optional
        The activation of the gates, likewise.

    Raises
    ------
    ValueError
        If `hidden_size` is not positive; when called, for states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = GRUCell(4)
    >>> cell.initialize()
    >>> y, states = cell.unroll(5, np.ones((2, 5, 3)))
    >>> y.shape, cell.i2h_weight.shape
    ((2, 5, 4), (12, 3))
    """

    mode = "gru"
