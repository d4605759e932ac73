"""Losses of two classes by the margin between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import np, npx
from .base import Loss, like

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["HingeLoss", "LogisticLoss", "SquaredHingeLoss"]


class HingeLoss(Loss):
    """The hinge loss: max(0, margin - pred * label), for labels -1 and 1.

    Parameters
    ----------
    margin : float, optional
        The margin.
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
    >>> HingeLoss()(np.array([[0.5], [2.0]]), np.array([1.0, -1.0])).tolist()
    [0.5, 3.0]
    """

    def __init__(self, margin: float = 1.0, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the hinge loss of each element.

        Parameters
        ----------
        pred : array
            The predictions.
        label : array
            The labels, with as many elements.

        Returns
        -------
        array
            The loss of each element, in the shape of `pred`.

        Raises
        ------
        ValueError
            If the numbers of elements differ.

        Examples
        --------
        >>> from forerun import np
        >>> print(np.round(HingeLoss().elements(np.array([0.5, -2.0]), np.array([1.0, 1.0])), 3))
        [0.5 3. ]
        """
        return npx.relu(self._margin - pred * like("HingeLoss", label, pred))


class SquaredHingeLoss(HingeLoss):
    """The squared hinge loss: max(0, margin - pred * label)**2, for labels -1 and 1.

    Parameters
    ----------
    margin : float, optional
        The margin.
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
    >>> SquaredHingeLoss()(np.array([[0.5], [2.0]]), np.array([1.0, -1.0])).tolist()
    [0.25, 9.0]
    """

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the square of the hinge loss of each element.

        Parameters
        ----------
        pred : array
            The predictions.
        label : array
            The labels, with as many elements.

        Returns
        -------
        array
            The loss of each element, in the shape of `pred`.

        Raises
        ------
        ValueError
            If the numbers of elements differ.

        Examples
        --------
        >>> from forerun import np
        >>> print(np.round(SquaredHingeLoss().elements(np.array([0.5, -2.0]), np.array([1.0, 1.0])), 3))
        [0.25 9.  ]
        """
        return np.square(super().elements(pred, label))


class LogisticLoss(Loss):
    """The logistic loss: log(1 + exp(-pred * label)), for labels -1 and 1.

    Parameters
    ----------
    weight : float, optional
        The factor of the losses; None for 1.
    batch_axis : int, optional
        The axis of examples.
    label_format : {"signed", "binary"}, optional
        Whether labels are -1 and 1, or 0 and 1.

    Raises
    ------
    ValueError
        For another format, or when it is called for shapes that do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> LogisticLoss(label_format="binary")(np.zeros((1, 1)), np.ones((1, 1))).round(3).tolist()
    [0.6930000185966492]
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0, label_format: str = "signed") -> None:
        super().__init__(weight, batch_axis)
        if label_format not in ("signed", "binary"):
            raise ValueError(f'LogisticLoss: label_format must be "signed" or "binary", got {label_format!r}')
        self._signed = label_format == "signed"

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the loss of each element.

        Parameters
        ----------
        pred : array
            The predictions.
        label : array
            The labels, with as many elements.

        Returns
        -------
        array
            The loss of each element, in the shape of `pred`.

        Raises
        ------
        ValueError
            If the numbers of elements differ.

        Examples
        --------
        >>> from forerun import np
        >>> print(np.round(LogisticLoss().elements(np.array([0.5, -2.0]), np.array([1.0, 1.0])), 3))
        [0.474 2.127]
        """
        label = like("LogisticLoss", label, pred)
        return np.logaddexp(pred, 0) - pred * ((label + 1) / 2 if self._signed else label)
