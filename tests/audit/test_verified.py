"""Labels that a person has looked at: all ways to say them, and what they change."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from granulearn.audit import LabelAudit, audit_labels
from granulearn.audit.verified import NO_VERIFIED, check_verified
from tests.audit.tables import three_clouds

CLASSES = np.array(["cat", "dog", "emu"])
NAMES = pd.Index([f"row {k}" for k in range(6)])


def as_facts(verified):
    return [verified.rows.tolist(), verified.truth.tolist(), verified.at_random.tolist()]


@pytest.mark.parametrize(
    ("said", "index"),
    [
        ({4: "emu", 1: "cat"}, None),
        ({"row 4": "emu", "row 1": "cat"}, NAMES),
        ({np.int64(4): np.str_("emu"), np.int64(1): "cat"}, None),
        (pd.Series({"row 4": "emu", "row 1": "cat"}), NAMES),
        (pd.Series(["cat", None, "emu"], index=[1, 0, 4]), None),
        (pd.Series([None, "cat", None, None, "emu", None]), None),
        (pd.DataFrame({"label": ["emu", "cat"]}, index=["row 4", "row 1"]), NAMES),
        (pd.DataFrame({"label": ["emu", "cat", np.nan]}, index=[4, 1, 0]), None),
        ([None, "cat", None, None, "emu", None], None),
        ([None, "cat", np.nan, None, "emu", pd.NA], NAMES),
        (np.array([None, "cat", None, None, "emu", None]), NAMES),
    ],
)
def test_all_ways_to_say_it_agree(said, index):
    assert as_facts(check_verified(said, 6, CLASSES, index)) == [[1, 4], [0, 2], [False, False]]


def test_a_frame_says_which_rows_were_drawn_at_random():
    frame = pd.DataFrame(
        {"label": ["emu", "cat", "dog", "dog"], "drawn": ["random", "worst", None, np.nan]},
        index=[4, 1, 0, 2],
    )
    found = check_verified(frame, 6, CLASSES, None)
    assert as_facts(found) == [[0, 1, 2, 4], [1, 0, 1, 2], [False, False, False, True]]
    assert check_verified(found, 6, CLASSES, None) is found


def test_numbers_as_classes_are_found_again():
    found = check_verified([None, 2.0, None], 3, np.array([1, 2]), None)
    assert as_facts(found) == [[1], [1], [False]]


NOTHING = [
    *(None, {}, [None] * 6, np.full(6, np.nan), pd.Series(dtype=object)),
    pd.DataFrame({"label": [None, None]}, index=[1, 2]),
]


@pytest.mark.parametrize("said", NOTHING, ids=lambda said: type(said).__name__)
def test_nothing_said_is_nothing_verified(said):
    assert check_verified(said, 6, CLASSES, None) is NO_VERIFIED


@pytest.mark.parametrize(
    ("said", "index", "message"),
    [
        ({1: "cow"}, None, r"1 label\(s\) that are no class of y: 'cow'; the classes are 'cat'"),
        ({1: ["cat"]}, None, "no class of y"),
        ({6: "cat"}, None, r"names 1 row\(s\) that the data does not have: 6"),
        ({-1: "cat"}, None, "that the data does not have: -1"),
        ({1: "cat"}, NAMES, "that the data does not have: 1"),
        ({"row 9": "cat"}, NAMES, "'row 9'"),
        ({"a": "cat"}, ["a", "a", *"bcde"], "rows of the same name cannot be told apart"),
        (pd.Series(["cat", "dog"], index=[2, 2]), None, "names a row twice: 2"),
        (["cat"], None, "verified has 1 entries and there are 6 samples"),
        (pd.DataFrame({"truth": ["cat"]}), None, r"needs a column 'label'.*\['truth'\]"),
        (pd.DataFrame({"label": ["cat"], "drawn": ["luck"]}), None, "'luck' is unknown"),
    ],
)
def test_what_cannot_be_meant_is_an_error_that_says_why(said, index, message):
    with pytest.raises(ValueError, match=message):
        check_verified(said, 6, CLASSES, index)


# --- of a whole audit


@pytest.fixture(scope="module")
def plain():
    X, y, wrong = three_clouds(200, rate=0.15)
    clean = three_clouds(200, rate=0.0)[1]
    return X, y, wrong, clean, LabelAudit(random_state=0).fit(X, y)


def test_what_was_verified_is_never_flagged_and_the_forest_learns_it(plain):
    X, y, wrong, clean, audit = plain
    rows = np.flatnonzero(wrong)
    assert audit.is_label_issue_[rows].mean() > 0.8
    mended = {int(row): clean[row] for row in rows}
    other = LabelAudit(random_state=0).fit(X, y, verified=mended)
    assert not other.is_label_issue_[rows].any()
    assert_array_equal(other.verdict_[rows], "fine")
    assert_array_equal(np.flatnonzero(other.verified_), rows)
    assert_array_equal(other.predicted_label_, clean)
    assert_array_equal(other.error_proba_[rows], 1)
    assert_array_equal(other.given_label_, y)
    # The trees are those of the corrected labels.
    corrected = LabelAudit(random_state=0).fit(X, clean)
    assert_array_equal(other.out_of_sample_proba_, corrected.out_of_sample_proba_)
    assert_array_equal(other.classes_[other.learnt_], clean)


def test_verified_labels_come_after_all_open_ones(plain):
    X, y, _, clean, audit = plain
    rows = audit.ratings_.worst_first[:10].tolist()
    listing = audit_labels(X, y, verified={row: clean[row] for row in rows}, random_state=0)
    assert set(listing.index[-10:]) == set(rows)
    assert listing["verified"].tolist() == [False] * 190 + [True] * 10


def test_what_is_to_review_can_be_filled_in_and_given_back(plain):
    X, y, wrong, clean, audit = plain
    names = [f"case {k}" for k in range(200)]
    frame = pd.DataFrame(X, index=names).add_prefix("x")
    todo = audit.next_to_review(40, random_fraction=0.5, index=names)
    rows = frame.index.get_indexer(todo.index)
    todo["label"] = clean[rows]
    other = LabelAudit(random_state=0).fit(frame, y, verified=todo)
    summary = other.summary()
    assert summary.basis == "verified labels"
    assert summary.low <= wrong.mean() <= summary.high
    assert_array_equal(np.flatnonzero(other.verified_), np.sort(rows))
    by_index = audit_labels(frame, y, verified=todo, random_state=0)
    assert set(by_index.index[by_index["verified"]]) == set(todo.index)


def test_labels_of_a_raw_table_are_verified_by_the_names_of_its_rows():
    X, y, _ = three_clouds(120)
    frame = pd.DataFrame(X).add_prefix("x")
    frame["kind"] = np.where(X[:, 0] > 4, "far", "near")
    frame["animal"] = y.astype(object)
    frame.loc[3, "animal"] = None
    frame.index = [f"case {k}" for k in range(120)]
    said = {"case 7": "emu", "case 100": "cat"}
    found = audit_labels(frame, "animal", verified=said, random_state=0)
    assert set(found.index[found["verified"]]) == set(said)
    assert found.loc[list(said), "predicted_label"].tolist() == list(said.values())
    per_row = [said.get(name) for name in frame.index]
    pd.testing.assert_frame_equal(
        audit_labels(frame, "animal", verified=per_row, random_state=0), found
    )
    with pytest.raises(ValueError, match="'case 3'"):
        audit_labels(frame, "animal", verified={"case 3": "cat"}, random_state=0)
