"""Training parts of the paper's collection, cut once more: where choices may be judged.

Of each set of at most 1,100 samples the training part of a split of its own is
cut into samples to fit, whose labels are then disturbed on purpose, and samples
to judge by, with their true labels. The test part of that split is not looked
at. The study `rivals` splits the same sets at random several times, so samples that
judge here are test samples of some of its splits.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from granulearn.bench import load_study
from granulearn.datasets import flip_labels, load

LARGEST = 1_100
SHARE_ASIDE = 0.3


@dataclass(frozen=True, eq=False)
class TrainingPart:
    """One draw of one set; classes are numbers."""

    name: str
    draw: int
    X: np.ndarray
    labels: np.ndarray
    new: np.ndarray
    """Inputs to judge by."""
    truth: np.ndarray
    """Their labels."""
    n_classes: int

    def disturbed(self, kind: str, rate: float) -> np.ndarray:
        """Return the labels to fit, a share of them wrong."""
        if rate == 0:
            return self.labels
        where = {"X": self.X} if kind == "boundary" else {}
        return flip_labels(self.labels, rate, kind, self.draw, **where).labels


def small_sets() -> list[str]:
    """Return the names of the sets that are small enough to be fitted very often."""
    names = load_study("rivals").datasets
    return [name for name in names if len(load(name, download=False).y) <= LARGEST]


def training_part(name: str, draw: int) -> TrainingPart:
    """Return one draw of a set."""
    data = load(name, download=False)
    X, codes = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
    X, _, codes, _ = _cut(X, codes, seed=0)
    X, new, codes, truth = _cut(X, codes, seed=draw)
    scaler = StandardScaler().fit(X)
    n_classes = int(codes.max()) + 1
    return TrainingPart(
        name, draw, scaler.transform(X), codes, scaler.transform(new), truth, n_classes
    )


def judge_all(judge: Callable[[str, int], list[dict]], about: str, draws: int) -> pd.DataFrame:
    """Judge every draw of every small set, as the command line asks; return all rows.

    Parameters
    ----------
    judge : callable
        Takes the name of a set and the number of a draw.
    about : str
        What ``--help`` says.
    draws : int
        Of each set, unless the command line says otherwise.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--draws", type=int, default=draws)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    names = small_sets()
    tasks = [delayed(judge)(name, 1 + draw) for name in names for draw in range(arguments.draws)]
    rows = Parallel(n_jobs=arguments.jobs, verbose=1)(tasks)
    print(f"{len(names)} sets, {arguments.draws} draws")
    return pd.DataFrame([row for some in rows for row in some])


def _cut(X: np.ndarray, codes: np.ndarray, seed: int) -> list[np.ndarray]:
    return train_test_split(X, codes, test_size=SHARE_ASIDE, stratify=codes, random_state=seed)
