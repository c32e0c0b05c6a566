"""A table of one's own: types told apart, missing values counted, errors placed."""

import numpy as np
import pandas as pd
import pytest

from granulearn.datasets import TableError, load, read_table

GOOD = """age,income,city,member,risk
30,1000.5,Bern,yes,low
41,,Basel,no,high
52,3000,?,yes,low
63,4000, Bern ,no,NA_high
"""


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(GOOD)
    return path


def write(path, content):
    path.write_text(content)
    return path


def test_numbers_and_categories_are_told_apart(csv_file):
    table = read_table(csv_file, "risk")
    assert table.numeric == ("age", "income")
    assert table.categorical == ("city", "member")
    assert table.target == "risk"
    assert list(table.y) == ["low", "high", "low", "NA_high"]
    assert list(table.X.columns) == ["age", "income", "city", "member"]
    assert table.X["age"].tolist() == [30, 41, 52, 63]
    assert table.X["city"].tolist()[::3] == ["Bern", "Bern"]


def test_missing_values_are_reported(csv_file):
    assert read_table(csv_file, "risk").missing == {"income": 1, "city": 1}


@pytest.mark.parametrize("suffix", ["parquet", "pq"])
def test_parquet_gives_what_csv_gives(csv_file, tmp_path, suffix):
    path = tmp_path / f"people.{suffix}"
    frame = pd.read_csv(csv_file, na_values="?")
    frame.to_parquet(path)
    from_csv, from_parquet = read_table(csv_file, "risk"), read_table(path, "risk")
    pd.testing.assert_frame_equal(from_csv.X, from_parquet.X, check_categorical=False)
    np.testing.assert_array_equal(from_csv.y, from_parquet.y)
    assert from_csv.missing == from_parquet.missing
    assert from_csv.numeric == from_parquet.numeric


def test_whole_number_targets_stay_whole(tmp_path):
    path = write(tmp_path / "t.csv", "a,y\n1,0\n2,1\n")
    assert read_table(path, "y").y.dtype.kind == "i"


def test_truth_values_are_categories(tmp_path):
    path = write(tmp_path / "t.csv", "a,b,y\n1,True,x\n2,False,z\n3,,z\n")
    table = read_table(path, "y")
    assert table.categorical == ("b",)
    assert table.X["b"].tolist()[:2] == ["True", "False"]
    assert table.missing == {"b": 1}


def test_a_column_of_numbers_can_be_declared_categorical(tmp_path):
    path = write(tmp_path / "t.csv", "zip,y\n3000,x\n4000,z\n")
    table = read_table(path, "y", categorical=["zip"])
    assert table.categorical == ("zip",)
    assert table.X["zip"].tolist() == ["3000", "4000"]


def test_a_mixed_column_can_be_declared_categorical(tmp_path):
    path = write(tmp_path / "t.csv", "doors,y\n2,x\nmore,z\n")
    assert read_table(path, "y", categorical=["doors"]).X["doors"].tolist() == ["2", "more"]


def test_an_empty_column_is_numeric_and_all_missing(tmp_path):
    path = write(tmp_path / "t.csv", "a,b,y\n1,,x\n2,,z\n")
    table = read_table(path, "y")
    assert table.numeric == ("a", "b")
    assert table.missing == {"b": 2}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("age,income\n1,2\n3,4\n", r"t\.csv has no column 'risk'; did you mean"),
        ("age,rsik\n1,2\n3,4\n", r"did you mean one of \['rsik'\]"),
        ("age,risk\n1,x\n3,x\n", r"t\.csv: column 'risk', the target, is 'x' in every row"),
        ("age,risk\n1,x\n3,\n4,z\n", r"column 'risk'.*empty in 1 of 3 rows, first at line 3"),
        ("age,risk\n1,x\n\n2,y\nabc,z\n", r"column 'age' mixes.*'abc' at line 5, '1' at line 2"),
        ("age,risk\n1,x\ninf,y\n", r"column 'age' holds an infinite number at line 3"),
        ("age,risk\n1,x\n-inf,y\n", r"infinite number at line 3"),
        ("risk\nx\ny\n", r"t\.csv has no column but the target 'risk'"),
        ("age,risk\n1,x\n2,y,z\n", r"t\.csv, line 3: 3 cells"),
        ("age,risk\n1,1\n2,y\n", r"column 'risk' mixes numbers and text"),
    ],
)
def test_a_table_that_cannot_be_used_says_where(tmp_path, content, message):
    with pytest.raises(TableError, match=message):
        read_table(write(tmp_path / "t.csv", content), "risk")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"a": pd.to_datetime(["2020-01-01", "2021-01-01"]), "y": [0, 1]}, "'a' holds dates"),
        ({"a": [1.0, np.inf], "y": [0, 1]}, "infinite number at row 2"),
        ({"a": ["1", "two"], "y": [0, 1]}, "'a' mixes numbers and text: 'two' at row 2"),
        ({"a": [1, 2], "y": [None, 1.0]}, "empty in 1 of 2 rows, first at row 1"),
        ({"a": [], "y": []}, "no data rows"),
    ],
)
def test_a_parquet_table_that_cannot_be_used_says_where(tmp_path, frame, message):
    path = tmp_path / "t.parquet"
    pd.DataFrame(frame).to_parquet(path)
    with pytest.raises(TableError, match=message):
        read_table(path, "y")


def test_nullable_and_categorical_parquet_types_are_understood(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "count": pd.array([1, 2, 3], dtype="Int64"),
            "kind": pd.Categorical(["a", "b", None]),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "y": pd.array(["x", "y", "x"], dtype="string"),
        }
    ).to_parquet(path)
    table = read_table(path, "y")
    assert table.numeric == ("whole", "count")
    assert table.X["count"].dtype == np.int64
    assert table.categorical == ("kind", "flag")
    assert table.missing == {"whole": 1, "kind": 1, "flag": 1}
    assert table.X["whole"].dtype == float
    assert list(table.y) == ["x", "y", "x"]


def test_a_file_that_only_claims_to_be_parquet_is_named(tmp_path):
    path = write(tmp_path / "t.parquet", "a,b\n1,2\n")
    with pytest.raises(TableError, match=r"t\.parquet is no readable Parquet file"):
        read_table(path, "b")


def test_an_unknown_kind_of_file_is_refused(tmp_path):
    path = write(tmp_path / "t.xlsx", "")
    with pytest.raises(TableError, match=r"'\.xlsx'.*\.csv.*\.parquet"):
        read_table(path, "y")


def test_a_path_that_is_no_file_is_named(tmp_path):
    with pytest.raises(TableError, match=r"none\.csv is not a file"):
        read_table(tmp_path / "none.csv", "y")


def test_a_written_set_comes_back(tmp_path):
    iris = load("iris")
    path = tmp_path / "iris.csv"
    iris.X.assign(species=iris.y).to_csv(path, index=False)
    table = read_table(path, "species")
    pd.testing.assert_frame_equal(table.X, iris.X)
    np.testing.assert_array_equal(table.y, iris.y)
