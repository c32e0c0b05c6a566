"""The whole paper from one store."""

import numpy as np
import pandas as pd
import pytest

from granulearn.bench import (
    Store,
    StudyError,
    compare,
    holds_the_paper,
    summarize_paper,
)
from granulearn.bench.paper import (
    BASELINES,
    CAVEAT,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    PROPOSED,
    REPRODUCED,
    _reasons,
    claim_of_sensitivity,
    claims_in_short,
    claims_of_noise,
    claims_of_table1,
)
from tests.bench.small_studies import (
    NOISE,
    TABLE1,
    empty_paper_store,
    fill_store,
    paper_store,
    small_study,
)

LACKING = ["checkerboard_data", "crossplane150"]  # no public copy


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    """Of a run that found the paper's own figures; balls are drawn by no one."""
    path = paper_store(tmp_path_factory.mktemp("paper") / "paper.db")
    with Store(path, readonly=True) as store:
        assert holds_the_paper(store)
        return summarize_paper(store)


def test_a_run_that_finds_the_papers_figures_finds_its_claims(summary):
    verdicts = {claim.text: claim.verdict for claim in summary["claims"]}
    on_35_sets = TABLE1.drop(index=LACKING)
    expected = claims_of_table1(TABLE1, on_35_sets)
    assert all(verdicts[claim.text] == claim.verdict for claim in expected)
    # Two of the 37 sets are missing: one pair that the paper cannot tell apart is apart then.
    assert [claim.text for claim in expected if claim.verdict != REPRODUCED] == [
        "F-GBRVFL does not differ significantly from GB-RVFL (Nemenyi's test)."
    ]
    assert sum(summary["verdicts"].values()) == len(summary["claims"])


def test_figures_stand_beside_the_papers(summary):
    theirs, ours = summary["table1"]
    assert list(ours.index) == [n for n in TABLE1.index if n not in LACKING]
    for theirs, ours in (summary["table1"], summary["noise"], summary["noise_means"]):
        np.testing.assert_allclose(ours, theirs)
    assert summary["noise_means"][0].iloc[-1, -1] == pytest.approx(79.72, abs=0.005)


def test_statistics_are_the_papers_those_on_the_same_sets_and_ours(summary):
    paper, same, ours = summary["statistics"].values()
    assert [len(item.sets) for item in (paper, same, ours)] == [37, 35, 35]
    np.testing.assert_allclose(ours.ranks, same.ranks)


def test_reasons_are_those_of_the_whole_study(summary):
    (said,) = [reason for reason in summary["reasons"] if "purity" in reason]
    assert said.startswith("At a purity of 0.985 F-GBRVFL makes 12 balls of 70 training rows")
    missing = summary["studies"]["table1"] | {"progress": {"missing": 1}}
    assert _reasons(TABLE1, TABLE1.drop(index=LACKING), missing) == []


def test_an_interrupted_run_knows_what_is_missing_and_gives_no_verdict(tmp_path):
    with Store(empty_paper_store(tmp_path / "a.db"), readonly=True) as store:
        summary = summarize_paper(store)
    progress = summary["progress"]
    assert progress["done"] == 0
    assert progress["missing"] == progress["runs"] == 280 + 1200 + 360 + 4840
    assert {claim.verdict for claim in summary["claims"]} == {INCONCLUSIVE}
    assert summary["reasons"] == []
    assert list(summary["statistics"]) == ["paper"]


def test_a_mean_over_some_of_the_splits_is_no_figure_of_the_paper(tmp_path):
    path = paper_store(
        tmp_path / "a.db",
        one_split=False,
        leave_out=lambda run: run.unit.part.repeat >= (2 if "[" in run.method.name else 1),
    )
    with Store(path, readonly=True) as store:
        summary = summarize_paper(store)
    verdicts = {}
    for claim in summary["claims"]:
        verdicts.setdefault(claim.source, set()).add(claim.verdict)
    open_sources = ("table S.I", "figure S.1", "figure S.2")
    assert all(verdicts[source] == {INCONCLUSIVE} for source in open_sources)
    assert REPRODUCED in verdicts["section IV"]
    ours = {claim.ours for claim in summary["claims"] if claim.source.startswith("figure")}
    assert ours == {"not run to its end"}
    assert summary["noise"][1].isna().all(axis=None)


def test_a_store_of_something_else_is_refused(tmp_path):
    path = fill_store(tmp_path / "a.db", small_study(tmp_path), lambda run: 0.5)
    with Store(path, readonly=True) as store:
        assert not holds_the_paper(store)
        with pytest.raises(StudyError, match="granulearn bench paper"):
            summarize_paper(store)


