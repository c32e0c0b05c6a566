"""`granulearn review`: a page on this machine, and one clear line where there can be none."""

import json
import re
import signal
import socket
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from granulearn import Review
from granulearn.cli import exit_codes
from granulearn.review import read_decisions
from granulearn.review.journal import Journal
from tests.cli.commands import fails, fails_with
from tests.review.tables import animals, animals_file
from tests.warm_processes import Command


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
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_decisions_are_saved_and_the_next_command_is_told(table, stop):
    with reviewing(table, "--target", "kind", "--who", "ann") as (process, address):
        with urllib.request.urlopen(address + "queue?n=1", timeout=30) as answer:
            (first,) = json.loads(answer.read())["rows"]
        assert post(address, "decide", {"row": first["row"], "decision": "change"})["saved"]
        journal = table.with_name("animals.decisions.csv")
        (decision,) = read_decisions(journal)
        assert (decision.row, decision.who, decision.label) == (
            first["row"], "ann", first["rival"],
        )  # fmt: skip
        process.send_signal(stop)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "1 decision (1 change)" in out
    assert f"next: granulearn correct {table}" in out
    assert err == ""


@pytest.mark.slow
def test_nothing_is_answered_on_other_addresses_of_the_machine(table):
    with reviewing(table, "--target", "kind") as (_, address):
        port = int(re.search(r":(\d+)/", address)[1])
        for host in ("127.0.0.2", "0.0.0.0"):
            with socket.socket() as other:
                other.bind((host, 0))  # the address is there
        with socket.socket() as other, pytest.raises(ConnectionRefusedError):
            other.connect(("127.0.0.2", port))
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30)


def test_a_port_in_use_is_told(table):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = fails(exit_codes.NOT_WRITTEN, "review", table, "--target", "kind", "--port", port)
    assert f"port {port} of this machine cannot be used" in line
    assert "--port" in line


def test_the_second_review_of_one_file_is_refused(table):
    with Journal(table.with_name("animals.decisions.csv")):
        line = fails(exit_codes.BAD_DATA, "review", table, "--target", "kind")
    assert "is open in another review" in line


@pytest.mark.parametrize(
    ("what", "code", "message"),
    [
        ("-", exit_codes.USAGE, "standard input cannot be reviewed; decisions need a file"),
        (".", exit_codes.USAGE, "List its worst rows with `granulearn audit . -o FILE`"),
        ("missing.csv", exit_codes.NOT_WRITTEN, "missing.csv is not a file; check the path"),
    ],
)
def test_what_is_no_file_cannot_be_reviewed(tmp_path, monkeypatch, what, code, message):
    monkeypatch.chdir(tmp_path)
    assert message in fails(code, "review", what, "--target", "kind")


def test_columns_that_are_not_there_are_named(table):
    (line,) = fails_with(exit_codes.BAD_DATA, "review", table, "-t", "kind", "--keep", "nam")
    assert "There is no column 'nam' (--keep); did you mean one of ['name']" in line
    (line,) = fails_with(exit_codes.BAD_DATA, "review", table, "-t", "knd")
    assert "There is no column 'knd' (--target)" in line
    assert not table.with_name("animals.decisions.csv").exists()


def test_decisions_about_another_table_are_refused(table, tmp_path):
    other = tmp_path / "other.csv"
    animals(seed=1)[0].to_csv(other, index=False)
    with Review(table, "kind") as review:
        review.decide(1, "keep")
        journal = review.journal.path
    line = fails(exit_codes.BAD_DATA, "review", other, "-t", "kind", "--decisions", journal)
    assert "made for other cells in 1 of 1 rows (row 1); the decisions belong to another" in line


def test_an_unknown_class_in_the_file_is_told_with_its_line(table, tmp_path):
    with Review(table, "kind") as review:
        review.decide(1, "change", next(c for c in review.classes if c != _kind(table)))
        journal = review.journal.path
    text = journal.read_text()
    journal.write_text(re.sub(r",change,\w+,", ",change,cow,", text))
    line = fails(exit_codes.BAD_DATA, "review", table, "--target", "kind")
    assert "line 2: 'cow' is no class of the table; the classes are cat, dog, emu" in line


def _kind(table):
    return table.read_text().splitlines()[1].rsplit(",", 1)[1]


def test_a_folder_that_is_not_there_is_told(table, tmp_path):
    line = fails(
        exit_codes.NOT_WRITTEN, "review", table, "-t", "kind", "--decisions", tmp_path / "no/d.csv"
    )
    assert "no such file or directory; check the path and the rights" in line
