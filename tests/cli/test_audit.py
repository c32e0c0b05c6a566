"""`granulearn audit`: doubtful labels are listed, and the cells of the table are left alone."""

import numpy as np
import pandas as pd
import pytest

from granulearn.audit.ratings import VERDICTS
from granulearn.cli import exit_codes
from granulearn.dask import open_client
from granulearn.review import Review
from tests.cli.commands import fails, fails_with, people, succeeds

VERDICT = [
    *["row", "line", "hash", "given_label", "predicted_label", "verdict", "error_probability"],
    *["label_quality", "is_label_issue", "verified", "decision", "new_label", "drawn"],
]


def run_audit(table, *options):
    return succeeds("audit", table, "-t", "label", *options)


@pytest.fixture(scope="module")
def mislabelled(tmp_path_factory):
    """Return a table with wrong labels, the numbers of their rows, and the list of an audit."""
    folder = tmp_path_factory.mktemp("audit")
    frame = people(300)
    elsewhere = frame["città"].isin(["Graz", "Ōsaka"])
    sure = np.flatnonzero(((frame["age"] < 30) & elsewhere).to_numpy())[:6]
    frame.loc[sure, "label"] = "yes"
    path = folder / "people.csv"
    frame.to_csv(path, index=False)
    run_audit(path, "-o", folder / "listed.csv")
    return path, set((sure + 1).tolist()), folder / "listed.csv"


def test_wrong_labels_are_found_and_listed_with_their_rows(mislabelled, tmp_path):
    table, wrong, _ = mislabelled
    page = tmp_path / "audit.html"
    shown = run_audit(table, "-o", tmp_path / "suspects.csv", "--report", page).out
    listing = pd.read_csv(tmp_path / "suspects.csv")
    assert len(listing) == 300
    assert list(listing.columns) == [*VERDICT, "age", "income", "città", "label"]
    assert listing["error_probability"].is_monotonic_decreasing
    assert wrong <= set(listing.loc[listing["is_label_issue"], "row"])
    assert (listing["is_label_issue"] == listing["verdict"].isin(["wrong", "suspect"])).all()
    n_suspects = round(listing["error_probability"].sum())
    assert listing["is_label_issue"].tolist() == [place < n_suspects for place in range(300)]
    assert f": About {n_suspects} of 300 labels (" in shown
    assert f"{n_suspects} doubtful labels\n" in shown.replace("  ", "").replace(" \n", "\n")
    assert f"and {n_suspects - 10} more\n" in shown
    assert "check the 20 most doubtful rows: expect about " in shown
    text = page.read_text(encoding="utf-8")
    assert "Label audit of people.csv" in text
    assert "what decides: " in text


def test_outliers_share_a_line_with_the_numbers_of_their_rows(tmp_path):
    frame = people(300)
    frame.loc[[40, 90, 200], "age"] = [4000, 7000, -9000]
    table = tmp_path / "strange.csv"
    frame.to_csv(table, index=False)
    (line,) = [said for said in run_audit(table).out.splitlines() if said.startswith("outlier:")]
    assert line.startswith("outlier: rows ")
    assert {"41", "91", "201"} <= set(line.replace(",", "").split())
    found = [issue for issue in run_audit(table, "--json").json["issues"] if issue["rows"]]
    assert {41, 91, 201} <= {row for issue in found for row in issue["rows"]}


def test_only_the_columns_to_keep_are_copied_ignored_ones_as_well(mislabelled, tmp_path):
    asked = ("--ignore", "income", "--keep", "income", "--keep", "age", "-o", tmp_path / "s.csv")
    run_audit(mislabelled[0], *asked)
    assert list(pd.read_csv(tmp_path / "s.csv")) == [*VERDICT, "income", "age"]


def test_unknown_columns_of_all_options_are_named_at_once(mislabelled):
    asked = ["--keep", "agee", "--ignore", "incom", "--group", "patient", "--times", "aeg"]
    lines = fails_with(exit_codes.BAD_DATA, "audit", mislabelled[0], "-t", "lable", *asked)
    assert [line.partition("There is no column ")[2].partition(";")[0] for line in lines] == [
        *["'lable' (--target)", "'incom' (--ignore)", "'agee' (--keep)"],
        *["'patient' (--group)", "'aeg' (--times)"],
    ]
    assert "did you mean one of ['age']?" in lines[2]


