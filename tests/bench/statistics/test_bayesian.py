"""The Bayesian signed-rank test against its definition."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.bench import bayesian_signed_rank, paper_accuracy_table


def slow_signed_rank(first, second, rope, n_draws, seed):
    """Follow the definition: Dirichlet weights on the differences and a prior one at 0."""
    differences = [0.0, *(a - b for a, b in zip(first, second, strict=True))]
    weights = np.random.default_rng(seed).dirichlet([0.5] + [1] * len(first), n_draws)
    winners = np.zeros(3)
    for w in weights:
        shares = np.zeros(3)
        for i, d in enumerate(differences):
            for j, e in enumerate(differences):
                mean = (d + e) / 2
                shares[0 if mean > rope else 2 if mean < -rope else 1] += w[i] * w[j]
        winners[shares.argmax()] += 1
    return winners / n_draws


def as_tuple(result):
    return result.first_better, result.equivalent, result.second_better


@pytest.mark.slow
@settings(deadline=None, max_examples=5)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 1.0]))
def test_probabilities_agree_with_the_definition(seed, rope):
    rng = np.random.default_rng(seed)
    second = rng.normal(80, 5, 7)
    first = second + rng.normal(0.5, 1.5, 7)
    n_draws = 1500
    expected = slow_signed_rank(first, second, rope, n_draws, seed)
    found = as_tuple(bayesian_signed_rank(first, second, rope=rope, n_draws=20_000))
    # Two samples of shares: five standard errors of the smaller one.
    np.testing.assert_allclose(found, expected, atol=5 * 0.5 / np.sqrt(n_draws))


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0]))
def test_probabilities_sum_to_one_and_exchange_with_the_models(seed, rope):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(80, 3, (2, 12))
    result = as_tuple(bayesian_signed_rank(first, second, rope=rope, n_draws=2000))
    assert sum(result) == pytest.approx(1)
    exchanged = as_tuple(bayesian_signed_rank(second, first, rope=rope, n_draws=2000))
    np.testing.assert_allclose(result, exchanged[::-1], atol=1e-9)
    errors = as_tuple(
        bayesian_signed_rank(first, second, rope=rope, n_draws=2000, higher_is_better=False)
    )
    np.testing.assert_allclose(errors, exchanged, atol=1e-9)


def test_equal_models_are_equivalent():
    scores = np.linspace(70, 90, 10)
    assert bayesian_signed_rank(scores, scores, rope=0.5).equivalent == 1


def test_a_model_far_ahead_is_better():
    scores = np.linspace(70, 90, 10)
    assert bayesian_signed_rank(scores + 5, scores, rope=1).first_better == 1


def test_the_same_seed_gives_the_same_answer():
    table = paper_accuracy_table()
    runs = [
        bayesian_signed_rank(table["RVFL"], table["F-GBRVFL"], rope=1, random_state=3)
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_a_negative_rope_is_refused():
    with pytest.raises(ValueError, match="rope=-1"):
        bayesian_signed_rank([1, 2], [1, 2], rope=-1)


def test_without_the_library_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "baycomp", None)
    with pytest.raises(ImportError, match=r"granulearn\[studies\]"):
        bayesian_signed_rank([1, 2], [1, 2], rope=1)
