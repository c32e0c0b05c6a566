"""`granulearn fit`."""

import json

import numpy as np
import pandas as pd
import pytest

from granulearn import TableClassifier
from granulearn.cli import exit_codes
from granulearn.models import load_model
from tests.cli.commands import fails, people, succeeds, write_people


def test_prints_what_the_card_holds(tmp_path):
    frame, model = people(), tmp_path / "m[b].granulearn"
    frame.loc[frame["age"].nlargest(2).index, "label"] = "no"  # the oldest say yes
    frame = frame.replace({"label": {"no": "[low]", "yes": "[/high]"}})
    frame.loc[[3, 5, 8], "label"] = None
    frame.to_csv(tmp_path / "da[a]ta.csv", index=False)
    done = succeeds("fit", tmp_path / "da[a]ta.csv", "--target", "label", "-o", model)
    shown, card = done.out, load_model(model).card
    assert "da[a]ta.csv: 117 rows, 3 features (2 numbers, 1 category), 2 classes" in shown
    assert "3 rows have no label in 'label' (3 empty)" in done.err
    assert (card.model, card.dropped_rows) == ("robust", 3)
    assert f"C={card.chosen['C']}" in shown
    assert f"{card.doubted_labels} of these labels" in shown
    held_out, across = card.scores["held_out"], card.scores["cross_validated"]
    assert f"{held_out['accuracy']:.3f}" in shown
    assert f"{across['macro F1']['mean']:.3f} ± {across['macro F1']['std']:.3f}" in shown
    lines = [line.split() for line in shown.splitlines()]
    for label, counts in zip(("[/high]", "[low]"), held_out["confusion"]["counts"], strict=True):
        assert [label, *map(str, counts)] in lines
    assert "m[b].granulearn" in shown


def test_json_is_the_card_that_is_in_the_file(tmp_path):
    table, model = write_people(tmp_path), tmp_path / "m.granulearn"
    options = ["-t", "label", "-o", model, "--json", "--seed", "4", "-m", "gb-rvfl"]
    printed = succeeds("fit", table, *options).json
    card = load_model(model).card
    assert printed.pop("file") == str(model)
    assert printed.pop("table") == succeeds("check", table, "-t", "label", "--json").json
    stored = json.loads(json.dumps(card.to_json() | {"columns": printed["columns"]}))
    assert printed == stored
    assert (printed["seed"], printed["balls"]) == (4, card.balls)
    assert [column["name"] for column in printed["columns"]] == ["age", "income", "città"]


def test_tune_searches_or_says_that_there_is_nothing_to_search(tmp_path, monkeypatch):
    table, model = write_people(tmp_path), tmp_path / "m.granulearn"
    fit = ["fit", table, "-t", "label", "-o", model]
    tuned = succeeds(*fit, "--model", "ball-knn", "--tune")
    assert tuned.err == (
        "granulearn: note: ball-knn has no grid to search, so --tune changes nothing.\n"
    )
    monkeypatch.setattr(
        "granulearn.training.training.search_grid", lambda name: {"model__C": [1e-9, 8.0]}
    )
    assert "C=8.0" in succeeds(*fit, "--model", "sdap-gbrvfl", "--tune").out


def test_many_classes_have_no_matrix(tmp_path):
    frame = people(600)
    options = ["-t", "label", "-m", "rvfl", "-o", tmp_path / "m.granulearn"]
    for n_classes, said in ((15, "confusion matrix of 15 classes: see --json"), (150, "saved")):
        frame["label"] = [f"class {i % n_classes}" for i in range(600)]
        frame.to_csv(tmp_path / "t.csv", index=False)
        assert said in succeeds("fit", tmp_path / "t.csv", *options).out


def test_a_rare_class_is_named_with_the_option_that_helps(tmp_path):
    frame, table = people(400), tmp_path / "t.csv"
    rare = frame["label"].eq("yes") & (np.arange(400) % 20 > 0)
    frame[~rare].to_csv(table, index=False)
    fit = ["fit", table, "-t", "label", "-m", "ball-forest", "--test", 0, "-o"]
    plain, balanced = tmp_path / "plain.granulearn", tmp_path / "balanced.granulearn"
    card = succeeds(*fit, plain, "--json").json
    line = f"class yes is rare ({card['classes']['yes']} samples): --class-cost balanced"
    assert line in succeeds(*fit, plain).out
    said = succeeds(*fit, balanced, "--class-cost", "balanced").out
    assert "is rare" not in said
    assert "class_cost=balanced" in said
    assert load_model(balanced).card.parameters["class_cost"] == "balanced"
    found = {}
    for name, options in ((plain, []), (balanced, []), (balanced, ["--proba"])):
        out = tmp_path / "out.csv"
        succeeds("predict", name, table, "-o", out, *options)
        found[name, *options] = pd.read_csv(out)["prediction"].tolist()
    assert found[balanced,] == found[balanced, "--proba"]
    assert found[balanced,].count("yes") > found[plain,].count("yes")
    in_python = TableClassifier("ball-forest", class_cost="balanced", random_state=0)
    assert in_python.fit(table, "label").predict(table).tolist() == found[balanced,]
    line = fails(exit_codes.USAGE, *fit, plain, "-m", "rvfl", "--class-cost", "balanced")
    assert "--class-cost is not for --model rvfl; use robust, ball-forest, " in line


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--tune"], exit_codes.USAGE, "--tune needs the whole table in memory"),
        (["--decisions", "d"], exit_codes.USAGE, "--decisions needs the whole table in memory"),
        (["-m", "rvfl", "--dask", "tcp://127.0.0.1:1"], exit_codes.NO_CLUSTER, "no Dask scheduler"),
    ],
)
def test_what_cannot_be_fitted_in_parts_is_refused_in_one_line(
    tmp_path, monkeypatch, options, code, said
):
    monkeypatch.setattr("granulearn.dask.cluster.CONNECT_SECONDS", 0.5)
    people().to_parquet(tmp_path / "t.parquet")
    output = tmp_path / "m.granulearn"
    assert said in fails(code, "fit", tmp_path, "-t", "label", "-o", output, *options)


def test_decisions_are_learned_from_and_scored_before_and_after(tmp_path):
    frame, table, model = people(200), tmp_path / "t.csv", tmp_path / "m.granulearn"
    truth = frame["label"].copy()
    wrong = np.random.default_rng(0).random(200) < 0.2
    frame.loc[wrong, "label"] = truth[wrong].map({"yes": "no", "no": "yes"})
    frame.to_csv(table, index=False)
    rows = [f"{row + 1},{'change' if wrong[row] else 'keep'},{truth[row]}" for row in range(80)]
    said, n_changed = tmp_path / "d.csv", int(wrong[:80].sum())
    said.write_text("\n".join(["row,decision,new_label", *rows, "81,exclude,", ""]))
    options = ["-t", "label", "-o", model, "-m", "rvfl", "--decisions", said]
    shown = succeeds("fit", table, *options).out
    verified = load_model(model).card.scores["verified"]
    assert "t.csv: 199 rows" in shown
    assert f"decisions: {n_changed} labels changed, {80 - n_changed} confirmed, 1 row left" in shown
    assert (
        f"accuracy on 80 verified rows: {verified['given']:.3f} with the given labels, "
        f"{verified['corrected']:.3f} with the corrected ones; the "
    ) in shown
    model.unlink()
    said.write_text("row,decision,new_label\n1,change,maybe\n")
    line = fails(exit_codes.BAD_DATA, "fit", table, *options)
    assert "'maybe' is no class of the table; the classes are no, yes." in line
    assert not model.exists()
