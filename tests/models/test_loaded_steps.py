"""Steps of scikit-learn fit together, and hold numbers that make numbers."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from granulearn._invariants import InvariantError
from granulearn.datasets import make_pipeline_for
from granulearn.datasets.pipelines import with_nan
from granulearn.models.loaded_steps import (
    MOST_MADE,
    MOST_MADE_OF_EACH,
    check_pipeline,
    columns_taken,
)
from granulearn.rvfl import RVFLClassifier

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 3)), np.arange(30) % 3
TEXT = pd.DataFrame({"a": list("xyz") * 10, "b": list("uvuvu") * 6})


def one_hot():
    return OneHotEncoder(sparse_output=False, handle_unknown="ignore").fit(TEXT)


STEPS = {
    "imputer": (lambda: SimpleImputer().fit(X), 3),
    "words": (lambda: SimpleImputer(strategy="most_frequent").fit(TEXT), 2),
    "standard": (lambda: StandardScaler().fit(X), 3),
    "no mean": (lambda: StandardScaler(with_mean=False, with_std=False).fit(X), 3),
    "min max": (lambda: MinMaxScaler().fit(X), 3),
    "max abs": (lambda: MaxAbsScaler().fit(X), 3),
    "robust": (lambda: RobustScaler().fit(X), 3),
    "quantiles": (lambda: QuantileTransformer(n_quantiles=9).fit(X), 3),
    "pca": (lambda: PCA(2).fit(X), 2),
    "variance": (lambda: VarianceThreshold().fit(X), 3),
    "one hot": (one_hot, 5),
    "ordinal": (lambda: OrdinalEncoder().fit(TEXT), 2),
    "target": (lambda: TargetEncoder().fit(TEXT, Y), 6),
    "target of two": (lambda: TargetEncoder().fit(TEXT, Y > 0), 2),
    "target of numbers": (lambda: TargetEncoder(target_type="continuous").fit(TEXT, X[:, 0]), 2),
    "function": (lambda: FunctionTransformer(with_nan).fit(TEXT), 2),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_fitted_step_passes_and_tells_how_many_columns_it_makes(name):
    make, n_columns = STEPS[name]
    assert check_pipeline(make()) == n_columns


@pytest.mark.parametrize(
    ("step", "name", "value"),
    [
        ("imputer", "statistics_", np.zeros(2)),
        ("imputer", "statistics_", np.full(3, np.nan)),
        ("imputer", "statistics_", np.full(3, "a")),
        ("imputer", "n_features_in_", 4),
        ("imputer", "missing_values", -1),
        ("imputer", "strategy", "guess"),
        ("imputer", "indicator_", 3),
        ("imputer", "add_indicator", True),
        ("words", "statistics_", np.array(["x", ["y"]], dtype=object)),
        ("standard", "mean_", np.zeros(4)),
        ("standard", "mean_", None),
        ("standard", "scale_", np.zeros(3)),
        ("standard", "scale_", np.full(3, np.inf)),
        ("standard", "scale_", [1.0, 1.0, 1.0]),
        ("min max", "scale_", np.full(3, np.nan)),
        ("min max", "min_", np.zeros(2)),
        ("min max", "feature_range", (1, 0)),
        ("max abs", "scale_", np.zeros(3)),
        ("robust", "center_", np.zeros((3, 1))),
        ("quantiles", "quantiles_", np.zeros((3, 3))),
        ("quantiles", "references_", np.linspace(1, 0, 9)),
        ("quantiles", "n_quantiles_", 8),
        ("pca", "components_", np.zeros((3, 3))),
        ("pca", "n_components_", 3),
        ("pca", "mean_", np.full(3, np.nan)),
        ("variance", "variances_", np.zeros(3)),
        ("variance", "threshold", "1"),
        ("one hot", "categories_", [np.array(["x"])]),
        ("one hot", "categories_", [np.array(["y", "x"]), np.array(["u"])]),
        ("one hot", "categories_", [np.array(["x", ("y",)], dtype=object), np.array(["u"])]),
        ("one hot", "categories_", [np.array([], dtype=object), np.array(["u"])]),
        ("one hot", "categories_", [np.array(["x", None, "y"], dtype=object), np.array(["u"])]),
        ("one hot", "categories_", [np.array([5, 3, 4], np.uint8), np.array(["u", "v"])]),
        ("one hot", "categories_", [np.array([1, np.nan, np.nan]), np.array(["u", "v"])]),
        ("one hot", "_n_features_outs", [2, 2]),
        ("one hot", "drop_idx_", np.array([0, 0], dtype=object)),
        ("one hot", "sparse_output", True),
        ("ordinal", "categories_", "xyz"),
        ("target", "encodings_", [np.zeros(3)] * 5),
        ("target", "encodings_", [np.full(3, np.nan)] * 6),
        ("target", "target_mean_", np.zeros(2)),
        ("target", "target_type_", "other"),
        ("target of two", "target_mean_", np.nan),
        ("function", "func", np.sum),
        ("function", "feature_names_out", str),
        ("one hot", "dtype", str),
        ("one hot", "feature_name_combiner", with_nan),
        ("function", "kw_args", {"a": 1}),
        ("standard", "_sklearn_output_config", {"transform": "polars"}),
    ],
)
def test_a_step_that_fit_never_leaves_is_refused(step, name, value):
    wrong = STEPS[step][0]()
    setattr(wrong, name, value)
    with pytest.raises((ValueError, AttributeError)):
        check_pipeline(wrong)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("one hot", "_infrequent_enabled"),
        ("one hot", "_drop_idx_after_grouping"),
        ("ordinal", "_infrequent_enabled"),
        ("target", "_infrequent_enabled"),
    ],
)
def test_an_encoder_without_what_fit_leaves_is_refused(kind, name):
    wrong = STEPS[kind][0]()
    delattr(wrong, name)
    with pytest.raises(ValueError, match="missing"):
        check_pipeline(wrong)


@pytest.mark.parametrize(
    "column",
    [[2.5, 1.0, np.nan], [True, False, True], ["v", "u", None], ["v", "u", np.nan], [3, 1, 2]],
    ids=str,
)
def test_categories_of_every_kind_pass(column):
    table = np.array(column, object if isinstance(column[0], str) else None)[:, None]
    encoder = OneHotEncoder(sparse_output=False).fit(table)
    assert check_pipeline(encoder) == len(encoder.categories_[0])


def test_a_step_of_functions_that_names_columns_has_been_fitted():
    step = FunctionTransformer(with_nan, feature_names_out="one-to-one").fit(TEXT)
    assert check_pipeline(step) == 2
    del step.n_features_in_
    with pytest.raises(InvariantError, match="n_features_in_ is missing"):
        check_pipeline(step)


def test_a_step_takes_what_the_one_before_it_makes():
    right = make_pipeline(PCA(2), StandardScaler(), RVFLClassifier(n_hidden=2)).fit(X, Y)
    assert check_pipeline(right) == 0
    assert columns_taken(right) == 3
    wrong = make_pipeline(PCA(2).fit(X), StandardScaler().fit(X))
    with pytest.raises(InvariantError, match="StandardScaler takes 3 columns, and gets 2"):
        check_pipeline(wrong)
    model = RVFLClassifier(n_hidden=2).fit(X, Y)
    with pytest.raises(InvariantError, match="RVFLClassifier takes 3 columns, and gets 2"):
        check_pipeline(make_pipeline(PCA(2).fit(X), "passthrough", model))


def test_a_step_that_looks_at_names_comes_before_those_that_drop_them():
    gaps, words = FunctionTransformer(with_nan), SimpleImputer(strategy="most_frequent")
    right = make_pipeline(gaps, words).fit(TEXT)
    assert check_pipeline(right) == 2
    right.steps.append(("again", right.steps[0][1]))
    with pytest.raises(InvariantError, match="no names"):
        check_pipeline(right)


def test_nothing_is_known_of_the_columns_of_a_step_that_the_caller_answers_for():
    model = make_pipeline(PCA(2), StandardScaler()).fit(X)
    assert check_pipeline(model, ["sklearn.decomposition._pca.PCA"]) == 2


@pytest.fixture(name="frame_step")
def fitted_columns():
    frame = TEXT.assign(n=X[:, 0], many=[f"m{i}" for i in range(30)], t=X[:, 1] > 0)
    return make_pipeline_for(frame, many=["many"]).fit(frame, Y).named_steps["prepare"]


def test_the_branches_of_a_table_pass(frame_step):
    assert check_pipeline(frame_step) == 1 + 1 + 5 + 3
    by_place = ColumnTransformer(
        [
            ("one", StandardScaler(), [0, -1]),
            ("two", "passthrough", slice(1, 2)),
            ("three", MinMaxScaler(), [False, True, True]),
            ("four", "drop", [0]),
        ]
    ).fit(X)
    assert check_pipeline(by_place) == 2 + 1 + 2


@pytest.mark.parametrize(
    "change",
    [
        lambda step: step.transformers_.append(step.transformers_[0]),
        lambda step: step.transformers_.__setitem__(0, ("numbers", "passthrough")),
        lambda step: step.transformers_.__setitem__(0, ("numbers", "other", ["n"])),
        lambda step: step.transformers_.__setitem__(0, (*step.transformers_[0][:2], ["n", "t"])),
        lambda step: step.transformers_.__setitem__(0, (*step.transformers_[0][:2], ["missing"])),
        lambda step: step.transformers_.__setitem__(0, (*step.transformers_[0][:2], 3.0)),
        lambda step: (
            step.transformers_.__setitem__(0, ("numbers", "drop", False)),
            step._transformer_to_input_indices.update(numbers=[]),
        ),
        lambda step: step._transformer_to_input_indices.update(numbers=[99]),
        lambda step: step._transformer_to_input_indices.update(numbers=[np.array(2)]),
        lambda step: step._transformer_to_input_indices.update(other=[0]),
        lambda step: setattr(step, "sparse_output_", True),
        lambda step: setattr(step, "transformer_weights", {"numbers": 1e300}),
        # A form that is filled in for each column, to any length.
        lambda step: setattr(step, "verbose_feature_names_out", "{feature_name:>3000000000}"),
        lambda step: setattr(step, "n_jobs", 2),
        lambda step: setattr(step, "n_jobs", -1),
        lambda step: setattr(step, "n_jobs", True),
        lambda step: setattr(step, "feature_names_in_", step.feature_names_in_[::-1][:3]),
    ],
)
def test_branches_that_fit_never_leaves_are_refused(frame_step, change):
    change(frame_step)
    with pytest.raises(InvariantError):
        check_pipeline(frame_step)


def test_a_number_of_columns_without_names_takes_no_memory():
    step = ColumnTransformer([("all", "passthrough", slice(0, None))]).fit(X)
    step.n_features_in_ = 10**6
    tracemalloc.start()
    try:
        with pytest.raises(InvariantError, match="columns of 'all' do not agree"):
            check_pipeline(step)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def test_long_categories_are_looked_at_without_a_list_of_them():
    encoder = OneHotEncoder(sparse_output=False).fit([[1], [2]])
    encoder.categories_ = [np.zeros(10**6, np.int8)]
    tracemalloc.start()
    try:
        with pytest.raises(InvariantError, match="not sorted"):
            check_pipeline(encoder)
        assert tracemalloc.get_traced_memory()[1] < 3 * 10**6
    finally:
        tracemalloc.stop()


def test_a_step_makes_so_many_columns_and_no_more():
    def encoder_of(n_categories):
        numbers = np.arange(n_categories, dtype=float)[:, None]
        return OneHotEncoder(sparse_output=False).fit(numbers)

    def table_of(n_categories):
        step = ColumnTransformer([("one", encoder_of(3), [0])]).fit([[0.0], [1.0], [2.0]])
        step.transformers_ = [("one", encoder_of(n_categories), [0])]
        return step

    most = MOST_MADE + MOST_MADE_OF_EACH
    for make in (encoder_of, table_of):
        assert check_pipeline(make(most)) == most
        with pytest.raises(InvariantError, match=f"makes {most + 1} columns of 1"):
            check_pipeline(make(most + 1))
