"""PathSearchCV on regressors against GridSearchCV: the same scores."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.datasets import load_diabetes
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, max_error, r2_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from granulearn.model_selection import PathSearchCV
from granulearn.rvfl import (
    DeepRVFLRegressor,
    ELMRegressor,
    EnsembleDeepRVFLRegressor,
    RVFLClassifier,
    RVFLRegressor,
)
from tests.model_selection.searches import assert_same_results, both_searches, noisy_classes
from tests.rvfl.test_regression import smooth_function

pytestmark = pytest.mark.slow

SHALLOW_GRID = {"C": [1e-3, 1.0, 1e3], "n_hidden": [2, 9, 30], "activation": ["sine"]}
DEEP_GRID = {"C": [1e-3, 1.0, 1e3], "n_layers": [1, 2, 4], "n_hidden": [12], "activation": ["sine"]}
GRIDS = {
    RVFLRegressor: SHALLOW_GRID,
    ELMRegressor: SHALLOW_GRID,
    DeepRVFLRegressor: DEEP_GRID,
    EnsembleDeepRVFLRegressor: DEEP_GRID,
}
every_regressor = pytest.mark.parametrize("Regressor", GRIDS)
every_score = pytest.mark.parametrize(
    "scoring", [None, "r2", "neg_mean_squared_error", "neg_median_absolute_error"]
)


@pytest.fixture(autouse=True)
def one_thread():
    """More threads of BLAS would round in another way than the search does."""
    with threadpool_limits(1):
        yield


def in_pipeline(model, grid):
    """Return a pipeline that scales inputs first, and the grid for it."""
    pipeline = Pipeline([("scale", StandardScaler()), ("net", model)])
    return pipeline, {f"net__{name}": values for name, values in grid.items()}


@st.composite
def problems(draw):
    """Draw inputs, one or several targets, and perhaps weights, some of them zero."""
    seed, n_samples = draw(st.integers(0, 2**32 - 1)), draw(st.integers(15, 90))
    X, Y = smooth_function(n_samples, draw(st.sampled_from([None, 1, 3])), seed)
    weights = np.random.default_rng(seed).choice([0, 0.5, 1, 2], n_samples)
    weights[::4] = 1
    return X, Y, {"sample_weight": weights} if draw(st.booleans()) else {}


@every_regressor
@given(problem=problems(), scoring=st.sampled_from([None, "r2"]))
@settings(max_examples=10)
def test_scores_are_those_of_grid_search_for_any_shape(Regressor, problem, scoring):
    X, Y, fit_params = problem
    ours, theirs = both_searches(
        Regressor(random_state=0), GRIDS[Regressor], X, Y, fit_params,
        cv=3, scoring=scoring, return_train_score=True,
    )  # fmt: skip
    assert_same_results(ours, theirs, rtol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@every_regressor
def test_scores_are_those_of_grid_search_on_a_real_set(Regressor):
    grid = {**GRIDS[Regressor], "C": [10.0**e for e in range(-5, 6)], "activation": ["relu"]}
    model, grid = in_pipeline(Regressor(random_state=0), grid)
    ours, theirs = both_searches(model, grid, *load_diabetes(return_X_y=True))
    assert_same_results(ours, theirs, rtol=1e-9)


@every_regressor
@every_score
def test_any_scorer_gets_the_scores_of_grid_search(Regressor, scoring):
    X, Y = smooth_function(n_outputs=2)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model, grid = in_pipeline(Regressor(random_state=0), GRIDS[Regressor])
    fit_params = {"scale__sample_weight": weights, "net__sample_weight": weights}
    ours, theirs = both_searches(model, grid, X, Y, fit_params, scoring=scoring, cv=3)
    assert_same_results(ours, theirs, rtol=1e-9)
    unweighted = PathSearchCV(model, grid, scoring=scoring, cv=3).fit(X, Y)
    assert (ours.cv_results_["mean_test_score"] != unweighted.cv_results_["mean_test_score"]).any()


@every_regressor
def test_several_metrics_and_their_training_scores(Regressor):
    X, y = smooth_function()
    ours, theirs = both_searches(
        Regressor(random_state=0), GRIDS[Regressor], X, y, cv=3,
        scoring={"R2": "r2", "worst": make_scorer(max_error, greater_is_better=False)},
        refit="worst", return_train_score=True,
    )  # fmt: skip
    assert_same_results(ours, theirs, rtol=1e-9)


def size_of_weights(estimator, X, y):
    """Score something that only a truly fitted estimator can tell."""
    bias = estimator.features_.bias_column
    last = estimator.coef_[-1] if isinstance(estimator.coef_, list) else estimator.coef_
    return {
        "bias": float(last[bias].sum()),
        "size": float(np.abs(last).sum()),
        "stages": len(estimator.coef_),
        "worst": -max_error(y, estimator.predict(X)),
    }


@every_regressor
def test_a_callable_scorer_gets_a_fitted_estimator(Regressor):
    X, y = smooth_function()
    model, grid = Regressor(random_state=0), GRIDS[Regressor]
    ours, theirs = both_searches(model, grid, X, y, cv=3, scoring=size_of_weights, refit="worst")
    assert_same_results(ours, theirs, rtol=1e-8)


@every_regressor
@pytest.mark.parametrize("scoring", [None, "r2"])
def test_weights_of_the_score_are_those_of_grid_search(Regressor, scoring):
    X, Y = smooth_function(n_outputs=2)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], len(X))
    with config_context(enable_metadata_routing=True):
        model = Regressor(random_state=0).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        if scoring == "r2":
            scoring = make_scorer(r2_score).set_score_request(sample_weight=True)
        ours, theirs = both_searches(
            model, GRIDS[Regressor], X, Y, {"sample_weight": weights}, cv=3, scoring=scoring
        )
    assert_same_results(ours, theirs, rtol=1e-9)


@every_regressor
def test_more_columns_than_rows_are_as_good(Regressor):
    X, y = smooth_function(30)
    grid = {**GRIDS[Regressor], "n_hidden": [60, 700], "C": [1e-2, 1e6]}
    assert_same_results(*both_searches(Regressor(random_state=0), grid, X, y, cv=3), rtol=1e-6)


@every_regressor
def test_targets_far_from_zero_are_scored_as_by_grid_search(Regressor):
    X, y = smooth_function()
    ours, theirs = both_searches(Regressor(random_state=0), GRIDS[Regressor], X, 1e6 + y, cv=3)
    assert_same_results(ours, theirs, rtol=1e-6)


@every_regressor
def test_a_fold_of_one_sample_has_no_r_squared_and_says_so(Regressor):
    X, y = smooth_function(12)
    searches = [
        cls(Regressor(random_state=0), {"C": [1.0, 2.0]}, cv=LeaveOneOut(), refit=False)
        for cls in (PathSearchCV, GridSearchCV)
    ]
    for search in searches:
        undefined = pytest.warns(UndefinedMetricWarning)
        with undefined, pytest.warns(UserWarning, match="non-finite"):
            search.fit(X, y)
    assert_same_results(*searches)


@every_regressor
def test_a_fit_that_fails_is_reported_as_by_grid_search(Regressor):
    X, y = smooth_function()
    search = PathSearchCV(Regressor(), {"C": [1.0, 2.0]}, cv=3, error_score=0.0, refit=False)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="All the 6 fits failed"):
        search.fit(X * 1e200, y)


@every_regressor
def test_frames_and_workers_change_nothing(Regressor):
    X, Y = smooth_function(n_outputs=2)
    model, grid = in_pipeline(Regressor(random_state=0), GRIDS[Regressor])
    expected = PathSearchCV(model, grid, cv=3).fit(X, Y)
    frames = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Y, columns=list("yz"))
    found = PathSearchCV(model, grid, cv=3, n_jobs=2).fit(*frames)
    assert_same_results(found, expected, rtol=1e-12)
    assert_allclose(found.predict(frames[0]), expected.predict(X))


def test_a_grid_may_replace_the_regressor():
    X, y = smooth_function()
    model, _ = in_pipeline(RVFLRegressor(), {})
    grid = [
        {"net": [RVFLRegressor(random_state=0), DeepRVFLRegressor(random_state=1)],
         "net__C": [0.1, 10.0]},
        {"net": [Ridge()], "net__alpha": [0.1, 10.0]},
    ]  # fmt: skip
    assert_same_results(*both_searches(model, grid, X, y), rtol=1e-9)


def test_the_score_of_numbers_may_be_asked_of_a_classifier():
    ours, theirs = both_searches(
        RVFLClassifier(random_state=0), SHALLOW_GRID, *noisy_classes(), scoring="r2"
    )
    assert_same_results(ours, theirs, rtol=1e-12)


def test_the_hold_out_part_influences_no_weight():
    def biases(X, y):
        found = []

        def record(estimator, X, y):
            found.append(estimator.coef_.sum())
            return 0.0

        splits = [(np.arange(60), np.arange(60, 120))]
        model = RVFLRegressor(random_state=0)
        PathSearchCV(model, SHALLOW_GRID, cv=splits, scoring=record, refit=False).fit(X, y)
        return found

    X, y = smooth_function()
    changed_X, changed_y = X.copy(), y.copy()
    changed_X[60:] *= 50
    changed_y[60:] += 1000
    assert biases(X, y) == biases(changed_X, changed_y)
