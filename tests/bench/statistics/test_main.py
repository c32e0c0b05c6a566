"""The command ``python -m granulearn.bench.statistics``."""

import subprocess
import sys

import pytest

from granulearn.bench import paper_accuracy_table, paper_noise_table
from granulearn.bench.statistics.__main__ import main


@pytest.mark.slow
def test_without_a_table_the_papers_statistics_are_printed():
    command = [sys.executable, "-W", "error", "-m", "granulearn.bench.statistics"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    words = run.stdout.split()
    for figure in ("84.46", "2.07", "66.21", "12.36", "1.726", "69.68", "79.72"):
        assert figure in words
    assert "SDAP-GBRVFL is better than RVFL, GB-RVFL, GE-GB-RVFL, ELM, ACRVFL" in run.stdout


def test_a_table_of_ones_own(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    paper_accuracy_table()[["RVFL", "ELM"]].to_csv(path)
    assert main([str(path)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("mine.csv: 2 models on 37 data sets")


def test_rows_named_by_two_columns(tmp_path, capsys):
    path = tmp_path / "noise.csv"
    paper_noise_table().to_csv(path)
    assert main([str(path), "--index", "dataset", "noise_percent"]) == 0
    assert "8 models on 25 data sets" in capsys.readouterr().out


def test_lower_is_better_turns_the_ranks(tmp_path, capsys):
    path = tmp_path / "errors.csv"
    path.write_text("set,good,bad\na,1,2\nb,1,3\nc,2,5\n")
    assert main([str(path), "--lower-is-better"]) == 0
    assert capsys.readouterr().out.splitlines()[3].split() == ["good", "1.33", "1.00"]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("", [], "no readable CSV"),
        ("set,a,b\nx,1,2\ny,1,2,3\n", [], "no readable CSV"),
        ("set,a,b\nx,1,2\ny,,2\n", [], "missing='drop'"),
        ("set,a,b\nx,1,2\ny,1,2\n", ["--index", "name"], "no column 'name'"),
    ],
)
def test_a_bad_table_ends_with_an_error_and_status_2(tmp_path, capsys, content, arguments, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    assert main([str(path), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_file_ends_with_an_error_and_status_2(tmp_path, capsys):
    assert main([str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err
