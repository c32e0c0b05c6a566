"""The cards of the audit's page: rows to look at, each with why and with rows to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.audit.column_words import cell_text
from granulearn.audit.explanation import Explanation, Neighbour
from granulearn.audit.ratings import AMBIGUOUS, STRANGE, UNKNOWN, WRONG, Ratings

if TYPE_CHECKING:
    import pandas as pd

MOST_CARDS = {WRONG: 250, AMBIGUOUS: 100, STRANGE: 50, UNKNOWN: 25}
"""How many rows of each verdict the page shows."""
MOST_PAIRS = 15
CARDS_PER_PAIR = 5
"""The page shows so many of each frequent pair at least; 500 cards open without a wait."""
MOST_COLUMNS = 30
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
    doubted = np.isin(ratings.verdicts, (WRONG, AMBIGUOUS)) & (ratings.rivals >= 0)
    both = np.column_stack([ratings.given, ratings.rivals])[doubted]
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
    verdicts, given, rivals = ratings.verdicts[worst], ratings.given[worst], ratings.rivals[worst]
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


@dataclass(frozen=True, eq=False)
class ShownTable:
    """The rows of a table as the page shows them."""

    table: pd.DataFrame
    row_numbers: Sequence[int]
    """Number by which a reader finds each row."""

    def row(self, position: int) -> int:
        """Return the number of a row."""
        return int(self.row_numbers[position])

    def cells(self, position: int) -> list[str]:
        """Return the cells of a row."""
        return [_shortened(cell_text(value)) for value in self.table.iloc[position]]


def card(ratings: Ratings, shown: ShownTable, explanation: Explanation) -> dict[str, Any]:
    """Return what the page shows of one row, as plain values.

    Parameters
    ----------
    ratings : Ratings
        What the audit says.
    shown : ShownTable
        The rows.
    explanation : Explanation
        Why the label is doubted.
    """
    position = explanation.position
    given = str(ratings.classes[ratings.given[position]])
    row, own = shown.row(position), shown.cells(position)
    near = [*explanation.of_given, *explanation.of_rival]
    others = [shown.cells(neighbour.position) for neighbour in near]
    order = _deciding_first(shown.table, explanation.column_names)
    return {
        "row": row,
        "verdict": str(ratings.verdicts[position]),
        "given": given,
        "rival": explanation.rival,
        "pair": pair_key(int(ratings.given[position]), int(ratings.rivals[position])),
        "against": _or_none(1 - ratings.reliability[position]),
        "reliability": _or_none(ratings.reliability[position]),
        "words": explanation.words,
        "search": " ".join([f"row {row}", given, explanation.rival or "", *own]).lower(),
        "of_given": [_neighbour(shown, neighbour) for neighbour in explanation.of_given],
        "of_rival": [_neighbour(shown, neighbour) for neighbour in explanation.of_rival],
        "lines": [
            {
                "column": str(shown.table.columns[place]),
                "decides": str(shown.table.columns[place]) in explanation.column_names,
                "own": own[place],
                "others": [cells[place] for cells in others],
            }
            for place in order[:MOST_COLUMNS]
        ],
    }


def _deciding_first(table: pd.DataFrame, deciding: Sequence[str]) -> list[int]:
    """Return the places of all columns; those that decide come first."""
    names = [str(name) for name in table.columns]
    first = [names.index(name) for name in deciding if name in names]
    return [*first, *(place for place in range(len(names)) if place not in first)]


def _neighbour(shown: ShownTable, near: Neighbour) -> dict[str, Any]:
    return {
        "row": shown.row(near.position),
        "distance": near.distance,
        "reliability": _or_none(near.reliability),
    }


def _or_none(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
