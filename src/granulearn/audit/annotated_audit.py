"""The part of `LabelAudit` for several annotators: consensus, annotators, who to ask next."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from granulearn.audit.annotations import (
    LEAST_INFORMATION,
    counted_once,
    read_annotations,
    warn_of_annotations,
)
from granulearn.audit.annotators import LEAST_WEIGHT, fit_consensus, suspected_copies
from granulearn.audit.embedding import embed_rows
from granulearn.audit.error_probability import prior_model
from granulearn.audit.outliers import OUTLIER_FROM, outlier_scores
from granulearn.audit.ratings import ANNOTATORS, Ratings
from granulearn.audit.validation import check_groups, check_proba
from granulearn.audit.verified import check_verified
from granulearn.utils.agreement import krippendorff_alpha
from granulearn.utils.text import listed
from granulearn.utils.threads import effective_n_jobs
from granulearn.utils.validation import check_inputs

if TYPE_CHECKING:
    import pandas as pd

FITTED = (
    "consensus_", "consensus_proba_", "annotators_", "confusion_", "annotations_",
    "input_weight_", "agreement_", "copies_", "consensus_record_",
)  # fmt: skip
BY = ("annotator", "expert")


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows to train a classifier on: a row of two probable classes occurs with both."""

    rows: np.ndarray
    """(m,) position of each in X."""
    labels: np.ndarray
    """(m,) class."""
    weights: np.ndarray
    """(m,) probability of the class."""
    groups: np.ndarray
    """(m,) group, or position, of the row: keep them in one fold."""


