"""From a training table to a fitted pipeline with honest scores and a card."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_validate, train_test_split
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from granulearn.models import ColumnCard, ModelCard
from granulearn.models.model_file import check_card_fits
from granulearn.preprocess import TablePreprocessor
from granulearn.tables import Schema, TableError, TableReport, TrainingTable
from granulearn.tables.messages import Message, Setting
from granulearn.training.model_kinds import make_model, search_grid
from granulearn.utils.text import counted

MAX_FOLDS = 5
ROWS_TO_SEARCH = 4
"""Each class needs so many rows, so that folds inside of folds have some."""
MAX_CONFUSION_CLASSES, LARGEST_CONFUSIONS = 100, 100
"""The counts of more classes would be most of a model file."""
SCORERS = {
    "accuracy": "accuracy",
    "balanced accuracy": "balanced_accuracy",
    "macro F1": "f1_macro",
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
        tell: Callable[[str], None],
        doing: str = "cross-validating",
    ):
        super().__init__(n_splits, shuffle=True, random_state=seed)
        self.tell, self.doing = tell, doing

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator:
        """Report which fold is next, then yield its rows."""
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
    tell: Callable[[str], None] = no_progress,
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
    tell : callable, default=no_progress
        Progress callback.
    """
    _check_class_sizes(table, tune=tune, test=test)
    train_rows, test_rows = _split(table, test, seed)
    X, y = table.X.iloc[train_rows], table.y[train_rows]
    check_card_fits(ModelCard(columns=input_cards(X, table.schema), schema=table.schema))
    learner = make_learner(model, y, tune=tune, seed=seed)
    # A search solves thousands of small systems: threads would only wait for each other.
    with threadpool_limits(1 if tune else None, user_api="blas"), errors_about_table(model):
        cross_validated = _cross_validate(learner, X, y, seed, tell)
        tell(f"fitting {model} to {len(y)} rows")
        fitted = clone(learner).fit(X, y)
    pipeline = fitted.best_estimator_ if tune else fitted
    scores: dict[str, Any] = {}
    if cross_validated:
        scores["cross_validated"] = cross_validated
    if len(test_rows):
        tell(f"scoring on {len(test_rows)} rows held out")
        classes, predicted = pipeline.classes_, pipeline.predict(table.X.iloc[test_rows])
        counts = confusion_matrix(table.y[test_rows], predicted, labels=classes)
        scores["held_out"] = scores_of_confusion(counts, classes)
    verified = None if is_verified is None else is_verified[train_rows]
    card = make_card(
        model,
        pipeline,
        table,
        X,
        y,
        scores=scores,
        seed=seed,
        doubted_labels=_doubted_labels(pipeline[-1], y, verified),
    )
    return Trained(pipeline, card, table.report)


def make_pipeline(model: Any) -> Pipeline:
    """Return the pipeline of every table: preprocessing and a model, not fitted."""
    return Pipeline([("preprocess", TablePreprocessor()), ("model", model)])


def make_learner(model: str, y: np.ndarray, *, tune: bool, seed: int) -> Any:
    """Return the pipeline to fit to labels `y`, or the search for its settings."""
    pipeline = make_pipeline(make_model(model, seed))
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
    known = {
        "target": table.target,
        "columns": input_cards(X, table.schema),
        "schema": table.schema,
        "rows": len(y),
        "dropped_rows": table.dropped_rows,
        "classes": {str(label): counts[str(label)] for label in pipeline.classes_},
        "balls": len(model.balls_) if hasattr(model, "balls_") else None,
        "parameters": model.get_params(),
        "chosen": {name: getattr(network, f"{name}_") for name in settings},
    }
    return ModelCard(model=kind, **(known | facts))


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
    cells = numbers.to_numpy(dtype=float)
    missing = np.isnan(cells)
    lowest = np.where(missing, np.inf, cells).min(axis=0, initial=np.inf)
    highest = np.where(missing, -np.inf, cells).max(axis=0, initial=-np.inf)
    cards = {}
    facts = zip(numbers.columns, missing.sum(axis=0), lowest, highest, strict=True)
    for name, n_missing, low, high in facts:
        limits = () if n_missing == len(X) else (float(low), float(high))
        cards[name] = ColumnCard(str(name), "number", int(n_missing), *limits)
    for name in X.columns.difference(numbers.columns, sort=False):
        known = tuple(sorted(X[name].dropna().unique()))
        cards[name] = ColumnCard(str(name), "category", int(X[name].isna().sum()), categories=known)
    return tuple(replace(cards[name], meaning=meanings.get(name, "")) for name in X.columns)


