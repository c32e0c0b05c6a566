"""Why a label is doubted: similar rows, the columns that decide, and trusted rows to compare.

A forest predicts by similar rows: each ball on the path of a row shares its weight among the rows
that the tree saw in it. Added up over the trees that did not see the row, these are the
weights that all other rows have in its prediction. From ball to ball the prediction
changes, and the change is attributed to the features of the split between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from granulearn.audit.label_audit import LabelAudit
from granulearn.audit.ratings import OUTLIER, Ratings, percent
from granulearn.forest.explanation import SeenRows, WeighedTree, weigh_trees
from granulearn.tables.parse.dates import HOUR, RUNNING
from granulearn.utils.neighbors import nearest_points
from granulearn.utils.text import counted

if TYPE_CHECKING:
    import pandas as pd

NEIGHBOURS = 3
MOST_COLUMNS = 3
# A column that has less of what speaks against a label is not worth a word.
LEAST_SHARE = 0.1

MISSING = "–"
_LONGEST_CELL = 60
_SIDES = {
    "": ("lower", "higher"),
    RUNNING: ("earlier", "later"),
    "year": ("earlier", "later"),
    "month": ("earlier in the year", "later in the year"),
    "day of year": ("earlier in the year", "later in the year"),
    "weekday": ("earlier in the week", "later in the week"),
    HOUR: ("earlier in the day", "later in the day"),
}
CATEGORY = "category"

# Size of the matrix of weights that is held at once.
_WEIGHTS_AT_ONCE = 20_000_000
# Rounding must not choose between rows that are as similar.
_DECIMALS = 12


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
    second_class: str | None
    """The most probable other class; None where nothing is known."""
    message: str
    """One sentence."""
    columns: tuple[str, ...]
    """At most three columns with the row's own cells, the one that decides most first."""
    column_names: tuple[str, ...]
    """The names of these columns."""
    relevance: tuple[str, ...]
    """All columns that were rated, the one that speaks most for the second class first."""
    of_given: tuple[Neighbour, ...]
    """The nearest trusted rows of the given class."""
    of_second: tuple[Neighbour, ...]
    """The nearest trusted rows of the second class."""


class Explainer:
    """Explains why labels are doubted; what all explanations share is computed once.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited: imputed, encoded, scaled.
    table : DataFrame
        The same rows as they came, to be shown.
    origins : sequence of Origin
        Where the features come from.
    """

    def __init__(
        self, audit: LabelAudit, X: np.ndarray, table: pd.DataFrame, origins: Sequence[Origin]
    ):
        self._ratings, self._X = audit.ratings_, X
        self._cells = ColumnTexts(X, origins, table)
        self._forest = None if audit.forest_ is None else ForestReasons(audit, X)
        self._medians: dict[int, np.ndarray] = {}

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
        ratings, second = self._ratings, self._ratings.second_classes
        reasons: dict[int, Reasons] = {}
        if self._forest is not None:
            rated = [position for position in positions if second[position] >= 0]
            reasons = dict(zip(rated, self._forest.reasons(rated, second[rated]), strict=True))
        of_given = nearest_trusted(ratings, self._X, positions, ratings.given)
        of_second = nearest_trusted(ratings, self._X, positions, second)
        return [
            self._explain(position, reasons.get(position), own, other)
            for position, own, other in zip(positions, of_given, of_second, strict=True)
        ]

    def _explain(
        self,
        position: int,
        reasons: Reasons | None,
        own: tuple[Neighbour, ...],
        other: tuple[Neighbour, ...],
    ) -> Explanation:
        ratings, second = self._ratings, self._ratings.second_classes[position]
        decisive: list[int] = []
        by_relevance: list[int] = []
        texts: tuple[str, ...] = ()
        near = [neighbour.position for neighbour in own + other]
        # An outlier differs from the trusted rows nearest to it; other rows from their class.
        features = typical = None
        if ratings.verdicts[position] == OUTLIER:
            if near:
                typical = self._X[near].mean(axis=0)
                features = (self._X[position] - typical) ** 2
        elif reasons is not None:
            typical = self._median_of(int(ratings.given[position]))
            features = reasons.contributions
        if features is not None and typical is not None:
            decisive, by_relevance = self._cells.most_decisive(features)
            texts = tuple(self._cells.text(position, c, features, typical) for c in decisive)
        names = self._cells.columns
        return Explanation(
            position,
            second_class=None if second < 0 else str(ratings.classes[second]),
            message=_message(ratings, position, reasons, texts),
            columns=texts,
            column_names=tuple(names[column] for column in decisive),
            relevance=tuple(names[column] for column in by_relevance),
            of_given=own,
            of_second=other,
        )

    def _median_of(self, code: int) -> np.ndarray:
        """Return the median inputs of a class, of its trusted rows if there are any."""
        if code not in self._medians:
            rows = self._ratings.believed == code
            trusted = rows & self._ratings.trusted
            self._medians[code] = np.median(self._X[trusted if trusted.any() else rows], axis=0)
        return self._medians[code]


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
    for code in np.unique(wanted[list(positions)]):
        own = [position for position in positions if wanted[position] == code]
        among = np.flatnonzero(ratings.trusted & (ratings.believed == code))
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


