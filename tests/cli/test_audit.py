"""`granulearn audit`, called as the function that the command line registers."""

import contextlib
import io
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

from granulearn.cli import audit as module
from granulearn.cli import exit_codes
from granulearn.cli.audit import audit
from granulearn.datasets.csv_structure import TableError
from tests.cli.commands import fails, people, succeeds


def run_audit(*arguments, **options):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        audit(*arguments, **options)
    return out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def mislabelled(tmp_path_factory):
    """Return a table with wrong labels, and the numbers of their rows."""
    folder = tmp_path_factory.mktemp("audit")
    frame = people(300)
    elsewhere = frame["città"].isin(["Graz", "Ōsaka"])
    sure = np.flatnonzero(((frame["age"] < 30) & elsewhere).to_numpy())[:6]
    frame.loc[sure, "label"] = "yes"
    path = folder / "people.csv"
    frame.to_csv(path, index=False)
    return path, set((sure + 1).tolist())


def test_wrong_labels_are_found_and_listed_with_their_rows(mislabelled, tmp_path):
    table, wrong = mislabelled
    shown, _ = run_audit(table, "label", output=tmp_path / "suspects.csv")
    listing = pd.read_csv(tmp_path / "suspects.csv")
    assert len(listing) == 300
    assert list(listing.columns[:5]) == ["row", "given", "reliability", "suggested", "flagged"]
    assert listing["reliability"].is_monotonic_increasing
    assert wrong <= set(listing.loc[listing["flagged"], "row"])
    assert f"{listing['flagged'].sum()} doubted" in shown
    original = people(300)
    for line in listing.head(20).itertuples():
        assert line.age == original["age"].iloc[line.row - 1]


def test_the_page_names_the_columns_of_the_table(mislabelled, tmp_path):
    table, _ = mislabelled
    page = tmp_path / "audit.html"
    run_audit(table, "label", report=page)
    text = page.read_text(encoding="utf-8")
    assert "Label audit of people.csv" in text
    assert "città" in text
    assert "higher age" in text or "lower age" in text
    assert re.search("città (is|is not|more often|less often) Lyon", text)
    assert "città_" not in text


def test_json_holds_the_counts_and_the_worst(mislabelled):
    table, _ = mislabelled
    facts = json.loads(run_audit(table, "label", json=True)[0])
    assert facts["samples"] == 300
    assert 6 <= facts["flagged"] < 60
    assert 0 < facts["noise_rate"] < 0.3
    assert len(facts["worst"]) == min(10, facts["flagged"])


def test_rows_without_a_label_are_left_out_with_a_word(mislabelled, tmp_path):
    frame = pd.read_csv(mislabelled[0])
    frame.loc[4, "label"] = None
    frame.to_csv(tmp_path / "holes.csv", index=False)
    out, err = run_audit(tmp_path / "holes.csv", "label", json=True)
    assert json.loads(out)["dropped_rows"] == 1
    assert "1 row without a label left out; the others keep their row" in err


def test_rows_are_those_of_the_file_though_some_have_no_label(mislabelled, tmp_path):
    frame = pd.read_csv(mislabelled[0])
    frame.loc[[0, 4, 50], "label"] = None
    table, page = tmp_path / "holes.csv", tmp_path / "audit.html"
    frame.to_csv(table, index=False)
    out, err = run_audit(table, "label", output=tmp_path / "out.csv", report=page, json=True)
    listing = pd.read_csv(tmp_path / "out.csv")
    of_file = frame.iloc[listing["row"] - 1]
    np.testing.assert_array_equal(listing["given"], of_file["label"])
    np.testing.assert_array_equal(listing["age"], of_file["age"])
    assert "the others keep their row" in err
    worst = listing[listing["flagged"]]["row"].tolist()
    assert [line["row"] for line in json.loads(out)["worst"]] == worst[:10]
    assert f"row {worst[0]}<" in page.read_text(encoding="utf-8")


def test_a_missing_column_is_an_error_that_names_the_near_ones(mislabelled):
    with pytest.raises(TableError, match="did you mean one of"):
        audit(mislabelled[0], "lable")


def test_a_column_called_like_the_verdict_keeps_both(mislabelled, tmp_path):
    frame = pd.read_csv(mislabelled[0]).rename(columns={"income": "given"})
    frame.to_csv(tmp_path / "same.csv", index=False)
    run_audit(tmp_path / "same.csv", "label", output=tmp_path / "out.csv")
    assert "given (column)" in pd.read_csv(tmp_path / "out.csv").columns


@pytest.fixture
def no_work(monkeypatch):
    """Fail the test if any label is rated."""
    monkeypatch.setattr(module, "_audited", lambda *_: pytest.fail("labels were rated"))


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_what_is_read_is_never_written_over(mislabelled, option, no_work):
    table, _ = mislabelled
    before = table.read_bytes()
    line = fails(exit_codes.USAGE, "audit", table, "-t", "label", option, table)
    assert "is also an input" in line
    assert table.read_bytes() == before


def test_the_list_and_the_page_are_two_files(mislabelled, tmp_path, no_work):
    both = tmp_path / "both.csv"
    line = fails(
        exit_codes.USAGE, "audit", mislabelled[0], "-t", "label", "-o", both, "--report", both
    )
    assert "two" in line
    assert not both.exists()


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_missing_folder_is_refused_before_the_work(mislabelled, tmp_path, option, no_work):
    file = tmp_path / "none" / "x.csv"
    line = fails(exit_codes.NOT_WRITTEN, "audit", mislabelled[0], "-t", "label", option, file)
    assert "does not exist" in line


