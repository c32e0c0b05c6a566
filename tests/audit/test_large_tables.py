"""Large tables: rows that are drawn stand for all, and any rows can be rated alone."""

import numpy as np
from numpy.testing import assert_array_equal

from granulearn.audit import LabelAudit, large_tables
from granulearn.audit.large_tables import judged_evidence, typical_rows


def table(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    wrong = rng.random(n) < 0.1
    y[wrong] = 1 - y[wrong]
    return X, y, wrong


def test_few_rows_stand_for_themselves_and_many_are_drawn(monkeypatch):
    assert typical_rows(300) is None
    monkeypatch.setattr(large_tables, "TYPICAL_ROWS", 50)
    assert len({*typical_rows(300).tolist()}) == 50


def test_an_audit_by_drawn_rows_says_nearly_what_all_rows_say(monkeypatch):
    X, y, wrong = table()
    whole = LabelAudit(random_state=0).fit(X, y)
    monkeypatch.setattr(large_tables, "TYPICAL_ROWS", 2000)
    drawn = LabelAudit(random_state=0).fit(X, y)
    assert abs(drawn.noise_.rate - whole.noise_.rate) < 0.02
    assert (drawn.verdict_ == whole.verdict_).mean() > 0.95
    assert wrong[drawn.is_label_issue_].mean() > 0.8


def test_evidence_of_all_rows_is_calibrated_by_the_drawn_ones():
    X, y, _ = table()
    audit = LabelAudit(random_state=0).fit(X, y)
    known = np.ones(len(y), dtype=bool)
    drawn = np.arange(0, len(y), 2)
    evidence, noise = judged_evidence(audit.out_of_sample_proba_, y, known, drawn)
    some, noise_of_some = judged_evidence(
        audit.out_of_sample_proba_[drawn], y[drawn], known[drawn], None
    )
    assert noise == noise_of_some
    assert_array_equal(evidence.calibrated[drawn], some.calibrated)
