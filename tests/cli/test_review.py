"""`granulearn review`, `correct` and `decisions`: labels are decided on, joined and changed."""

import json
import re
import signal
import socket
import urllib.error
import urllib.request
from contextlib import contextmanager

import numpy as np
import pytest

from granulearn.cli import exit_codes
from granulearn.review import Review, read_decisions
from tests.cli.commands import fails, people, succeeds, write_people
from tests.cli.decided import ANN, BEN
from tests.processes import Command
from tests.review.tables import animals_file


@pytest.fixture
def table(tmp_path):
    return animals_file(tmp_path)[0]


@contextmanager
def reviewing(*arguments):
    """Start a review in a process of its own; give the process and the address it prints."""
    process = Command("review", *arguments, "--no-browser")
    try:
        address = None
        while address is None:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            found = re.match(r"open (http://127\.0\.0\.1:\d+/[\w-]{20,}/)$", line)
            address = found and found[1]
        yield process, address
    finally:
        process.close()


def post(address, path, body):
    origin = re.match(r"http://[^/]+", address)[0]
    headers = {"Origin": origin, "Content-Type": "application/json"}
    request = urllib.request.Request(address + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


@pytest.mark.slow
def test_decisions_are_saved_and_the_next_command_is_told(table):
    with reviewing(table, "--target", "kind", "--who", "ann") as (process, address):
        with urllib.request.urlopen(address + "queue?n=1", timeout=30) as answer:
            (first,) = json.loads(answer.read())["rows"]
        sent = {"row": first["row"], "revision": 0, "action": "a-test-1", "decision": "change"}
        assert post(address, "decide", sent)["saved"]
        (decision,) = read_decisions(table.with_name("animals.decisions.csv"))
        said = (decision.row, decision.who, decision.new_label)
        assert said == (first["row"], "ann", first["second_class"])
        # Nothing is answered on other addresses, of the machine or of the page.
        port = int(re.search(r":(\d+)/", address)[1])
        with socket.socket() as other, pytest.raises(ConnectionRefusedError):
            other.connect(("127.0.0.2", port))
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "1 decision (1 change)" in out
    assert f"next: granulearn correct {table}" in out
    assert err == ""


@pytest.mark.parametrize("verb", [["review", "-t", "kind"], ["correct", "-o", "c.csv"]])
def test_what_is_no_file_has_no_decisions(tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    for what in ("-", "."):
        assert f"{what} is no file" in fails(exit_codes.USAGE, *verb, what)
    assert "is not a file; check the path" in fails(exit_codes.NOT_WRITTEN, *verb, "missing.csv")


# --- correct


@pytest.fixture
def reviewed(tmp_path):
    """Return the path of a table that was reviewed: three changes, two rows excluded."""
    table = write_people(tmp_path, 60)
    with Review(table, "label", who="ann") as review:
        for row in (4, 9, 30):
            review.decide(row, "change", other_label(row))
        review.decide_many([11, 12], "exclude")
        review.decide(1, "keep")
    return table


def other_label(row):
    return "no" if people(60)["label"][row - 1] == "yes" else "yes"


def lines_that_differ(a, b):
    """Return the numbers of the data rows that differ, from 1."""
    pairs = zip(*(path.read_bytes().split(b"\n") for path in (a, b)), strict=True)
    return [number for number, (old, new) in enumerate(pairs) if old != new]


def test_decisions_are_applied_once_and_undone_to_the_same_bytes(reviewed, tmp_path):
    clean, twice, back = (tmp_path / f"{name}.csv" for name in ("clean", "twice", "back"))
    done = succeeds("correct", reviewed, "-o", clean)  # by the decisions beside the table
    assert done.out.splitlines() == [
        "people.csv: 3 labels changed, 2 rows excluded (kept; --drop-excluded leaves them out)",
        f"saved {clean}",
    ]
    assert lines_that_differ(reviewed, clean) == [4, 9, 30]
    options = ["--decisions", tmp_path / "people.decisions.csv"]
    again = succeeds("correct", clean, "-o", twice, *options)
    assert "0 labels changed (3 were so already)" in again.out
    assert twice.read_bytes() == clean.read_bytes()
    undone = succeeds("correct", clean, "-o", back, *options, "--undo")
    assert undone.out.startswith("clean.csv: 3 labels changed back\n")
    assert back.read_bytes() == reviewed.read_bytes()


def test_excluded_rows_are_left_out_if_asked_for(reviewed, tmp_path):
    clean = tmp_path / "clean.csv"
    facts = succeeds("correct", reviewed, "-o", clean, "--drop-excluded", "--json").json
    counts = {"decisions": 6, "changed": 3, "already": 0, "excluded": 2, "dropped": 2}
    assert facts == {"file": str(clean), **counts, "new_classes": []}
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


def test_a_class_that_no_row_had_is_named(reviewed, tmp_path):
    with Review(reviewed, "label") as review:
        review.decide(20, "change", "perhaps", new_class=True)
    done = succeeds("correct", reviewed, "-o", tmp_path / "clean.csv")
    assert "4 labels changed, 2 rows excluded" in done.out
    assert "; no row was 'perhaps' before" in done.out


def test_standard_output_holds_the_table_alone(reviewed, tmp_path, capfdbinary):
    done = succeeds("correct", reviewed, "-o", "-")
    assert done.err.startswith("granulearn: note: people.csv: 3 labels changed, 2 rows excluded")
    succeeds("correct", reviewed, "-o", tmp_path / "clean.csv")
    assert capfdbinary.readouterr().out == (tmp_path / "clean.csv").read_bytes()


def test_a_table_without_decisions_is_refused_or_copied(tmp_path):
    table, clean = write_people(tmp_path), tmp_path / "c.csv"
    said = fails(exit_codes.USAGE, "correct", table, "-o", clean)
    assert "there are no decisions about people.csv" in said
    (tmp_path / "d.csv").write_text("row,decision\n")
    done = succeeds("correct", table, "--decisions", tmp_path / "d.csv", "-o", clean)
    assert "there are no decisions; the table is copied unchanged" in done.out
    assert clean.read_bytes() == table.read_bytes()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["-o", "c.csv", "--undo", "--drop-excluded"], exit_codes.USAGE, "leave out --drop-exclud"),
        (["-o", "c.csv", "-t", "age"], exit_codes.BAD_DATA, "about the column 'label', not 'age'"),
        (["-o", "c.csv", "--decisions", "no.csv"], exit_codes.BAD_DATA, "no.csv cannot be read"),
        (["-o", "c.parquet"], exit_codes.BAD_DATA, "keeps its format; name a file"),
    ],
)
def test_what_cannot_be_meant_writes_nothing(reviewed, monkeypatch, options, code, said):
    monkeypatch.chdir(reviewed.parent)
    before = {path.name: path.read_bytes() for path in reviewed.parent.iterdir()}
    assert said in fails(code, "correct", reviewed, *options)
    assert {path.name: path.read_bytes() for path in reviewed.parent.iterdir()} == before