def _message(
    ratings: Ratings, position: int, reasons: Reasons | None, columns: tuple[str, ...]
) -> str:
    given = ratings.classes[ratings.given[position]]
    if ratings.verdicts[position] == OUTLIER:
        return f"Its cells are unlike those of all other rows{_listed('most in', columns)}."
    second = ratings.second_classes[position]
    if reasons is None and second >= 0:
        # Without trees there are no similar rows: another model, or an audit elsewhere.
        likely, own = map(percent, ratings.proba[position, [second, ratings.given[position]]])
        return f"'{ratings.classes[second]}' is {likely} likely, '{given}' {own}."
    if reasons is None or reasons.class_counts.sum() == 0:
        alone = (ratings.given == ratings.given[position]).sum() == 1
        return f"No other row is '{given}'." if alone else "Nothing can rate this label."
    n_second, n_given = reasons.class_counts[[second, ratings.given[position]]]
    return (
        f"Among {counted(int(reasons.class_counts.sum()), 'similar row')} "
        f"{_are(n_second, ratings.classes[second])} and {_are(n_given, given)}"
        f"{_listed('what decides', columns)}."
    )


def _are(count: int, label: object) -> str:
    return f"{count or 'none'} {'is' if count < 2 else 'are'} '{label}'"


def _listed(lead: str, columns: tuple[str, ...]) -> str:
    return f"; {lead}: {', '.join(columns)}" if columns else ""


# ---- columns as a reader sees them -----------------------------------------------------------


class Origin(NamedTuple):
    """Where a feature comes from."""

    column: str
    part: str = ""
    """Empty for a number, `CATEGORY`, or the part of a date."""


def cell_text(value: Any) -> str:
    """Return a cell as a reader sees it.

    Parameters
    ----------
    value : object
        What the table holds.
    """
    if value is None or value != value or not str(value).strip():
        return MISSING
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


