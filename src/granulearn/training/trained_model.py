"""What training gives, in memory or in parts: a fitted pipeline, its scores and its card."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from granulearn.models import ColumnCard, ModelCard
from granulearn.tables import Schema, TableError, TableReport
from granulearn.tables.messages import Message, Setting


@dataclass(frozen=True, eq=False)
class Trained:
    """A fitted pipeline and what is known about it."""

    pipeline: Any
    card: ModelCard
    report: TableReport | None = None
    """What was found out about the table."""


def scores_of_confusion(counts: np.ndarray, classes: Sequence[Any]) -> dict[str, Any]:
    """Return the scores that a model card holds, from counts alone.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_classes)
        Rows of each true class that were predicted as each class.
    classes : sequence
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


# The counts of many classes would be more than all else in a model file, and more than it may hold.
MOST_CLASSES_COUNTED, CONFUSIONS_KEPT = 100, 100


def _confusion(counts: np.ndarray, classes: list[str]) -> dict[str, Any]:
    """Return the counts of few classes, or which of many are taken for which most often."""
    if len(classes) <= MOST_CLASSES_COUNTED:
        return {"classes": classes, "counts": counts.tolist()}
    wrong = counts - np.diag(np.diag(counts))
    most_first = np.argsort(-wrong, axis=None, kind="stable")[:CONFUSIONS_KEPT]
    pairs = zip(*np.unravel_index(most_first, wrong.shape), strict=True)
    largest = [
        {"true": classes[true], "predicted": classes[found], "rows": int(wrong[true, found])}
        for true, found in pairs
        if wrong[true, found]
    ]
    return {"classes": classes, "largest": largest}


def input_cards(X: pd.DataFrame) -> tuple[ColumnCard, ...]:
    """Return what a model card says about the inputs of a model.

    Parameters
    ----------
    X : DataFrame
        Rows that the model was fitted to: floats and categories.
    """
    # All numbers at once: to ask a frame for one column takes longer than to look at its cells.
    numbers = X.select_dtypes("number")
    cells = numbers.to_numpy(dtype=float)
    gaps = np.isnan(cells)
    lowest = np.where(gaps, np.inf, cells).min(axis=0, initial=np.inf)
    highest = np.where(gaps, -np.inf, cells).max(axis=0, initial=-np.inf)
    facts = zip(numbers.columns, gaps.sum(axis=0), lowest, highest, strict=True)
    cards = {name: _number_card(str(name), len(X), *own) for name, *own in facts}
    return tuple(cards[name] if name in cards else _category_card(X[name]) for name in X.columns)


def _number_card(name: str, rows: int, missing: int, lowest: float, highest: float) -> ColumnCard:
    if missing == rows:
        return ColumnCard(name, "number", rows)
    return ColumnCard(name, "number", int(missing), float(lowest), float(highest))


def _category_card(column: pd.Series) -> ColumnCard:
    categories = tuple(sorted(column.dropna().unique()))
    return ColumnCard(str(column.name), "category", int(column.isna().sum()), categories=categories)


def with_meanings(columns: Iterable[ColumnCard], schema: Schema | None) -> tuple[ColumnCard, ...]:
    """Return the inputs of a model with what they hold, in words.

    Parameters
    ----------
    columns : iterable of ColumnCard
        The inputs.
    schema : Schema or None
        How the columns of a file become these inputs.
    """
    meanings: dict[str, str] = {}
    for column in schema.used if schema else ():
        meanings |= column.meanings
    return tuple(replace(card, meaning=meanings.get(card.name, "")) for card in columns)


def make_card(
    kind: str,
    model: Any,
    labels: Counter,
    *,
    columns: tuple[ColumnCard, ...] = (),
    schema: Schema | None = None,
    **facts: Any,
) -> ModelCard:
    """Return the card of a fitted model.

    Parameters
    ----------
    kind : str
        A name of `model_kinds`.
    model : fitted classifier
        The last step of the pipeline.
    labels : Counter
        How many of the rows that the model was fitted to have each label, as text.
    columns : tuple of ColumnCard, default=()
        The inputs of the pipeline; the schema tells what they hold.
    schema : Schema, default=None
        How the columns of a file become these inputs.
    **facts
        The other fields of the card that the model does not know.
    """
    # A committee of networks, alone or as a part, chose its settings by leave-one-out.
    network = getattr(model, "committee_", model)
    settings = [name for name in ("C", "activation") if hasattr(network, f"{name}_")]
    return ModelCard(
        model=kind,
        columns=with_meanings(columns, schema),
        schema=schema,
        rows=labels.total(),
        classes={str(label): labels[str(label)] for label in model.classes_},
        balls=len(model.balls_) if hasattr(model, "balls_") else None,
        parameters=model.get_params(),
        chosen={name: getattr(network, f"{name}_") for name in settings},
        **facts,
    )


def cannot_be_split(n_rows: int, n_classes: int, test: float) -> TableError:
    """Return the error for a table from which too few rows can be held out.

    Parameters
    ----------
    n_rows, n_classes : int
        The size of the table.
    test : float
        The share of its rows to hold out.
    """
    said = (
        f"{n_rows} rows cannot be split into {1 - test:g} and {test:g} so that both parts "
        f"hold all {n_classes} classes; add rows, or pass "
    )
    return TableError(Message(said, Setting("test", 0), "."))


@contextmanager
def told_to_users(kind: str) -> Iterator[None]:
    """Pass on why a model cannot be fitted to a table, as a fact about the table.

    Parameters
    ----------
    kind : str
        A name of `model_kinds`.
    """
    try:
        with warnings.catch_warnings():
            # Nobody asked for ratings of the rows, and every fold would warn about them.
            warnings.filterwarnings("ignore", "the reliability of")
            yield
    except ValueError as error:
        said = f"{kind} cannot be fitted to this table: {error} Another "
        raise TableError(Message(said, Setting("model"), " may fit it.")) from error