def test_the_file_options_are_taken(tmp_path):
    table, clean = tmp_path / "t.csv", tmp_path / "c.csv"
    rows = [f"{x:.2f}|{'früh' if x > 0 else 'spät'}" for x in np.linspace(-1, 1, 20)]
    table.write_bytes("\n".join(["x|wann", *rows, ""]).encode("cp1252"))
    (tmp_path / "d.csv").write_text("row,given_label,decision,new_label\n1,spät,change,früh\n")
    options = ["-t", "wann", "--separator", "|", "--encoding", "cp1252"]
    succeeds("correct", table, "--decisions", tmp_path / "d.csv", "-o", clean, *options)
    assert lines_that_differ(table, clean) == [1]
    assert clean.read_bytes().split(b"\n")[1] == "-1.00|früh".encode("cp1252")


# --- decisions merge


@pytest.fixture
def both(tmp_path):
    """Return the paths of two files that disagree on the second row."""
    paths = tmp_path / "ann.csv", tmp_path / "ben.csv"
    for path, said in zip(paths, (ANN, BEN), strict=True):
        path.write_text(said)
    return paths


def test_conflicts_are_listed_and_left_out_whatever_the_order(both, tmp_path):
    merged, other = tmp_path / "m.csv", tmp_path / "n.csv"
    shown = succeeds("decisions", "merge", *both, "-o", merged).out
    assert f"{both[0]}: 3 decisions by ann" in shown
    assert "agree on 0 of 1 rows that both decide on; Cohen's kappa needs 10 rows" in shown
    assert "joined: 3 decisions, 1 row in conflict" in shown
    assert "2 yes keep (ann) change to no (ben)" in " ".join(shown.split())
    assert [d.row for d in read_decisions(merged)] == [1, 3, 4]
    succeeds("decisions", "merge", *both[::-1], "-o", other)
    assert merged.read_bytes() == other.read_bytes()


