"""Files of regressors: exact, and with nothing in them but the family."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer

from granulearn.models import ModelFileError, load_model, save_model
from granulearn.rvfl import DeepRVFLRegressor, RVFLRegressor, activation_names
from tests.models.fitted_pipelines import SAVED_REGRESSORS, fitted_regressor
from tests.models.test_model_card import card_of
from tests.models.test_model_files import rewrite

alone_and_in_a_pipeline = pytest.mark.parametrize("in_pipeline", [False, True])


@alone_and_in_a_pipeline
@pytest.mark.parametrize("n_targets", [None, 1, 3])
@pytest.mark.parametrize("regressor", SAVED_REGRESSORS)
def test_a_loaded_regressor_predicts_bit_for_bit_the_same(
    regressor, n_targets, in_pipeline, tmp_path
):
    model, rows = fitted_regressor(regressor, n_targets, in_pipeline=in_pipeline)
    card = save_model(model, tmp_path / "m.skops", card_of(rows))
    loaded = load_model(tmp_path / "m.skops")
    assert type(loaded.pipeline) is type(model)
    assert_array_equal(loaded.pipeline.predict(rows), model.predict(rows), strict=True)
    assert loaded.card == card


@given(
    regressor=st.sampled_from(SAVED_REGRESSORS),
    activation=st.sampled_from(activation_names()),
    n_hidden=st.integers(1, 20),
    single=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_settings_and_numbers_survive_whatever_they_are(
    tmp_path_factory, regressor, activation, n_hidden, single, seed
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3)).astype(np.float32 if single else np.float64)
    Y = rng.normal(size=(20, 2)) * 10.0 ** rng.integers(-100, 100, size=2)
    model = regressor(n_hidden=n_hidden, activation=activation, random_state=seed).fit(X, Y)
    path = tmp_path_factory.mktemp("any") / "m.skops"
    save_model(model, path)
    loaded = load_model(path).pipeline
    assert_array_equal(loaded.predict(X), model.predict(X), strict=True)
    assert loaded.get_params() == model.get_params()


def test_a_deep_regressor_answers_after_each_layer_as_before(tmp_path):
    model, rows = fitted_regressor(DeepRVFLRegressor, in_pipeline=False, n_hidden=[5, 3, 8, 2, 6])
    save_model(model, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops").pipeline
    for found, expected in zip(
        loaded.staged_predict(rows), model.staged_predict(rows), strict=True
    ):
        assert_array_equal(found, expected, strict=True)


@alone_and_in_a_pipeline
@pytest.mark.parametrize("regressor", SAVED_REGRESSORS)
def test_a_file_with_a_foreign_type_is_refused(regressor, in_pipeline, tmp_path):
    path = tmp_path / "m.skops"
    model, _ = fitted_regressor(regressor, in_pipeline=in_pipeline)
    save_model(model, path)
    schema = zipfile.ZipFile(path).read("schema.json").decode()
    foreign = schema.replace(f'"{regressor.__name__}"', '"LinearRegression"').replace(
        f'"{regressor.__module__}"', '"sklearn.linear_model._base"'
    )
    assert json.loads(foreign) != json.loads(schema)
    rewrite(path, **{"schema.json": foreign})
    with pytest.raises(ModelFileError, match=r"names sklearn\.linear_model\._base\.Linear"):
        load_model(path)


@pytest.mark.parametrize(
    ("wrap", "name"),
    [
        (lambda model: make_pipeline(PowerTransformer(), model), "sklearn.preprocessing._data."),
        (lambda model: TransformedTargetRegressor(model), "sklearn.compose._target."),
    ],
    ids=["PowerTransformer", "TransformedTargetRegressor"],
)
def test_what_load_would_refuse_is_not_saved(wrap, name, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = wrap(RVFLRegressor(random_state=0)).fit(X, X.sum(axis=1))
    with pytest.raises(ModelFileError, match=name):
        save_model(model, tmp_path / "m.skops")
    assert list(tmp_path.iterdir()) == []
