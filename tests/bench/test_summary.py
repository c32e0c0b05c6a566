"""The summary of a study: what its store holds, as tables."""

import numpy as np
import pytest
from msgspec.structs import replace

from granulearn.bench import (
    Store,
    StudyError,
    compare,
    expand,
    load_study,
    paper_accuracy_table,
    summarize,
)
from granulearn.bench.summary import (
    _progress,
    compare_methods,
    mean_curves,
    run_table,
    score_table,
)
from tests.bench.small_studies import N_RUNS, fill_store, small_study


@pytest.fixture(scope="module")
def table1(tmp_path_factory):
    """A rerun of table 1 that is one point better than the paper everywhere."""
    paper = paper_accuracy_table()
    path = fill_store(
        tmp_path_factory.mktemp("t") / "table1.db",
        load_study("table1"),
        lambda run: (paper.loc[run.unit.dataset, run.method.name] + 1) / 100,
    )
    with Store(path, readonly=True) as store:
        return summarize(store)


def test_the_paper_stands_beside_the_rerun(table1):
    paper = table1["paper"]
    assert len(paper["points"]) == 35 * 8
    np.testing.assert_allclose(paper["means"]["rerun"] - paper["means"]["paper"], 1)
    expected = paper_accuracy_table().loc[table1["datasets"]].mean()
    np.testing.assert_allclose(paper["means"]["paper"], expected[paper["means"].index])


def test_varied_settings_become_points_of_a_figure(tmp_path):
    study = load_study("sensitivity-activation")
    path = fill_store(tmp_path / "a.db", study, lambda run: len(run.method.name) / 100)
    with Store(path, readonly=True) as store:
        summary = summarize(store)
    points = summary["activations"]
    assert len(points) == 2 * 2 * 9
    assert list(points["activation"][:2]) == ["selu", "relu"]
    assert points["mean"].iloc[0] == pytest.approx(len("F-GBRVFL [activation=selu]"))
    assert points["complete"].all()
    assert summary["surfaces"].empty


def test_a_varied_number_of_layers_becomes_lines_and_no_thicket_of_noise_curves(tmp_path):
    study = load_study("layers")

    def accuracy(run):
        return 0.5 + 0.01 * run.method.fixed["n_layers"] + 0.001 * run.unit.part.repeat

    path = fill_store(tmp_path / "a.db", study, accuracy)
    with Store(path, readonly=True) as store:
        summary = summarize(store)
    assert summary["curves"] == {}
    mean = f"mean of {len(study.datasets)} sets"
    assert list(summary["layers"]) == [(name, mean) for name in summary["conditions"]]
    for points in summary["layers"].values():
        assert list(points["method"].unique()) == [method.name for method in study.method]
        for _, line in points.groupby("method"):
            assert list(line["at"]) == list(range(1, 11))
            np.testing.assert_allclose(np.diff(line["mean"]), 1)
            assert line["error"].iloc[0] > 0