def test_json_holds_the_counts_the_worst_and_the_table(mislabelled):
    table = mislabelled[0]
    facts = run_audit(table, "--json").json
    assert (facts["samples"], facts["verified"], facts["dropped_rows"]) == (300, 0, 0)
    assert set(facts["verdicts"]) == set(VERDICTS)
    assert sum(facts["verdicts"].values()) == 300
    summary = facts["summary"]
    assert 0 <= summary["noise_low"] <= summary["noise_rate"] <= summary["noise_high"] < 0.6
    assert (summary["n_labels"], summary["basis"]) == (300, "prior")
    assert list(summary["expected_errors"]) == ["20", "50", "100"]
    assert facts["expected_errors"] == summary["expected_errors"]
    headline, advice = summary["message"].split(" Mistakes cannot be told")
    printed = " ".join(run_audit(table).out.split())
    assert f"{headline} verdicts: " in printed
    assert printed.count("mistakes cannot be told") == printed.count("--verify 20 asks") == 1
    assert "verify 20 rows" in advice
    assert "verify 20 rows" not in printed
    assert all(set(issue) == {"kind", "score", "message", "rows"} for issue in facts["issues"])
    shown = {"row", "given_label", "predicted_label", "error_probability", "label_quality"}
    assert all(set(label) == shown for label in facts["worst"])
    n_suspects = facts["verdicts"]["wrong"] + facts["verdicts"]["suspect"]
    assert n_suspects == round(summary["errors_left"])
    assert len(facts["worst"]) == min(10, n_suspects)
    assert facts["table"] == succeeds("check", table, "-t", "label", "--json").json


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--group", "label"], "holds the labels"), (["--sample", "5"], "name it with -o")],
)
def test_options_that_do_not_go_together_are_refused(mislabelled, options, said):
    assert said in fails(exit_codes.USAGE, "audit", mislabelled[0], "-t", "label", *options)


def test_labels_that_occur_once_are_named_and_spellings_are_joined_unless_told(
    mislabelled, tmp_path
):
    frame, table = pd.read_csv(mislabelled[0]), tmp_path / "misspelt.csv"
    frame.loc[[6, 20, 99], "label"] = ["YES", "[Yes]", "yess"]
    frame.to_csv(table, index=False)
    shown = run_audit(table, "--exact-labels").out
    assert "3 labels occur once" in shown
    assert "'YES' (row 7), '[Yes]' (row 21), 'yess' (row 100)" in " ".join(shown.split())
    facts = run_audit(table, "--exact-labels", "--json").json
    assert facts["occur_once"][0] == {"row": 7, "given_label": "YES"}
    assert facts["without_label_quality"] == len(facts["occur_once"]) == 3
    done = run_audit(table, "-o", tmp_path / "out.csv")
    assert "2 labels occur once" in done.out
    listing = pd.read_csv(tmp_path / "out.csv").set_index("row")
    assert listing.loc[7, ["given_label", "label"]].tolist() == ["yes", "YES"]


def test_where_every_label_occurs_once_no_fraction_of_wrong_ones_is_claimed(tmp_path):
    table = tmp_path / "names.csv"
    pd.DataFrame({"x": range(10), "label": [f"n{i}" for i in range(10)]}).to_csv(table, index=False)
    shown = run_audit(table, "--report", tmp_path / "audit.html").out
    assert "No label can be rated" in shown
    assert "%" not in shown
    assert "doubtful label" not in shown
    summary = run_audit(table, "--json").json["summary"]
    assert [summary[f"noise_{end}"] for end in ("low", "rate", "high")] == [None] * 3
    assert (summary["basis"], summary["n_errors"]) == ("none", None)


# --- decisions of a person


def with_decisions(listing, path, decide):
    """Write the list of an audit with a column of decisions, as a spreadsheet would."""
    frame = pd.read_csv(listing, dtype=str, keep_default_na=False)
    frame["decision"] = [decide(int(row)) for row in frame["row"]]
    frame.to_csv(path, index=False)
    return path


def test_decisions_filled_into_the_list_are_never_doubted_again(mislabelled, tmp_path):
    table, wrong, listed = mislabelled
    rows = pd.read_csv(listed).set_index("row")
    doubted = set(rows.index[rows["is_label_issue"]])

    def decide(row):
        return "" if row not in doubted else "change" if row in wrong else "keep"

    decided, out = with_decisions(listed, tmp_path / "d.csv", decide), tmp_path / "again.csv"
    facts = run_audit(table, "--decisions", decided, "-o", out, "--json").json
    assert facts["verified"] == len(doubted)
    again = pd.read_csv(out).set_index("row")
    assert set(again.index[again["verified"]]) == doubted
    assert not again.loc[sorted(doubted), "is_label_issue"].any()
    assert (again.loc[sorted(wrong), "predicted_label"] == "no").all()
    assert (again.loc[sorted(wrong), "error_probability"] == 1).all()
    # Where the table was corrected since, they stay good.
    frame = pd.read_csv(table, dtype=str)
    frame.loc[[row - 1 for row in wrong], "label"] = "no"
    frame.to_csv(tmp_path / "corrected.csv", index=False)
    run_audit(tmp_path / "corrected.csv", "--decisions", decided, "-o", out)
    again = pd.read_csv(out).set_index("row")
    assert (again.loc[sorted(wrong), "error_probability"] == 0).all()


