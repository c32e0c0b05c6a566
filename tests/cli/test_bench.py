"""``granulearn bench``: runs, filters, and what it says when it cannot."""

import io
import signal
import sys
from datetime import datetime

import pytest
from rich.console import Console

from granulearn.balls import maker_names
from granulearn.bench import Store
from granulearn.cli.bench import SOME_CELLS_FAILED, _bar, _said_left
from granulearn.cli.exit_codes import INTERRUPTED, NO_CLUSTER, NOT_WRITTEN, USAGE
from granulearn.memberships import membership_names
from tests.bench.studies.small_studies import N_CELLS, SMALL, write_study
from tests.bench.studies.test_run import SLOW, bench, wait_for_rows
from tests.cli.commands import granulearn, succeeds
from tests.warm_processes import Command

FAST = ["--jobs", "1"]


@pytest.fixture
def study(tmp_path):
    return write_study(tmp_path)


def rows_in(path) -> int:
    with Store(path, readonly=True) as store:
        return len(store.rows())


def test_the_shipped_studies_are_listed():
    out = succeeds("bench", "--list").out
    for name in ("quick (default)", "table1", "noise", "stress", "sensitivity-C-h", "rivals"):
        assert name in out


def test_a_study_is_run_to_its_end_and_says_where_the_results_are(study, tmp_path):
    done = succeeds("bench", study, "--results", tmp_path / "a.db", *FAST)
    assert f"results: {tmp_path / 'a.db'}" in done.out
    assert "granulearn report" in done.out
    assert f"{N_CELLS} computed, 0 were there, 0 failed" in done.err
    assert rows_in(tmp_path / "a.db") == N_CELLS


def test_some_cells_then_the_rest_then_nothing_then_all_again(study, tmp_path):
    command = ["bench", study, "--results", tmp_path / "a.db", *FAST]
    only = ["--only", "method=tree", "--only", "dataset=circles"]
    assert "4 computed, 0 were there" in succeeds(*command, *only).err
    assert "8 computed, 4 were there" in succeeds(*command, "--only", "dataset=circles").err
    assert "0 computed, 4 were there" in succeeds(*command, *only, "--resume").err
    assert "4 computed, 0 were there" in succeeds(*command, *only, "--fresh").err


def test_another_study_of_the_same_name_is_announced_and_the_same_one_is_not(study, tmp_path):
    command = ["bench", study, "--results", tmp_path / "a.db", *FAST]
    only = ["--only", "method=tree", "--only", "dataset=circles"]
    assert "asks for something else" not in succeeds(*command, *only).err
    assert "asks for something else" not in succeeds(*command, *only).err
    (tmp_path / "other").mkdir()
    other = write_study(tmp_path / "other", SMALL.replace("seed = 3", "seed = 4"))
    done = succeeds("bench", other, "--results", tmp_path / "a.db", *FAST, *only)
    said = [
        line
        for line in done.err.splitlines()
        if "its study 'small' asks for something else" in line
    ]
    assert len(said) == 1
    assert said[0].startswith(f"{tmp_path / 'a.db'}: ")
    assert rows_in(tmp_path / "a.db") == 8


def test_an_end_on_another_day_is_told_with_its_date(monkeypatch):
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2026, 3, 31, 23, 9)

    monkeypatch.setattr("granulearn.cli.bench.datetime", Clock)
    assert _said_left(3000) == "left: 50:00, done at 23:59"
    assert _said_left(3600) == "left: 60:00, done at 2026-04-01 00:09"
    assert _said_left(None) == "estimating the time left"


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_count_is_shown_whole_whatever_the_terminal(width):
    shown = io.StringIO()
    bar = _bar(Console(file=shown, width=width, color_system=None))
    left = "left: 168:45, done at 2026-04-01 05:16"
    bar.add_task("conn_bench_sonar_mines_rocks", total=6680, completed=66, left=left)
    bar.console.print(bar.get_renderable())
    assert "66/6680" in shown.getvalue()
    assert left in shown.getvalue()


