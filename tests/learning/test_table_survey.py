"""Surveys: what is learnt part by part is what the whole table says."""

from functools import reduce

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.datasets import TableError
from granulearn.learning.table_parts import TableParts
from granulearn.learning.table_survey import (
    Request,
    card_of,
    check_survey,
    features_and_labels,
    join_surveys,
    make_request,
    read_rows,
    survey_part,
)
from granulearn.learning.training_table import read_training_table
from tests.cli.commands import people


class MemoryPart:
    """Rows of a frame, as a part."""

    def __init__(self, frame, place="somewhere"):
        self.place = place
        self._table = pa.Table.from_pandas(frame, preserve_index=False)

    def read(self, names):
        return {name: self._table[name].combine_chunks() for name in names}


def request(names, test=0.0, categorical=()):
    return Request("label", tuple(names), frozenset(categorical), test, seed=0)


def survey(frames, asked):
    looks = [
        survey_part(MemoryPart(part, f"part {at}"), at, asked) for at, part in enumerate(frames)
    ]
    return reduce(join_surveys, looks)


def test_the_survey_of_parts_is_what_fit_reads_of_the_whole(tmp_path):
    frame = people()
    frame.to_parquet(tmp_path / "t.parquet")
    whole = read_training_table(tmp_path / "t.parquet", "label")
    names = [column.name for column in whole.columns]
    joined = survey([frame[:50], frame[50:51], frame[51:]], request(names))
    assert tuple(map(card_of, joined.columns)) == whole.columns
    assert (
        joined.labels
        == joined.train_labels
        == dict(zip(*np.unique(whole.y, return_counts=True), strict=True))
    )
    assert joined.unlabelled == whole.dropped_rows
    for column in joined.columns:
        if column.kind == "number":
            values = whole.X[column.name].to_numpy()
            assert_allclose(column.mean, np.nanmean(values))
            assert_allclose(column.squares / column.n, np.nanvar(values))


def test_the_median_is_exact_for_one_part_and_near_for_many():
    values = np.random.default_rng(0).lognormal(size=10_001)
    frame = pd.DataFrame({"x": values, "label": "a"})
    (alone,) = survey([frame], request(["x"])).columns
    assert alone.median == np.median(values)
    (many,) = survey([frame[i : i + 500] for i in range(0, 10_001, 500)], request(["x"])).columns
    assert 0.48 < np.mean(values <= many.median) < 0.52


def test_rows_held_out_are_the_same_every_time_and_teach_nothing():
    frame = pd.DataFrame({"x": np.arange(1000.0), "label": "a"})
    asked = request(["x"], test=0.3)
    first, again = (read_rows(MemoryPart(frame), 4, asked) for _ in range(2))
    assert_array_equal(first.held_out, again.held_out)
    assert 200 < first.held_out.sum() < 400
    (column,) = survey_part(MemoryPart(frame), 4, asked).columns
    assert_allclose(column.mean, np.arange(1000.0)[~first.held_out].mean())
    assert not np.array_equal(first.held_out, read_rows(MemoryPart(frame), 5, asked).held_out)


def test_features_and_labels_are_those_of_the_rows_chosen():
    frame = pd.DataFrame({"x": ["1", "?", "3"], "c": ["u", None, "v"], "label": ["1", "2", None]})
    rows = read_rows(MemoryPart(frame), 0, request(["x", "c"]))
    X, y = features_and_labels(
        rows, np.array([False, True]), {"x": "number", "c": "category"}, True
    )
    assert_array_equal(y, [2])
    assert X["x"].isna().all()
    assert X["c"].isna().all()
    X, y = features_and_labels(
        rows, np.array([True, True]), {"x": "number", "c": "category"}, False
    )
    assert_array_equal(y, ["1", "2"])
    assert X["c"].tolist() == ["u", np.nan]


