"""The whole comparison: the paper's figures, other implementations, policies."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.bench import compare, paper_accuracy_table
from tests.bench.statistics.score_tables import score_tables


def as_frame(values):
    return pd.DataFrame(
        values,
        index=[f"set {i}" for i in range(len(values))],
        columns=[f"model {j}" for j in range(values.shape[1])],
    )


def test_the_paper_in_one_record():
    result = compare(paper_accuracy_table())
    assert list(result.means.round(2)) == [81.55, 80.81, 79.62, 78.17, 75.86, 76.62, 82.29, 84.46]
    assert list(result.ranks.round(2)) == [4.51, 5.22, 4.86, 5.16, 5.72, 5.26, 3.20, 2.07]
    assert round(result.friedman.statistic, 2) == 66.21
    assert round(result.iman_davenport.statistic, 2) == 12.36
    assert round(result.critical_difference, 3) == 1.726
    assert len(result.pairwise) == 28
    assert set(result.separated_pairs) == {
        *(
            ("SDAP-GBRVFL", worse)
            for worse in ["RVFL", "ELM", "GB-RVFL", "GE-GB-RVFL", "CRVFL", "ACRVFL"]
        ),
        *(("F-GBRVFL", worse) for worse in ["ELM", "GE-GB-RVFL", "CRVFL", "ACRVFL"]),
    }


def test_from_the_papers_rounded_ranks_come_its_rounded_statistics():
    """The paper prints 66.26 and 12.38: it started from ranks of two decimals."""
    ranks = compare(paper_accuracy_table()).ranks.round(2)
    chi2 = 12 * 37 / (8 * 9) * (np.sum(ranks**2) - 8 * 9**2 / 4)
    assert round(chi2, 2) == 66.26
    assert round(36 * chi2 / (37 * 7 - chi2), 2) == 12.38


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(score_tables(max_sets=8, max_models=4))
def test_pairwise_p_values_agree_with_scikit_posthocs(values):
    # scikit-posthocs fails where two models never differ; there p is 1 by definition.
    values = values + np.arange(values.shape[1]) * 10
    table = as_frame(values)
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


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(score_tables(max_sets=8, max_models=4), st.randoms(use_true_random=False))
def test_the_order_of_sets_and_models_does_not_matter(values, random):
    table = as_frame(values)
    shuffled = table.loc[
        random.sample(list(table.index), len(table)),
        random.sample(list(table.columns), table.shape[1]),
    ]
    first, second = compare(table), compare(shuffled)
    assert first.friedman.statistic == pytest.approx(second.friedman.statistic)
    pd.testing.assert_series_equal(first.ranks, second.ranks[table.columns])
    assert set(first.separated_pairs) == set(second.separated_pairs)
    for column in ("holm_p", "nemenyi_p", "wilcoxon_p"):
        pd.testing.assert_frame_equal(
            first.p_matrix(column),
            second.p_matrix(column).loc[table.columns, table.columns],
        )


def test_errors_instead_of_accuracies_change_only_the_sign():
    table = paper_accuracy_table()
    plain, errors = compare(table), compare(100 - table, higher_is_better=False)
    pd.testing.assert_series_equal(plain.ranks, errors.ranks)
    assert plain.separated_pairs == errors.separated_pairs
    for column in ("wins", "ties", "losses", "nemenyi_p"):
        pd.testing.assert_series_equal(plain.pairwise[column], errors.pairwise[column])
    np.testing.assert_allclose(
        plain.pairwise["mean_difference"], -errors.pairwise["mean_difference"]
    )


@pytest.fixture
def table_with_holes():
    table = paper_accuracy_table()
    table.loc["bank", "ELM"] = np.nan
    table.loc["votes", ["RVFL", "ACRVFL"]] = np.nan
    return table


def test_a_missing_score_is_an_error_that_names_the_cell(table_with_holes):
    with pytest.raises(ValueError, match=r"2 of 37 sets.*'bank'.*'ELM'.*missing='drop'"):
        compare(table_with_holes)


def test_dropping_equals_comparing_the_complete_sets(table_with_holes):
    dropped = compare(table_with_holes, missing="drop")
    complete = compare(paper_accuracy_table().drop(["bank", "votes"]))
    assert dropped.dropped == ("bank", "votes")
    assert dropped.sets == complete.sets
    pd.testing.assert_frame_equal(dropped.pairwise, complete.pairwise)
    assert dropped.friedman == complete.friedman
    assert dropped.critical_difference == complete.critical_difference


def test_a_rope_adds_the_bayesian_probabilities():
    models = ["RVFL", "ELM", "SDAP-GBRVFL"]
    result = compare(paper_accuracy_table()[models], rope=1.0)
    columns = ["p_first_better", "p_equivalent", "p_second_better"]
    np.testing.assert_allclose(result.pairwise[columns].sum(axis=1), 1)
    pairs = list(zip(result.pairwise["first"], result.pairwise["second"], strict=True))
    assert pairs == list(combinations(models, 2))
    assert result.pairwise["p_second_better"].iloc[1] > 0.9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.to_numpy(), "DataFrame"),
        (lambda t: t.assign(note="x"), "column 'note' holds 'x' for set 'bank'"),
        (lambda t: t.assign(RVFL=np.inf), "no finite number"),
        (lambda t: t[["RVFL"]], "1 model column"),
        (lambda t: t.iloc[:1], "1 complete set"),
        (lambda t: pd.concat([t, t["ELM"]], axis=1), "model 'ELM' is in the table more than once"),
        (lambda t: pd.concat([t, t.head(1)]), "data set 'bank' is in the table more than once"),
    ],
)
def test_a_table_that_cannot_be_compared_says_why(change, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare(change(paper_accuracy_table()))


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match="missing='ignore'"):
        compare(paper_accuracy_table(), missing="ignore")


def test_an_unknown_p_value_is_refused():
    with pytest.raises(ValueError, match="column='wins'"):
        compare(paper_accuracy_table()).p_matrix("wins")


def test_a_comparison_prints_as_what_it_says():
    result = compare(pd.DataFrame({"<a>": [9, 8, 7], "b": [5, 6, 7]}, index=["x", "y", "z"]))
    text = repr(result)
    assert text.startswith("<Comparison of 2 models on 3 sets>\n")
    assert "average rank" in text
    html = result._repr_html_()
    assert "<th>&lt;a&gt;</th><td>8.00</td><td>1.17</td>" in html
    assert "Nemenyi" in html
