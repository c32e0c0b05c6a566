"""The summary: what a store says about a study, in plain values."""

import json

import numpy as np
import pytest

from granulearn.bench import (
    Store,
    StudyError,
    load_study,
    paper_accuracy_table,
    paper_noise_table,
    summarize,
)
from tests.bench.studies.made_up_results import fill_store
from tests.bench.studies.small_studies import small_study


@pytest.fixture(scope="module")
def table1(tmp_path_factory):
    """A rerun of table 1 that is one point better than the paper everywhere."""
    paper = paper_accuracy_table()
    path = fill_store(
        tmp_path_factory.mktemp("t") / "table1.db",
        load_study("table1"),
        lambda cell: (paper.loc[cell.unit.dataset, cell.method.name] + 1) / 100,
    )
    with Store(path, readonly=True) as store:
        return summarize(store)


def test_a_summary_is_plain_values(table1):
    assert json.loads(json.dumps(table1, allow_nan=False)) == table1


def test_the_paper_stands_beside_the_rerun(table1):
    paper = table1["paper"]
    assert len(paper["points"]) == 35 * 8
    for line in paper["means"]:
        assert line["rerun"] - line["paper"] == pytest.approx(1)
        expected = paper_accuracy_table().loc[list(table1["datasets"]), line["method"]].mean()
        assert line["paper"] == pytest.approx(expected)


def test_the_best_of_a_line_is_marked_ties_too(table1):
    line = next(line for line in table1["per_set"] if line["dataset"] == "fertility")
    best = max(line["values"])
    assert line["best"] == [value == best for value in line["values"]]
    assert sum(line["best"]) > 1


def test_noise_is_compared_with_the_papers_noise_table(tmp_path):
    study = load_study("noise")
    path = fill_store(tmp_path / "noise.db", study, lambda cell: 0.5)
    with Store(path, readonly=True) as store:
        summary = summarize(store)
    theirs = paper_noise_table()
    assert len(summary["paper"]["points"]) == theirs.size
    point = next(
        p
        for p in summary["paper"]["points"]
        if (p["dataset"], p["condition"], p["method"]) == ("cleve", "uniform 30 %", "ELM")
    )
    assert point["paper"] == theirs.loc[("cleve", 30), "ELM"]
    # The averages of the paper are means over sets of means that it has rounded.
    printed = {line["method"]: round(line["paper"], 2) for line in summary["paper"]["means"]}
    assert (printed["SDAP-GBRVFL"], printed["F-GBRVFL"], printed["RVFL"]) == (79.72, 78.23, 75.92)
    assert [line["rerun"] for line in summary["paper"]["means"]] == [50.0] * 8
    assert summary["curves"][0]["dataset"] == "mean of 5 sets"
    assert len(summary["curves"]) == 6


def test_a_run_that_has_nothing_in_common_with_the_paper_yet_has_no_means(tmp_path):
    path = fill_store(
        tmp_path / "noise.db",
        load_study("noise"),
        lambda cell: 0.5,
        leave_out=lambda cell: cell.unit.condition.rate > 0,
    )
    with Store(path, readonly=True) as store:
        assert summarize(store)["paper"] == {"points": [], "means": [], "within_one": 0}


def test_varied_settings_become_points_of_a_figure(tmp_path):
    study = load_study("sensitivity-activation")
    path = fill_store(tmp_path / "a.db", study, lambda cell: len(cell.method.name) / 100)
    with Store(path, readonly=True) as store:
        summary = summarize(store)
    assert len(summary["activations"]) == 4
    points = summary["activations"][0]["points"]
    assert [point["at"] for point in points][:2] == [["selu"], ["relu"]]
    assert points[0]["mean"] == pytest.approx(len("F-GBRVFL [activation=selu]"))
    assert summary["surfaces"] == []


