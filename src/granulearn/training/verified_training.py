"""Training with verified labels, and whether the review has paid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone

from granulearn.audit.verified import CHANGE, VerifiedLabels
from granulearn.review import Decision, DecisionsError, verified_by
from granulearn.review.decisions import EXCLUDE, decided_column
from granulearn.tables import TrainingTable
from granulearn.training.training import (
    ROWS_TO_SEARCH,
    ReportedFolds,
    Trained,
    fitting,
    folds_for,
    make_learner,
    no_progress,
    train,
)
from granulearn.utils.text import counted

MIN_VERIFIED = 10
"""A score on fewer verified rows would mean nothing."""
MIN_RANDOM = 20
SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False)
class ReviewedLabels:
    """The labels of a table, and the decisions about them."""

    table: TrainingTable
    """With the given labels."""
    verified: VerifiedLabels
    """Labels that were confirmed or corrected."""
    corrected: np.ndarray
    """(n,) labels, the changed ones corrected."""
    is_kept: np.ndarray
    """(n,) false for excluded rows."""
    n_unlabelled: int
    """Decisions about rows without a label."""

    @property
    def n_changed(self) -> int:
        """Number of labels that differ from the given ones."""
        return int(np.sum(self.corrected != self.table.y))

    @property
    def n_excluded(self) -> int:
        """Number of excluded rows, and of those changed to a class that the table lacks."""
        return int(np.sum(~self.is_kept))

    def corrected_table(self) -> TrainingTable:
        """Return the table with corrected labels and without excluded rows."""
        kept = np.flatnonzero(self.is_kept)
        return replace(
            self.table,
            typed=self.table.typed.take(kept, self.table.schema),
            y=self.corrected[kept],
            rows=self.table.rows[kept],
        )


@dataclass(frozen=True)
class Comparison:
    """Accuracy on verified rows after learning from the given and from the corrected labels."""

    rows: int
    given: float
    corrected: float
    p_value: float
    """Of McNemar's exact test."""

    @property
    def message(self) -> str:
        """Both scores, and whether their difference may be chance."""
        both = f"{self.given:.3f} with the given labels, {self.corrected:.3f} with the corrected"
        may_be = "may be" if self.p_value >= SIGNIFICANT else "is beyond"
        differ = self.corrected != self.given
        return f"{both} ones" + f"; the difference {may_be} chance" * differ


def review_labels(
    table: TrainingTable, decisions: Sequence[Decision], source: str
) -> ReviewedLabels:
    """Return the labels of a table after decisions.

    Parameters
    ----------
    table : TrainingTable
        Read with its cells kept.
    decisions : sequence of Decision
        One for each row.
    source : str
        Where they stand, for messages.

    Raises
    ------
    DecisionsError
        If they are about another table, about labels that are others now, or leave one class.
    """
    decided_column(decisions, source, table.target)
    verified = verified_by(decisions, table, source)
    corrected = table.y.copy()
    corrected[verified.rows] = table.coded_labels[0][verified.truth]
    excluded, changed = (
        [d.row - 1 for d in decisions if d.decision == kind] for kind in (EXCLUDE, CHANGE)
    )
    # Nothing can be learnt of a class that no other row has.
    unlearnt = np.setdiff1d(changed, table.rows[verified.rows])
    is_kept = ~np.isin(table.rows, [*excluded, *unlearnt])
    left = np.unique(corrected[is_kept])
    if len(left) < 2:
        raise DecisionsError(
            f"{source} leaves {f'one class, {left[0]!s}' if len(left) else 'no row'} to learn "
            "from, and there must be two classes or more to tell apart."
        )
    n_unlabelled = len(np.setdiff1d(changed, table.rows))
    return ReviewedLabels(table, verified, corrected, is_kept, n_unlabelled)


def train_verified(
    labels: ReviewedLabels,
    model: str,
    *,
    tune: bool,
    test: float,
    seed: int,
    progress: Callable[[str], None] = no_progress,
    **parameters: Any,
) -> Trained:
    """Learn from corrected labels, and score the given and the corrected ones on verified rows.

    Parameters
    ----------
    labels : ReviewedLabels
        The table and the decisions.
    model, tune, test, seed, progress, **parameters
        As for `train`.
    """
    settings: dict[str, Any] = {"tune": tune, "seed": seed, "progress": progress, **parameters}
    is_verified = np.isin(np.arange(len(labels.corrected)), labels.verified.rows)
    trained = train(
        labels.corrected_table(), model, **settings, test=test,
        is_verified=is_verified[labels.is_kept],
    )  # fmt: skip
    scores: dict[str, Any] = {
        "rows": len(labels.verified.rows),
        "changed": labels.n_changed,
        "excluded": labels.n_excluded,
    }
    messages = _about(labels)
    cannot = _why_not(labels, tune=tune)
    if cannot:
        messages.append(f"no score on {cannot}")
    else:
        whole, at_random = compare_labels(labels, model, **settings)
        scores |= asdict(whole) | {"at_random": at_random and asdict(at_random)}
        messages += _results(labels, whole, at_random)
    card = replace(
        trained.card,
        dropped_rows=labels.table.dropped_rows,
        scores={**trained.card.scores, "verified": scores | {"messages": messages}},
    )
    return replace(trained, card=card)


