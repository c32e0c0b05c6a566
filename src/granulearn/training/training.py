"""From a training table to a fitted pipeline with honest scores and a card."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    make_scorer,
)
from sklearn.model_selection import StratifiedKFold, cross_validate, train_test_split
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from granulearn.models import ColumnCard, ModelCard
from granulearn.preprocess import TablePreprocessor
from granulearn.preprocess.table_inputs import TableInputs
from granulearn.tables import Schema, TableError, TableReport, TrainingTable
from granulearn.tables.messages import Message, Setting
from granulearn.training.model_kinds import make_model, search_grid
from granulearn.utils.text import counted

MAX_FOLDS = 5
ROWS_TO_SEARCH = 4
"""Rows that each class needs, so that folds inside folds have some."""
MAX_CONFUSION_CLASSES = 100
"""The confusion matrix of more classes would be most of a model file."""
METRICS: dict[str, Callable[..., float]] = {
    "accuracy": accuracy_score,
    "balanced accuracy": balanced_accuracy_score,
    "macro F1": partial(f1_score, average="macro"),
}


@dataclass(frozen=True, eq=False)
class Trained:
    """A fitted pipeline, its card, and the report on the table."""

    pipeline: Pipeline
    card: ModelCard
    report: TableReport


def no_progress(stage: str) -> None:
    """Show nothing."""


class ReportedFolds(StratifiedKFold):
    """Shuffled folds that report each fold before it is used."""

    def __init__(
        self,
        n_splits: int,
        seed: int,
        progress: Callable[[str], None],
        doing: str = "cross-validating",
    ):
        super().__init__(n_splits, shuffle=True, random_state=seed)
        self.progress, self.doing = progress, doing

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator:
        """Report which fold is next, then yield its rows."""
        for number, fold in enumerate(super().split(X, y, groups), start=1):
            self.progress(f"{self.doing}, fold {number} of {self.n_splits}")
            yield fold


def train(
    table: TrainingTable,
    model: str,
    *,
    tune: bool,
    test: float,
    seed: int,
    is_verified: np.ndarray | None = None,
    progress: Callable[[str], None] = no_progress,
    **parameters: Any,
) -> Trained:
    """Split, cross-validate, fit, and score on the test rows.

    The returned model is the one that was scored: it has not seen the test rows.

    Parameters
    ----------
    table : TrainingTable
        What to learn from.
    model : str
        A name of `model_kinds`.
    tune : bool
        Whether to search the paper's grid, inside each fold too; for tunable kinds.
    test : float
        Fraction of the rows to hold out, from 0 to below 1.
    seed : int
        Seed of the split, the folds and the model.
    is_verified : ndarray of shape (n_rows,), default=None
        True where a person has verified the label; the card does not call it doubted.
    progress : callable, default=no_progress
        Progress callback.
    **parameters
        Of the model; None is its default.
    """
    if tune:
        _check_class_sizes(table, test)
    train_rows, test_rows = _split(table, test, seed)
    X, y = table.X.iloc[train_rows], table.y[train_rows]
    learner = make_learner(model, y, tune=tune, seed=seed, **parameters)
    scores: dict[str, Any] = {}
    with fitting(model, tune=tune):
        if folds_for(y) > 1:
            scores["cross_validated"] = _cross_validate(learner, X, y, seed, progress)
        progress(f"fitting {model} to {len(y)} rows")
        fitted = clone(learner).fit(X, y)
        pipeline = fitted.best_estimator_ if tune else fitted
        if len(test_rows):
            progress(f"scoring on {len(test_rows)} rows held out")
            predicted = pipeline.predict(table.X.iloc[test_rows])
            scores["held_out"] = _scores(table.y[test_rows], predicted, pipeline.classes_)
    verified = None if is_verified is None else is_verified[train_rows]
    doubted = _doubted_labels(pipeline[-1], y, verified)
    facts: dict[str, Any] = {"scores": scores, "seed": seed, "doubted_labels": doubted}
    return Trained(pipeline, make_card(model, pipeline, table, X, y, **facts), table.report)


def make_pipeline(model: Any) -> Pipeline:
    """Return the pipeline of every table: preprocessing and a model, not fitted."""
    if isinstance(model, TableInputs):
        model.set_params(categorical_features=None)  # its inputs are prepared
    return Pipeline([("preprocess", TablePreprocessor()), ("model", model)])


def make_learner(model: str, y: np.ndarray, *, tune: bool, seed: int, **parameters: Any) -> Any:
    """Return the pipeline to fit to labels `y`, or the search for its settings."""
    # Threads change no result, and a command has the machine to itself.
    pipeline = make_pipeline(make_model(model, random_state=seed, n_jobs=-1, **parameters))
    if not tune:
        return pipeline
    from granulearn.model_selection import PathSearchCV

    smallest = int(np.unique(y, return_counts=True)[1].min())
    # Inside the outer folds the rarest class has fewer rows still.
    left_inside = smallest - int(np.ceil(smallest / folds_for(y))) if smallest > 1 else 1
    folds = StratifiedKFold(max(2, min(MAX_FOLDS, left_inside)), shuffle=True, random_state=seed)
    return PathSearchCV(pipeline, search_grid(model), cv=folds)


def make_card(
    kind: str, pipeline: Any, table: TrainingTable, X: pd.DataFrame, y: np.ndarray, **facts: Any
) -> ModelCard:
    """Return the card of a pipeline that was fitted to rows X, y of a table.

    Parameters
    ----------
    kind : str
        A name of `model_kinds`, or of a class.
    pipeline : Pipeline
        Fitted.
    table : TrainingTable
        Where the rows come from.
    X, y : DataFrame, ndarray
        The training rows.
    **facts
        Further fields of the card.
    """
    model = pipeline[-1]
    # An ensemble of networks, alone or as a member, chose its settings by leave-one-out.
    network = getattr(model, "rvfl_", model)
    settings = [name for name in ("C", "activation") if hasattr(network, f"{name}_")]
    counts = Counter(map(str, y))
    return ModelCard(
        model=kind,
        target=table.target,
        columns=input_cards(X, table.schema),
        schema=table.schema,
        rows=len(y),
        dropped_rows=table.dropped_rows,
        classes={str(label): counts[str(label)] for label in pipeline.classes_},
        balls=len(model.balls_) if hasattr(model, "balls_") else None,
        parameters=model.get_params(),
        chosen={name: getattr(network, f"{name}_") for name in settings},
        **facts,
    )


def input_cards(X: pd.DataFrame, schema: Schema | None = None) -> tuple[ColumnCard, ...]:
    """Return what a model card says of the inputs of a model.

    Parameters
    ----------
    X : DataFrame
        Training rows: floats and categories.
    schema : Schema, default=None
        Says in words what the inputs hold.
    """
    meanings: dict[str, str] = {}
    for column in schema.used if schema else ():
        meanings |= column.meanings
    # All numbers at once: a frame is slow to hand out thousands of columns one by one.
    numbers = X.select_dtypes("number")
    ranges = dict(zip(numbers, zip(numbers.min(), numbers.max(), strict=True), strict=True))
    cards = []
    for name, missing in zip(X, X.isna().sum().tolist(), strict=True):
        if name in ranges:
            limits = () if missing == len(X) else map(float, ranges[name])
            card = ColumnCard(str(name), "number", missing, *limits)
        else:
            known = tuple(sorted(X[name].dropna().unique()))
            card = ColumnCard(str(name), "category", missing, categories=known)
        cards.append(replace(card, meaning=meanings.get(str(name), "")))
    return tuple(cards)


def _scores(true: np.ndarray, predicted: np.ndarray, classes: np.ndarray) -> dict[str, Any]:
    """Return the scores of a model card for some rows."""
    scores: dict[str, Any] = {"rows": len(true)}
    scores |= {name: float(metric(true, predicted)) for name, metric in METRICS.items()}
    if len(classes) <= MAX_CONFUSION_CLASSES:
        counts = confusion_matrix(true, predicted, labels=classes).tolist()
        scores["confusion"] = {"classes": [*map(str, classes)], "counts": counts}
    return scores


@contextmanager
def fitting(kind: str, *, tune: bool) -> Iterator[None]:
    """Fit and score in silence about small classes; raise a ValueError as one about the table.

    Parameters
    ----------
    kind : str
        A name of `model_kinds`.
    tune : bool
        Whether settings are searched.
    """
    # A search solves thousands of small systems: threads would only wait for each other.
    with threadpool_limits(1 if tune else None, user_api="blas"), warnings.catch_warnings():
        for named_by_the_report in (
            "the label quality of",
            "The least populated class",
            "y_pred contains classes not in y_true",
        ):
            warnings.filterwarnings("ignore", named_by_the_report)
        try:
            yield
        except ValueError as error:
            message = f"{kind} cannot be fitted to this table: {error} Another "
            raise TableError(Message(message, Setting("model"), " may fit it.")) from error


def rows_alone(y: np.ndarray) -> np.ndarray:
    """Return where a row is the only one of its class."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return counts[codes] == 1


