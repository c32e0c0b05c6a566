"""What the page is told of an audit."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granulearn.audit import LabelAudit
from granulearn.audit.page_facts import page_facts
from granulearn.audit.ratings import AMBIGUOUS, FINE, UNKNOWN, VERDICTS, WRONG
from tests.audit.tables import three_clouds


@pytest.fixture(scope="module")
def audit():
    X, y, _ = three_clouds()
    return LabelAudit(random_state=0).fit(X, y)


def test_every_label_has_a_verdict_and_flagged_ones_are_wrong(audit):
    facts = page_facts(audit)
    assert set(facts.verdicts) <= set(VERDICTS)
    assert_array_equal(facts.verdicts == WRONG, audit.flagged_)
    assert_array_equal(facts.classes[facts.given], audit.given_)
    assert_array_equal(facts.classes[facts.suggested], audit.suggested_)


def test_the_rival_is_the_suggested_class_or_the_second_most_probable(audit):
    facts = page_facts(audit)
    assert (facts.rivals != facts.given).all()
    assert_array_equal(facts.rivals[audit.flagged_], facts.suggested[audit.flagged_])
    for at in np.flatnonzero(~audit.flagged_)[:20]:
        others = [code for code in range(3) if code != facts.given[at]]
        assert facts.proba[at, facts.rivals[at]] == facts.proba[at, others].max()


def test_what_cannot_be_rated_has_no_rival_and_is_not_trusted():
    X, y, _ = three_clouds()
    y = y.astype(object)
    y[4] = "once"
    with pytest.warns(UserWarning, match="1 of 150 labels"):
        audit = LabelAudit(random_state=0).fit(X, y)
    facts = page_facts(audit)
    assert facts.verdicts[4] == UNKNOWN
    assert facts.rivals[4] == -1
    assert not facts.trusted[4]


def test_verified_labels_are_trusted_whatever_the_forest_says(audit):
    facts = page_facts(audit)
    at = np.flatnonzero(audit.flagged_)[0]
    assert not facts.trusted[at]
    assert replace(facts, verified=np.arange(150) == at).trusted[at]


def test_only_labels_that_are_fine_and_reliable_are_trusted_unverified(audit):
    facts = page_facts(audit)
    assert_array_equal(facts.trusted, (facts.verdicts == FINE) & (audit.reliability_ >= 0.5))
    doubtful = replace(facts, verdicts=np.full(150, AMBIGUOUS))
    assert not doubtful.trusted.any()


def test_the_share_of_wrong_labels_is_that_of_the_audit_or_none():
    X, y, _ = three_clouds()
    noise = page_facts(LabelAudit(random_state=0).fit(X, y)).noise
    assert noise.low <= noise.rate <= noise.high
    assert noise.words.endswith(".")
    with pytest.warns(UserWarning, match="10 of 10 labels"):
        audit = LabelAudit(random_state=0).fit(X[:10], np.arange(10))
    assert page_facts(audit).noise.basis == "none"
    assert np.isnan(page_facts(audit).noise.rate)
