"""The audit of a raw table is that of its typed, encoded and scaled rows."""

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import GaussianNB

from granulearn import LabelAudit, Review, audit_labels, out_of_sample_proba
from granulearn.audit.explanation import CATEGORY
from granulearn.audit.table_audit import (
    _times,
    audit_listing,
    audit_table,
    columns_of_listing,
    encoded_inputs,
    is_listing,
)
from granulearn.audit.verified import check_verified
from granulearn.preprocess import TablePreprocessor
from granulearn.tables import ColumnOptions, TableError, open_table, read_training_table, table_of
from tests.audit.tables import three_clouds


def shop(n_rows=150) -> pd.DataFrame:
    """Return a table of texts as people write them, with an index and some wrong labels."""
    X, noisy, _ = three_clouds(n_rows)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "price": [f"{value:.2f} €".replace(".", ",") for value in X[:, 0]],
            "weight": X[:, 1],
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), "D"),
            "member": rng.choice(["ja", "nein"], n_rows),
            "city": pd.Categorical(rng.choice(["Graz", "Lyon"], n_rows)),
            "animal": noisy,
        },
        index=pd.Index([f"case {row * 7 % n_rows:03d}" for row in range(n_rows)], name="case"),
    )
    frame.iloc[4, frame.columns.get_loc("price")] = "n/a"
    return frame


@pytest.fixture(name="frame", scope="module")
def shop_frame():
    return shop()


@pytest.fixture(name="listing", scope="module")
def audited(frame):
    return audit_labels(frame, "animal", random_state=0)


def test_the_audit_of_a_raw_table_is_that_of_its_typed_and_prepared_rows(frame, listing):
    data = read_training_table(table_of(frame), "animal")
    X = TablePreprocessor(scale_binary=False).fit_transform(data.X, data.y)
    by_hand = (
        LabelAudit(random_state=0, categorical_features=None).fit(X, data.y).to_frame(frame.index)
    )
    pd.testing.assert_frame_equal(listing, by_hand)
    assert listing.attrs["noise_rate"] == by_hand.attrs["noise_rate"]


@pytest.mark.parametrize("holder", ["polars", "Arrow", "dicts", "CSV"])
def test_every_holder_of_the_table_gives_the_same_audit(holder, frame, listing, tmp_path):
    plain = frame.astype({"city": object}).reset_index(drop=True)
    plain.to_csv(tmp_path / "t.csv", index=False)
    table = {
        "polars": lambda: polars.from_pandas(plain),
        "Arrow": lambda: pa.Table.from_pandas(plain, preserve_index=False),
        "dicts": lambda: plain.to_dict("records"),
        "CSV": lambda: tmp_path / "t.csv",
    }[holder]()
    found = audit_labels(table, "animal", random_state=0)
    assert_array_equal(found.index, frame.index.get_indexer(listing.index))
    assert_array_equal(found["label_quality"], listing["label_quality"])
    assert found["given_label"].tolist() == listing["given_label"].tolist()


@pytest.mark.parametrize("as_labels", [pd.Series, list, np.asarray])
def test_labels_beside_a_raw_table_equal_those_in_it(as_labels, frame, listing):
    found = audit_labels(frame.drop(columns="animal"), as_labels(frame["animal"]), random_state=0)
    pd.testing.assert_frame_equal(found, listing)


def test_numbers_as_labels_stay_numbers(frame):
    codes = frame["animal"].map({"cat": 3, "dog": 5, "emu": 8}).to_numpy()
    found = audit_labels(frame.drop(columns="animal"), codes, random_state=0)
    assert set(found["given_label"]) == {3, 5, 8}
    assert found["predicted_label"].dtype == codes.dtype


def test_rows_without_a_label_are_not_rated_and_the_others_keep_their_index(frame):
    some = frame.copy()
    some.iloc[10:20, some.columns.get_loc("animal")] = None
    found = audit_labels(some, "animal", random_state=0)
    expected = audit_labels(some.drop(index=some.index[10:20]), "animal", random_state=0)
    pd.testing.assert_frame_equal(found, expected)
    assert any("10 rows have no label" in said for said in found.attrs["warnings"])


def test_what_could_mislead_is_in_the_attributes(frame, listing):
    assert listing.attrs["warnings"] == []
    code = frame["animal"].map({"cat": "A", "dog": "B", "emu": "C"})
    with pytest.warns(UserWarning, match=r"left out: 'code' \(target leakage\)"):
        found = audit_labels(frame.assign(code=code), "animal", random_state=0)
    assert any("leak the target" in said and "'code'" in said for said in found.attrs["warnings"])
    pd.testing.assert_frame_equal(found, listing)


def test_a_table_that_cannot_be_audited_says_all_that_is_wrong(frame):
    with pytest.raises(TableError, match="no column 'animals'"):
        audit_labels(frame, "animals")