def scores_of_confusion(counts: np.ndarray, classes: Any) -> dict[str, Any]:
    """Return the scores of a model card from a confusion matrix.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_classes)
        Rows of each true class that were predicted as each class.
    classes : array-like of shape (n_classes,)
        The classes.
    """
    right, true, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    seen, concerned = true > 0, true + predicted > 0
    return {
        "rows": int(counts.sum()),
        "accuracy": float(right.sum() / counts.sum()),
        "balanced accuracy": float(np.mean(right[seen] / true[seen])),
        "macro F1": float(np.mean(2 * right[concerned] / (true + predicted)[concerned])),
        "confusion": _confusion(counts, [str(label) for label in classes]),
    }


def _confusion(counts: np.ndarray, classes: list[str]) -> dict[str, Any]:
    """Return the counts of few classes, or the most frequent confusions of many."""
    if len(classes) <= MAX_CONFUSION_CLASSES:
        return {"classes": classes, "counts": counts.tolist()}
    wrong = counts - np.diag(np.diag(counts))
    most_first = np.argsort(-wrong, axis=None, kind="stable")[:LARGEST_CONFUSIONS]
    pairs = zip(*np.unravel_index(most_first, wrong.shape), strict=True)
    largest = [
        {"true": classes[true], "predicted": classes[found], "rows": int(wrong[true, found])}
        for true, found in pairs
        if wrong[true, found]
    ]
    return {"classes": classes, "largest": largest}


def cannot_be_split(n_rows: int, n_classes: int, test: float) -> TableError:
    """Return the error for a table from which too few rows can be held out."""
    said = (
        f"{n_rows} rows cannot be split into {1 - test:g} and {test:g} so that both parts "
        f"hold all {n_classes} classes; add rows, or pass "
    )
    return TableError(Message(said, Setting("test", 0), "."))


@contextmanager
def errors_about_table(kind: str) -> Iterator[None]:
    """Raise the ValueError of a fit as an error about the table."""
    try:
        with warnings.catch_warnings():
            # Nobody asked for ratings of the rows, and every fold would warn about them.
            warnings.filterwarnings("ignore", "the label quality of")
            yield
    except ValueError as error:
        said = f"{kind} cannot be fitted to this table: {error} Another "
        raise TableError(Message(said, Setting("model"), " may fit it.")) from error


def rows_alone(y: np.ndarray) -> np.ndarray:
    """Return where a row is the only one of its class."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return counts[codes] == 1


def folds_for(y: np.ndarray) -> int:
    """Return how many folds labels allow; 0 if every class has a single row."""
    counts = np.unique(y[~rows_alone(y)], return_counts=True)[1]
    return min(MAX_FOLDS, int(counts.min())) if len(counts) else 0


@contextmanager
def small_classes_allowed() -> Iterator[None]:
    """Silence warnings of small classes: the check of the table names them."""
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
    folds = ReportedFolds(n_folds, seed, tell)
    with small_classes_allowed():
        results = cross_validate(learner, X, y, cv=folds, scoring=SCORERS, error_score="raise")
    scores: dict[str, Any] = {"folds": n_folds}
    for name in SCORERS:
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
        raise cannot_be_split(len(rows), len(np.unique(table.y)), test)
    first, second = train_test_split(
        others, test_size=test, stratify=table.y[others], random_state=seed
    )
    return np.sort(np.concatenate([first, rows[alone]])), np.sort(second)


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
