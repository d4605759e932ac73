"""Metrics: how good predictions are, over batches. `update` issues operations and never waits; `get` waits.

>>> from forerun import metric, np
>>> accuracy = metric.Accuracy()
>>> accuracy.update(np.array([0, 1]), np.array([[0.9, 0.1], [0.8, 0.2]]))
>>> accuracy.get()
('accuracy', 0.5)
"""

from collections.abc import Callable as _Callable
from typing import Any as _Any

from .._display.namespaces import dir_of
from .base import CompositeEvalMetric as CompositeEvalMetric
from .base import CustomMetric as CustomMetric
from .base import EvalMetric as EvalMetric
from .base import Loss as Loss
from .base import alias as alias
from .base import create as create
from .base import register as register
from .classes import F1 as F1
from .classes import MCC as MCC
from .classes import PCC as PCC
from .classes import Accuracy as Accuracy
from .classes import BinaryAccuracy as BinaryAccuracy
from .classes import CrossEntropy as CrossEntropy
from .classes import Fbeta as Fbeta
from .classes import NegativeLogLikelihood as NegativeLogLikelihood
from .classes import Perplexity as Perplexity
from .classes import TopKAccuracy as TopKAccuracy
from .distances import MAE as MAE
from .distances import MSE as MSE
from .distances import RMSE as RMSE
from .distances import MeanCosineSimilarity as MeanCosineSimilarity
from .distances import MeanPairwiseDistance as MeanPairwiseDistance
from .distances import PearsonCorrelation as PearsonCorrelation

__all__ = [
    "EvalMetric", "CompositeEvalMetric", "Accuracy", "BinaryAccuracy", "TopKAccuracy", "F1", "Fbeta", "MCC", "PCC",
    "MAE", "MSE", "RMSE", "MeanPairwiseDistance", "MeanCosineSimilarity", "CrossEntropy", "NegativeLogLikelihood",
    "Perplexity", "PearsonCorrelation", "Loss", "CustomMetric", "alias", "create", "np", "register",
]  # fmt: skip
__dir__ = dir_of(__name__)

for _names, _kind in (
    ("acc accuracy", Accuracy), ("binary_accuracy binaryaccuracy", BinaryAccuracy),
    ("top_k_accuracy topkaccuracy top_k_acc", TopKAccuracy), ("f1", F1), ("fbeta", Fbeta), ("mcc", MCC), ("pcc", PCC),
    ("mae", MAE), ("mse", MSE), ("rmse", RMSE), ("mpd meanpairwisedistance", MeanPairwiseDistance),
    ("cos_sim meancosinesimilarity", MeanCosineSimilarity), ("ce cross-entropy crossentropy", CrossEntropy),
    ("nll_loss negativeloglikelihood", NegativeLogLikelihood), ("perplexity", Perplexity),
    ("pearsonr pearsoncorrelation", PearsonCorrelation), ("loss", Loss), ("composite", CompositeEvalMetric),
):  # fmt: skip
    alias(*_names.split())(_kind)


def np(
    numpy_feval: _Callable[[_Any, _Any], _Any], name: str | None = None, allow_extra_outputs: bool = False
) -> CustomMetric:
    """Return a `CustomMetric` of a function of NumPy arrays.

    Parameters
    ----------
    numpy_feval : callable
        A function of labels and predictions, arrays of NumPy.
    name : str, optional
        Its name; by default that of the function.
    allow_extra_outputs : bool, default False
        Whether there may be more predictions than labels.

    Returns
    -------
    CustomMetric
        The metric.

    Examples
    --------
    >>> np(lambda label, pred: abs(label - pred).max(), name="most").name
    'most'
    """
    return CustomMetric(numpy_feval, name if name is not None else numpy_feval.__name__, allow_extra_outputs)