def folds_for(y: np.ndarray) -> int:
    """Return how many folds labels allow; 0 if every class has a single row."""
    counts = np.unique(y[~rows_alone(y)], return_counts=True)[1]
    return min(MAX_FOLDS, int(counts.min())) if len(counts) else 0


def _cross_validate(
    learner: Any, X: Any, y: np.ndarray, seed: int, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Return mean and spread of each score."""
    folds = ReportedFolds(folds_for(y), seed, progress)
    scoring = {name: make_scorer(metric) for name, metric in METRICS.items()}
    results = cross_validate(learner, X, y, cv=folds, scoring=scoring, error_score="raise")
    scores: dict[str, Any] = {"folds": folds.n_splits}
    for name in METRICS:
        values = results[f"test_{name}"]
        scores[name] = {"mean": float(values.mean()), "std": float(values.std())}
    return scores


def _split(table: TrainingTable, test: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(len(table.y))
    if not test:
        return rows, rows[:0]
    # The only row of a class is a training row: it cannot be in both parts.
    alone = rows_alone(table.y)
    others = rows[~alone]
    n_classes = len(np.unique(table.y[others]))
    if not n_classes or min(round(test * len(others)), round((1 - test) * len(others))) < n_classes:
        message = (
            f"{len(rows)} rows cannot be split into {1 - test:g} and {test:g} so that both parts "
            f"hold all {len(np.unique(table.y))} classes; add rows, or pass "
        )
        raise TableError(Message(message, Setting("test", 0), "."))
    first, second = train_test_split(
        others, test_size=test, stratify=table.y[others], random_state=seed
    )
    return np.sort(np.concatenate([first, rows[alone]])), np.sort(second)


def _check_class_sizes(table: TrainingTable, test: float) -> None:
    labels, counts = np.unique(table.y, return_counts=True)
    rarest, n_rows = labels[counts.argmin()], int(counts.min())
    needed = int(np.ceil(ROWS_TO_SEARCH / (1 - test)))
    if n_rows < needed:
        message = (
            f"column {table.target!r}, the target: class {rarest!s} has {counted(n_rows, 'row')}, "
            f"and {needed} are needed to search settings; add rows of it, or remove it, or leave "
            "out "
        )
        raise TableError(Message(message, Setting("tune", True), "."))


def _doubted_labels(model: Any, y: np.ndarray, is_verified: np.ndarray | None) -> int | None:
    """Count the unverified labels that are less probable than another one, out of bag.

    None for a model without a ball forest.
    """
    forest = model if hasattr(model, "oob_proba_") else getattr(model, "forest_", None)
    if forest is None:
        return None
    known = ~np.isnan(model.label_quality_)
    if is_verified is not None:
        known &= ~is_verified
    likely = model.classes_[forest.oob_proba_[known].argmax(axis=1)]
    return int(np.sum(likely != y[known]))
