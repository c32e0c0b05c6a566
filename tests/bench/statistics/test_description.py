"""A comparison in words says what its numbers say."""

import numpy as np
import pandas as pd

from granulearn.bench import compare, describe, describe_in_words, paper_accuracy_table


def test_models_stand_from_best_to_worst():
    lines = describe(compare(paper_accuracy_table())).splitlines()
    assert [line.split()[0] for line in lines[1:9]] == [
        "SDAP-GBRVFL",
        "F-GBRVFL",
        "RVFL",
        "GB-RVFL",
        "GE-GB-RVFL",
        "ELM",
        "ACRVFL",
        "CRVFL",
    ]
    assert lines[1].split() == ["SDAP-GBRVFL", "84.46", "2.07"]


def test_models_that_nothing_separates_are_said_to_be_so():
    table = pd.DataFrame({"a": [1, 2, 3, 4], "b": [2, 1, 4, 3]})
    assert "separates none of the 1 pairs" in describe(compare(table))


def test_sets_left_out_are_named():
    table = paper_accuracy_table()
    table.loc["bank", "ELM"] = np.nan
    assert "a score is missing: bank" in describe(compare(table, missing="drop"))


def test_the_words_state_best_worst_and_every_separated_pair():
    result = compare(paper_accuracy_table())
    words = " ".join(describe_in_words(result))
    assert "SDAP-GBRVFL has the best average rank (2.07)" in words
    assert "CRVFL the worst (5.72)" in words
    assert f"true of {len(result.separated_pairs)} of 28 pairs" in words
    assert "Hardly" in words


def test_the_words_of_equal_methods_claim_nothing():
    table = pd.DataFrame({"a": [1, 2, 3, 4], "b": [2, 1, 4, 3], "c": [1.5, 1.4, 3.6, 3.5]})
    words = " ".join(describe_in_words(compare(table)))
    assert "Yes, they could" in words
    assert "true of no pair" in words
    assert "no difference is clear" in words


def test_rows_that_are_no_independent_trials_are_said_to_be_none():
    words = " ".join(
        describe_in_words(compare(paper_accuracy_table()), "pairs of data set and condition")
    )
    assert "no independent trials" in words
    assert "On each of the 37 pairs of data set and condition" in words
