"""Why a label is doubted: similar rows, the columns that decide, and trusted rows to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from granulearn.audit.column_words import ColumnWords, FeatureName
from granulearn.audit.label_audit import LabelAudit
from granulearn.audit.ratings import OUTLIER, Ratings
from granulearn.audit.similar_rows import ReasonFinder, Reasons
from granulearn.utils.neighbors import nearest_points
from granulearn.utils.text import counted

if TYPE_CHECKING:
    import pandas as pd

NEIGHBOURS = 3
MOST_COLUMNS = 3
# A column that has less of what speaks against a label is not worth a word.
LEAST_SHARE = 0.1


@dataclass(frozen=True)
class _Told:
    """Columns in words."""

    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    relevance: tuple[str, ...] = ()


@dataclass(frozen=True)
class Neighbour:
    """A trusted row to compare with."""

    position: int
    distance: float
    label_quality: float


@dataclass(frozen=True)
class Explanation:
    """Why the label of one row is doubted."""

    position: int
    rival: str | None
    """The class that competes with the given one; None where nothing is known."""
    words: str
    """One sentence."""
    columns: tuple[str, ...]
    """At most three columns with the row's own cells, the one that decides most first."""
    column_names: tuple[str, ...]
    """The names of these columns."""
    relevance: tuple[str, ...]
    """All columns that were rated, the one that speaks most for the competing class first."""
    of_given: tuple[Neighbour, ...]
    """The nearest trusted rows of the given class."""
    of_rival: tuple[Neighbour, ...]
    """The nearest trusted rows of the competing class."""


class Explainer:
    """Says why labels are doubted; what all explanations share is made once.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited: imputed, encoded, scaled.
    table : DataFrame
        The same rows as they came, to be told.
    names : sequence of str or tuple
        Names of the features; (column, category) for a feature of zeros and ones.
    """

    def __init__(
        self, audit: LabelAudit, X: np.ndarray, table: pd.DataFrame, names: Sequence[FeatureName]
    ):
        self._ratings, self._X = audit.ratings_, X
        self._words = ColumnWords(X, names, table)
        self._finder = None if audit.forest_ is None else ReasonFinder(audit, X)
        self._usual: dict[int, np.ndarray] = {}

    def explain(self, positions: Sequence[int]) -> list[Explanation]:
        """Explain what the audit says about some labels.

        Parameters
        ----------
        positions : sequence of int
            The rows to explain.

        Returns
        -------
        list of Explanation
            One for each position.
        """
        ratings = self._ratings
        rivals = ratings.rivals
        rated = [position for position in positions if rivals[position] >= 0]
        reasons: dict[int, Reasons] = {}
        if self._finder is not None:
            found = self._finder.reasons(rated, rivals[rated])
            reasons = dict(zip(rated, found, strict=True))
        of_given = nearest_trusted(ratings, self._X, positions, ratings.given)
        of_rival = nearest_trusted(ratings, self._X, positions, rivals)
        return [
            self._explained(position, reasons.get(position), own, other)
            for position, own, other in zip(positions, of_given, of_rival, strict=True)
        ]

    def _explained(
        self,
        position: int,
        why: Reasons | None,
        own: tuple[Neighbour, ...],
        other: tuple[Neighbour, ...],
    ) -> Explanation:
        ratings, rival = self._ratings, self._ratings.rivals[position]
        told = _Told()
        if ratings.verdicts[position] == OUTLIER:
            told = _unlike(self._words, position, own + other)
        elif why is not None:
            usual = self._usual_of(int(ratings.given[position]))
            told = _most(self._words, position, why.pushes, usual)
        return Explanation(
            position,
            rival=None if rival < 0 else str(ratings.classes[rival]),
            words=_sentence(ratings, position, why, told.words),
            columns=told.words,
            column_names=told.names,
            relevance=told.relevance,
            of_given=own,
            of_rival=other,
        )

    def _usual_of(self, code: int) -> np.ndarray:
        """Return the median inputs of a class, of its trusted rows if there are any."""
        if code not in self._usual:
            rows = self._ratings.believed == code
            believed = rows & self._ratings.trusted
            self._usual[code] = np.median(self._X[believed if believed.any() else rows], axis=0)
        return self._usual[code]