def _rounded(cell: str) -> str:
    """Return a decimal number with four significant digits, or all before its decimals."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    if "." not in cell or not np.isfinite(number):
        return cell
    return f"{number:.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"


class ColumnTexts:
    """The features of encoded rows, shown as the cells of the table that they come from.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Encoded rows.
    origins : sequence of Origin
        Where the features come from.
    table : DataFrame
        The same rows as they came.
    """

    def __init__(self, X: np.ndarray, origins: Sequence[Origin], table: pd.DataFrame):
        self._X, self._table = X, table
        self._column_at = {str(name): at for at, name in enumerate(table.columns)}
        self.origins = origins
        self.columns = list(dict.fromkeys(origin.column for origin in origins))
        numbers = {column: number for number, column in enumerate(self.columns)}
        self._column_of = np.array([numbers[origin.column] for origin in origins], dtype=int)
        is_between = (X.min(axis=0) != X) & (X.max(axis=0) != X)
        # A feature of two values is yes or no.
        self._is_number = is_between.any(axis=0) & [origin.part != CATEGORY for origin in origins]

    def most_decisive(self, features: np.ndarray) -> tuple[list[int], list[int]]:
        """Return the few columns whose features have the largest sum, and all in that order.

        Parameters
        ----------
        features : ndarray of shape (n_features,)
            How much each feature matters.
        """
        sums = np.bincount(self._column_of, features, minlength=len(self.columns))
        order = np.argsort(-sums, kind="stable").tolist()
        least = LEAST_SHARE * sums[sums > 0].sum()
        return [column for column in order[:MOST_COLUMNS] if sums[column] > least], order

    def text(self, position: int, column: int, features: np.ndarray, typical: np.ndarray) -> str:
        """Return a column with the cell of a row: "colour = red" or "age 71 (higher)".

        Parameters
        ----------
        position : int
            The row.
        column : int
            Number of the column.
        features : ndarray of shape (n_features,)
            How much each feature matters; the column is shown by its most important one.
        typical : ndarray of shape (n_features,)
            What features are compared with.
        """
        own = np.flatnonzero(self._column_of == column)
        most = own[features[own].argmax()]
        name, is_number = self.columns[column], self._is_number[most]
        at = self._column_at.get(name)
        # The table that is shown may lack the column.
        value = self._X[position, most] if at is None else self._table.iat[position, at]
        cell = cell_text(value)
        if is_number and not self.origins[most].part:
            cell = _rounded(cell)
        if len(cell) > _LONGEST_CELL:
            cell = f"{cell[:_LONGEST_CELL]}…"
        # A number or a date has a digit; what has none stands for a missing cell.
        if cell == MISSING or (is_number and not any(sign.isnumeric() for sign in cell)):
            return f"{name} is missing"
        if not is_number:
            return f"{name} = {cell}"
        # Two numbers side by side would read as one.
        text = f"{name} = {cell}" if name[-1:].isdigit() else f"{name} {cell}"
        difference = self._X[position, most] - typical[most]
        if difference == 0:
            return text
        return f"{text} ({_SIDES[self.origins[most].part][int(difference > 0)]})"


# ---- similar rows and contributions of features ----------------------------------------------


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why trees that did not see a row predict what they do."""

    class_counts: np.ndarray
    """(K,) given classes of the rows that are most similar; all zero if every tree saw the row."""
    contributions: np.ndarray
    """(n_features,) what each feature adds to the probability of the second class less that of the
    given one."""
    base: float
    """The same difference before anything is known of the row."""


@dataclass(frozen=True, eq=False)
class _Tree:
    """A tree, with the rows that it saw in an order in which every ball is a slice."""

    weighed: WeighedTree
    order: np.ndarray
    """(n_seen,) positions of the rows."""
    begins: np.ndarray
    """(n_nodes,) where the slice of a ball begins."""
    sizes: np.ndarray
    """(n_nodes,) how long it is."""
    shares: sparse.csr_array
    """(n_nodes, n_features) the part that each feature has in the split of a ball."""


def weighed_trees(audit: LabelAudit, X: np.ndarray) -> list[WeighedTree]:
    """Return the trees of an audit with the counts and predictions of their balls.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited.
    """
    seen = SeenRows(audit.forest_.rows(X), audit.learnt_, np.ones(len(X)), audit.in_bag_)
    return weigh_trees(audit.forest_, seen, audit.priors_, [1.0])


