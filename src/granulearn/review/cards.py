"""Rows of an audit: chosen by a filter, and shown on cards with the reason for doubt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.audit.explanation import Explainer, Explanation, Neighbour, cell_text
from granulearn.audit.ratings import FINE, SUSPECT, WRONG, Issue, Ratings
from granulearn.audit.table_audit import TableAudit
from granulearn.audit.verified import WORST_FIRST
from granulearn.tables import TrainingTable

MOST_CLASSES = 9
"""Classes with a key of their own."""
SHORT = 120
"""Characters of a text that is shown as it is."""
_MOST_VALUES, _LONGEST_VALUE = 200, 100
_MOST_BY_INPUTS = 3
_ROW = re.compile(r"#[0-9]{1,15}")
# Between the cells of a row: no word of a search goes from one cell into the next.
_SEPARATOR = pa.scalar("\x1f", pa.large_string())


# --- pairs of classes


def pair_key(given: int, second: int) -> str:
    """Return the key of a pair of classes, for filters; empty if there is no second class (-1)."""
    return f"{given}-{second}" if second >= 0 else ""


def rows_of_pair(ratings: Ratings, key: str) -> np.ndarray:
    """Return where given and second class are those of a pair; nowhere for an unknown pair."""
    given, _, second = key.partition("-")
    if not (given.isdecimal() and second.isdecimal()):
        return np.zeros(len(ratings.given), dtype=bool)
    return (ratings.given == int(given)) & (ratings.second_classes == int(second))


def confused_pairs(ratings: Ratings) -> list[dict[str, Any]]:
    """Return the pairs of given and second class that are doubted, the most frequent first.

    Each has its ``key`` (see `pair_key`), ``given_label`` and ``second_class``, how many labels are
    ``wrong`` or ``suspect``, and how many have the given label (``of_given``).
    """
    names, totals = ratings.classes.astype(str), np.bincount(ratings.given)
    rows = pd.DataFrame({"given": ratings.given, "second": ratings.second_classes})
    for verdict in (WRONG, SUSPECT):
        rows[verdict] = ratings.verdicts == verdict
    doubted = rows[(rows["second"] >= 0) & rows[[WRONG, SUSPECT]].any(axis=1)]
    counts = doubted.groupby(["given", "second"], as_index=False).sum().astype(int)
    pairs = sorted(counts.to_numpy().tolist(), key=lambda pair: (-pair[2], -pair[3]))
    return [
        {
            "key": pair_key(given, second),
            "given_label": str(names[given]),
            "second_class": str(names[second]),
            WRONG: wrong,
            SUSPECT: suspect,
            "of_given": int(totals[given]),
        }
        for given, second, wrong, suspect in pairs
    ]


# --- rows


class RowFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows a person wants to see; the default wants all."""

    verdict: str = ""
    """Verdicts to see, separated by commas; empty means all."""
    pair: str = ""
    """Given and second class, see `pair_key`; empty means all."""
    find: str = ""
    """Words that all occur in a row's cells or labels; ``#12`` is the row of that number."""
    column: str = ""
    """A column with one `value`; empty means no column."""
    value: str = ""
    """The cell; empty for a missing one."""
    issue: str = ""
    """Kind of an issue of the audit, or its `issue_key`; empty means no issue."""
    decided: str = ""
    """Kinds of decisions to see among decided rows, separated by commas; empty means all."""

    @property
    def numbers(self) -> list[int]:
        """The rows that are searched for by number."""
        return [int(word[1:]) for word in self.find.split() if _ROW.fullmatch(word)]

    @property
    def names_rows(self) -> bool:
        """Whether rows are asked for one by one, decided or not: by number or as one issue."""
        return bool(self.numbers) or self.issue[-1:].isdecimal()


def issue_key(issue: Issue) -> str:
    """Return the key of an issue, for filters: its kind and its first row."""
    return " ".join([issue.kind, *map(str, issue.rows[:1])])


@dataclass(frozen=True)
class RatedRow:
    """A row and the rating of its label, as the queue shows it."""

    row: int
    """Number of the data row, from 1."""
    verdict: str
    given_label: str
    second_class: str | None
    """The most probable other class, which is suggested; None where nothing is known."""
    pair: str
    """Key of the two, for filters."""
    error_probability: float | None
    """Probability that the label is wrong; None where it is unknown."""
    verified: bool


def rated_row(ratings: Ratings, row: int, position: int) -> RatedRow:
    """Return the row of a number with the rating of its label, which is at a position."""
    given, second = int(ratings.given[position]), int(ratings.second_classes[position])
    return RatedRow(
        row,
        str(ratings.verdicts[position]),
        str(ratings.classes[given]),
        None if second < 0 else str(ratings.classes[second]),
        pair_key(given, second),
        _or_none(ratings.error_proba[position]),
        bool(ratings.verified[position]),
    )


@dataclass(frozen=True)
class ComparedRow:
    """A trusted row beside the row of a card."""

    row: int
    distance: float
    label_quality: float | None


