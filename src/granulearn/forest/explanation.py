"""Explanations: which members, balls and training rows contribute to the class of a row.

A packed tree keeps the predictions of its leaves, not the balls on the way. The rows that the
tree saw bring them back: walked down the tree once more, they give each ball its class
counts, the counts give its evidence, and the evidence the probability that a walk
ends in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from granulearn.forest._posterior import add_to_parents, average_coverings
from granulearn.forest.forest import BallForest
from granulearn.forest.tree import BallTree, Prior, log_evidences
from granulearn.preprocess.table_inputs import TableInputs
from granulearn.utils.neighbors import nearest_points
from granulearn.utils.text import counted
from granulearn.utils.validation import Samples, describe_samples

N_NEAREST = 3
MOST_BALLS = 3
MOST_COLUMNS = 3
# A column with a smaller share of the evidence gained on a path is not named.
LEAST_SHARE = 0.1
# Rounding must not choose between balls that contribute equally.
_DECIMALS = 9


@dataclass(frozen=True)
class BallContribution:
    """A ball that contributes to the probability of a class."""

    tree: int
    """Number of the tree."""
    weight: float
    """Share of what the forest predicts for the row that comes from this ball."""
    probability: float
    """What the ball predicts for the class."""
    n_samples: int
    """Training samples that the tree saw in the ball."""
    class_counts: tuple[int, ...]
    """How many of them each class has."""
    columns: tuple[tuple[int | str, str], ...]
    """Up to three columns that lead to the ball, with the side of the row: "higher" or "lower"."""


@dataclass(frozen=True, eq=False)
class SeenRows:
    """The rows that the trees of a forest were grown on."""

    rows: np.ndarray
    """(n, d) inputs, shifted and scaled."""
    codes: np.ndarray
    """(n,) class of each row."""
    weights: np.ndarray
    """(n,) weight of each row."""
    in_bag: np.ndarray
    """(n_trees, n) true where a tree saw a row."""


@dataclass(frozen=True, eq=False)
class WeighedTree:
    """A packed tree, with counts, probabilities and gains of its balls."""

    tree: BallTree
    parents: np.ndarray
    """(n_nodes,) the ball around each ball; -1 for the first."""
    node_of_leaf: np.ndarray
    """(n_leaves,) the node of each leaf."""
    counts: np.ndarray
    """(n_nodes, K) rows of each class that the tree saw in the ball."""
    masses: np.ndarray
    """(n_nodes,) weight of each ball in the prediction of a row inside it; sums to 1 along a
    path."""
    contributions: np.ndarray
    """(n_nodes, K) probability that each ball adds for a row whose walk goes through it."""
    gains: np.ndarray
    """(n_nodes,) logarithm of the evidence that the split of the ball gains; zero if it loses."""

    def path(self, row: np.ndarray) -> np.ndarray:
        """Return the balls that a row falls into, from large to small.

        Parameters
        ----------
        row : ndarray of shape (n_features,)
            Shifted and scaled.
        """
        balls = [self.ends(row[None])[0]]
        while self.parents[balls[-1]] >= 0:
            balls.append(self.parents[balls[-1]])
        return np.array(balls[::-1])

    def ends(self, rows: np.ndarray) -> np.ndarray:
        """Return the smallest ball that each row falls into.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Shifted and scaled.
        """
        return self.node_of_leaf[self.tree.leaves(np.ascontiguousarray(rows.T))]

    def columns(self, ball: int) -> tuple[tuple[int, str], ...]:
        """Return the columns that matter most on the way to a ball, and on which side it lies.

        The columns of a split share the evidence that it gains by their part in the squared
        direction, as they do in the importances of a forest.

        Parameters
        ----------
        ball : int
            Node of the tree.
        """
        shares: dict[int, float] = {}
        sides: dict[int, float] = {}
        while (above := self.parents[ball]) >= 0:
            part = slice(self.tree.offsets[above], self.tree.offsets[above + 1])
            direction = self.tree.directions[part].astype(float)
            gained = self.gains[above] * direction**2 / max(direction @ direction, 1e-300)
            to_right = 1 if ball > self.tree.children[above] else -1
            for column, share, side in zip(
                self.tree.features[part].tolist(), gained, to_right * direction, strict=True
            ):
                shares[column] = shares.get(column, 0.0) + share
                sides[column] = sides.get(column, 0.0) + share * np.sign(side)
            ball = above
        total = sum(shares.values())
        order = sorted(shares, key=lambda column: (-round(shares[column], _DECIMALS), column))
        return tuple(
            (column, "higher" if sides[column] > 0 else "lower")
            for column in order[:MOST_COLUMNS]
            if shares[column] > LEAST_SHARE * total
        )


def weigh_trees(
    forest: BallForest,
    seen: SeenRows,
    priors: Sequence[Prior],
    prior_weights: Sequence[float] | np.ndarray,
) -> list[WeighedTree]:
    """Return every tree of a forest with counts, probabilities and gains of its balls.

    Parameters
    ----------
    forest : BallForest
        Its leaves predict one probability per class.
    seen : SeenRows
        What it was grown on.
    priors : sequence of Prior
        How its balls were weighed.
    prior_weights : sequence of float
        The weight of each prior in what leaves predict.
    """
    n_classes = forest.n_outputs
    first = priors[int(np.argmax(prior_weights))]
    weighed_by = [(p, w) for p, w in zip(priors, prior_weights, strict=True) if w > 0]
    return [
        _weigh(tree, seen, drawn, n_classes, first, weighed_by)
        for tree, drawn in zip(forest.trees, seen.in_bag, strict=True)
    ]


def _counts(
    tree: BallTree, node_of_leaf: np.ndarray, seen: SeenRows, drawn: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of rows of each class in every ball, and their weights."""
    nodes = node_of_leaf[tree.leaves(np.ascontiguousarray(seen.rows[drawn].T))]
    codes, found = seen.codes[drawn], []
    for weights in (np.ones(len(codes)), seen.weights[drawn]):
        counts = np.zeros((len(tree.children), n_classes))
        np.add.at(counts, (nodes, codes), weights)
        add_to_parents(tree.children, counts)
        found.append(counts)
    return found[0], found[1]


