"""The base of losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops._base.convert import asarrays
from ..block.hybrid import HybridBlock

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["Loss", "like"]


class Loss(HybridBlock):
    """The base class of losses: a constant weight, and the batch axis. Subclasses define `elements`.

    Parameters
    ----------
    weight : float, optional
        The factor of the losses; None for 1.
    batch_axis : int, optional
        The axis of examples.

    Raises
    ------
    ValueError
        When it is called, for shapes that do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> class Squares(Loss):
    ...     def elements(self, pred, label):
    ...         return (pred - label) ** 2
    >>> Squares(weight=0.5)(np.ones((2, 3)), np.zeros((2, 3))).tolist()
    [0.5, 0.5]
    """

    _automatic = True

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__()
        self._weight = 1.0 if weight is None else weight
        self._batch_axis = batch_axis

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the loss of each element, before weights and the mean. Subclasses define this.

        Parameters
        ----------
        pred, label : array
            The predictions and the labels.

        Returns
        -------
        array
            The losses, with the axis of examples.

        Raises
        ------
        NotImplementedError
            If the class does not define it.

        Examples
        --------
        >>> from forerun import gluon, np
        >>> gluon.loss.L1Loss().elements(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]])).tolist()
        [[2.0, 1.0]]
        """
        raise NotImplementedError(f"{type(self).__name__}: elements must be defined, got none")

    def forward(self, pred: Array, label: Array, sample_weight: Array | None = None) -> Array:
        """Return the loss of each example.

        Parameters
        ----------
        pred : array
            The predictions.
        label : array
            The labels.
        sample_weight : array, optional
            Factors of the losses, which broadcast to them.

        Returns
        -------
        array
            The mean loss of each example, shape (batch,).

        Raises
        ------
        ValueError
            If the shapes do not fit.

        Examples
        --------
        >>> from forerun import gluon, np
        >>> gluon.loss.L1Loss()(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]])).tolist()
        [1.5]
        """
        return self.averaged(self.elements(*asarrays(pred, label)), sample_weight)

    def averaged(self, loss: Array, sample_weight: Array | None = None) -> Array:
        """Return the losses of elements, weighted, as a mean for each example.

        Parameters
        ----------
        loss : array
            The losses of elements.
        sample_weight : array, optional
            Factors of the losses, which broadcast to them.

        Returns
        -------
        array
            The mean loss of each example, shape (batch,).

        Examples
        --------
        >>> from forerun import np
        >>> Loss(weight=2.0).averaged(np.array([[1.0, 3.0], [0.0, 2.0]])).tolist()
        [4.0, 2.0]
        """
        if sample_weight is not None:
            loss = loss * sample_weight
        batch = self._batch_axis % loss.ndim
        if loss.size != loss.shape[batch]:
            loss = loss.mean(axis=tuple(i for i in range(loss.ndim) if i != batch))
        elif loss.ndim > 1:
            loss = loss.reshape(-1)
        return loss if self._weight == 1 else loss * self._weight

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"


def like(name: str, label: Array, pred: Array) -> Array:
    """Return the label in pred's shape; ValueError if it has another number of elements."""
    if label.size != pred.size:
        raise ValueError(f"{name}: label must have as many elements as pred, got {label.shape} for {pred.shape}")
    return label if label.shape == pred.shape else label.reshape(pred.shape)
