"""Cells made of cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from ... import np, npx
from .cell import RecurrentCell, _as_steps, like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array, ArrayLike

__all__ = ["SequentialRNNCell", "HybridSequentialRNNCell", "DropoutCell", "ResidualCell", "BidirectionalCell"]


def _states_of(cells: list[Any], states: list[Any]) -> list[list[Any]]:
    """Return the states of each cell, of the states of all."""
    rest, parts = list(states), []
    for cell in cells:
        n = len(cell.state_info())
        parts.append(rest[:n])
        rest = rest[n:]
    return parts


class SequentialRNNCell(RecurrentCell):
    """Cells that run one after another in each step; the states are those of all cells, in order.

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        The parameters of another block to share, as for `Block`.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import rnn
    >>> cell = rnn.SequentialRNNCell()
    >>> cell.add(rnn.LSTMCell(4)); cell.add(rnn.GRUCell(2))
    >>> cell.initialize()
    >>> y, states = cell.unroll(5, np.ones((3, 5, 6)))
    >>> y.shape, [state.shape for state in states]
    ((3, 5, 2), [(3, 4), (3, 4), (3, 2)])
    """

    def add(self, *cells: RecurrentCell) -> None:
        """Append cells. TypeError for anything else."""
        for cell in cells:
            if not isinstance(cell, RecurrentCell):
                raise TypeError(f"{type(self).__name__}.add: must be a RecurrentCell, got {type(cell).__name__}")
            self.register_child(cell)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of each state."""
        return [info for cell in self for info in cell.state_info(batch_size)]

    def _take(self, x: Array) -> None:
        for cell in self:
            cell.infer_shape(0, x, False)
            x = like(cell._width(x.shape[-1]))

    def _width(self, before: int) -> int:
        for cell in self:
            before = cell._width(before)
        return before

    def forward(self, x: Array, states: list[Any]) -> tuple[Any, list[Any]]:
        """Apply all cells, one after the other, each with its states.

        Parameters
        ----------
        x : array
            The inputs of the step, shape (batch, features).
        states : list of arrays
            The states before the step.

        Returns
        -------
        tuple
            The output of the last cell, and the list of all states after the step.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import rnn
        >>> cell = rnn.SequentialRNNCell()
        >>> cell.add(rnn.RNNCell(4), rnn.GRUCell(3))
        >>> cell.initialize()
        >>> y, states = cell(np.ones((2, 4)), cell.begin_state(batch_size=2))
        >>> y.shape, [state.shape for state in states]
        ((2, 3), [(2, 4), (2, 3)])
        """
        after: list[Any] = []
        for cell, own in zip(self, _states_of(list(self), states)):
            x, new = cell(x, own)
            after += new
        return x, after

    def __iter__(self) -> Iterator[RecurrentCell]:
        cells: Iterator[Any] = iter(self._children.values())
        return cells

    def __getitem__(self, index: int) -> RecurrentCell:
        return list(self)[index]

    def __len__(self) -> int:
        return len(self._children)


HybridSequentialRNNCell = SequentialRNNCell


class DropoutCell(RecurrentCell):
    """A cell that drops elements of its input while training. It has no state.

    Parameters
    ----------
    rate : float
        The share of elements that are dropped.
    axes : tuple of int, optional
        Axes along which all elements are dropped or kept together.

    Examples
    --------
    >>> from forerun import np
    >>> cell = DropoutCell(0.5)
    >>> cell(np.ones((1, 2)), [])
    (array([[1., 1.]]), [])
    """

    def __init__(self, rate: float, axes: tuple[int, ...] = ()) -> None:
        super().__init__()
        self._rate, self._axes = rate, axes

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """None."""
        return []

    def forward(self, x: Array, states: Sequence[Array]) -> tuple[Any, list[Any]]:
        """Return x with elements dropped while training.

        Parameters
        ----------
        x : array
            The inputs of the step, shape (batch, features).
        states : list of arrays
            The states before the step.

        Returns
        -------
        tuple
            The output, and the states, which are those before: none.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import rnn
        >>> cell = rnn.DropoutCell(0.5)
        >>> cell.initialize()
        >>> y, states = cell(np.ones((2, 4)), cell.begin_state(batch_size=2))
        >>> y.shape, [state.shape for state in states]
        ((2, 4), [])
        """
        return npx.dropout(x, self._rate, self._axes), list(states)