def _weigh(
    tree: BallTree,
    seen: SeenRows,
    drawn: np.ndarray,
    n_classes: int,
    first: Prior,
    weighed_by: list[tuple[Prior, float]],
) -> WeighedTree:
    """Weigh the balls of one tree; the evidence gained is under the heaviest prior."""
    node_of_leaf = np.flatnonzero(tree.children < 0)
    counts, weighed = _counts(tree, node_of_leaf, seen, drawn, n_classes)
    n_nodes = len(counts)
    children = np.maximum(tree.children, 0)
    # A leaf with balls left out below it: W = g E / (g E / W), the stop that it keeps.
    stopped = np.where(tree.children < 0, tree.thresholds, 0.0)
    masses, contributions = np.zeros(n_nodes), np.zeros((n_nodes, n_classes))
    for prior, weight in weighed_by:
        factors = np.divide(prior.stop, stopped, out=np.ones(n_nodes), where=stopped > 0)
        evidences = log_evidences(weighed, prior.alpha) + np.log(factors)
        _, stops, reach = average_coverings(children, evidences, prior.stop)
        mass = weight * reach * stops
        masses += mass
        smoothed = weighed + prior.alpha
        contributions += mass[:, None] * smoothed / smoothed.sum(axis=1, keepdims=True)
    evidences = log_evidences(weighed, first.alpha)
    splits = np.flatnonzero(children)
    gains, parents = np.zeros(n_nodes), np.full(n_nodes, -1)
    lefts = children[splits]
    gains[splits] = np.maximum(evidences[lefts] + evidences[lefts + 1] - evidences[splits], 0)
    parents[lefts], parents[lefts + 1] = splits, splits
    return WeighedTree(tree, parents, node_of_leaf, counts, masses, contributions, gains)


