"""`granulearn audit`: doubtful labels are listed, and the cells of the table are left alone."""

import contextlib
import csv
import re

import numpy as np
import pandas as pd
import pytest

from granulearn.audit.ratings import VERDICTS
from granulearn.cli import audit as module
from granulearn.cli import exit_codes
from tests.cli.commands import fails, fails_with, people, succeeds

VERDICT = [
    *["row", "line", "hash", "given", "suggested", "verdict", "wrong_probability"],
    *["reliability", "flagged", "verified", "decision", "new_label", "drawn"],
]


def run_audit(table, *options):
    return succeeds("audit", table, "-t", "label", *options)


def read_texts(path, **how):
    """Return a file of text as a list of rows, each cell as it is spelt."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, strict=True, **how))


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
    shown = run_audit(table, "-o", tmp_path / "suspects.csv").out
    listing = pd.read_csv(tmp_path / "suspects.csv")
    assert len(listing) == 300
    assert list(listing.columns) == [*VERDICT, "age", "income", "città", "label"]
    assert listing["reliability"].is_monotonic_increasing
    assert wrong <= set(listing.loc[listing["flagged"], "row"])
    assert f"verdicts: {listing['flagged'].sum()} wrong, " in shown
    assert (listing["flagged"] == (listing["verdict"] == "wrong")).all()
    original = people(300)
    for line in listing.head(20).itertuples():
        assert line.age == original["age"].iloc[line.row - 1]


def test_cells_are_written_as_they_were_read_with_their_line(tmp_path):
    rng = np.random.default_rng(0)
    table, output = tmp_path / "t.csv", tmp_path / "s.csv"
    rows = [
        [f"{k:04d}", f"{price:.2f}".replace(".", ",") + " €", f"{1 + k % 28}.2.2021", label]
        for k, (price, label) in enumerate(
            zip(rng.uniform(1, 99, 60), rng.choice(["no", "Yes", "YES ", ""], 60), strict=True)
        )
    ]
    rows[4][0] = "two\nlines"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows([["code", "price", "day", "label"], *rows])
    run_audit(table, "--ignore", "price", "-o", output)
    header, *listed = read_texts(output)
    assert header == [*VERDICT, "code", "price", "day", "label"]
    assert sorted(int(row[0]) for row in listed) == list(range(1, 61))
    for row in listed:
        number = int(row[0])
        assert row[len(VERDICT) :] == rows[number - 1]
        assert int(row[1]) == number + 1 + (number > 5)  # the cell of two lines moves the rest


@pytest.mark.parametrize("kind", ["xlsx", "parquet"])
def test_all_formats_give_the_same_suspects_and_lines_where_there_are_some(
    mislabelled, tmp_path, kind
):
    frame, table = pd.read_csv(mislabelled[0]), tmp_path / f"t.{kind}"
    frame.to_excel(table, index=False) if kind == "xlsx" else frame.to_parquet(table)
    run_audit(table, "-o", tmp_path / "other.csv")
    run_audit(mislabelled[0], "-o", tmp_path / "text.csv")
    of_other, of_text = pd.read_csv(tmp_path / "other.csv"), pd.read_csv(tmp_path / "text.csv")
    # A hash is of the cells as they are spelt: 30.0 in a text is 30 in a sheet.
    without = ["hash"] if kind == "xlsx" else ["hash", "line"]
    pd.testing.assert_frame_equal(
        of_other.drop(columns="hash"), of_text.drop(columns=without), check_dtype=False
    )


def test_cells_that_a_spreadsheet_would_run_are_guarded(mislabelled, tmp_path):
    frame = pd.read_csv(mislabelled[0])
    frame["note"] = np.resize(["=1+1", "-5", "@home", "+43 1 234", "-", "plain"], len(frame))
    frame.to_csv(tmp_path / "t.csv", index=False)
    run_audit(tmp_path / "t.csv", "-o", tmp_path / "s.csv")
    written = {row[header.index("note")] for header, *rows in [read_texts(tmp_path / "s.csv")]
               for row in rows}  # fmt: skip
    assert written == {"'=1+1", "-5", "'@home", "+43 1 234", "-", "plain"}


def test_only_the_columns_to_keep_are_copied_ignored_ones_as_well(mislabelled, tmp_path):
    run_audit(
        mislabelled[0], "--ignore", "income", "--keep", "income", "--keep", "age",
        "-o", tmp_path / "s.csv",
    )  # fmt: skip
    assert read_texts(tmp_path / "s.csv")[0] == [*VERDICT, "income", "age"]


def test_unknown_columns_to_keep_are_named_with_all_other_unknown_columns(mislabelled):
    asked = ("--keep", "agee", "--keep", "income", "--ignore", "incom", "--keep", "row")
    lines = fails_with(exit_codes.BAD_DATA, "audit", mislabelled[0], "-t", "lable", *asked)
    assert [line.partition("There is no column ")[2].partition(";")[0] for line in lines] == [
        "'lable' (--target)",
        "'incom' (--ignore)",
        "'agee' (--keep)",
        "'row' (--keep)",
    ]
    assert all(str(mislabelled[0]) in line for line in lines)
    assert "did you mean one of ['age']?" in lines[2]


def test_the_page_names_the_columns_of_the_table(mislabelled, tmp_path):
    table, _ = mislabelled
    page = tmp_path / "audit.html"
    run_audit(table, "--report", page)
    text = page.read_text(encoding="utf-8")
    assert "Label audit of people.csv" in text
    assert "città" in text
    assert re.search(r"what decides: [^<]*age [\d.]+ \((higher|lower)\)", text)
    assert re.search("what decides: [^<]*città = (Graz|Lyon|Ōsaka)", text)
    assert "città_" not in text


def test_json_holds_the_counts_the_worst_and_the_table(mislabelled):
    table, _ = mislabelled
    facts = run_audit(table, "--json").json
    assert facts["samples"] == 300
    assert set(facts["verdicts"]) == set(VERDICTS)
    assert sum(facts["verdicts"].values()) == 300
    assert 6 <= facts["verdicts"]["wrong"] < 60
    noise = facts["noise"]
    assert 0 <= noise["low"] <= noise["rate"] <= noise["high"] < 0.6
    assert noise["basis"] == "sure regions"
    assert noise["words"].endswith(".")
    assert list(facts["expected_yield"]) == ["20", "50", "100"]
    assert 0 < facts["expected_yield"]["20"] < facts["expected_yield"]["50"] < 50
    assert facts["verified"] == 0
    assert all(set(issue) == {"kind", "score", "words"} for issue in facts["issues"])
    assert len(facts["worst"]) == min(10, facts["verdicts"]["wrong"])
    assert [column["name"] for column in facts["table"]["columns"]] == ["age", "income", "città"]
    assert facts["table"] == succeeds("check", table, "-t", "label", "--json").json


def test_rows_without_a_label_come_last_with_no_verdict(mislabelled, tmp_path):
    frame = pd.read_csv(mislabelled[0])
    frame.loc[[0, 4, 50], "label"] = [None, "?", "n/a"]
    table, page = tmp_path / "holes.csv", tmp_path / "audit.html"
    frame.to_csv(table, index=False)
    done = run_audit(table, "-o", tmp_path / "out.csv", "--report", page, "--json")
    assert done.json["dropped_rows"] == 3
    listing = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert listing["row"].tolist()[-3:] == [1, 5, 51]
    assert listing["label"].tolist()[-3:] == ["", "?", "n/a"]
    assert (listing.tail(3)[VERDICT[3:]] == "").all(axis=None)
    rated = listing.head(297)
    of_file = frame.iloc[rated["row"] - 1]
    np.testing.assert_array_equal(rated["given"], of_file["label"])
    np.testing.assert_array_equal(rated["age"].astype(float), of_file["age"])
    worst = rated[rated["flagged"] == "true"]["row"].tolist()
    assert [line["row"] for line in done.json["worst"]] == worst[:10]
    assert f"row {worst[0]}<" in page.read_text(encoding="utf-8")


def test_rows_without_a_label_are_told(mislabelled, tmp_path):
    frame = pd.read_csv(mislabelled[0])
    frame.loc[4, "label"] = None
    frame.to_csv(tmp_path / "holes.csv", index=False)
    assert "1 row has no label in 'label' (1 empty)" in run_audit(tmp_path / "holes.csv").err


def test_a_missing_column_is_an_error_that_names_the_near_ones(mislabelled):
    (line,) = fails_with(exit_codes.BAD_DATA, "audit", mislabelled[0], "-t", "lable")
    assert "There is no column 'lable' (--target); did you mean one of ['label'" in line


def test_a_column_called_like_the_verdict_keeps_both(mislabelled, tmp_path):
    frame = pd.read_csv(mislabelled[0]).rename(columns={"income": "given"})
    frame.to_csv(tmp_path / "same.csv", index=False)
    run_audit(tmp_path / "same.csv", "-o", tmp_path / "out.csv")
    assert "given (column)" in pd.read_csv(tmp_path / "out.csv").columns


def test_a_list_of_suspects_is_no_table_to_audit(mislabelled, tmp_path):
    run_audit(mislabelled[0], "-o", tmp_path / "s.csv")
    line = fails(exit_codes.BAD_DATA, "audit", tmp_path / "s.csv", "-t", "label")
    assert "looks like output of `granulearn audit`" in line


@pytest.fixture
def no_work(monkeypatch):
    """Fail the test if any label is rated."""
    monkeypatch.setattr(
        "granulearn.audit.table_audit.audit_table", lambda *_, **__: pytest.fail("it was rated")
    )


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


@pytest.fixture
def misspelt(mislabelled, tmp_path):
    """Return a table in which three labels occur once."""
    frame = pd.read_csv(mislabelled[0])
    frame.loc[[6, 20, 99], "label"] = ["YES", "[Yes]", "yess"]
    path = tmp_path / "misspelt.csv"
    frame.to_csv(path, index=False)
    return path


def test_labels_that_occur_once_are_named_with_their_rows(misspelt, tmp_path):
    page, listing = tmp_path / "audit.html", tmp_path / "out.csv"
    shown = run_audit(misspelt, "--exact-labels", "-o", listing, "--report", page).out
    assert "3 labels occur once" in shown
    assert "'YES' (row 7), '[Yes]' (row 21), 'yess' (row 100)" in " ".join(shown.split())
    assert "row 7: <strong>YES</strong>" in page.read_text(encoding="utf-8")
    listing = pd.read_csv(listing).set_index("row")
    assert listing.loc[[7, 21, 100], "reliability"].isna().all()
    facts = run_audit(misspelt, "--exact-labels", "--json").json
    assert facts["occur_once"][0] == {"row": 7, "given": "YES"}
    assert facts["without_reliability"] == len(facts["occur_once"]) == 3


def test_of_many_labels_that_occur_once_the_first_are_named(mislabelled, tmp_path):
    frame = pd.read_csv(mislabelled[0])
    frame.loc[:11, "label"] = [f"n{k}" for k in range(12)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    shown = " ".join(run_audit(tmp_path / "t.csv").out.split())
    assert "12 labels occur once" in shown
    assert "'n9' (row 10) and 2 more" in shown


def test_spellings_of_one_label_are_joined_and_said_the_cell_stays(misspelt, tmp_path):
    done = run_audit(misspelt, "-o", tmp_path / "out.csv")
    assert "2 labels occur once" in done.out
    assert re.search(r"were joined, .*'yes' = 'yes' \(\d+\) \+ 'YES' \(1\)", done.err)
    listing = pd.read_csv(tmp_path / "out.csv").set_index("row")
    assert listing.loc[7, ["given", "label"]].tolist() == ["yes", "YES"]
    assert listing.loc[7, "reliability"] >= 0


def test_the_command_advises_nothing_that_it_does_not_have(misspelt):
    err = run_audit(misspelt).err
    assert "2 of 300 labels is unknown" in err
    assert "tree" not in err
    assert "max_samples" not in err


def test_where_every_label_occurs_once_no_share_of_wrong_ones_is_claimed(tmp_path):
    table, page = tmp_path / "names.csv", tmp_path / "audit.html"
    pd.DataFrame({"x": range(10), "label": [f"n{i}" for i in range(10)]}).to_csv(table, index=False)
    shown = run_audit(table, "--report", page).out
    assert "10 labels, which cannot be judged" in shown
    assert "verdicts: 10 unknown" in shown
    assert "10 labels occur once" in shown
    assert "%" not in shown
    assert "Cannot judge how many labels are wrong" in page.read_text(encoding="utf-8")
    noise = run_audit(table, "--json").json["noise"]
    assert (noise["rate"], noise["low"], noise["high"], noise["basis"]) == (*[None] * 3, "none")


def test_what_is_being_done_is_told(mislabelled, monkeypatch, tmp_path):
    told = []

    @contextlib.contextmanager
    def recorded(*, hidden):
        yield (lambda stage: None) if hidden else told.append

    monkeypatch.setattr(module, "stage_progress", recorded)
    files = ["-o", tmp_path / "out.csv", "--report", tmp_path / "audit.html"]
    run_audit(mislabelled[0], *files, "--json")
    assert told == []
    run_audit(mislabelled[0], *files)
    stages = ["reading people.csv", "rating 300 labels", "writing out.csv", "writing audit.html"]
    assert told == stages


def test_a_table_of_numbers_alone_has_a_page(tmp_path):
    frame = people(80).drop(columns="città")
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    run_audit(tmp_path / "numbers.csv", "--report", tmp_path / "audit.html")
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
    files = ["-o", tmp_path / "s.csv", "--report", tmp_path / "a.html"]
    assert "left out" not in run_audit(tmp_path / "t.csv", "--include", "house", *files).out
    listing = pd.read_csv(tmp_path / "s.csv")
    doubted = set(listing.loc[listing["flagged"], "row"] - 1)
    assert len(doubted & set(wrong)) > 10  # none, if rows were encoded by their own labels
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.search(r"what decides: age [\d.]+ \((higher|lower)\)", page)


def test_a_column_of_many_categories_is_told_by_the_cell_of_the_row(tmp_path):
    rng = np.random.default_rng(0)
    frame = people(400)
    streets = np.arange(400) % 50
    frame["street"] = [f"street {k}" for k in streets]
    frame["label"] = np.where((streets < 25) ^ (rng.random(400) < 0.1), "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    run_audit(tmp_path / "t.csv", "--include", "street", "--report", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.search(r"what decides: street = street \d+", page)
    assert "share of" not in page


# --- decisions of a person


def with_decisions(listing, path, decide):
    """Write the list of an audit with a column of decisions, as a spreadsheet would."""
    frame = pd.read_csv(listing, dtype=str, keep_default_na=False)
    frame["decision"] = [decide(row) for _, row in frame.iterrows()]
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def listed(mislabelled):
    """Return the list that an audit of the table has written."""
    path = mislabelled[0].parent / "listed.csv"
    run_audit(mislabelled[0], "-o", path)
    return path


def test_decisions_filled_into_the_list_are_never_doubted_again(mislabelled, listed, tmp_path):
    table, wrong = mislabelled
    rows = pd.read_csv(listed).set_index("row")
    doubted = set(rows.index[rows["flagged"]])
    assert wrong <= doubted
    decided = with_decisions(
        listed,
        tmp_path / "d.csv",
        lambda row: (
            "" if int(row["row"]) not in doubted
            else "change" if int(row["row"]) in wrong else "keep"
        ),
    )  # fmt: skip
    out = tmp_path / "again.csv"
    facts = run_audit(table, "--decisions", decided, "-o", out, "--json").json
    assert facts["verified"] == len(doubted)
    again = pd.read_csv(out).set_index("row")
    assert set(again.index[again["verified"]]) == doubted
    assert not again.loc[sorted(doubted), "flagged"].any()
    assert (again.loc[sorted(wrong), "suggested"] == "no").all()
    assert (again.loc[sorted(wrong), "wrong_probability"] == 1).all()
    kept = sorted(doubted - wrong)
    assert (again.loc[kept, "suggested"] == again.loc[kept, "given"]).all()
    assert f"{len(wrong)} of {len(doubted)} labels that were checked" in facts["noise"]["words"]


def test_a_list_without_decisions_is_the_plain_audit(mislabelled, listed, tmp_path):
    decided = with_decisions(listed, tmp_path / "d.csv", lambda row: "")
    run_audit(mislabelled[0], "--decisions", decided, "-o", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == listed.read_bytes()


def test_decisions_stay_good_where_labels_were_corrected_since(mislabelled, listed, tmp_path):
    table, wrong = mislabelled
    decided = with_decisions(
        listed, tmp_path / "d.csv", lambda row: "change" if int(row["row"]) in wrong else ""
    )
    frame = pd.read_csv(table, dtype=str)
    frame.loc[[row - 1 for row in wrong], "label"] = "no"
    frame.to_csv(tmp_path / "corrected.csv", index=False)
    run_audit(tmp_path / "corrected.csv", "--decisions", decided, "-o", tmp_path / "s.csv")
    again = pd.read_csv(tmp_path / "s.csv").set_index("row")
    assert set(again.index[again["verified"]]) == wrong
    assert (again.loc[sorted(wrong), "wrong_probability"] == 0).all()


def test_decisions_about_another_table_are_refused(mislabelled, listed, tmp_path, no_work):
    decided = with_decisions(listed, tmp_path / "d.csv", lambda row: "keep")
    frame = pd.read_csv(mislabelled[0], dtype=str)
    frame.loc[[2, 7], "age"] = "99"
    frame.to_csv(tmp_path / "other.csv", index=False)
    asked = ("audit", tmp_path / "other.csv", "-t", "label", "--decisions", decided)
    line = fails(3, *asked)
    assert "was made for other cells in 2 of 300 rows (row 3, 8)" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,decision\n1,perhaps\n", "line 2: 'perhaps' is no decision"),
        ("row,decision\none,keep\n", "line 2: 'one' is no row number"),
        ("row,decision\n301,keep\n", "speaks of row 301, and the table has 300 rows"),
        ("row,decision,label\n1,change,maybe\n", "line 2: 'maybe' is no class of the table"),
        ("row\n1\n", "has no column 'decision'"),
        (b"row,decision,label\n1,change,\xe9\n", "is not UTF-8 text"),
        (None, "cannot be read: there is no such file"),
    ],
)
def test_decisions_that_cannot_be_used_are_refused(mislabelled, tmp_path, text, message, no_work):
    path = tmp_path / "d.csv"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    asked = ("audit", mislabelled[0], "-t", "label", "--decisions", path)
    line = fails(exit_codes.BAD_DATA, *asked)
    assert message in line
    assert "d.csv" in line


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_decisions_are_never_written_over(mislabelled, listed, tmp_path, option, no_work):
    decided = with_decisions(listed, tmp_path / "d.csv", lambda row: "keep")
    before = decided.read_bytes()
    asked = ("audit", mislabelled[0], "-t", "label", "--decisions", decided, option, decided)
    assert "is also an input" in fails(exit_codes.USAGE, *asked)
    assert decided.read_bytes() == before


# --- groups and time


def visits(path, n=240):
    """Write a table of patients with several visits each; return where labels are wrong."""
    rng = np.random.default_rng(0)
    patient = np.arange(n) // 4
    age = rng.integers(20, 80, n // 4)[patient]
    days = pd.Timestamp("2021-01-20") + pd.to_timedelta(rng.integers(0, 500, n), "D")
    label = np.where(age > 50, "old", "young")
    wrong = np.flatnonzero(np.isin(patient, [3, 17, 40]))
    label[wrong] = np.where(label[wrong] == "old", "young", "old")
    frame = pd.DataFrame(
        {
            "patient": [f"P{k}" for k in patient],
            "day": [f"{day.day}.{day.month}.{day.year}" for day in days],
            "count": rng.permutation(n),
            "week": [f"{day.year}-W{day.week:02d}" for day in days],
            "age": age,
            "weight": rng.normal(70, 10, n).round(1),
            "label": label,
        }
    )
    frame.to_csv(path, index=False)
    return frame, wrong


def test_rows_of_one_group_do_not_vouch_for_each_other(tmp_path):
    table, out = tmp_path / "visits.csv", tmp_path / "s.csv"
    _, wrong = visits(table)
    facts = run_audit(table, "--group", "patient", "-o", out, "--json").json
    listing = pd.read_csv(out)
    assert set(wrong + 1) <= set(listing.loc[listing["flagged"], "row"])
    assert "patient" in listing.columns
    (column,) = [column for column in facts["table"]["columns"] if column["name"] == "patient"]
    assert column["left_out"] == "asked"
    assert set(facts["noise"]) == {"rate", "low", "high", "basis", "words"}


@pytest.mark.parametrize("column", ["day", "count", "week"])
def test_rows_are_rated_by_other_stretches_of_time(tmp_path, column):
    table, plain, ordered = (tmp_path / name for name in ("visits.csv", "plain.csv", "ordered.csv"))
    visits(table)
    run_audit(table, "--ignore", "patient", "-o", plain)
    asked = ("--ignore", "patient", "--order", column)
    facts = run_audit(table, *asked, "-o", ordered, "--json").json
    assert sum(facts["verdicts"].values()) == 240
    assert facts["noise"]["basis"] == "sure regions"
    before, after = (pd.read_csv(path).set_index("row") for path in (plain, ordered))
    assert set(after.index) == set(before.index)
    assert (after["reliability"] != before.loc[after.index, "reliability"]).mean() > 0.9
    both = run_audit(table, "--order", column, "--group", "patient", "--json").json
    assert both["samples"] == 240


def test_unknown_columns_of_groups_and_order_are_named_together(mislabelled, no_work):
    asked = ("audit", mislabelled[0], "-t", "label", "--group", "patient", "--order", "aeg")
    lines = fails_with(exit_codes.BAD_DATA, *asked)
    assert [line.partition("There is no column ")[2].partition(";")[0] for line in lines] == [
        "'patient' (--group)",
        "'aeg' (--order)",
    ]
    assert "did you mean one of ['age']" in lines[1]


def test_a_column_of_groups_with_holes_is_refused(tmp_path):
    table = tmp_path / "visits.csv"
    frame, _ = visits(table)
    frame.loc[[4, 9], "patient"] = None
    frame.to_csv(table, index=False)
    line = fails(exit_codes.BAD_DATA, "audit", table, "-t", "label", "--group", "patient")
    assert "column 'patient' is empty in 2 of 240 rows with a label" in line


def test_a_column_of_one_group_and_of_one_moment_is_refused(tmp_path):
    table = tmp_path / "visits.csv"
    frame, _ = visits(table)
    frame.assign(patient="P1", count=7).to_csv(table, index=False)
    asked = ("audit", table, "-t", "label")
    line = fails(exit_codes.BAD_DATA, *asked, "--group", "patient")
    assert "column 'patient': all samples are in one group" in line
    line = fails(exit_codes.BAD_DATA, *asked, "--order", "count")
    assert "column 'count': order has the same value everywhere" in line


def test_a_class_that_one_group_alone_has_is_told_and_unknown(tmp_path):
    table = tmp_path / "visits.csv"
    frame, _ = visits(table)
    frame.loc[frame["patient"] == "P5", "label"] = "odd"
    frame.to_csv(table, index=False)
    done = run_audit(table, "--group", "patient", "-o", tmp_path / "s.csv")
    assert "1 class(es) occur in one group only ('odd')" in done.err
    listing = pd.read_csv(tmp_path / "s.csv").set_index("row")
    assert (listing.loc[[21, 22, 23, 24], "verdict"] == "unknown").all()