def test_the_listing_has_the_cells_as_they_were_read(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f'{i % 13},"{i % 7},50 €",{"ab"[i % 13 > 6]}' for i in range(60)]
    rows[7] = '7,"1,50 €",'
    path.write_text("given_label,price,kind\n" + "\n\n".join(rows) + "\n")
    with open_table(path) as file:
        data = read_training_table(file, "kind", keep_cells=True)
    done = audit_table(data, random_state=0)
    listing = done.listing()
    assert listing.column_names == [
        *["row", "line", "hash", "given_label", "predicted_label", "verdict", "error_probability"],
        *["label_quality", "is_label_issue", "verified", "decision", "new_label", "drawn"],
        *["given_label (column)", "price", "kind"],
    ]
    last = listing.slice(59).to_pylist()[0]
    assert (last["row"], last["line"], last["label_quality"], last["given_label"]) == (
        8,
        16,
        None,
        None,
    )
    assert last["price"] == "1,50 €"
    for row in listing.to_pylist():
        number, price, kind = rows[row["row"] - 1].replace('"', "").replace(",50", ".50").split(",")
        assert row["given_label (column)"] == number
        assert row["price"] == price.replace(".", ",")
        assert row["kind"] == kind
        assert row["line"] == 2 * row["row"]
    ratings = listing["label_quality"].drop_null().to_pylist()
    assert ratings == sorted(ratings)
    assert done.listing(keep=["kind"]).column_names[13:] == ["kind"]
    assert len(done.shown_cells()) == 59
    assert list(done.shown_cells()) == ["given_label", "price"]


def test_cells_that_were_not_kept_cannot_be_listed(frame):
    done = audit_table(read_training_table(table_of(frame), "animal"), random_state=0)
    with pytest.raises(ValueError, match="read without keep_cells"):
        done.listing()


def test_features_are_named_and_known_by_the_column_they_come_from():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "n: year": rng.normal(size=300),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 300), "D"),
            "c": pd.Categorical(rng.choice(["u", "v", "w"], 300)),
            "many": pd.Categorical([f"p{k}" for k in rng.integers(0, 60, 300)]),
            "two": rng.choice(["no", "yes"], 300),
            "three": rng.choice(["a", "b", "c by d"], 300),
        }
    )
    for target, shown in (("two", ["yes"]), ("three", ["a", "b", "c by d"])):
        table = read_training_table(
            table_of(frame.drop(columns={"two", "three"} - {target})), target
        )
        X, names, origins = encoded_inputs(table)
        categories = frame["c"].astype(str).unique()
        parts = ["year", "month", "day of year", "weekday", "days since 1970"]
        assert names == [
            *[
                "n: year",
                *[f"day: {part}" for part in parts],
                *[("c", name) for name in categories],
            ],
            *[f"share of {label} by many" for label in shown],
        ]
        assert origins == [
            *[("n: year", ""), *[("day", part) for part in parts], *[("c", CATEGORY)] * 3],
            *[("many", CATEGORY)] * len(shown),
        ]
        assert X.shape == (300, len(names))