def test_open_decisions_are_warned_of(mislabelled, tmp_path):
    (tmp_path / "d.csv").write_text("row,decision\n1,keep\n2,unsure\n")
    err = run_audit(mislabelled[0], "--decisions", tmp_path / "d.csv").err
    assert "1 of 2 decisions say exclude or unsure" in err


# --- groups, time, parts


def visits(path, n=240):
    """Write a table of patients with several visits each; return where labels are wrong."""
    rng = np.random.default_rng(0)
    patient = np.arange(n) // 4
    age = rng.integers(20, 80, n // 4)[patient]
    label = np.where(age > 50, "old", "young")
    wrong = np.flatnonzero(np.isin(patient, [3, 17, 40]))
    label[wrong] = np.where(label[wrong] == "old", "young", "old")
    cells = {"patient": [f"P{k}" for k in patient], "count": rng.permutation(n), "age": age}
    frame = pd.DataFrame({**cells, "weight": rng.normal(70, 10, n).round(1), "label": label})
    frame.to_csv(path, index=False)
    return frame, wrong


def test_rows_are_rated_by_other_groups_and_other_periods(tmp_path):
    table, out = tmp_path / "visits.csv", tmp_path / "s.csv"
    frame, wrong = visits(table)
    facts = run_audit(table, "--group", "patient", "-o", out, "--json").json
    listing = pd.read_csv(out)
    assert set(wrong + 1) <= set(listing.loc[listing["is_label_issue"], "row"])
    (column,) = [column for column in facts["table"]["columns"] if column["name"] == "patient"]
    assert column["dropped"] == "asked"
    run_audit(table, "--ignore", "patient", "-o", out)
    before = pd.read_csv(out).set_index("row")
    run_audit(table, "--ignore", "patient", "--times", "count", "-o", out)
    after = pd.read_csv(out).set_index("row")
    assert (after["label_quality"] != before.loc[after.index, "label_quality"]).mean() > 0.9
    frame.loc[[4, 9], "patient"] = None
    frame.to_csv(table, index=False)
    line = fails(exit_codes.BAD_DATA, "audit", table, "-t", "label", "--group", "patient")
    assert "column 'patient' is empty in 2 of 240 rows with a label" in line


@pytest.fixture
def folder(tmp_path, dask_cluster, monkeypatch):
    """A folder of Parquet files, and a cluster to read it."""

    def connected(address, *_):
        assert address == "local"
        return open_client(dask_cluster.scheduler.address)

    monkeypatch.setattr("granulearn.dask.open_client", connected)
    (tmp_path / "parts").mkdir()
    frame = people(150)
    for number in range(3):
        frame[50 * number : 50 * number + 50].to_parquet(tmp_path / "parts" / f"{number}.parquet")
    return tmp_path / "parts"


@pytest.mark.slow
def test_a_folder_is_audited_listed_fitted_and_predicted_in_parts(folder, tmp_path):
    suspects = tmp_path / "suspects.csv"
    done = succeeds("audit", folder, "-t", "label", "-o", suspects, "--worst", 7)
    assert "parts: About " in done.out
    assert " of 150 labels (" in done.out
    assert " fits. verdicts: " in " ".join(done.out.split())
    assert "verify" not in done.out
    listed = pd.read_csv(suspects)
    assert len(listed) == 7
    assert listed.columns[:4].tolist() == ["row", "hash", "given_label", "predicted_label"]
    assert {"decision", "new_label", "label"} <= set(listed)
    assert len(pd.read_parquet(tmp_path / "suspects.ratings")) == 150
    with Review(suspects, "label") as review:
        first = review.next()
        assert (first.given_label, first.second_class) == tuple(
            listed.loc[0, ["given_label", "predicted_label"]]
        )
    facts = succeeds("audit", folder, "-t", "label", "--json").json
    assert sum(facts["verdicts"].values()) == facts["samples"] == 150
    said = fails(exit_codes.USAGE, "audit", folder, "-t", "label", "-o", suspects)
    assert "suspects.ratings holds files already" in said

    model, out = tmp_path / "m.granulearn", tmp_path / "out"
    fitted = succeeds("fit", folder, "-t", "label", "-m", "rvfl", "-o", model).out
    assert "150 rows, 3 features (2 numbers, 1 category), 2 classes" in fitted
    done = succeeds("predict", model, folder, "-o", out)
    assert "150 rows predicted" in done.out
    succeeds("predict", model, folder, "-o", tmp_path / "one.parquet")
    one = pd.read_parquet(tmp_path / "one.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(out), one)
    assert "is there already" in fails(exit_codes.USAGE, "predict", model, folder, "-o", out)


@pytest.mark.parametrize("option", [["--sample", 3], ["--group", "age"]])
def test_what_needs_all_rows_at_once_is_refused(tmp_path, option):
    people().to_parquet(tmp_path / "t.parquet")
    said = fails(exit_codes.USAGE, "audit", tmp_path, "-t", "label", *option)
    assert f"{option[0]} needs the whole table in memory" in said
