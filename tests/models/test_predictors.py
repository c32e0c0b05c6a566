"""A fitted predictor of the family is told from everything else."""

import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from granulearn.datasets import make_pipeline_for
from granulearn.models.predictors import check_predictor, final_predictor, rows_for
from granulearn.rvfl import RVFLClassifier, RVFLRegressor

X, Y = [[0.0], [1.0], [2.0]], [0, 1, 1]
LINEAR = "sklearn.linear_model._base.LinearRegression"
SCALER = "sklearn.preprocessing._data.RobustScaler"


def test_the_final_predictor_is_found_however_deep_it_is():
    model = RVFLRegressor()
    assert final_predictor(model) is model
    assert final_predictor(make_pipeline(StandardScaler(), model)) is model
    assert (
        final_predictor(make_pipeline(make_pipeline(StandardScaler(), make_pipeline(model))))
        is model
    )


@pytest.mark.parametrize("predictor", [RVFLClassifier, RVFLRegressor])
def test_a_predictor_passes_once_it_is_fitted(predictor):
    for model in (predictor(), make_pipeline(StandardScaler(), predictor())):
        with pytest.raises(NotFittedError, match=predictor.__name__):
            check_predictor(model)
        check_predictor(model.fit(X, Y))


def test_every_step_must_be_fitted():
    fitted = RVFLClassifier().fit(X, Y)
    for steps in (
        [StandardScaler(), fitted],
        [make_pipeline(StandardScaler(), StandardScaler()), fitted],
    ):
        with pytest.raises(NotFittedError, match="StandardScaler"):
            check_predictor(make_pipeline(*steps))
    check_predictor(make_pipeline("passthrough", None, fitted))


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression().fit(X, Y),
        StandardScaler().fit(X),
        make_pipeline(RVFLRegressor().fit(X, Y), "passthrough"),
        Pipeline([]),
        RVFLRegressor,
        "RVFLRegressor",
    ],
    ids=str,
)
def test_anything_else_is_named(model):
    with pytest.raises(TypeError, match=r"\w+ is no classifier or regressor of granulearn"):
        check_predictor(model)


def test_the_caller_can_accept_another_type_if_it_predicts():
    check_predictor(LinearRegression().fit(X, Y), [LINEAR])
    with pytest.raises(TypeError, match="RobustScaler is no classifier or regressor"):
        check_predictor(RobustScaler().fit(X), [SCALER])


def test_rows_have_names_where_the_model_was_fitted_to_names():
    frame = pd.DataFrame(X, columns=["a"])
    by_names, by_places = RVFLClassifier().fit(frame, Y), RVFLClassifier().fit(X, Y)
    assert rows_for(by_names, frame) is frame
    assert rows_for(make_pipeline(StandardScaler(), by_names).fit(frame, Y), frame) is frame
    assert rows_for(by_places, frame).tolist() == X
    assert rows_for(make_pipeline(StandardScaler(), by_places).fit(X, Y), frame).tolist() == X
    assert rows_for(by_places, X) is X


def test_rows_keep_their_names_where_a_step_may_look_at_them():
    class Own(TransformerMixin, BaseEstimator):
        n_features_in_ = 1

        def transform(self, X):
            return X[["a"]]

    frame = pd.DataFrame(X, columns=["a"])
    assert rows_for(make_pipeline(Own(), RVFLClassifier()), frame) is frame
    numbered = pd.DataFrame(X)  # scikit-learn keeps no names that are no text
    pipeline = make_pipeline_for(numbered, RVFLClassifier()).fit(numbered, Y)
    assert rows_for(pipeline, numbered) is numbered
    assert rows_for(RVFLClassifier().fit(numbered, Y), numbered) is numbered
