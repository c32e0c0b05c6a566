"""Selection by leave-one-out, against refitting without each row."""

import numpy as np
import pytest
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
    ELMClassifier,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    GEGBRVFLClassifier,
    RVFLClassifier,
    SDAPGBRVFLClassifier,
    one_hot,
)
from tests.model_selection.searches import noisy_classes

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


def test_workers_change_nothing():
    X, y = noisy_classes()
    grid = {"C": [0.1, 10.0], "activation": ["relu", "sine"], "n_hidden": [5, 50]}
    alone, together = (
        PathSearchCV(RVFLClassifier(random_state=0), grid, selection="loo", n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    expected = alone.fit(X, y).cv_results_["mean_test_score"]
    assert_array_equal(together.fit(X, y).cv_results_["mean_test_score"], expected)


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


def test_a_wrong_value_is_still_named():
    search = PathSearchCV(RVFLClassifier(), {"C": [1.0, -1.0]}, selection="loo")
    with pytest.raises(ValueError, match="'C' parameter"):
        search.fit(*noisy_classes())


@pytest.mark.parametrize("asked", [{"scoring": "accuracy"}, {"return_train_score": True}])
def test_another_score_cannot_be_asked_for(asked):
    search = PathSearchCV(RVFLClassifier(), {"C": [1.0]}, selection="loo", **asked)
    with pytest.raises(ValueError, match="leave them out, or use selection='cv'"):
        search.fit(*noisy_classes())


def test_data_that_cannot_be_fitted_is_the_error_of_fit():
    X, y = noisy_classes()
    X[3, 1] = np.nan
    search = PathSearchCV(RVFLClassifier(), {"C": [1.0]}, selection="loo", error_score="raise")
    with pytest.raises(ValueError, match="NaN"):
        search.fit(X, y)


def test_candidates_that_overflow_are_reported_as_by_grid_search():
    X, y = noisy_classes()
    model = RVFLClassifier(random_state=0)
    search = PathSearchCV(model, {"C": [1.0]}, selection="loo", error_score=-9.0)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="fits failed"):
        search.fit(X * 1e200, y)


def test_noise_is_not_learnt_by_a_network_that_reaches_every_label():
    rng = np.random.default_rng(0)
    X, y = 1e4 * rng.normal(size=(40, 30)), rng.integers(0, 2, 40)
    grid = {"C": [1e-3, 1.0, 1e3, 1e5], "n_hidden": [203]}
    search = PathSearchCV(RVFLClassifier(random_state=0), grid, selection="loo").fit(X, y)
    assert search.cv_results_["mean_test_score"].max() < -0.3
