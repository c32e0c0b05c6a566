"""`granulearn audit --verify`: labels are asked for here, and the numbers rest on the answers."""

import io
import os
import pty
import subprocess
import sys
import termios
import time

import numpy as np
import pandas as pd
import pytest

from granulearn.cli import exit_codes
from tests.cli.commands import COMMAND, fails, granulearn, people, succeeds


@pytest.fixture
def table(tmp_path):
    """Return a table of three classes, one label of which is wrong."""
    frame = people(150)
    frame.loc[frame["age"] > 75, "label"] = "old"
    frame.loc[frame["label"].eq("old").idxmax(), "label"] = "no"
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def answered(table, monkeypatch):
    """Return a function that verifies labels with these answers, one a line."""

    def answered(n, *answers, options=()):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in answers)))
        return granulearn("audit", table, "-t", "label", "--verify", n, *options)

    return answered


def journal(table):
    """Return the decisions as they were written."""
    return pd.read_csv(table.with_name("people.decisions.csv"), keep_default_na=False)


def test_half_of_the_labels_are_the_most_doubtful_and_half_drawn_at_random(table, answered):
    before = succeeds("audit", table, "-t", "label", "--json").json
    summary = answered(8, *"kkkkkkkk", options=["--json"]).json["summary"]
    decided = journal(table)
    assert decided["drawn"].tolist() == ["worst", "random"] * 4
    assert decided["decision"].eq("keep").all()
    assert decided["row"].is_unique
    worst = [label["row"] for label in before["worst"]]
    rows = decided.loc[decided["drawn"] == "worst", "row"].tolist()
    assert rows == [row for row in worst if row in rows]
    assert (summary["n_verified"], summary["n_at_random"], summary["n_found"]) == (8, 4, 0)
    assert summary["basis"] == "verified labels"
    again = answered(7, *"kkkkkkk", options=["--json"]).json["summary"]
    assert (again["n_verified"], again["n_at_random"]) == (15, 7)
    assert journal(table)["row"].is_unique


def test_the_numbers_are_those_of_an_audit_with_the_same_decisions(table, answered):
    done = answered(6, *"kckcku")
    decisions = table.with_name("people.decisions.csv")
    listed = succeeds("audit", table, "-t", "label", "--decisions", decisions)
    assert done.code == 0
    assert done.out == listed.out


def test_answers_are_keys_numbers_and_names(table, answered):
    done = answered(5, "k", "c", "2", "YES", "what", "u")
    assert "'what' is no class of the table" in done.err
    decided = journal(table)
    shown = [part.splitlines()[0] for part in done.err.split(", z undo")]
    assert decided["decision"].tolist()[0] == "keep"
    assert decided["decision"].tolist()[4] == "unsure"
    label = decided["new_label"].where(decided["new_label"] != "", decided["given_label"])
    assert label[2] == "old"
    assert label[3] == "yes"
    assert label[1] != decided["given_label"][1]
    assert len(shown) == 7  # the card is shown again after an unknown answer


def test_undo_takes_back_the_last_answer_of_this_session_only(table, answered):
    answered(2, "k", "k")
    done = answered(2, "z", "c", "z", "k", "q")
    assert journal(table)["decision"].tolist() == ["keep", "keep", "change", "undo", "keep"]
    assert "1 of 2 labels decided" in done.err
    assert "0 of 3 verified labels were wrong" in " ".join(done.out.split())


@pytest.mark.parametrize("answers", [["q"], []])
def test_without_an_answer_nothing_is_written_and_the_audit_is_as_before(table, answered, answers):
    done = answered(4, *answers)
    assert "0 of 4 labels decided" in done.err
    assert not table.with_name("people.decisions.csv").exists()
    assert done.out == succeeds("audit", table, "-t", "label").out


def test_a_class_with_a_number_for_a_name_is_meant_by_its_name(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 90)
    table = tmp_path / "people.csv"
    pd.DataFrame({"x": label + rng.normal(0, 0.1, 90), "label": label}).to_csv(table, index=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n1\n"))
    succeeds("audit", table, "-t", "label", "--verify", 2)
    decided = journal(table)
    new = decided["new_label"].astype(str).where(decided["decision"] == "change")
    assert new.fillna(decided["given_label"].astype(str)).tolist() == ["1", "1"]


@pytest.mark.parametrize("name", [*"kcuzqn1", "n k"])
def test_a_class_named_like_a_key_is_meant_by_n_and_its_name(name, tmp_path, monkeypatch):
    numbers = np.random.default_rng(0).normal(0, 0.1, 90)
    label = np.array(["k", "q", name if name not in "kq" else "other"])[np.arange(90) % 3]
    table = tmp_path / "people.csv"
    x = np.arange(90) % 3 + numbers
    pd.DataFrame({"x": x, "label": label}).to_csv(table, index=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"n {name}\n" * 6))
    succeeds("audit", table, "-t", "label", "--verify", 6)
    decided = journal(table)
    assert decided["decision"].tolist() == [
        "keep" if given == name else "change" for given in decided["given_label"].astype(str)
    ]
    new = decided.loc[decided["decision"] == "change", "new_label"].astype(str)
    assert len(decided) == 6
    assert len(new) >= 1
    assert new.eq(name).all()


@pytest.mark.parametrize(
    ("options", "said"), [(["--dask", "local"], "in parts"), (["-o", "people.decisions.csv"], "")]
)
def test_what_cannot_be_verified_is_refused_in_one_line(table, monkeypatch, options, said):
    monkeypatch.chdir(table.parent)
    line = fails(exit_codes.USAGE, "audit", table.name, "-t", "label", "--verify", 4, *options)
    assert said in line


@pytest.mark.parametrize("source", ["-", "."])
def test_rows_of_standard_input_and_of_folders_cannot_be_verified(source, tmp_path, monkeypatch):
    people().to_parquet(tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    fails(exit_codes.USAGE, "audit", source, "-t", "label", "--verify", 4)


def test_an_answer_is_on_disk_before_the_next_question(table):
    with subprocess.Popen(
        [*COMMAND, "audit", str(table), "-t", "label", "--verify", "4", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"COLUMNS": "200"},
        text=True,
        bufsize=1,
    ) as process:
        for n_decided in range(3):
            while "q stop" not in process.stderr.readline():
                pass
            assert n_decided == 0 or len(journal(table)) == n_decided
            process.stdin.write("k\n")
        process.kill()
    assert len(journal(table)) >= 2


def test_a_terminal_takes_one_key_each_and_ctrl_c_keeps_the_answers(table):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "audit", str(table), "-t", "label", "--verify", "4"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    ) as process:
        os.close(theirs)
        shown = b""
        for key in (b"k", b"c", b"\x03"):
            while b"q stop" not in shown:
                shown += os.read(ours, 2**16)
            shown = b""
            while termios.tcgetattr(ours)[3] & termios.ICANON:  # what is typed before is dropped
                time.sleep(0.01)
            os.write(ours, key)
        while b"no output was written" not in shown:
            shown += os.read(ours, 2**16)
        assert process.wait(60) == exit_codes.INTERRUPTED
    os.close(ours)
    assert b"2 of 4 labels decided" in shown
    assert journal(table)["decision"].tolist() == ["keep", "change"]