def compare_labels(
    labels: ReviewedLabels,
    model: str,
    *,
    tune: bool,
    seed: int,
    progress: Callable[[str], None] = no_progress,
    **parameters: Any,
) -> tuple[Comparison, Comparison | None]:
    """Compare a model of the given labels with one of the corrected labels, on verified rows.

    Each row is predicted by two models that did not see it: they learned from the other folds,
    one with the given and one with the corrected labels.

    Parameters
    ----------
    labels : ReviewedLabels
        The table and the decisions.
    model, tune, seed, progress, **parameters
        As for `train`.

    Returns
    -------
    tuple of Comparison, and Comparison or None
        On all verified rows, and on those drawn at random if they are enough.
    """
    X, given, rows = labels.table.X, labels.table.y, labels.verified.rows

    def is_right(y: np.ndarray, is_used: np.ndarray, name: str) -> np.ndarray:
        """Return which verified rows the models of the other folds predict right."""
        # The folds are those of the given labels for both models.
        folds = ReportedFolds(
            folds_for(given), seed, progress, f"predicting verified rows, {name} labels"
        )
        learner = make_learner(model, y[is_used], tune=tune, seed=seed, **parameters)
        predicted = y.copy()
        for others, held_out in folds.split(X, given):
            judged, seen = np.intersect1d(held_out, rows), others[is_used[others]]
            if len(judged):
                fitted = clone(learner).fit(X.iloc[seen], y[seen])
                predicted[judged] = fitted.predict(X.iloc[judged])
        return predicted[rows] == labels.corrected[rows]

    with fitting(model, tune=tune):
        before = after = is_right(given, np.ones(len(given), dtype=bool), "given")
        if labels.n_changed or labels.n_excluded:
            after = is_right(labels.corrected, labels.is_kept, "corrected")
    drawn = labels.verified.at_random
    enough = drawn.sum() >= MIN_RANDOM
    return _compared(before, after), _compared(before[drawn], after[drawn]) if enough else None


def _compared(before: np.ndarray, after: np.ndarray) -> Comparison:
    better, worse = int(np.sum(after & ~before)), int(np.sum(before & ~after))
    p_value = binomtest(better, better + worse).pvalue if better + worse else 1.0
    return Comparison(len(before), float(before.mean()), float(after.mean()), float(p_value))


def _why_not(labels: ReviewedLabels, *, tune: bool) -> str:
    """Return why there is no score on verified rows; empty if there is one."""
    n_rows, both = len(labels.verified.rows), (labels.table.y, labels.corrected[labels.is_kept])
    if n_rows < MIN_VERIFIED:
        return f"{counted(n_rows, 'verified row')}: {MIN_VERIFIED} are needed"
    if folds_for(labels.table.y) < 2:
        return "verified rows: every class has a single row"
    if tune and min(np.unique(y, return_counts=True)[1].min() for y in both) < ROWS_TO_SEARCH:
        return "verified rows: a class is too small to search settings in every fold"
    return ""


def _about(labels: ReviewedLabels) -> list[str]:
    """Return what the decisions did to the table, in words."""
    n_confirmed = len(labels.verified.rows) - labels.n_changed
    words = [
        f"decisions: {counted(labels.n_changed, 'label')} changed, {n_confirmed} confirmed, "
        f"{counted(labels.n_excluded, 'row')} left out"
    ]
    if labels.n_unlabelled:
        words.append(
            f"{counted(labels.n_unlabelled, 'decision')} about rows without a label not used; "
            "`granulearn correct` writes them into the table"
        )
    return words


def _results(labels: ReviewedLabels, whole: Comparison, at_random: Comparison | None) -> list[str]:
    """Return what the comparison says, in words."""
    drawn = labels.verified.at_random
    rows = f"{whole.rows} verified rows"
    if not labels.n_changed and not labels.n_excluded:
        words = [f"accuracy {whole.given:.3f} on {rows}; the labels are the given ones"]
    else:
        result = "has not paid so far" if whole.corrected < whole.given else ""
        if whole.p_value >= SIGNIFICANT:
            result = f"has corrected {labels.n_changed} of {whole.rows} verified labels"
            if labels.n_excluded:
                result += f" and left out {counted(labels.n_excluded, 'row')}"
        words = [f"accuracy on {rows}: {whole.message}{f'; the review {result}' * bool(result)}"]
    if drawn.mean() < 0.5:
        words.append(
            "most of these rows were reviewed because they are doubtful; they are harder than the "
            "rest, so this is no score of the whole table"
        )
    if at_random is not None and not drawn.all():
        words.append(
            f"accuracy on the {at_random.rows} of them drawn at random, which stand for all rows: "
            f"{at_random.message}"
        )
    return words