def test_a_store_of_two_studies_asks_which(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(tmp_path / "a.db", study, lambda run: 0.5)
    with Store(path) as store:
        store.save_study("other", replace(study, name="other").to_json())
        with pytest.raises(StudyError, match="other, small; say which with --study"):
            summarize(store)
        assert summarize(store, "other")["study"].name == "other"
        with pytest.raises(StudyError, match="has no study 'third'"):
            summarize(store, "third")


def test_a_study_of_which_nothing_was_run_has_a_summary(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(tmp_path / "a.db", study, lambda run: 0.5, leave_out=lambda run: True)
    with Store(path, readonly=True) as store:
        summary = summarize(store)
    assert summary["progress"]["missing"] == summary["progress"]["runs"]
    assert summary["comparisons"] == []
    assert len(summary["ranking"]) == len(summary["means"]) == 0


@pytest.fixture
def small_store(tmp_path):
    """Return a store in which GB-RVFL is right most often; the loss is what is lacking to 1."""
    right = {"RVFL": 0.7, "GB-RVFL": 0.9, "tree": 0.8}
    study = small_study(tmp_path, ("tuning = {", "compare = { rope = 1.0 }\ntuning = {"))
    path = fill_store(tmp_path / "a.db", study, lambda run: right[run.method.name])
    with Store(path, readonly=True) as store:
        yield store


def test_methods_are_compared_by_the_score_that_is_asked_for_in_its_own_direction(small_store):
    by_accuracy, by_loss = summarize(small_store), summarize(small_store, score="log_loss")
    assert (by_accuracy["score"], by_loss["score"]) == ("accuracy", "log_loss")
    assert (by_accuracy["higher_is_better"], by_loss["higher_is_better"]) == (True, False)
    assert by_loss["means"].iloc[0].tolist() == pytest.approx([0.3, 0.1, 0.2])
    # The loss has the same order here, so the ranks agree though the scale is turned around.
    first, second = (item["comparisons"][0]["result"] for item in (by_loss, by_accuracy))
    assert first.ranks.to_dict() == second.ranks.to_dict()
    # The rope is a width in units of the study's own score.
    assert "p_equivalent" in second.pairwise
    assert "p_equivalent" not in first.pairwise
    assert by_loss["study"] == by_accuracy["study"]


def test_an_unknown_score_is_answered_with_the_nearest_of_the_study(small_store):
    with pytest.raises(StudyError, match="small has no score 'logloss'; did you mean 'log_loss'"):
        summarize(small_store, score="logloss")
    with pytest.raises(StudyError, match="it has accuracy, log_loss, fit_seconds"):
        summarize(small_store, score="roc_auc")


METHODS = ["RVFL", "GB-RVFL", "tree"]
BASE = {"RVFL": 0.8, "GB-RVFL": 0.7, "tree": 0.5}


def accuracy(run):
    repeat = 0.02 * run.unit.part.repeat
    return BASE[run.method.name] - run.unit.condition.rate + repeat


def table_of(tmp_path, **settings):
    study = small_study(tmp_path)
    path = fill_store(tmp_path / "a.db", study, accuracy, **settings)
    with Store(path, readonly=True) as store:
        return run_table(expand(study), store.rows())


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


def test_a_method_that_lacks_a_split_of_others_has_no_mean_there(tmp_path):
    """Later repeats score higher here: a method ahead of the others would rank too high."""

    def behind(run):
        first = run.unit.part.repeat == 0
        lacks = {"RVFL": not first, "tree": first}.get(run.method.name, False)
        return run.unit.dataset == "circles" and lacks

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
    curves = mean_curves(table_of(tmp_path), "accuracy", "rate")
    line = curves[(curves["dataset"] == "circles") & (curves["method"] == "RVFL")]
    np.testing.assert_allclose(line["at"], [0, 0.2])
    np.testing.assert_allclose(line["mean"], [81, 61])
    # Two repeats two points apart: standard deviation sqrt(2), over sqrt(2) repeats.
    np.testing.assert_allclose(line["error"], [1, 1])


def test_the_mean_over_sets_comes_first_and_needs_all_of_them(tmp_path):
    curves = mean_curves(table_of(tmp_path), "accuracy", "rate")
    assert curves["dataset"].iloc[0] == "mean of 3 sets"
    one_missing = table_of(
        tmp_path,
        leave_out=lambda run: run.method.name == "tree" and run.unit.dataset == "circles",
    ).query("not (method == 'tree' and dataset == 'circles')")
    means = mean_curves(one_missing, "accuracy", "rate").query("dataset == 'mean of 3 sets'")
    assert set(means["method"]) == {"RVFL", "GB-RVFL"}


PAPER = paper_accuracy_table()


@pytest.fixture(scope="module")
def paper_as_a_run(tmp_path_factory):
    """The paper's own table, as if this library had computed it."""
    study = load_study("table1")
    path = fill_store(
        tmp_path_factory.mktemp("paper") / "table1.db",
        study,
        lambda run: PAPER.loc[run.unit.dataset, run.method.name] / 100,
    )
    with Store(path, readonly=True) as store:
        return study, run_table(expand(study), store.rows())


def test_the_main_comparison_is_that_of_the_table(paper_as_a_run):
    study, table = paper_as_a_run
    found = compare_methods(study, table, list(PAPER.columns))[0]
    expected = compare(PAPER.loc[list(study.datasets)])
    assert len(found["result"].sets) == 35
    np.testing.assert_allclose(found["result"].ranks, expected.ranks)
    assert found["result"].critical_difference == pytest.approx(expected.critical_difference)


def test_progress_counts_what_is_done_failed_and_missing(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(
        tmp_path / "a.db",
        study,
        lambda run: "ValueError: odd" if run.method.name == "tree" else 0.5,
        leave_out=lambda run: run.unit.dataset == "circles",
    )
    with Store(path, readonly=True) as store:
        progress = _progress(expand(study), store.rows())
    assert (progress["runs"], progress["done"], progress["missing"]) == (N_RUNS, 16, 12)
    assert list(progress["failed"]["reason"]) == ["ValueError: odd"] * 8


def test_gaps_name_sets_and_methods_once_with_how_many_and_why(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(
        tmp_path / "a.db",
        study,
        lambda run: "ValueError: odd" if run.method.name == "tree" else 0.5,
        leave_out=lambda run: run.unit.dataset == "circles" and run.unit.part.repeat,
    )
    with Store(path, readonly=True) as store:
        gaps = _progress(expand(study), store.rows())["gaps"]
    both = ("RVFL", "GB-RVFL")
    assert set(gaps[["dataset", "method", "reason", "n"]].itertuples(index=False, name=None)) == {
        (("two_moons", "crossplane"), ("tree",), "ValueError: odd", 4),
        (("circles",), ("tree",), "ValueError: odd", 2),
        (("circles",), (*both, "tree"), "not run yet", 2),
    }