def test_results_lie_in_a_folder_of_their_own_by_default(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    succeeds("bench", study, "--only", "method=tree", *FAST)
    assert rows_in(tmp_path / "results" / "small.db") == 12


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["tabel1"], USAGE, "did you mean 'table1'?"),
        (["quick", "--only", "set=bupa"], USAGE, "--only 'set=bupa' is not understood"),
        (["quick", "--data-dir", "nowhere"], NOT_WRITTEN, "'nowhere' has no manifest.csv"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(arguments, code, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = granulearn("bench", *arguments)
    assert done.code == code
    (line,) = done.err.splitlines()
    assert said in line
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_method_names_file_key_and_next_step(tmp_path):
    path = write_study(tmp_path, SMALL.replace('"RVFLClassifier"', '"RVFLClasifier"'))
    done = granulearn("bench", path, "--results", tmp_path / "a.db")
    assert done.code == USAGE
    assert "small.toml, method[0] ('RVFL')" in done.err
    assert "did you mean 'RVFLClassifier'?" in done.err
    assert not (tmp_path / "a.db").exists()


def test_an_unknown_data_set_is_refused_before_anything_is_run(tmp_path):
    path = write_study(tmp_path, SMALL.replace('"circles"', '"circels"'))
    done = granulearn("bench", path, "--results", tmp_path / "a.db")
    assert done.code == USAGE
    assert "small.toml, datasets[1]: " in done.err
    assert "did you mean 'circles'" in done.err
    assert not (tmp_path / "a.db").exists()


def test_a_data_set_like_no_other_is_told_which_command_lists_them(tmp_path):
    path = write_study(tmp_path, SMALL.replace('"circles"', '"qqq"'))
    done = granulearn("bench", path, "--results", tmp_path / "a.db")
    assert done.code == USAGE
    assert "datasets[1]: no data set is named 'qqq'; see `granulearn datasets`." in done.err


def test_a_missing_data_set_fails_its_cells_and_the_run_goes_on(tmp_path):
    path = write_study(tmp_path, SMALL.replace('"circles"', '"crossplane150"'))
    done = granulearn("bench", path, "--results", tmp_path / "a.db", *FAST)
    assert done.code == SOME_CELLS_FAILED
    assert "1 data set(s) cannot be read here" in done.err
    assert "12 failed" in done.err
    with Store(tmp_path / "a.db", readonly=True) as store:
        reasons = [row.outcome.reason for row in store.rows().values() if row.outcome.reason]
    assert len(reasons) == 12
    assert all(reason.startswith("DatasetUnavailableError") for reason in reasons)


def test_an_impossible_split_fails_its_cells_with_the_reason(tmp_path):
    split = 'split = { kind = "kfold", folds = 300 }'
    text = SMALL.replace('split = { kind = "holdout", repeats = 2 }', split)
    path = write_study(tmp_path, text)
    only = ["--only", "dataset=circles", "--only", "method=tree", "--only", "noise=clean"]
    only += ["--only", "split=repeat 1, fold 1"]
    done = granulearn("bench", path, "--results", tmp_path / "a.db", *FAST, *only[:6])
    assert done.code == SOME_CELLS_FAILED
    assert "needs at least 300 of each class" in " ".join(done.err.split())


def test_a_file_that_is_no_store_is_refused_and_left_alone(study, tmp_path):
    letter = tmp_path / "letter.db"
    letter.write_text("Dear reader,\n" * 200)
    done = granulearn("bench", study, "--results", letter, *FAST)
    assert done.code == NOT_WRITTEN
    assert "is damaged or no result file" in done.err
    assert letter.read_text() == "Dear reader,\n" * 200


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such limits")
def test_a_disk_that_fills_up_is_called_full_and_the_same_command_goes_on(study, tmp_path):
    arguments = ["bench", study, "--results", tmp_path / "a.db", *FAST]
    process = Command(*arguments, largest=90_000)
    _, said = process.communicate()
    assert process.returncode == NOT_WRITTEN
    last = said.splitlines()[-1]
    assert "the disk is full" in last
    assert "the same command goes on" in last
    succeeds(*arguments)
    assert rows_in(tmp_path / "a.db") == N_CELLS


def test_ctrl_c_says_what_is_kept_and_nothing_else(tmp_path):
    run = bench(tmp_path, write_study(tmp_path, SLOW), "--jobs", "1")
    wait_for_rows(tmp_path / "run.db", run, 1)
    run.send_signal(signal.SIGINT)
    last = "".join(run.communicate()).splitlines()[-1]
    assert run.returncode == INTERRUPTED
    results = tmp_path / "run.db"
    assert last == (
        f"granulearn: error: interrupted; {rows_in(results)} of {N_CELLS} cells are kept in "
        f"{results}. "
        "The same command goes on from there."
    )


def test_a_cluster_that_is_not_there_is_refused_before_anything_is_run(
    study, tmp_path, monkeypatch
):
    monkeypatch.setattr("granulearn.distributed.cluster.CONNECT_SECONDS", 0.5)
    done = granulearn("bench", study, "--results", tmp_path / "a.db", "--dask", "tcp://127.0.0.1:1")
    assert done.code == NO_CLUSTER
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in done.err
    assert not (tmp_path / "a.db").exists()


def test_every_key_is_printed_with_its_meaning():
    out = succeeds("bench", "--schema").out
    assert 'split.kind = "paper" | "holdout" | "kfold"' in out
    assert "method[].estimator = text" in out
    assert "a file beside the study file" in " ".join(out.split())
    named = dict(line.split(": ", 1) for line in out.splitlines()[-8:] if ": " in line)
    assert "balanced_accuracy, " in named["Scores"]
    assert "RVFLClassifier, " in named["Estimators"]
    assert "Regressor" not in named["Estimators"]
    assert named["membership"] == f"{', '.join(membership_names())}, and your own."
    assert named["balls"] == f"{', '.join(maker_names())}, and your own."


def test_a_new_study_is_written_once_and_can_be_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = succeeds("bench", "new", "mine").out
    assert "run it:  granulearn bench mine/mine.toml" in out
    only = ["--only", "dataset=my_table", "--only", "split=repeat 1", "--only", "noise=clean"]
    done = succeeds("bench", "mine/mine.toml", "--results", "a.db", *FAST, *only)
    assert "4 computed, 0 were there, 0 failed" in done.err
    again = granulearn("bench", "new", "mine")
    assert (again.code, "is there already" in again.err) == (USAGE, True)


def test_a_name_belongs_to_a_new_study_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in (["new"], ["quick", "mine"]):
        done = granulearn("bench", *arguments)
        assert (done.code, "bench new NAME" in done.err) == (USAGE, True)


def test_a_score_for_which_a_method_lacks_probabilities_is_announced(tmp_path):
    text = SMALL.replace('"sklearn.tree.DecisionTreeClassifier"', '"sklearn.svm.SVC"')
    path = write_study(tmp_path, text.replace("max_depth = 4", "C = 1.0"))
    only = ["--only", "method=tree", "--only", "dataset=circles"]
    done = succeeds("bench", path, "--results", tmp_path / "a.db", *FAST, *only)
    assert f"{path}, scores: 'tree' gets no 'log_loss', which needs probabilities" in done.err


def test_a_table_that_cannot_be_learned_from_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "own.csv").write_text("a,label\n1,x\n2,x\n3,x\n")
    text = SMALL.replace('"circles"', '{ path = "own.csv", target = "label" }')
    done = granulearn("bench", write_study(tmp_path, text), "--results", tmp_path / "a.db")
    assert done.code == USAGE
    (line,) = done.err.splitlines()
    assert "small.toml, datasets[1].target: " in line
    assert "own.csv" in line
    assert not (tmp_path / "a.db").exists()


def test_the_paper_is_run_study_by_study_into_one_file_with_its_page(tmp_path):
    path = tmp_path / "paper.db"
    done = succeeds("bench", "paper", "--results", path, *FAST, "--only", "dataset=ecoli-0-1-4-6*",
                    "--only", "method=RVFL,SDAP-GBRVFL [C=1? n_hidden=3]",
                    "--only", "split=paper,repeat 1", "--only", "noise=clean")  # fmt: skip
    assert "3 computed, 0 were there, 0 failed; 3 cells in all" in done.err
    assert f"page:    {tmp_path / 'paper.html'}" in done.out
    assert "6677 not run yet" in (tmp_path / "paper.html").read_text("utf-8")
    with Store(path, readonly=True) as store:
        assert set(store.studies()) == {
            "table1", "noise", "sensitivity-activation", "sensitivity-C-h",
        }  # fmt: skip