class ResidualCell(RecurrentCell):
    """A cell whose output is added to its input (He et al. 2016).

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell; its outputs are as wide as its inputs.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import rnn
    >>> cell = ResidualCell(rnn.RNNCell(3, i2h_weight_initializer="zeros"))
    >>> cell.initialize()
    >>> cell(np.ones((1, 3)), cell.begin_state(batch_size=1))[0].tolist()
    [[1.0, 1.0, 1.0]]
    """

    def __init__(self, base_cell: RecurrentCell) -> None:
        super().__init__()
        self.base_cell = base_cell

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return the cell's."""
        return self.base_cell.state_info(batch_size)

    def _take(self, x: Array) -> None:
        self.base_cell.infer_shape(0, x, False)

    def _width(self, before: int) -> int:
        return self.base_cell._width(before)

    def forward(self, x: Array, states: Sequence[Array]) -> tuple[Any, list[Any]]:
        """Return x + the cell's output.

        Parameters
        ----------
        x : array
            The inputs of the step, shape (batch, features).
        states : list of arrays
            The states before the step.

        Returns
        -------
        tuple
            The output, and the states of the cell after the step.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import rnn
        >>> cell = rnn.ResidualCell(rnn.GRUCell(4))
        >>> cell.initialize()
        >>> y, states = cell(np.ones((2, 4)), cell.begin_state(batch_size=2))
        >>> y.shape, [state.shape for state in states]
        ((2, 4), [(2, 4)])
        """
        y, after = self.base_cell(x, states)
        return y + x, after


class BidirectionalCell(RecurrentCell):
    """Two cells, of which the second runs from the last step to the first.

    Their outputs are joined along the last axis. It has `unroll` only, since a single step does not know the later
    ones.

    Parameters
    ----------
    l_cell : RecurrentCell
        The cell from the first step to the last.
    r_cell : RecurrentCell
        The cell from the last step to the first.

    Raises
    ------
    NotImplementedError
        When called with a single step.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import rnn
    >>> cell = BidirectionalCell(rnn.GRUCell(4), rnn.GRUCell(4))
    >>> cell.initialize()
    >>> y, states = cell.unroll(5, np.ones((2, 5, 3)))
    >>> y.shape, len(states)
    ((2, 5, 8), 2)
    """

    def __init__(self, l_cell: RecurrentCell, r_cell: RecurrentCell) -> None:
        super().__init__()
        self.l_cell, self.r_cell = l_cell, r_cell

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return those of the first cell, then of the second."""
        return self.l_cell.state_info(batch_size) + self.r_cell.state_info(batch_size)

    def infer_shape(self, *args: ArrayLike) -> None:
        """As of other cells; those of a layer above see the outputs of both directions."""
        for cell in (self.l_cell, self.r_cell):
            cell.infer_shape(*args[:2], True) if isinstance(args[0], int) else cell.infer_shape(*args)

    def _width(self, before: int) -> int:
        return self.l_cell._width(before) + self.r_cell._width(before)

    def __call__(self, *args: Any) -> NoReturn:
        """NotImplementedError: one step does not know the later ones."""
        raise NotImplementedError("BidirectionalCell: must be called by unroll, got a single step")

    def unroll(
        self, length: int, inputs: Array | Sequence[Array], begin_state: list[Any] | None = None, layout: str = "NTC",
        merge_outputs: bool | None = None, valid_length: Array | None = None,
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        """Run both cells over a sequence, the second one from its end.

        With `valid_length` the second cell begins with the last step of each sequence.

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
        >>> from forerun.gluon import rnn
        >>> cell = rnn.BidirectionalCell(rnn.GRUCell(4), rnn.GRUCell(4))
        >>> cell.initialize()
        >>> y, states = cell.unroll(5, np.ones((2, 5, 3)))
        >>> y.shape, len(states)
        ((2, 5, 8), 2)
        """
        steps, axis = _as_steps(length, inputs, layout)
        merge = merge_outputs if merge_outputs is not None else not isinstance(inputs, (list, tuple))
        cells = [self.l_cell, self.r_cell]
        first, second = _states_of(cells, begin_state) if begin_state is not None else (None, None)
        left, after = self.l_cell.unroll(length, steps, first, layout, False, valid_length)
        backward = _reversed(steps, valid_length)
        right, after_too = self.r_cell.unroll(length, backward, second, layout, False, valid_length)
        outputs = [np.concatenate(pair, axis=-1) for pair in zip(left, _reversed(right, valid_length))]
        return (np.stack(outputs, axis=axis) if merge else outputs), after + after_too


def _reversed(steps: list[Any], valid_length: Array | None) -> list[Any]:
    """Return the steps in the opposite order, of each sequence those within its length."""
    if valid_length is None:
        return steps[::-1]
    return list(np.unstack(npx.sequence_reverse(np.stack(steps), valid_length, True)))
