"""Steps before the model: the usual ones can be saved and loaded."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    TargetEncoder,
)

from granulearn.datasets import make_pipeline_for
from granulearn.estimators import RVFLClassifier, RVFLRegressor
from granulearn.models import load_model, save_model

STEPS = [
    MaxAbsScaler(),
    MinMaxScaler(),
    OrdinalEncoder(),
    PCA(2),
    QuantileTransformer(n_quantiles=50),
    RobustScaler(),
    TargetEncoder(),
    VarianceThreshold(),
]


@pytest.mark.parametrize("as_frame", [False, True], ids=["array", "frame"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_a_pipeline_with_a_usual_step_survives_its_file(step, as_frame, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=as_frame)
    model = make_pipeline(step, RVFLClassifier(20, random_state=0)).fit(X, y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").pipeline
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [0, 1], ["a", "b", "c"], [1, 2, 7], None], ids=str
)
@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_crowded_columns_survive_their_file_and_can_be_fitted_again(labels, kind, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=300), "place": rng.integers(0, 90, 300).astype(str)})
    X["place"] = X["place"].mask(rng.random(300) < 0.1).astype(kind)
    y = rng.normal(size=300) if labels is None else rng.choice(labels, 300)
    model = RVFLRegressor(random_state=0) if labels is None else RVFLClassifier(random_state=0)
    pipeline = make_pipeline_for(X, model).fit(X, y)
    save_model(pipeline, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").pipeline
    new = pd.concat([X, pd.DataFrame({"size": [0.0], "place": ["nowhere"]})], ignore_index=True)
    assert_array_equal(loaded.predict(new), pipeline.predict(new))
    names = pipeline["prepare"].get_feature_names_out()
    assert_array_equal(loaded["prepare"].get_feature_names_out(), names)
    assert_array_equal(loaded.fit(X, y).predict(new), pipeline.predict(new))