@pytest.mark.parametrize(
    ("cells", "categorical", "said"),
    [
        (["1", "2", "x", "3"], (), "mixes numbers and text: 'x' in part 1, '1' in part 0"),
        (["1,5", "2,5", "3,5", "4,5"], (), "writes numbers with a comma"),
        ([f"name {at}" for at in range(2002)], (), "holds more than 1000 different texts"),
    ],
)
def test_a_column_that_cannot_be_used_is_named(cells, categorical, said):
    frame = pd.DataFrame({"x": cells, "label": np.resize(["a", "b"], len(cells))})
    half = len(cells) // 2
    joined = survey([frame[:half], frame[half:]], request(["x"], categorical=categorical))
    with pytest.raises(TableError, match=f"there: column 'x' {said}"):
        check_survey(joined, "there", "label")


def test_numbers_may_be_categories_if_the_user_says_so():
    frame = pd.DataFrame({"x": [1, 2, 1], "label": ["a", "b", "b"]})
    joined = survey([frame], request(["x"], categorical=["x"]))
    assert check_survey(joined, "there", "label") is False
    assert card_of(joined.columns[0]).categories == ("1", "2")


@pytest.mark.parametrize("stored", [[True, False], pd.Categorical(["1", "2"])])
def test_a_column_stored_as_categories_in_one_part_and_numbers_in_another_is_named(stored):
    labels = ["a", "b"]
    frames = [
        pd.DataFrame({"x": [np.nan, np.nan], "label": labels}),
        pd.DataFrame({"x": stored, "label": labels}),
        pd.DataFrame({"x": [1.0, 2.0], "label": labels}),
    ]
    check_survey(survey(frames[:2], request(["x"])), "there", "label")  # empty cells are no numbers
    said = "'x' is stored as categories in part 1, but holds numbers in part 2; .* --categorical"
    with pytest.raises(TableError, match=said):
        check_survey(survey(frames, request(["x"])), "there", "label")
    check_survey(survey(frames, request(["x"], categorical=["x"])), "there", "label")


@pytest.mark.parametrize("stored", ["text", "categories"])
def test_decimal_commas_may_be_categories_as_in_memory(tmp_path, stored):
    frame = pd.DataFrame({"x": ["1,5", "2,5", "1,5"], "label": ["a", "b", "b"]})
    if stored == "categories":
        frame["x"] = frame["x"].astype("category")
    categorical = ["x"] if stored == "text" else []
    frame.to_parquet(tmp_path / "t.parquet")
    whole = read_training_table(tmp_path / "t.parquet", "label", categorical=categorical)
    joined = survey([frame[:1], frame[1:]], request(["x"], categorical=categorical))
    check_survey(joined, "there", "label")
    assert tuple(map(card_of, joined.columns)) == whole.columns


def test_a_class_without_a_row_to_learn_from_is_named():
    frame = pd.DataFrame({"x": np.arange(50.0), "label": ["rare", *["a", "b"] * 24, "a"]})
    for seed in range(50):
        asked = Request("label", ("x",), frozenset(), 0.5, seed)
        if read_rows(MemoryPart(frame), 0, asked).held_out[0]:
            break
    with pytest.raises(TableError, match="class rare of column 'label', the target, has no row"):
        check_survey(survey([frame], asked), "there", "label")


def test_dates_are_refused_with_their_place():
    frame = pd.DataFrame({"x": pd.to_datetime(["2020-01-01"]), "label": ["a"]})
    with pytest.raises(TableError, match="part 0: column 'x' holds dates"):
        survey([frame], request(["x"]))


def test_a_request_names_columns_that_the_table_lacks(tmp_path):
    table = TableParts(tmp_path, ["x", "label"], ())
    assert make_request(table, "label", [], [], test=0.1, seed=3).names == ("x",)
    with pytest.raises(TableError, match="has no column 'lable'; did you mean one of"):
        make_request(table, "lable", [], [], test=0, seed=0)
    with pytest.raises(TableError, match="no column but the target"):
        make_request(table, "label", [], ["x"], test=0, seed=0)


def test_numbers_too_large_to_compute_with_are_named_with_their_part():
    frame = pd.DataFrame({"x": [1.0, 1e300], "label": ["a", "b"]})
    with pytest.raises(TableError, match="part 1: column 'x' holds numbers too large"):
        survey([frame[:1], frame[1:]], request(["x"]))
