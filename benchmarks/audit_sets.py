"""Labels to audit: sets, planted and real mistakes, and how findings are scored."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from benchmarks.harness import Row, markdown
from granulearn.bench import compare, load_study
from granulearn.datasets import flip_labels, load
from granulearn.preprocess import TablePreprocessor

# Groups of sets; those of the first are the sets of the paper, each once.
SMALL, LARGER, MANY_CLASSES = "small", "two classes, larger", "many classes"
REAL_NOISE, CHECKED = "real noise", "checked labels"
LARGER_SETS = ("adult", "churn", "spambase", "phoneme")
MANY_CLASS_SETS = ("letter", "satimage", "diamonds", "covtype")
MOST_ROWS = 4_000
# Files with the labels as given and as people found them later, in `checked/` of the data folder.
CHECKED_FILES = {
    "mammography_biopsy": "mammography_biopsy.csv",
    "kepler_2013": "kepler_2013.csv.gz",
    "yoruba_news": "yoruba_news.csv.gz",
}
NOT_INPUTS = ["given_label", "true_label", "kepoi_name", "title", "birads_of_radiologist", "part"]


@dataclass(frozen=True, eq=False)
class Labels:
    """Inputs, labels as given and as they are; classes are numbers."""

    X: np.ndarray
    given: np.ndarray
    truth: np.ndarray

    @property
    def wrong(self) -> np.ndarray:
        """Return which given labels are wrong."""
        return self.given != self.truth

    def planted(self, kind: str, rate: float, draw: int) -> Labels:
        """Return the same rows with a share of the true labels made wrong."""
        features = {"X": self.X} if kind == "boundary" else {}
        given = flip_labels(self.truth, rate, kind, draw, **features).labels if rate else self.truth
        return Labels(self.X, given, self.truth)


def names_of(group: str) -> list[str]:
    """Return the sets of a group; small ones come first."""
    if group == SMALL:
        names = list(load_study("rivals").datasets)
        return sorted(names, key=lambda name: len(load(name).y))
    if group == REAL_NOISE:
        return list(load_study("real-noise").datasets)
    if group == CHECKED:
        return list(CHECKED_FILES) if _checked_folder() is not None else []
    return list(LARGER_SETS if group == LARGER else MANY_CLASS_SETS)


@lru_cache(maxsize=2)
def labels_of(name: str, group: str) -> Labels:
    """Return a set; of a larger one `MOST_ROWS` stratified rows."""
    if group == CHECKED:
        frame = pd.read_csv(_checked_folder() / CHECKED_FILES[name]).dropna(subset="given_label")
        inputs = frame.drop(columns=NOT_INPUTS, errors="ignore")
        given, truth = frame["given_label"], frame["true_label"]
    else:
        data = load(name)
        inputs, given = data.X, pd.Series(data.y)
        truth = pd.Series(data.truth) if group == REAL_NOISE else given
    # No label may help to make X: they are changed later.
    X = TablePreprocessor(max_one_hot=None).fit_transform(inputs)
    classes = np.unique(np.concatenate([given.to_numpy(), truth.to_numpy()]))
    given, truth = (np.searchsorted(classes, labels) for labels in (given, truth))
    if group in (LARGER, MANY_CLASSES) and len(truth) > MOST_ROWS:
        X, _, truth, _ = train_test_split(
            X, truth, train_size=MOST_ROWS, stratify=truth, random_state=0
        )
        given = truth
    return Labels(X, given, truth)


def unseen_proba(model, X: np.ndarray, y: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return five-fold probabilities of a model."""
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


def ranking_scores(wrong: np.ndarray, quality: np.ndarray) -> Row:
    """Return how well the lowest qualities find the wrong rows."""
    if not 0 < wrong.sum() < len(wrong):
        return {}
    order = np.argsort(np.nan_to_num(quality, nan=1.0), kind="stable")
    doubt = -np.nan_to_num(quality, nan=1.0)
    return {
        "AUROC": roc_auc_score(wrong, doubt),
        "average precision": average_precision_score(wrong, doubt),
        **{f"precision at {k}": wrong[order[:k]].mean() for k in (20, 50, 100)},
    }


def verdict_scores(wrong: np.ndarray, flagged: np.ndarray) -> Row:
    """Return how well flags find the wrong rows."""
    hits = int((flagged & wrong).sum())
    any_wrong = wrong.any()
    return {
        "flagged": flagged.mean(),
        "precision": hits / flagged.sum() if flagged.any() else np.nan,
        "recall": hits / wrong.sum() if any_wrong else np.nan,
        "F1": 2 * hits / (flagged.sum() + wrong.sum()) if any_wrong else np.nan,
    }


def ranking_table(found: pd.DataFrame, score: str, by: list[str], methods: list[str]) -> str:
    """Return the mean of a score per kind and rate of errors, and the first against the best."""
    lines = {}
    for (kind, rate), part in found.groupby(by, sort=False):
        compared = compare(part.pivot_table(score, "set", "method")[methods].dropna())
        rival = compared.means.drop(methods[0]).idxmax()
        p_value = compared.p_matrix().loc[methods[0], rival]
        lines[f"{kind} {rate:.0%}"] = [*compared.means[methods], f"{rival}, {p_value:.2g}"]
    return markdown(pd.DataFrame.from_dict(lines, "index", columns=[*methods, "best rival, p"]))


def _checked_folder() -> Path | None:
    folder = Path(os.environ.get("GRANULEARN_DATA", ".")) / "checked"
    return folder if folder.is_dir() else None
