"""Steps before the model: the usual ones can be saved, loaded and exported."""

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
)

from granulearn.estimators import RVFLClassifier
from granulearn.persistence import load_model, save_model, to_onnx

STEPS = [
    MaxAbsScaler(),
    MinMaxScaler(),
    OrdinalEncoder(),
    PCA(2),
    QuantileTransformer(n_quantiles=50),
    RobustScaler(),
    VarianceThreshold(),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_a_pipeline_with_a_usual_step_survives_its_file_and_agrees_as_onnx(step, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(step, RVFLClassifier(20, random_state=0)).fit(X, y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").pipeline
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    to_onnx(model, X)  # raises if onnxruntime predicts otherwise
