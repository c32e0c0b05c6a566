"""A million rows: in bounded memory, and safe to interrupt. Real processes throughout.

Rows are read, predicted and written chunk by chunk. A plain network predicts the
million, which shows what files need; the default model, a forest with a
ensemble, predicts several chunks, and every further one is like them.
"""

import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet
import pytest

from granulearn.models.loaded_model import MAX_ROWS_PER_CHUNK
from tests.cli.commands import COMMAND, succeeds

pytestmark = pytest.mark.slow

N_ROWS = 1_000_000
N_ROWS_OF_FOREST = 2 * MAX_ROWS_PER_CHUNK
LIMIT = 500 * 10**6
WAIT_SECONDS = 120


def rows(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    columns = {f"x{i}": rng.normal(size=n_rows).round(4) for i in range(16)}
    columns["city"] = rng.choice(["Basel", "Graz", "Lyon", "Turin"], n_rows)
    columns["colour"] = rng.choice(["red", "green", "blue"], n_rows)
    score = columns["x0"] + columns["x2"] + (columns["city"] == "Lyon")
    columns["label"] = np.where(score > 0.3, "yes", "no")
    return pa.table(columns)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with two models and a million rows, as CSV and as Parquet."""
    place = tmp_path_factory.mktemp("large")
    plain = arrow_csv.WriteOptions(quoting_style="none")
    arrow_csv.write_csv(rows(3000, seed=1), place / "train.csv", plain)
    for kind in ("rvfl", "robust"):
        model = place / f"{kind}.granulearn"
        succeeds("fit", place / "train.csv", "-t", "label", "-o", model, "--model", kind)
    table = rows(N_ROWS)
    arrow_csv.write_csv(table, place / "large.csv", plain)
    arrow_csv.write_csv(table[:N_ROWS_OF_FOREST], place / "chunks.csv", plain)
    parquet.write_table(table, place / "large.parquet", row_group_size=N_ROWS // 4)
    return place


def start_predicting(folder, table, output):
    return subprocess.Popen(
        [*COMMAND, "predict", "rvfl.granulearn", table, "--proba", "-o", output],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# The peak that the kernel keeps for the process itself: what getrusage returns
# begins with the size of the process that started it.
REPORT_PEAK = """
import sys
from granulearn.cli.main import run
code = run(sys.argv[1:])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("model", "table", "n_rows"),
    [
        ("rvfl", "large.csv", N_ROWS),
        ("rvfl", "large.parquet", N_ROWS),
        ("robust", "chunks.csv", N_ROWS_OF_FOREST),
    ],
)
def test_a_million_rows_are_predicted_under_500_megabytes(folder, model, table, n_rows):
    arguments = ["predict", f"{model}.granulearn", table, "--proba", "-o", "out.csv"]
    done = subprocess.run(
        [sys.executable, "-c", REPORT_PEAK, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said, _, kilobytes = done.stdout.splitlines()
    assert said.startswith(f"{n_rows} rows predicted")
    assert int(kilobytes) * 1024 < LIMIT
    answers = arrow_csv.read_csv(folder / "out.csv")
    assert answers.num_rows == n_rows
    (folder / "out.csv").unlink()


# That SIGTERM is heard as Ctrl-C is shown where tables are read from a stream.
def test_an_interrupt_leaves_no_partial_output_and_no_stack_trace(folder):
    before = {path.name for path in folder.iterdir()}
    process = start_predicting(folder, "large.csv", "out.csv")
    deadline = time.monotonic() + WAIT_SECONDS
    while {path.name for path in folder.iterdir()} == before:  # until it writes
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 130, err
    assert err.strip() == "granulearn: error: interrupted; no output was written."
    assert out == ""
    assert {path.name for path in folder.iterdir()} == before
