"""Where the benchmark sets are that are not part of the repository.

`GRANULEARN_DATA` names the directory; without it, ``shared/data`` beside the
checkout is used. Tests that need the sets say so when neither is there.
"""

import csv
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_data_dir() -> Path:
    """Return the directory of benchmark sets, or skip the test with the reason."""
    directory = Path(os.environ.get("GRANULEARN_DATA", BESIDE_CHECKOUT))
    if not (directory / "manifest.csv").is_file():
        pytest.skip(
            f"no manifest.csv in {directory}: set GRANULEARN_DATA to the benchmark sets' directory"
        )
    return directory


def shared_names() -> list[str]:
    """Return the names of the sets that have a file, in the manifest's order."""
    directory = shared_data_dir()
    with open(directory / "manifest.csv", newline="", encoding="utf-8") as manifest:
        names = [row["name"] for row in csv.DictReader(manifest)]
    return [name for name in names if (directory / f"{name}.csv").is_file()]


@cache
def load_shared(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X (float) and y (0 or 1) of one set."""
    table = np.loadtxt(shared_data_dir() / f"{name}.csv", delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(int)
