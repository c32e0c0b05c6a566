"""Large tables: rows that are drawn stand for all, and any rows can be rated alone."""

import numpy as np
from numpy.testing import assert_array_equal

from granulearn.audit import LabelAudit, large_tables
from granulearn.audit import label_audit as module
from granulearn.audit.large_tables import judged_evidence, typical_draw, typical_rows
from granulearn.balls.keyed_tables import key_table


def table(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    wrong = rng.random(n) < 0.1
    y[wrong] = 1 - y[wrong]
    return X, y, wrong


def test_few_rows_stand_for_themselves_and_many_are_drawn(monkeypatch):
    X, y, _ = table(300)
    keys = key_table(X, y, 2).keys.keys
    assert typical_rows(keys) is None
    monkeypatch.setattr(large_tables, "TYPICAL_ROWS", 50)
    drawn = typical_rows(keys)
    assert len(set(drawn)) == 50
    order = np.random.default_rng(0).permutation(300)
    moved = typical_rows(key_table(X[order], y[order], 2).keys.keys)
    assert_array_equal(order[moved], drawn)
    assert typical_draw(300).wanted == (50,)


def test_an_audit_by_drawn_rows_says_nearly_what_all_rows_say(monkeypatch):
    X, y, wrong = table()
    whole = LabelAudit(random_state=0).fit(X, y)
    monkeypatch.setattr(module, "MANY_ROWS", 1000)
    monkeypatch.setattr(large_tables, "TYPICAL_ROWS", 2000)
    drawn = LabelAudit(random_state=0).fit(X, y)
    assert abs(drawn.noise_.rate - whole.noise_.rate) < 0.02
    assert (drawn.verdict_ == whole.verdict_).mean() > 0.95
    assert wrong[drawn.flagged_].mean() > 0.8


def test_the_order_of_a_large_table_changes_no_verdict(monkeypatch):
    monkeypatch.setattr(module, "MANY_ROWS", 1000)
    monkeypatch.setattr(large_tables, "TYPICAL_ROWS", 1000)
    X, y, _ = table(2000)
    order = np.random.default_rng(1).permutation(len(X))
    one, other = (LabelAudit(random_state=0).fit(X[at], y[at]) for at in (slice(None), order))
    assert_array_equal(other.verdict_, one.verdict_[order])
    assert_array_equal(other.reliability_, one.reliability_[order])
    assert other.noise_ == one.noise_


def test_evidence_of_all_rows_is_calibrated_by_the_drawn_ones():
    X, y, _ = table()
    audit = LabelAudit(random_state=0).fit(X, y)
    known = np.ones(len(y), dtype=bool)
    drawn = np.arange(0, len(y), 2)
    evidence, noise = judged_evidence(audit.proba_, y, known, drawn)
    some, noise_of_some = judged_evidence(audit.proba_[drawn], y[drawn], known[drawn], None)
    assert noise == noise_of_some
    assert_array_equal(evidence.calibrated[drawn], some.calibrated)
