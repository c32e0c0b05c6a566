"""Arguments of an audit: what is taken, and what is refused."""

import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from granulearn.audit import LabelAudit, out_of_sample_proba
from granulearn.audit.validation import (
    N_PERIODS,
    check_groups,
    check_proba,
    is_raw_table,
    row_names,
)
from tests.audit.tables import three_clouds

CODES = np.array([0, 1, 2, 1])
CLASSES = np.array(["cat", "dog", "emu"])
GOOD = np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
NUMBERS = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}, index=["x", "y"])


@pytest.mark.parametrize(
    "X",
    [
        "table.csv",
        {"a": [1, 2]},
        [{"a": 1}, {"a": 2}],
        pa.table({"a": [1, 2]}),
        NUMBERS,
        NUMBERS.assign(c=["u", "v"]),
    ],
)
def test_the_cells_of_tables_are_read_and_those_of_arrays_are_not(X):
    assert is_raw_table(X)
    assert not is_raw_table(NUMBERS.to_numpy().tolist())
    assert not is_raw_table([])


def test_rows_are_named_by_the_inputs_or_else_by_the_labels():
    y = pd.Series([0, 1], index=["p", "q"])
    assert list(row_names(NUMBERS, y)) == ["x", "y"]
    assert list(row_names(NUMBERS.to_numpy(), y)) == ["p", "q"]
    assert row_names(NUMBERS.to_numpy(), np.array([0, 1])) is None


# --- probabilities of another model


def changed(row, values):
    proba = GOOD.copy()
    proba[row] = values
    return proba


@pytest.mark.parametrize("given", [GOOD, GOOD.tolist(), changed(2, np.nan)])
def test_probabilities_are_taken_as_they_are_and_copied(given):
    checked = check_proba(given, CODES, CLASSES)
    assert_array_equal(checked, given)
    assert checked is not given


@pytest.mark.parametrize(
    ("proba", "message"),
    [
        (GOOD[:3], r"shape \(3, 3\); 4 samples and 3 classes need \(4, 3\)"),
        (GOOD[:, :2], r"in the order \['cat', 'dog', 'emu'\]"),
        (GOOD[:, 0], r"shape \(4,\)"),
        (changed(1, [0.5, np.nan, 0.5]), r"1 are not, first row 1: \[0.5, nan, 0.5\]"),
        (changed(2, [-0.1, 0.6, 0.5]), "must be probabilities .* first row 2"),
        (changed(2, [np.inf, 0, 0]), "must be probabilities .* first row 2"),
        (changed(3, [0.5, 0.5, 0.5]), "whose sum is one.* first row 3"),
        (GOOD * 0.99, "4 are not, first row 0"),
    ],
)
def test_what_is_no_probability_is_an_error_that_names_the_row(proba, message):
    with pytest.raises(ValueError, match=message):
        check_proba(proba, CODES, CLASSES)


NAMED = pd.DataFrame(GOOD, index=[*"pqrs"], columns=CLASSES)


@pytest.mark.parametrize(
    ("proba", "classes", "index"),
    [
        (NAMED[["emu", "cat", "dog"]], CLASSES, None),
        (NAMED.loc[[*"srqp"]], CLASSES, [*"pqrs"]),
        (NAMED.reset_index(drop=True), CLASSES, [*"pqrs"]),
        (NAMED, CLASSES, None),
        (NAMED.set_axis([*"012"], axis=1)[[*"210"]], np.array([0, 1, 2]), None),
        (NAMED.set_axis([0, 1, 2], axis=1)[[2, 0, 1]], np.array([0.0, 1.0, 2.0]), None),
        (NAMED.set_axis([0.0, 1.0, 2.0], axis=1), np.array([0, 1, 2]), None),
        (NAMED.set_axis([*"ppqq"]), CLASSES, [*"ppqq"]),
        (NAMED.loc[[*"pqrs"]], CLASSES, range(4)),
        (NAMED.set_axis([*"ppqq"]), CLASSES, range(4)),
        (NAMED.set_axis([*"0123"]).loc[[*"3102"]], CLASSES, range(4)),
        (NAMED.set_axis([0.0, 1.0, 2.0, 3.0]).iloc[[3, 1, 0, 2]], CLASSES, range(4)),
        (pa.Table.from_pandas(NAMED[["dog", "cat", "emu"]], preserve_index=False), CLASSES, None),
    ],
)
def test_a_frame_is_aligned_by_its_names(proba, classes, index):
    assert_array_equal(check_proba(proba, CODES, classes, index), GOOD)


