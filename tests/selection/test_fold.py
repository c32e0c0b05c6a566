"""What reaches the last step of a pipeline, and what never does."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from granulearn.estimators import RVFLClassifier
from granulearn.preprocess import TablePreprocessor
from granulearn.selection.fold import Fold, OutcomeTable, Problem, fit_earlier_steps
from granulearn.selection.grid_run import join_folds
from tests.selection.searches import SMALL_GRID, assert_same_results, both_searches, noisy_classes

X, y = noisy_classes()
TRAIN, TEST = np.arange(60), np.arange(60, 90)


class Jitter(TransformerMixin, BaseEstimator):
    """A transformer whose `fit_transform` is not `fit` and then `transform`."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def fit_transform(self, X, y=None, shift=None):
        return self.fit(X).transform(X) + (1.0 if shift is None else shift[:, None])

    def transform(self, X):
        return 2 * X


def fold(estimator, X=X, y=y, fit_params=None, score_params=None, return_train_score=False):
    problem = Problem(
        estimator=estimator,
        settings=[{}],
        X=X,
        y=y,
        scorer=lambda model, X, y: model.score(X, y),
        fit_params=fit_params or {},
        score_params=score_params or {},
        scoring=None,
        return_train_score=return_train_score,
        error_score="raise",
        verbose=0,
    )
    return Fold(problem, TRAIN, TEST)


def pipeline():
    return Pipeline(
        [("scale", StandardScaler()), ("none", "passthrough"), ("jitter", Jitter()),
         ("net", RVFLClassifier(random_state=0))]
    )  # fmt: skip


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_last_step_on_its_inputs_is_the_whole_pipeline(depth):
    model = pipeline() if depth else RVFLClassifier(random_state=0)
    if depth == 2:
        model = Pipeline([("first", StandardScaler()), ("rest", model)])
    shift = np.linspace(0, 1, len(X))
    prefix = {0: None, 1: "jitter__shift", 2: "rest__jitter__shift"}[depth]
    fit_params = {prefix: shift} if prefix else {}
    last_name = {0: None, 1: "net", 2: "rest__net"}[depth]

    whole = clone(model).fit(X[TRAIN], y[TRAIN], **dict.fromkeys(fit_params, shift[TRAIN]))
    inputs = fit_earlier_steps(fold(model, fit_params=fit_params), clone(model))
    last = clone(model.get_params()[last_name] if last_name else model)
    fitted = last.fit(inputs.X, inputs.y, **inputs.fit_params)

    expected = whole.decision_function(X[TEST])
    assert_allclose(inputs.with_last_step(fitted).decision_function(X[TEST]), expected)
    assert_allclose(fitted.decision_function(inputs.transformed["test_scores"]), expected)
    assert set(inputs.with_last_step(fitted).get_params()) == set(whole.get_params())


def test_each_side_of_a_fold_gets_its_own_part():
    weights = np.arange(90.0)
    model = RVFLClassifier()
    here = fold(
        model,
        fit_params={"sample_weight": weights},
        score_params={"sample_weight": weights},
        return_train_score=True,
    )
    inputs = fit_earlier_steps(here, clone(model))
    assert_array_equal(inputs.X, X[TRAIN])
    assert_array_equal(inputs.fit_params["sample_weight"], weights[TRAIN])
    for name, index in [("test_scores", TEST), ("train_scores", TRAIN)]:
        assert_array_equal(inputs.scored[name].X, X[index])
        assert_array_equal(inputs.scored[name].y, y[index])
        assert_array_equal(inputs.scored[name].weights(), weights[index])


def test_without_weights_every_sample_counts_the_same():
    assert fold(RVFLClassifier()).scored_sets()["test_scores"].weights() is None


def test_the_hold_out_part_reaches_no_step_that_is_fitted():
    changed = X.copy()
    changed[TEST] = 1e3
    results = [fit_earlier_steps(fold(pipeline(), data), pipeline()) for data in (X, changed)]
    assert_array_equal(results[0].X, results[1].X)
    means = [result.pipeline.named_steps["scale"].mean_ for result in results]
    assert_array_equal(*means)


def outcome(score):
    return {"fit_error": None, "fit_time": 1.0, "score_time": 2.0, "test_scores": score}


@given(st.permutations(range(5)), st.integers(0, 5))
def test_joining_folds_puts_every_score_at_its_candidate_and_fold(places, n_together):
    tables = []
    for at in range(2):
        table = OutcomeTable(["test_scores"])
        together, alone = places[:n_together], places[n_together:]
        table.add_scores(together, {"test_scores": [10.0 * place + at for place in together]})
        for place in alone:
            table.add(place, outcome(10.0 * place + at))
        tables.append((at, table))
    joined = join_folds(tables, n_splits=2)
    assert joined["test_scores"] == [10.0 * place + at for place in range(5) for at in range(2)]
    assert joined["fit_error"] == [None] * 10


def test_scores_of_several_metrics_stay_together():
    table = OutcomeTable(["test_scores"])
    table.add(0, outcome({"a": 1.0, "b": 2.0}))
    assert join_folds([(0, table)], n_splits=1)["test_scores"] == [{"a": 1.0, "b": 2.0}]


def test_shared_time_adds_up_to_the_time_spent():
    table = OutcomeTable(["test_scores"])
    table.add(0, outcome(0.5))
    table.add_scores([1, 2, 3], {"test_scores": [0.1, 0.2, 0.3]})
    table.add(4, outcome(0.5))
    table.share_time(1, seconds=10.0)
    assert table.columns["fit_time"] == [1.0, 2.0, 2.0, 2.0, 2.0]
    table.share_time(len(table), seconds=1.0)  # nothing to share it among
    assert sum(table.columns["fit_time"]) == 9.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_crowded_columns_are_cross_fitted_in_each_fold_and_searches_agree(n_classes):
    numbers, labels = noisy_classes(150, n_classes)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(numbers, columns=list("abcd"))
    table["place"] = [f"place {k}" for k in rng.integers(0, 70, 150)]
    table["told"] = [
        f"{label}{k}" for label, k in zip(labels, rng.integers(0, 30, 150), strict=True)
    ]
    model = Pipeline(
        [
            ("preprocess", TablePreprocessor(max_one_hot=20)),
            ("model", RVFLClassifier(random_state=0)),
        ]
    )
    inputs = fit_earlier_steps(fold(model, table, labels), clone(model))
    train = table.iloc[TRAIN]
    whole = TablePreprocessor(max_one_hot=20).fit(train, labels[TRAIN])
    assert_array_equal(inputs.transformed["test_scores"], whole.transform(table.iloc[TEST]))
    assert_array_equal(inputs.X, clone(whole).fit_transform(train, labels[TRAIN]))
    assert not np.allclose(inputs.X, whole.transform(train))
    grid = {f"model__{name}": values for name, values in SMALL_GRID.items()}
    assert_same_results(*both_searches(model, grid, table, labels, return_train_score=True))
