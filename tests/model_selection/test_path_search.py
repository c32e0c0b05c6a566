"""PathSearchCV against GridSearchCV itself."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    ParameterGrid,
    RepeatedStratifiedKFold,
    ShuffleSplit,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from threadpoolctl import threadpool_limits

from granulearn.balls import FuzzyMembership, SDAPMembership
from granulearn.model_selection import PathSearchCV, paper_grid
from granulearn.rvfl import (
    ACRVFLClassifier,
    CRVFLClassifier,
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    DeepRVFLRegressor,
    ELMRegressor,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    EnsembleDeepRVFLRegressor,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    GEGBRVFLClassifier,
    RVFLClassifier,
    RVFLRegressor,
    SDAPGBRVFLClassifier,
)
from tests.model_selection.searches import (
    SMALL_GRID,
    assert_same_results,
    both_searches,
    noisy_classes,
)
from tests.rvfl.families import ALL_CLASSIFIERS
from tests.rvfl.test_regression import smooth_function
from tests.shared_data import load_shared

pytestmark = pytest.mark.slow

X, y = noisy_classes()


@pytest.fixture(autouse=True)
def one_thread():
    """Many small systems: threads would wait for each other longer than they work."""
    with threadpool_limits(1):
        yield


PIPELINE = Pipeline([("scale", StandardScaler()), ("net", GBRVFLClassifier(random_state=0))])


@pytest.mark.parametrize(
    ("Classifier", "name"),
    [(Classifier, "cleve") for Classifier in ALL_CLASSIFIERS]
    + [(RVFLClassifier, "fertility"), (SDAPGBRVFLClassifier, "credit_approval")],
)
def test_results_are_those_of_grid_search_on_real_sets(Classifier, name):
    grid = {"C": [1e-5, 1.0, 1e5], "n_hidden": [3, 103, 203]}
    if Classifier not in (CRVFLClassifier, ACRVFLClassifier):
        grid["activation"] = ["relu", "radbas"]
    model = Pipeline([("scale", StandardScaler()), ("net", Classifier(random_state=0))])
    grid = {f"net__{key}": values for key, values in grid.items()}
    assert_same_results(*both_searches(model, grid, *load_shared(name), cv=3, refit=False))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("Classifier", ALL_CLASSIFIERS)
def test_any_number_of_classes_of_any_name(Classifier, n_classes):
    X, codes = noisy_classes(n_classes=n_classes)
    labels = np.array(["zebra", "ant", "mole"])[codes]
    ours, theirs = both_searches(Classifier(random_state=0), SMALL_GRID, X, labels)
    assert_same_results(ours, theirs)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.score(X, labels) == theirs.score(X, labels)


def test_scaling_is_fitted_in_every_fold_and_may_be_searched():
    grid = {
        "scale": [StandardScaler(), MinMaxScaler(), "passthrough"],
        "net__purity": [0.8, 1.0],
        "net__C": [0.1, 10.0],
        "net__n_hidden": [3, 30],
    }
    assert_same_results(*both_searches(PIPELINE, grid, X * [1, 10, 100, 1000], y))


def test_a_list_of_grids_may_vary_everything():
    grid = [
        {"purity": [0.7, 1.0], "membership": ["fuzzy", SDAPMembership(n_neighbors=1)]},
        {"C": [0.1, 10.0], "membership": [FuzzyMembership(level="ball")], "n_hidden": [3, 30]},
        {"activation": ["sine"], "class_weight": ["balanced", None, {0: 1.0, 1: 3.0}]},
        {"init": ["class-means"], "min_ball_size": np.arange(1, 3), "random_state": [0, 1]},
    ]
    assert_same_results(*both_searches(FGBRVFLClassifier(random_state=0), grid, X, y))


def test_a_grid_may_replace_the_classifier():
    grid = [
        {"net": [RVFLClassifier(random_state=0), SDAPGBRVFLClassifier(random_state=1)],
         "net__C": [0.1, 10.0]},
        {"net": [LogisticRegression()], "net__C": [0.1, 10.0]},
    ]  # fmt: skip
    assert_same_results(*both_searches(PIPELINE, grid, X, y))


@pytest.mark.parametrize(
    "cv",
    [
        2,
        KFold(4),
        ShuffleSplit(3, random_state=0),
        RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
        [(np.arange(40), np.arange(40, 90)), (np.arange(50, 90), np.arange(50))],
    ],
    ids=["integer", "k-fold", "shuffled", "repeated", "listed"],
)
def test_any_splitter(cv):
    assert_same_results(*both_searches(RVFLClassifier(random_state=0), SMALL_GRID, X, y, cv=cv))


@pytest.mark.parametrize("scoring", [None, "accuracy", "f1"])
@pytest.mark.parametrize("Classifier", [RVFLClassifier, SDAPGBRVFLClassifier, ACRVFLClassifier])
def test_weights_and_memberships_reach_each_fold(Classifier, scoring):
    rng = np.random.default_rng(0)
    fit_params = {
        "sample_weight": rng.choice([0.5, 1.0, 2.0], size=90),
        "sample_membership": rng.uniform(0.1, 1, size=90),
    }
    model = Classifier(random_state=0)
    ours, theirs = both_searches(model, SMALL_GRID, X, y, fit_params, scoring=scoring)
    assert_same_results(ours, theirs, rtol=1e-12)
    assert_array_equal(ours.best_estimator_.coef_, theirs.best_estimator_.coef_)
    unweighted = PathSearchCV(model, SMALL_GRID, scoring=scoring).fit(X, y)
    assert (ours.cv_results_["mean_test_score"] != unweighted.cv_results_["mean_test_score"]).any()


@pytest.mark.parametrize("test_weight", [0.0, np.nan])
def test_weights_without_an_accuracy_are_the_scorer_s_error(test_weight):
    weights = np.ones(90)
    weights[60:] = test_weight
    train, test = np.arange(60), np.arange(60, 90)
    with config_context(enable_metadata_routing=True):
        model = RVFLClassifier(random_state=0).set_fit_request(sample_weight=False)
        model.set_score_request(sample_weight=True)
        searches = [
            cls(model, {"C": [0.1, 1.0]}, cv=[(train, test)], refit=False)
            for cls in (PathSearchCV, GridSearchCV)
        ]
        for search in searches:
            with warnings.catch_warnings(action="ignore"):
                search.fit(X, y, sample_weight=weights)
    assert np.isnan(searches[0].cv_results_["mean_test_score"]).all()
    assert_same_results(*searches)


def test_routed_metadata_reach_their_steps():
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=90)
    with config_context(enable_metadata_routing=True):
        model = Pipeline(
            [
                ("scale", StandardScaler().set_fit_request(sample_weight=True)),
                ("net", RVFLClassifier(random_state=0).set_fit_request(sample_weight=True)),
            ]
        )
        scoring = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        grid = {f"net__{name}": values for name, values in SMALL_GRID.items()}
        ours, theirs = both_searches(model, grid, X, y, {"sample_weight": weights}, scoring=scoring)
    assert_same_results(ours, theirs)


def test_several_metrics():
    scoring = ["accuracy", "roc_auc", "neg_log_loss"]
    ours, theirs = both_searches(
        RVFLClassifier(random_state=0), SMALL_GRID, X, y,
        scoring=scoring, refit="roc_auc", return_train_score=True,
    )  # fmt: skip
    assert_same_results(ours, theirs, rtol=1e-9)
    assert ours.multimetric_
    assert set(ours.scorer_) == set(scoring)


def weight_size(estimator, X, y):
    """Score something that only a truly fitted estimator can tell."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    agreement = np.mean(estimator.predict(X) == y)
    return {
        "size": float(np.abs(last.coef_).sum()),
        "agreement": agreement,
        "C": last.get_params()["C"],
        "n_hidden": len(last.features_.weights),
        "n_balls": len(last.balls_),
    }


