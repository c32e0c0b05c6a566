"""Which forest suits how many rows: chosen on development sets, see docs/research.

Up to `SMALL` rows a forest splits by class means alone and weighs its balls in one
way: with few rows and wrong labels, whatever is searched for longer finds noise.
Above, splits are searched for, on single features too, and the balls are weighed in
several ways, among which out-of-bag predictions can choose. Two classes are told apart
as well by fewer and smaller trees, which take half of the time; of very many rows
that is not known, and their trees stay as they are.
"""

from __future__ import annotations

import math
from dataclasses import replace

from granulearn.balls.forest_tree import ForestRule, Weighing
from granulearn.balls.row_keys import MANY_ROWS

SMALL = 1_000
SMALL_AUDIT = 3_000  # a single wrong label is easier to fit than a class, so more labels are needed

# A tree of so many rows knows the classes well; more of them cost time and memory alone.
MAX_TREE_ROWS = 50_000
MAX_TREE_VALUES = 10_000_000  # rows times features
FIRST_LOOK_ROWS = 4_000  # of a tree that tells whether a forest knows a large table
TREE_SHARE = 0.632

# The cautious ones hold out against wrong labels, the last one follows clean labels closely.
WEIGHINGS = (
    Weighing(0.5, 0.8),
    Weighing(0.5, 0.98),
    Weighing(0.1, 0.9),
    Weighing(0.1, 0.5),
    Weighing(0.005, 0.05),
)
_MOST_TREES, _FEWEST_TREES = 100, 20
_ROWS_OF_ALL_TREES, _ROWS_OF_ALL_TREES_OF_TWO_CLASSES = 150_000, 100_000
# A ball of two classes and at most so many rows is spared if no try to split it gains evidence.
MAX_SPARED = 256
_ROWS_SEEN_BY_ALL = 0.02  # expected


def share_of_tree(n_rows: int, n_features: int, max_samples: float, max_rows: int) -> float:
    """Return the share of the rows that a tree sees."""
    # Small tables are left alone, however wide they are.
    most_rows = min(max_rows, max(MAX_TREE_VALUES // n_features, SMALL))
    return min(max_samples, most_rows / max(n_rows, 1))


def usual_n_trees(n_rows: int, share: float, easy: bool = False) -> int:
    """Return how many trees to grow: fewer where each of them sees many rows, or they are easy."""
    if n_rows <= SMALL:
        return _MOST_TREES
    all_rows = _ROWS_OF_ALL_TREES_OF_TWO_CLASSES if easy else _ROWS_OF_ALL_TREES
    wanted = math.ceil(all_rows / max(share * n_rows, 1))
    # So many that hardly ever a row is seen by all, and then nothing could rate its label.
    needed = math.ceil(math.log(_ROWS_SEEN_BY_ALL / n_rows) / math.log(share)) if share < 1 else 0
    return min(max(wanted, needed, _FEWEST_TREES), _MOST_TREES)


def audit_rule(
    n_rows: int, n_features: int, *, n_classes: int, n_trees: int, max_rows: int, seed: int
) -> ForestRule:
    """Return the rule of a forest that finds wrong labels best, with one weighing.

    Two classes are split by directions alone. More of them are told apart by single
    features too: a direction between two of many classes has little to say about the rest.

    Parameters
    ----------
    n_rows, n_features : int
        Size of the table.
    n_classes : int
        Number of classes.
    n_trees : int
        Number of trees.
    max_rows : int
        Rows that a tree sees at most.
    seed : int
        Of the draws.
    """
    searched = n_rows > (SMALL_AUDIT if n_classes <= 2 else SMALL)
    rule = rule_of_size(
        n_rows, n_features, n_trees=n_trees, max_rows=max_rows, searched=searched, seed=seed
    )
    if not searched:
        return rule
    rule = replace(rule, weighings=(Weighing(0.1, 0.9),))
    return replace(rule, n_directions=6, n_axes=0) if n_classes <= 2 else rule


def rule_of_size(
    n_rows: int,
    n_features: int,
    *,
    n_trees: int | None = None,
    max_samples: float = TREE_SHARE,
    max_rows: int = MAX_TREE_ROWS,
    n_tries: int = 8,
    searched: bool | None = None,
    first_look: bool = False,
    n_classes: int | None = None,
    weighings: tuple[Weighing, ...] | None = None,
    seed: int = 0,
) -> ForestRule:
    """Return the rule of a forest on so many rows.

    Parameters
    ----------
    n_rows : int
        Rows to grow on; a sample of weight two counts as two.
    n_features : int
        Number of features; of many, a tree sees fewer rows.
    n_trees : int or None, default=None
        Number of trees; None means 100, and fewer of many rows.
    max_samples : float, default=0.632
        Share of the rows that a tree sees, unless these are more than `max_rows`.
    max_rows : int, default=50_000
        Rows that a tree sees at most.
    n_tries : int, default=8
        Directions between class means to try for each ball; where splits are searched
        for, single features, and a quarter as many directions.
    searched : bool or None, default=None
        Whether splits are searched for; None means above 1,000 rows.
    first_look : bool, default=False
        Whether a few small trees are to tell what a forest knows of a large table.
    n_classes : int or None, default=None
        Number of classes; None means that nothing depends on it.
    weighings : tuple of Weighing or None, default=None
        None means five where splits are searched for, else one.
    seed : int, default=0
        Of the draws.
    """
    if first_look:
        max_rows = FIRST_LOOK_ROWS
        n_trees = _FEWEST_TREES if n_trees is None else n_trees
    share = share_of_tree(n_rows, n_features, max_samples, max_rows)
    easy = n_classes == 2 and (n_rows <= MANY_ROWS or first_look)
    n_trees = usual_n_trees(n_rows, share, easy) if n_trees is None else n_trees
    if not (n_rows > SMALL if searched is None else searched):
        return ForestRule(n_trees, share, n_tries, weighings=weighings or WEIGHINGS[:1], seed=seed)
    return ForestRule(
        n_trees,
        share,
        n_directions=max(1, n_tries // 4),
        n_axes=n_tries,
        n_thresholds=8,
        split_alpha=0.1,
        max_spared=MAX_SPARED if easy else 0,
        weighings=weighings or WEIGHINGS,
        seed=seed,
    )
