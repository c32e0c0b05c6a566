"""Deep networks in the search: the results of separate fits, from one pass over the rows."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from granulearn.estimators import (
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
)
from granulearn.selection import PathSearchCV
from tests.selection.searches import assert_same_results, both_searches, noisy_classes

pytestmark = pytest.mark.slow

GRID = {
    "C": [1e-3, 1e3],
    "n_layers": [1, 2, 4],
    "n_hidden": [3, 30],
    "activation": ["relu", "sine"],
}
every_form = pytest.mark.parametrize(
    "model",
    [
        DeepRVFLClassifier(random_state=0),
        DeepGBRVFLClassifier(random_state=0, membership="sdap", purity=0.985),
        EnsembleDeepRVFLClassifier(random_state=0),
        EnsembleDeepRVFLClassifier(random_state=0, combine="vote"),
        EnsembleDeepGBRVFLClassifier(random_state=0, membership="fuzzy", purity=0.985),
    ],
    ids=["deep", "deep balls", "ensemble", "votes", "ensemble balls"],
)


@every_form
@pytest.mark.parametrize(("n_classes", "scoring"), [(2, "neg_log_loss"), (3, "accuracy")])
def test_the_results_are_those_of_grid_search(model, n_classes, scoring):
    X, y = noisy_classes(120, n_classes)
    ours, theirs = both_searches(model, GRID, X, y, cv=3, scoring=scoring)
    assert_same_results(ours, theirs, rtol=0 if scoring == "accuracy" else 1e-8)


@every_form
def test_weights_and_memberships_are_those_of_grid_search(model):
    X, y = noisy_classes()
    rng = np.random.default_rng(0)
    passed = {
        "sample_weight": rng.integers(0, 3, len(X)) + 0.5,
        "sample_membership": rng.uniform(0.1, 1, len(X)),
    }
    ours, theirs = both_searches(
        model, GRID, X, y, fit_params=passed, cv=3, return_train_score=True
    )
    assert_same_results(ours, theirs)


@every_form
def test_workers_and_pipelines_change_nothing(model):
    X, y = noisy_classes()
    pipeline = make_pipeline(StandardScaler(), model)
    name = pipeline.steps[-1][0]
    grid = {f"{name}__C": [1e-3, 1.0], f"{name}__n_layers": [1, 3], f"{name}__n_hidden": [5]}
    ours, theirs = both_searches(pipeline, grid, X, y, cv=3, n_jobs=2)
    assert_same_results(ours, theirs)


@every_form
def test_widths_layer_by_layer_are_fitted_as_they_are(model):
    X, y = noisy_classes()
    grid = {"n_layers": [2], "n_hidden": [[4, 8], 5], "C": [1.0, 10.0]}
    assert_same_results(*both_searches(model, grid, X, y, cv=3))


@every_form
def test_features_are_drawn_for_the_deepest_network_only(model, monkeypatch):
    X, y = noisy_classes()
    drawn = []
    original = type(model)._features
    monkeypatch.setattr(
        type(model), "_features", lambda self, *args: drawn.append(self) or original(self, *args)
    )
    grid = {"C": [1e-3, 1.0], "n_layers": [1, 2, 3, 4, 5], "n_hidden": [3, 10]}
    PathSearchCV(model, grid, cv=3, refit=False).fit(X, y)
    # Deep networks also look how many columns one layer and two layers take.
    per_width = (
        1 if isinstance(model, EnsembleDeepRVFLClassifier | EnsembleDeepGBRVFLClassifier) else 3
    )
    assert len(drawn) == 3 * 2 * per_width


def test_an_exact_tie_is_decided_as_fit_does():
    tied_X = np.array([[-1.0], [1.0]] * 20)
    tied_y = np.array([0, 1, 1, 0] * 10)
    grid = {"C": [1e-5, 1.0, 1e5], "n_layers": [1, 3], "activation": ["relu", "sign"]}
    for model in (DeepRVFLClassifier, EnsembleDeepRVFLClassifier):
        assert_same_results(
            *both_searches(model(random_state=0, n_hidden=4), grid, tied_X, tied_y, cv=4)
        )


def test_scores_that_differ_by_rounding_alone_are_decided_as_fit_does():
    rng = np.random.default_rng(0)
    tied_X = np.repeat(rng.normal(size=(300, 2)), 4, axis=0)
    X = np.concatenate([tied_X, rng.normal(size=(50, 2))])
    y = np.concatenate([[0, 1, 1, 0] * 300, rng.integers(0, 2, 50)])
    one_split = [(np.arange(1200), np.arange(1200, 1250))]
    model = DeepRVFLClassifier(10, n_hidden=60, random_state=0)
    with threadpool_limits(1):  # more threads of BLAS round in another way
        assert_same_results(*both_searches(model, {"C": [1e-3, 1.0, 1e3]}, X, y, cv=one_split))


def test_more_columns_than_rows_are_as_good():
    X, y = noisy_classes(40)
    grid = {"C": [1e-2, 1.0, 1e2], "n_layers": [1, 5, 9], "n_hidden": [60]}
    for model in (DeepRVFLClassifier, EnsembleDeepRVFLClassifier):
        assert_same_results(*both_searches(model(random_state=0), grid, X, y, cv=3))


@every_form
def test_a_fit_that_fails_is_reported_as_by_grid_search(model):
    X, y = noisy_classes()
    grid = {"C": [1.0], "n_layers": [1, 2]}
    search = PathSearchCV(model, grid, cv=3, error_score=0.0, refit=False)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="All the 6 fits failed"):
        search.fit(X * 1e200, y)
