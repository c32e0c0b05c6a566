"""Simulated reviewers: the orders in which 100 rows of doubtful labels are looked at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from cleanlab.rank import get_label_quality_scores
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from granulearn.audit import LabelAudit

DECISIONS, SITTING = 100, 25
DEPTHS = tuple(range(SITTING, DECISIONS + 1, SITTING))
FOREST = partial(RandomForestClassifier, 100, n_jobs=1, random_state=0)
LOGISTIC = partial(LogisticRegression, max_iter=2000)


@dataclass(frozen=True, eq=False)
class Labels:
    """A training part with doubtful labels, and rows to judge by; classes are numbers."""

    X: np.ndarray
    given: np.ndarray
    truth: np.ndarray
    new: np.ndarray
    """Inputs to judge by."""
    new_truth: np.ndarray


@dataclass(frozen=True, eq=False)
class Review:
    """Rows in the order in which they were looked at, and the audit after the last decision."""

    rows: np.ndarray
    audit: LabelAudit | None = None


def by_granulearn(
    labels: Labels, answers: np.ndarray, *, random_fraction: float = 0.0, refits: bool = True
) -> Review:
    """Look at what `next_to_review` names; with refits the audit learns from each sitting."""
    audit = LabelAudit(random_state=0).fit(labels.X, labels.given)
    if not refits:
        return Review(audit.next_to_review(DECISIONS).index.to_numpy())
    said = []
    for _ in DEPTHS:
        rows = audit.next_to_review(SITTING, random_fraction=random_fraction)
        said.append(rows.assign(label=answers[rows.index]))
        verified = pd.concat(said)
        audit = LabelAudit(random_state=0).fit(labels.X, labels.given, verified=verified)
    return Review(verified.index.to_numpy(), audit)


def by_cleanlab(
    labels: Labels, answers: np.ndarray, *, model: Callable, refits: bool = False
) -> Review:
    """Look at labels by cleanlab's self-confidence on five-fold probabilities of a model.

    With refits the model learns the corrected labels after each sitting, which cleanlab
    leaves to its user.
    """
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    current, seen = labels.given.copy(), np.empty(0, dtype=np.intp)
    for n_rows in [SITTING] * len(DEPTHS) if refits else [DECISIONS]:
        proba = cross_val_predict(model(), labels.X, current, cv=folds, method="predict_proba")
        order = np.argsort(get_label_quality_scores(labels.given, proba), kind="stable")
        rows = order[~np.isin(order, seen)][:n_rows]
        current[rows] = answers[rows]
        seen = np.append(seen, rows)
    return Review(seen)


def by_nobody(labels: Labels, answers: np.ndarray) -> Review:
    """Look at nothing."""
    return Review(np.empty(0, dtype=np.intp))


def by_an_oracle(labels: Labels, answers: np.ndarray) -> Review:
    """Look at all labels, the wrong ones first."""
    return Review(np.argsort(labels.given == labels.truth, kind="stable"))


NOBODY, ALL_RIGHT = "labels as given", "all labels right"
OURS, STATIC = "granulearn, worst first", "granulearn, worst first, no refits"
HALF, CHANCE = "granulearn, half at random", "at random"
FOREST_ONCE, FOREST_AGAIN = "cleanlab, random forest", "cleanlab, random forest, refitted by hand"
LOGISTIC_ONCE = "cleanlab, logistic"
OURS_ERRS, HALF_ERRS = f"{OURS}, reviewer errs", f"{HALF}, reviewer errs"
ORDERS: dict[str, Callable[[Labels, np.ndarray], Review]] = {
    NOBODY: by_nobody,
    OURS: by_granulearn,
    STATIC: partial(by_granulearn, refits=False),
    HALF: partial(by_granulearn, random_fraction=0.5),
    FOREST_ONCE: partial(by_cleanlab, model=FOREST),
    FOREST_AGAIN: partial(by_cleanlab, model=FOREST, refits=True),
    LOGISTIC_ONCE: partial(by_cleanlab, model=LOGISTIC),
    CHANCE: partial(by_granulearn, random_fraction=1.0),
    OURS_ERRS: by_granulearn,
    HALF_ERRS: partial(by_granulearn, random_fraction=0.5),
    ALL_RIGHT: by_an_oracle,
}
