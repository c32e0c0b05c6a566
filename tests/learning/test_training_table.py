"""The table to learn from: kinds told apart, labels cleaned, trouble named by line or column."""

import numpy as np
import pandas as pd
import pytest

from granulearn.datasets import TableError
from granulearn.learning.training_table import LARGEST_NUMBER, MAX_CATEGORIES, read_training_table


@pytest.fixture(name="read")
def make_read(tmp_path):
    def read(text, target="label", **settings):
        path = tmp_path / "t.csv"
        path.write_text(text, encoding="utf-8")
        return read_training_table(path, target, **settings)

    return read


def test_numbers_categories_and_missing_cells(read):
    table = read("age,city,label\n1,A,x\n 2.5 , B ,y\n?,NA,x\n")
    assert table.X["age"].tolist()[:2] == [1.0, 2.5]
    assert table.X["city"].tolist()[:2] == ["A", "B"]
    age, city = table.columns
    assert (age.kind, age.missing, age.lowest, age.highest) == ("number", 1, 1.0, 2.5)
    assert (city.kind, city.missing, city.categories) == ("category", 1, ("A", "B"))
    assert table.y.tolist() == ["x", "y", "x"]


def test_rows_without_a_label_are_dropped_and_counted(read):
    table = read("a,label\n1,x\n2,\n3,NA\n4,y\n")
    assert table.dropped_rows == 2
    assert table.X["a"].tolist() == [1.0, 4.0]
    assert table.rows.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (["1", "0", "-3"], [1, 0, -3]),
        (["01", "1", "2"], ["01", "1", "2"]),
        (["1.0", "2.0", "1.0"], ["1.0", "2.0", "1.0"]),
        (["True", "False", "True"], ["True", "False", "True"]),
    ],
)
def test_labels_are_numbers_only_if_they_are_written_back_the_same(read, labels, wanted):
    table = read("a,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    assert table.y.tolist() == wanted


def test_columns_can_be_declared_categories_or_left_out(read):
    text = "zip,id,label\n01,a,x\n,b,y\n1,c,x\n"
    table = read(text, categorical=["zip"], ignore=["id"])
    assert [column.name for column in table.columns] == ["zip"]
    assert table.columns[0].categories == ("01", "1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a,label\n", "has a header but no data rows"),
        ("label\nx\ny\n", "has no column but the target"),
        ("a,b\n1,2\n", r"has no column 'label'; did you mean one of \['a', 'b'\]"),
        ('a,label\n1,x\n"2,y\n', "line 3: a quotation mark is not closed"),
        ("a,label\n1,x\n2,y,3\n", "line 3: 3 cells, but the header has 2"),
        (
            "a,label\n1,x\n\nhello,y\n",
            "'a' mixes numbers and text: 'hello' at line 4, '1' at line 2",
        ),
        ("a,label\n1,x\ninf,y\n", "'inf' at line 3"),
        ("a;label\n1,5;x\n-2,25;y\n", r"'a' writes numbers with a comma \('1,5'\)"),
        ("a,label\n1,x\n2,x\n", "the target, is 'x' in every row that has one"),
        ("a,label\n1,\n2,?\n", "the target, is empty in every row"),
    ],
)
def test_trouble_is_named_by_line_or_column(read, text, said):
    with pytest.raises(TableError, match=said):
        read(text)


def test_numbers_too_large_to_compute_with_are_named_with_their_column(read):
    with pytest.raises(TableError, match=r"'b' holds numbers too large.*-1e\+300.*--ignore 'b'"):
        read("a,b,label\n1,2,x\n2,-1e300,y\n")
    assert read(f"a,label\n1e150,x\n{LARGEST_NUMBER},y\n").X["a"].tolist() == [1e150, 1e150]


def test_measurements_are_no_classes(read):
    rows = "".join(f"{i},{i / 7:.3f}\n" for i in range(50))
    with pytest.raises(TableError, match="50 different numbers with decimals"):
        read(f"a,label\n{rows}")


def test_a_column_of_names_is_refused_with_the_way_out(read):
    rows = "".join(f"person {i},{i % 2}\n" for i in range(MAX_CATEGORIES + 1))
    with pytest.raises(TableError, match=r"1001 different texts in 1001 rows.*--ignore 'name'"):
        read(f"name,label\n{rows}")


def test_ten_thousand_columns(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).random((6, 10_000)).round(3))
    frame.columns = [f"column {i}" for i in range(10_000)]
    frame["label"] = ["x", "y"] * 3
    frame.to_csv(tmp_path / "wide.csv", index=False)
    table = read_training_table(tmp_path / "wide.csv", "label")
    np.testing.assert_array_equal(table.X.to_numpy(), frame.drop(columns="label").to_numpy())


def test_parquet_and_csv_of_the_same_table_are_read_the_same(tmp_path):
    frame = pd.DataFrame(
        {
            "n": [1.5, None, 3.0],
            "i": [1, 2, 3],
            "flag": [True, False, True],
            "text": ["a", None, "b"],
            "label": [1, 2, 1],
        }
    )
    frame["kind"] = frame["text"].astype("category")
    frame.to_parquet(tmp_path / "t.parquet")
    written = frame.assign(flag=frame["flag"].map({True: "true", False: "false"}))
    written.to_csv(tmp_path / "t.csv", index=False)
    first = read_training_table(tmp_path / "t.parquet", "label")
    second = read_training_table(tmp_path / "t.csv", "label")
    assert first.columns == second.columns
    assert first.y.tolist() == second.y.tolist()
    pd.testing.assert_frame_equal(first.X, second.X)


def test_dates_are_refused_with_the_way_out(tmp_path):
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01"] * 2), "a": [1, 2], "label": [1, 2]})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"'day' holds dates or times.*--ignore 'day'"):
        read_training_table(tmp_path / "t.parquet", "label")
    assert len(read_training_table(tmp_path / "t.parquet", "label", ignore=["day"]).X) == 2