class ForestReasons:
    """Finds why the forest of an audit prefers another class, or nearly does.

    The trees are weighed once, so that asking about one row after another is cheap.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited.
    """

    def __init__(self, audit: LabelAudit, X: np.ndarray):
        self._given, self._in_bag = audit.ratings_.given, audit.in_bag_
        self._n_classes, self._rows = len(audit.classes_), audit.forest_.rows(X)
        self._trees = [
            _with_rows(tree, self._rows, np.flatnonzero(seen))
            for tree, seen in zip(weighed_trees(audit, X), self._in_bag, strict=True)
        ]

    def reasons(self, positions: Sequence[int], second: np.ndarray) -> list[Reasons]:
        """Return the reasons for some rows.

        Parameters
        ----------
        positions : sequence of int
            The rows to explain.
        second : ndarray of int
            For each of them the number of the class that competes with the given one.

        Returns
        -------
        list of Reasons
            One for each position.
        """
        at = np.asarray(positions, dtype=int)
        step = max(1, _WEIGHTS_AT_ONCE // len(self._rows))
        parts = [slice(begin, begin + step) for begin in range(0, len(at), step)]
        return [reasons for part in parts for reasons in self._reasons(at[part], second[part])]

    def _reasons(self, at: np.ndarray, second: np.ndarray) -> Iterator[Reasons]:
        n_unseen = np.maximum((~self._in_bag[:, at]).sum(axis=0), 1)
        weights = np.zeros((len(at), len(self._rows)))
        contributions, base = np.zeros((len(at), self._rows.shape[1])), np.zeros(len(at))
        for tree, seen in zip(self._trees, self._in_bag, strict=True):
            asked = np.flatnonzero(~seen[at])
            changes = np.zeros((len(asked), len(tree.sizes)))
            for i, k in enumerate(asked.tolist()):
                path = tree.weighed.path(self._rows[at[k]])
                _add_weights(weights[k], tree, path)
                lead = _lead(tree.weighed, path, self._given[at[k]], second[k])
                mass_from_here = tree.weighed.masses[path][::-1].cumsum()[::-1]
                base[k] += mass_from_here[0] * lead[0]
                changes[i, path[:-1]] = mass_from_here[1:] * np.diff(lead)
            contributions[asked] += changes @ tree.shares
        for k, n_trees in enumerate(n_unseen):
            similar = _most_similar(weights[k])
            counts = np.bincount(self._given[similar], minlength=self._n_classes)
            yield Reasons(counts, contributions[k] / n_trees, float(base[k] / n_trees))


def _with_rows(weighed: WeighedTree, rows: np.ndarray, seen: np.ndarray) -> _Tree:
    tree = weighed.tree
    sizes = weighed.counts.sum(axis=1).astype(int)
    begins = np.zeros(len(sizes), dtype=int)
    # A ball comes before the balls in it.
    for node in np.flatnonzero(tree.children > 0):
        left = tree.children[node]
        begins[left], begins[left + 1] = begins[node], begins[node] + sizes[left]
    squares = tree.directions.astype(float) ** 2
    features = sparse.csr_array(
        (squares, tree.features, tree.offsets), shape=(len(sizes), rows.shape[1])
    )
    totals = np.maximum(features.sum(axis=1), 1e-300)
    shares = sparse.csr_array(features.multiply(1 / totals[:, None]))
    order = np.argsort(begins[weighed.ends(rows[seen])], kind="stable")
    return _Tree(weighed, seen[order], begins, sizes, shares)


def _add_weights(weights: np.ndarray, tree: _Tree, path: np.ndarray) -> None:
    """Share the weight of each ball on a path among the rows in it."""
    in_order = np.zeros(len(tree.order))
    for ball in path:
        inside = slice(tree.begins[ball], tree.begins[ball] + tree.sizes[ball])
        in_order[inside] += tree.weighed.masses[ball] / max(tree.sizes[ball], 1)
    weights[tree.order] += in_order


def _lead(tree: WeighedTree, path: np.ndarray, given: int, second: int) -> np.ndarray:
    """Return the probability of the second class less that of the given one, ball by ball."""
    masses = tree.masses[path]
    weighted_lead = tree.contributions[path, second] - tree.contributions[path, given]
    # A ball in which no walk ends predicts what the one around it does.
    source = np.maximum.accumulate(np.where(masses > 0, np.arange(len(path)), 0))
    return (weighted_lead / np.maximum(masses, 1e-300))[source]


def _most_similar(weights: np.ndarray) -> np.ndarray:
    """Return the rows with the largest weights: the effective number of rows of equal weight."""
    total = weights.sum()
    if total == 0:
        return np.empty(0, dtype=int)
    shares = (weights / total).round(_DECIMALS)
    enough = min(len(shares), max(1, round(1 / (shares @ shares))))
    least = -np.partition(-shares, enough - 1)[enough - 1]
    return np.flatnonzero(shares >= max(least, 10.0**-_DECIMALS))