def strongest_balls(
    trees: Sequence[WeighedTree], row: np.ndarray, code: int, names: Sequence[int | str]
) -> tuple[BallContribution, ...]:
    """Return the balls that add most to the probability of a class for a row.

    Parameters
    ----------
    trees : sequence of WeighedTree
        All trees of a forest.
    row : ndarray of shape (n_features,)
        Shifted and scaled.
    code : int
        The class.
    names : sequence of int or str
        Names of the columns.
    """
    found = []
    for number, tree in enumerate(trees):
        path = tree.path(row)
        added = tree.contributions[path, code].round(_DECIMALS)
        found += [
            (-add, number, ball) for add, ball in zip(added, path.tolist(), strict=True) if add > 0
        ]
    strongest = []
    for _, number, ball in sorted(found)[:MOST_BALLS]:
        tree = trees[number]
        counts = tree.counts[ball].astype(int)
        contribution = BallContribution(
            tree=number,
            weight=float(tree.masses[ball] / len(trees)),
            probability=float(tree.contributions[ball, code] / tree.masses[ball]),
            n_samples=int(counts.sum()),
            class_counts=tuple(counts.tolist()),
            columns=tuple((names[column], side) for column, side in tree.columns(ball)),
        )
        strongest.append(contribution)
    return tuple(strongest)


class MemberContribution(NamedTuple):
    """What a member of an ensemble contributes to the class of a row."""

    weight: float
    """The weight of the member."""
    probability: float
    """What it predicts for the class; that of a network may lie outside of 0 and 1."""


@dataclass(frozen=True)
class RowExplanation:
    """Why a row gets its class."""

    label: Any
    """The class that is predicted."""
    probability: float
    """Its probability."""
    members: Mapping[str, MemberContribution]
    """What each member contributes."""
    balls: tuple[BallContribution, ...]
    """The balls that add most to the forest's probability of the class, strongest first."""
    nearest: tuple[int, ...]
    """Positions of the nearest training rows, nearest first."""
    classes: tuple
    """All classes, in the order of the balls' counts."""
    knows_training: bool
    """Whether training rows were passed; without them there are no balls and no nearest rows."""

    def __str__(self) -> str:
        own = self.classes.index(self.label)
        lines = [f"class {self.label} with probability {self.probability:.3f}"]
        lines += [
            f"  {name}: {member.probability:.3f}, weight {member.weight:.3f}"
            for name, member in self.members.items()
        ]
        mean = sum(member.weight * member.probability for member in self.members.values())
        if f"{mean:.3f}" != f"{self.probability:.3f}":
            lines.append(f"  their mean, {mean:.3f}, is calibrated to {self.probability:.3f}")
        for ball in self.balls:
            way = ", ".join(f"{side} {_column(name)}" for name, side in ball.columns)
            lines.append(
                f"  ball of {ball.n_samples} samples, {ball.class_counts[own]} of them "
                f"{self.label}{': ' if way else ''}{way}"
            )
        if self.knows_training:
            lines.append(
                f"  nearest training rows, by position: {', '.join(map(str, self.nearest))}"
            )
        else:
            lines.append("  balls and nearest rows are not known: pass training=(X, y)")
        return "\n".join(lines)


