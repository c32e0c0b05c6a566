"""Review: go through doubtful labels, decide, and get the corrected table."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Lock, RLock, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.audit.ratings import VERDICTS, Issue, Ratings
from granulearn.audit.verified import AT_RANDOM, CHANGE, KEEP, WORST_FIRST, VerifiedLabels
from granulearn.review.cards import AuditedRows, Card, RatedRow, RowFilter, line_facts, rated_row
from granulearn.review.decisions import (
    DECISIONS,
    EXCLUDE,
    UNDO,
    Decision,
    DecisionsError,
    check_rows,
    decided_column,
)
from granulearn.review.journal import DecisionLog, Journal, default_journal
from granulearn.review.reviewed_table import ReviewedTable
from granulearn.review.summary import ReviewSummary
from granulearn.review.verified_labels import ClassNames, class_names, is_stale, verified_by
from granulearn.tables import ColumnOptions

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.tables import ReadOptions

DECIDED = "decided"
ORDERS = (WORST_FIRST, AT_RANDOM, DECIDED)
ALL_ROWS = RowFilter()
NO_REVISIONS: Mapping[int, int] = {}


class ConflictError(DecisionsError):
    """Somebody else has decided on a row since it was looked at, or has undone a decision."""

    def __init__(self, row: int):
        super().__init__(f"row {row} was decided on elsewhere since this card was shown.")
        self.row = row


class Background:
    """Runs one task at a time in a thread of its own, which does not outlive the process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._thread: Thread | None = None
        self.failure = ""
        """Why the last task failed; empty if it did not."""

    @property
    def is_busy(self) -> bool:
        """Whether a task is running."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, task: Callable[[], None]) -> bool:
        """Start a task unless one is running; return whether it was started."""
        with self._lock:
            if self.is_busy:
                return False
            self._thread = Thread(target=self._run, args=(task,), daemon=True)
            self._thread.start()
            return True

    def wait(self) -> None:
        """Wait until the task is done."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, task: Callable[[], None]) -> None:
        try:
            task()
            self.failure = ""
        except Exception as error:  # shown as `failure`: nobody waits for this thread
            self.failure = str(error)


