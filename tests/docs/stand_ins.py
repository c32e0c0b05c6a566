"""What the pages take for granted: tables, models, keys, a cluster; and what cannot be run."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from granulearn import TableClassifier
from granulearn.datasets import load
from tests.cli.commands import succeeds
from tests.docs.pages import ROOT

# Commands that no test runs, by how they begin, and why. Each of them must be on some page.
NOT_RUN = {
    "pip install ": "it installs packages; `make dist` runs it with the built wheel",
    "make ": "it runs these tests, builds what they look at, or takes longer than they may",
    "pytest ": "it is a part of this run",
    "python benchmarks/fuzz_model_files.py 10000": (
        "it takes minutes; tests/models damages and edits 1,000 files each"
    ),
    "python benchmarks/signal_campaign.py 100": (
        "it takes many minutes; tests/end_to_end/test_signals.py stops verbs, too"
    ),
    "python benchmarks/load_test.py 100000": (
        "it takes minutes; tests/end_to_end/test_serving.py asks 60 times"
    ),
    "python benchmarks/soak.py 10": (
        "it takes ten minutes; tests/end_to_end/test_serving.py has the short form"
    ),
    "GRANULEARN_DATA=DIRECTORY python benchmarks/compare_review_loop.py": "it takes hours",
    "python benchmarks/compare_review_loop.py": "it reads what the command above it computes",
}
# Studies that would take minutes: Ctrl-C is pressed once there are results, which they keep.
STOPPED = ("granulearn bench paper", "granulearn bench table1")
# What stands on a page for an address that only its reader knows; ports may be taken here.
SCHEDULER, PORT = "tcp://10.0.0.1:8786", "8000"


def credit(folder: Path) -> None:
    """Write the table that several pages export first, and new rows of it."""
    succeeds("datasets", "export", "crx", "-o", folder / "credit.csv")
    load("crx").X.head(30).to_csv(folder / "new.csv.gz", index=False)


def nothing(folder: Path) -> None:
    """Write no file: the page begins with a command that writes one."""


def measurements(n_rows: int) -> pd.DataFrame:
    """Return three numbers and a label."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, 3)).round(3)
    label = np.where(numbers.sum(axis=1) > 0, "yes", "no")
    return pd.DataFrame(numbers, columns=["a", "b", "c"]).assign(label=label)


def large_tables(folder: Path) -> None:
    """Write a folder of Parquet files and one large file, both of a few rows."""
    (folder / "measurements").mkdir()
    rows = measurements(300)
    for part in range(2):
        rows[part::2].to_parquet(folder / "measurements" / f"{part}.parquet", index=False)
    rows.to_csv(folder / "huge.csv", index=False)


def served_model(folder: Path) -> None:
    """Write a model of a few orders as a file and as ONNX, and a key to sign with."""
    rng = np.random.default_rng(0)
    age, price = rng.integers(18, 80, 80), rng.integers(100, 2000, 80)
    rows = pd.DataFrame(
        {
            "age": age,
            "price": [f"{euros // 1000}.{euros % 1000:03},00 €" for euros in price + 1000],
            "city": rng.choice(["Graz", "Linz"], 80),
        }
    )
    labels = np.where(age > 40, "late", "paid")
    TableClassifier("rvfl", random_state=0).fit(rows, labels).save(folder / "orders.granulearn")
    succeeds("export", folder / "orders.granulearn", "-o", folder / "orders.onnx")
    (folder / "examples").symlink_to(ROOT / "examples")
    keys = folder.parent / "home" / ".ssh"
    keys.mkdir(mode=0o700)
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / "id_ed25519"]
    subprocess.run(make, check=True)


def directory_of_sets(folder: Path) -> None:
    """Write the directory of data sets that a reader has, without any set in it."""
    (folder / "DIRECTORY").mkdir()
    (folder / "DIRECTORY" / "manifest.csv").write_text("name,rows,features,minority_rows\n")


# Pages with the same stand-ins share a folder; what two of them say alike is run once.
STAND_INS: dict[str, Callable[[Path], None]] = {
    "README.md": nothing,
    "docs/guide/audit.md": nothing,
    "docs/guide/datasets.md": nothing,
    "docs/guide/command-line.md": credit,
    "docs/guide/review.md": nothing,
    "docs/guide/tables.md": nothing,
    "docs/start/csv.md": nothing,
    "docs/start/install.md": nothing,
    "docs/index.md": nothing,
    "docs/guide/dask.md": large_tables,
    "docs/guide/paper.md": directory_of_sets,
    "docs/guide/serving.md": served_model,
    "docs/guide/studies.md": directory_of_sets,
}