def explain_rows(
    model: TableInputs,
    X: np.ndarray,
    scores: np.ndarray,
    members: Mapping[str, tuple[float, np.ndarray]],
    forest: Any | None,
    training: Sequence[Any] | None,
) -> list[RowExplanation]:
    """Explain the predictions of a model.

    Parameters
    ----------
    model : classifier that takes tables
        Fitted.
    X : ndarray of shape (n_samples, n_features)
        Rows to explain, checked.
    scores : ndarray of shape (n_samples, n_classes)
        The model's scores for them.
    members : mapping of str to (float, ndarray of shape (n_samples, n_classes))
        Weight and predictions of each member.
    forest : ball forest or None
        That of the model, if it has one that counts.
    training : (X, y), (X, y, sample_weight) or None
        What the model was fitted to.

    Returns
    -------
    list of RowExplanation
        One for each row.
    """
    samples = None if training is None else training_samples(model, training)
    codes = model._compared(scores).argmax(axis=1)
    probabilities = model._probabilities(scores)[np.arange(len(X)), codes]
    balls: list[tuple[BallContribution, ...]] = [()] * len(X)
    nearest = np.empty((len(X), 0), dtype=int)
    if samples is not None:
        # Samples of weight zero were not learnt from, and explain nothing.
        learnt = np.arange(len(samples))
        if samples.weights is not None:
            learnt = np.flatnonzero(samples.weights > 0)
        nearest = learnt[nearest_points(samples.X[learnt], X, min(N_NEAREST, len(learnt)))]
        if forest is not None:
            if not hasattr(forest, "in_bag_"):
                raise ValueError(
                    "a model from a file does not know which rows its trees saw; leave out "
                    "training, or fit the model again."
                )
            check_fitted_rows(forest, samples)
            trees = forest._weigh_trees(samples)
            names = model._input_names()
            rows = zip(forest.forest_.rows(X), codes.tolist(), strict=True)
            balls = [strongest_balls(trees, row, code, names) for row, code in rows]
    classes = tuple(model.classes_.tolist())
    return [
        RowExplanation(
            label=classes[code],
            probability=float(probabilities[i]),
            members={
                name: MemberContribution(float(weight), float(proba[i, code]))
                for name, (weight, proba) in members.items()
            },
            balls=balls[i],
            nearest=tuple(nearest[i].tolist()),
            classes=classes,
            knows_training=samples is not None,
        )
        for i, code in enumerate(codes.tolist())
    ]


def training_samples(model: TableInputs, training: Sequence[Any]) -> Samples:
    """Return the rows that a model was fitted to as samples, checked.

    Parameters
    ----------
    model : classifier that takes tables
        Fitted.
    training : (X, y) or (X, y, sample_weight)
        As they were passed to its `fit`.
    """
    if len(training) not in (2, 3):
        raise ValueError(
            "training must be (X, y) or (X, y, sample_weight), as they were passed to fit; got "
            f"{counted(len(training), 'part')}."
        )
    y = column_or_1d(training[1])
    check_consistent_length(training[0], y)
    unknown = np.setdiff1d(y, model.classes_)
    if len(unknown):
        raise ValueError(
            f"training holds the class {unknown.tolist()[0]!r}, which the model does not know; "
            "pass the labels that it was fitted to."
        )
    X = model._as_in_fit(training[0], y, *training[2:])
    codes = np.searchsorted(model.classes_, y).astype(np.int32)
    return describe_samples(X, codes, model.classes_, *training[2:])


def check_fitted_rows(forest: Any, samples: Samples) -> None:
    """Raise an error where a forest was grown on other rows.

    Parameters
    ----------
    forest : ball forest
        Fitted.
    samples : Samples
        What it should have been fitted to.
    """
    n_fitted = forest.in_bag_.shape[1]
    if len(samples) != n_fitted:
        raise ValueError(
            f"training has {counted(len(samples), 'row')}, and the model was fitted to {n_fitted}; "
            "pass the rows that were passed to fit, in their order."
        )
    proba = forest.forest_.posterior(samples.X, 1, forest.in_bag_)
    known = ~np.isnan(forest.label_quality_)
    rated = proba[known, samples.codes[known]]
    same = np.allclose(proba, forest.oob_proba_, equal_nan=True)
    if not (same and np.allclose(rated, forest.label_quality_[known])):
        raise ValueError(
            "training holds other rows or labels than the model was fitted to; pass what was "
            "passed to fit, in its order, and with its sample_weight as the third part."
        )


def _column(name: int | str) -> str:
    return name if isinstance(name, str) else f"column {name}"
