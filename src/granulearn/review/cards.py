"""Cards: rows to look at, each with why its label is doubted and with rows to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from granulearn.audit.ratings import AMBIGUOUS, OUTLIER, UNKNOWN, WRONG, Ratings
from granulearn.audit.verified import WORST_FIRST

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.audit.explanation import Explanation, Neighbour

MOST_CARDS = {WRONG: 250, AMBIGUOUS: 100, OUTLIER: 50, UNKNOWN: 25}
"""How many rows of each verdict the page shows."""
MOST_PAIRS = 15
CARDS_PER_PAIR = 5
"""The page shows so many of each frequent pair at least; 500 cards open without a wait."""
MOST_COLUMNS = 30
MOST_CLASSES = 9
"""So many classes have a key."""
MOST_CHARACTERS = 120


@dataclass(frozen=True)
class ConfusedPair:
    """How often one class is given where another is more probable, or as probable."""

    given: int
    rival: int
    wrong: int
    ambiguous: int


def confused_pairs(ratings: Ratings) -> list[ConfusedPair]:
    """Return the pairs of given and competing class that are doubted, the most frequent first.

    Parameters
    ----------
    ratings : Ratings
        What the audit says.
    """
    doubted = np.isin(ratings.verdicts, (WRONG, AMBIGUOUS)) & (ratings.second_classes >= 0)
    both = np.column_stack([ratings.given, ratings.second_classes])[doubted]
    is_wrong = (ratings.verdicts == WRONG)[doubted]
    pairs, which = np.unique(both, axis=0, return_inverse=True)
    wrong, ambiguous = (
        np.bincount(which.ravel(), part, minlength=len(pairs)).astype(int).tolist()
        for part in (is_wrong, ~is_wrong)
    )
    found = [
        ConfusedPair(given, rival, n_wrong, n_ambiguous)
        for (given, rival), n_wrong, n_ambiguous in zip(
            pairs.tolist(), wrong, ambiguous, strict=True
        )
    ]
    return sorted(found, key=lambda pair: (-pair.wrong, -pair.ambiguous, pair.given, pair.rival))


def chosen_rows(ratings: Ratings) -> list[int]:
    """Return the positions of the rows that get a card, those most probably wrong first.

    Parameters
    ----------
    ratings : Ratings
        What the audit says.
    """
    worst = ratings.worst_first
    verdicts, given, rivals = (
        ratings.verdicts[worst],
        ratings.given[worst],
        ratings.second_classes[worst],
    )
    chosen = np.zeros(len(worst), dtype=bool)
    for verdict, most in MOST_CARDS.items():
        chosen[np.flatnonzero(verdicts == verdict)[:most]] = True
    # A reader who asks for a frequent pair must not find an empty page.
    for pair in confused_pairs(ratings)[:MOST_PAIRS]:
        own = (given == pair.given) & (rivals == pair.rival) & (verdicts == WRONG)
        chosen[np.flatnonzero(own)[:CARDS_PER_PAIR]] = True
    return worst[chosen].tolist()


def pair_key(given: int, rival: int) -> str:
    """Return the name under which the page knows a pair of classes.

    Parameters
    ----------
    given : int
        Number of the given class.
    rival : int
        Number of the class that competes with it; -1 for none.
    """
    return f"{given}-{rival}" if rival >= 0 else ""


@dataclass(frozen=True)
class ComparedRow:
    """A trusted row beside which a card puts its own."""

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
    """The cells of the rows to compare with: those of the given class, then the others."""


@dataclass(frozen=True)
class ClassShare:
    """How probable a class is, by similar rows."""

    label: str
    share: float
    is_given: bool
    is_rival: bool
    key: str = ""
    """The key that chooses it; empty if it has none."""


@dataclass(frozen=True)
class Card:
    """What a person sees of one row before they decide on its label."""

    row: int
    """Number of the data row, from 1."""
    verdict: str
    given: str
    rival: str | None
    """The class that competes with the given one; None where nothing is known."""
    pair: str
    """Name of the two, for filters."""
    against: float | None
    """Probability of all other classes as a label, by similar rows; None where it is unknown."""
    error_probability: float | None
    words: str
    """Why, in one sentence."""
    probabilities: tuple[ClassShare, ...]
    """The classes that matter, the most probable first."""
    kept: tuple[CardLine, ...]
    """The columns that were asked for."""
    lines: tuple[CardLine, ...]
    """The other columns, those that decide first."""
    n_columns: int
    """How many columns the table has; a card may have fewer lines."""
    of_given: tuple[ComparedRow, ...]
    of_rival: tuple[ComparedRow, ...]
    drawn: str = WORST_FIRST
    """ "random" if the row was drawn at random, and so stands for others."""


@dataclass(frozen=True, eq=False)
class ShownTable:
    """The rows of a table as cards show them."""

    table: pd.DataFrame
    row_numbers: Sequence[int] | np.ndarray
    """Number by which a reader finds each row."""
    keep: tuple[str, ...] = ()
    """Columns that come first on every card."""
    most_columns: int = MOST_COLUMNS
    """A card has so many lines, and those that were asked for."""

    def row(self, position: int) -> int:
        """Return the number of a row."""
        return int(self.row_numbers[position])

    def cells(self, position: int) -> list[str]:
        """Return the cells of a row."""
        # Imported when used: the stage of tables needs optional packages.
        from granulearn.audit.explanation import cell_text

        return [_shortened(cell_text(value)) for value in self.table.iloc[position]]


def make_card(
    ratings: Ratings, shown: ShownTable, explanation: Explanation, drawn: str = WORST_FIRST
) -> Card:
    """Return the card of one row.

    Parameters
    ----------
    ratings : Ratings
        What the audit says.
    shown : ShownTable
        The rows.
    explanation : Explanation
        Why the label is doubted.
    drawn : str, default="worst"
        How the row came to be looked at.
    """
    position = explanation.position
    near = [*explanation.of_given, *explanation.of_second]
    own, others = shown.cells(position), [shown.cells(other.position) for other in near]

    def line(place: int) -> CardLine:
        column = str(shown.table.columns[place])
        cells = tuple(cells[place] for cells in others)
        return CardLine(column, column in explanation.column_names, own[place], cells)

    kept, rest = _ordered(shown, explanation)
    return Card(
        row=shown.row(position),
        verdict=str(ratings.verdicts[position]),
        given=str(ratings.classes[ratings.given[position]]),
        rival=explanation.second_class,
        pair=pair_key(int(ratings.given[position]), int(ratings.second_classes[position])),
        against=_or_none(1 - ratings.label_quality[position]),
        error_probability=_or_none(ratings.error_proba[position]),
        words=explanation.message,
        probabilities=_shares(ratings, position),
        kept=tuple(map(line, kept)),
        lines=tuple(map(line, rest[: shown.most_columns])),
        n_columns=len(own),
        of_given=tuple(_compared(shown, near) for near in explanation.of_given),
        of_rival=tuple(_compared(shown, near) for near in explanation.of_second),
        drawn=drawn,
    )


def _ordered(shown: ShownTable, explanation: Explanation) -> tuple[list[int], list[int]]:
    """Return the places of the columns that were asked for, and of the others by relevance."""
    places = {str(name): place for place, name in enumerate(shown.table.columns)}
    kept = [places[name] for name in shown.keep if name in places]
    by_relevance = [*explanation.column_names, *explanation.relevance, *places]
    order = dict.fromkeys(places[name] for name in by_relevance if name in places)
    return kept, [place for place in order if place not in kept]


def _shares(ratings: Ratings, position: int) -> tuple[ClassShare, ...]:
    """Return the given class, its rival and the most probable others."""
    if not ratings.known[position]:
        return ()
    proba, given, rival = (
        ratings.proba[position],
        ratings.given[position],
        ratings.second_classes[position],
    )
    order = np.argsort(-proba, kind="stable")
    chosen = {int(given), int(rival)} - {-1} | set(order[:MOST_CLASSES].tolist())
    shown = [code for code in order.tolist() if code in chosen]
    # A few classes have the same keys on every card; of many, those on the card have one.
    keyed = range(len(proba)) if len(proba) <= MOST_CLASSES else shown[:MOST_CLASSES]
    keys = {code: str(number) for number, code in enumerate(keyed, start=1)}
    return tuple(
        ClassShare(
            label=str(ratings.classes[code]),
            share=float(proba[code]),
            is_given=bool(code == given),
            is_rival=bool(code == rival),
            key=keys.get(code, ""),
        )
        for code in shown
    )


def _compared(shown: ShownTable, near: Neighbour) -> ComparedRow:
    return ComparedRow(shown.row(near.position), near.distance, _or_none(near.label_quality))


def _or_none(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