class Review:
    """Go through the doubtful labels of a table, decide on them, and get the corrected table.

    The audit puts the rows in order. Each decision is written to a file at once and its row does
    not come up again. A label that is kept or changed is verified: it sharpens the error
    probabilities of all others, and from time to time the audit is fitted again with it.
    A page on this machine (`granulearn review`) drives the same loop.

    Parameters
    ----------
    table : path, frame, Arrow table, list of dicts or dict of columns
        The table; it is never changed.
    target : str, default=None
        The column of labels.
    annotations : sequence of str or DataFrame, default=None
        In the place of target, labels by several annotators: names of their columns, where ``*``
        stands for any letters; or a frame with ``row`` (from 0), ``annotator`` and ``label``.
        Decisions are about their consensus.
    anonymous : bool, default=False
        Whether annotators are shown by number, not by name.
    keep : sequence of str, default=()
        Columns that come first on every card, such as a name to look the row up by.
    decisions : path, default=None
        The journal, a CSV file that lines are added to; if it exists, it is read first.
        None means ``NAME.decisions.csv`` beside a table that is a file, and memory alone for
        one that is not.
    who : str, default=None
        Who decides; None means the name of the user on this machine.
    sample : int, default=50
        Rows that are drawn at random at a time.
    refit_every : int, default=25
        Decisions after which the audit is fitted again.
    options : ColumnOptions, default=None
        What is known about the columns, see `granulearn.tables`.
    read_options : ReadOptions, default=None
        How to read the file.
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
    granulearn.review.Decision : One line of the journal.
    granulearn.review.read_decisions : Reads decisions from a file.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn import Review
    >>> from sklearn.datasets import load_iris
    >>> table = load_iris(as_frame=True).frame
    >>> table.loc[10, "target"] = 2  # a wrong label
    >>> review = Review(table, "target")
    >>> card = review.next()
    >>> card.row, card.given_label, card.second_class
    (11, '2', '0')
    >>> review.decide(card, "change")
    >>> int(review.corrected()["target"].iloc[10]), review.summary().counts
    (0, {'change': 1})
    """

    def __init__(
        self,
        table: Any,
        target: str | None = None,
        *,
        annotations: Sequence[str] | pd.DataFrame | None = None,
        anonymous: bool = False,
        keep: Sequence[str] = (),
        decisions: str | Path | None = None,
        who: str | None = None,
        sample: int = 50,
        refit_every: int = 25,
        options: ColumnOptions | None = None,
        read_options: ReadOptions | None = None,
        group: str | None = None,
        times: str | None = None,
        random_state: int = 0,
        n_jobs: int = -1,
        background: bool = False,
    ):
        if isinstance(keep, str):
            raise ValueError(f"keep={keep!r} must be a list of columns, such as [{keep!r}].")
        for name, value in (("sample", sample), ("refit_every", refit_every)):
            if value < 1:
                raise ValueError(f"{name}={value!r} must be 1 or more.")
        self.who = " ".join((_user_name() if who is None else who).split())
        self.sample, self.refit_every = sample, refit_every
        self.background = Background()
        """Where the audit is fitted again."""
        self._waits_for_fit = not background
        self._settings: dict[str, Any] = {
            "times": times,
            "random_state": random_state,
            "n_jobs": n_jobs,
        }
        self._version = version("granulearn")
        self.table = ReviewedTable(
            table, target, keep, group, options, read_options, annotations, anonymous=anonymous
        )
        path = Path(decisions) if decisions is not None else None
        if path is None and self.table.path is not None:
            path = default_journal(self.table.path)
        self.journal = Journal(path)
        self.source = str(path or "the review")
        """Name of the journal, for messages."""
        try:
            self._lock = RLock()
            self._names = class_names(self.table.data)
            self.classes = self._names.names
            """The class labels, sorted."""
            self._log = DecisionLog(self.journal, self._is_stale)
            # Refuse decisions about another table or column before the audit.
            before = [*self._log.active.values(), *self._log.stale.values()]
            decided_column(before, self.source, self.table.target)
            check_rows(before, self.table.data.hashes, self.source)
            self._fit = self._audited(self.table)
            self._rate()
        except BaseException:
            self.journal.close()
            raise
        self._since_fit = 0
        self._suspects_moved = 0, 0
        self._sampled: np.ndarray = np.empty(0, dtype=int)
        self._ever_sampled: set[int] = set()
        self.generation = 0
        """How often the audit was fitted again."""

    def _is_stale(self, decision: Decision) -> bool:
        position = self.table.position_of.get(decision.row)
        if self.table.data.classes is not None:  # a consensus, that nobody edits
            return False
        given = self.table.data.coded_labels[1]
        return position is not None and is_stale(decision, int(given[position]), self._names)

    @property
    def stale(self) -> list[int]:
        """Rows whose label was edited since it was decided on; they are open again."""
        return list(self._log.stale)

    @property
    def new_classes(self) -> list[str]:
        """Labels that rows were changed to and that the table does not have."""
        with self._lock:
            changes = [d.new_label for d in self._log.active.values() if d.decision == CHANGE]
        return [label for label in dict.fromkeys(changes) if self._names.code(label) is None]

    @property
    def columns(self) -> list[str]:
        """The columns on a card."""
        return list(self._fit.columns)

    @property
    def ratings(self) -> Ratings:
        """The ratings of all labels, with all decisions."""
        return self._fit.ratings

    @property
    def issues(self) -> list[Issue]:
        """Issues of the table beside its labels."""
        return self._fit.audit.issues_

    @property
    def last_action(self) -> str:
        """Name of the action that `undo` takes back; empty if there is none."""
        return self._log.last_action

    # --- looking

    def next(self, order: str = WORST_FIRST) -> Card | None:
        """Return the card of the next row; None if no row is left.

        Parameters
        ----------
        order : {"worst", "random", "decided"}, default="worst"
            The most doubtful first; or rows drawn at random, which show the share of wrong labels
            if all of them are decided on; or rows with a decision, the latest first.
        """
        with self._lock:
            rows = self.rows(order)
            return self.card(int(rows[0]), order) if len(rows) else None

    def rows(self, order: str = WORST_FIRST, asked: RowFilter = ALL_ROWS) -> np.ndarray:
        """Return the numbers of the rows in the queue.

        Parameters
        ----------
        order : {"worst", "random", "decided"}, default="worst"
            As for `next`. Rows that a filter names one by one come up even if they are decided.
        asked : RowFilter, default=all rows
            Which rows to see.
        """
        _check_order(order)
        with self._lock:
            fit = self._fit
            fits = fit.matching(asked)
            if order == DECIDED:
                kinds = asked.decided.split(",") if asked.decided else DECISIONS
                latest = [d.row for d in self._log.active.values() if d.decision in kinds][::-1]
                positions = map(self.table.position_of.get, latest)
                among = np.array([at for at in positions if at is not None], dtype=int)
            else:
                among = self._random_sample() if order == AT_RANDOM else fit.ratings.worst_first
                fits &= self._is_open() | asked.names_rows
            return fit.numbers[among[fits[among]]]

    def values(self, column: str) -> dict[str, int]:
        """Return the most frequent cells of a column, and how many rows with a label have them."""
        return self._fit.values(column)

    def card(self, row: int, order: str = WORST_FIRST) -> Card:
        """Return the card of a row.

        Parameters
        ----------
        row : int
            Its number, from 1.
        order : {"worst", "random", "decided"}, default="worst"
            The order in which it came up.
        """
        with self._lock:
            fit, position = self._fit, self._position(row)
        (card,) = fit.cards([position], order)
        return card

    def decision(self, row: int) -> Decision | None:
        """Return the active decision about the row of a number."""
        return self._log.active.get(row)

    def revision(self, row: int) -> int:
        """Return how often the row of a number was decided on or undone."""
        return self._log.revisions[row]

    def rated(self, row: int) -> RatedRow:
        """Return the row of a number with the rating of its label."""
        return rated_row(self.ratings, row, self._position(row))

    def _position(self, row: int) -> int:
        if row not in self.table.position_of:
            raise DecisionsError(f"row {row} does not exist, or has no label to decide on.")
        return self.table.position_of[row]

    def open_by_verdict(self) -> dict[str, int]:
        """Return how many rows of each verdict have no decision."""
        with self._lock:
            verdicts = self.ratings.verdicts[self._is_open()]
        return {name: int((verdicts == name).sum()) for name in VERDICTS}

    def _random_sample(self) -> np.ndarray:
        """Return the positions drawn at random; a new sample if all of them are decided on."""
        is_open = self._is_open()
        if not is_open[self._sampled].any():
            random = np.random.default_rng([self._settings["random_state"], (~is_open).sum()])
            self._sampled = random.permutation(np.flatnonzero(is_open))[: self.sample]
            self._ever_sampled |= set((self.table.data.rows[self._sampled] + 1).tolist())
        return self._sampled

    def _is_open(self) -> np.ndarray:
        is_open = np.ones(len(self.table.data.rows), dtype=bool)
        positions = self.table.position_of
        is_open[[positions[row] for row in self._log.active if row in positions]] = False
        return is_open

    # --- deciding

    def decide(
        self,
        card: Card | int,
        decision: str,
        label: Any = None,
        note: str = "",
        *,
        new_class: bool = False,
    ) -> None:
        """Take a decision; when this returns, it is in the journal.

        Parameters
        ----------
        card : Card or int
            A card of `next`, or the number of a row.
        decision : {"keep", "change", "exclude", "unsure"}
            The label is right; another one is; do not learn from the row; nobody can tell.
        label : label, default=None
            The right label of a change; None takes the second class.
        note : str, default=""
            Anything worth keeping, in one line.
        new_class : bool, default=False
            Whether the label may be one that no row has. The corrected table has it; the audit
            learns nothing of such a row.
        """
        row, order = (card.row, card.drawn) if isinstance(card, Card) else (card, WORST_FIRST)
        if isinstance(card, Card) and decision == CHANGE and label is None:
            label = card.second_class  # of the card, although the audit may differ by now
        self.decide_many([row], decision, label, note, order=order, new_class=new_class)

    def decide_many(
        self,
        rows: Sequence[int],
        decision: str,
        label: Any = None,
        note: str = "",
        *,
        order: str = WORST_FIRST,
        revisions: Mapping[int, int] = NO_REVISIONS,
        action: str = "",
        new_class: bool = False,
    ) -> int:
        """Take one decision about many rows, which is undone as one.

        Parameters
        ----------
        rows : sequence of int
            Numbers of rows.
        decision : {"keep", "change", "exclude", "unsure"}
            As for `decide`.
        label : label or list of labels, default=None
            The right label of a change, or one for each row; None takes the second class.
        note : str, default=""
            Anything worth keeping, in one line.
        order : {"worst", "random", "decided"}, default="worst"
            The order in which the rows came up. A row of the random sample counts as drawn at
            random only if it came up so when it was first decided on.
        revisions : mapping of int to int, default={}
            By row: its `revision` when it was looked at.
        action : str, default=""
            A name for what is done; an action of a name that was taken before is not taken again.
        new_class : bool, default=False
            As for `decide`.

        Returns
        -------
        int
            Number of rows whose decision is new.

        Raises
        ------
        ConflictError
            If a row has another revision and another decision by now; nothing is written.
        """
        _check_order(order)
        labels = list(label) if isinstance(label, (list, tuple)) else [label] * len(rows)
        with self._lock:
            self.table.check_unchanged()
            if self._log.is_taken(action):
                return 0
            if decision == CHANGE:
                names = ClassNames([*self.classes, *self.new_classes])
                if new_class:
                    names = names.with_new(str(new) for new in labels if new is not None)
                labels = [None if new is None else names.known(str(new)) for new in labels]
            label_of = dict(zip(rows, labels, strict=True))  # a row that is named twice counts once
            decided = [self._decided(*of_row, decision, note, order) for of_row in label_of.items()]
            for new in decided:
                is_stale = revisions.get(new.row, self.revision(new.row)) != self.revision(new.row)
                if is_stale and not self._log.is_active(new):
                    raise ConflictError(new.row)
            n_new = self._log.add(decided, action)
            self._since_fit += n_new
            self._rate()
        self._refit_if_due()
        return n_new

    def undo(self, action: str | None = None, row: int | None = None) -> list[int]:
        """Undo the last decision, or all that were taken at once with it.

        Parameters
        ----------
        action : str, default=None
            Name of the action to undo; None means the last one. What is undone already, and rows
            that were decided on again since, stay as they are.
        row : int, default=None
            The only row of the action to undo; None means all.

        Returns
        -------
        list of int
            Numbers of the rows that are open again, or have their earlier decision.
        """
        with self._lock:
            found = self._log.undoable(self.last_action if action is None else action)
            found = [d for d in found if row in (None, d.row)]
            if not found:
                return []
            self.table.check_unchanged()
            facts: dict[str, Any] = {"decision": UNDO, "new_label": "", "note": "", "line": 0}
            self._log.undo([replace(d, **facts, **self._signature()) for d in found])
            rows = [decision.row for decision in found]
            learnt = self._fit.audit.verified_[[self._position(row) for row in rows]]
            # An audit that has learnt the decisions is fitted again at once.
            self._since_fit += self.refit_every if learnt.any() else len(rows)
            self._rate()
        self._refit_if_due()
        return rows

    def _decided(
        self, row: int, label: str | None, decision: str, note: str, order: str
    ) -> Decision:
        if decision not in DECISIONS:
            raise DecisionsError(f"{decision!r} is no decision; use {', '.join(DECISIONS)}.")
        rated, new = self.rated(row), ""
        if decision == CHANGE:
            if label is None and rated.second_class is None:
                raise DecisionsError(f"row {row}: no class is suggested; name the new label.")
            new = label or str(rated.second_class)
            if new == rated.given_label:
                decision, new = KEEP, ""
        is_drawn = order == AT_RANDOM and row in self._ever_sampled
        drawn = AT_RANDOM if is_drawn or row in self._log.at_random else WORST_FIRST
        facts = line_facts(self.table.data, rated)
        before = self.decision(row)
        if before is not None and before.decision in (KEEP, CHANGE):
            # The audit has learnt the label; it was doubted as it was before.
            facts |= {"verdict": before.verdict, "probability": before.probability}
        note = " ".join(note.split())
        return Decision(row, decision, new, drawn=drawn, note=note, **self._signature(), **facts)

    def _signature(self) -> dict[str, Any]:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        return {"who": self.who, "when": when, "version": self._version}

    # --- learning from decisions

    def refit(self) -> None:
        """Fit the audit again, with all decisions so far."""
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
        self._refit(self.table.with_options(options))

    def _refit_if_due(self) -> None:
        if self._since_fit < self.refit_every:
            return
        if self._waits_for_fit:
            self.refit()
        else:
            self.background.start(self.refit)

    def _refit(self, table: ReviewedTable) -> None:
        n_learnt = self._since_fit
        fit = self._audited(table)
        with self._lock:
            n_before = self._n_suspects()
            self.table, self._fit = table, fit
            self._since_fit -= n_learnt
            self.generation += 1
            self._rate()
            self._suspects_moved = n_before, self._n_suspects()

    def _n_suspects(self) -> int:
        return int((self._is_open() & self.ratings.is_suspect).sum())

    def _audited(self, table: ReviewedTable) -> AuditedRows:
        with self._lock:
            verified = self._verified(table)
        return table.audited(verified, **self._settings)

    def _rate(self) -> None:
        """Rate the labels with all decisions; no tree is grown."""
        verified = self._verified(self.table)
        self._fit.ratings, self._audit_summary = self._fit.audit.rated_with(verified)

    def _verified(self, table: ReviewedTable) -> VerifiedLabels:
        return verified_by(list(self._log.active.values()), table.data, self.source)

    # --- results

    def summary(self) -> ReviewSummary:
        """Return the numbers of the review."""
        with self._lock:
            return ReviewSummary(
                self._audit_summary,
                n_suspects=self._n_suspects(),
                n_fitted=self._fit.audit.summary().n_verified,
                suspects_moved=self._suspects_moved,
                decisions=tuple(self._log.active.values()),
            )

    def corrected(self, *, drop_excluded: bool = False) -> pd.DataFrame:
        """Return the table with the changed labels.

        Parameters
        ----------
        drop_excluded : bool, default=False
            Whether to leave excluded rows out.
        """
        with self._lock:
            decisions = list(self._log.active.values())
        frame = self.table.corrected(decisions, self._fit.audit)
        if not drop_excluded:
            return frame
        excluded = [d.row - 1 for d in decisions if d.decision == EXCLUDE]
        return frame.drop(index=frame.index[excluded])

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def __enter__(self):
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _check_order(order: str) -> None:
    if order not in ORDERS:
        raise ValueError(f"order={order!r} must be one of {', '.join(ORDERS)}.")


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return "somebody"
