"""Steps of pipelines lose no digits on their way to ONNX."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn.estimators import RVFLRegressor
from granulearn.persistence import to_onnx
from tests.persistence.test_onnx_converters import run


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
