"""Cells around a cell that change its inputs and outputs during training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import np, npx
from .cell import RecurrentCell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array

__all__ = ["ModifierCell", "ZoneoutCell", "VariationalDropoutCell"]


class ModifierCell(RecurrentCell):
    """The base of cells around a cell, whose states it has. Subclasses define `forward`.

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import rnn
    >>> class Doubled(ModifierCell):
    ...     def forward(self, x, states):
    ...         y, after = self.base_cell(x, states)
    ...         return 2 * y, after
    >>> cell = Doubled(rnn.RNNCell(4))
    >>> cell.initialize()
    >>> cell.unroll(3, np.ones((2, 3, 5)))[0].shape
    (2, 3, 4)
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


def _share(name: str, **shares: float) -> None:
    for key, value in shares.items():
        if not 0 <= value < 1:
            raise ValueError(f"{name}: {key} must be in [0, 1), got {value}")


class ZoneoutCell(ModifierCell):
    """A cell that keeps some elements of outputs and states from the step before, while training (Krueger et al. 2016).

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell.
    zoneout_outputs : float, optional
        The probability with which an element of the output stays, in [0, 1).
    zoneout_states : float, optional
        The probability with which an element of a state stays, in [0, 1).

    Raises
    ------
    ValueError
        For probabilities outside of [0, 1).

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import rnn
    >>> cell = rnn.ZoneoutCell(rnn.LSTMCell(4), zoneout_states=0.5)
    >>> cell.initialize()
    >>> cell.unroll(3, np.ones((2, 3, 5)))[0].shape
    (2, 3, 4)
    """

    def __init__(self, base_cell: RecurrentCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        super().__init__(base_cell)
        _share("ZoneoutCell", zoneout_outputs=zoneout_outputs, zoneout_states=zoneout_states)
        self._of_outputs, self._of_states = zoneout_outputs, zoneout_states
        self._last: Any = None

    def reset(self) -> None:
        """Forget the last output."""
        super().reset()
        self._last = None

    def forward(self, x: Array, states: Sequence[Array]) -> tuple[Any, list[Any]]:
        """Return the cell's output and states, or elements of those before.

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

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import rnn
        >>> cell = rnn.ZoneoutCell(rnn.RNNCell(4), 0.5, 0.5)
        >>> cell.initialize()
        >>> y, states = cell(np.ones((2, 4)), cell.begin_state(batch_size=2))
        >>> y.shape, [state.shape for state in states]
        ((2, 4), [(2, 4)])
        """
        y, after = self.base_cell(x, states)
        before = self._last if self._last is not None else np.zeros_like(y)
        y = _mixed(self._of_outputs, y, before)
        self._last = y
        return y, [_mixed(self._of_states, new, old) for new, old in zip(after, states)]


def _mixed(p: float, new: Array, old: Array) -> Array:
    """New elements, but with probability p old ones."""
    return np.where(npx.dropout(np.ones_like(new), p) != 0, new, old) if p else new


class VariationalDropoutCell(ModifierCell):
    """A cell that drops the same elements in all steps, while training (Gal and Ghahramani 2015).

    The elements are drawn in the first step after `reset`, as at the beginning of `unroll`.

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell.
    drop_inputs : float, optional
        The share of elements of inputs that are dropped, in [0, 1).
    drop_states : float, optional
        The share of elements of the first state that are dropped, in [0, 1).
    drop_outputs : float, optional
        The share of elements of outputs that are dropped, in [0, 1).

    Raises
    ------
    ValueError
        For shares outside of [0, 1).

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import rnn
    >>> cell = rnn.VariationalDropoutCell(rnn.GRUCell(4), drop_inputs=0.5)
    >>> cell.initialize()
    >>> cell.unroll(3, np.ones((2, 3, 5)))[0].shape
    (2, 3, 4)
    """

    def __init__(
        self, base_cell: RecurrentCell, drop_inputs: float = 0.0, drop_states: float = 0.0, drop_outputs: float = 0.0
    ) -> None:  # fmt: skip
        super().__init__(base_cell)
        _share("VariationalDropoutCell", drop_inputs=drop_inputs, drop_states=drop_states, drop_outputs=drop_outputs)
        self._shares = {"inputs": drop_inputs, "states": drop_states, "outputs": drop_outputs}
        self._masks: dict[str, Any] = {}

    def reset(self) -> None:
        """Forget which elements are dropped."""
        super().reset()
        self._masks = {}

    def forward(self, x: Array, states: Sequence[Array]) -> tuple[Any, list[Any]]:
        """Return the cell's output and states, with elements dropped.

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

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import rnn
        >>> cell = rnn.VariationalDropoutCell(rnn.RNNCell(4), 0.5)
        >>> cell.initialize()
        >>> y, states = cell(np.ones((2, 4)), cell.begin_state(batch_size=2))
        >>> y.shape, [state.shape for state in states]
        ((2, 4), [(2, 4)])
        """
        first, *others = states
        y, after = self.base_cell(self._dropped("inputs", x), [self._dropped("states", first), *others])
        return self._dropped("outputs", y), after

    def _dropped(self, what: str, x: Array) -> Any:
        p = self._shares[what]
        if not p:
            return x
        if what not in self._masks:
            self._masks = {**self._masks, what: npx.dropout(np.ones_like(x), p)}
        return x * self._masks[what]
