"""Review: go through doubtful labels, decide, and get the corrected table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.audit.issues import Issue
from granulearn.audit.ratings import Ratings
from granulearn.audit.verified import AT_RANDOM, CHANGE, KEEP, WORST_FIRST
from granulearn.review.background import Background
from granulearn.review.cards import Card, make_card
from granulearn.review.class_names import ClassNames
from granulearn.review.decision_book import DecisionBook
from granulearn.review.decisions import (
    DECISIONS,
    EXCLUDE,
    UNDO,
    Decision,
    DecisionsError,
    check_belong,
)
from granulearn.review.journal import Journal, default_journal
from granulearn.review.progress import ReviewSummary, summarize
from granulearn.review.queue import QueuedRow, RowFilter, queued_row
from granulearn.review.review_settings import (
    check_order,
    check_settings,
    installed_version,
    leaving_out,
    user_name,
)
from granulearn.review.verified_labels import is_stale
from granulearn.utils.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.review.reviewed_table import AuditedTable, ReviewedTable
    from granulearn.tables import ColumnOptions, ReadOptions

ALL_ROWS = RowFilter()


class Review:
    """Go through the doubtful labels of a table, decide on them, and get the corrected table.

    The audit says which row to look at next. What is decided is written to a file at once,
    teaches the audit, which is fitted again from time to time, and is never asked again.
    A page on this machine (`granulearn review`) drives the same loop.

    Parameters
    ----------
    table : path, frame, Arrow table, list of dicts or dict of columns
        The table; it is never changed.
    target : str
        The column of labels.
    keep : sequence of str, default=()
        Columns that come first on every card, such as a name to look the row up by.
    decisions : path, default=None
        The journal, a CSV file that lines are added to; it is read first if it is there.
        None means ``NAME.decisions.csv`` beside a table that is a file, and memory alone for
        one that is not.
    who : str, default=None
        Who decides; None means the name of the user on this machine.
    sample : int, default=50
        How many rows are drawn at random at a time.
    refit_every : int, default=25
        After so many decisions the audit is fitted again.
    options : ColumnOptions, default=None
        What is known about the columns, see `granulearn.tables`.
    reading : ReadOptions, default=None
        What is known about the file.
    group, times : str, default=None
        Columns for the audit: of rows that stay together, and of times.
    random_state : int, default=0
        Seed of everything random.
    n_jobs : int, default=-1
        Threads of the audit; -1 means all cores.
    background : bool, default=False
        Whether the audit is fitted again while decisions are taken.

    See Also
    --------
    granulearn.audit_labels : Which labels are doubtful, without a loop.
    granulearn.review.Decision : One line of what was decided.
    granulearn.review.read_decisions : Reads what was decided from its file.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn import Review
    >>> from sklearn.datasets import load_iris
    >>> table = load_iris(as_frame=True).frame
    >>> table.loc[10, "target"] = 2  # a wrong label
    >>> review = Review(table, "target")
    >>> card = review.next()
    >>> card.row, card.given, card.rival
    (11, '2', '0')
    >>> review.decide(card, "change")
    >>> int(review.corrected()["target"].iloc[10]), review.summary().counts
    (0, {'change': 1})
    """

    def __init__(
        self,
        table: Any,
        target: str,
        *,
        keep: Sequence[str] = (),
        decisions: str | Path | None = None,
        who: str | None = None,
        sample: int = 50,
        refit_every: int = 25,
        options: ColumnOptions | None = None,
        reading: ReadOptions | None = None,
        group: str | None = None,
        times: str | None = None,
        random_state: int = 0,
        n_jobs: int = -1,
        background: bool = False,
    ):
        # Imported when used: the stage of tables needs optional packages.
        from granulearn.review.reviewed_table import ReviewedTable
        from granulearn.tables import ColumnOptions

        check_settings(keep, sample, refit_every)
        self.who = " ".join((user_name() if who is None else who).split())
        self.sample, self.refit_every = sample, refit_every
        self.background = Background() if background else None
        """Where the audit is fitted again; None if decisions wait for it."""
        self._settings: dict[str, Any] = {
            "groups": group,
            "times": times,
            "random_state": random_state,
            "n_jobs": n_jobs,
        }
        options = leaving_out(options or ColumnOptions(), group)
        self.table = ReviewedTable(table, target, keep, options, reading)
        path = default_journal(self.table.path) if decisions is None else Path(decisions)
        self.journal = Journal(path)
        try:
            self._enter()
        except BaseException:
            self.journal.close()
            raise

    def _enter(self) -> None:
        self._lock = RLock()
        self._names = ClassNames(map(str, self.table.classes.tolist()))
        self._book = DecisionBook(self.journal, self._is_stale)
        self._check_decisions()
        self._fit: AuditedTable = self._audited(self.table)
        self._since_fit = 0
        self._sampled: np.ndarray = np.empty(0, dtype=int)
        self._ever_sampled: set[int] = set()
        self.generation = 0
        """How often the audit was fitted again."""

    def _check_decisions(self) -> None:
        """Refuse decisions about another table or column, before anything is made of them."""
        decisions = [*self._book.by_row, *self._book.stale]
        other = {d.target for d in decisions} - {"", self.table.target}
        if other:
            raise DecisionsError(
                f"{self.source} is about the column {min(other)!r}, not {self.table.target!r}; "
                "name that column, or another file for the decisions."
            )
        check_belong(decisions, self.table.hashes, self.source)

    def _is_stale(self, decision: Decision) -> bool:
        place = self.table.position_of.get(decision.row)
        if place is None:
            return False
        given = int(np.searchsorted(self.table.classes, self.table.data.y[place]))
        return is_stale(decision, given, self._names)

    @property
    def stale(self) -> list[int]:
        """Rows that were decided on and have another label now; they are open again."""
        return [decision.row for decision in self._book.stale]

    @property
    def source(self) -> str:
        """Where the decisions stand, for messages."""
        return str(self.journal.path or "the review")

    @property
    def classes(self) -> list[str]:
        """The class labels, sorted."""
        return self._names.names

    @property
    def ratings(self) -> Ratings:
        """What the audit says of every label."""
        return self._fit.queue.ratings

    @property
    def issues(self) -> list[Issue]:
        """What else is odd about the table, beside its labels."""
        return self._fit.done.audit.issues_

    @property
    def can_undo(self) -> bool:
        """Whether there is a decision to take back."""
        return bool(self._book.last)

    # --- looking

    def next(self, order: str = WORST_FIRST, asked: RowFilter = ALL_ROWS) -> Card | None:
        """Return the card of the next row to look at; None if none is left.

        Parameters
        ----------
        order : {"worst", "random"}, default="worst"
            The most doubtful first, or rows drawn at random: decided on one after the other,
            these tell how many labels are wrong in all.
        asked : RowFilter, default=all rows
            Which rows to see.
        """
        with self._lock:
            rows = self.rows(order, asked)
            return self.card(int(rows[0]), order) if len(rows) else None

    def rows(self, order: str = WORST_FIRST, asked: RowFilter = ALL_ROWS) -> np.ndarray:
        """Return the numbers of the rows in the queue.

        Parameters
        ----------
        order : {"worst", "random"}, default="worst"
            As for `next`.
        asked : RowFilter, default=all rows
            Which rows to see.
        """
        with self._lock:
            fit = self._fit
            check_order(order)
            among = self._drawn() if order == AT_RANDOM else fit.queue.ratings.worst_first
            return fit.queue.rows[fit.queue.positions(among, self._is_open(), asked)]

    def queued(self, rows: Sequence[int] | np.ndarray) -> list[QueuedRow]:
        """Return rows as the queue shows them.

        Parameters
        ----------
        rows : sequence of int
            Numbers of rows.
        """
        with self._lock:
            ratings = self._fit.queue.ratings
            return [queued_row(ratings, int(row), self._position(int(row))) for row in rows]

    def card(self, row: int, order: str = WORST_FIRST) -> Card:
        """Return the card of a row.

        Parameters
        ----------
        row : int
            Its number, from 1.
        order : {"worst", "random"}, default="worst"
            How it came to be looked at.
        """
        check_order(order)
        with self._lock:
            fit, position = self._fit, self._position(row)
        (why,) = fit.explainer.explain([position])
        return make_card(fit.done.audit.ratings_, fit.shown, why, order)

    def decision(self, row: int) -> Decision | None:
        """Return the decision about a row that holds.

        Parameters
        ----------
        row : int
            Its number, from 1.
        """
        return self._book.about(row)

    def _drawn(self) -> np.ndarray:
        """Return the positions that were drawn at random; when all are decided on, others are."""
        is_open = self._is_open()
        if not is_open[self._sampled].any() and is_open.any():
            drawn = self._fit.done.audit.next_to_review(
                int(min(self.sample + (~is_open).sum(), len(is_open))),
                random_fraction=1.0,
                index=range(len(is_open)),
            )
            rows = drawn.index.to_numpy()
            self._sampled = rows[is_open[rows]][: self.sample]
            self._ever_sampled |= set((self.table.data.rows[self._sampled] + 1).tolist())
        return self._sampled

    def _is_open(self) -> np.ndarray:
        is_open = np.ones(len(self.table.data.rows), dtype=bool)
        places = self.table.position_of
        is_open[[places[row] for row in self._book.rows if row in places]] = False
        return is_open

    def _position(self, row: int) -> int:
        if row not in self.table.position_of:
            raise DecisionsError(f"row {row} is not there, or has no label to decide on.")
        return self.table.position_of[row]

    # --- deciding

    def decide(self, card: Card | int, decision: str, label: Any = None, note: str = "") -> None:
        """Take a decision; when this returns it is in the journal.

        Parameters
        ----------
        card : Card or int
            What `next` returned, or the number of a row.
        decision : {"keep", "change", "exclude", "unsure"}
            The label is right; another one is; the row should not be learnt from; nobody knows.
        label : label, default=None
            The right label of a change; None takes the suggestion.
        note : str, default=""
            Anything worth keeping, in one line.
        """
        if not isinstance(card, Card):
            self.decide_many([card], decision, label, note)
            return
        if decision == CHANGE and label is None:
            label = card.rival  # what the person saw; the audit may say something else by now
        self.decide_many([card.row], decision, label, note, order=card.drawn)

    def decide_many(
        self,
        rows: Sequence[int],
        decision: str,
        label: Any = None,
        note: str = "",
        *,
        order: str = WORST_FIRST,
    ) -> int:
        """Take one decision about many rows, which is undone as one.

        Parameters
        ----------
        rows : sequence of int
            Numbers of rows.
        decision : {"keep", "change", "exclude", "unsure"}
            As for `decide`.
        label : label or list of labels, default=None
            The right label of a change, or one for each row; None takes the suggestion.
        note : str, default=""
            Anything worth keeping, in one line.
        order : {"worst", "random"}, default="worst"
            How the rows came to be looked at. Those of the random sample that were looked at
            as such stand for others.

        Returns
        -------
        int
            For how many rows that is news.
        """
        check_order(order)
        labels = list(label) if isinstance(label, (list, tuple)) else [label] * len(rows)
        wanted = dict(zip(rows, labels, strict=True))  # a row that is named twice counts once
        with self._lock:
            self.table.check_unchanged()
            news = self._book.take(
                [self._taken(row, decision, one, note, order) for row, one in wanted.items()]
            )
            self._since_fit += news
        self._refit_if_due()
        return news

    def undo(self) -> list[int]:
        """Take the last decision back, or all that were taken at once with it.

        Returns
        -------
        list of int
            Numbers of the rows that are open again, or decided on as before.
        """
        with self._lock:
            last = self._book.last
            if not last:
                return []
            self.table.check_unchanged()
            self._book.undo([self._line(d.row, UNDO, "", "", d.drawn) for d in last])
            rows = [decision.row for decision in last]
            was_learnt = self.ratings.verified[[self._position(row) for row in rows]].any()
            # The audit must forget what it was told.
            self._since_fit += self.refit_every if was_learnt else len(rows)
        self._refit_if_due()
        return rows

    def _taken(self, row: int, decision: str, label: Any, note: str, order: str) -> Decision:
        if decision not in DECISIONS:
            raise DecisionsError(f"{decision!r} is no decision; use {', '.join(DECISIONS)}.")
        position = self._position(row)
        drawn = AT_RANDOM if order == AT_RANDOM and row in self._ever_sampled else WORST_FIRST
        if decision != CHANGE:
            return self._line(row, decision, "", note, drawn)
        rival = self.ratings.second_classes[position]
        if label is None and rival < 0:
            raise DecisionsError(f"row {row}: nothing is suggested; name the new label.")
        new = self.classes[rival] if label is None else self._names.known(str(label))
        if new == self.classes[self.ratings.given[position]]:
            return self._line(row, KEEP, "", note, drawn)
        return self._line(row, CHANGE, new, note, drawn)

    def _line(self, row: int, decision: str, label: str, note: str, drawn: str) -> Decision:
        position, ratings = self._position(row), self._fit.queue.ratings
        given = self.classes[ratings.given[position]]
        cell = self.table.data.label_cells[row - 1] or ""
        wrong = ratings.error_proba[position]
        return Decision(
            row,
            decision,
            label,
            row_hash=self.table.hashes[row - 1],
            drawn=drawn,
            given=given,
            cell="" if cell == given else cell,
            target=self.table.target,
            note=" ".join(note.split()),
            who=self.who,
            when=datetime.now(UTC).isoformat(timespec="seconds"),
            verdict=str(ratings.verdicts[position]),
            probability="" if np.isnan(wrong) else f"{wrong:.4f}",
            version=installed_version(),
        )

    # --- learning from what was decided

    def refit(self) -> None:
        """Fit the audit again, with what was decided so far."""
        self._refit(self.table)

    def use_columns(self, ignore: Sequence[str] = (), include: Sequence[str] = ()) -> None:
        """Read the table again with other columns left out, and fit the audit again.

        Parameters
        ----------
        ignore : sequence of str, default=()
            Columns to leave out.
        include : sequence of str, default=()
            Columns to use that would be left out.
        """
        options = replace(self.table.options, ignore=tuple(ignore), include=tuple(include))
        options = leaving_out(options, self._settings["groups"])
        self._refit(self.table.with_options(options))

    def _refit_if_due(self) -> None:
        if self._since_fit < self.refit_every:
            return
        if self.background is None:
            self.refit()
        else:
            self.background.start(self.refit)

    def _refit(self, table: ReviewedTable) -> None:
        with self._lock:
            seen, self._since_fit = self._since_fit, 0
        try:
            fit = self._audited(table, spare_a_core=self.background is not None)
        except BaseException:
            with self._lock:
                self._since_fit += seen
            raise
        with self._lock:
            self.table, self._fit = table, fit
            self.generation += 1

    def _audited(self, table: ReviewedTable, *, spare_a_core: bool = False) -> AuditedTable:
        with self._lock:
            said = self._book.by_row
        settings = dict(self._settings)
        if spare_a_core and settings["n_jobs"] == -1:
            settings["n_jobs"] = -2  # somebody is looking at cards meanwhile
        return table.audited(table.verified(said, self.source), **settings)

    # --- what comes of it

    def summary(self) -> ReviewSummary:
        """Return how the review goes."""
        with self._lock:
            said, by_time = self._book.by_row, self._book.by_time
            fit, is_open = self._fit, self._is_open()
        verified = self.table.verified(said, self.source)
        ratings, noise = fit.done.audit.rated_with(verified)
        return summarize(by_time, ratings, noise, is_open)

    def corrected(self, *, drop_excluded: bool = False) -> pd.DataFrame:
        """Return the table with the labels that were changed.

        Parameters
        ----------
        drop_excluded : bool, default=False
            Whether to leave excluded rows out.
        """
        from granulearn.review.correction import corrected_frame

        with self._lock:
            said = self._book.by_row
        frame = corrected_frame(self.table, said)
        if not drop_excluded:
            return frame
        excluded = [d.row - 1 for d in said if d.decision == EXCLUDE]
        return frame.drop(index=frame.index[excluded])

    def close(self) -> None:
        """Let go of the journal."""
        self.journal.close()

    def __enter__(self):
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return (
            f"<Review of {counted(len(self.table.data.rows), 'label')}, "
            f"{counted(len(self._book), 'decision')}>"
        )
