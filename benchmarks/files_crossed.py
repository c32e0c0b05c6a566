"""Count the files of ours that one call goes through.

    python benchmarks/files_crossed.py

Traced with a profiler after a first call, so that neither imports nor the
compiler count. A reader who follows the call has to open so many files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import granulearn
from granulearn import PathSearchCV, SDAPGBRVFLClassifier

SOURCE = Path(granulearn.__file__).parent


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


if __name__ == "__main__":
    for title, call in (
        ("SDAPGBRVFLClassifier.fit", fit_of_a_ball_model),
        ("PathSearchCV.fit", search),
    ):
        crossed = files_crossed(call)
        print(f"{title}: {len(crossed)}")
        for name in crossed:
            print(f"    {name}")