def test_the_latest_counts_if_asked_for(both, tmp_path):
    command = ["decisions", "merge", *both, "-o", tmp_path / "m.csv", "--prefer", "latest"]
    assert "joined: 4 decisions, 0 rows in conflict" in succeeds(*command).out
    assert [d.who for d in read_decisions(tmp_path / "m.csv")] == ["ann", "ben", "ben", "ben"]
    both[1].write_text(BEN.replace("11:00", "10:00"))
    assert "which is the latest cannot be told there" in succeeds(*command).out


def test_json_has_all_that_is_shown(both, tmp_path):
    facts = succeeds("decisions", "merge", *both, "-o", tmp_path / "m.csv", "--json").json
    ann, ben = map(str, both)
    conflict = [
        {"file": ann, "who": "ann", "decision": "keep", "new_label": ""},
        {"file": ben, "who": "ben", "decision": "change", "new_label": "no"},
    ]
    words = "agree on 0 of 1 rows that both decide on; Cohen's kappa needs 10 rows and two labels"
    agreement = {"files": [ann, ben], "rows": 1, "same": 0, "kappa": None, "message": words}
    agreement |= {"low": None, "high": None}
    assert facts == {
        "file": str(tmp_path / "m.csv"),
        "files": [{"file": path, "decisions": 3} for path in (ann, ben)],
        "joined": 3,
        "conflicts": [{"row": 2, "given_label": "yes", "decisions": conflict}],
        "agreement": [agreement],
    }


def test_a_review_asks_again_for_rows_in_conflict(tmp_path):
    table, journal = write_people(tmp_path, 60), tmp_path / "people.decisions.csv"
    for who, decided in (("ann", "keep"), ("ben", "exclude")):
        with Review(table, "label", decisions=tmp_path / f"{who}.csv", who=who) as review:
            review.decide_many([2, 3, 5], "keep")
            review.decide(4, decided)
    succeeds("decisions", "merge", tmp_path / "ann.csv", tmp_path / "ben.csv", "-o", journal)
    with Review(table, "label") as review:
        assert [d.row for d in review.journal.lines] == [2, 3, 5]
        assert 4 in review.rows()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["ann.csv", "-o", "m.xlsx"], exit_codes.USAGE, "ends in '.xlsx'"),
        (["no.csv", "-o", "m.csv"], exit_codes.BAD_DATA, "cannot be read"),
        (["ann.csv", "eve.csv", "-o", "m.csv"], exit_codes.BAD_DATA, "for different tables"),
        (["ann.csv", "-o", "m.csv", "--prefer", "ann"], exit_codes.USAGE, "'ann' is not"),
    ],
)
def test_what_cannot_be_joined_is_refused(both, tmp_path, monkeypatch, options, code, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eve.csv").write_text(BEN.replace("2,yes", "2,maybe"))
    assert said in fails(code, "decisions", "merge", *options)
    assert both[0].read_text() == ANN
    assert len(list(tmp_path.iterdir())) == 3
