"""Losses of probabilities of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import np, npx
from .base import Loss, like

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["CTCLoss", "KLDivLoss", "SigmoidBinaryCrossEntropyLoss", "SoftmaxCrossEntropyLoss"]


class SoftmaxCrossEntropyLoss(Loss):
    """-log(softmax(pred)) at the label; for labels that are distributions, its sum weighted by them.

    Parameters
    ----------
    axis : int, optional
        The axis of classes.
    sparse_label : bool, optional
        Whether labels are class numbers, in pred's shape without that axis; otherwise they are distributions in pred's
        shape.
    from_logits : bool, optional
        Whether pred holds log probabilities already.
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
    >>> loss = SoftmaxCrossEntropyLoss()(np.zeros((2, 4)), np.array([0, 3]))
    >>> (loss * 1000).astype("int32").tolist()  # log 4 = 1.386
    [1386, 1386]
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = 1.0,
        batch_axis: int = 0,
    ) -> None:
        super().__init__(weight, batch_axis)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the cross entropy, with extent 1 along the axis of classes.

        Parameters
        ----------
        pred : array
            The scores of classes, or their log-probabilities with `from_logits`.
        label : array
            The classes, in the shape of `pred` without the axis of classes or with extent 1 there; or probabilities in
            the shape of `pred`.

        Returns
        -------
        array
            The losses.

        Raises
        ------
        ValueError
            If the shapes do not fit.

        Examples
        --------
        >>> from forerun import np
        >>> print(np.round(SoftmaxCrossEntropyLoss().elements(np.zeros((2, 4)), np.array([0, 3])), 3))
        [[1.386]
         [1.386]]
        """
        if self._sparse_label:
            try:
                return self._of_classes(pred, label)
            except ValueError:
                wanted = f"label must have pred's shape without axis {self._axis}"
                raise ValueError(
                    f"{type(self).__name__}: {wanted}, got label {label.shape} for pred {pred.shape}; for labels that "
                    "are distributions, pass sparse_label=False"
                ) from None
        log_p = pred if self._from_logits else npx.log_softmax(pred, axis=self._axis)
        return -(log_p * like("SoftmaxCrossEntropyLoss", label, pred)).sum(axis=self._axis, keepdims=True)

    def _of_classes(self, pred: Array, label: Array) -> Array:
        """Return the cross entropy for labels that are class numbers."""
        if self._from_logits:
            return -npx.pick(pred, label, axis=self._axis, keepdims=True)
        return npx.cross_entropy(pred, label, axis=self._axis, keepdims=True)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """-label * log(p) - (1 - label) * log(1 - p), where p = sigmoid(pred), computed without overflow.

    Called with a fourth array, pos_weight, the first term is multiplied by it: above 1 a false negative costs more than
    a false positive.

    Parameters
    ----------
    from_sigmoid : bool, optional
        Whether pred holds probabilities already.
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
    >>> x, label = np.zeros((1, 1)), np.ones((1, 1))
    >>> loss = SigmoidBinaryCrossEntropyLoss()
    >>> (loss(x, label, None, np.array([2.0])) / loss(x, label)).tolist()
    [2.0]
    """

    def __init__(self, from_sigmoid: bool = False, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._from_sigmoid = from_sigmoid

    def forward(
        self, pred: Array, label: Array, sample_weight: Array | None = None, pos_weight: Array | None = None
    ) -> Array:
        """Return the loss of each example.

        Parameters
        ----------
        pred : array
            The scores, or probabilities with `from_sigmoid`.
        label : array
            The labels, with as many elements.
        sample_weight : array, optional
            Factors of the losses, which broadcast to them.
        pos_weight : array, optional
            The factors of the losses of positive labels, which broadcast to `pred`.

        Returns
        -------
        array
            The mean loss of each example, shape (batch,).

        Raises
        ------
        ValueError
            If the numbers of elements differ.

        Examples
        --------
        >>> from forerun import np
        >>> loss = SigmoidBinaryCrossEntropyLoss()
        >>> print(np.round(loss(np.zeros((2, 2)), np.ones((2, 2)), None, np.array(2.0)), 3))
        [1.386 1.386]
        """
        return self.averaged(self.elements(pred, label, pos_weight), sample_weight)

    def elements(self, pred: Array, label: Array, pos_weight: Array | None = None) -> Array:
        """Return the cross entropy of each element.

        Parameters
        ----------
        pred : array
            The scores, or probabilities with `from_sigmoid`.
        label : array
            The labels, with as many elements.
        pos_weight : array, optional
            The factors of the losses of positive labels.

        Returns
        -------
        array
            The losses, in the shape of `pred`.

        Raises
        ------
        ValueError
            If the numbers of elements differ.

        Examples
        --------
        >>> from forerun import np
        >>> print(np.round(SigmoidBinaryCrossEntropyLoss().elements(np.zeros((1, 2)), np.array([[0.0, 1.0]])), 3))
        [[0.693 0.693]]
        """
        label = like("SigmoidBinaryCrossEntropyLoss", label, pred)
        factor = 1 if pos_weight is None else pos_weight
        if self._from_sigmoid:
            return -(np.log(pred + 1e-12) * label * factor + np.log(1 - pred + 1e-12) * (1 - label))
        if pos_weight is None:
            return np.logaddexp(pred, 0) - pred * label
        return pred * (1 - label) + (1 + (pos_weight - 1) * label) * np.logaddexp(-pred, 0)


class KLDivLoss(Loss):
    """The divergence of pred from the distribution `label`: label * (log(label) - log(pred)), 0 where label is 0.

    Parameters
    ----------
    from_logits : bool, optional
        Whether pred holds log probabilities already; otherwise their softmax is taken first.
    axis : int, optional
        The axis of that softmax.
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
    >>> KLDivLoss(from_logits=False)(np.zeros((1, 2)), np.array([[0.5, 0.5]])).tolist()
    [0.0]
    """

    def __init__(
        self, from_logits: bool = True, axis: int = -1, weight: float | None = 1.0, batch_axis: int = 0
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_logits = from_logits
        self._axis = axis

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the divergence's terms.

        Parameters
        ----------
        pred : array
            The log-probabilities with `from_logits`, otherwise scores.
        label : array
            The probabilities, in the shape of `pred`.

        Returns
        -------
        array
            The terms, in the shape of `pred`.

        Examples
        --------
        >>> from forerun import np
        >>> print(np.round(KLDivLoss(from_logits=False).elements(np.zeros((1, 2)), np.array([[0.25, 0.75]])), 3))
        [[-0.173  0.304]]
        """
        log_p = pred if self._from_logits else npx.log_softmax(pred, axis=self._axis)
        return label * (np.log(label + 1e-12) - log_p)


