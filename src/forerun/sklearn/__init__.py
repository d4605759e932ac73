"""Gluon networks as estimators of scikit-learn: in pipelines, searches and cross-validation. Needs `scikit-learn`.

>>> from forerun.sklearn import NetClassifier
>>> from sklearn.datasets import load_iris
>>> from sklearn.model_selection import cross_val_score
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> x, y = load_iris(return_X_y=True)
>>> model = make_pipeline(StandardScaler(), NetClassifier(hidden=(16,), epochs=30, learning_rate=0.01, random_state=0))
>>> bool(cross_val_score(model, x, y, cv=3).mean() > 0.9)
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .._display.namespaces import dir_of

if TYPE_CHECKING:
    from ._estimators import NetClassifier as NetClassifier
    from ._estimators import NetRegressor as NetRegressor

__all__ = ["NetClassifier", "NetRegressor"]
__dir__ = dir_of(__name__)


def __getattr__(name: str) -> Any:
    if name in __all__:  # their bases are scikit-learn's, which is imported with the first of them
        return getattr(importlib.import_module("._estimators", __name__), name)
    raise AttributeError(f"module 'forerun.sklearn' has no attribute {name!r}")