class AnnotatedAudit:
    """Base of `LabelAudit`, for annotations in the place of labels."""

    n_jobs: int | None
    n_estimators: int | None
    random_state: Any
    ratings_: Ratings
    given_label_: np.ndarray
    rated_with: Any
    _set_verified: Any
    _set_ratings: Any
    _row_names: Any

    def _fit_annotations(self, X, annotations, dependent, verified, groups, times, proba):
        """Set the consensus and ratings of it; return the inputs as an array and as points."""
        if X is not None:
            n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
            X = check_inputs(X, np.zeros(n_rows), self)[0]
        given, self._row_names = read_annotations(
            annotations, self._row_names, None if X is None else len(X), dependent
        )
        self.classes_, n = given.classes, given.n_rows
        self.copies_ = suspected_copies(given)
        if dependent is None and len(self.copies_):
            given = counted_once(given, self.copies_)
        found = check_verified(verified, n, self.classes_, self._row_names)
        fixed = np.full(n, -1)
        fixed[found.rows] = found.truth
        warn_of_annotations(given, fixed >= 0)
        units = check_groups(groups, times, n)
        if proba is not None:
            proba = check_proba(proba, given.votes.argmax(axis=1), self.classes_, self._row_names)
        fitted = fit_consensus(
            given, X, fixed=fixed, groups=units, proba=proba,
            n_estimators=self.n_estimators or 100,
            seed=int(check_random_state(self.random_state).randint(2**31 - 100)),
            n_jobs=self.n_jobs,
        )  # fmt: skip
        self._units = np.arange(n) if units is None else units
        self._set_consensus(fitted, is_named=dependent is not None)
        codes = fitted.labels
        self._set_verified(found, codes)
        self.forest_, self.in_bag_, self.priors_ = None, None, ()
        self.out_of_sample_proba_ = fitted.proba
        X = np.zeros((n, 1)) if X is None else X
        embedded = embed_rows(X, effective_n_jobs(self.n_jobs))
        self.error_model_ = prior_model(np.bincount(codes, minlength=len(self.classes_)),
                                        basis=ANNOTATORS)  # fmt: skip
        outlier = outlier_scores(embedded) > OUTLIER_FROM
        rated = self.error_model_.rate(
            self.classes_, fitted.proba, codes, np.ones(n, dtype=bool), outlier
        )
        self._unverified = replace(rated, error_proba=1 - rated.label_quality)
        self._set_ratings(*self.rated_with(found))
        return X, embedded

    def _set_consensus(self, fitted: Any, is_named: bool) -> None:
        import pandas as pd

        given, self.consensus_record_ = fitted.annotations, fitted
        self.consensus_proba_, self.consensus_ = fitted.proba, self.classes_[fitted.labels]
        self.annotators_, self.confusion_ = fitted.annotator_table(), fitted.confusion
        self.input_weight_, self.agreement_ = fitted.tau, krippendorff_alpha(given.codes)
        rows = given.rows if self._row_names is None else pd.Index(self._row_names)[given.rows]
        columns = {
            "row": rows,
            "annotator": given.names[given.annotators],
            "label": self.classes_[given.labels],
            "error_probability": fitted.error_proba,
            "error_probability_by_others": fitted.error_proba_by_others,
        }
        self.annotations_ = pd.DataFrame(columns)
        informed = np.average(self.annotators_["information"], weights=self.annotators_["n_labels"])
        if informed < LEAST_INFORMATION:
            warnings.warn(
                "the labels say little more than chance about each other and about the inputs; "
                "the consensus is a guess. Verify some rows.",
                UserWarning,
                stacklevel=5,
            )
        if (given.weights != 1).any() and not is_named:
            both = self.copies_[["annotator", "other"]].to_numpy(object).tolist()
            pairs = listed([f"{a!r} and {b!r}" for a, b in both], most=5)
            warnings.warn(
                f"{pairs} agree more than independent annotators would: copies, or rules for the "
                "same thing? They count as one; groups_of_annotators= says who does.",
                UserWarning,
                stacklevel=5,
            )

    def _consensus_frame(self, index: Any) -> pd.DataFrame:
        """Return one row per row, in their order."""
        import pandas as pd

        self._check_annotated()
        fitted, ratings = self.consensus_record_, self.ratings_
        given, n = fitted.annotations, fitted.annotations.n_rows
        same = given.labels == fitted.labels[given.rows]
        with np.errstate(invalid="ignore"):
            agreement = np.bincount(given.rows, same, n) / given.n_labels
        sources = np.where(given.n_labels > 0, "annotators", "inputs")
        columns = {
            "consensus_label": self.given_label_,
            "error_probability": ratings.error_proba,
            "n_annotations": given.n_labels,
            "agreement": agreement,
            "source": np.where(ratings.verified, "verified", sources),
            "verdict": ratings.verdicts,
            "is_label_issue": ratings.is_suspect,
            "verified": ratings.verified,
        }
        return pd.DataFrame(columns, index=index)

    def next_to_label(self, n: int, by: str = "annotator") -> pd.DataFrame:
        """Return which rows to have labelled next.

        Parameters
        ----------
        n : int
            How many.
        by : {"annotator", "expert"}, default="annotator"
            By whom: one more of these annotators, whose label may be wrong, too; or an expert who
            is always right.

        Returns
        -------
        DataFrame
            By row: ``consensus_label``, ``error_probability``, ``n_annotations``, and ``gain``: how
            much more probable the consensus becomes to be right. The largest gain comes first.
        """
        self._check_annotated()
        if by not in BY:
            raise ValueError(f"by={by!r} must be one of {', '.join(BY)}.")
        if n < 1:
            raise ValueError(f"n={n!r}: ask for one row or more.")
        fitted = self.consensus_record_
        expert = by == "expert"
        gain = 1 - fitted.proba.max(axis=1) if expert else fitted.gain_of_label()
        open_rows = np.flatnonzero(fitted.fixed < 0)
        rows = open_rows[np.argsort(-gain[open_rows], kind="stable")[:n]]
        shown = ["consensus_label", "error_probability", "n_annotations"]
        return self._consensus_frame(self._row_names).iloc[rows][shown].assign(gain=gain[rows])

    def training_rows(self) -> TrainingRows:
        """Return rows, labels, weights and groups to train any classifier on.

        A row counts for each of its probable classes, by their probability. Rows that nobody has
        labelled are left out.

        Returns
        -------
        TrainingRows
            Use it as ``model.fit(X[t.rows], t.labels, sample_weight=t.weights)``.
        """
        self._check_annotated()
        fitted = self.consensus_record_
        proba, known = fitted.proba, fitted.fixed >= 0
        known |= fitted.annotations.n_labels > 0
        probable = proba >= np.minimum(LEAST_WEIGHT, proba.max(axis=1, keepdims=True))
        rows, codes = np.nonzero(probable & known[:, None])
        totals = np.where(probable, proba, 0).sum(axis=1)
        weights = proba[rows, codes] / totals[rows]
        return TrainingRows(rows, self.classes_[codes], weights, self._units[rows])

    def _check_annotated(self) -> None:
        if not hasattr(self, "consensus_"):
            raise AttributeError(
                "this audit knows no annotators; fit it with annotations=, one column per "
                "annotator."
            )