def test_a_callable_scorer_gets_a_fitted_estimator():
    grid = {f"net__{name}": values for name, values in SMALL_GRID.items()}
    ours, theirs = both_searches(PIPELINE, grid, X, y, scoring=weight_size, refit="agreement")
    assert_same_results(ours, theirs, rtol=1e-9)
    assert_allclose(
        ours.cv_results_["mean_test_C"], [g["net__C"] for g in ours.cv_results_["params"]]
    )


@pytest.mark.parametrize("scoring", [None, "f1"])
def test_training_scores(scoring):
    ours, theirs = both_searches(
        RVFLClassifier(random_state=0), SMALL_GRID, X, y, scoring=scoring, return_train_score=True
    )
    assert_same_results(ours, theirs)
    assert "mean_train_score" in ours.cv_results_


def test_data_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=list("abcd"))
    ours, theirs = both_searches(PIPELINE, {"net__C": [0.1, 1.0]}, frame, pd.Series(y))
    assert_same_results(ours, theirs)
    assert ours.feature_names_in_.tolist() == list("abcd")
    assert ours.n_features_in_ == 4


def test_refit_may_be_a_choice_of_one_s_own_or_none():
    def last(results):
        return len(results["params"]) - 1

    ours, theirs = both_searches(RVFLClassifier(random_state=0), SMALL_GRID, X, y, refit=last)
    assert_same_results(ours, theirs)
    assert not hasattr(ours, "best_score_")
    search = PathSearchCV(RVFLClassifier(random_state=0), SMALL_GRID, refit=False).fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "predict")


