"""From a training table to a fitted pipeline with honest scores and a card."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_validate, train_test_split
from threadpoolctl import threadpool_limits

from granulearn._words import counted
from granulearn.datasets import make_pipeline_for
from granulearn.datasets.pipelines import columns_by_name, columns_by_place
from granulearn.models.model_card import ModelCard
from granulearn.models.model_files import check_card_fits
from granulearn.tables import TableError, TrainingTable
from granulearn.tables.messages import Message, Setting
from granulearn.training.model_kinds import make_model, search_grid
from granulearn.training.trained_model import (
    Trained,
    cannot_be_split,
    input_cards,
    make_card,
    scores_of_confusion,
    told_to_users,
    with_meanings,
)

MAX_FOLDS = 5
ROWS_TO_SEARCH = 4
"""Each class needs so many rows, so that folds inside of folds have some."""
SCORERS = {
    "accuracy": "accuracy",
    "balanced accuracy": "balanced_accuracy",
    "macro F1": "f1_macro",
}


def tell_nobody(stage: str) -> None:
    """Show nothing.

    Parameters
    ----------
    stage : str
        What is being done.
    """


class ToldFolds(StratifiedKFold):
    """Folds that say which of them is next: one is asked for when the last has been scored.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    seed : int
        Of the folds.
    tell : callable
        Told which fold is next.
    doing : str, default="cross-validating"
        What is done with the folds.
    """

    def __init__(
        self,
        n_splits: int,
        seed: int,
        tell: Callable[[str], None],
        doing: str = "cross-validating",
    ):
        super().__init__(n_splits, shuffle=True, random_state=seed)
        self.tell, self.doing = tell, doing

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator:
        """Say which fold is next, then yield its rows."""
        for number, fold in enumerate(super().split(X, y, groups), start=1):
            self.tell(f"{self.doing}, fold {number} of {self.n_splits}")
            yield fold


def train(
    table: TrainingTable,
    model: str,
    *,
    tune: bool,
    test: float,
    seed: int,
    is_verified: np.ndarray | None = None,
    tell: Callable[[str], None] = tell_nobody,
) -> Trained:
    """Split, cross-validate, fit, and score on the rows held out.

    The model that is returned is the one that was scored: it has not seen the
    rows held out. With ``test=0`` it has seen every row.

    Parameters
    ----------
    table : TrainingTable
        What to learn from.
    model : str
        A name of `model_kinds`.
    tune : bool
        Whether to search the paper's grid, inside each fold too; for tunable kinds.
    test : float
        Share of the rows to hold out, from 0 to below 1.
    seed : int
        Seed of the split, the folds and the model.
    is_verified : ndarray of shape (n_rows,), default=None
        True where a person has looked at the label; the card does not call it doubted.
    tell : callable, default=nobody is told
        Told what is being done.
    """
    _check_class_sizes(table, tune=tune, test=test)
    train_rows, test_rows = _split(table, test, seed)
    X, y = table.X.iloc[train_rows], table.y[train_rows]
    columns = with_meanings(input_cards(X), table.schema)
    check_card_fits(ModelCard(columns=columns, schema=table.schema))
    learner = make_learner(table, model, y, tune=tune, seed=seed)
    # A search solves thousands of small systems: threads would only wait for each other.
    with threadpool_limits(1 if tune else None, user_api="blas"), told_to_users(model):
        cross_validated = _cross_validate(learner, X, y, seed, tell)
        tell(f"fitting {model} to {len(y)} rows")
        fitted = clone(learner).fit(X, y)
    pipeline = columns_by_name(fitted.best_estimator_ if tune else fitted, X)
    scores: dict[str, Any] = {}
    if cross_validated:
        scores["cross_validated"] = cross_validated
    if len(test_rows):
        tell(f"scoring on {len(test_rows)} rows held out")
        classes, predicted = pipeline.classes_, pipeline.predict(table.X.iloc[test_rows])
        counts = confusion_matrix(table.y[test_rows], predicted, labels=classes)
        scores["held_out"] = scores_of_confusion(counts, classes)
    card = make_card(
        model,
        pipeline[-1],
        Counter(map(str, y)),
        target=table.target,
        columns=columns,
        schema=table.schema,
        dropped_rows=table.dropped_rows,
        scores=scores,
        seed=seed,
        doubted_labels=_doubted_labels(
            pipeline[-1], y, None if is_verified is None else is_verified[train_rows]
        ),
    )
    return Trained(pipeline, card, table.report)


def _doubted_labels(model: Any, y: np.ndarray, is_verified: np.ndarray | None) -> int | None:
    """Count the labels that nobody has verified and that are less probable than another one.

    None for a model without a ball forest: it has no such probabilities.
    """
    forest = model if hasattr(model, "oob_proba_") else getattr(model, "forest_", None)
    if forest is None:
        return None
    known = ~np.isnan(model.reliability_)
    if is_verified is not None:
        known &= ~is_verified
    likely = model.classes_[forest.oob_proba_[known].argmax(axis=1)]
    return int(np.sum(likely != y[known]))


def _check_class_sizes(table: TrainingTable, *, tune: bool, test: float) -> None:
    if not tune:
        return
    labels, counts = np.unique(table.y, return_counts=True)
    rarest, n_rows = labels[counts.argmin()], int(counts.min())
    needed = int(np.ceil(ROWS_TO_SEARCH / (1 - test)))
    if n_rows < needed:
        said = (
            f"column {table.target!r}, the target: class {rarest!s} has {counted(n_rows, 'row')}, "
            f"and {needed} are needed to search settings; add rows of it, or remove it, or leave "
            "out "
        )
        raise TableError(Message(said, Setting("tune", True), "."))


def _split(table: TrainingTable, test: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(len(table.y))
    if not test:
        return rows, rows[:0]
    # The only row of a class is learned from: it cannot be in both parts.
    alone = rows_alone(table.y)
    others = rows[~alone]
    n_classes = len(np.unique(table.y[others]))
    if not n_classes or min(round(test * len(others)), round((1 - test) * len(others))) < n_classes:
        raise cannot_be_split(len(rows), len(np.unique(table.y)), test)
    first, second = train_test_split(
        others, test_size=test, stratify=table.y[others], random_state=seed
    )
    return np.sort(np.concatenate([first, rows[alone]])), np.sort(second)


def rows_alone(y: np.ndarray) -> np.ndarray:
    """Return where a row is the only one of its class.

    Parameters
    ----------
    y : ndarray
        Labels.
    """
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return counts[codes] == 1


def make_learner(table: TrainingTable, model: str, y: np.ndarray, *, tune: bool, seed: int) -> Any:
    """Return what is fitted, with columns by place: a pipeline, or a search for its settings.

    Parameters
    ----------
    table : TrainingTable
        Says what the columns are.
    model : str
        A name of `model_kinds`.
    y : ndarray
        The labels that it will be fitted to.
    tune : bool
        Whether to search.
    seed : int
        Of the model, and of the folds of a search.
    """
    pipeline = columns_by_place(make_pipeline_for(table.X, make_model(model, seed)), table.X)
    if not tune:
        return pipeline
    from granulearn.model_selection import PathSearchCV

    smallest = int(np.unique(y, return_counts=True)[1].min())
    # Inside the outer folds the rarest class has fewer rows still.
    left_inside = smallest - int(np.ceil(smallest / folds_for(y))) if smallest > 1 else 1
    folds = StratifiedKFold(max(2, min(MAX_FOLDS, left_inside)), shuffle=True, random_state=seed)
    return PathSearchCV(pipeline, search_grid(model), cv=folds)


def folds_for(y: np.ndarray) -> int:
    """Return how many folds labels allow; 0 if every class has a single row.

    Parameters
    ----------
    y : ndarray
        Labels.
    """
    counts = np.unique(y[~rows_alone(y)], return_counts=True)[1]
    return min(MAX_FOLDS, int(counts.min())) if len(counts) else 0


@contextmanager
def small_classes_allowed() -> Iterator[None]:
    """Keep quiet about small classes: they are told of where the table is checked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        warnings.filterwarnings("ignore", "y_pred contains classes not in y_true")
        yield


def _cross_validate(
    learner: Any, X: Any, y: np.ndarray, seed: int, tell: Callable[[str], None]
) -> dict[str, Any] | None:
    """Return mean and spread of each score; None if every class has a single row."""
    n_folds = folds_for(y)
    if n_folds < 2:
        return None
    folds = ToldFolds(n_folds, seed, tell)
    with small_classes_allowed():
        results = cross_validate(learner, X, y, cv=folds, scoring=SCORERS, error_score="raise")
    scores: dict[str, Any] = {"folds": n_folds}
    for name in SCORERS:
        values = results[f"test_{name}"]
        scores[name] = {"mean": float(values.mean()), "std": float(values.std())}
    return scores
