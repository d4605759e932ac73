"""Losses of examples that belong together, or do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import np, npx
from .base import Loss, like

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["CosineEmbeddingLoss", "SDMLLoss", "TripletLoss"]


class TripletLoss(Loss):
    """The triplet loss of an example, one like it, and one unlike it (Schroff et al. 2015).

    It is max(0, margin + |pred - positive|**2 - |pred - negative|**2). Called as loss(pred, positive, negative), three
    arrays of one shape, or with weights of shape (batch,).

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
    >>> TripletLoss()(np.zeros((1, 2)), np.ones((1, 2)), np.zeros((1, 2))).tolist()
    [3.0]
    """

    def __init__(self, margin: float = 1, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def forward(self, pred: Array, positive: Array, negative: Array, sample_weight: Array | None = None) -> Array:  # type: ignore[override]
        """Return the loss of each example.

        Parameters
        ----------
        pred, positive, negative : array
            The examples, those that must be near them and those that must be far, with as many elements each.
        sample_weight : array, optional
            Factors of the losses, which broadcast to them.

        Returns
        -------
        array
            The losses, shape (batch,).

        Raises
        ------
        ValueError
            If the numbers of elements differ.

        Examples
        --------
        >>> from forerun import np
        >>> x = np.zeros((1, 2))
        >>> TripletLoss()(x, x + 1, x + 2).tolist(), TripletLoss()(x, x + 2, x + 1).tolist()
        ([0.0], [7.0])
        """
        near = np.square(like("TripletLoss", positive, pred) - pred)
        far = np.square(like("TripletLoss", negative, pred) - pred)
        others = tuple(i for i in range(pred.ndim) if i != self._batch_axis % pred.ndim)
        return self.averaged(npx.relu((near - far).sum(axis=others) + self._margin), sample_weight)


class CosineEmbeddingLoss(Loss):
    """The cosine loss: 1 - cos(a, b) for label 1, max(0, cos(a, b) - margin) for label -1.

    The cosine is that of vectors along the last axis.

    Called as loss(a, b, label), with label (batch,), or with weights too.

    Parameters
    ----------
    weight : float, optional
        The factor of the losses; None for 1.
    batch_axis : int, optional
        The axis of examples.
    margin : float, optional
        The cosine up to which unlike examples cost nothing.

    Raises
    ------
    ValueError
        When it is called, for shapes that do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> a, b = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[2.0, 0.0], [0.0, 1.0]])
    >>> CosineEmbeddingLoss()(a, b, np.array([1, -1])).tolist()
    [0.0, 1.0]
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, margin: float = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def forward(self, pred: Array, other: Array, label: Array, sample_weight: Array | None = None) -> Array:  # type: ignore[override]
        """Return the loss of each example.

        Parameters
        ----------
        pred, other : array
            The vectors, along the last axis, with as many elements each.
        label : array
            1 for pairs that must be near, another number for the others, one for each pair.
        sample_weight : array, optional
            Factors of the losses, which broadcast to them.

        Returns
        -------
        array
            The losses, shape (batch,).

        Raises
        ------
        ValueError
            If the numbers of elements differ.

        Examples
        --------
        >>> from forerun import np
        >>> x = np.array([[1.0, 0.0]])
        >>> CosineEmbeddingLoss()(x, x, np.array([1])).tolist(), CosineEmbeddingLoss()(x, x, np.array([-1])).tolist()
        ([0.0], [1.0])
        """
        other = like("CosineEmbeddingLoss", other, pred)
        norms = np.sqrt(np.square(pred).sum(-1)) * np.sqrt(np.square(other).sum(-1))
        cos = (pred * other).sum(-1) / np.maximum(norms, 1e-12)
        is_same = like("CosineEmbeddingLoss", label, cos) == 1
        return self.averaged(np.where(is_same, 1 - cos, npx.relu(cos - self._margin)), sample_weight)


class SDMLLoss(Loss):
    """The loss of batches of pairs: row i of a belongs to row i of b, and to no other (Bonadiman et al. 2019).

    The divergence of softmax(-|a_i - b_j|**2 over j) from a distribution with 1 - smoothing_parameter at i and equal
    probabilities elsewhere. Called as loss(a, b), of shape (batch, features) both.

    Parameters
    ----------
    smoothing_parameter : float, optional
        The probability that other rows have together.
    weight : float, optional
        The factor of the losses; None for 1.
    batch_axis : int, optional
        The axis of examples.

    Raises
    ------
    ValueError
        When it is called, for two shapes, or for fewer than two rows.

    Examples
    --------
    >>> from forerun import np
    >>> loss = SDMLLoss(smoothing_parameter=0.5)
    >>> loss(np.zeros((2, 3)), np.zeros((2, 3))).round(6).tolist()
    [0.0, 0.0]
    """

    def __init__(self, smoothing_parameter: float = 0.3, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._smoothing = smoothing_parameter

    def forward(self, a: Array, b: Array) -> Array:  # type: ignore[override]
        """Return the loss of each pair.

        Parameters
        ----------
        a, b : array
            The vectors, shape (batch, features) each: the pairs are those of equal rows.

        Returns
        -------
        array
            The losses, shape (batch,).

        Raises
        ------
        ValueError
            If the shapes differ, or for fewer than two pairs.

        Examples
        --------
        >>> from forerun import np
        >>> SDMLLoss()(np.zeros((2, 3)), np.zeros((2, 3))).shape
        (2,)
        """
        if a.shape != b.shape or a.ndim != 2 or a.shape[0] < 2:
            raise ValueError(
                f"SDMLLoss: shapes must be the same, (batch, features), batch > 1, got {a.shape} and {b.shape}"
            )
        n = a.shape[0]
        distances = np.square(a[:, None] - b[None]).sum(-1)
        rest = self._smoothing / (n - 1)
        labels = np.eye(n, dtype=a.dtype, device=a.device) * (1 - self._smoothing - rest) + rest
        log_p = npx.log_softmax(-distances, axis=1)
        return (labels * (np.log(labels + 1e-12) - log_p)).sum(1) * self._weight
