"""What reaches the last step of a pipeline, and what never does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from granulearn.estimators import RVFLClassifier
from granulearn.selection.fold import Fold, Problem, fit_earlier_steps
from tests.selection.searches import noisy_classes

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
