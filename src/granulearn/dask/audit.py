"""The audit of labels in blocks: learnt from a sample, every block rated where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from granulearn._sklearn_compat import Interval, fit_context
from granulearn.audit import LabelAudit
from granulearn.audit.embedding import Placing, place
from granulearn.audit.noise_rate import NoiseRate, attrs_of_noise
from granulearn.audit.outliers import OUTLIER_FROM, OutlierRule, rule_of_places
from granulearn.audit.ratings import VERDICTS, WRONG, Ratings
from granulearn.audit.verdicts import calibrated_evidence, rate_labels, weigh_evidence
from granulearn.dask.blocks import (
    SAMPLE_SIZE,
    Block,
    Sample,
    checked_blocks,
    sample_blocks,
)
from granulearn.dask.cluster import compute, tree_reduce
from granulearn.forest.forest import BallForest
from granulearn.utils.files import written_atomically

PART_NAME = "part-{:05d}.parquet"


@dataclass(frozen=True, eq=False)
class Rater:
    """Rates labels of rows that an audit has not seen, as the audit rates its own."""

    classes: np.ndarray
    forest: BallForest
    noise: NoiseRate
    skill: float
    temperature: float
    placing: Placing
    outlier: OutlierRule | None

    @classmethod
    def of(cls, audit: LabelAudit, X: np.ndarray) -> Rater:
        """Return the rater of an audit that was fitted to X.

        Parameters
        ----------
        audit : LabelAudit
            Fitted, with a forest.
        X : ndarray of shape (n_samples, n_features)
            Its inputs.
        """
        ratings = audit.ratings_
        evidence = weigh_evidence(audit.out_of_sample_proba_, ratings.given, ratings.known)
        places = place(X)
        return cls(
            audit.classes_,
            audit.forest_,
            audit.noise_,
            evidence.skill,
            evidence.temperature,
            places.placing,
            rule_of_places(places),
        )

    def rate(self, X: np.ndarray, codes: np.ndarray) -> Ratings:
        """Return the ratings of labels.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        codes : ndarray of shape (n_samples,)
            Number of the given class.
        """
        proba = self.forest.posterior(X)
        known = ~np.isnan(proba[:, 0])
        evidence = calibrated_evidence(proba, codes, known, self.skill, self.temperature)
        return rate_labels(evidence, self.classes, self.noise.working_rates, self._is_outlier(X))

    def _is_outlier(self, X: np.ndarray) -> np.ndarray:
        if self.outlier is None or len(X) == 0:
            return np.zeros(len(X), dtype=bool)
        points = np.empty((len(X), self.placing.directions.shape[1]))
        rows = np.ascontiguousarray(X, dtype=np.float64)
        nearest, squares, _ = self.placing.compare(rows, np.full(len(X), -1), points)
        return self.outlier.scores(nearest, np.sqrt(squares)) > OUTLIER_FROM


@dataclass(frozen=True, eq=False)
class AuditTotals:
    """Verdicts of some blocks counted, and their most doubtful labels."""

    counts: dict[str, int]
    """How many labels have each verdict."""
    worst: pd.DataFrame
    """Rows of the frames, the worst first."""


def audit_sample(
    sample: Sample, n_estimators: int | None, random_state: Any
) -> tuple[LabelAudit, Rater, dict[int, pd.DataFrame]]:
    """Audit the sampled rows; return the audit, its rater, and the ratings by block.

    Parameters
    ----------
    sample : Sample
        Rows of all blocks.
    n_estimators, random_state
        Of `LabelAudit`.
    """
    audit = LabelAudit(n_estimators=n_estimators, random_state=random_state).fit(sample.X, sample.y)
    frame = ratings_frame(audit.ratings_).set_axis(sample.position)
    parts = {number: frame[sample.number == number] for number in np.unique(sample.number).tolist()}
    return audit, Rater.of(audit, sample.X), parts


def rate_block(
    X: np.ndarray, codes: np.ndarray, rater: Rater, sampled: pd.DataFrame | None
) -> pd.DataFrame:
    """Return one row per label of a block.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    codes : ndarray of shape (n_samples,)
        Number of the given class.
    rater : Rater
        For rows that are not in the sample.
    sampled : DataFrame or None
        The ratings of those that are, by position in the block.
    """
    if sampled is not None and len(sampled) == len(X):
        return sampled
    frame = ratings_frame(rater.rate(X, codes))
    if sampled is not None:
        frame.loc[sampled.index] = sampled
    return frame


def ratings_frame(ratings: Ratings) -> pd.DataFrame:
    """Return one row per label, by position."""
    classes = ratings.classes
    return pd.DataFrame(
        {
            "given_label": classes[ratings.given],
            "predicted_label": classes[ratings.predicted],
            "verdict": ratings.verdicts.astype(object),
            "error_probability": ratings.error_proba,
            "label_quality": ratings.label_quality,
            "is_label_issue": ratings.verdicts == WRONG,
        }
    )


def totals_of_frame(frame: pd.DataFrame, n_worst: int) -> AuditTotals:
    """Count the verdicts of one block, and keep its most doubtful labels."""
    counts = frame["verdict"].value_counts()
    return AuditTotals(
        {name: int(counts.get(name, 0)) for name in VERDICTS}, _worst(frame, n_worst)
    )


def joined_totals(parts: Sequence[Any], n_worst: int) -> AuditTotals:
    """Join the delayed `AuditTotals` of blocks."""
    (totals,) = compute(tree_reduce(partial(_join_totals, n_worst), parts))
    return totals


def _join_totals(n_worst: int, first: AuditTotals, second: AuditTotals) -> AuditTotals:
    counts = {name: first.counts[name] + second.counts[name] for name in VERDICTS}
    both = [part.worst for part in (first, second) if len(part.worst)]
    return AuditTotals(counts, _worst(pd.concat(both), n_worst) if both else first.worst)


def _worst(frame: pd.DataFrame, n_worst: int) -> pd.DataFrame:
    # Labels that cannot be rated come last; of equal ones, the first of the table.
    return frame.sort_values("label_quality", kind="stable").head(n_worst)


def write_frame(frame: pd.DataFrame, folder: str, number: int, n_worst: int) -> AuditTotals:
    """Write the ratings of one block as a Parquet file; return their totals.

    Parameters
    ----------
    frame : DataFrame
        Ratings, by number of the row.
    folder : str
        Where to write, on a disk that every worker sees.
    number : int
        Number of the block.
    n_worst : int
        How many of the most doubtful labels to return.
    """
    with written_atomically(Path(folder) / PART_NAME.format(number)) as draft:
        frame.reset_index().to_parquet(draft, index=False)
    return totals_of_frame(frame, n_worst)


class DaskLabelAudit(BaseEstimator):
    """Find labels that are probably wrong in a Dask array or DataFrame.

    What `granulearn.audit.LabelAudit` does in memory. Use it when the table does not fit in
    memory, and all ratings are to be written as files; `LabelAudit` and `audit_labels` take
    collections too, and leave the work to this class. It knows no groups, no order and no
    verified labels, and looks for no other issues.

    Parameters
    ----------
    n_estimators : int or None, default=None
        Trees of the forest; None means enough for 20 votes on each label.
    random_state : int, RandomState or None, default=None
        The same number gives the same audit.
    sample_size : int, default=50000
        About how many rows the forest is grown on, and probabilities are calibrated by; all if
        there are no more.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    noise_ : NoiseRate
        The share of wrong labels, as of `LabelAudit`.
    ratings_ : Dask DataFrame
        One row per label, in the blocks of X, not yet computed: ``given_label``,
        ``predicted_label``, ``verdict``, ``error_probability``, ``label_quality``,
        ``is_label_issue``, indexed by the number of the row, from zero. Its ``attrs``,
        also those of what is computed, hold the share of wrong labels, as of `audit_labels`.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    The sampled rows are audited as in memory; all others are rated by the trees, which have
    not seen them. The data is read twice by `fit`, and once more for the ratings.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.dask import DaskLabelAudit
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> audit = DaskLabelAudit(random_state=0).fit(X, y)
    >>> audit.ratings_.npartitions, audit.noise_.rate < 0.1
    (4, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "sample_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, n_estimators=None, random_state=None, sample_size=SAMPLE_SIZE):
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.sample_size = sample_size

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
        blocks, facts = checked_blocks(X, y, None, None, "LabelAudit")
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        sample = sample_blocks(blocks, facts, self.sample_size, seed)
        audit, rater, sampled = audit_sample(sample, self.n_estimators, self.random_state)
        first_rows = np.cumsum([0, *(facts.n_rows.get(n, 0) for n in range(len(blocks)))]).tolist()
        attrs, shared, rate = attrs_of_noise(audit.noise_), delayed(rater), delayed(_rated)
        self._parts = [
            rate(block, first_row, shared, sampled.get(number), attrs)
            for number, (block, first_row) in enumerate(zip(blocks, first_rows[:-1], strict=True))
        ]
        self.classes_, self.noise_, self.n_features_in_ = facts.classes, audit.noise_, X.shape[1]
        meta = _rated(None, 0, rater, None, attrs)
        self.ratings_ = dd.from_delayed(self._parts, meta=meta, verify_meta=False)
        self.ratings_.attrs = attrs
        return self

    def worst(self, n: int = 10_000) -> pd.DataFrame:
        """Return the most doubtful labels, the worst first; computed on the cluster.

        Parameters
        ----------
        n : int, default=10_000
            How many.
        """
        check_is_fitted(self)
        count = delayed(totals_of_frame)
        return joined_totals([count(part, n) for part in self._parts], n).worst

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
        write = delayed(write_frame)
        parts = [
            write(part, str(folder), number, n_worst) for number, part in enumerate(self._parts)
        ]
        return joined_totals(parts, n_worst)


def _rated(
    block: Block | None,
    first_row: int,
    rater: Rater,
    sampled: pd.DataFrame | None,
    attrs: dict[str, Any],
) -> pd.DataFrame:
    """Return the ratings of a block, by number of the row in the table."""
    X, codes = np.empty((0, len(rater.placing.middles))), np.empty(0, dtype=np.intp)
    if block is not None:
        X, codes = block.X, np.searchsorted(rater.classes, block.classes)[block.codes]
    frame = rate_block(X, codes, rater, sampled)
    frame = frame.set_axis(pd.RangeIndex(first_row, first_row + len(X), name="row"))
    frame.attrs.update(attrs)
    return frame