@dataclass(frozen=True)
class CardLine:
    """One column on a card."""

    column: str
    decides: bool
    """Whether the cell speaks against the label."""
    own: str
    others: tuple[str, ...]
    """The cells of the rows to compare with: those of the given class, then of the second."""


@dataclass(frozen=True)
class ClassProbability:
    """How probable it is that a class is the right one."""

    label: str
    probability: float | None
    """All but that of the given class add up to the error probability; None where that is unknown,
    or where the label is verified."""
    is_given: bool
    is_second: bool
    key: str
    """The key that chooses it, which is its rank; empty from the tenth on."""


@dataclass(frozen=True, kw_only=True)
class Card(RatedRow):
    """What a person sees of one row before they decide on its label."""

    reason: str
    """Why the label is doubted, in one sentence."""
    probabilities: tuple[ClassProbability, ...]
    """The given, the second and the most probable other classes, the most probable first."""
    annotations: list[dict[Any, Any]] | None
    """``annotator``, ``label`` and ``accuracy`` (from ``accuracy_low`` to ``accuracy_high``) of all
    who have labelled the row; None where the labels are no consensus."""
    by_inputs: dict[str, float]
    """Most probable classes by the inputs, apart from the labels of the row; empty if they say
    nothing, or without annotators."""
    untrusted: tuple[str, ...]
    """Why there is no trusted row of the given or of the second class, in a sentence each."""
    kept: tuple[CardLine, ...]
    """The columns that were asked for."""
    lines: tuple[CardLine, ...]
    """The other columns, those that decide first."""
    n_columns: int
    """Columns of the table; a card may have fewer lines."""
    of_given: tuple[ComparedRow, ...]
    of_second: tuple[ComparedRow, ...]
    drawn: str
    """ "random" if the row was drawn at random, else "worst"."""


