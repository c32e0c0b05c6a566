"""`granulearn correct`."""

import numpy as np
import pytest

from granulearn.cli import exit_codes
from granulearn.review import Review
from tests.cli.commands import fails, people, succeeds, write_people


@pytest.fixture
def reviewed(tmp_path):
    """Return the path of a table that was reviewed: three changes, two rows excluded."""
    table = write_people(tmp_path, 60)
    with Review(table, "label", who="ann") as review:
        for row in (4, 9, 30):
            other = "no" if people(60)["label"][row - 1] == "yes" else "yes"
            review.decide(row, "change", other)
        review.decide_many([11, 12], "exclude")
        review.decide(1, "keep")
    return table


def lines_that_differ(a, b):
    """Return the numbers of the data rows that differ, from 1."""
    old, new = (path.read_bytes().split(b"\n") for path in (a, b))
    assert len(old) == len(new)
    return [i for i, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]


def test_the_decisions_beside_the_table_are_applied(reviewed, tmp_path):
    clean = tmp_path / "clean.csv"
    done = succeeds("correct", reviewed, "-o", clean)
    assert done.out.splitlines() == [
        "people.csv: 3 labels changed, 2 rows excluded (kept; --drop-excluded leaves them out)",
        f"saved {clean}",
    ]
    assert lines_that_differ(reviewed, clean) == [4, 9, 30]


def test_undo_gives_the_same_bytes_and_correcting_twice_is_correcting_once(reviewed, tmp_path):
    clean, twice, back = (tmp_path / f"{name}.csv" for name in ("clean", "twice", "back"))
    options = ["--decisions", tmp_path / "people.decisions.csv"]
    succeeds("correct", reviewed, "-o", clean, *options)
    again = succeeds("correct", clean, "-o", twice, *options)
    assert "0 labels changed (3 were so already)" in again.out
    assert twice.read_bytes() == clean.read_bytes()
    undone = succeeds("correct", clean, "-o", back, *options, "--undo")
    assert undone.out.startswith("clean.csv: 3 labels changed back\n")
    assert back.read_bytes() == reviewed.read_bytes()


def test_excluded_rows_are_left_out_if_asked_for(reviewed, tmp_path):
    clean = tmp_path / "clean.csv"
    done = succeeds("correct", reviewed, "-o", clean, "--drop-excluded", "--json")
    assert done.json == {
        "file": str(clean),
        "decisions": 6,
        "changed": 3,
        "already": 0,
        "excluded": 2,
        "dropped": 2,
    }
    assert len(clean.read_text().splitlines()) == 1 + 58


def test_a_filled_in_list_of_an_audit_is_a_file_of_decisions(tmp_path):
    table, listed, clean = write_people(tmp_path), tmp_path / "l.csv", tmp_path / "c.csv"
    succeeds("audit", table, "-t", "label", "-o", listed, "--keep", "age")
    head, first, *rest = listed.read_text().splitlines()
    names = head.split(",")
    cells = dict(zip(names, first.split(","), strict=True)) | {"decision": "change"}
    listed.write_text("\n".join([head, ",".join(cells[name] for name in names), *rest, ""]))
    said = fails(exit_codes.USAGE, "correct", table, "--decisions", listed, "-o", clean)
    assert "does not say which column holds the labels; name it by --target" in said
    done = succeeds("correct", table, "--decisions", listed, "-o", clean, "--target", "label")
    assert "people.csv: 1 label changed\n" in done.out
    assert lines_that_differ(table, clean) == [int(cells["row"])]


def test_a_file_without_decisions_is_said_and_the_table_copied(tmp_path):
    table = write_people(tmp_path)
    (tmp_path / "d.csv").write_text("row,decision\n")
    options = ["--decisions", tmp_path / "d.csv", "-o", tmp_path / "c.csv"]
    done = succeeds("correct", table, *options)
    assert "there are no decisions, and the table is copied as it is" in done.out
    assert (tmp_path / "c.csv").read_bytes() == table.read_bytes()


