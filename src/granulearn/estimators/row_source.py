"""Where the members of a model get their rows from: a large table in memory, or on a cluster.

Members are fitted to rows that are drawn by key, so they are the same whether a table is
whole or in blocks. A fit says which rows it wants and what is to be done with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from granulearn.balls.forest import GrownForest, grow_forest
from granulearn.balls.forest_tree import ForestRule
from granulearn.balls.keyed_tables import TableFrame
from granulearn.balls.row_keys import (
    ALONE,
    HAS_TWIN,
    Draw,
    DrawnRows,
    drawn_by,
    key_of_draw,
    settled,
    spread_over,
)
from granulearn.rvfl.base import weight_of_each_class
from granulearn.utils.validation import Samples

# Draws for other members than trees; seeds of trees are smaller.
_SEED_OF_DRAWS = 2**63
COMMITTEE, BOOSTING, JUDGED = 1, 2, 3
# By so many rows that it did not see a member is judged well enough.
MAX_JUDGED = 10_000
# From fewer samples nothing is chosen.
FEWEST_TELLING = 20


@dataclass(frozen=True, eq=False)
class Job:
    """What to do with the rows of some draws."""

    draws: tuple[Draw, ...]
    work: Callable[..., Any]
    """Takes `DrawnRows` for each draw; can be sent to another process."""


@dataclass(frozen=True, eq=False)
class TreeJob:
    """The trees of a forest."""

    rule: ForestRule
    class_factor: np.ndarray | None
    n_threads: int = 1


class RowSource(Protocol):
    """A large table of which rows can be drawn."""

    classes: np.ndarray
    """(K,) the class labels, sorted."""
    frame: TableFrame
    n_features: int

    def fit(self, jobs: Sequence[Job], trees: TreeJob | None = None) -> tuple[list[Any], Any]:
        """Do jobs and grow trees, in one pass over the rows.

        Returns what comes of each job, and the `GrownForest`; None without trees.
        """

    def seen(self, grown: GrownForest, rows: DrawnRows) -> np.ndarray:
        """Return where trees, of shape (n_trees, n_rows), saw rows that were drawn."""


class TableSource:
    """A large table in memory.

    Parameters
    ----------
    samples : Samples
        Checked.
    """

    def __init__(self, samples: Samples):
        self.samples, self.classes = samples, samples.classes
        self.frame = samples.keyed.frame
        self.n_features = samples.X.shape[1]

    def fit(self, jobs: Sequence[Job], trees: TreeJob | None = None) -> tuple[list[Any], Any]:
        """Do jobs and grow trees; return what comes of them."""
        done = [job.work(*map(self._draw, job.draws)) for job in jobs]
        if trees is None:
            return done, None
        samples = self.samples
        grown = grow_forest(
            samples.narrow,
            samples.codes,
            len(samples.classes),
            trees.rule,
            sample_weight=samples.weights,
            class_factor=trees.class_factor,
            keyed=samples.keyed,
            n_threads=trees.n_threads,
        )
        return done, grown

    def _draw(self, draw: Draw) -> DrawnRows:
        samples, keys = self.samples, self.samples.keyed.keys
        # Inputs are copied once, when it is settled which rows are taken.
        without_inputs = np.empty((len(samples), 0))
        offered = drawn_by(draw, without_inputs, samples.codes, samples.weights, keys)
        rows = settled(draw, [offered])
        return replace(rows, X=samples.X[rows.positions])

    def seen(self, grown: GrownForest, rows: DrawnRows) -> np.ndarray:
        """Return where trees saw rows that were drawn."""
        return grown.in_bag[:, rows.positions]


def stratified_draw(frame: TableFrame, purpose: int, n_wanted: int | None) -> Draw:
    """Return a draw of so many rows, spread evenly over the classes; None means of all.

    Parameters
    ----------
    frame : TableFrame
        Says how many rows each class has.
    purpose : int
        What they are for: draws for different purposes are independent.
    n_wanted : int or None
        How many.
    """
    wanted = frame.rows if n_wanted is None else spread_over(frame.rows, frame.numbers, n_wanted)
    return draw_of_classes(frame, purpose, wanted)


def draw_of_classes(frame: TableFrame, purpose: int, wanted: np.ndarray) -> Draw:
    """Return a draw of so many rows of each class.

    Parameters
    ----------
    frame : TableFrame
        Says how many rows each class has.
    purpose : int
        What they are for.
    wanted : ndarray of shape (n_classes,)
        How many.
    """
    key = key_of_draw(_SEED_OF_DRAWS, purpose)
    return Draw(key, tuple(wanted.tolist()), tuple(frame.rows.tolist()))


def job_of_judged(frame: TableFrame) -> Job:
    """Return the job that fetches rows by which members are judged."""
    return Job((stratified_draw(frame, JUDGED, MAX_JUDGED),), as_they_are)


def as_they_are(rows: DrawnRows) -> DrawnRows:
    """Return the rows of a draw: the work of a job that fetches them."""
    return rows


def factors_of_classes(class_weight: Any, source: RowSource) -> np.ndarray | None:
    """Return the factor on each class's weights; None stands for all ones."""
    if class_weight is None:
        return None
    return weight_of_each_class(class_weight, source.classes, source.frame.totals)


def judging_weights(rows: DrawnRows, frame: TableFrame, factors: np.ndarray | None) -> np.ndarray:
    """Return how much each row counts where members are judged by it.

    It is its weight, if it can tell how good out-of-sample predictions are, see
    `ball_forest.telling`; else zero.

    Parameters
    ----------
    rows : DrawnRows
        Rows to judge by.
    frame : TableFrame
        Says which classes have a single row.
    factors : ndarray of shape (n_classes,) or None
        Factor on the weights of each class.
    """
    weights = rows.weights if factors is None else rows.weights * factors[rows.codes]
    can_be_known = frame.rows[rows.codes] > 1
    telling = can_be_known & (rows.twins == ALONE)
    if telling.sum() < FEWEST_TELLING:
        telling = can_be_known & (rows.twins < HAS_TWIN)
    return weights * telling


def unseen_by_trees(source: RowSource, grown: GrownForest, rows: DrawnRows) -> np.ndarray:
    """Return what trees that did not see a row predict: (n_weighings, n_rows, n_classes)."""
    side_by_side = grown.forest.out_of_bag_posterior(rows.X, source.seen(grown, rows))
    return side_by_side.reshape(len(rows), -1, grown.n_classes).transpose(1, 0, 2)
