"""`granulearn predict`: the rows of training are read as training read them."""

import csv
import pickle
import sys

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from granulearn.cli import exit_codes
from granulearn.models import load_model
from granulearn.tables import open_table, read_training_table
from tests.cli.commands import fails, fails_with, people, read_exactly, succeeds
from tests.warm_processes import Command


@pytest.fixture(name="predict")
def make_predict(fitted, tmp_path):
    """Return a function that writes a table, predicts it, and returns the answers."""
    _, model = fitted

    def predict(frame, *options, name="new.csv"):
        if name.endswith("csv"):
            frame.to_csv(tmp_path / name, index=False)
        else:
            frame.to_parquet(tmp_path / name)
        done = succeeds("predict", model, tmp_path / name, "-o", tmp_path / "out.csv", *options)
        return pd.read_csv(tmp_path / "out.csv"), done

    return predict


def test_predictions_are_those_of_the_pipeline_in_python(fitted, tmp_path):
    table, model = fitted
    succeeds("predict", model, table, "-o", tmp_path / "out.csv", "--proba")
    answers = read_exactly(tmp_path / "out.csv")
    pipeline = load_model(model).pipeline
    X = read_training_table(open_table(table), "label").X
    assert answers["prediction"].tolist() == pipeline.predict(X).tolist()
    written = answers[["probability_no", "probability_yes"]].to_numpy()
    assert_allclose(written, pipeline.predict_proba(X), rtol=1e-15)


def test_the_order_of_columns_and_further_columns_change_nothing(predict):
    frame = people(50, seed=2)
    first, _ = predict(frame)
    shuffled = frame[["label", "città", "age", "income"]].assign(more=1, **{"": 2})
    shuffled.columns = ["label", "città", "age", "income", "more", "even more"]
    second, done = predict(shuffled, "--json")
    assert first.equals(second)
    assert done.json["ignored_columns"] == ["label", "more", "even more"]
    assert done.json["rows"] == 50
    assert sum(done.json["predicted"].values()) == 50


def test_csv_and_parquet_give_the_same(predict, fitted, tmp_path):
    frame = people(50, seed=2)
    first, _ = predict(frame)
    second, _ = predict(frame, name="new.parquet")
    assert first.equals(second)
    _, model = fitted
    succeeds("predict", model, tmp_path / "new.csv", "-o", tmp_path / "out.parquet")
    assert first.equals(pd.read_parquet(tmp_path / "out.parquet"))


def test_columns_can_be_copied_along(predict):
    frame = people(20).assign(id=[f'row "{i}", of 20' for i in range(20)])
    answers, _ = predict(frame, "--keep", "id", "--keep", "age")
    assert answers["id"].tolist() == frame["id"].tolist()
    assert list(answers.columns) == ["id", "age", "prediction"]