def nearest_trusted(
    ratings: Ratings, X: np.ndarray, positions: Sequence[int], wanted: np.ndarray
) -> list[tuple[Neighbour, ...]]:
    """Return, for each position, the nearest trusted rows of a class.

    Parameters
    ----------
    ratings : Ratings
        Says which rows are trusted.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited.
    positions : sequence of int
        Positions of the rows; a row is not its own neighbour.
    wanted : ndarray of shape (n_samples,)
        Number of the class to look in, for every row; -1 for none.
    """
    found: dict[int, tuple[Neighbour, ...]] = dict.fromkeys(positions, ())
    trusted = ratings.trusted
    for code in np.unique(wanted[list(positions)]):
        own = [position for position in positions if wanted[position] == code]
        among = np.flatnonzero(trusted & (ratings.believed == code))
        if code < 0 or len(among) == 0:
            continue
        # One more: the row itself may be among them.
        nearest = among[nearest_points(X[among], X[own], min(NEIGHBOURS + 1, len(among)))]
        for position, near in zip(own, nearest, strict=True):
            others = near[near != position][:NEIGHBOURS]
            distances = np.linalg.norm(X[others] - X[position], axis=1)
            found[position] = tuple(
                Neighbour(int(at), float(distance), float(ratings.label_quality[at]))
                for at, distance in zip(others, distances, strict=True)
            )
    return [found[position] for position in positions]


def _unlike(words: ColumnWords, position: int, near: tuple[Neighbour, ...]) -> _Told:
    """Return the columns in which a row differs most from the trusted rows nearest to it."""
    if not near:
        return _Told()
    usual = words.X[[neighbour.position for neighbour in near]].mean(axis=0)
    return _most(words, position, (words.X[position] - usual) ** 2, usual)


def _most(words: ColumnWords, position: int, features: np.ndarray, usual: np.ndarray) -> _Told:
    """Return the columns whose features have the largest sum."""
    amounts = words.by_column(features)
    least = LEAST_SHARE * amounts[amounts > 0].sum()
    order = np.argsort(-amounts, kind="stable").tolist()
    most = [column for column in order[:MOST_COLUMNS] if amounts[column] > least]
    return _Told(
        tuple(words.columns[column] for column in most),
        tuple(words.tell(position, column, features, usual) for column in most),
        tuple(words.columns[column] for column in order),
    )


def _sentence(
    ratings: Ratings, position: int, why: Reasons | None, columns: tuple[str, ...]
) -> str:
    given = ratings.classes[ratings.given[position]]
    if ratings.verdicts[position] == OUTLIER:
        return f"Its cells are unlike those of all other rows{_told('most in', columns)}."
    rival = ratings.rivals[position]
    if why is None and rival >= 0:
        # There are no trees to tell of similar rows: another model, or an audit elsewhere.
        likely = ratings.proba[position, [rival, ratings.given[position]]]
        return f"'{ratings.classes[rival]}' is {likely[0]:.0%} likely, '{given}' {likely[1]:.0%}."
    if why is None or why.class_counts.sum() == 0:
        alone = (ratings.given == ratings.given[position]).sum() == 1
        return f"No other row is '{given}'." if alone else "Nothing can rate this label."
    n_rival, n_given = why.class_counts[[rival, ratings.given[position]]]
    return (
        f"Among {counted(int(why.class_counts.sum()), 'similar row')} "
        f"{_are(n_rival, ratings.classes[rival])} and {_are(n_given, given)}"
        f"{_told('what decides', columns)}."
    )


def _are(count: int, label: object) -> str:
    return f"{count or 'none'} {'is' if count < 2 else 'are'} '{label}'"


def _told(lead: str, columns: tuple[str, ...]) -> str:
    return f"; {lead}: {', '.join(columns)}" if columns else ""