class AuditedRows:
    """The rows of an audited table, for its pages.

    Parameters
    ----------
    done : TableAudit
        The table, read with its cells, and its audit.
    keep : sequence of str, default=()
        Columns that come first on every card.
    long_cards : bool, default=False
        Whether cards may be long, since they are loaded one by one.
    """

    def __init__(self, done: TableAudit, keep: Sequence[str] = (), *, long_cards: bool = False):
        self.audit, self.ratings = done.audit, done.audit.ratings_
        self.numbers = done.table.rows + 1
        self.table = done.shown_cells()
        self._most_columns, self._most_characters = (60, 10_000) if long_cards else (30, SHORT)
        self.columns = {str(name): position for position, name in enumerate(self.table.columns)}
        self.keep = [name for name in keep if name in self.columns]
        self._explainer = Explainer(done.audit, done.X, self.table, done.origins)

    def matching(self, asked: RowFilter) -> np.ndarray:
        """Return which rows fit a filter, as a mask."""
        fits = np.ones(len(self.numbers), dtype=bool)
        if asked.verdict:
            fits &= np.isin(self.ratings.verdicts, asked.verdict.split(","))
        if asked.pair:
            fits &= rows_of_pair(self.ratings, asked.pair)
        if asked.column:
            fits &= (self._texts(asked.column) == asked.value).to_numpy()
        if asked.issue:
            issues = [i for i in self.audit.issues_ if asked.issue in (i.kind, issue_key(i))]
            rows = [row for issue in issues for row in issue.rows]
            fits &= np.isin(np.arange(len(fits)), rows)
        for number in asked.numbers:
            fits &= self.numbers == number
        for word in asked.find.lower().split():
            if not _ROW.fullmatch(word):
                found = pc.match_substring(self._searched, word)
                fits &= found.to_numpy(zero_copy_only=False)
        return fits

    def _texts(self, column: str) -> pd.Series:
        if column not in self.columns:
            raise ValueError(f"there is no column {column!r}.")
        return self.table.iloc[:, self.columns[column]].fillna("")

    def values(self, column: str) -> dict[str, int]:
        """Return the most frequent cells of a column, long ones left out, and their counts."""
        texts = self._texts(column)
        counts = texts[texts.str.len() <= _LONGEST_VALUE].value_counts()
        return {str(text): int(n) for text, n in counts[:_MOST_VALUES].items()}

    @cached_property
    def _searched(self) -> pa.Array:
        """The cells and labels of each row as one text, in lower case."""
        names = np.append(self.ratings.classes.astype(str), "").astype(object)
        labels = [names[codes] for codes in (self.ratings.given, self.ratings.second_classes)]
        cells = [column for _, column in self.table.items()]
        texts = [pa.array(part, pa.large_string(), from_pandas=True) for part in (*cells, *labels)]
        joined = pc.binary_join_element_wise(
            *texts, _SEPARATOR, null_handling="replace", null_replacement=""
        )
        return pc.utf8_lower(joined)

    def cells(self, position: int) -> list[str]:
        """Return the cells of the row at a position in the ratings, long ones shortened."""
        return [self._cut(cell_text(cell)) for cell in self.table.iloc[position]]

    def _cut(self, text: str) -> str:
        most = self._most_characters
        size = f" ({most:,} of {len(text):,} characters)" if most > SHORT else ""
        return text if len(text) <= most else f"{text[: most - 1]}…{size}"

    def cards(self, positions: Sequence[int], drawn: str = WORST_FIRST) -> list[Card]:
        """Return the cards of the rows at some positions, which were drawn in one way."""
        return [self._card(found, drawn) for found in self._explainer.explain(positions)]

    def _card(self, found: Explanation, drawn: str) -> Card:
        own = self.cells(found.position)
        others = [self.cells(near.position) for near in (*found.of_given, *found.of_second)]
        by_relevance = dict.fromkeys([*found.column_names, *found.relevance, *self.columns])
        rest = [name for name in by_relevance if name in self.columns and name not in self.keep]

        def line(name: str) -> CardLine:
            position = self.columns[name]
            cells = tuple(cells[position] for cells in others)
            return CardLine(name, name in found.column_names, own[position], cells)

        return Card(
            **vars(rated_row(self.ratings, int(self.numbers[found.position]), found.position)),
            reason=found.message,
            probabilities=class_probabilities(self.ratings, found.position),
            **self._by_annotators(found.position),
            untrusted=self._untrusted(found),
            kept=tuple(map(line, self.keep)),
            lines=tuple(map(line, rest[: self._most_columns])),
            n_columns=len(own),
            of_given=tuple(map(self._compared, found.of_given)),
            of_second=tuple(map(self._compared, found.of_second)),
            drawn=drawn,
        )

    def _by_annotators(self, position: int) -> dict[str, Any]:
        """Return what annotators and, apart from them, the inputs say of a row."""
        consensus = self.audit.consensus_record_
        if consensus is None:
            return {"annotations": None, "by_inputs": {}}
        given = consensus.annotations
        at = np.flatnonzero(given.rows == position)
        told = self.audit.annotators_.iloc[given.annotators[at]].reset_index()
        told["label"] = given.classes[given.labels[at]].astype(str)
        prior = consensus.prior[position]
        best = np.argsort(-prior)[: _MOST_BY_INPUTS if consensus.tau > 0 else 0]
        by_inputs = {str(given.classes[code]): float(prior[code]) for code in best}
        records = told.sort_values("annotator").to_dict("records")
        return {"annotations": records, "by_inputs": by_inputs}

    def _untrusted(self, found: Explanation) -> tuple[str, ...]:
        """Return why a card has no trusted row of a class."""
        ratings, at, said = self.ratings, found.position, []
        sides = (ratings.given, found.of_given), (ratings.second_classes, found.of_second)
        for code in [int(codes[at]) for codes, near in sides if codes[at] >= 0 and not near]:
            verdicts = np.delete(ratings.verdicts, at)[np.delete(ratings.believed, at) == code]
            n, n_fine = len(verdicts), (verdicts == FINE).sum()
            why = f": {n - n_fine} are doubted, {n_fine} more like other classes" if n else ""
            said.append(f"None of {n} other rows of {ratings.classes[code]} is trusted{why}.")
        return tuple(said)

    def _compared(self, near: Neighbour) -> ComparedRow:
        row = int(self.numbers[near.position])
        return ComparedRow(row, near.distance, _or_none(near.label_quality))


def class_probabilities(ratings: Ratings, position: int) -> tuple[ClassProbability, ...]:
    """Return the given, the second and the most probable other classes of a row."""
    given, second = int(ratings.given[position]), int(ratings.second_classes[position])
    proba, wrong = np.nan_to_num(ratings.proba[position]), ratings.error_proba[position]
    # The error probability, shared among the others as similar rows have them as labels.
    others = np.where(np.arange(len(proba)) == given, 0, proba)
    right = wrong * others / max(others.sum(), 1e-300)
    right[given] = 1 - wrong
    if ratings.verified[position]:
        right[:] = np.nan
    order = np.lexsort((-proba, -np.nan_to_num(right))).tolist()
    shown = [code for code in order if code in {given, second, *order[:MOST_CLASSES]}]
    return tuple(
        ClassProbability(
            label=str(ratings.classes[code]),
            probability=_or_none(right[code]),
            is_given=code == given,
            is_second=code == second,
            key=str(rank) if rank <= MOST_CLASSES else "",
        )
        for rank, code in enumerate(shown, start=1)
    )


def line_facts(table: TrainingTable, rated: RatedRow) -> dict[str, Any]:
    """Return the fields of a `Decision` that say what its row is, and how it was rated."""
    cell, wrong = table.label_cells[rated.row - 1] or "", rated.error_probability
    cell = cell if table.classes is None else ""  # no cell of the file
    return {
        "hash": table.hashes[rated.row - 1],
        "given_label": rated.given_label,
        "cell": "" if cell == rated.given_label else cell,
        "target": table.target,
        "verdict": rated.verdict,
        "probability": "" if wrong is None else f"{wrong:.4f}",
    }


def _or_none(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
