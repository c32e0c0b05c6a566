"""``granulearn bench`` and ``report``: runs, filters, pages, and what is said when they cannot."""

import os
import signal

import pytest

from granulearn.balls.generators import generator_names
from granulearn.bench import Store
from granulearn.cli.exit_codes import (
    INTERRUPTED,
    NOT_WRITTEN,
    SOME_RUNS_FAILED,
    USAGE,
)
from tests.bench.small_studies import (
    N_RUNS,
    SMALL,
    empty_paper_store,
    fill_store,
    small_study,
    write_study,
)
from tests.bench.test_running import SLOW, bench, wait_for_rows
from tests.cli.commands import fails, granulearn, succeeds
from tests.processes import Command

FAST = ["--jobs", "1"]


def rows_in(path) -> int:
    with Store(path, readonly=True) as store:
        return len(store.rows())


def test_studies_and_keys_are_listed():
    out = succeeds("bench", "--list").out
    for name in ("quick (default)", "table1", "noise", "stress", "sensitivity-C-h", "rivals"):
        assert name in out
    out = succeeds("bench", "--schema").out
    assert 'split.kind = "holdout" | "kfold" | "paper"' in out
    named = dict(line.split(": ", 1) for line in out.splitlines()[-8:] if ": " in line)
    assert "balanced_accuracy, " in named["Scores"]
    assert "Regressor" not in named["Estimators"]
    assert named["balls"] == f"{', '.join(generator_names())}, and your own."


def test_a_study_is_run_in_steps_and_says_where_the_results_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["bench", write_study(tmp_path), *FAST]
    only = ["--only", "method=tree", "--only", "dataset=circles"]
    done = succeeds(*command, *only)
    assert "4 computed, 0 were there, 0 failed; 4 runs in all." in done.err
    assert done.out.splitlines() == [
        "results: results/small.db",
        "report:  granulearn report results/small.db -o report.html",
    ]
    assert "8 computed, 4 were there" in succeeds(*command, "--only", "dataset=circles").err
    assert "0 computed, 4 were there" in succeeds(*command, *only, "--resume").err
    assert "4 computed, 0 were there" in succeeds(*command, *only, "--fresh").err
    assert rows_in(tmp_path / "results" / "small.db") == 12


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["tabel1"], USAGE, "did you mean 'table1'?"),
        (["quick", "--only", "set=bupa"], USAGE, "--only 'set=bupa' is not understood"),
        (["quick", "--data-dir", "nowhere"], NOT_WRITTEN, "'nowhere' has no manifest.csv"),
        (["new"], USAGE, "bench new NAME"),
        (["quick", "mine"], USAGE, "bench new NAME"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(arguments, code, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said in fails(code, "bench", *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"RVFLClassifier"', '"RVFLClasifier"', "small.toml, method[0] ('RVFL')"),
        ('"circles"', '"circels"', "small.toml, datasets[1]: "),
    ],
)
def test_a_study_that_is_wrong_is_refused_with_file_and_key(tmp_path, old, new, said):
    study = write_study(tmp_path, SMALL.replace(old, new))
    note, line = granulearn("bench", study, "--results", tmp_path / "a.db").err.splitlines()
    assert "runs code" in note
    assert said in line
    assert not (tmp_path / "a.db").exists()


def test_a_study_file_is_said_to_run_code_before_it_does(tmp_path):
    own = SMALL.replace("sklearn.tree.DecisionTreeClassifier", "mine.Classifier")
    path = write_study(tmp_path, own)
    (tmp_path / "mine.py").write_text("import os\nos._exit(77)\n")
    process = Command("bench", path, "--results", tmp_path / "a.db", "--jobs", "1")
    _, said = process.communicate()
    assert process.returncode == 77
    (line,) = said.splitlines()
    assert f"{path} runs code" in line


def test_runs_that_fail_are_told_and_the_run_goes_on(tmp_path):
    path = write_study(tmp_path, SMALL.replace('"circles"', '"crossplane150"'))
    done = granulearn("bench", path, "--results", tmp_path / "a.db", *FAST)
    assert done.code == SOME_RUNS_FAILED
    assert "1 data set(s) cannot be read here" in done.err
    assert "12 failed" in done.err
    with Store(tmp_path / "a.db", readonly=True) as store:
        reasons = [row.outcome.reason for row in store.rows().values() if row.outcome.reason]
    assert len(reasons) == 12
    assert all(reason.startswith("DatasetUnavailableError") for reason in reasons)


def test_a_score_for_which_a_method_lacks_probabilities_is_warned_of(tmp_path):
    text = SMALL.replace('"sklearn.tree.DecisionTreeClassifier"', '"sklearn.svm.SVC"')
    path = write_study(tmp_path, text.replace("max_depth = 4", "C = 1.0"))
    only = ["--only", "method=tree", "--only", "dataset=circles"]
    done = succeeds("bench", path, "--results", tmp_path / "a.db", *FAST, *only)
    assert f"{path}, scores: 'tree' gets no 'log_loss', which needs predict_proba" in done.err


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path):
    letter = tmp_path / "letter.db"
    letter.write_text("Dear reader,\n" * 200)
    done = granulearn("bench", write_study(tmp_path), "--results", letter, *FAST)
    assert done.code == NOT_WRITTEN
    assert "is damaged or no result file" in done.err
    assert letter.read_text() == "Dear reader,\n" * 200
    line = fails(NOT_WRITTEN, "report", letter)
    assert "name another result file, as `granulearn bench --results FILE` makes it" in line
    assert "does not exist" in fails(NOT_WRITTEN, "report", tmp_path / "none.db")


