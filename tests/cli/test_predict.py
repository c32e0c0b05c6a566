"""`granulearn predict`: the rows of training are read as training read them."""

import csv
import pickle
import subprocess
import sys

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from granulearn.cli import exit_codes
from granulearn.learning.training_table import read_training_table
from granulearn.persistence import load_model
from tests.cli.commands import COMMAND, fails, people, succeeds


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
    answers = pd.read_csv(tmp_path / "out.csv", float_precision="round_trip")
    pipeline = load_model(model).pipeline
    X = read_training_table(table, "label").X
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
        ("age,income,città\n1,2,Graz\nold,3,Lyon\n", "line 3: column 'age' held numbers"),
        ("age,income,città\n1,2,Graz\nold,3,Lyon\n", "but here it holds 'old'"),
        ("age,income,città\n1,2,Graz\n1,inf,Lyon\n", "line 3: column 'income' held numbers"),
        ('age,income,città\n1,2,"Graz\n2,3,Lyon\n', "line 2: a quotation mark is not closed"),
        ("age,income,città\n1,2,Graz,4\n", "line 2: 4 cells, but the header has 3"),
        ("age,age,città\n1,2,3\n", "columns 1 and 2 are both named 'age'"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit_are_named_by_line_or_column(fitted, tmp_path, text, said):
    _, model = fitted
    (tmp_path / "new.csv").write_text(text, encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    output = tmp_path / "out.csv"
    assert said in fails(exit_codes.BAD_DATA, "predict", model, tmp_path / "new.csv", "-o", output)
    assert sorted(tmp_path.iterdir()) == before


def test_an_error_deep_in_the_file_leaves_the_old_output(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("granulearn.learning.sources._CSV_BLOCK", 4096)
    _, model = fitted
    people(3000).to_csv(tmp_path / "new.csv", index=False)
    with (tmp_path / "new.csv").open("a") as file:
        file.write("not a number,1,Graz,yes\n")
    (tmp_path / "out.csv").write_text("yesterday's")
    line = fails(
        exit_codes.BAD_DATA, "predict", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv"
    )
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
    monkeypatch.setattr("granulearn.persistence.load_model", None)  # calling it would fail
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
    import resource

    _, model = fitted
    people(3000).to_csv(tmp_path / "new.csv", index=False)
    done = subprocess.run(
        [*COMMAND, "predict", model, "new.csv", "-o", "out.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )  # fmt: skip
    assert done.returncode == exit_codes.NOT_WRITTEN
    assert done.stderr == (
        "granulearn: error: out.csv: file too large; make room, or write elsewhere.\n"
    )
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
