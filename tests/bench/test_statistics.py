"""Statistics: the paper's figures, scipy, statsmodels and scikit-posthocs as oracles, refusals."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from statsmodels.stats.multitest import multipletests

from granulearn.bench import (
    compare,
    describe,
    describe_in_words,
    holm_adjust,
    paper_accuracy_table,
    paper_noise_table,
    wilcoxon_p_value,
)

# q at 5 % and 10 % for 2 to 10 models, from Demsar (JMLR 2006), Table 5.
PRINTED_Q = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}


def score_tables(max_sets=8, max_models=4, min_models=2):
    """Tables of whole percents from a narrow range, so that ties are common."""
    shapes = st.tuples(st.integers(2, max_sets), st.integers(min_models, max_models))
    values = shapes.flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.integers(70, 76).map(float))
    )
    return values.map(lambda array: pd.DataFrame(array).add_prefix("model "))


def test_the_paper_in_one_record():
    result = compare(paper_accuracy_table())
    assert list(result.means.round(2)) == [81.55, 80.81, 79.62, 78.17, 75.86, 76.62, 82.29, 84.46]
    assert list(result.ranks.round(2)) == [4.51, 5.22, 4.86, 5.16, 5.72, 5.26, 3.20, 2.07]
    assert round(result.friedman.statistic, 2) == 66.21
    assert result.friedman.degrees_of_freedom == (7,)
    assert round(result.iman_davenport.statistic, 2) == 12.36
    assert result.iman_davenport.degrees_of_freedom == (7, 252)
    assert round(result.critical_difference, 3) == 1.726
    assert set(result.separated_pairs) == {
        *(("SDAP-GBRVFL", worse) for worse in
          ["RVFL", "ELM", "GB-RVFL", "GE-GB-RVFL", "CRVFL", "ACRVFL"]),
        *(("F-GBRVFL", worse) for worse in ["ELM", "GE-GB-RVFL", "CRVFL", "ACRVFL"]),
    }  # fmt: skip
    pairs = result.pairwise.set_index(["first", "second"])
    wins = pairs.loc[("RVFL", "SDAP-GBRVFL"), ["losses", "ties", "wins"]]
    assert wins.tolist() == [30, 3, 4]
    assert paper_noise_table().shape == (25, 8)


@settings(deadline=None, max_examples=30)
@given(score_tables(min_models=3))
def test_ranks_and_chi2_agree_with_pandas_and_scipy(table):
    result = compare(table)
    np.testing.assert_allclose(result.ranks, table.rank(axis=1, ascending=False).mean())
    if (table.to_numpy() != table.to_numpy()[:, :1]).any():
        theirs = stats.friedmanchisquare(*table.to_numpy().T)
        assert result.friedman_tie_corrected.statistic == pytest.approx(theirs.statistic, abs=1e-9)
        assert result.friedman_tie_corrected.p_value == pytest.approx(theirs.pvalue, abs=1e-9)
    else:
        assert result.friedman.p_value == 1


def test_full_agreement_makes_f_infinite():
    test = compare(pd.DataFrame(np.tile([3, 2, 1], (7, 1)))).iman_davenport
    assert (test.statistic, test.p_value) == (np.inf, 0)


@pytest.mark.parametrize("alpha", [0.05, 0.10])
@pytest.mark.parametrize("n_models", [2, 3, 7, 10])
def test_critical_difference_uses_the_printed_quantiles(alpha, n_models):
    scores = np.random.default_rng(0).normal(size=(30, n_models))
    difference = compare(pd.DataFrame(scores), alpha=alpha).critical_difference
    q = difference / np.sqrt(n_models * (n_models + 1) / (6 * 30))
    # Demsar's table was rounded from a rounded one: the last digit may be off by one.
    assert q == pytest.approx(PRINTED_Q[alpha][n_models - 2], abs=1.2e-3)


@pytest.mark.slow
@settings(deadline=None, max_examples=8)
@given(score_tables())
def test_pairwise_p_values_agree_with_scikit_posthocs(table):
    # scikit-posthocs fails where two models never differ; there p is 1 by definition.
    table = table + np.arange(table.shape[1]) * 10
    result = compare(table)
    theirs = scikit_posthocs.posthoc_wilcoxon(
        table.melt(var_name="model", value_name="score"),
        val_col="score",
        group_col="model",
        zero_method="zsplit",
        p_adjust="holm",
    )
    ours = result.p_matrix("holm_p")
    np.testing.assert_allclose(ours, theirs.loc[ours.index, ours.columns], atol=1e-9)
    nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(table)
    np.testing.assert_allclose(result.p_matrix("nemenyi_p"), nemenyi, atol=1e-6)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_agrees_with_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(holm_adjust(p_values), expected, atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_few_distinct_differences_give_the_exact_p(n_sets, seed):
    rng = np.random.default_rng(seed)
    differences = rng.permutation(np.arange(1, n_sets + 1)) * rng.choice([-1, 1], n_sets)
    second = rng.integers(50, 90, n_sets)
    ranks = np.abs(differences)
    sums = np.array([np.dot(signs, ranks) for signs in product((0, 1), repeat=n_sets)])
    observed = ranks[differences > 0].sum()
    exact = min(1.0, 2 * min(np.mean(sums <= observed), np.mean(sums >= observed)))
    assert wilcoxon_p_value(second + differences, second) == pytest.approx(exact)
    # Ties in decimals are ties in binary.
    shares = wilcoxon_p_value((second + differences) / 100, second / 100)
    assert shares == pytest.approx(exact)
    assert wilcoxon_p_value(second, second) == 1


@pytest.mark.parametrize("rope", [0.0, 1.0])
def test_a_rope_adds_bayesian_probabilities_that_exchange_with_the_models(rope):
    table = paper_accuracy_table()[["RVFL", "ELM", "SDAP-GBRVFL"]]
    columns = ["p_first_better", "p_equivalent", "p_second_better"]
    found = compare(table, rope=rope).pairwise[columns]
    exchanged = compare(100 - table, rope=rope).pairwise[columns]
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found, exchanged.to_numpy()[:, ::-1], atol=0.02)
    assert found["p_second_better"].iloc[1] > 0.9
    copies = compare(table.assign(copy=table["RVFL"]), rope=0.5).pairwise
    assert copies.set_index(["first", "second"]).loc[("RVFL", "copy"), "p_equivalent"] == 1


def test_errors_instead_of_accuracies_change_only_the_sign():
    table = paper_accuracy_table()
    plain, errors = compare(table), compare(100 - table, higher_is_better=False)
    pd.testing.assert_series_equal(plain.ranks, errors.ranks)
    assert plain.separated_pairs == errors.separated_pairs
    np.testing.assert_allclose(
        plain.pairwise["mean_difference"], -errors.pairwise["mean_difference"]
    )


def test_a_set_without_all_scores_is_refused_or_left_out():
    table = paper_accuracy_table()
    table.loc["bank", "ELM"] = np.nan
    table.loc["votes", ["RVFL", "ACRVFL"]] = np.nan
    with pytest.raises(ValueError, match=r"2 of 37 sets.*'bank'.*'ELM'.*missing='drop'"):
        compare(table)
    dropped, complete = compare(table, missing="drop"), compare(table.dropna())
    assert dropped.dropped == ("bank", "votes")
    pd.testing.assert_frame_equal(dropped.pairwise, complete.pairwise)
    assert "a score is missing: bank, votes" in describe(dropped)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(note="x"), "could not convert string to float: 'x'"),
        (lambda t: t.assign(RVFL=np.inf), "37 of 37 sets lack a score"),
        (lambda t: t[["RVFL"]], "1 model"),
        (lambda t: t.iloc[:1], "1 complete set"),
        (lambda t: pd.concat([t, t["ELM"]], axis=1), "model 'ELM' is in the table twice"),
        (lambda t: pd.concat([t, t.head(1)]), "data set 'bank' is in the table twice"),
    ],
)
def test_a_table_that_cannot_be_compared_says_why(change, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare(change(paper_accuracy_table()))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare(paper_accuracy_table(), missing="ignore"), "missing='ignore'"),
        (lambda: compare(paper_accuracy_table(), alpha=0.0), "alpha=0.0"),
        (lambda: holm_adjust([0.5, 1.5]), r"\[0, 1\]"),
        (lambda: compare(paper_accuracy_table(), rope=-1), "rope=-1"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_words_say_what_the_numbers_say():
    result = compare(paper_accuracy_table())
    words = " ".join(describe_in_words(result))
    assert "SDAP-GBRVFL has the best average rank (2.07)" in words
    assert "CRVFL the worst (5.72)" in words
    assert f"separates {len(result.separated_pairs)} of 28 pairs" in words
    assert "the methods differ significantly" in words
    equal = pd.DataFrame({"<a>": [1, 2, 3, 4], "b": [2, 1, 4, 3], "c": [1.5, 1.4, 3.6, 3.5]})
    words = " ".join(describe_in_words(compare(equal)))
    assert "do not differ significantly" in words
    assert "separates no pair" in words
    assert "separates none of the 3 pairs" in repr(compare(equal))
    assert "<th>&lt;a&gt;</th>" in compare(equal)._repr_html_()
