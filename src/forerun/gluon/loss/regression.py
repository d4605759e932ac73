"""Losses of numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ... import np
from .base import Loss, like

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["HuberLoss", "L1Loss", "L2Loss", "PoissonNLLLoss"]


class L2Loss(Loss):
    """Half the squared error: (label - pred)**2 / 2.

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
    >>> L2Loss()(np.array([[1.0], [2.0]]), np.array([3.0, 2.0])).tolist()
    [2.0, 0.0]
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__((1.0 if weight is None else weight) / 2, batch_axis)

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the squared error; half of it is in the weight.

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
        >>> print(np.round(L2Loss().elements(np.array([0.5, -2.0]), np.array([1.0, 1.0])), 3))
        [0.25 9.  ]
        """
        return np.square(like("L2Loss", label, pred) - pred)


class L1Loss(Loss):
    """The absolute error: |label - pred|.

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
    >>> L1Loss()(np.array([[0.5], [2.0]]), np.array([1.0, -1.0])).tolist()
    [0.5, 3.0]
    """

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the absolute error.

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
        >>> print(np.round(L1Loss().elements(np.array([0.5, -2.0]), np.array([1.0, 1.0])), 3))
        [0.5 3. ]
        """
        return np.abs(like("L1Loss", label, pred) - pred)


class HuberLoss(Loss):
    """The Huber loss: error**2 / (2 rho) where the absolute error is at most rho, and |error| - rho / 2 elsewhere.

    Parameters
    ----------
    rho : float, optional
        The largest error that is squared.
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
    >>> HuberLoss()(np.array([[0.5], [2.0]]), np.array([1.0, -1.0])).tolist()
    [0.125, 2.5]
    """

    def __init__(self, rho: float = 1.0, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        if rho <= 0:
            raise ValueError(f"HuberLoss: rho must be positive, got {rho}")
        self._rho = rho

    def elements(self, pred: Array, label: Array) -> Array:
        """Quadratic near 0, linear further away.

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
        >>> print(np.round(HuberLoss().elements(np.array([0.5, -2.0]), np.array([1.0, 1.0])), 3))
        [0.125 2.5  ]
        """
        error = np.abs(like("HuberLoss", label, pred) - pred)
        return np.where(error > self._rho, error - self._rho / 2, np.square(error) * (0.5 / self._rho))


class PoissonNLLLoss(Loss):
    """-log p(label) of the Poisson distribution, without the terms that depend on the label alone.

    The result is the mean over all elements, of shape (), as in MXNet.

    Parameters
    ----------
    weight : float, optional
        The factor of the losses; None for 1.
    from_logits : bool, optional
        Whether the mean is exp(pred); otherwise it is pred itself.
    batch_axis : int, optional
        The axis of examples.
    compute_full : bool, optional
        Whether to add log(label!) by Stirling's formula, for labels above 1.

    Raises
    ------
    ValueError
        When it is called, for shapes that do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> PoissonNLLLoss()(np.zeros((2, 3)), np.ones((2, 3))).item()
    1.0
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_logits, self._full = from_logits, compute_full

    def forward(self, pred: Array, label: Array, sample_weight: Array | None = None, epsilon: float = 1e-8) -> Array:
        """Return the mean of all losses.

        Parameters
        ----------
        pred : array
            The predicted means, or their logarithms with `from_logits`.
        label : array
            The labels, with as many elements.
        sample_weight : array, optional
            Factors of the losses, which broadcast to them.
        epsilon : float, optional
            Added to `pred` inside the logarithm.

        Returns
        -------
        array
            The mean, without axes.

        Raises
        ------
        ValueError
            If the numbers of elements differ.

        Examples
        --------
        >>> from forerun import np
        >>> PoissonNLLLoss(from_logits=False)(np.array([1.0, 1.0]), np.array([2.0, 0.0])).item()
        1.0
        """
        label = like("PoissonNLLLoss", label, pred)
        loss = np.exp(pred) - label * pred if self._from_logits else pred - label * np.log(pred + epsilon)
        if self._full:
            above = np.maximum(label, 1)
            stirling = above * np.log(above) - above + 0.5 * np.log(2 * math.pi * above)
            loss = loss + np.where(label > 1, stirling, 0)
        return (loss if sample_weight is None else loss * sample_weight).mean() * self._weight
