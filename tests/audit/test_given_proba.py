"""Probabilities of another model: what is none is refused, what was learnt by heart is told."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from granulearn.audit import LabelAudit, audit_labels
from granulearn.audit.given_proba import check_proba
from tests.audit.tables import three_clouds

CODES = np.array([0, 1, 2, 1])
CLASSES = np.array(["cat", "dog", "emu"])
GOOD = np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])


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
        (changed(1, [0.5, np.nan, 0.5]), "1 rows that are NaN in part, first row 1"),
        (changed(2, [-0.1, 0.6, 0.5]), r"must hold probabilities; row 2 has \[-0.1, 0.6, 0.5\]"),
        (changed(2, [np.inf, 0, 0]), "must hold probabilities; row 2"),
        (changed(3, [0.5, 0.5, 0.5]), "1 do not, first row 3, whose sum is 1.5"),
        (GOOD * 0.99, "4 do not, first row 0"),
    ],
)
def test_what_is_no_probability_is_an_error_that_names_the_row(proba, message):
    with pytest.raises(ValueError, match=message):
        check_proba(proba, CODES, CLASSES)


def test_sums_may_be_rounded():
    proba = GOOD.astype(np.float32).round(3)
    assert check_proba(proba, CODES, CLASSES).shape == (4, 3)


def test_probabilities_that_know_nearly_every_label_are_told_to_be_learnt_by_heart():
    X, y, _ = three_clouds()
    heart = RandomForestClassifier(20, bootstrap=False, random_state=0).fit(X, y).predict_proba(X)
    with pytest.warns(
        UserWarning, match=r"foretells 100.0% of the given labels.*cross_val_predict"
    ):
        LabelAudit().fit(X, y, proba=heart)
    # No warning where the samples were not seen: it would fail this test.
    fair = cross_val_predict(
        RandomForestClassifier(20, random_state=0), X, y, method="predict_proba"
    )
    audit = LabelAudit().fit(X, y, proba=fair)
    assert audit.forest_ is None
    assert_array_equal(audit.out_of_sample_proba_, fair)


def test_wrong_labels_are_found_by_the_probabilities_of_another_model():
    X, y, wrong = three_clouds(300)
    fair = cross_val_predict(
        RandomForestClassifier(50, random_state=0), X, y, method="predict_proba"
    )
    found = audit_labels(X, y, proba=fair)["is_label_issue"].sort_index().to_numpy()
    assert found[~wrong].mean() < 0.02
    assert found[wrong].mean() > 0.85  # such a forest learns a few by heart


def test_rows_of_which_nothing_is_known_are_unknown_and_the_others_are_rated():
    X, y, _ = three_clouds()
    proba = LabelAudit(random_state=0).fit(X, y).out_of_sample_proba_
    proba[:5] = np.nan
    with pytest.warns(UserWarning, match="5 of 150 labels is unknown"):
        audit = LabelAudit().fit(X, y, proba=proba)
    assert (audit.verdict_[:5] == "unknown").all()
    assert (audit.verdict_[5:] != "unknown").all()
