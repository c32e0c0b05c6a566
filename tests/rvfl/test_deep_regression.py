"""Laws of deep and ensemble deep regressors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from granulearn.rvfl import DeepRVFLRegressor, EnsembleDeepRVFLRegressor, RVFLRegressor
from tests.rvfl.test_regression import smooth_function

both_forms = pytest.mark.parametrize("regressor", [DeepRVFLRegressor, EnsembleDeepRVFLRegressor])
every_output_count = pytest.mark.parametrize("n_outputs", [None, 1, 3])


@both_forms
@every_output_count
def test_one_layer_is_rvfl(regressor, n_outputs):
    X, Y = smooth_function(n_outputs=n_outputs)
    shallow = RVFLRegressor(random_state=0).fit(X, Y)
    deep = regressor(n_layers=1, random_state=0).fit(X, Y)
    assert_array_equal(deep.coef_[0], shallow.coef_)
    assert_allclose(deep.predict(X), shallow.predict(X), rtol=1e-12)


@both_forms
@every_output_count
def test_stages_are_the_predictions_of_shallower_networks_and_end_with_its_own(
    regressor, n_outputs
):
    X, Y = smooth_function(n_outputs=n_outputs)
    settings = {"n_hidden": [30, 20, 10], "random_state": 0}
    model = regressor(n_layers=3, **settings).fit(X, Y)
    stages = list(model.staged_predict(X))
    assert_array_equal(stages[-1], model.predict(X))
    for n_layers, found in enumerate(stages, start=1):
        widths = settings["n_hidden"][:n_layers]
        shallow = regressor(n_layers=n_layers, n_hidden=widths, random_state=0).fit(X, Y)
        assert found.shape == Y.shape
        assert_allclose(found, shallow.predict(X), rtol=1e-8)


def test_the_ensemble_is_the_mean_of_scikit_learns_ridges_on_each_layer():
    X, Y = smooth_function(n_outputs=2)
    model = EnsembleDeepRVFLRegressor(n_layers=3, n_hidden=12, random_state=0).fit(X, Y)
    mean = Y.mean(axis=0)
    each = [
        Ridge(alpha=1.0, fit_intercept=False).fit(columns, Y - mean).predict(columns) + mean
        for columns in model.features_.layers(X)
    ]
    assert_allclose(model.predict(X), np.mean(each, axis=0), rtol=1e-6)
