"""Several annotators on the command line: audit, fit and correct take the consensus."""

import html
import json
import re
import shlex
import signal
import urllib.request

import numpy as np
import pandas as pd
import pytest

from granulearn.cli import exit_codes
from granulearn.models import load_model
from tests.cli.commands import fails, succeeds
from tests.cli.test_review import post, reviewing

READERS = ("--annotators", "reader *")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the same labels in columns of a table, and in a file of their own."""
    folder, rng, n = tmp_path_factory.mktemp("annotators"), np.random.default_rng(0), 240
    z = rng.integers(2, size=n)
    inputs = pd.DataFrame({"patient": [f"p{i}" for i in range(n)]})
    inputs["dose"], inputs["age"] = rng.normal(2.5 * z).round(3), rng.normal(z).round(3)
    labels = {}
    for name, accuracy in {"reader 1": 0.95, "reader 2": 0.8, "reader 3": 0.6}.items():
        given = np.where(rng.random(n) < accuracy, z, 1 - z)
        # Two spellings of a class; empty where the reader was not asked.
        spelt = np.where(given, rng.choice(["ill", "Ill "], n, p=[0.8, 0.2]), "well")
        labels[name] = np.where(rng.random(n) < 0.7, spelt, "")
    wide = inputs.assign(**labels)
    wide.to_csv(folder / "wide.csv", index=False)
    inputs.to_csv(folder / "inputs.csv", index=False)
    long = wide.melt("patient", list(labels), "who", "label").sample(frac=1, random_state=0)
    long[long["label"] != ""].to_csv(folder / "long.csv", index=False)
    pd.DataFrame({"z": np.where(z, "ill", "well")}).to_csv(folder / "truth.csv", index=False)
    return folder


def truth(folder):
    return pd.read_csv(folder / "truth.csv")["z"].to_numpy()


@pytest.fixture(scope="module")
def audited(folder):
    """Return what an audit of the columns printed, with its list and its page."""
    asked = ("-o", folder / "listed.csv", "--report", folder / "audit.html")
    return succeeds("audit", folder / "wide.csv", *READERS, *asked)


def test_the_list_has_a_row_for_each_row_and_a_consensus_near_the_truth(folder, audited):
    listed = pd.read_csv(folder / "listed.csv").sort_values("row")
    assert listed["row"].tolist() == [*range(1, 241)]
    assert (listed["given_label"].to_numpy() == truth(folder)).mean() > 0.93
    assert set(listed["source"]) == {"annotators", "inputs"}
    assert (listed["n_annotations"] == 0).sum() == (listed["source"] == "inputs").sum() > 0


def test_the_commands_of_the_page_name_the_annotators(folder, tmp_path, monkeypatch):
    page, given = tmp_path / "long.html", ("--annotations", folder / "long.csv")
    asked = (*given, "--row", "patient", "--annotator", "who")
    succeeds("audit", folder / "inputs.csv", *asked, "--report", page)
    content = page.read_text(encoding="utf-8")
    assert "Audit of the consensus of 3 annotators of" in content
    review, correct = map(html.unescape, re.findall("<code>(.*?)</code>", content))
    named = "inputs.csv --annotations long.csv --row patient --annotator who"
    assert review == f"granulearn review {named}"
    monkeypatch.chdir(folder)
    (folder / "inputs.decisions.csv").write_text("row,decision,new_label\n1,change,ill\n")
    succeeds(*shlex.split(correct)[1:])
    (folder / "inputs.decisions.csv").unlink()
    assert pd.read_csv(folder / "inputs.clean.csv")["consensus"][0] == "ill"


def test_annotators_and_whom_to_ask_are_printed(audited):
    shown = " ".join(audited.out.split())
    assert "3 annotators" in shown
    assert "agreement of annotators: alpha 0." in shown
    assert "ask one more annotator about rows" in shown
    assert "ask an expert about rows" in shown


def test_json_has_annotators_agreement_and_next_rows(folder):
    facts = succeeds("audit", folder / "wide.csv", *READERS, "--json").json
    accuracies = {one["annotator"]: one["accuracy"] for one in facts["annotators"]}
    assert sorted(accuracies, key=accuracies.get) == ["reader 3", "reader 2", "reader 1"]
    assert 0 < facts["agreement"]["low"] < facts["agreement"]["alpha"] < 1
    assert len(facts["next_to_label"]["expert"]) == 10
    dropped = [c["name"] for c in facts["table"]["columns"] if c["dropped"] == "asked"]
    assert dropped == ["reader 1", "reader 2", "reader 3"]


def test_labels_in_a_file_of_their_own_are_the_same(folder, audited):
    asked = ("--annotations", folder / "long.csv", "--row", "patient", "--annotator", "who")
    succeeds("audit", folder / "inputs.csv", *asked, "-o", folder / "from_long.csv")
    columns = ["row", "given_label", "error_probability", "n_annotations"]
    both = (pd.read_csv(folder / name)[columns] for name in ("listed.csv", "from_long.csv"))
    first, second = (table.sort_values("row", ignore_index=True) for table in both)
    pd.testing.assert_frame_equal(first, second, atol=1e-4)


def test_the_page_has_the_annotators_their_confusions_and_the_rows(folder, audited):
    text = (folder / "audit.html").read_text(encoding="utf-8")
    assert "3 annotators" in text
    assert "Confusion of reader 1" in text
    assert "granulearn review wide.csv --annotators" in text


def test_correct_adds_a_column_and_changes_no_other(folder, audited):
    listed = pd.read_csv(folder / "listed.csv", dtype={"decision": object, "new_label": object})
    first = listed.loc[0]
    new = {"ill": "well", "well": "ill"}[first["given_label"]]
    listed.loc[0, ["decision", "new_label"]] = ["change", new]
    listed.loc[1, "decision"] = "exclude"
    listed.to_csv(folder / "decided.csv", index=False)
    asked = ("--decisions", folder / "decided.csv", "--drop-excluded", "-o", folder / "out.csv")
    succeeds("correct", folder / "wide.csv", *READERS, *asked)
    before = pd.read_csv(folder / "wide.csv", dtype=str)
    after = pd.read_csv(folder / "out.csv", dtype=str)
    kept = before.drop(index=listed.loc[1, "row"] - 1).reset_index(drop=True)
    pd.testing.assert_frame_equal(after[before.columns], kept)
    consensus = after.set_index("patient")["consensus"]
    assert consensus[f"p{first['row'] - 1}"] == new
    assert set(consensus) == {"ill", "well"}


def test_fit_learns_the_consensus_from_the_inputs_alone(folder):
    done = succeeds("fit", folder / "wide.csv", *READERS, "-o", folder / "m.granulearn")
    assert "scores compare with the consensus" in done.err
    model = load_model(folder / "m.granulearn")
    predicted = model.predict(pd.read_csv(folder / "inputs.csv"))
    assert (np.asarray(predicted) == truth(folder)).mean() > 0.85


def test_verified_decisions_teach_the_audit(folder, audited):
    listed = pd.read_csv(folder / "listed.csv", dtype={"decision": object})
    listed.loc[:4, "decision"] = "keep"
    listed.to_csv(folder / "kept.csv", index=False)
    asked = ("--decisions", folder / "kept.csv", "-o", folder / "again.csv")
    succeeds("audit", folder / "wide.csv", *READERS, *asked)
    again = pd.read_csv(folder / "again.csv").set_index("row")
    rows = listed.loc[:4, "row"]
    assert (again.loc[rows, "source"] == "verified").all()
    assert again.loc[rows, "given_label"].tolist() == listed.loc[:4, "given_label"].tolist()


@pytest.mark.slow
def test_a_review_names_the_next_command_and_its_decisions_go_into_consensus_and_model(folder):
    given = ("--annotations", folder / "long.csv", "--row", "patient", "--annotator", "who")
    journal = folder / "reviewed.csv"
    asked = (*given, "--anonymous", "--decisions", journal)
    with reviewing(folder / "inputs.csv", *asked) as (process, address):
        with urllib.request.urlopen(address + "queue?n=2", timeout=30) as answer:
            first, second = json.loads(answer.read())["rows"]
        with urllib.request.urlopen(address + f"card/{first['row']}", timeout=30) as answer:
            html = json.loads(answer.read())["html"]
        assert "annotator " in html
        assert "reader " not in html
        sent = {"revision": 0, "decision": "change"}
        post(address, "decide", {**sent, "row": first["row"], "action": "a-test-1"})
        new = {**sent, "row": second["row"], "action": "a-test-2", "label": "odd"}
        post(address, "decide", {**new, "new_class": True})
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    command = out.partition("next: granulearn ")[2].split()
    out_csv = folder / "reviewed.clean.csv"
    succeeds(*command[:-1], out_csv)
    consensus = pd.read_csv(out_csv)["consensus"]
    assert consensus[first["row"] - 1] == first["second_class"]
    assert consensus[second["row"] - 1] == "odd"
    assert len(consensus) == 240
    to_fit = (*given, "--decisions", journal, "-o", folder / "reviewed.granulearn")
    fitted = succeeds("fit", folder / "inputs.csv", *to_fit)
    assert "1 row left out" in fitted.out


def test_anonymous_is_for_annotators(folder):
    asked = ("-t", "dose", "--anonymous")
    assert "--anonymous" in fails(exit_codes.USAGE, "review", folder / "wide.csv", *asked)


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (exit_codes.USAGE, [], "name the column of labels by --target"),
        (exit_codes.USAGE, [*READERS, "-t", "dose"], "--target does not go with annotators"),
        (exit_codes.USAGE, [*READERS, "--verify", "5"], "--verify does not go with annotators"),
        (exit_codes.BAD_DATA, ["--annotators", "doctor*"], "no column fits 'doctor*'"),
        (exit_codes.BAD_DATA, ["--annotators", "dose"], "Column 'dose'"),
    ],
)
def test_options_that_cannot_be_are_refused(folder, code, arguments, message):
    assert message in fails(code, "audit", folder / "wide.csv", *arguments)


def test_labels_of_unknown_rows_are_refused(folder):
    long = folder / "unknown.csv"
    long.write_text("patient,who,label\np0,a,ill\np999,a,well\n")
    asked = ("--annotations", long, "--row", "patient", "--annotator", "who")
    line = fails(exit_codes.BAD_DATA, "audit", folder / "inputs.csv", *asked)
    assert "1 labels are of rows that" in line
    assert "'p999'" in line


def test_a_second_label_by_one_annotator_and_other_outputs_are_refused(folder):
    long = folder / "twice.csv"
    long.write_text("patient,who,label\np0,a,ill\np0,a,well\np1,a,well\n")
    asked = ("--annotations", long, "--row", "patient", "--annotator", "who")
    line = fails(exit_codes.BAD_DATA, "audit", folder / "inputs.csv", *asked)
    assert "1 labels are a second one by the same annotator" in line
    assert "by 'a' on row 'p0'" in line
    long.write_text("row,annotator,label\n5,a,ill\n5,a,well\n1,a,well\n")
    line = fails(exit_codes.BAD_DATA, "audit", folder / "inputs.csv", "--annotations", long)
    assert "by 'a' on row '5'" in line
    line = fails(exit_codes.USAGE, "correct", folder / "wide.csv", *READERS, "-o", "out.xlsx")
    assert "'.xlsx'" in line