@pytest.mark.parametrize(
    ("proba", "what", "found"),
    [
        (NAMED.set_axis([0, 1, 2], axis=1), "columns", [0, 1, 2]),
        (NAMED.set_axis([*"aab"], axis=1), "columns", [*"aab"]),
        (NAMED.drop(columns="dog"), "columns", ["cat", "emu"]),
        (NAMED.assign(ox=0), "columns", ["cat", "dog", "emu", "ox"]),
        (NAMED.set_axis([*"pqrx"]), "rows", [*"pqrx"]),
        (NAMED.set_axis([*"ppqr"]), "rows", [*"ppqr"]),
    ],
)
def test_names_that_do_not_match_are_an_error_that_says_both(proba, what, found):
    wanted = {"columns": CLASSES.tolist(), "rows": [*"pqrs"]}[what]
    message = f"{what} of proba are named {found}, and {len(wanted)} {what} named {wanted} are need"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_proba(proba, CODES, CLASSES, [*"pqrs"])


def test_a_default_index_beside_the_same_numbers_in_another_order_is_ambiguous():
    message = "default index 0 to 3, which may be the order of X or its names; set proba.index = X"
    with pytest.raises(ValueError, match=message):
        check_proba(NAMED.reset_index(drop=True), CODES, CLASSES, [3, 1, 0, 2])


def test_out_of_sample_probabilities_are_of_models_that_did_not_see_the_row():
    X, y, _ = three_clouds()
    groups = np.arange(len(y)) // 10
    memory = KNeighborsClassifier(1)  # knows every row that it has seen
    proba = out_of_sample_proba(memory, X, pd.Series(y, index=range(7, 157)))
    assert proba.columns.tolist() == ["cat", "dog", "emu"]
    assert proba.index.tolist() == list(range(7, 157))
    again = out_of_sample_proba(memory, X, y)
    assert_array_equal(again, proba)
    same = np.zeros((150, 1))  # all rows of a group are alike, so that one seen would tell
    same[:, 0] = groups
    of_groups = np.array(["cat", "dog", "emu"])[groups % 3]
    apart = out_of_sample_proba(memory, same, of_groups, groups=groups)
    assert np.diag(apart.loc[:, of_groups].to_numpy()).mean() < 0.5
    by_splitter = out_of_sample_proba(memory, X, y, cv=KFold(3))
    expected = cross_val_predict(memory, X, y, cv=KFold(3), method="predict_proba")
    assert_array_equal(by_splitter, expected)
    later = out_of_sample_proba(memory, X, y, cv=TimeSeriesSplit(4))
    assert_array_equal(later.isna().all(axis=1), np.arange(150) < 30)


def test_a_model_of_categories_gives_probabilities():
    catboost = pytest.importorskip("catboost")
    X, y, _ = three_clouds()
    frame = pd.DataFrame(X[:, 1:]).add_prefix("x").assign(kind=np.where(X[:, 0] > 4, "far", "near"))
    model = catboost.CatBoostClassifier(
        20, cat_features=["kind"], verbose=0, allow_writing_files=False
    )
    proba = out_of_sample_proba(model, frame, y)
    assert (proba.idxmax(axis=1) == y).mean() > 0.8


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_class_that_the_model_of_a_fold_did_not_know_is_unknown_there():
    X, y, _ = three_clouds()
    y = y.astype(object)
    y[7] = "yak"
    proba = out_of_sample_proba(KNeighborsClassifier(), X, y)
    assert_array_equal(np.flatnonzero(proba.isna().any(axis=1)), [7])
    with pytest.warns(UserWarning, match="1 of 150 labels is unknown"):
        assert LabelAudit().fit(X, y, proba=proba).verdict_[7] == "unknown"


def test_probabilities_that_know_nearly_every_label_are_warned_of():
    X, y, _ = three_clouds()
    heart = RandomForestClassifier(20, bootstrap=False, random_state=0).fit(X, y).predict_proba(X)
    with pytest.warns(
        UserWarning, match=r"predicts 100.0% of the given labels.*out_of_sample_proba"
    ):
        LabelAudit().fit(X, y, proba=heart)
    # No warning where the samples were not seen: it would fail this test.
    fair = out_of_sample_proba(RandomForestClassifier(20, random_state=0), X, y)
    audit = LabelAudit().fit(X, y, proba=fair)
    assert audit.forest_ is None
    assert_array_equal(audit.out_of_sample_proba_, fair)


def test_rows_of_which_nothing_is_known_are_unknown_and_the_others_are_rated():
    X, y, _ = three_clouds()
    proba = LabelAudit(random_state=0).fit(X, y).out_of_sample_proba_
    proba[:5] = np.nan
    with pytest.warns(UserWarning, match="5 of 150 labels is unknown"):
        audit = LabelAudit().fit(X, y, proba=proba)
    assert (audit.verdict_[:5] == "unknown").all()
    assert (audit.verdict_[5:] != "unknown").all()


# --- groups and periods of time


def partition(units):
    """Return which rows are together, whatever their unit is called."""
    return {frozenset(np.flatnonzero(units == unit).tolist()) for unit in np.unique(units)}


@pytest.mark.parametrize(
    "groups",
    [
        ["p", "q", "p", "r"],
        [7, 3, 7, 5],
        np.array([0.5, 1.5, 0.5, 9.0]),
        pd.Series(["p", "q", "p", "r"], index=[9, 8, 7, 6], dtype="category"),
        [True, "x", True, "y"],
    ],
)
def test_groups_of_any_kind_are_numbered_from_zero(groups):
    assert check_groups(None, None, 4) is None
    units = check_groups(groups, None, 4)
    assert partition(units) == {frozenset({0, 2}), frozenset({1}), frozenset({3})}
    assert set(units.tolist()) == {0, 1, 2}


