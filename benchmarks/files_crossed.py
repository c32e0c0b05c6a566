"""Count the files of ours that a call goes through.

    python benchmarks/files_crossed.py

Traced with a profiler after a first call, so that neither imports nor the
compiler count. A reader who follows the call has to open so many files.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import granulearn
from granulearn import PathSearchCV, SDAPGBRVFLClassifier
from granulearn.cli.main import run
from granulearn.studies.preparation import load_dataset, prepare

SOURCE = Path(granulearn.__file__).parent
ONE_TUNED_CELL = """
question = "What does one tuned cell go through?"
datasets = ["tumours"]
split = { kind = "holdout" }

[[method]]
name = "SDAP-GBRVFL"
estimator = "SDAPGBRVFLClassifier"
grid = { C = [0.1, 1.0], n_hidden = [3, 23], activation = ["relu", "sine"] }
"""


def files_crossed(call: Callable[[], object]) -> list[str]:
    """Return the files of ours whose functions are called, without those of imports."""
    call()
    seen: set[str] = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(
        str(Path(name).relative_to(SOURCE)) for name in seen if Path(name).is_relative_to(SOURCE)
    )


def fit_of_a_ball_model() -> object:
    """Fit SDAP-GBRVFL as a user does."""
    X, y = load_breast_cancer(return_X_y=True)
    return SDAPGBRVFLClassifier(random_state=0).fit(scale(X), y)


def search() -> object:
    """Search a small grid."""
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"C": [0.1, 1.0], "n_hidden": [3, 23], "activation": ["relu", "sine"]}
    return PathSearchCV(SDAPGBRVFLClassifier(random_state=0), grid).fit(scale(X), y)


def tuned_cell() -> None:
    """Run `granulearn bench` on one cell: read a CSV file, split, search, score, save."""
    prepare.cache_clear()
    load_dataset.cache_clear()
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        place = Path(folder)
        table = load_breast_cancer(as_frame=True).frame
        table.to_csv(place / "tumours.csv", index=False)
        manifest = f"name,rows,features,minority_rows\ntumours,{len(table)},30,212\n"
        (place / "manifest.csv").write_text(manifest, encoding="utf-8")
        (place / "one.toml").write_text(ONE_TUNED_CELL, encoding="utf-8")
        places = ["--results", f"{place}/one.db", "--data-dir", folder]
        with redirect_stdout(nowhere), redirect_stderr(nowhere):
            code = run(["bench", f"{place}/one.toml", "--jobs", "1", *places])
    if code:
        raise RuntimeError(f"the cell ended with exit code {code}")


if __name__ == "__main__":
    for title, call in (
        ("SDAPGBRVFLClassifier.fit", fit_of_a_ball_model),
        ("PathSearchCV.fit", search),
        ("one tuned cell of bench", tuned_cell),
    ):
        crossed = files_crossed(call)
        print(f"{title}: {len(crossed)}")
        for name in crossed:
            print(f"    {name}")
