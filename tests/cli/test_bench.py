"""``granulearn bench``: runs, filters, and what it says when it cannot."""

import signal
import subprocess
import sys

import pytest

from granulearn.cli.bench import SOME_CELLS_FAILED
from granulearn.cli.exit_codes import INTERRUPTED, NO_CLUSTER, NOT_WRITTEN, USAGE
from granulearn.studies import Store
from tests.cli.commands import COMMAND, granulearn, succeeds
from tests.studies.small_studies import N_CELLS, SMALL, write_study
from tests.studies.test_run import SLOW, bench, wait_for_rows

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
    assert "did you mean 'circles'" in done.err
    assert not (tmp_path / "a.db").exists()


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
    import resource

    arguments = ["bench", study, "--results", tmp_path / "a.db", *FAST]
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, 90_000)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == NOT_WRITTEN
    last = done.stderr.splitlines()[-1]
    assert "the disk is full" in last
    assert "the same command goes on" in last
    succeeds(*arguments)
    assert rows_in(tmp_path / "a.db") == N_CELLS


def test_ctrl_c_says_what_is_kept_and_nothing_else(tmp_path):
    run = bench(tmp_path, write_study(tmp_path, SLOW), "--jobs", "1")
    wait_for_rows(tmp_path / "run.db", run, 1)
    run.send_signal(signal.SIGINT)
    last = run.communicate()[0].splitlines()[-1]
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
