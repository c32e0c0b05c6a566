"""Cards: rows to look at, each with the reason for doubt and with rows to compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from granulearn.audit.explanation import Explainer, Explanation, Neighbour, cell_text
from granulearn.audit.ratings import AMBIGUOUS, OUTLIER, UNKNOWN, WRONG, Ratings
from granulearn.audit.table_audit import TableAudit
from granulearn.audit.verified import WORST_FIRST

MOST_CARDS = {WRONG: 250, AMBIGUOUS: 100, OUTLIER: 50, UNKNOWN: 25}
"""Cards of each verdict on the page of an audit; 500 cards open without a wait."""
MOST_PAIRS = 15
CARDS_PER_PAIR = 5
"""Cards of each frequent pair that the page of an audit has at least."""
MOST_CLASSES = 9
"""Classes with a key of their own."""
MOST_CHARACTERS = 120


def confused_pairs(ratings: Ratings) -> list[dict[str, Any]]:
    """Return the pairs of given and second class that are doubted, the most frequent first.

    Parameters
    ----------
    ratings : Ratings
        Of the audit.

    Returns
    -------
    list of dict
        ``key`` (see `pair_key`), ``given_label`` and ``second_class``, how many labels are
        ``wrong`` or ``ambiguous``, and how many have the given label (``of_given``).
    """
    names, totals = ratings.classes.astype(str), Counter(ratings.given.tolist())
    codes = zip(ratings.given.tolist(), ratings.second_classes.tolist(), strict=True)
    counts = Counter(zip(codes, ratings.verdicts.tolist(), strict=True))
    found = {pair for pair, verdict in counts if verdict in (WRONG, AMBIGUOUS) and pair[1] >= 0}
    pairs = [
        {
            "key": pair_key(given, second),
            "given_label": str(names[given]),
            "second_class": str(names[second]),
            WRONG: counts[(given, second), WRONG],
            AMBIGUOUS: counts[(given, second), AMBIGUOUS],
            "of_given": totals[given],
        }
        for given, second in sorted(found)
    ]
    return sorted(pairs, key=lambda pair: (-pair[WRONG], -pair[AMBIGUOUS]))


def rows_of_pair(ratings: Ratings, key: str) -> np.ndarray:
    """Return where given and second class are those of a pair; nowhere for an unknown pair.

    Parameters
    ----------
    ratings : Ratings
        Of the audit.
    key : str
        See `pair_key`.
    """
    given, _, second = key.partition("-")
    if not (given.isdecimal() and second.isdecimal()):
        return np.zeros(len(ratings.given), dtype=bool)
    return (ratings.given == int(given)) & (ratings.second_classes == int(second))


def chosen_rows(ratings: Ratings) -> list[int]:
    """Return the positions of the rows on the page of an audit, the most probably wrong first.

    Parameters
    ----------
    ratings : Ratings
        Of the audit.
    """
    worst = ratings.worst_first
    chosen = np.zeros(len(worst), dtype=bool)
    for verdict, most in MOST_CARDS.items():
        chosen[np.flatnonzero(ratings.verdicts[worst] == verdict)[:most]] = True
    # A reader who asks for a frequent pair must not find an empty page.
    is_wrong = ratings.verdicts == WRONG
    for pair in confused_pairs(ratings)[:MOST_PAIRS]:
        wrong = (is_wrong & rows_of_pair(ratings, pair["key"]))[worst]
        chosen[np.flatnonzero(wrong)[:CARDS_PER_PAIR]] = True
    return worst[chosen].tolist()


def pair_key(given: int, second: int) -> str:
    """Return the key of a pair of classes, for filters.

    Parameters
    ----------
    given : int
        Number of the given class.
    second : int
        Number of the second class; -1 for none.
    """
    return f"{given}-{second}" if second >= 0 else ""


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
    against: float | None
    """Probability of all other classes as a label, by similar rows; None where it is unknown."""
    error_probability: float | None


def rated_row(ratings: Ratings, row: int, position: int) -> RatedRow:
    """Return a row and the rating of its label.

    Parameters
    ----------
    ratings : Ratings
        Of the audit.
    row : int
        Number of the row.
    position : int
        Its position in the ratings.
    """
    given, second = int(ratings.given[position]), int(ratings.second_classes[position])
    return RatedRow(
        row,
        str(ratings.verdicts[position]),
        str(ratings.classes[given]),
        None if second < 0 else str(ratings.classes[second]),
        pair_key(given, second),
        _or_none(1 - ratings.label_quality[position]),
        _or_none(ratings.error_proba[position]),
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
    """How probable a class is as a label, by similar rows."""

    label: str
    probability: float
    is_given: bool
    is_second: bool
    key: str
    """The key that chooses it; empty if it has none."""


@dataclass(frozen=True, kw_only=True)
class Card(RatedRow):
    """What a person sees of one row before they decide on its label."""

    reason: str
    """Why the label is doubted, in one sentence."""
    probabilities: tuple[ClassProbability, ...]
    """The given, the second and the most probable other classes, the most probable first."""
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


class CardBuilder:
    """Makes the cards of an audited table.

    Parameters
    ----------
    done : TableAudit
        The table, read with its cells, and its audit.
    keep : sequence of str, default=()
        Columns that come first on every card.
    most_columns : int, default=30
        Lines of a card, beside the columns of `keep`.
    """

    def __init__(self, done: TableAudit, keep: Sequence[str] = (), most_columns: int = 30):
        self.ratings, self.rows = done.audit.ratings_, done.table.rows + 1
        self.table, self.most_columns = done.shown_cells(), most_columns
        self.columns = {str(name): position for position, name in enumerate(self.table.columns)}
        self.keep = [name for name in keep if name in self.columns]
        self._explainer = Explainer(done.audit, done.X, self.table, done.names)

    def cells(self, position: int) -> list[str]:
        """Return the cells of a row, long ones shortened.

        Parameters
        ----------
        position : int
            Of the row in the ratings.
        """
        texts = map(cell_text, self.table.iloc[position])
        most = MOST_CHARACTERS
        return [text if len(text) <= most else f"{text[: most - 1]}…" for text in texts]

    def cards(self, positions: Sequence[int], drawn: str = WORST_FIRST) -> list[Card]:
        """Return the cards of some rows.

        Parameters
        ----------
        positions : sequence of int
            Of the rows in the ratings.
        drawn : str, default="worst"
            How the rows were drawn.
        """
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
            **vars(rated_row(self.ratings, int(self.rows[found.position]), found.position)),
            reason=found.message,
            probabilities=class_probabilities(self.ratings, found.position),
            kept=tuple(map(line, self.keep)),
            lines=tuple(map(line, rest[: self.most_columns])),
            n_columns=len(own),
            of_given=tuple(map(self._compared, found.of_given)),
            of_second=tuple(map(self._compared, found.of_second)),
            drawn=drawn,
        )

    def _compared(self, near: Neighbour) -> ComparedRow:
        row = int(self.rows[near.position])
        return ComparedRow(row, near.distance, _or_none(near.label_quality))


def class_probabilities(ratings: Ratings, position: int) -> tuple[ClassProbability, ...]:
    """Return the given, the second and the most probable other classes of a row.

    Parameters
    ----------
    ratings : Ratings
        Of the audit.
    position : int
        Position of the row in the ratings.
    """
    if not ratings.known[position]:
        return ()
    proba, given, second = (
        ratings.proba[position],
        ratings.given[position],
        ratings.second_classes[position],
    )
    order = np.argsort(-proba, kind="stable").tolist()
    chosen = {int(given), int(second), *order[:MOST_CLASSES]}
    shown = [code for code in order if code in chosen]
    # A few classes have the same keys on every card; of many, those on the card have one.
    with_key = range(len(proba)) if len(proba) <= MOST_CLASSES else shown[:MOST_CLASSES]
    keys = {code: str(number) for number, code in enumerate(with_key, start=1)}
    return tuple(
        ClassProbability(
            str(ratings.classes[code]),
            float(proba[code]),
            bool(code == given),
            bool(code == second),
            keys.get(code, ""),
        )
        for code in shown
    )


def _or_none(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
