"""`granulearn datasets`."""

import numpy as np
import pandas as pd
import pytest

from granulearn.cli import exit_codes
from granulearn.datasets import list_datasets, load
from tests.cli.commands import fails, succeeds


def test_every_set_is_listed():
    shown = succeeds("datasets").out
    assert all(name in shown for name in ("iris", "two_moons", "bank"))
    listed = succeeds("datasets", "--json").json
    assert list(listed) == list(list_datasets().index)
    assert listed["iris"]["rows"] == 150
    assert listed["iris"]["here"] == "sklearn:iris"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_an_exported_set_is_the_set(tmp_path, suffix):
    path = tmp_path / f"wine.{suffix}"
    report = succeeds("datasets", "export", "wine", "-o", path, "--json").json
    assert (report["rows"], report["target"]) == (178, "target")
    frame = (
        pd.read_parquet(path)
        if suffix == "parquet"
        else pd.read_csv(path, sep="\t" if suffix == "tsv" else ",")
    )
    wine = load("wine")
    np.testing.assert_array_equal(frame.drop(columns="target").to_numpy(), wine.X.to_numpy())
    assert frame["target"].tolist() == wine.y.tolist()


def test_the_column_of_labels_can_be_named(tmp_path):
    shown = succeeds("datasets", "export", "iris", "-o", tmp_path / "i.csv", "-t", "kind").out
    assert "150 rows, 4 features, 3 classes" in shown
    assert list(pd.read_csv(tmp_path / "i.csv").columns)[-1] == "kind"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["irsi", "-o", "x.csv"], exit_codes.BAD_DATA, "did you mean 'iris'"),
        (["zzzzzz", "-o", "x.csv"], exit_codes.BAD_DATA, "see `granulearn datasets`."),
        (["bank", "-o", "x.csv"], exit_codes.BAD_DATA, "pass --data-dir or set the environment"),
        (["iris", "-o", "x.xlsx"], exit_codes.USAGE, "ends in '.xlsx'"),
        (["two_moons", "-o", "x.csv", "-t", "x1"], exit_codes.USAGE, "has a feature 'x1'"),
        (["iris", "-o", "no/x.csv"], exit_codes.NOT_WRITTEN, "does not exist"),
    ],
)
def test_what_cannot_be_exported_says_why(tmp_path, monkeypatch, arguments, code, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRANULEARN_DATA", raising=False)
    assert said in fails(code, "datasets", "export", *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["before the verb", "after the verb"])
def test_options_hold_before_and_after_the_verb(tmp_path, place):
    path, options = tmp_path / "x.csv", ["--data-dir", str(tmp_path), "--json"]
    export = ["export", "iris", "-o", str(path)]
    verb = [*options, *export] if place == "before the verb" else [*export, *options]
    line = fails(exit_codes.NOT_WRITTEN, "datasets", *verb)
    assert "has no manifest.csv" in line  # so it was looked at
    verb = ["--json", *export] if place == "before the verb" else [*export, "--json"]
    assert succeeds("datasets", *verb).json["rows"] == 150


@pytest.mark.parametrize(
    ("folder", "said"), [("none", "is not a directory"), (".", "has no manifest.csv")]
)
def test_a_directory_of_the_environment_that_holds_nothing_is_told(
    tmp_path, monkeypatch, folder, said
):
    monkeypatch.setenv("GRANULEARN_DATA", str(tmp_path / folder))
    done = succeeds("datasets", "--json")
    (line,) = done.err.splitlines()
    assert line.startswith("granulearn: note: GRANULEARN_DATA=")
    assert said in line
    assert "iris" in done.json
