"""`granulearn fit`."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

from granulearn.cli import exit_codes
from granulearn.distributed import open_client
from granulearn.models import load_model
from granulearn.training.model_kinds import model_kinds
from tests.cli.commands import fails, fails_with, people, succeeds, write_people


def test_prints_scores_and_confusion_matrix(tmp_path):
    table = write_people(tmp_path)
    shown = succeeds("fit", table, "--target", "label", "-o", tmp_path / "m.skops").out
    card = load_model(tmp_path / "m.skops").card
    assert "120 rows, 3 features (2 numbers, 1 category), 2 classes" in shown
    held_out, across = card.scores["held_out"], card.scores["cross_validated"]
    assert f"{held_out['accuracy']:.3f}" in shown
    assert f"{across['macro F1']['mean']:.3f} ± {across['macro F1']['std']:.3f}" in shown
    for label, counts in zip(("no", "yes"), held_out["confusion"]["counts"], strict=True):
        assert [label, *map(str, counts)] in [line.split() for line in shown.splitlines()]


def fit_people(tmp_path, *options):
    """Return what is printed for the people with two wrong labels, and the card."""
    frame, model = people(), tmp_path / "m.skops"
    wrong = frame["age"].nlargest(2).index  # the oldest say yes
    frame.loc[wrong, "label"] = "no"
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = succeeds("fit", tmp_path / "t.csv", "-t", "label", "-o", model, "--test", 0, *options)
    return done, load_model(model).card


def test_the_robust_model_is_the_default_and_says_what_it_chose_and_doubts(tmp_path):
    done, card = fit_people(tmp_path)
    assert card.model == "robust"
    assert card.balls is None
    assert f"C={card.chosen['C']}" in done.out
    assert f"activation={card.chosen['activation']}" in done.out
    assert card.doubted_labels >= 2
    assert f"{card.doubted_labels} of these labels are doubted" in done.out


def test_models_of_balls_say_how_many_there_are(tmp_path):
    done, card = fit_people(tmp_path, "--model", "gb-rvfl")
    assert f"{card.balls} balls of {card.rows} samples" in done.out
    assert "doubted" not in done.out
    assert card.doubted_labels is None


@pytest.mark.parametrize(
    "model", [name for name, kind in model_kinds().items() if not kind.tunable]
)
def test_tune_is_no_error_for_a_model_with_nothing_to_tune(tmp_path, model):
    tuned, card = fit_people(tmp_path, "--model", model, "--tune")
    assert tuned.err == (
        f"granulearn: note: {model} has no grid to search, so --tune changes nothing.\n"
    )
    assert fit_people(tmp_path, "--model", model)[1] == card


def test_json_is_the_card_that_is_in_the_file(tmp_path):
    table, model = write_people(tmp_path), tmp_path / "m.skops"
    printed = succeeds("fit", table, "-t", "label", "-o", model, "--json", "--seed", "4").json
    card = load_model(model).card
    assert printed.pop("file") == str(model)
    assert printed.pop("table") == succeeds("check", table, "-t", "label", "--json").json
    assert printed == {**card.to_json(), "columns": printed["columns"]}
    assert printed["seed"] == 4
    assert [column["name"] for column in printed["columns"]] == ["age", "income", "città"]
    assert printed["versions"]["granulearn"]


def test_what_cannot_be_saved_is_said_before_the_table_is_read(tmp_path):
    said = fails(
        exit_codes.NOT_WRITTEN, "fit", "no.csv", "-t", "label", "-o", tmp_path / "none" / "m.skops"
    )
    assert "none does not exist; make it first" in said


def test_every_stage_of_the_work_is_told(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(
        "granulearn.cli.fit.stage_progress", lambda *, hidden: nullcontext(told.append)
    )
    table, model = write_people(tmp_path), tmp_path / "m.skops"
    succeeds("fit", table, "-t", "label", "-o", model, "-m", "gb-rvfl")
    assert told == [
        "reading people.csv",
        *(f"cross-validating, fold {fold} of 5" for fold in range(1, 6)),
        "fitting gb-rvfl to 84 rows",
        "scoring on 36 rows held out",
        "saving m.skops",
    ]


def test_labels_and_file_names_with_brackets_are_printed_as_they_are(tmp_path):
    frame = people().replace({"label": {"no": "[low]", "yes": "[/high]"}})
    table = tmp_path / "da[a]ta.csv"
    frame.to_csv(table, index=False)
    model = tmp_path / "m[b].skops"
    fitted = succeeds("fit", table, "-t", "label", "-o", model, "-m", "gb-rvfl").out
    rated = succeeds("balls", table, "-t", "label").out
    for shown in (fitted, rated):
        assert "\nda[a]ta.csv: " in shown
        assert "[low]" in shown
        assert "[/high]" in shown
    assert "m[b].skops" in fitted


def test_rows_without_a_label_are_counted(tmp_path):
    frame = people()
    frame.loc[[3, 5, 8], "label"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = succeeds("fit", tmp_path / "t.csv", "-t", "label", "-o", tmp_path / "m.skops")
    assert "117 rows, 3 features" in done.out
    assert "3 rows have no label in 'label' (3 empty)" in done.err
    assert load_model(tmp_path / "m.skops").card.dropped_rows == 3


def test_the_short_form_says_what_was_left_out_and_parsed_and_warnings_go_to_stderr(tmp_path):
    frame = people().assign(
        number=range(120),
        price=[f"{1 + k}.169,00 €" for k in range(120)],
        since=[f"{1 + k % 28:02d}.03.2021" for k in range(120)],
    )
    frame["code"] = frame["label"].map({"yes": "J", "no": "N"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ["-m", "rvfl", "-o", tmp_path / "m.skops"]
    done = succeeds("fit", tmp_path / "t.csv", "-t", "label", *options)
    assert done.out.splitlines()[:3] == [
        "left out: number (row number), code (gives the target away); --include NAME uses one all "
        "the same",
        "read as: price (numbers of €, decimal comma), since (date)",
        "missing: 7 cells (empty); granulearn check has more",
    ]
    (warning,) = done.err.splitlines()
    assert warning.startswith("granulearn: warning: Columns leak the target")


def test_all_problems_of_a_table_are_said_at_once(tmp_path):
    table, model = write_people(tmp_path), tmp_path / "m.skops"
    lines = fails_with(
        exit_codes.BAD_DATA, "fit", table, "-t", "labl", "--ignore", "agee", "--include", "x",
        "--categorical", "città", "--categorical", "cittá", "-o", model,
    )  # fmt: skip
    found = ["'labl' (--target)", "'cittá' (--categorical)", "'agee' (--ignore)", "'x' (--include)"]
    assert len(lines) == 4
    for line, name in zip(lines, found, strict=True):
        assert line.startswith(f"granulearn: error: {table}: There is no column {name}")
    assert not model.exists()


def test_a_target_of_measurements_and_no_input_are_two_problems(tmp_path):
    rows = "".join(f"{0.37 * k:.2f},x\n" for k in range(60))
    (tmp_path / "t.csv").write_text("y,constant\n" + rows)
    options = ["-t", "y", "-o", tmp_path / "m.skops"]
    target, inputs = fails_with(exit_codes.BAD_DATA, "fit", tmp_path / "t.csv", *options)
    assert "holds 60 different numbers with decimals" in target
    assert "There is no column to learn from" in inputs
    assert "--include constant" in inputs


def test_tune_searches_and_says_what_it_chose(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "granulearn.training.training.search_grid", lambda name: {"model__C": [1e-9, 8.0]}
    )
    table = write_people(tmp_path)
    options = ["--model", "sdap-gbrvfl", "--tune"]
    shown = succeeds("fit", table, "-t", "label", "-o", tmp_path / "m.skops", *options).out
    assert "C=8.0" in shown


def test_a_table_that_cannot_be_used_writes_nothing(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n1,x\n2,x\n")
    line = fails(
        exit_codes.BAD_DATA, "fit", tmp_path / "t.csv", "-t", "label", "-o", tmp_path / "m"
    )
    assert "is 'x' in every row" in line
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_the_table_is_never_overwritten(tmp_path):
    table = write_people(tmp_path)
    before = table.read_bytes()
    for verb in ("fit", "balls"):
        assert "is also an input" in fails(
            exit_codes.USAGE, verb, table, "-t", "label", "-o", table
        )
    assert table.read_bytes() == before


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    table, model = write_people(tmp_path), tmp_path / "no" / "m.skops"
    line = fails(exit_codes.NOT_WRITTEN, "fit", table, "-t", "label", "-o", model)
    assert "does not exist; make it first" in line


@pytest.mark.parametrize("n_classes", [3, 15])
def test_many_classes(tmp_path, n_classes):
    frame = people(40 * n_classes)
    frame["label"] = [f"class {i % n_classes}" for i in range(len(frame))]
    frame["hint"] = [i % n_classes for i in range(len(frame))]
    frame.to_csv(tmp_path / "t.csv", index=False)
    model, options = tmp_path / "m.skops", ["--model", "rvfl"]
    shown = succeeds("fit", tmp_path / "t.csv", "-t", "label", "-o", model, *options).out
    assert ("true \\ predicted" in shown) == (n_classes == 3)
    assert f"{n_classes} classes" in shown


def test_a_thousand_columns_with_unicode_names(tmp_path):
    names = [f"größe {i} 📏" for i in range(997)]
    wide = pd.DataFrame(np.random.default_rng(0).random((40, len(names))), columns=names)
    pd.concat([people(40), wide], axis=1).to_parquet(tmp_path / "t.parquet")
    model = tmp_path / "m.skops"
    succeeds("fit", tmp_path / "t.parquet", "-t", "label", "-o", model, "--model", "rvfl")
    succeeds("predict", model, tmp_path / "t.parquet", "-o", tmp_path / "out.csv")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 41


def test_a_directory_is_fitted_by_a_cluster_and_the_file_is_an_ordinary_one(
    tmp_path, dask_cluster, monkeypatch
):
    def connected(address, *_):
        assert address == "local"
        return open_client(dask_cluster.scheduler.address)

    monkeypatch.setattr("granulearn.distributed.open_client", connected)
    (tmp_path / "parts").mkdir()
    frame, model = people(), tmp_path / "m.skops"
    for number in range(3):
        frame[40 * number : 40 * number + 40].to_parquet(tmp_path / "parts" / f"{number}.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = succeeds("fit", tmp_path / "parts", "-t", "label", "-o", model)
    assert "120 rows, 3 features (2 numbers, 1 category), 2 classes" in done.out
    assert load_model(model).card.model == "robust"
    predicted = succeeds("predict", model, tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    assert "120 rows predicted" in predicted.out + predicted.err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["--model", "elm"],
            exit_codes.USAGE,
            "use one of robust, ball-forest, rvfl-committee, f-gbrvfl",
        ),
        (["--tune"], exit_codes.USAGE, "--tune needs the whole table in memory"),
        (["-m", "rvfl", "--dask", "tcp://127.0.0.1:1"], exit_codes.NO_CLUSTER, "no Dask scheduler"),
        (["-m", "rvfl", "--ignore", "agee"], exit_codes.BAD_DATA, "did you mean one of ['age'"),
    ],
)
def test_what_cannot_be_fitted_in_parts_is_refused_in_one_line(
    tmp_path, monkeypatch, options, code, said, warm_clusters
):
    monkeypatch.setattr("granulearn.distributed.cluster.CONNECT_SECONDS", 0.5)
    people().to_parquet(tmp_path / "t.parquet")
    assert said in fails(code, "fit", tmp_path, "-t", "label", "-o", tmp_path / "m.skops", *options)


# --- with decisions


@pytest.fixture
def decided(tmp_path):
    """Return the paths of a table with wrong labels, and of decisions about many rows."""
    frame, table = people(200), tmp_path / "t.csv"
    truth = frame["label"].copy()
    wrong = np.random.default_rng(0).random(200) < 0.2
    frame.loc[wrong, "label"] = truth[wrong].map({"yes": "no", "no": "yes"})
    frame.to_csv(table, index=False)
    rows = [f"{row + 1},{'change' if wrong[row] else 'keep'},{truth[row]}" for row in range(80)]
    said = tmp_path / "d.csv"
    said.write_text("\n".join(["row,decision,new_label", *rows, "81,exclude,", ""]))
    return table, said, int(wrong[:80].sum())


def test_decisions_are_learned_from_and_scored_before_and_after(tmp_path, decided):
    table, said, n_changed = decided
    model = tmp_path / "m.skops"
    options = ["-t", "label", "-o", model, "-m", "rvfl", "--decisions", said]
    shown = succeeds("fit", table, *options).out
    verified = load_model(model).card.scores["verified"]
    assert "t.csv: 199 rows" in shown
    assert f"decisions: {n_changed} labels changed, {80 - n_changed} confirmed, 1 row left" in shown
    assert (
        f"accuracy {verified['given']:.3f} with the given labels, {verified['corrected']:.3f} with "
        "the corrected ones, on 80 verified rows; the "
    ) in shown
    assert succeeds("fit", table, *options, "--json").json["scores"]["verified"] == verified


def test_a_list_of_a_table_whose_target_is_called_target_is_understood(tmp_path, decided):
    table, _, _ = decided
    frame = pd.read_csv(table).rename(columns={"label": "target"})
    frame.to_csv(table, index=False)
    listed = frame.assign(row=range(1, 201), decision="keep")
    listed.to_csv(tmp_path / "l.csv", index=False)
    options = ["-o", tmp_path / "m.skops", "-m", "rvfl", "--decisions", tmp_path / "l.csv"]
    assert "200 confirmed" in succeeds("fit", table, "-t", "target", *options).out


def test_decisions_are_no_output_and_need_the_table_in_memory(tmp_path, decided):
    table, said, _ = decided
    before = said.read_bytes()
    options = ["-t", "label", "--decisions", said]
    assert "is also an input" in fails(exit_codes.USAGE, "fit", table, *options, "-o", said)
    assert said.read_bytes() == before
    line = fails(exit_codes.USAGE, "fit", table, *options, "-o", tmp_path / "m", "--dask", "local")
    assert "--decisions needs the whole table in memory" in line
    assert "granulearn correct" in line


def test_decisions_of_another_table_save_no_model(tmp_path, decided):
    table, said, _ = decided
    said.write_text("row,decision,new_label\n1,change,maybe\n")
    model = tmp_path / "m.skops"
    line = fails(exit_codes.BAD_DATA, "fit", table, "-t", "label", "-o", model, "--decisions", said)
    assert "'maybe' is no class of the table; the classes are no, yes." in line
    assert not model.exists()
