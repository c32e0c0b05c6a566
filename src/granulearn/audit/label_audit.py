"""LabelAudit and audit_labels: rate every label by balls that did not see it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import Interval, StrOptions, fit_context, take_rows
from granulearn.audit.noise_estimate import estimate_noise
from granulearn.balls import check_samples
from granulearn.balls.forest import grow_forest, label_reliability
from granulearn.balls.forest_rules import (
    TREE_SHARE,
    audit_rule,
    share_of_tree,
)
from granulearn.balls.forest_tree import ForestRule

if TYPE_CHECKING:
    import pandas as pd

# A tree of so many rows knows the classes well enough; it rates the labels of all others.
MAX_TREE_ROWS = 8_000
# Nearly as many as 100 trees give each label, when every tree leaves out 36.8 % of the samples.
VOTES_PER_LABEL = 30


class LabelAudit(BaseEstimator):
    """Find labels that are probably wrong.

    A ball forest rates each label by the trees that did not see its sample. A
    label is flagged when another class is more probable. Use it before you
    train: look at the flagged samples, correct or drop them. It works as the
    last step of a scikit-learn pipeline (``fit``), and as a step of
    imbalanced-learn's (``fit_resample``). Its weak point is samples where
    classes overlap: their labels are doubtful too, and some are flagged though
    they are right.

    Parameters
    ----------
    action : {"drop", "relabel"}, default="drop"
        What `fit_resample` does with flagged samples: leave them out, or give
        them the suggested label.
    n_trees : int or None, default=None
        Trees of the forest; None means 100,
        or enough for 30 votes on each label of data so large that a tree sees
        a small part of it.
    random_state : int, RandomState or None, default=None
        The same number gives the same audit, whatever `n_jobs` is.
    n_jobs : int or None, default=None
        Threads; None means 1 and -1 all cores. They change no result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    given_ : ndarray of shape (n_samples,)
        The labels that were audited.
    reliability_ : ndarray of shape (n_samples,)
        Probability of each given label; NaN, with a warning, where it cannot
        be known: the only sample of its class, or one that every tree saw.
    suggested_ : ndarray of shape (n_samples,)
        The most probable class; the given one where nothing is known.
    flagged_ : ndarray of shape (n_samples,)
        True where the suggested label differs from the given one.
    alone_ : ndarray of shape (n_samples,)
        True where no other sample has the label: a misspelt one, perhaps.
    noise_rate_ : float
        Share of wrong labels by the confident joint, see `estimate_noise`. It
        counts ambiguous samples as well, and may lie above or below the share
        of flagged labels; NaN where no label can be rated.
    noise_matrix_ : ndarray of shape (n_classes, n_classes)
        The same for each given class (row) and likely class (column).
    proba_ : ndarray of shape (n_samples, n_classes)
        Class probabilities from the trees that did not see a sample.
    sample_indices_ : ndarray
        Positions of the samples that `fit_resample` returned.
    forest_ : BallForest
        The trees.
    in_bag_ : ndarray of shape (n_trees, n_samples)
        True where a tree saw a sample.
    weighings_ : tuple of Weighing
        How the balls of the trees were weighed; there is one way.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.

    See Also
    --------
    audit_labels : The same as a function that returns a table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from granulearn.audit import LabelAudit
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[3, 5]] = 2  # two wrong labels
    >>> audit = LabelAudit(random_state=0).fit(X, y)
    >>> audit.flagged_[[3, 5]], int(audit.flagged_.sum()) < 15
    (array([ True,  True]), True)
    """

    _parameter_constraints: ClassVar[dict] = {
        "action": [StrOptions({"drop", "relabel"})],
        "n_trees": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(self, action="drop", n_trees=None, random_state=None, n_jobs=None):
        self.action = action
        self.n_trees = n_trees
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Rate every label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            The fitted audit.
        """
        samples = check_samples(X, y, self)
        X, codes, self.classes_ = samples.X, samples.codes, samples.classes
        n_threads = effective_n_jobs(self.n_jobs)
        rule = self._rule(*X.shape)
        grown = grow_forest(X, codes, len(self.classes_), rule, n_threads=n_threads)
        self.forest_, self.in_bag_ = grown.forest, grown.in_bag
        self.weighings_ = rule.weighings
        self.proba_ = self.forest_.out_of_bag_posterior(X, self.in_bag_, n_threads)
        self.given_ = self.classes_[codes]
        self.reliability_ = label_reliability(self.proba_, codes)
        self.alone_ = np.bincount(codes)[codes] == 1
        known = ~np.isnan(self.reliability_)
        likely = np.where(known, np.nan_to_num(self.proba_, nan=-1).argmax(axis=1), codes)
        self.suggested_, self.flagged_ = self.classes_[likely], likely != codes
        self.noise_matrix_ = estimate_noise(self.proba_, codes)
        self.noise_rate_ = float(1 - np.trace(self.noise_matrix_))
        return self

    def _rule(self, n_samples: int, n_features: int) -> ForestRule:
        share = share_of_tree(n_samples, n_features, TREE_SHARE, MAX_TREE_ROWS)
        n_trees = self.n_trees
        if n_trees is None:
            # Rounded up to 100 where trees have the usual share.
            n_trees = 100 if share == TREE_SHARE else math.ceil(VOTES_PER_LABEL / (1 - share))
        seed = check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64)
        return audit_rule(
            n_samples, n_features, n_trees=n_trees, max_rows=MAX_TREE_ROWS, seed=int(seed)
        )

    def fit_resample(self, X, y):
        """Return the samples without the flagged ones, or with the labels suggested for them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        X : array-like of shape (n_kept, n_features)
            Inputs, in the type that was passed.
        y : array-like of shape (n_kept,)
            Labels, in the type that was passed.
        """
        self.fit(X, y)
        if self.action == "relabel":
            self.sample_indices_ = np.arange(len(self.given_))
            return X, _with_values(y, self.suggested_)
        self.sample_indices_ = np.flatnonzero(~self.flagged_)
        kept = self.sample_indices_
        return take_rows(X, kept), take_rows(y, kept)

    def to_frame(self, index: Any = None) -> pd.DataFrame:
        """Return one row per sample, worst first, with the noise estimate in ``attrs``.

        Needs pandas (``pip install "granulearn[datasets]"``).

        Parameters
        ----------
        index : sequence, default=None
            Names of the samples; None numbers them.

        Returns
        -------
        DataFrame
            Columns ``given``, ``reliability``, ``suggested``, ``flagged``;
            ``attrs["noise_rate"]`` and ``attrs["noise_by_pair"]``, the share of
            samples as a dictionary by given class, then by likely class.
        """
        import pandas as pd

        table = pd.DataFrame(
            {
                "given": self.given_,
                "reliability": self.reliability_,
                "suggested": self.suggested_,
                "flagged": self.flagged_,
            },
            index=index,
        )
        labels = self.classes_.tolist()
        by_pair = {
            given: {
                likely: float(share)
                for likely, share in zip(labels, shares, strict=True)
                if likely != given
            }
            for given, shares in zip(labels, self.noise_matrix_, strict=True)
        }
        table = table.sort_values("reliability", kind="stable", na_position="last")
        table.attrs = {"noise_rate": self.noise_rate_, "noise_by_pair": by_pair}
        return table

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def audit_labels(
    X: Any,
    y: Any,
    *,
    n_trees: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Rate every label of a table, and list the labels that are probably wrong first.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or a raw table
        Numbers, used as they come: scale them first. Or a table as it comes: a path,
        a frame of pandas or polars with any types, an Arrow table, a list of dicts, a
        dict of columns; then everything is encoded and scaled inside.
    y : array-like of shape (n_samples,), or str
        Class labels, or the column of the table that holds them.
    n_trees : int or None, default=None
        Trees of the ball forest; None takes enough for the data's size.
    random_state : int, RandomState or None, default=None
        The same number gives the same audit, whatever `n_jobs` is.
    n_jobs : int or None, default=None
        Threads; None means 1 and -1 all cores.

    Returns
    -------
    DataFrame
        Indexed like X or y, sorted worst first: ``given``, ``reliability`` (the
        probability of the given label; NaN, last, where it cannot be known),
        ``suggested``, ``flagged``. Its ``attrs`` hold an estimate of the share
        of wrong or ambiguous labels, ``noise_rate``, and ``noise_by_pair``; of a
        raw table also its ``warnings``, worth reading before the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from granulearn.audit import audit_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> y[10] = 2  # a wrong label
    >>> table = audit_labels(X, y, random_state=0)
    >>> int(table.index[0]), bool(table["flagged"].iloc[0])
    (10, True)
    """
    settings: dict[str, Any] = {"n_trees": n_trees, "random_state": random_state, "n_jobs": n_jobs}
    if not isinstance(y, str) and not _is_raw(X):
        audit = LabelAudit(**settings).fit(X, y)
        named = X if hasattr(X, "iloc") else y if hasattr(y, "iloc") else None
        return audit.to_frame(None if named is None else named.index)
    from granulearn.audit.table_audit import audit_raw_table

    return audit_raw_table(X, y, **settings)


def _is_raw(X: Any) -> bool:
    """Return whether X is a table whose cells must be read, rather than numbers."""
    if isinstance(X, (str, os.PathLike, Mapping)) or hasattr(X, "__arrow_c_stream__"):
        if not hasattr(X, "dtypes") or not hasattr(X, "iloc"):
            return True
        return any(dtype.kind not in "iuf" for dtype in X.dtypes)
    return isinstance(X, Sequence) and bool(X) and isinstance(X[0], Mapping)


def _with_values(y: Any, values: np.ndarray) -> Any:
    """Return values in the type of y."""
    if hasattr(y, "iloc") and getattr(y, "ndim", 0) == 1:
        return type(y)(values, index=y.index, name=y.name).astype(y.dtype)
    return values