@pytest.mark.parametrize("name", ["suspects.xlsx", "suspects.parquet", "suspects.tsv"])
def test_an_ending_other_than_csv_is_refused_before_the_work(mislabelled, tmp_path, name, no_work):
    file = tmp_path / name
    line = fails(exit_codes.USAGE, "audit", mislabelled[0], "-t", "label", "-o", file)
    assert "use .csv or .txt" in line


def test_without_jinja2_the_page_is_refused_before_the_work(
    mislabelled, tmp_path, monkeypatch, no_work
):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    page = tmp_path / "audit.html"
    line = fails(
        exit_codes.MISSING_PACKAGE, "audit", mislabelled[0], "-t", "label", "--report", page
    )
    assert "'jinja2' is not installed" in line


@pytest.fixture
def misspelt(mislabelled, tmp_path):
    """Return a table in which three labels occur once."""
    frame = pd.read_csv(mislabelled[0])
    frame.loc[[6, 20, 99], "label"] = ["YES", "[Yes]", "yess"]
    path = tmp_path / "misspelt.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.filterwarnings("ignore:the reliability of 3")
def test_labels_that_occur_once_are_named_with_their_rows(misspelt, tmp_path):
    page = tmp_path / "audit.html"
    shown, _ = run_audit(misspelt, "label", output=tmp_path / "out.csv", report=page)
    assert "3 labels occur once" in shown
    assert "'YES' (row 7), '[Yes]' (row 21), 'yess' (row 100)" in " ".join(shown.split())
    assert "row 7: <strong>YES</strong>" in page.read_text(encoding="utf-8")
    listing = pd.read_csv(tmp_path / "out.csv").set_index("row")
    assert listing.loc[[7, 21, 100], "reliability"].isna().all()
    facts = json.loads(run_audit(misspelt, "label", json=True)[0])
    assert facts["occur_once"][0] == {"row": 7, "given": "YES"}
    assert facts["unknown"] == len(facts["occur_once"]) == 3


def test_the_command_advises_nothing_that_it_does_not_have(misspelt):
    err = succeeds("audit", misspelt, "-t", "label").err
    assert "3 of 300 labels is unknown" in err
    assert "tree" not in err
    assert "max_samples" not in err


@pytest.mark.filterwarnings("ignore:the reliability of 12")
def test_where_every_label_occurs_once_no_share_of_wrong_ones_is_claimed(tmp_path):
    table, page = tmp_path / "names.csv", tmp_path / "audit.html"
    pd.DataFrame({"x": range(12), "label": [f"n{i}" for i in range(12)]}).to_csv(table, index=False)
    shown, _ = run_audit(table, "label", report=page)
    assert "none of which can be rated" in shown
    assert "12 labels occur once" in shown
    assert "and 2 more" in shown
    assert "%" not in shown
    assert "(estimate)" not in page.read_text(encoding="utf-8")
    assert json.loads(run_audit(table, "label", json=True)[0])["noise_rate"] is None


def test_what_is_being_done_is_told(mislabelled, monkeypatch, tmp_path):
    told = []

    @contextlib.contextmanager
    def recorded(*, hidden):
        yield (lambda stage: None) if hidden else told.append

    monkeypatch.setattr(module, "stage_progress", recorded)
    files = {"output": tmp_path / "out.csv", "report": tmp_path / "audit.html"}
    run_audit(mislabelled[0], "label", **files, json=True)
    assert told == []
    run_audit(mislabelled[0], "label", **files)
    stages = ["reading people.csv", "rating 300 labels", "writing out.csv", "writing audit.html"]
    assert told == stages


def test_a_table_of_numbers_alone_has_a_page(tmp_path):
    frame = people(80).drop(columns="città")
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    run_audit(tmp_path / "numbers.csv", "label", report=tmp_path / "audit.html")
    assert "Label audit of numbers.csv" in (tmp_path / "audit.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("third", [False, True])
def test_a_column_of_many_categories_vouches_for_no_label_of_its_own_rows(tmp_path, third):
    rng = np.random.default_rng(0)
    frame = people(400)
    # A street has two rows and a house one: what they tell is the labels of their own rows.
    frame["street"] = rng.permutation([f"street {k % 200}" for k in range(400)])
    frame["house"] = [f"house {k}" for k in range(400)]
    if third:
        frame.loc[frame["age"] > 70, "label"] = "old"
    classes = sorted(frame["label"].unique())
    wrong = rng.choice(400, 30, replace=False)
    truth = frame["label"].copy()
    frame.loc[wrong, "label"] = [rng.choice([c for c in classes if c != truth[k]]) for k in wrong]
    frame.to_csv(tmp_path / "t.csv", index=False)
    run_audit(tmp_path / "t.csv", "label", output=tmp_path / "s.csv", report=tmp_path / "a.html")
    listing = pd.read_csv(tmp_path / "s.csv")
    doubted = set(listing.loc[listing["flagged"], "row"] - 1)
    assert len(doubted & set(wrong)) > 10  # none, if rows were encoded by their own labels
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.search(r"(higher|lower) share of (old|yes) by street", page)