class CTCLoss(Loss):
    """Connectionist temporal classification: see `npx.ctc_loss`; the blank class is the last one.

    Called as loss(pred, label), with pred (batch, steps, classes), before the softmax, and label (batch, labels) filled
    up with -1. After these may come pred_lengths and label_lengths, of shape (batch,), and weights.

    Parameters
    ----------
    layout : {"NTC", "TNC"}, optional
        The axes of pred: N examples, T steps, C classes.
    label_layout : {"NT", "TN"}, optional
        The axes of labels.
    weight : float, optional
        The factor of the losses; None for 1.

    Raises
    ------
    ValueError
        For other layouts, or when it is called for shapes that do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> CTCLoss()(np.zeros((1, 2, 2)), np.array([[0, -1]])).round(3)  # of four equal ways, three say 0
    array([0.288])
    """

    def __init__(self, layout: str = "NTC", label_layout: str = "NT", weight: float | None = None) -> None:
        super().__init__(weight)
        if layout not in ("NTC", "TNC") or label_layout not in ("NT", "TN"):
            wanted = '"NTC" or "TNC", and "NT" or "TN"'
            raise ValueError(f"CTCLoss: layouts must be {wanted}, got {layout!r} and {label_layout!r}")
        self._layout, self._label_layout = layout, label_layout

    def forward(  # type: ignore[override]
        self, pred: Array, label: Array, pred_lengths: Array | None = None, label_lengths: Array | None = None,
        sample_weight: Array | None = None,
    ) -> Array:  # fmt: skip
        """Return the loss of each example.

        Parameters
        ----------
        pred : array
            The scores of classes at each step, in the layout of the loss.
        label : array
            The classes, in the label's layout.
        pred_lengths, label_lengths : array, optional
            The numbers of steps and of labels of each example, shape (batch,); None for all.
        sample_weight : array, optional
            Factors of the losses, which broadcast to them.

        Returns
        -------
        array
            The losses, shape (batch,).

        Examples
        --------
        >>> from forerun import np
        >>> print(np.round(CTCLoss()(np.zeros((1, 4, 3)), np.array([[0, 1]])), 3))
        [1.686]
        """
        loss = npx.ctc_loss(
            np.swapaxes(pred, 0, 1) if self._layout == "NTC" and pred.ndim == 3 else pred,
            np.swapaxes(label, 0, 1) if self._label_layout == "TN" else label,
            pred_lengths, label_lengths, pred_lengths is not None, label_lengths is not None, "last",
        )  # fmt: skip
        return self.averaged(loss, sample_weight)
