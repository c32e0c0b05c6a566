"""Tables of scores: means that compare like with like."""

import numpy as np
import pytest

from granulearn.bench import Store, expand
from granulearn.bench.studies.score_tables import cell_table, curve_table, score_table
from tests.bench.studies.made_up_results import fill_store
from tests.bench.studies.small_studies import small_study

METHODS = ["RVFL", "GB-RVFL", "tree"]
BASE = {"RVFL": 0.8, "GB-RVFL": 0.7, "tree": 0.5}


def accuracy(cell):
    repeat = 0.02 * cell.unit.part.repeat
    return BASE[cell.method.name] - cell.unit.condition.rate + repeat


def table_of(tmp_path, **settings):
    study = small_study(tmp_path)
    path = fill_store(tmp_path / "a.db", study, accuracy, **settings)
    with Store(path, readonly=True) as store:
        return cell_table(expand(study), store.rows())


def test_shares_are_in_percent_and_losses_are_not(tmp_path):
    table = table_of(tmp_path)
    first = table.iloc[0]
    assert (first["accuracy"], first["log_loss"]) == (pytest.approx(80), pytest.approx(0.2))
    assert len(table) == 36


def test_means_are_over_splits_then_over_conditions(tmp_path):
    scores = score_table(table_of(tmp_path), "accuracy", METHODS)
    assert list(scores.index) == ["two_moons", "circles", "crossplane"]
    np.testing.assert_allclose(scores.loc["circles"], [71, 61, 41])
    by_condition = score_table(table_of(tmp_path), "accuracy", METHODS, by=("dataset", "condition"))
    np.testing.assert_allclose(by_condition.loc[("circles", "uniform 20 %")], [61, 51, 31])


def test_a_method_that_lacks_a_condition_has_no_mean_there(tmp_path):
    def absent(cell):
        noisy = cell.unit.condition.rate > 0
        return cell.method.name == "tree" and cell.unit.dataset == "circles" and noisy

    scores = score_table(table_of(tmp_path, leave_out=absent), "accuracy", METHODS)
    assert np.isnan(scores.loc["circles", "tree"])
    assert scores.notna().sum().sum() == 8


def test_a_method_that_lacks_a_split_of_others_has_no_mean_there(tmp_path):
    """Later repeats score higher here: a method ahead of the others would rank too high."""

    def behind(cell):
        first = cell.unit.part.repeat == 0
        lacks = {"RVFL": not first, "tree": first}.get(cell.method.name, False)
        return cell.unit.dataset == "circles" and lacks

    table = table_of(tmp_path, leave_out=behind)
    scores = score_table(table, "accuracy", METHODS)
    assert scores.loc["circles"].notna().tolist() == [False, True, False]
    assert scores.notna().sum().sum() == 7
    # Where nobody has all of them there is no line; splits of others do not count.
    alone = score_table(table, "accuracy", ["RVFL", "tree"])
    assert list(alone.index) == ["two_moons", "crossplane"]
    own = score_table(table, "accuracy", ["tree"])
    assert own.loc["circles", "tree"] == pytest.approx(100 * (0.5 - 0.1 + 0.02))


def test_a_curve_has_the_mean_of_the_repeats_and_their_standard_error(tmp_path):
    curves = curve_table(table_of(tmp_path), "accuracy", "uniform")
    line = curves[(curves["dataset"] == "circles") & (curves["method"] == "RVFL")]
    np.testing.assert_allclose(line["rate"], [0, 0.2])
    np.testing.assert_allclose(line["mean"], [81, 61])
    # Two repeats two points apart: standard deviation sqrt(2), over sqrt(2) repeats.
    np.testing.assert_allclose(line["error"], [1, 1])


def test_the_mean_over_sets_comes_first_and_needs_all_of_them(tmp_path):
    curves = curve_table(table_of(tmp_path), "accuracy", "uniform")
    assert curves["dataset"].iloc[0] == "mean of 3 sets"
    one_missing = table_of(
        tmp_path,
        leave_out=lambda cell: cell.method.name == "tree" and cell.unit.dataset == "circles",
    ).query("not (method == 'tree' and dataset == 'circles')")
    means = curve_table(one_missing, "accuracy", "uniform").query("dataset == 'mean of 3 sets'")
    assert set(means["method"]) == {"RVFL", "GB-RVFL"}


def test_failures_are_in_no_table(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(tmp_path / "b.db", study, lambda cell: "RuntimeError: no")
    with Store(path, readonly=True) as store:
        assert cell_table(expand(study), store.rows()).empty