def test_a_refused_value_fails_its_candidates_only():
    grid = {"C": [1.0, -1.0], "n_hidden": [3, 9]}
    searches = [cls(RVFLClassifier(random_state=0), grid) for cls in (PathSearchCV, GridSearchCV)]
    for search in searches:
        with warnings.catch_warnings(action="ignore"):
            search.fit(X, y)
    assert_same_results(*searches)
    assert np.isnan(searches[0].cv_results_["mean_test_score"]).tolist() == [
        False,
        False,
        True,
        True,
    ]
    with pytest.raises(ValueError, match="'C' parameter"):
        PathSearchCV(RVFLClassifier(), grid, error_score="raise").fit(X, y)


def test_the_hold_out_part_influences_no_weight():
    def first_weights(X, y):
        sizes = []

        def record(estimator, X, y):
            sizes.append(np.abs(estimator[-1].coef_).sum())
            return 0.0

        train, test = np.arange(60), np.arange(60, 90)
        grid = {"net__C": [0.1, 10.0], "net__n_hidden": [3, 20]}
        PathSearchCV(PIPELINE, grid, cv=[(train, test)], scoring=record, refit=False).fit(X, y)
        return sizes

    changed_X, changed_y = X.copy(), y.copy()
    changed_X[60:] = np.random.default_rng(0).normal(size=(30, 4)) * 50
    changed_y[60:] = 1 - changed_y[60:]
    assert sorted(first_weights(X, y)) == sorted(first_weights(changed_X, changed_y))


def by_hand(model, X, y):
    return np.mean(model.predict(X) == y)


@pytest.mark.parametrize("model", [GBRVFLClassifier, GEGBRVFLClassifier, DeepGBRVFLClassifier])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss", by_hand])
def test_rows_of_one_class_predict_it_and_say_so(model, scoring):
    one_sided = np.array([0] * 84 + [1] * 6)
    with pytest.warns(UserWarning, match="every prediction is that class"):
        ours, theirs = both_searches(
            model(purity=0.1, random_state=0), {"C": [1.0, 2.0], "n_hidden": [3, 9]}, X, one_sided,
            cv=3, scoring=scoring, return_train_score=True,
        )  # fmt: skip
    assert_same_results(ours, theirs)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_every_graph_is_searched_as_grid_search_does(scoring):
    grid = [
        {"graph": ["lda"], "gamma": [0.0, 3.0], **SMALL_GRID},
        {"graph": ["lda", "mda"], "graph_form": ["symmetric"], **SMALL_GRID},
        {"graph": ["lfda"], "membership": ["fuzzy"], **SMALL_GRID},
    ]
    model = GEGBRVFLClassifier(random_state=0)
    ours, theirs = both_searches(model, grid, X, y, scoring=scoring, cv=2)
    assert_same_results(ours, theirs, rtol=1e-6)


