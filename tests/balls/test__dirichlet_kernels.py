"""The evidence of a ball, against its formula and the chain rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.balls._dirichlet_kernels import log_evidence
from granulearn.balls.evidence_table import evidence_table
from tests.balls import forest_reference as reference

alphas = st.sampled_from([0.5, 0.1, 0.005])


@given(st.lists(st.one_of(st.integers(0, 30), st.floats(0, 30)), min_size=2, max_size=6), alphas)
def test_evidence_equals_the_formula_for_whole_and_broken_counts(counts, alpha):
    found = log_evidence(np.array(counts, float), evidence_table(20, len(counts), alpha))
    assert found == pytest.approx(reference.log_evidence(counts, alpha), rel=1e-12, abs=1e-10)


def test_evidence_is_the_probability_of_the_labels_one_by_one():
    """By the chain rule: each label, given those before it, is (count + 1/2)/(n + K/2)."""
    labels, n_classes = [0, 2, 0, 0, 1, 2], 3
    log_probability, seen = 0.0, np.zeros(n_classes)
    for label in labels:
        log_probability += np.log((seen[label] + 0.5) / (seen.sum() + n_classes / 2))
        seen[label] += 1
    assert log_evidence(seen, evidence_table(6, 3, 0.5)) == pytest.approx(log_probability)
