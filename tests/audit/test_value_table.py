"""The audit of numbers in a raw table is that of its typed, encoded and scaled rows."""

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from granulearn.audit import audit_labels
from granulearn.audit.value_table import read_number_table
from granulearn.tables import TableError, table_of
from tests.audit.numbers import curved


def flats(n=120) -> pd.DataFrame:
    """Return a table of texts as people write them, with some wrong rents."""
    X, y, _ = curved(n, n_wrong=3)
    rng = np.random.default_rng(1)
    city = rng.choice(["Graz", "Lyon", "Oslo"], n)
    rent = 50 * y + 200 * (city == "Oslo")
    frame = pd.DataFrame(
        {
            "size": [f"{value:.3f} m²".replace(".", ",") for value in X[:, 0]],
            "age": X[:, 1],
            "city": city,
            "street": [f"street {k}" for k in rng.integers(0, 50, n)],
            "rent": [f"{value:.2f} €".replace(".", ",") for value in rent],
        },
        index=[f"flat {row}" for row in range(n)],
    )
    frame.iloc[4, frame.columns.get_loc("size")] = "n/a"
    return frame


@pytest.fixture(name="frame", scope="module")
def flats_frame():
    return flats()


@pytest.fixture(name="listing", scope="module")
def audited(frame):
    return audit_labels(frame, "rent", task="regression", random_state=0)


def test_wrong_values_of_a_raw_table_come_first(frame, listing):
    _, _, wrong = curved(120, n_wrong=3)
    assert set(listing.index[:3]) == set(frame.index[wrong])
    assert listing["is_label_issue"].iloc[:3].all()
    assert listing.attrs["warnings"] == []
    shown = frame["rent"].str.removesuffix(" €").str.replace(",", ".").astype(float)
    assert_array_equal(listing["given_label"], shown.loc[listing.index])


@pytest.mark.parametrize("holder", ["polars", "Arrow", "dicts", "columns", "CSV"])
def test_every_holder_of_the_table_gives_the_same_audit(holder, frame, listing, tmp_path):
    plain = frame.reset_index(drop=True)
    plain.to_csv(tmp_path / "t.csv", index=False)
    table = {
        "polars": lambda: polars.from_pandas(plain),
        "Arrow": lambda: pa.Table.from_pandas(plain, preserve_index=False),
        "dicts": lambda: plain.to_dict("records"),
        "columns": lambda: plain.to_dict("list"),
        "CSV": lambda: tmp_path / "t.csv",
    }[holder]()
    found = audit_labels(table, "rent", task="regression", random_state=0)
    assert_array_equal(found.index, frame.index.get_indexer(listing.index))
    pd.testing.assert_frame_equal(found.reset_index(drop=True), listing.reset_index(drop=True))


@pytest.mark.parametrize("as_values", [pd.Series, list, np.asarray])
def test_values_beside_a_raw_table_equal_those_in_it(as_values, frame, listing):
    found = audit_labels(
        frame.drop(columns="rent"), as_values(frame["rent"]), task="regression", random_state=0
    )
    pd.testing.assert_frame_equal(found, listing)


def test_numbers_beside_a_raw_table_are_taken_as_they_are(frame, listing):
    numbers = listing["given_label"].loc[frame.index].to_numpy()
    found = audit_labels(frame.drop(columns="rent"), numbers, task="regression", random_state=0)
    pd.testing.assert_frame_equal(found, listing)
    plain = frame.drop(columns="rent").to_dict("records")
    by_values = audit_labels(plain, frame["rent"], task="regression", random_state=0)
    pd.testing.assert_frame_equal(by_values, listing)


def test_the_order_of_rows_changes_nothing(frame, listing):
    order = np.random.default_rng(0).permutation(len(frame))
    found = audit_labels(frame.iloc[order], "rent", task="regression", random_state=0)
    pd.testing.assert_frame_equal(found.sort_index(), listing.sort_index(), rtol=1e-6)


def test_rows_without_a_number_are_left_out_and_said(frame):
    some = frame.copy()
    some.iloc[10:20, some.columns.get_loc("rent")] = None
    found = audit_labels(some, "rent", task="regression", random_state=0)
    expected = audit_labels(
        some.drop(index=some.index[10:20]), "rent", task="regression", random_state=0
    )
    pd.testing.assert_frame_equal(found, expected)
    assert "10 rows have no number in 'rent': left out." in found.attrs["warnings"]


def test_a_cell_that_is_no_number_is_named(frame):
    some = frame.copy()
    some.iloc[7, some.columns.get_loc("rent")] = "ask"
    found = audit_labels(some, "rent", task="regression", random_state=0)
    assert "'ask' at row 8" in found.attrs["warnings"][0]
    assert "1 row has no number in 'rent': left out." in found.attrs["warnings"]
    assert "flat 7" not in found.index


def test_a_copy_of_the_target_in_other_units_is_left_out(frame, listing):
    dollars = listing["given_label"].loc[frame.index] * 1.1 + 3
    found = audit_labels(frame.assign(dollars=dollars), "rent", task="regression", random_state=0)
    assert "'dollars' holds the target itself" in found.attrs["warnings"][0]
    pd.testing.assert_frame_equal(found, listing)


def test_a_target_that_numbers_rows_or_looks_like_an_id_is_a_target(frame):
    found = audit_labels(
        frame.assign(order_id=np.arange(len(frame)) * 3 + 5),
        "rent",
        task="regression",
        random_state=0,
    )
    assert len(found) == len(frame)
    table = read_number_table(table_of({"x": np.arange(30.0) ** 2, "id": list(range(30))}), "id")
    assert_array_equal(table.y, np.arange(30))


def test_a_table_that_cannot_be_audited_says_why(frame):
    with pytest.raises(TableError, match=r"no column 'rents'.*'rent'"):
        audit_labels(frame, "rents", task="regression")
    with pytest.raises(TableError, match=r"'city', the target, holds no numbers .*'category'"):
        audit_labels(frame, "city", task="regression")
    with pytest.raises(TableError, match="no column to learn from"):
        audit_labels(frame[["rent"]], "rent", task="regression")
    with pytest.raises(TableError, match="120 rows and y has 100 values"):
        audit_labels(frame, np.arange(100.0), task="regression")
    with pytest.raises(TableError, match="y has 2 dimensions"):
        audit_labels(frame, np.ones((120, 2)), task="regression")
    with pytest.raises(ValueError, match="all 120 values of y are 3"):
        audit_labels(frame.assign(rent=3.0), "rent", task="regression")
    with pytest.raises(ValueError, match="too few"):
        audit_labels(frame.iloc[:6], "rent", task="regression")
