"""The whole paper from one store."""

import copy

import pytest

from granulearn.bench import Store, StudyError, holds_the_paper, summarize_paper
from granulearn.bench.studies.paper_claims import FOUND, OPEN, claims_of_table1
from granulearn.bench.studies.paper_summary import _reasons
from tests.bench.studies.made_up_results import fill_store
from tests.bench.studies.paper_results import NOISE, TABLE1, empty_paper_store, paper_store
from tests.bench.studies.small_studies import small_study


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    """Of a run that found the paper's own figures; balls are drawn by no one."""
    path = paper_store(tmp_path_factory.mktemp("paper") / "paper.db")
    with Store(path, readonly=True) as store:
        assert holds_the_paper(store)
        return summarize_paper(store)


def test_a_run_that_finds_the_papers_figures_finds_its_claims(summary):
    verdicts = {claim["text"]: claim["verdict"] for claim in summary["claims"]}
    on_35_sets = TABLE1.drop(index=["checkerboard_data", "crossplane150"])
    expected = claims_of_table1(TABLE1, on_35_sets)
    assert all(verdicts[claim.text] == claim.verdict for claim in expected)
    # Two of the 37 sets are missing: one pair that the paper cannot tell apart is apart then.
    assert [claim.text for claim in expected if claim.verdict != FOUND] == [
        "F-GBRVFL is not told apart from GB-RVFL (Nemenyi's test)."
    ]
    assert sum(summary["verdicts"].values()) == len(summary["claims"])


def test_figures_stand_beside_the_papers(summary):
    assert [line["dataset"] for line in summary["table1"]] == [
        name for name in TABLE1.index if name not in ("checkerboard_data", "crossplane150")
    ]
    for line in summary["table1"]:
        assert line["ours"] == pytest.approx(line["paper"])
        best = max(line["ours"])
        assert line["best"] == [value == best for value in line["ours"]]
    assert [(line["dataset"], line["noise"]) for line in summary["noise"]] == list(NOISE.index)
    overall = summary["noise_means"][-1]
    assert overall["paper"][-1] == pytest.approx(79.72, abs=0.005)
    assert overall["ours"] == pytest.approx(overall["paper"])


def test_statistics_are_the_papers_those_on_the_same_sets_and_ours(summary):
    paper, same, ours = summary["statistics"]
    assert (paper["sets"], same["sets"], ours["sets"]) == (37, 35, 35)
    assert paper["friedman"] == pytest.approx(66.21, abs=0.005)
    assert paper["iman_davenport"] == pytest.approx(12.36, abs=0.005)
    assert paper["critical_difference"] == pytest.approx(1.726, abs=0.0005)
    assert ours["ranks"] == pytest.approx(same["ranks"])


def test_no_gain_of_baselines_is_made_up_where_there_is_none(summary):
    assert "differ from the paper by +0.00 (F-GBRVFL)" in summary["reasons"][0]
    assert not any("mostly the baselines" in reason for reason in summary["reasons"])


def test_reasons_are_those_of_the_whole_study(summary):
    (said,) = [reason for reason in summary["reasons"] if "purity" in reason]
    assert said.startswith("At a purity of 0.985 F-GBRVFL makes 12 balls of 70 training rows")
    changed = copy.deepcopy(summary["studies"]["table1"])
    (method,) = [item for item in changed["study"]["methods"] if item["name"] == "F-GBRVFL"]
    method["fixed"] = {"purity": 0.9}
    on_35_sets = TABLE1.loc[list(changed["datasets"])]
    assert any("a purity of 0.9 " in one for one in _reasons(TABLE1, on_35_sets, changed))
    changed["progress"]["missing"] = 1
    assert _reasons(TABLE1, on_35_sets, changed) == []


def test_an_interrupted_run_knows_what_is_missing_and_gives_no_verdict(tmp_path):
    with Store(empty_paper_store(tmp_path / "a.db"), readonly=True) as store:
        summary = summarize_paper(store)
    progress = summary["progress"]
    assert progress["done"] == 0
    assert progress["missing"] == progress["cells"] == 280 + 1200 + 360 + 4840
    assert {claim["verdict"] for claim in summary["claims"]} == {OPEN}
    assert summary["reasons"] == []
    assert [item["source"] for item in summary["statistics"]] == ["paper"]


def test_a_mean_over_some_of_the_splits_is_no_figure_of_the_paper(tmp_path):
    path = paper_store(
        tmp_path / "a.db",
        one_split=False,
        leave_out=lambda cell: cell.unit.part.repeat >= (2 if "[" in cell.method.name else 1),
    )
    with Store(path, readonly=True) as store:
        summary = summarize_paper(store)
    verdicts = {claim["about"]: set() for claim in summary["claims"]}
    for claim in summary["claims"]:
        verdicts[claim["about"]].add(claim["verdict"])
    assert verdicts["noise"] == verdicts["sensitivity"] == {OPEN}
    assert FOUND in verdicts["table 1"]
    said = {claim["ours"] for claim in summary["claims"] if claim["about"] == "sensitivity"}
    assert said == {"not run to its end"}
    assert all(value is None for line in summary["noise"] for value in line["ours"])


def test_a_store_of_something_else_is_refused(tmp_path):
    path = fill_store(tmp_path / "a.db", small_study(tmp_path), lambda cell: 0.5)
    with Store(path, readonly=True) as store:
        assert not holds_the_paper(store)
        with pytest.raises(StudyError, match="granulearn bench paper"):
            summarize_paper(store)