def test_a_varied_number_of_layers_becomes_lines_and_no_thicket_of_noise_curves(tmp_path):
    study = load_study("layers")

    def accuracy(cell):
        return 0.5 + 0.01 * cell.method.fixed["n_layers"] + 0.001 * cell.unit.part.repeat

    path = fill_store(tmp_path / "a.db", study, accuracy)
    with Store(path, readonly=True) as store:
        summary = summarize(store)
    assert summary["curves"] == []
    assert [item["condition"] for item in summary["layers"]] == summary["conditions"]
    for item in summary["layers"]:
        assert item["dataset"] == f"mean of {len(study.datasets)} sets"
        assert list(item["lines"]) == [method.name for method in study.method]
        for line in item["lines"].values():
            assert line["at"] == list(range(1, 11))
            assert np.diff(line["means"]) == pytest.approx([1.0] * 9)
            assert line["errors"][0] > 0


def test_a_store_of_two_studies_asks_which(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(tmp_path / "a.db", study, lambda cell: 0.5)
    with Store(path) as store:
        store.save_study("other", study.model_copy(update={"name": "other"}).model_dump_json())
        with pytest.raises(StudyError, match="other, small; say which with --study"):
            summarize(store)
        assert summarize(store, "other")["study"]["name"] == "other"
        with pytest.raises(StudyError, match="has no study 'third'"):
            summarize(store, "third")


def test_an_empty_store_says_how_to_fill_it(tmp_path):
    with Store(tmp_path / "a.db") as store, pytest.raises(StudyError, match="granulearn bench"):
        summarize(store)


def test_a_study_of_which_nothing_was_run_has_a_summary(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(tmp_path / "a.db", study, lambda cell: 0.5, leave_out=lambda cell: True)
    with Store(path, readonly=True) as store:
        summary = summarize(store)
    assert summary["progress"]["missing"] == summary["progress"]["cells"]
    assert summary["ranking"] == summary["per_set"] == summary["comparisons"] == []


@pytest.fixture
def small_store(tmp_path):
    """Return a store in which GB-RVFL is right most often; the loss is what is lacking to 1."""
    right = {"RVFL": 0.7, "GB-RVFL": 0.9, "tree": 0.8}
    study = small_study(tmp_path, ("tuning = {", "compare = { rope = 1.0 }\ntuning = {"))
    path = fill_store(tmp_path / "a.db", study, lambda cell: right[cell.method.name])
    with Store(path, readonly=True) as store:
        yield store


def test_methods_are_compared_by_the_score_that_is_asked_for_in_its_own_direction(small_store):
    by_accuracy, by_loss = summarize(small_store), summarize(small_store, score="log_loss")
    assert (by_accuracy["score"], by_loss["score"]) == ("accuracy", "log_loss")
    assert (by_accuracy["higher_is_better"], by_loss["higher_is_better"]) == (True, False)
    assert by_loss["per_set"][0]["values"] == pytest.approx([0.3, 0.1, 0.2])
    # The loss has the same order here, so the ranks agree though the scale is turned around.
    assert by_loss["comparisons"][0]["ranks"] == by_accuracy["comparisons"][0]["ranks"]
    assert [line["best"] for line in by_loss["per_set"]] == [
        line["best"] for line in by_accuracy["per_set"]
    ]
    # A width of no interest is one of the study's own score.
    assert "rope" not in str(by_loss["comparisons"][0]["pairs"][0])
    assert by_loss["study"] == by_accuracy["study"]


def test_the_score_of_the_study_asked_for_changes_nothing(small_store):
    assert summarize(small_store, score="accuracy") == summarize(small_store)


def test_an_unknown_score_is_answered_with_the_nearest_of_the_study(small_store):
    with pytest.raises(StudyError, match="small has no score 'logloss'; did you mean 'log_loss'"):
        summarize(small_store, score="logloss")
    with pytest.raises(StudyError, match="it has accuracy, log_loss, fit_seconds"):
        summarize(small_store, score="roc_auc")


def test_by_another_score_nothing_stands_beside_the_paper(table1, tmp_path):
    study = load_study("table1")
    other = next(score for score in study.scores if score != study.compare.score)
    path = fill_store(tmp_path / "t.db", study, lambda cell: 0.5)
    with Store(path, readonly=True) as store:
        assert summarize(store, score=other)["paper"] is None
    assert table1["paper"] is not None
