"""Metrics of regression: distances of predictions from labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Unpack

from .. import np
from .base import EvalMetric, Names, sized

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["MAE", "MSE", "RMSE", "MeanPairwiseDistance", "MeanCosineSimilarity", "PearsonCorrelation"]


class MAE(EvalMetric):
    """The mean absolute error.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> metric = MAE()
    >>> metric.update(np.array([1.0, 2.0]), np.array([1.5, 2.0]))
    >>> name, value = metric.get()
    >>> name, round(value, 3)
    ('mae', 0.25)
    """

    def __init__(self, name: str = "mae", **names: Unpack[Names]) -> None:
        super().__init__(name, **names)

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the sum of absolute errors.

        Parameters
        ----------
        label : array
            The labels of the batch.
        pred : array
            The predictions of the batch.

        Returns
        -------
        tuple of a list of arrays and a number
            The sum, and the number of predictions.

        Examples
        --------
        >>> from forerun import np
        >>> (total,), n = MAE().batch(np.array([[1.0, 2.0]]), np.array([[2.0, 4.0]]))
        >>> round(total.item(), 3), n
        (3.0, 2)
        """
        return [np.abs(sized("MAE", label, pred) - pred).astype("float64").sum()], pred.size


class MSE(EvalMetric):
    """The mean squared error.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> metric = MSE()
    >>> metric.update(np.array([1.0, 2.0]), np.array([1.5, 2.0]))
    >>> name, value = metric.get()
    >>> name, round(value, 3)
    ('mse', 0.125)
    """

    def __init__(self, name: str = "mse", **names: Unpack[Names]) -> None:
        super().__init__(name, **names)

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the sum of squared errors.

        Parameters
        ----------
        label : array
            The labels of the batch.
        pred : array
            The predictions of the batch.

        Returns
        -------
        tuple of a list of arrays and a number
            The sum, and the number of predictions.

        Examples
        --------
        >>> from forerun import np
        >>> (total,), n = MSE().batch(np.array([[1.0, 2.0]]), np.array([[2.0, 4.0]]))
        >>> round(total.item(), 3), n
        (5.0, 2)
        """
        return [np.square((sized("MSE", label, pred) - pred).astype("float64")).sum()], pred.size


class RMSE(MSE):
    """The root of the mean squared error over all examples.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> rmse = RMSE()
    >>> rmse.update(np.zeros(2), np.array([3.0, -3.0]))
    >>> rmse.get()
    ('rmse', 3.0)
    """

    def __init__(self, name: str = "rmse", **names: Unpack[Names]) -> None:
        super().__init__(name, **names)

    def value(self, sums: list[float], n: float) -> float:
        """Return the root.

        Parameters
        ----------
        sums : list
            The sums over all batches: numbers, or NumPy arrays.
        n : float
            The number by which they are divided.

        Returns
        -------
        float
            The root of the mean.

        Examples
        --------
        >>> RMSE().value([8.0], 2)
        2.0
        """
        return math.sqrt(sums[0] / n)


class MeanPairwiseDistance(EvalMetric):
    """The mean distance of labels and predictions (..., features): of each, the p-norm of the difference.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    p : float, optional
        The order of the norm.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> distance = MeanPairwiseDistance()
    >>> distance.update(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[3.0, 4.0], [1.0, 2.0]]))
    >>> distance.get()
    ('mpd', 3.0)
    """

    def __init__(self, name: str = "mpd", p: float = 2, **names: Unpack[Names]) -> None:
        super().__init__(name, **names)
        self.p = p

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the sum of distances.

        Parameters
        ----------
        label : array
            The labels of the batch.
        pred : array
            The predictions of the batch.

        Returns
        -------
        tuple of a list of arrays and a number
            The sum, and the number of vectors.

        Examples
        --------
        >>> from forerun import np
        >>> (total,), n = MeanPairwiseDistance().batch(np.array([[1.0, 2.0]]), np.array([[2.0, 4.0]]))
        >>> round(total.item(), 3), n
        (2.236, 1)
        """
        apart = np.abs(sized("MeanPairwiseDistance", label, pred) - pred).astype("float64")
        return [((apart**self.p).sum(axis=-1) ** (1 / self.p)).sum()], _rows(pred)


class MeanCosineSimilarity(EvalMetric):
    """The mean cosine of the angles between labels and predictions (..., features).

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    eps : float, optional
        The least product of norms that is divided by.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> cosine = MeanCosineSimilarity()
    >>> cosine.update(np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[6.0, 8.0], [0.0, 2.0]]))
    >>> cosine.get()
    ('cos_sim', 0.5)
    """

    def __init__(self, name: str = "cos_sim", eps: float = 1e-8, **names: Unpack[Names]) -> None:
        super().__init__(name, **names)
        self.eps = eps

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the sum of cosines.

        Parameters
        ----------
        label : array
            The labels of the batch.
        pred : array
            The predictions of the batch.

        Returns
        -------
        tuple of a list of arrays and a number
            The sum, and the number of vectors.

        Examples
        --------
        >>> from forerun import np
        >>> (total,), n = MeanCosineSimilarity().batch(np.array([[1.0, 2.0]]), np.array([[2.0, 4.0]]))
        >>> round(total.item(), 3), n
        (1.0, 1)
        """
        x, y = sized("MeanCosineSimilarity", label, pred).astype("float64"), pred.astype("float64")
        norms = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
        return [((x * y).sum(axis=-1) / np.maximum(norms, self.eps)).sum()], _rows(pred)


def _rows(pred: Array) -> int:
    """Return how many vectors there are."""
    return pred.size // pred.shape[-1] if pred.ndim > 1 else 1


class PearsonCorrelation(EvalMetric):
    """The linear correlation of labels and predictions over all batches; NaN where either does not vary.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> metric = PearsonCorrelation()
    >>> metric.update(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    >>> name, value = metric.get()
    >>> name, round(value, 3)
    ('pearsonr', 1.0)
    """

    def __init__(self, name: str = "pearsonr", **names: Unpack[Names]) -> None:
        super().__init__(name, **names)

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the sums of both, their squares, and their product.

        Parameters
        ----------
        label : array
            The labels of the batch.
        pred : array
            The predictions of the batch.

        Returns
        -------
        tuple of a list of arrays and a number
            The sums, and the number of predictions.

        Examples
        --------
        >>> from forerun import np
        >>> sums, n = PearsonCorrelation().batch(np.array([[1.0, 2.0]]), np.array([[2.0, 4.0]]))
        >>> [x.item() for x in sums], n
        ([3.0, 6.0, 5.0, 20.0, 10.0], 2)
        """
        x, y = sized("PearsonCorrelation", label, pred).astype("float64"), pred.astype("float64")
        return [x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum()], pred.size

    def value(self, sums: list[float], n: float) -> float:
        """Return the covariance over the root of the variances.

        Parameters
        ----------
        sums : list
            The sums over all batches: numbers, or NumPy arrays.
        n : float
            The number by which they are divided.

        Returns
        -------
        float
            The coefficient; NaN if one of both is constant.

        Examples
        --------
        >>> round(PearsonCorrelation().value([3.0, 6.0, 5.0, 20.0, 10.0], 2), 3)
        1.0
        """
        x, y, xx, yy, xy = (s / n for s in sums)
        below = math.sqrt(max(xx - x * x, 0.0) * max(yy - y * y, 0.0))
        return (xy - x * y) / below if below else math.nan