def test_ctrl_c_says_what_is_kept(tmp_path):
    process = bench(tmp_path, write_study(tmp_path, SLOW), "--jobs", "1")
    results = tmp_path / "run.db"
    wait_for_rows(results, process, 1)
    process.send_signal(signal.SIGINT)
    last = "".join(process.communicate()).splitlines()[-1]
    assert process.returncode == INTERRUPTED
    kept = f"{rows_in(results)} of {N_RUNS} runs are kept in {results}"
    assert last.startswith(f"granulearn: error: interrupted; {kept}. ")


def test_a_new_study_is_written_once_and_can_be_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "run it:  granulearn bench mine/mine.toml" in succeeds("bench", "new", "mine").out
    only = ["--only", "dataset=my_table", "--only", "split=repeat 1", "--only", "noise=clean"]
    done = succeeds("bench", "mine/mine.toml", "--results", "a.db", *FAST, *only)
    assert "4 computed, 0 were there, 0 failed" in done.err
    assert "is there already" in fails(USAGE, "bench", "new", "mine")


def test_the_paper_is_run_study_by_study_into_one_file_with_its_page(tmp_path):
    path = tmp_path / "paper.db"
    done = succeeds("bench", "paper", "--results", path, *FAST, "--only", "dataset=ecoli-0-1-4-6*",
                    "--only", "method=RVFL,SDAP-GBRVFL [C=1? n_hidden=3]",
                    "--only", "split=paper,repeat 1", "--only", "noise=clean")  # fmt: skip
    assert "3 computed, 0 were there, 0 failed; 3 runs in all" in done.err
    assert f"page:    {tmp_path / 'paper.html'}" in done.out
    assert "6677 not run yet" in (tmp_path / "paper.html").read_text("utf-8")


# --- report


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return fill_store(tmp_path / "a.db", small_study(tmp_path), lambda cell: 0.75)


def test_a_page_is_written_where_asked_and_of_the_newest_results_by_default(results, tmp_path):
    page = tmp_path / "new" / "folder" / "page.html"
    assert succeeds("report", results, "-o", page).out.strip() == f"written: {page}"
    assert "Does a test of the studies work?" in page.read_text("utf-8")
    folder = tmp_path / "results"
    folder.mkdir()
    assert "granulearn bench" in fails(USAGE, "report")
    results.rename(folder / "a.db")
    (folder / "z.db").write_bytes(b"")
    os.utime(folder / "z.db", (1, 1))
    succeeds("report")
    assert (tmp_path / "report.html").is_file()


def test_exports_are_written_beside_each_other_and_no_page_is(results, tmp_path):
    asked = ["--latex", "t.tex", "--markdown", "t.md", "--csv", "t.csv", "--figures", "figures"]
    done = succeeds("report", results, *asked, "--tables", "tables")
    assert "written: t.tex" in done.out
    assert (tmp_path / "t.tex").read_text("utf-8").startswith("\\begin{table}")
    assert (tmp_path / "t.md").is_file()
    assert (tmp_path / "t.csv").is_file()
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg", ".pdf"}
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"small.csv", "small.md"}
    assert not (tmp_path / "report.html").exists()


def test_every_output_is_by_the_score_that_is_asked_for(results, tmp_path):
    succeeds("report", results, "--score", "log_loss", "-o", "p.html", "--csv", "t.csv")
    assert "Log loss, mean over splits" in (tmp_path / "p.html").read_text("utf-8")
    assert "0.25" in (tmp_path / "t.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--study", "table1"], USAGE, "it holds small"),
        (["--study", "paper"], USAGE, "granulearn bench paper"),
        (["--score", "log_los"], USAGE, "small has no score 'log_los'; did you mean 'log_loss'?"),
        (["-o", "a.db"], USAGE, "is also an input"),
        (["--latex", "a.db"], USAGE, "is also an input"),
        (["-o", "."], NOT_WRITTEN, "name a file in it"),
    ],
)
def test_what_cannot_be_reported_is_refused_and_nothing_written(
    results, tmp_path, options, code, said
):
    before = sorted(tmp_path.iterdir())
    assert said in fails(code, "report", results, *options)
    assert sorted(tmp_path.iterdir()) == before


def test_results_of_the_whole_paper_become_its_page_or_that_of_one_study(tmp_path):
    path, page = empty_paper_store(tmp_path / "paper.db"), tmp_path / "paper.html"
    succeeds("report", path, "-o", page)
    assert "The paper, run again" in page.read_text("utf-8")
    succeeds("report", path, "--study", "table1", "-o", page)
    assert "The paper, run again" not in page.read_text("utf-8")
    assert "--study table1 --score log_loss" in fails(USAGE, "report", path, "--score", "log_loss")
    asked = ["--latex", tmp_path / "t.tex", "--csv", tmp_path / "t.csv"]
    line = fails(USAGE, "report", path, "--study", "sensitivity-C-h", *asked)
    assert "too many columns for a LaTeX table" in line
    assert not (tmp_path / "t.csv").exists()
