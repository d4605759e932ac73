"""scikit-learn with array_api_dispatch: estimators and metrics that work on the arrays of any library."""

from __future__ import annotations

from typing import Any

import numpy
import sklearn
from sklearn import (
    decomposition,
    discriminant_analysis,
    linear_model,
    metrics,
    model_selection,
    naive_bayes,
    pipeline,
    preprocessing,
)  # fmt: skip
from sklearn.kernel_approximation import Nystroem
from sklearn.mixture import GaussianMixture

VERSIONS = ["scikit-learn"]
sklearn.set_config(array_api_dispatch=True)
_random = numpy.random.default_rng(3)
_X = numpy.concatenate([_random.normal(size=(20, 4)), _random.normal(size=(20, 4)) + 2])
_LABELS = numpy.repeat([0, 1], 20)


def names(asarray: Any) -> dict[str, Any]:
    """Samples of two classes, targets, guesses, and scikit-learn's modules."""
    return {
        "decomposition": decomposition, "lda": discriminant_analysis.LinearDiscriminantAnalysis, "metrics": metrics,
        "linear_model": linear_model, "model_selection": model_selection, "naive_bayes": naive_bayes,
        "pipeline": pipeline, "preprocessing": preprocessing, "Nystroem": Nystroem, "GaussianMixture": GaussianMixture,
        "X": asarray(_X), "y": asarray(_X @ numpy.array([1.0, 2.0, 0.5, -1.0])), "labels": asarray(_LABELS),
        "guess": asarray((_X[:, 0] > 1).astype("int64")), "score": asarray(1 / (1 + numpy.exp(-_X[:, 0] + 1))),
        "close": asarray(_X[:, 0] + 0.1), "kernel": asarray(_X @ _X.T),
    }  # fmt: skip


ROWS = {
    "preprocessing": """
        preprocessing.StandardScaler().fit_transform(X)
        preprocessing.StandardScaler().fit(X).inverse_transform(X)
        preprocessing.MinMaxScaler().fit_transform(X)
        preprocessing.MaxAbsScaler().fit_transform(X)
        preprocessing.Normalizer(norm="l1").fit_transform(X)
        preprocessing.Binarizer().fit_transform(X)
        preprocessing.KernelCenterer().fit_transform(kernel)
        preprocessing.PolynomialFeatures(2).fit_transform(X)
        preprocessing.LabelEncoder().fit_transform(labels)
        preprocessing.LabelBinarizer().fit_transform(labels)
    """,
    "estimators": """
        decomposition.PCA(2, svd_solver="full").fit(X).explained_variance_
        abs(decomposition.PCA(2, svd_solver="full").fit_transform(X))
        decomposition.PCA(2, svd_solver="covariance_eigh").fit(X).explained_variance_
        decomposition.PCA(2, svd_solver="randomized", random_state=0).fit(X).explained_variance_
        lda().fit(X, labels).predict(X)
        lda().fit(X, labels).predict_proba(X)
        linear_model.Ridge(solver="svd").fit(X, y).coef_
        linear_model.Ridge(solver="svd").fit(X, y).predict(X)
        linear_model.RidgeCV().fit(X, y).predict(X)
        linear_model.RidgeClassifier(solver="svd").fit(X, labels).predict(X)
        linear_model.LogisticRegression(solver="lbfgs").fit(X, labels).coef_
        linear_model.PoissonRegressor(solver="lbfgs").fit(X, score).coef_
        naive_bayes.GaussianNB().fit(X, labels).predict_proba(X)
        GaussianMixture(2, init_params="random_from_data", random_state=0).fit(X).means_.sum(axis=0)
        Nystroem(kernel="rbf", n_components=5, random_state=0).fit_transform(X)
        pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.Ridge(solver="svd")).fit(X, y).predict(X)
        model_selection.train_test_split(X, labels, random_state=0)
        model_selection.cross_val_predict(linear_model.Ridge(solver="svd"), X, y)
    """,
    "metrics of classes": """
        metrics.accuracy_score(labels, guess)
        metrics.balanced_accuracy_score(labels, guess)
        metrics.confusion_matrix(labels, guess)
        metrics.precision_recall_fscore_support(labels, guess)
        metrics.f1_score(labels, guess)
        metrics.jaccard_score(labels, guess)
        metrics.zero_one_loss(labels, guess)
        metrics.hamming_loss(labels, guess)
        metrics.matthews_corrcoef(labels, guess)
        metrics.cohen_kappa_score(labels, guess)
        metrics.log_loss(labels, score)
        metrics.brier_score_loss(labels, score)
        metrics.roc_auc_score(labels, score)
        metrics.roc_curve(labels, score)
        metrics.average_precision_score(labels, score)
    """,
    "metrics of numbers": """
        metrics.mean_squared_error(y, close)
        metrics.mean_absolute_error(y, close)
        metrics.root_mean_squared_error(y, close)
        metrics.r2_score(y, close)
        metrics.explained_variance_score(y, close)
        metrics.max_error(y, close)
        metrics.median_absolute_error(y, close)
        metrics.mean_pinball_loss(y, close)
        metrics.d2_tweedie_score(score, score + 0.1)
        metrics.mean_poisson_deviance(score, score + 0.1)
    """,
    "pairs": """
        metrics.pairwise.cosine_similarity(X)
        metrics.pairwise.euclidean_distances(X)
        metrics.pairwise.manhattan_distances(X)
        metrics.pairwise.linear_kernel(X)
        metrics.pairwise.polynomial_kernel(X)
        metrics.pairwise.rbf_kernel(X)
        metrics.pairwise.laplacian_kernel(X)
        metrics.pairwise.chi2_kernel(abs(X))
        metrics.pairwise.paired_euclidean_distances(X, X[::-1, :])
    """,
}