def by_time(n_rows=60):
    """Return the days of a table in an order of their own, and the table."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2021-11-20") + pd.to_timedelta(rng.permutation(n_rows) * 5, "D")
    frame = pd.DataFrame(
        {
            "day": [f"{day.day}.{day.month}.{day.year}" for day in days],
            "stamp": days,
            "amount": [f"{day.value / 86_400e9:.1f}".replace(".", ",") for day in days],
            "id": [str(day.value // 86_400_000_000_000 - 18_940) for day in days],
            "text": [f"w{day.year}-{day.day_of_year:03d}" for day in days],
            "x": rng.normal(size=n_rows),
            "label": rng.choice(["a", "b"], n_rows),
        }
    )
    return days, frame


@pytest.mark.parametrize("column", ["day", "stamp", "amount", "id", "text"])
def test_dates_numbers_and_texts_of_a_column_order_its_rows(column):
    days, frame = by_time()
    data = read_training_table(table_of(frame), "label", keep_cells=True)
    assert_array_equal(np.argsort(_times(data, column)), np.argsort(days))


def test_columns_of_groups_and_order_equal_their_values(frame):
    rng = np.random.default_rng(0)
    frame = frame.assign(shop=[f"shop {k}" for k in rng.integers(12, size=len(frame))])
    named = audit_labels(frame, "animal", groups="shop", random_state=0)
    values = audit_labels(
        frame.drop(columns="shop"), "animal", groups=frame["shop"], random_state=0
    )
    pd.testing.assert_frame_equal(named, values)
    named = audit_labels(frame, "animal", times="day", random_state=0)
    pd.testing.assert_frame_equal(
        audit_labels(frame, "animal", times=frame["day"], random_state=0), named
    )


def test_values_for_all_rows_are_cut_to_those_with_a_label(frame):
    some = frame.copy()
    some.iloc[10:20, some.columns.get_loc("animal")] = None
    groups = np.arange(len(some)) % 9
    found = audit_labels(some, "animal", groups=groups, random_state=0)
    kept = np.r_[0:10, 20 : len(some)]
    expected = audit_labels(some.iloc[kept], "animal", groups=groups[kept], random_state=0)
    pd.testing.assert_frame_equal(found, expected)


def test_probabilities_are_aligned_with_the_rows_and_classes_of_a_raw_table(frame):
    some = frame.copy()
    some.iloc[10:20, some.columns.get_loc("animal")] = None
    labelled = some.dropna(subset="animal")
    X = labelled[["weight"]].to_numpy()
    proba = out_of_sample_proba(GaussianNB(), X, labelled["animal"])
    expected = LabelAudit().fit(None, labelled["animal"], proba=proba)
    of_all = proba.reindex(some.index).fillna(1 / 3)
    mixed = proba[["emu", "cat", "dog"]].sample(frac=1, random_state=0)
    for given in (proba, mixed, of_all, of_all.sample(frac=1, random_state=0), of_all.to_numpy()):
        found = audit_labels(some, "animal", proba=given)
        assert_array_equal(found["error_probability"].loc[labelled.index], expected.error_proba_)
        record = {name: found.attrs[name] for name in expected.summary().to_dict()}
        assert record == expected.summary().to_dict()
    with pytest.raises(ValueError, match=r"shape \(50, 3\); 140 samples"):
        audit_labels(some, "animal", proba=proba.iloc[:50])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"groups": "shopp"}, "no column 'shopp'"),
        ({"times": "shopp"}, "no column 'shopp'; the table has price, weight"),
        ({"groups": "same"}, "column 'same': all samples are in one group"),
        ({"times": "price"}, "column 'price': times has 1 missing entries"),
        ({"times": "pairs"}, "column 'pairs' holds lists or bytes"),
        ({"groups": "bytes"}, "column 'bytes' holds lists or bytes"),
    ],
)
@pytest.mark.filterwarnings("ignore:Columns are left out")
def test_columns_that_cannot_keep_rows_apart_are_errors_of_the_table(frame, settings, message):
    n_rows = len(frame)
    frame = frame.assign(same="x", pairs=[[1, 2]] * n_rows, bytes=[b"\xff"] * n_rows)
    with pytest.raises(TableError, match=message):
        audit_labels(frame, "animal", **settings)


# --- a listing of the most doubtful labels of a larger table


LISTING = pd.DataFrame(
    {
        "row": [812, 17, 4000, 9],
        "hash": ["h1", "h2", "h3", "h4"],
        "given_label": ["ox", "cow", "ox", "hen"],
        "predicted_label": ["cow", "ox", "ox", "emu"],
        "verdict": ["wrong", "wrong", "suspect", "wrong"],
        "error_probability": [0.99, 0.9, 0.5, 0.4],
        "label_quality": [0.01, 0.1, 0.45, None],
        "is_label_issue": [True, True, False, True],
        "decision": "",
        "new_label": "",
        "weight": [410.0, 780.0, 590.0, 2.0],
        "label": ["ox", "cow", "ox", "hen"],
    }
)


def test_a_listing_of_a_large_table_is_known_by_its_columns():
    assert is_listing(LISTING.columns)
    assert not is_listing([*LISTING.columns, "drawn"])
    assert not is_listing(["row", "label"])
    assert "weight" not in columns_of_listing(LISTING.columns)


def test_ratings_are_those_of_the_listing():
    with table_of(LISTING) as file:
        options = ColumnOptions(ignore=columns_of_listing(file.names))
        table = read_training_table(file, "label", options, keep_cells=True)
    assert table.X.columns.tolist() == ["weight"]
    nobody = check_verified(None, 4, np.unique(table.y), None)
    audit = audit_listing(table, nobody).audit
    assert_array_equal(audit.predicted_label_, ["cow", "ox", "ox", "hen"])
    assert_allclose(audit.label_quality_, [0.01, 0.1, 0.45, np.nan])
    assert_array_equal(audit.ratings_.worst_first, [0, 1, 2, 3])
    assert_allclose(audit.ratings_.proba[0], [0.99, 0, 0.01], atol=1e-8)
    assert (np.diff(audit.error_proba_[:3]) < 0).all()
    assert_array_equal(audit.verdict_ == "unknown", [False, False, False, True])


def test_a_review_goes_through_a_listing_without_rating_it_again(tmp_path):
    path = tmp_path / "suspects.csv"
    many = pd.concat([LISTING] * 6, ignore_index=True)
    many["weight"] += np.arange(24)
    many.to_csv(path, index=False)
    with Review(path, "label") as review:
        card = review.next()
        assert (card.given_label, card.second_class) == ("ox", "cow")
        assert "'cow' is 99 % likely, 'ox' 1 %." in card.reason
        review.decide(card, "change")
        assert review.corrected()["label"].iloc[card.row - 1] == "cow"
        assert review.next().row != card.row
