"""Selection by leave-one-out, against refitting without each row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn.model_selection import PathSearchCV
from granulearn.rvfl import (
    ACRVFLClassifier,
    CRVFLClassifier,
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    DeepRVFLRegressor,
    ELMClassifier,
    ELMRegressor,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    EnsembleDeepRVFLRegressor,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    GEGBRVFLClassifier,
    RVFLClassifier,
    RVFLEnsembleRegressor,
    RVFLRegressor,
    SDAPGBRVFLClassifier,
    one_hot,
)
from tests.model_selection.searches import noisy_classes
from tests.rvfl.test_regression import smooth_function

SHALLOW = [RVFLClassifier, ELMClassifier, ACRVFLClassifier]
ON_BALLS = [GBRVFLClassifier, FGBRVFLClassifier, SDAPGBRVFLClassifier]
DEEP = [DeepRVFLClassifier, EnsembleDeepRVFLClassifier]
DEEP_ON_BALLS = [DeepGBRVFLClassifier, EnsembleDeepGBRVFLClassifier]


def ridge(H, Y, weights, C):
    system = H.T @ (weights[:, None] * H) + np.eye(H.shape[1]) / C
    return np.linalg.solve(system, H.T @ (weights[:, None] * Y))


def error_by_refitting(model, X, y, **passed):
    """Return the squared error over the rows, each predicted by ridges fitted without it.

    The slow, obvious way; features, balls and memberships stay those of all samples.
    """
    model = clone(model)
    rows, seeds = model._prepare(model._check(X, y, **passed))
    features = model._features(rows, seeds)
    C = 2 * model.C if isinstance(model, ACRVFLClassifier) else model.C
    weights = np.ones(len(rows.X)) if rows.weights is None else rows.weights
    Y = one_hot(rows.codes, len(model.classes_)).astype(float)
    parts = list(features.designs(rows.X))
    parts = parts if "Ensemble" in type(model).__name__ else parts[-1:]
    error = 0.0
    for i in range(len(Y)):
        rest = np.arange(len(Y)) != i
        outputs = [H[i] @ ridge(H[rest], Y[rest], weights[rest], C) for H in parts]
        error += weights[i] * np.square(np.mean(outputs, axis=0) - Y[i]).sum()
    return error / weights.sum()


def check_against_refitting(model, grid, X, y, **passed):
    search = PathSearchCV(model, grid, selection="loo").fit(X, y, **passed)
    results = search.cv_results_
    assert search.n_splits_ == 1
    assert_array_equal(results["split0_test_score"], results["mean_test_score"])
    for parameters, score in zip(results["params"], results["mean_test_score"], strict=True):
        expected = error_by_refitting(clone(model).set_params(**parameters), X, y, **passed)
        assert score == pytest.approx(-expected, rel=1e-6)
    assert search.best_score_ == results["mean_test_score"].max()


@pytest.mark.parametrize("classifier", SHALLOW + ON_BALLS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_errors_of_refits_without_each_row(classifier, n_classes):
    X, y = noisy_classes(50, n_classes)
    activation = {"activation": ["asinh"]} if classifier is ACRVFLClassifier else {}
    grid = {"C": [1e-2, 1e2], "n_hidden": [2, 60], **activation}
    check_against_refitting(classifier(random_state=0), grid, X, y)


@pytest.mark.parametrize("classifier", DEEP + DEEP_ON_BALLS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_deep_networks_are_errors_of_refits_without_each_row(classifier, n_classes):
    X, y = noisy_classes(40, n_classes)
    grid = {"C": [1e-2, 1e2], "n_hidden": [3, 25], "n_layers": [1, 3], "activation": ["sine"]}
    check_against_refitting(classifier(random_state=0), grid, X, y)


@pytest.mark.parametrize("classifier", [RVFLClassifier, SDAPGBRVFLClassifier, *DEEP])
def test_weights_and_memberships_count(classifier):
    X, y = noisy_classes(40)
    rng = np.random.default_rng(0)
    passed = {
        "sample_weight": np.append(rng.uniform(0.2, 2, 38), [0, 0]),
        "sample_membership": rng.uniform(0.1, 1, 40),
    }
    model = classifier(random_state=0, n_hidden=9)
    check_against_refitting(model, {"C": [0.1, 10.0]}, X, y, **passed)


def test_the_settings_of_least_error_are_refitted_on_all_samples():
    X, y = noisy_classes()
    grid = {"C": [0.1, 10.0], "n_hidden": [5, 50]}
    search = PathSearchCV(RVFLClassifier(random_state=0), grid, selection="loo").fit(X, y)
    expected = clone(search.estimator).set_params(**search.best_params_).fit(X, y)
    assert_array_equal(search.predict(X), expected.predict(X))


def test_a_pipeline_is_fitted_to_all_samples_before():
    X, y = noisy_classes()
    X = 1000 * X + 5
    grid = {"C": [0.1, 10.0], "n_hidden": [5, 50]}
    network = RVFLClassifier(random_state=0)
    pipeline = make_pipeline(StandardScaler(), network)
    in_pipeline = {f"rvflclassifier__{name}": values for name, values in grid.items()}
    whole = PathSearchCV(pipeline, in_pipeline, selection="loo").fit(X, y)
    alone = PathSearchCV(network, grid, selection="loo").fit(StandardScaler().fit_transform(X), y)
    assert_allclose(whole.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (EnsembleDeepRVFLClassifier(combine="vote"), {"C": [1.0]}),
        (EnsembleDeepRVFLClassifier(), {"combine": ["mean", "vote"]}),
        (CRVFLClassifier(), {"C": [1.0]}),
        (GEGBRVFLClassifier(), {"C": [1.0]}),
        (LogisticRegression(), {"C": [1.0]}),
    ],
)
def test_what_it_is_not_offered_for_is_an_error_that_says_so(model, grid):
    with pytest.raises(ValueError, match=r"is not offered for .* Use selection='cv'"):
        PathSearchCV(model, grid, selection="loo").fit(*noisy_classes())


@pytest.mark.parametrize("asked", [{"scoring": "accuracy"}, {"return_train_score": True}])
def test_another_score_cannot_be_asked_for(asked):
    search = PathSearchCV(RVFLClassifier(), {"C": [1.0]}, selection="loo", **asked)
    with pytest.raises(ValueError, match="leave them out, or use selection='cv'"):
        search.fit(*noisy_classes())


def test_noise_is_not_learnt_by_a_network_that_reaches_every_label():
    rng = np.random.default_rng(0)
    X, y = 1e4 * rng.normal(size=(40, 30)), rng.integers(0, 2, 40)
    grid = {"C": [1e-3, 1.0, 1e3, 1e5], "n_hidden": [203]}
    search = PathSearchCV(RVFLClassifier(random_state=0), grid, selection="loo").fit(X, y)
    assert search.cv_results_["mean_test_score"].max() < -0.3


# ---- regressors


# Features that do not depend on the samples, so that the fits share them.
MODELS = [
    RVFLRegressor(activation="sine", random_state=0),
    ELMRegressor(activation="sigmoid", random_state=0),
    DeepRVFLRegressor(activation="sine", normalize=False, random_state=0),
    EnsembleDeepRVFLRegressor(activation="sine", normalize=False, random_state=0),
]
every_regressor = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
DEEP_MODELS = [DeepRVFLRegressor, EnsembleDeepRVFLRegressor]


def grid_of(model):
    """Return penalties and sizes, some of more columns than there are samples."""
    if type(model) in DEEP_MODELS:
        return {"C": [1e-2, 1.0, 1e2], "n_hidden": [2, 15], "n_layers": [1, 3]}
    return {"C": [1e-2, 1.0, 1e2], "n_hidden": [2, 30]}


def error_by_fitting(model, X, y, weights):
    """Return the squared error over the samples that count, each predicted without it."""
    error = 0.0
    for i in np.flatnonzero(weights):
        rest = np.arange(len(X)) != i
        fitted = clone(model).fit(X[rest], y[rest], sample_weight=weights[rest])
        error += weights[i] * np.square(fitted.predict(X[[i]])[0] - y[i]).sum()
    return error / weights.sum()


def check_against_fitting(model, grid, X, y, weights=None):
    passed = {} if weights is None else {"sample_weight": weights}
    search = PathSearchCV(model, grid, selection="loo", refit=False).fit(X, y, **passed)
    weights = np.ones(len(X)) if weights is None else weights
    expected = [
        -error_by_fitting(clone(model).set_params(**parameters), X, y, weights)
        for parameters in search.cv_results_["params"]
    ]
    assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-7)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


@every_regressor
@given(
    seed=st.integers(0, 2**32 - 1),
    n_samples=st.integers(2, 14),
    n_outputs=st.sampled_from([None, 1, 3]),
    weighted=st.booleans(),
)
@settings(max_examples=10)
def test_scores_are_errors_of_fits_without_each_sample(model, seed, n_samples, n_outputs, weighted):
    X, y = smooth_function(n_samples, n_outputs, seed)
    weights = np.random.default_rng(seed).uniform(0.2, 2, n_samples) if weighted else None
    check_against_fitting(model, grid_of(model), X, y, weights)


def ridge_around_mean(H, Y, weights, C):
    """Return the function that predicts, fitted in the slow, obvious way."""
    mean = np.average(Y, axis=0, weights=weights)
    A = H.T * weights
    theta = np.linalg.solve(A @ H + np.eye(H.shape[1]) / C, A @ (Y - mean))
    return lambda h: h @ theta + mean


@pytest.mark.parametrize("Regressor", DEEP_MODELS)
def test_normalised_layers_stay_those_of_all_samples(Regressor):
    X, Y = smooth_function(30, n_outputs=2)
    weights = np.random.default_rng(0).uniform(0.2, 2, 30)
    model = Regressor(3, n_hidden=8, random_state=0)
    search = PathSearchCV(model, {"C": [0.1, 10.0]}, selection="loo", refit=False)
    scores = search.fit(X, Y, sample_weight=weights).cv_results_["mean_test_score"]
    features = clone(model).fit(X, Y, sample_weight=weights).features_
    parts = [features(X)] if Regressor is DeepRVFLRegressor else list(features.layers(X))
    for C, score in zip([0.1, 10.0], scores, strict=True):
        left_out = np.empty_like(Y)
        for i in range(30):
            rest = np.arange(30) != i
            left_out[i] = np.mean(
                [ridge_around_mean(H[rest], Y[rest], weights[rest], C)(H[i]) for H in parts], axis=0
            )
        errors = np.square(left_out - Y).sum(axis=1)
        assert score == pytest.approx(-np.average(errors, weights=weights), rel=1e-7)


@every_regressor
def test_shifting_the_targets_changes_no_score(model):
    X, y = smooth_function(40)
    scores = [
        PathSearchCV(model, grid_of(model), selection="loo", refit=False)
        .fit(X, targets)
        .cv_results_["mean_test_score"]
        for targets in (y, y + 1e4)
    ]
    assert_allclose(*scores, rtol=1e-7)


@every_regressor
def test_several_targets_add_their_errors(model):
    X, Y = smooth_function(40, n_outputs=3)

    def scores(targets):
        search = PathSearchCV(model, grid_of(model), selection="loo", refit=False)
        return search.fit(X, targets).cv_results_["mean_test_score"]

    assert_allclose(scores(Y), np.sum([scores(y) for y in Y.T], axis=0), rtol=1e-7)


def test_the_only_sample_that_counts_cannot_be_left_out():
    search = PathSearchCV(RVFLRegressor(), {"C": [1.0]}, selection="loo")
    with pytest.raises(ValueError, match="leave-one-out needs two or more"):
        search.fit(np.ones((2, 2)), [1.0, 2.0], sample_weight=[1.0, 0.0])


def test_an_ensemble_that_tunes_itself_is_refused_with_the_regressors_that_are_not():
    offered = "DeepRVFLRegressor, .*ELMRegressor, .*EnsembleDeepRVFLRegressor, .* RVFLRegressor, .*"
    search = PathSearchCV(RVFLEnsembleRegressor(), {"random_state": [0, 1]}, selection="loo")
    with pytest.raises(ValueError, match=f"is not offered for .* {offered}"):
        search.fit(*smooth_function())