DEEP_GRID = {
    "C": [1e-3, 1e3],
    "n_layers": [1, 2, 4],
    "n_hidden": [3, 30],
    "activation": ["relu", "sine"],
}
every_deep_form = pytest.mark.parametrize(
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


@every_deep_form
@pytest.mark.parametrize(("n_classes", "scoring"), [(2, "neg_log_loss"), (3, "accuracy")])
def test_deep_networks_have_the_scores_of_grid_search(model, n_classes, scoring):
    X, y = noisy_classes(120, n_classes)
    weights = {"sample_weight": np.random.default_rng(0).integers(0, 3, len(X)) + 0.5}
    ours, theirs = both_searches(model, DEEP_GRID, X, y, weights, cv=3, scoring=scoring)
    assert_same_results(ours, theirs, rtol=1e-7)


@pytest.mark.parametrize("Classifier", [RVFLClassifier, CRVFLClassifier, ACRVFLClassifier])
def test_networks_wider_than_their_rows(Classifier):
    ours, theirs = both_searches(Classifier(random_state=0), {"n_hidden": [5, 200]}, X, y, cv=3)
    assert_same_results(ours, theirs)


def test_balls_are_made_once_per_fold_and_ball_setting(monkeypatch):
    made = []
    original = SDAPGBRVFLClassifier._prepare
    monkeypatch.setattr(
        SDAPGBRVFLClassifier,
        "_prepare",
        lambda self, *args: made.append(self) or original(self, *args),
    )
    grid = {"purity": [0.8, 1.0], "activation": ["relu", "sine"], **SMALL_GRID}
    PathSearchCV(SDAPGBRVFLClassifier(random_state=0), grid, cv=3, refit=False).fit(X, y)
    assert len(made) == 3 * 2


@pytest.mark.parametrize("n_jobs", [2, 30])
def test_workers_change_no_result(n_jobs):
    grid = {"purity": [0.8, 0.9], "activation": ["relu", "sine"], "C": [1.0, 2.0, -1.0]}
    model = GBRVFLClassifier(random_state=0)
    searches = [PathSearchCV(model, grid), PathSearchCV(model, grid, n_jobs=n_jobs)]
    with joblib.parallel_config("threading"), warnings.catch_warnings(action="ignore"):
        assert_same_results(*(search.fit(X, y) for search in searches))


def test_an_error_in_shared_work_is_reported_for_each_candidate(monkeypatch):
    def broken(*args):
        raise AttributeError("a bug")

    monkeypatch.setattr(RVFLClassifier, "_features", broken)
    with pytest.raises(ValueError, match=r"(?s)All the 45 fits failed.*AttributeError: a bug"):
        PathSearchCV(RVFLClassifier(), SMALL_GRID).fit(X, y)
    with pytest.raises(AttributeError, match="a bug"):
        PathSearchCV(RVFLClassifier(), SMALL_GRID, error_score="raise").fit(X, y)


@pytest.mark.parametrize("verbose", [1, 0])
def test_a_search_shows_its_progress_when_asked(verbose, capsys):
    PathSearchCV(RVFLClassifier(), {"C": [1.0]}, verbose=verbose).fit(X, y)
    assert ("searching" in capsys.readouterr().err) == bool(verbose)


def test_the_paper_s_grid_has_1089_candidates():
    grid = paper_grid()
    assert len(ParameterGrid(grid)) == 1089
    RVFLClassifier(activation=grid["activation"][0], n_hidden=grid["n_hidden"][0]).fit(X, y)


# ---- regressors


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
