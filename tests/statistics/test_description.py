"""A comparison in words."""

import numpy as np
import pandas as pd

from granulearn.statistics import compare, describe, paper_accuracy_table


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
