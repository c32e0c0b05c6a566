"""The audit of labels on blocks: trees on drawn rows, and every block rated where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from granulearn._sklearn_compat import Interval, fit_context
from granulearn.audit import LabelAudit
from granulearn.audit.large_tables import (
    TYPICAL_ROWS,
    RatingRule,
    rule_of_drawn,
    typical_draw,
)
from granulearn.audit.noise_rate import NoiseRate, attrs_of_noise
from granulearn.audit.ratings import VERDICTS, WRONG, Ratings
from granulearn.balls.keyed_tables import TableFrame
from granulearn.balls.row_keys import Twins
from granulearn.distributed.blocks import Block, checked_blocks
from granulearn.distributed.cluster import compute
from granulearn.distributed.cluster_source import ClusterSource, keys_of_block
from granulearn.distributed.member_fit import gathered_samples
from granulearn.distributed.reduction import tree_reduce
from granulearn.distributed.row_sketch import key_blocks, sketch_blocks
from granulearn.estimators.row_source import Job, TreeJob, as_they_are
from granulearn.utils.files import written_atomically

PART_NAME = "part-{:05d}.parquet"


@dataclass(frozen=True, eq=False)
class RatedBlocks:
    """What an audit says about the labels of a table in blocks."""

    classes: np.ndarray
    noise: NoiseRate
    n_rows: int
    parts: list[Any]
    """One delayed frame for each block, see `frame_of_ratings`."""


@dataclass(frozen=True, eq=False)
class AuditTotals:
    """Sums over some blocks, and their most doubtful labels."""

    counts: dict[str, int]
    """How many labels have each verdict."""
    worst: pd.DataFrame
    """Rows of the frames, the worst first."""


def audit_blocks(blocks: Sequence[Any], n_trees: int | None, random_state: Any) -> RatedBlocks:
    """Rate every label of blocks; nothing is rated until it is asked for.

    Up to 50,000 labels are gathered, and audited as in memory.

    Parameters
    ----------
    blocks : sequence of Delayed
        One `Block` each, without weights.
    n_trees : int or None
        Trees of the forest; None takes enough for the data's size.
    random_state : int, RandomState or None
        The same number gives the same audit.
    """
    sketches, total = sketch_blocks(blocks)
    audit = LabelAudit(n_trees=n_trees, random_state=random_state)
    n_rows, classes = total.facts.n_counting, total.facts.classes
    first_rows = np.concatenate([[0], np.cumsum(total.n_rows)]).astype(int)
    if n_rows <= TYPICAL_ROWS:
        samples = gathered_samples(compute(*blocks), classes)
        audit.fit(samples.X, classes[samples.codes])
        frame = frame_of_ratings(audit.ratings_, audit.noise_, 0)
        parts = [delayed(frame.iloc[begin:end]) for begin, end in pairwise(first_rows.tolist())]
        return RatedBlocks(classes, audit.noise_, n_rows, parts)
    keyed = key_blocks(blocks, sketches, total)
    del sketches  # what they hold of every row is needed no more
    source = ClusterSource(keyed)
    audit.classes_ = classes
    trees = TreeJob(audit._rule(n_rows, source.n_features), None)
    (drawn,), grown = source.fit([Job((typical_draw(n_rows),), as_they_are)], trees)
    rule = rule_of_drawn(drawn, classes, grown.forest, grown.bags, keyed.frame.rows == 1)
    shared, rate = delayed((rule, keyed.frame)), delayed(rated_block)
    parts = [
        rate(block, twins, first_row, shared)
        for block, twins, first_row in zip(blocks, keyed.twins, keyed.first_rows, strict=True)
    ]
    return RatedBlocks(classes, rule.noise, n_rows, parts)


def rated_block(
    block: Block, twins: Twins, first_row: int, shared: tuple[RatingRule, TableFrame]
) -> pd.DataFrame:
    """Rate the labels of one block.

    Parameters
    ----------
    block : Block
        Samples of the block.
    twins : Twins
        Its rows that equal others.
    first_row : int
        Number of its first row.
    shared : tuple of RatingRule and TableFrame
        How labels are rated, and what all rows share.
    """
    rule, frame = shared
    codes, keys = keys_of_block(block, twins, (rule.classes, frame))
    positions = first_row + np.arange(len(codes))
    ratings = rule.rate(block.samples.X, codes, keys.keys, positions)
    return frame_of_ratings(ratings, rule.noise, first_row)


def frame_of_ratings(ratings: Ratings, noise: NoiseRate, first_row: int) -> pd.DataFrame:
    """Return one row per label, indexed by its number in the whole table.

    Parameters
    ----------
    ratings : Ratings
        Of the labels of a block.
    noise : NoiseRate
        The share of wrong labels of the whole table.
    first_row : int
        Number of the first one.
    """
    n_rows, classes = len(ratings.given), ratings.classes
    frame = pd.DataFrame(
        {
            "given": classes[ratings.given],
            "suggested": classes[ratings.suggested],
            "verdict": ratings.verdicts.astype(object),
            "wrong_probability": ratings.wrong_proba,
            "reliability": ratings.reliability,
            "flagged": ratings.verdicts == WRONG,
        },
        index=pd.RangeIndex(first_row, first_row + n_rows, name="row"),
    )
    frame.attrs = attrs_of_noise(noise)
    return frame


def totals_of_part(frame: pd.DataFrame, n_worst: int) -> AuditTotals:
    """Return the sums and the most doubtful labels of one block.

    Parameters
    ----------
    frame : DataFrame
        From `frame_of_ratings`, perhaps with further columns.
    n_worst : int
        How many labels to keep.
    """
    counts = frame["verdict"].value_counts()
    return AuditTotals(
        {name: int(counts.get(name, 0)) for name in VERDICTS}, _worst(frame, n_worst)
    )


def join_totals(n_worst: int, first: AuditTotals, second: AuditTotals) -> AuditTotals:
    """Return the sums and the most doubtful labels of earlier and later blocks."""
    counts = {name: first.counts[name] + second.counts[name] for name in VERDICTS}
    both = [part.worst for part in (first, second) if len(part.worst)]
    worst = pd.concat(both) if both else first.worst
    return AuditTotals(counts, _worst(worst, n_worst))


def _worst(frame: pd.DataFrame, n_worst: int) -> pd.DataFrame:
    # Labels that cannot be rated come last; of equal ones, the first of the table.
    return frame.sort_values("reliability", kind="stable").head(n_worst)


def written_part(frame: pd.DataFrame, folder: str, number: int, n_worst: int) -> AuditTotals:
    """Write the ratings of one block as a Parquet file; return its sums.

    Parameters
    ----------
    frame : DataFrame
        From `frame_of_ratings`.
    folder : str
        Where to write, on a disk that every worker sees.
    number : int
        Number of the block.
    n_worst : int
        How many of the most doubtful labels to return.
    """
    with written_atomically(Path(folder) / PART_NAME.format(number)) as draft:
        frame.reset_index().to_parquet(draft, index=False)
    return totals_of_part(frame, n_worst)


class DaskLabelAudit(BaseEstimator):
    """Find labels that are probably wrong in a Dask array or DataFrame.

    What `granulearn.audit.LabelAudit` does in memory. Use it when the table does not fit in
    memory, and all ratings are to be written as files; `LabelAudit` and `audit_labels` take
    collections too, and leave the work to this class. It knows no groups, no order and no
    verified labels, and looks for no other issues.

    Parameters
    ----------
    n_trees : int or None, default=None
        Trees of the forest; None means enough for 20 votes on each label.
    random_state : int, RandomState or None, default=None
        The same number gives the same audit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    noise_ : NoiseRate
        The share of wrong labels, as of `LabelAudit`.
    ratings_ : Dask DataFrame
        One row per label, in the blocks of X, not yet computed: ``given``, ``suggested``,
        ``verdict``, ``wrong_probability``, ``reliability``, ``flagged``, indexed by the number
        of the row, from zero. Its ``attrs``, also those of what is computed, hold the share of
        wrong labels, as of `audit_labels`.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    Verdicts, suggestions and the noise rate are those of `LabelAudit`, however rows are cut
    into blocks; up to 50,000 labels are audited in memory. The data is read twice by `fit`, and
    once more for the ratings.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.distributed import DaskLabelAudit
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> audit = DaskLabelAudit(random_state=0).fit(X, y)
    >>> audit.ratings_.npartitions, audit.noise_.rate < 0.1
    (4, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_trees": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(self, n_trees=None, random_state=None):
        self.n_trees = n_trees
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Learn how to rate every label.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : Dask array or Series of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            The fitted audit.
        """
        blocks = checked_blocks(X, y, None, None, "LabelAudit")
        rated = audit_blocks(blocks, self.n_trees, self.random_state)
        self.classes_, self.noise_, self.n_features_in_ = rated.classes, rated.noise, X.shape[1]
        self._parts = rated.parts
        meta = frame_of_ratings(_no_ratings(rated.classes), rated.noise, 0)
        self.ratings_ = dd.from_delayed(rated.parts, meta=meta, verify_meta=False)
        self.ratings_.attrs = meta.attrs
        return self

    def worst(self, n: int = 10_000) -> pd.DataFrame:
        """Return the most doubtful labels, the worst first; computed on the cluster.

        Parameters
        ----------
        n : int, default=10_000
            How many.
        """
        check_is_fitted(self)
        return total_ratings(self._parts, n).worst

    def write(self, folder: Any, n_worst: int = 10_000) -> AuditTotals:
        """Write all ratings as Parquet files, one per block, and add them up on the way.

        They have the columns of ``ratings_``, and the number of the row as ``row``.

        Parameters
        ----------
        folder : path
            Made if it is not there; every worker must see it under the same name.
        n_worst : int, default=10_000
            How many of the most doubtful labels to return.

        Returns
        -------
        AuditTotals
            ``counts`` of verdicts, and the ``worst`` labels as a frame.
        """
        check_is_fitted(self)
        Path(folder).mkdir(parents=True, exist_ok=True)
        write = delayed(written_part)
        parts = [
            write(part, str(folder), number, n_worst) for number, part in enumerate(self._parts)
        ]
        return joined_totals(parts, n_worst)


def total_ratings(parts: Sequence[Any], n_worst: int) -> AuditTotals:
    """Return the sums and the most doubtful labels of all blocks.

    Parameters
    ----------
    parts : sequence of Delayed
        Frames of ratings.
    n_worst : int
        How many labels to keep.
    """
    count = delayed(totals_of_part)
    return joined_totals([count(part, n_worst) for part in parts], n_worst)


def joined_totals(parts: Sequence[Any], n_worst: int) -> AuditTotals:
    """Join what blocks tell, in a tree.

    Parameters
    ----------
    parts : sequence of Delayed
        One `AuditTotals` each.
    n_worst : int
        How many labels to keep.
    """
    (totals,) = compute(tree_reduce(partial(join_totals, n_worst), parts))
    return totals


def _no_ratings(classes: np.ndarray) -> Ratings:
    none, numbers = np.empty(0), np.empty(0, dtype=np.intp)
    return Ratings(
        classes=classes,
        given=numbers,
        proba=np.empty((0, len(classes))),
        reliability=none,
        wrong_proba=none,
        suggested=numbers,
        verdicts=np.empty(0, dtype="<U9"),
        verified=np.empty(0, dtype=bool),
    )