def test_standard_output_holds_the_table_alone(reviewed, tmp_path, capfdbinary):
    done = succeeds("correct", reviewed, "-o", "-")
    assert done.err.startswith("granulearn: note: people.csv: 3 labels changed, 2 rows excluded")
    succeeds("correct", reviewed, "-o", tmp_path / "clean.csv")
    assert capfdbinary.readouterr().out == (tmp_path / "clean.csv").read_bytes()


def test_a_review_without_decisions_leaves_none_and_nothing_is_written(tmp_path):
    table = write_people(tmp_path)
    with Review(table, "label") as review:
        assert review.next() is not None
    said = fails(exit_codes.USAGE, "correct", table, "-o", tmp_path / "c.csv")
    assert "there are no decisions about people.csv" in said
    assert "--decisions" in said
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--undo", "--drop-excluded"], exit_codes.USAGE, "leave out --drop-excluded"),
        (["--target", "age"], exit_codes.BAD_DATA, "is about the column 'label', not 'age'"),
        (["--decisions", "none.csv"], exit_codes.BAD_DATA, "none.csv cannot be read"),
    ],
)
def test_what_cannot_be_meant_is_refused(reviewed, tmp_path, options, code, said):
    assert said in fails(code, "correct", reviewed, "-o", tmp_path / "c.csv", *options)
    assert not (tmp_path / "c.csv").exists()


def test_no_input_is_written_over(reviewed, tmp_path):
    for output in (reviewed, tmp_path / "people.decisions.csv"):
        before = output.read_bytes()
        said = fails(exit_codes.USAGE, "correct", reviewed, "-o", output)
        assert "is also an input" in said
        assert output.read_bytes() == before


def test_a_stream_a_folder_and_a_missing_file_are_refused(tmp_path):
    output = tmp_path / "c.csv"
    assert "- is no file" in fails(exit_codes.USAGE, "correct", "-", "-o", output)
    assert "is a folder" in fails(exit_codes.USAGE, "correct", tmp_path, "-o", output)
    missing = fails(exit_codes.NOT_WRITTEN, "correct", tmp_path / "no.csv", "-o", output)
    assert "is not a file; check the path" in missing


def test_another_format_than_that_of_the_table_is_refused(reviewed, tmp_path):
    said = fails(exit_codes.BAD_DATA, "correct", reviewed, "-o", tmp_path / "c.parquet")
    assert "is written again in its own format" in said
    assert not (tmp_path / "c.parquet").exists()


def test_another_tables_decisions_and_an_unknown_class_write_nothing(reviewed, tmp_path):
    journal, clean = tmp_path / "people.decisions.csv", tmp_path / "c.csv"
    said = journal.read_text()
    journal.write_text(said.replace(",change,yes,", ",change,yess,"))
    assert "'yess' is no class of the table; the classes are no, yes." in fails(
        exit_codes.BAD_DATA, "correct", reviewed, "-o", clean
    )
    journal.write_text(said)
    other = tmp_path / "other.csv"
    people(60, seed=1).to_csv(other, index=False)
    assert "made for other cells in 6 of 6 rows (row 1, 4, 9, 11, 12 and 1 more)" in fails(
        exit_codes.BAD_DATA, "correct", other, "-o", clean, "--decisions", journal
    )
    assert not clean.exists()


def test_the_file_options_are_taken(tmp_path):
    table, clean = tmp_path / "t.csv", tmp_path / "c.csv"
    rows = [f"{x:.2f}|{'früh' if x > 0 else 'spät'}" for x in np.linspace(-1, 1, 20)]
    table.write_bytes("\n".join(["x|wann", *rows, ""]).encode("cp1252"))
    (tmp_path / "d.csv").write_text("row,given,decision,new_label\n1,spät,change,früh\n")
    options = ["-t", "wann", "--separator", "|", "--encoding", "cp1252"]
    succeeds("correct", table, "--decisions", tmp_path / "d.csv", "-o", clean, *options)
    assert lines_that_differ(table, clean) == [1]
    assert clean.read_bytes().split(b"\n")[1] == "-1.00|früh".encode("cp1252")
