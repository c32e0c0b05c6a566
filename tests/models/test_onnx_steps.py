"""Steps of pipelines lose no digits on their way to ONNX."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from granulearn.datasets import make_pipeline_for
from granulearn.models import to_onnx
from granulearn.rvfl import RVFLClassifier, RVFLRegressor
from tests.models.test_onnx_converters import run


def seconds_since_1970(n_rows=80):
    """Return times within a minute: in single precision they would all be the same."""
    rng = np.random.default_rng(0)
    X = 1.7e9 + rng.uniform(0, 60, (n_rows, 2))
    return X, np.sin(X[:, 0] - 1.7e9) + X[:, 1] - 1.7e9


@pytest.mark.parametrize("as_table", [False, True])
@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [StandardScaler(with_std=False)],
        [StandardScaler(), StandardScaler(with_mean=False)],
        [StandardScaler(), StandardScaler(with_mean=False, with_std=False)],
        [SimpleImputer(), StandardScaler()],
    ],
    ids=str,
)
def test_numbers_are_scaled_in_double_precision(steps, as_table):
    X, y = seconds_since_1970()
    X = pd.DataFrame(X, columns=["start", "end"]) if as_table else X
    pipeline = make_pipeline(*steps, RVFLRegressor(random_state=0)).fit(X, y)
    (predictions,) = run(to_onnx(pipeline, X), X)
    assert_allclose(predictions[:, 0], pipeline.predict(X), rtol=1e-9)


def crowded_table(n_categories, n_classes, n_rows=3000):
    """Return a table with two crowded columns, labels, and rows to predict: some are new."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_rows)
    names = np.array([f"Straße {k}, “{k % 7}”" for k in range(n_categories)], dtype=object)
    X = pd.DataFrame(
        {
            "street": rng.choice(names, n_rows),
            "size": y + rng.normal(size=n_rows),
            "other street": names[(rng.integers(0, 30, n_rows) * (y + 1)) % n_categories],
        }
    )
    X.loc[rng.random(n_rows) < 0.05, "street"] = None
    new = X.head(50).copy()
    new.loc[3, "street"], new.loc[4, "other street"], new.loc[5, "street"] = "nowhere", "n/a", None
    return X, np.array([f"class {code}" for code in y]), new


def test_crowded_columns_agree_for_new_and_missing_cells_in_double_precision():
    for n_categories, n_classes in [(60, 2), (60, 3), (1000, 2), (1000, 4)]:
        X, y, new = crowded_table(n_categories, n_classes)
        model = make_pipeline_for(X, RVFLClassifier(random_state=0)).fit(X, y)
        assert model[-1].n_features_in_ == 1 + 2 * (1 if n_classes == 2 else n_classes)
        labels, probabilities = run(to_onnx(model, new), new)
        assert_allclose(probabilities, model.predict_proba(new), atol=1e-12)
        assert labels.tolist() == model.predict(new).tolist()


def test_crowded_columns_of_regressors_agree():
    X, _, new = crowded_table(100, 2)
    y = X["size"] + X["other street"].str.len()
    model = make_pipeline_for(X, RVFLRegressor(random_state=0)).fit(X, y)
    (predictions,) = run(to_onnx(model, new), new)
    assert_allclose(predictions[:, 0], model.predict(new), rtol=1e-9)


def test_wide_one_hot_columns_agree_and_the_model_grows_with_the_categories_only():
    X, y, new = crowded_table(1000, 3)
    model = make_pipeline_for(X, RVFLClassifier(n_hidden=5, random_state=0), many=()).fit(X, y)
    onnx_model = to_onnx(model, new)
    assert_allclose(run(onnx_model, new)[1], model.predict_proba(new), atol=1e-12)
    # Names, places, weights of 5 nodes and 3 classes: a few dozen bytes each, not 1000 numbers.
    assert onnx_model.ByteSize() < 200 * model[-1].n_features_in_


@pytest.mark.parametrize("encoder", [OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                                     TargetEncoder()], ids=str)  # fmt: skip
@pytest.mark.parametrize("as_table", [False, True])
def test_encoders_of_numbers_agree_also_where_they_are_missing(encoder, as_table):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (200, 2)) / 3
    y = np.where((3 * X[:, 0]) % 2 > 0.5, "odd", "even")
    X[::20, 0] = np.nan
    new = X[:40].copy()
    new[5, 0], new[6, 1] = 77, np.nan
    if as_table:
        X, new = (pd.DataFrame(rows, columns=["p", "q"]) for rows in (X, new))
    model = make_pipeline(encoder, RVFLClassifier(random_state=0)).fit(X, y)
    assert_allclose(run(to_onnx(model, new), new)[1], model.predict_proba(new), atol=1e-12)


def test_a_target_encoder_without_imputer_takes_empty_text_for_missing():
    X, y, new = crowded_table(50, 3)
    X, new = X[["street"]].astype(object), new[["street"]].astype(object)
    model = make_pipeline(TargetEncoder(), RVFLClassifier(random_state=0)).fit(X, y)
    assert_allclose(run(to_onnx(model, new), new)[1], model.predict_proba(new), atol=1e-12)
