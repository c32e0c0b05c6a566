"""``granulearn report``: a page or tables from a result file."""

import os

import pytest

from granulearn.cli.exit_codes import NOT_WRITTEN, USAGE
from tests.bench.studies.made_up_results import fill_store
from tests.bench.studies.paper_results import empty_paper_store
from tests.bench.studies.small_studies import small_study
from tests.cli.commands import granulearn, succeeds


@pytest.fixture
def results(tmp_path):
    return fill_store(tmp_path / "a.db", small_study(tmp_path), lambda cell: 0.75)


def test_a_page_is_written_where_asked(results, tmp_path):
    done = succeeds("report", results, "-o", tmp_path / "page.html")
    assert done.out.strip() == f"written: {tmp_path / 'page.html'}"
    assert "Does a test of the studies work?" in (tmp_path / "page.html").read_text("utf-8")


def test_tables_are_written_instead_of_a_page(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    succeeds("report", results, "--tables", "tables")
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        "small.csv",
        "small.md",
    ]
    assert not (tmp_path / "report.html").exists()


def test_the_newest_results_are_reported_by_default(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results"
    folder.mkdir()
    newer, older = folder / "a.db", folder / "z.db"
    results.rename(newer)
    older.write_bytes(b"")
    os.utime(older, (1, 1))
    succeeds("report")
    assert (tmp_path / "report.html").is_file()


def test_without_results_the_next_step_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = granulearn("report")
    assert done.code == USAGE
    assert "granulearn bench" in done.err


def test_a_study_that_the_file_does_not_hold_is_named(results, tmp_path):
    done = granulearn("report", results, "--study", "table1", "-o", tmp_path / "page.html")
    assert done.code == USAGE
    assert "it holds small" in done.err
    assert not (tmp_path / "page.html").exists()


def test_a_file_that_is_not_there_or_no_store_is_refused(tmp_path):
    done = granulearn("report", tmp_path / "none.db")
    assert done.code == NOT_WRITTEN
    assert "does not exist" in done.err
    (tmp_path / "b.db").write_text("no database" * 100)
    assert granulearn("report", tmp_path / "b.db").code == NOT_WRITTEN


def test_what_cannot_be_written_is_said_before_the_results_are_read(tmp_path):
    done = granulearn("report", tmp_path / "none.db", "-o", tmp_path)
    assert done.code == NOT_WRITTEN
    assert "name a file in it" in done.err
    done = granulearn("report", tmp_path / "none.db", "-o", tmp_path / "none.db")
    assert done.code == USAGE
    assert "is also an input" in done.err


def test_the_folder_of_a_page_is_made(results, tmp_path):
    succeeds("report", results, "-o", tmp_path / "new" / "folder" / "page.html")
    assert (tmp_path / "new" / "folder" / "page.html").is_file()


def test_of_a_file_that_holds_no_results_no_option_is_named_that_report_lacks(tmp_path):
    (tmp_path / "base.csv").write_text("a,b\n1,2\n" * 100)
    done = granulearn("report", tmp_path / "base.csv")
    assert done.code == NOT_WRITTEN
    assert "name another result file, as `granulearn bench --results FILE` makes it" in done.err


def test_exports_are_written_beside_each_other_and_no_page_is(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["--latex", "t.tex", "--markdown", "t.md", "--csv", "t.csv", "--figures", "figures"]
    done = succeeds("report", results, *asked)
    assert "written: t.tex" in done.out
    assert (tmp_path / "t.tex").read_text("utf-8").startswith("\\begin{table}")
    assert (tmp_path / "t.md").is_file()
    assert (tmp_path / "t.csv").is_file()
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg", ".pdf"}
    assert not (tmp_path / "report.html").exists()


def test_what_is_no_latex_table_is_refused_in_one_line_before_anything_is_written(tmp_path):
    path = empty_paper_store(tmp_path / "paper.db")
    asked = ["--latex", tmp_path / "t.tex", "--csv", tmp_path / "t.csv"]
    done = granulearn("report", path, "--study", "sensitivity-C-h", *asked)
    assert (done.code, "too many columns for a LaTeX table" in done.err) == (USAGE, True)
    assert [file.name for file in tmp_path.iterdir()] == ["paper.db"]


def test_an_export_does_not_overwrite_the_results(results):
    done = granulearn("report", results, "--latex", results)
    assert (done.code, "is also an input" in done.err) == (USAGE, True)


def test_results_of_the_whole_paper_become_its_page_or_that_of_one_study(tmp_path):
    path = empty_paper_store(tmp_path / "paper.db")
    succeeds("report", path, "-o", tmp_path / "paper.html")
    assert "The paper, run again" in (tmp_path / "paper.html").read_text("utf-8")
    succeeds("report", path, "--study", "table1", "-o", tmp_path / "table1.html")
    assert "The paper, run again" not in (tmp_path / "table1.html").read_text("utf-8")


def test_results_without_the_paper_have_no_page_of_it(results, tmp_path):
    done = granulearn("report", results, "--study", "paper", "-o", tmp_path / "page.html")
    assert (done.code, "granulearn bench paper" in done.err) == (USAGE, True)


def test_every_output_is_by_the_score_that_is_asked_for(results, tmp_path):
    files = ["-o", tmp_path / "p.html", "--latex", tmp_path / "t.tex", "--csv", tmp_path / "t.csv"]
    succeeds("report", results, "--score", "log_loss", *files)
    assert "Log loss, mean over splits" in (tmp_path / "p.html").read_text("utf-8")
    assert "Log loss, mean over splits" in (tmp_path / "t.tex").read_text("utf-8")
    assert "0.25" in (tmp_path / "t.csv").read_text("utf-8")


def test_an_unknown_score_is_refused_with_the_nearest_one(results, tmp_path):
    done = granulearn("report", results, "--score", "log_los", "-o", tmp_path / "p.html")
    assert done.code == USAGE
    assert "small has no score 'log_los'; did you mean 'log_loss'?" in done.err
    assert not (tmp_path / "p.html").exists()


def test_another_score_of_the_paper_needs_one_of_its_studies(tmp_path):
    done = granulearn("report", empty_paper_store(tmp_path / "p.db"), "--score", "log_loss")
    assert done.code == USAGE
    assert "--study table1 --score log_loss" in done.err