@settings(max_examples=60)
@given(
    moments=st.lists(st.integers(0, 30), min_size=2, max_size=80).filter(lambda m: len(set(m)) > 1)
)
def test_periods_follow_the_order_and_equal_moments_stay_together(moments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of periods that have most of the rows
        units = check_groups(None, moments, len(moments))
    moments = np.array(moments)
    assert 2 <= len(np.unique(units)) <= N_PERIODS
    order = np.argsort(moments, kind="stable")
    assert (np.diff(units[order]) >= 0).all()
    for moment in np.unique(moments):
        assert len(np.unique(units[moments == moment])) == 1


def test_different_moments_are_cut_into_periods_of_equal_size():
    order = np.random.default_rng(0).permutation(1000)
    assert_array_equal(np.bincount(check_groups(None, order, 1000)), [100] * N_PERIODS)


@pytest.mark.parametrize(
    "order",
    [
        [3, 1, 2, 9],
        [3.5, 1.25, 2.0, 9.75],
        ["c", "a", "b", "d"],
        pd.to_datetime(["2021-03-01", "2019-01-01", "2020-12-31", "2022-01-01"]),
        np.array(["2021-03", "2019-01", "2020-12", "2022-01"], dtype="datetime64[M]"),
    ],
)
def test_numbers_dates_and_texts_order_alike(order):
    assert_array_equal(check_groups(None, order, 4).argsort(), [1, 2, 0, 3])


def test_a_group_belongs_to_the_period_of_its_first_sample():
    groups = np.repeat(np.arange(20), 5)
    order = np.arange(100)
    order[4] = 99  # the last sample of the first group comes late
    units = check_groups(groups, order, 100)
    for group in range(20):
        assert len(np.unique(units[groups == group])) == 1
    assert units[4] == units[0] == 0
    assert len(np.unique(units)) == N_PERIODS


@pytest.mark.parametrize(
    ("groups", "order", "message"),
    [
        (["a"] * 4, None, "all samples are in one group"),
        ([1, 2, 3], None, "groups has 3 entries and there are 4 samples"),
        (None, [1, 2], "times has 2 entries and there are 4 samples"),
        (["a", None, "b", None], None, "groups has 2 missing entries"),
        (None, [1, np.nan, 2, 3], "times has 1 missing entries"),
        (None, [5, 5, 5, 5], "times has the same value everywhere"),
        (None, [{}, {}, {}, {}], "times holds values that cannot be ordered"),
    ],
)
def test_what_cannot_keep_rows_apart_is_an_error(groups, order, message):
    with pytest.raises(ValueError, match=message):
        check_groups(groups, order, 4)


def test_labels_of_a_class_that_one_group_alone_has_are_unknown():
    X, y, _ = three_clouds(200, rate=0.0)
    groups = np.where(y == "emu", 0, np.random.default_rng(0).integers(1, 6, size=200))
    with pytest.warns(UserWarning, match=r"1 class\(es\) occur in one group only \('emu'\)"):
        audit = LabelAudit(random_state=0).fit(X, y, groups=groups)
    assert_array_equal(audit.verdict_ == "unknown", y == "emu")
    assert np.isnan(audit.error_proba_[y == "emu"]).all()


def test_labels_that_only_their_own_group_vouches_for_are_doubted():
    # Each patient has one place and one label; a tenth of them contradict the places of all others.
    rng = np.random.default_rng(0)
    places = rng.normal(scale=6, size=(60, 2))
    of_patient = (places[:, 0] > 0).astype(int)
    odd = rng.choice(60, 6, replace=False)
    of_patient[odd] = 1 - of_patient[odd]
    patient = np.repeat(np.arange(60), 8)
    X = places[patient] + 0.05 * rng.normal(size=(480, 2))
    y = of_patient[patient]
    wrong = np.isin(patient, odd)
    alone, apart = (
        LabelAudit(random_state=0).fit(X, y, groups=groups) for groups in (None, patient)
    )
    assert (alone.verdict_ == "wrong")[wrong].mean() < 0.1
    assert apart.is_label_issue_[wrong].mean() > 0.7


@pytest.mark.parametrize("given_by", ["groups", "times"])
def test_no_tree_sees_a_part_of_a_group_or_of_a_moment(given_by):
    X, y, _ = three_clouds(200)
    units = np.random.default_rng(0).integers(12, size=200)
    audit = LabelAudit(n_estimators=30, random_state=0).fit(X, y, **{given_by: units})
    for unit in range(12):
        seen = audit.in_bag_[:, units == unit]
        assert (seen.all(axis=1) | ~seen.any(axis=1)).all()
    assert audit.in_bag_.any(axis=1).all()
    assert not audit.in_bag_.all(axis=1).any()