def test_a_new_category_is_predicted_and_told_with_its_line(predict, fitted, tmp_path):
    frame = people(30, seed=3)
    frame.loc[[4, 6], "città"] = ["Paris", "Wien"]
    answers, done = predict(frame)
    assert len(answers) == 30
    assert "column 'città': 2 cells hold 2 categories that training did not have" in done.err
    assert "first 'Paris' at line 6" in done.err
    _, model = fitted
    line = fails(
        exit_codes.BAD_DATA,
        "predict", model, tmp_path / "new.csv", "-o", tmp_path / "strict.csv", "--strict",
    )  # fmt: skip
    assert "line 6: column 'città' holds 'Paris'" in line
    assert not (tmp_path / "strict.csv").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("age,income,città\n", "has a header but no data rows"),
        ("age,city\n1,x\n", "lacks 2 of the 3 columns"),
        ("age,city\n1,x\n", "trained on: 'income', 'città'; it has 'city' instead"),
        ("age,income,città\n1,2,Graz\nold,3,Lyon\n", "column 'age' held numbers in training"),
        ("age,income,città\n1,2,Graz\nold,3,Lyon\n", "1 of 2 cells do not: 'old' at line 3"),
        ("age,income,città\n1,2,Graz\n1,inf,Lyon\n", "1 of 2 cells do not: 'inf' at line 3"),
        ('age,income,città\n1,2,"Graz\n2,3,Lyon\n', "line 2: a quotation mark is not closed"),
        ("age,income,città\n1,2,Graz,4\n", "not 3 cells as the header has: line 2 (4 cells)"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit_are_named_by_line_or_column(fitted, tmp_path, text, said):
    _, model = fitted
    (tmp_path / "new.csv").write_text(text, encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    output = tmp_path / "out.csv"
    assert said in fails(exit_codes.BAD_DATA, "predict", model, tmp_path / "new.csv", "-o", output)
    assert sorted(tmp_path.iterdir()) == before


def test_of_two_columns_with_one_name_the_first_is_used_and_it_is_said(predict, tmp_path, fitted):
    frame = people(20)
    expected, _ = predict(frame)
    twice = frame.assign(again=-1.0).rename(columns={"again": "age"})
    answers, done = predict(twice)
    assert answers.equals(expected)
    assert "columns 1 and 5 are both named 'age'; the second is called 'age (2)'" in done.err


def test_what_the_reader_decided_is_noted(fitted, tmp_path):
    _, model = fitted
    places = {"Graz": "Vöcklabrück", "Lyon": "Nîmes", "Ōsaka": "Köln"}
    text = people(40).replace({"città": places}).to_csv(index=False)
    (tmp_path / "new.csv").write_bytes(text.encode("cp1252"))
    command = ["predict", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv"]
    assert "note: the text is in cp1252" in succeeds(*command).err
    assert "cp1252" not in succeeds(*command, "--encoding", "cp1252").err


@pytest.fixture(name="dirty")
def make_dirty(tmp_path):
    """Return a function that writes 400 rows, some with a cell that is no number."""

    def dirty(**misfits):
        frame = people(400, seed=4).astype({"age": object, "income": object})
        for name, n_cells in misfits.items():
            frame.loc[frame.index[7 : 7 + n_cells], name] = "n.b."
        frame.to_csv(tmp_path / "dirty.csv", index=False)
        return tmp_path / "dirty.csv"

    return dirty


def test_a_few_cells_of_another_form_count_as_missing_and_are_noted(dirty, fitted, tmp_path):
    _, model = fitted
    table = dirty(age=3, income=1)
    done = succeeds("predict", model, table, "-o", tmp_path / "out.csv", "--proba", "--json")
    assert done.json["misfits"] == {"age": 3, "income": 1}
    assert done.err.splitlines() == [
        "granulearn: note: column 'age': 3 cells do not hold numbers, as in training, and count as "
        "missing: 'n.b.' at line 9, 'n.b.' at line 10, 'n.b.' at line 11.",
        "granulearn: note: column 'income': 1 cell does not hold numbers, as in training, and "
        "counts as missing: 'n.b.' at line 9.",
    ]
    table.write_text(table.read_text(encoding="utf-8").replace("n.b.", ""), encoding="utf-8")
    succeeds("predict", model, table, "-o", tmp_path / "empty.csv", "--proba")
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "empty.csv").read_text()


def test_more_cells_of_another_form_are_refused_column_by_column(dirty, fitted, tmp_path):
    _, model = fitted
    output = tmp_path / "out.csv"
    command = ["predict", model, dirty(age=9, income=5), "-o", output]
    of_age, of_income = fails_with(exit_codes.BAD_DATA, *command)
    assert "column 'age' held numbers in training, but here 9 of 400 cells do not" in of_age
    assert "'n.b.' at line 9, 'n.b.' at line 10" in of_age
    assert "column 'income'" in of_income
    assert not output.exists()


def test_strict_refuses_the_first_cell_of_another_form(dirty, fitted, tmp_path):
    _, model = fitted
    command = ["predict", model, dirty(age=1), "-o", tmp_path / "out.csv", "--strict"]
    line = fails(exit_codes.BAD_DATA, *command)
    assert "line 9: column 'age' held numbers in training, but here it holds 'n.b.'" in line
    assert not (tmp_path / "out.csv").exists()


def test_an_error_deep_in_the_file_leaves_the_old_output(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("granulearn.tables.io.text.CHUNK_BYTES", 4096)
    _, model = fitted
    people(3000).to_csv(tmp_path / "new.csv", index=False)
    with (tmp_path / "new.csv").open("a") as file:
        file.write("not a number,1,Graz,yes\n")
    (tmp_path / "out.csv").write_text("yesterday's")
    line = fails(
        exit_codes.BAD_DATA,
        "predict", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--strict",
    )  # fmt: skip
    assert "line 3002: column 'age'" in line
    assert (tmp_path / "out.csv").read_text() == "yesterday's"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "out.csv"]


def test_a_pickle_in_place_of_a_model_is_refused(fitted, tmp_path):
    table, _ = fitted
    (tmp_path / "m.skops").write_bytes(pickle.dumps({"a": 1}))
    line = fails(
        exit_codes.BAD_MODEL, "predict", tmp_path / "m.skops", table, "-o", tmp_path / "out.csv"
    )
    assert "looks like a pickle, which is never loaded" in line


def test_inputs_are_never_overwritten(fitted):
    table, model = fitted
    line = fails(exit_codes.USAGE, "predict", model, table, "-o", table)
    assert "is also an input" in line


def test_an_output_of_an_unknown_kind_is_named(fitted, tmp_path):
    table, model = fitted
    line = fails(exit_codes.USAGE, "predict", model, table, "-o", tmp_path / "out.xlsx")
    assert "ends in '.xlsx'" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("output", "code", "said"),
    [
        ("out.xlsx", exit_codes.USAGE, "ends in '.xlsx'"),
        ("none/out.csv", exit_codes.NOT_WRITTEN, "none does not exist"),
        ("folder.csv", exit_codes.NOT_WRITTEN, "is a folder"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_any_work(
    fitted, tmp_path, monkeypatch, output, code, said
):
    table, model = fitted
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.setattr("granulearn.models.load_model", None)  # calling it would fail
    line = fails(code, "predict", model, table, "-o", tmp_path / output)
    assert said in line
    assert ".part" not in line


@pytest.mark.parametrize(
    ("name", "options"),
    [("prediction", []), ("probability_yes", ["--proba"])],
    ids=["prediction", "probability"],
)
def test_a_kept_column_is_never_replaced_by_what_is_predicted(fitted, tmp_path, name, options):
    _, model = fitted
    people(20).rename(columns={"label": name}).to_csv(tmp_path / "new.csv", index=False)
    command = ["predict", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--keep", name]
    line = fails(exit_codes.USAGE, *command, *options)
    assert f"--keep {name}: the output has a column of that name already" in line
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the size of files cannot be limited")
def test_a_full_disk_is_told_with_the_file_asked_for(fitted, tmp_path):
    _, model = fitted
    people(3000).to_csv(tmp_path / "new.csv", index=False)
    process = Command("predict", model, "new.csv", "-o", "out.csv", cwd=tmp_path, largest=4096)
    _, said = process.communicate()
    assert process.returncode == exit_codes.NOT_WRITTEN
    assert said == ("granulearn: error: out.csv: file too large; make room, or write elsewhere.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


def test_labels_that_need_quotes_get_them(tmp_path):
    frame = people(60)
    frame["label"] = frame["label"].map({"yes": 'yes, "sure"', "no": "no\nway"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.skops"
    succeeds("fit", tmp_path / "t.csv", "-t", "label", "-o", model)
    succeeds("predict", model, tmp_path / "t.csv", "-o", tmp_path / "out.csv", "--proba")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.reader(file, strict=True))
    assert rows[0] == ["prediction", "probability_no\nway", 'probability_yes, "sure"']
    assert {row[0] for row in rows[1:]} == {'yes, "sure"', "no\nway"}


def test_one_row_is_said_in_the_singular(fitted, tmp_path):
    _, model = fitted
    people(1).to_csv(tmp_path / "one.csv", index=False)
    done = succeeds("predict", model, tmp_path / "one.csv", "-o", tmp_path / "out.csv")
    assert done.out.startswith("1 row predicted (")