def verdicts(claims) -> dict[str, str]:
    return {claim.text: claim.verdict for claim in claims}


def test_the_papers_own_table_bears_out_every_claim_about_it():
    claims = claims_of_table1(TABLE1, TABLE1)
    assert {claim.verdict for claim in claims} == {REPRODUCED}
    assert not any(claim.caveat for claim in claims)
    assert all(claim.paper == claim.ours for claim in claims)
    # Each proposed model against each baseline, and seven more.
    assert len(claims) == len(PROPOSED) * len(BASELINES) + 7


def test_a_rule_says_no_where_the_figures_do():
    turned = TABLE1.set_axis(list(TABLE1.columns[::-1]), axis=1)[TABLE1.columns]
    found = verdicts(claims_of_table1(TABLE1, turned))
    assert found["SDAP-GBRVFL has the highest mean accuracy."] == NOT_REPRODUCED
    assert found["SDAP-GBRVFL outperforms RVFL (Nemenyi's test)."] == NOT_REPRODUCED
    assert found["The eight methods differ (Friedman's test, F_F)."] == REPRODUCED


def test_a_difference_that_is_too_small_cannot_be_told_whichever_way_it_points():
    rng = np.random.default_rng(1)
    ours = pd.DataFrame(rng.normal(80, 1, TABLE1.shape), TABLE1.index, TABLE1.columns)
    ranks, difference = compare(ours).ranks, compare(ours).critical_difference
    found = verdicts(claims_of_table1(TABLE1, ours))
    gaps = ranks[list(BASELINES)] - ranks["SDAP-GBRVFL"]
    assert gaps.min() < 0 < gaps.max() < difference
    assert gaps.min() > -difference
    for baseline in BASELINES:
        assert found[f"SDAP-GBRVFL outperforms {baseline} (Nemenyi's test)."] == INCONCLUSIVE
    assert found["F-GBRVFL does not differ significantly from RVFL (Nemenyi's test)."] == REPRODUCED


def test_a_missing_figure_leaves_every_claim_of_its_table_open():
    ours = TABLE1.copy()
    ours.iloc[3, 2] = np.nan
    claims = claims_of_table1(TABLE1, ours)
    assert {claim.verdict for claim in claims} == {INCONCLUSIVE}
    assert claims[0].ours == f"1 of {ours.size} figures are missing"


def test_what_does_not_follow_from_the_papers_figures_is_marked():
    claims = claims_of_noise(NOISE, NOISE)
    marked = [claim for claim in claims if claim.caveat]
    assert all("more stable" in claim.text for claim in marked)
    assert len(marked) == 2
    short = claims_in_short(claims)
    said = [sentence for sentences in short.values() for sentence in sentences]
    (line,) = [sentence for sentence in said if sentence.endswith(CAVEAT)]
    assert line.startswith("F-GBRVFL as well as SDAP-GBRVFL is more stable: ")


@pytest.mark.parametrize(
    ("spreads", "verdict"),
    [
        ((1, 3), REPRODUCED),
        ((3, 1), NOT_REPRODUCED),
        ((1, None), INCONCLUSIVE),
        ((1, 1.5), INCONCLUSIVE),
        ((1.5, 1), INCONCLUSIVE),
    ],
)
def test_sensitivity_is_the_range_over_settings(spreads, verdict):
    values = {"SDAP-GBRVFL": spreads[0], "F-GBRVFL": spreads[1]}
    points = pd.DataFrame(
        [
            {"method": method, "dataset": dataset, "mean": mean, "error": 1.0}
            for dataset in ("cleve", "ecoli")
            for method, spread in values.items()
            for mean in (80.0, np.nan if spread is None else 80.0 + spread)
        ]
    )
    points["complete"] = points["mean"].notna()
    claim = claim_of_sensitivity("C", "figure S.2", points, n_settings=2, n_sets=2)
    assert claim.verdict == verdict


def test_in_short_pairs_are_joined_and_none_is_lost():
    claims = claims_of_table1(TABLE1, TABLE1)
    short = claims_in_short(claims)
    assert (
        "F-GBRVFL outperforms ELM, GE-GB-RVFL, CRVFL, ACRVFL (Nemenyi's test)." in short[REPRODUCED]
    )
    assert short[NOT_REPRODUCED] == short[INCONCLUSIVE] == []
    both = "F-GBRVFL as well as SDAP-GBRVFL is more accurate than every baseline, in the mean."
    assert both in short[REPRODUCED]
    assert len(short[REPRODUCED]) == 6 + 3
