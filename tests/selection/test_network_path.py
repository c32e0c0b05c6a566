"""What is computed how often, and who solves what the shared factor must not."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from granulearn.estimators import (
    ACRVFLClassifier,
    CRVFLClassifier,
    DeepGBRVFLClassifier,
    GBRVFLClassifier,
    GEGBRVFLClassifier,
    RVFLClassifier,
    SDAPGBRVFLClassifier,
)
from granulearn.network import IllConditionedWarning
from granulearn.selection import PathSearchCV, judging, network_path
from granulearn.selection.network_path import WidthColumns
from granulearn.selection.ridge_path import RidgePath
from tests.selection.searches import SMALL_GRID, assert_same_results, both_searches, noisy_classes

X, y = noisy_classes()


def by_hand(model, X, y):
    return np.mean(model.predict(X) == y)


@pytest.fixture
def count_calls(monkeypatch):
    """Return a function that counts the calls of another one, by its dotted name."""

    def count(target):
        module_name, name = target.rsplit(".", 1)
        module = __import__(module_name, fromlist=[name])
        function, calls = getattr(module, name), []

        def counted(*args, **kwargs):
            calls.append(args)
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, counted)
        return calls

    return count


def test_balls_are_made_once_per_fold_and_ball_setting(count_calls):
    made = count_calls("granulearn.estimators.ball_rvfl.make_balls")
    grid = {"purity": [0.8, 1.0], "activation": ["relu", "sine"], **SMALL_GRID}
    PathSearchCV(SDAPGBRVFLClassifier(random_state=0), grid, cv=3, refit=False).fit(X, y)
    assert len(made) == 3 * 2


def test_one_gram_per_fold_and_activation_and_one_factor_per_penalty(count_calls):
    grams = count_calls("granulearn.selection.network_path.normal_equations")
    factors = count_calls("granulearn.selection.network_path.factor_ridge")
    grid = {"activation": ["relu", "sine"], **SMALL_GRID}
    PathSearchCV(RVFLClassifier(random_state=0), grid, cv=3, refit=False).fit(X, y)
    assert len(grams) == 3 * 2
    assert len(factors) == 3 * 2 * 3


@pytest.mark.parametrize("Classifier", [RVFLClassifier, CRVFLClassifier, ACRVFLClassifier])
def test_networks_much_wider_than_their_rows_are_solved_alone(Classifier, count_calls):
    alone = count_calls("granulearn.selection.network_path._evaluate_alone")
    model, grid = Classifier(random_state=0), {"n_hidden": [5, 700]}
    ours, theirs = both_searches(model, grid, X, y, cv=3)
    assert_same_results(ours, theirs)
    assert {network["n_hidden"] for _, _, network, _ in alone} == {700}


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_what_rounding_could_change_is_solved_as_fit_does(scoring, count_calls, monkeypatch):
    alone = count_calls("granulearn.selection.network_path._evaluate_alone")
    monkeypatch.setattr(network_path, "rounding_error", lambda condition: 1e-3)
    monkeypatch.setattr(judging, "LARGEST_ERROR_FOR_LABELS", 1.0)
    monkeypatch.setattr(judging, "LARGEST_ERROR_FOR_SCORES", 1.0)
    monkeypatch.setattr(RidgePath, "moved_by_rounding", lambda *_: np.full((1, 1), np.inf))
    ours, theirs = both_searches(RVFLClassifier(random_state=0), SMALL_GRID, X, y, scoring=scoring)
    assert 0 < len(alone) < 5 * 9
    assert_same_results(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize(
    "Classifier", [RVFLClassifier, GEGBRVFLClassifier, CRVFLClassifier, ACRVFLClassifier]
)
def test_leads_that_are_small_everywhere_seldom_need_the_solver_of_fit(Classifier, count_calls):
    alone = [
        count_calls("granulearn.selection.network_path._evaluate_alone"),
        count_calls("granulearn.selection.graph_path.solve_graph_ridge"),
    ]
    # Columns that hardly differ make a system near to singular, and tell no class.
    rng = np.random.default_rng(0)
    walks = rng.normal(size=(150, 1)) + 0.01 * rng.normal(size=(150, 30)).cumsum(axis=1)
    labels = rng.integers(2, size=150)
    grid = {"C": [1e-3, 1e1, 1e5], "n_hidden": [3, 10, 40]}
    ours, theirs = both_searches(Classifier(random_state=0), grid, walks, labels, cv=3)
    assert_same_results(ours, theirs)
    assert sum(map(len, alone)) <= 3  # of 27


def test_an_exact_tie_is_decided_as_fit_does():
    tied_X = np.array([[-1.0], [1.0]] * 20)
    tied_y = np.array([0, 1, 1, 0] * 10)
    grid = {"C": [1e-5, 1.0, 1e5], "n_hidden": [1, 5], "activation": ["relu", "sign"]}
    cv = StratifiedKFold(4)
    assert_same_results(*both_searches(RVFLClassifier(random_state=0), grid, tied_X, tied_y, cv=cv))


def test_badly_scaled_data_get_the_safe_solver_and_a_warning():
    scaled = X * [1e-6, 1.0, 1e6, 1e9]
    search = PathSearchCV(RVFLClassifier(random_state=0), {"C": [1e5], "n_hidden": [20]}, cv=3)
    with pytest.warns(IllConditionedWarning, match="C=100000"):
        search.fit(scaled, y)
    with warnings.catch_warnings(action="ignore"):
        expected = GridSearchCV(search.estimator, search.param_grid, cv=3).fit(scaled, y)
    assert_same_results(search, expected)


def test_where_cholesky_fails_the_solver_of_fit_decides(monkeypatch, count_calls):
    alone = count_calls("granulearn.selection.network_path._evaluate_alone")
    monkeypatch.setattr(network_path, "factor_ridge", lambda equations, C: None)
    ours, theirs = both_searches(GBRVFLClassifier(random_state=0), SMALL_GRID, X, y, cv=3)
    assert len(alone) == 3 * 9
    assert_same_results(ours, theirs)


@pytest.mark.parametrize("model", [GBRVFLClassifier, GEGBRVFLClassifier, DeepGBRVFLClassifier])
@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "neg_log_loss", by_hand])
def test_rows_of_one_class_predict_it_and_say_so(model, scoring, count_calls):
    """They are fitted and scored once, unless a function may look at the network."""
    one_sided = np.array([0] * 84 + [1] * 6)
    alone = count_calls("granulearn.selection.network_path._evaluate_alone")
    with pytest.warns(UserWarning, match="every prediction is that class"):
        ours, theirs = both_searches(
            model(purity=0.1, random_state=0),
            {"C": [1.0, 2.0], "n_hidden": [3, 9]},
            X,
            one_sided,
            cv=3,
            scoring=scoring,
            return_train_score=True,
        )
    assert_same_results(ours, theirs)
    assert len(alone) == (3 * 4 if callable(scoring) else 0)


def test_columns_beyond_the_limit_gain_nothing():
    columns = WidthColumns(fixed=4, per_node=2, limit=10)
    assert columns.of(np.array([1, 3, 4])).tolist() == [6, 10]
    assert columns.narrow(np.array([4, 1, 3])).tolist() == [1, 3]
