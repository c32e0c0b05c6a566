"""TablePreprocessor equals scikit-learn's steps, from frames, mappings and single rows alike."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from granulearn import TablePreprocessor
from granulearn.preprocess.table_preprocessor import N_FOLDS, _even_folds, date_parts
from granulearn.tables import open_table, read_training_table


def mixed_table(n_rows=300, n_streets=60, seed=0):
    """Return a frame with a column of each kind, gaps in all of them, and three classes."""
    rng = np.random.default_rng(seed)
    gaps = rng.random((3, n_rows)) < 0.1
    frame = pd.DataFrame(
        {
            "city": np.where(gaps[0], None, rng.choice(["Bern", "Basel", "Chur"], n_rows)),
            "age": np.where(gaps[1], np.nan, rng.normal(40, 9, n_rows)),
            "street": [f"s{code}" for code in rng.integers(n_streets, size=n_rows)],
            "member": rng.random(n_rows) < 0.5,
            "size": rng.integers(9, size=n_rows),
            "empty": np.nan,
            "constant": 0.1,
        }
    )
    frame.loc[gaps[2], "street"] = None
    return frame, rng.choice(["a", "b", "c"], n_rows)


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c"), (1, 2, 7)], ids=str)
def test_it_equals_the_steps_of_scikit_learn(labels):
    frame, _ = mixed_table()
    y = np.resize(labels, len(frame))
    found = TablePreprocessor().fit(frame, y)
    numbers = ["age", "member", "size"]
    by_row = [*dict.fromkeys(frame["city"].dropna()), None]
    oracle = ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(
                    SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
                ),
                numbers,
            ),
            ("city", OneHotEncoder(sparse_output=False, categories=[by_row]), ["city"]),
        ]
    ).fit(frame.astype({"member": float}))
    encoder = TargetEncoder(smooth=10.0).fit(frame[["street"]].fillna("(none)"), y)
    columns = len(numbers) + 4
    assert_allclose(found.transform(frame)[:, :columns], oracle.transform(frame), atol=1e-12)
    unscaled = clone(found).set_params(scale_binary=False).fit(frame, y).transform(frame)
    assert_array_equal(unscaled[:, 1], frame["member"])
    assert_array_equal(np.delete(unscaled, 1, 1), np.delete(found.transform(frame), 1, 1))
    encoded = encoder.transform(frame[["street"]].fillna("(none)"))
    scaled = (encoded - found.encoding_means_) / found.encoding_scales_
    assert_allclose(found.transform(frame)[:, columns:], scaled, atol=1e-12)
    again = clone(found).set_params(scale_binary=False)
    assert_array_equal(again.fit_transform(unscaled[:, :columns]), unscaled[:, :columns])
    assert_allclose(np.ravel(encoder.target_mean_), found.encodings_[0][-2])


def test_a_missing_or_unknown_category_has_the_column_of_missing_ones_or_zeros():
    frame = pd.DataFrame({"gaps": ["a", "b", None], "whole": ["u", "v", "v"]})
    new = pd.DataFrame({"gaps": [None, "new", "a"], "whole": [None, "new", "v"]})
    found = TablePreprocessor().fit(frame).transform(new)
    assert found.tolist() == [[0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 1]]


def test_an_unknown_category_of_many_is_the_overall_mean_and_a_missing_one_a_category():
    frame, y = mixed_table()
    preprocessor = TablePreprocessor(max_one_hot=0).fit(frame, y == "a")
    new = frame.head(2).assign(street=["nowhere", None], city=["nowhere", None])
    unknown, missing = preprocessor.transform(new)[:, -2:]
    overall = np.mean(y == "a")
    for at, name in enumerate(preprocessor.target_encoded_):
        gaps = frame[name].isna()
        own = (np.sum(y[gaps] == "a") + 10 * overall) / (gaps.sum() + 10)
        mean, scale = preprocessor.encoding_means_[at], preprocessor.encoding_scales_[at]
        assert_allclose([unknown[at], missing[at]], (np.array([overall, own]) - mean) / scale)


def as_mapping(frame, kind):
    """Return a frame as a mapping: of floats, and of texts in one of several forms."""
    forms = {
        "arrow": lambda column: pa.array(column.tolist(), pa.string()),
        "dictionary": lambda column: pa.array(column.tolist(), pa.string()).dictionary_encode(),
        "unsigned": lambda column: (
            pa.array(column.tolist(), pa.string())
            .dictionary_encode()
            .cast(pa.dictionary(pa.uint32(), pa.string()))
        ),
        "chunked": lambda column: pa.chunked_array([column.tolist()], pa.string()),
        "object": lambda column: column.to_numpy(dtype=object),
        "categorical": lambda column: pd.Categorical(column),
    }
    return {
        name: forms[kind](column) if column.dtype == object else column.to_numpy(dtype=float)
        for name, column in frame.items()
    }


@pytest.mark.parametrize(
    "kind", ["arrow", "dictionary", "unsigned", "chunked", "object", "categorical"]
)
def test_a_mapping_gives_what_a_frame_does_row_by_row_too(kind):
    frame, y = mixed_table()
    preprocessor = TablePreprocessor().fit(frame, y)
    cells = as_mapping(frame, kind)
    expected = preprocessor.transform(frame)
    assert_array_equal(preprocessor.transform(cells), expected)
    for row in range(5):
        one = {name: column[row : row + 1] for name, column in reversed(cells.items())}
        assert_array_equal(preprocessor.transform(one), expected[row : row + 1])
    nothing = {name: column[:0] for name, column in cells.items()}
    assert preprocessor.transform(nothing).shape == (0, expected.shape[1])
    from_cells = TablePreprocessor().fit(cells, y)
    assert_array_equal(from_cells.transform(cells), expected)


def test_dates_become_parts_named_as_tables_names_them(tmp_path):
    days = ["2020-02-01 12:00", "2019-12-30 00:00", "", "1969-07-20 20:17"]
    path = tmp_path / "t.csv"
    path.write_text("day,y\n" + "".join(f"{day},{k % 2}\n" for k, day in enumerate(days)))
    with open_table(path) as file:
        expected = read_training_table(file, "y").X
    frame = pd.DataFrame({"day": pd.to_datetime(days, format="%Y-%m-%d %H:%M")})
    preprocessor = TablePreprocessor().fit(frame)
    found = pd.DataFrame(date_parts("day", frame["day"].array)).add_prefix("day: ")
    pd.testing.assert_frame_equal(found[preprocessor.numbers_], expected)
    in_berlin = frame["day"].dt.tz_localize("Europe/Berlin").array
    parts = pd.DataFrame(date_parts("day", in_berlin)).add_prefix("day: ")
    assert_array_equal(parts["day: hour"], found["day: hour"])
    assert_allclose((found - parts)["day: days since 1970"].dropna(), 1 / 24)
    without_times = frame.assign(day=frame["day"].dt.floor("D"))
    assert "day: hour" not in TablePreprocessor().fit(without_times).get_feature_names_out()


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None, 3, 4], dtype="Int64"),
        pd.array(["a", None, "b", "a"], dtype="string"),
        pd.array([True, None, False, True], dtype="boolean"),
        pd.Categorical(["a", None, "b", "a"], categories=["z", "b", "a"]),
        pd.Categorical([1, 2, None, 1]),
        pd.to_datetime(["2020-01-01", None, "2020-01-02", None]),
        [np.nan] * 4,
        [None] * 4,
        ["a", None, np.nan, pd.NA],
        pd.Series([1, 2.5, None, 4], dtype=object),
        pd.Series([True, False, None, True], dtype=object),
    ],
    ids=str,
)
def test_every_kind_of_column_and_missing_value_goes_in(column):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "column": column})
    assert np.isfinite(TablePreprocessor().fit_transform(frame)).all()


def crowded(n_rows=400, n_categories=200, labels=("no", "yes"), seed=0):
    """Return a table with a column of categories that say nothing about the labels."""
    rng = np.random.default_rng(seed)
    names = np.array([f"place {k}" for k in range(n_categories)], dtype=object)
    X = pd.DataFrame({"place": rng.permutation(np.resize(names, n_rows))})
    return X, rng.choice(np.array(labels), n_rows)


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), ("a", "b", "c")], ids=str)
def test_categories_of_two_rows_do_not_tell_the_labels_of_training_rows(labels):
    X, y = crowded(labels=labels)
    preprocessor = TablePreprocessor()
    learnt_from, as_new = preprocessor.fit_transform(X, y), preprocessor.transform(X)

    def correlation(features):
        return abs(np.corrcoef(features[:, -1], y == labels[-1])[0, 1])

    assert correlation(as_new) > 0.6
    assert correlation(learnt_from) < 0.15
    assert_allclose(learnt_from.mean(axis=0), 0, atol=1e-12)
    assert_allclose(learnt_from.std(axis=0), 1)
    scores = cross_val_score(make_pipeline(clone(preprocessor), LogisticRegression()), X, y, cv=4)
    assert 1 / len(labels) - 0.15 < scores.mean() < 1 / len(labels) + 0.15


def test_training_rows_are_encoded_by_the_rows_of_other_folds():
    X, y = crowded()
    preprocessor = TablePreprocessor()
    found = preprocessor.fit_transform(X, y)[:, 0]
    folds = _even_folds(np.unique(y, return_inverse=True)[1], np.random.RandomState(0))
    for fold in range(N_FOLDS):
        own = folds == fold
        encoder = TargetEncoder(smooth=10.0).fit(X[~own], y[~own])
        scaled = encoder.transform(X[own]) - preprocessor.encoding_means_
        assert_allclose(found[own], (scaled / preprocessor.encoding_scales_)[:, 0])


FRAME = pd.DataFrame({"age": [1.0, 2.0], "city": ["a", "b"]})


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (FRAME[["age"]], "1 column of training not found: 'city'"),
        (FRAME.assign(age=["1", "x"]), "'age' must hold numbers, but row 0 has the text '1'"),
        (FRAME.assign(age=[1, np.inf]), "'age' has an infinite number in row 1"),
        (FRAME.assign(age=pd.to_datetime(["2020", "2021"])), "'age' must hold numbers"),
        ({"age": np.zeros(2), "city": pa.array(["a"])}, "differ in length"),
    ],
    ids=["missing", "text", "infinite", "dates", "lengths"],
)
def test_new_rows_that_do_not_fit_are_refused_by_column(rows, said):
    with pytest.raises(ValueError, match=said):
        TablePreprocessor().fit(FRAME).transform(rows)


@pytest.mark.parametrize(
    ("X", "y", "parameters", "said"),
    [
        (FRAME, None, {"types": {"town": "number"}}, "'town': 'number'"),
        (FRAME, None, {"types": {"city": "text"}}, "'city': 'text'"),
        (FRAME, None, {"types": {"city": "number"}}, "'city' must hold numbers"),
        (FRAME, None, {"types": {"city": "date"}}, "'city' must hold dates"),
        (FRAME, None, {"max_one_hot": 1}, "column 'city' has 2 categories.*y is None"),
        (FRAME, np.zeros((2, 2)), {"max_one_hot": 1}, r"y is the shape \(2, 2\)"),
        (FRAME, [1, 2, 3], {}, "inconsistent numbers of samples"),
        (FRAME[:0], None, {}, "no rows"),
        (FRAME[[]], None, {}, "no columns"),
        (pd.concat([FRAME, FRAME], axis=1), None, {}, "'age' occurs twice"),
        (FRAME.assign(age=[1e300, -1e300]), None, {}, "'age' has numbers too large"),
        (FRAME, None, {"smooth": 0.0}, "smooth"),
    ],
)
def test_tables_that_cannot_be_learnt_from_are_refused_in_words(X, y, parameters, said):
    with pytest.raises(ValueError, match=said):
        TablePreprocessor(**parameters).fit(X, y)
