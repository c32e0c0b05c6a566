"""Searches to compare, and what it means that they agree."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

from granulearn.model_selection import PathSearchCV

SMALL_GRID = {"C": [1e-3, 1.0, 1e3], "n_hidden": [2, 9, 30]}


def noisy_classes(n_samples=90, n_classes=2, seed=0):
    """Return inputs and labels that no network separates, so that accuracies differ."""
    return make_classification(
        n_samples, 4, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1,
        flip_y=0.3, class_sep=0.7, random_state=seed,
    )  # fmt: skip


def both_searches(estimator, param_grid, X, y, fit_params=None, **settings):
    """Return the search of this library and scikit-learn's, fitted alike."""
    searches = [cls(estimator, param_grid, **settings) for cls in (PathSearchCV, GridSearchCV)]
    return [search.fit(X, y, **(fit_params or {})) for search in searches]


def assert_same_results(ours, theirs, rtol=1e-9):
    """Assert that everything but the times is the same, scores up to rounding."""
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for name, expected in theirs.cv_results_.items():
        found = ours.cv_results_[name]
        if name.endswith("_time"):
            assert found.shape == expected.shape
            assert (found >= 0).all()
        elif name == "params":
            assert found == expected
        elif name.startswith("param_"):
            assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
            assert found.compressed().tolist() == expected.compressed().tolist()
        elif not name.startswith("rank_"):  # rounding may decide between equal scores
            assert_allclose(found, expected, rtol=rtol, atol=rtol, err_msg=name)
    if hasattr(theirs, "best_score_"):
        assert_allclose(ours.best_score_, theirs.best_score_, rtol=rtol, atol=rtol)
