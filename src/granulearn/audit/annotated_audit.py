"""The part of `LabelAudit` for several annotators: consensus, annotators, who to ask next."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from granulearn.audit.annotations import counted_once, read_annotations
from granulearn.audit.annotators import (
    LEAST_WEIGHT,
    Annotations,
    Consensus,
    fit_consensus,
    suspected_copies,
)
from granulearn.audit.embedding import EmbeddedRows, embed_rows
from granulearn.audit.error_probability import prior_model
from granulearn.audit.outliers import OUTLIER_FROM, outlier_scores
from granulearn.audit.ratings import ANNOTATORS
from granulearn.audit.validation import check_groups, check_proba
from granulearn.audit.verified import check_verified
from granulearn.utils.agreement import krippendorff_alpha
from granulearn.utils.text import listed

FEW_LABELS = 5
LEAST_INFORMATION = 0.04


class AnnotatedAudit:
    """Base of `LabelAudit`, for annotations in the place of labels."""

    random_state: Any
    n_estimators: Any
    n_jobs: Any
    ratings_: Any
    consensus_record_: Any
    rated_with: Any
    _set_verified: Any
    _set_ratings: Any
    _row_names: Any
    _prepared: Any

    def _fit_annotations(
        self, X, annotations, dependent, *, verified, groups, times, proba
    ) -> tuple[np.ndarray, EmbeddedRows]:
        """Set the consensus and its ratings; return the inputs as an array and as points."""
        if X is not None:
            X = self._prepared(X)
        n_rows = None if X is None else len(X)
        given, names = read_annotations(annotations, self._row_names, n_rows, dependent)
        self._row_names, self.classes_, n = names, given.classes, given.n_rows
        self.copies_ = suspected_copies(given)
        if dependent is None and len(self.copies_):
            given = counted_once(given, self.copies_)
        found = check_verified(verified, n, self.classes_, names)
        fixed = np.full(n, -1)
        fixed[found.rows] = found.truth
        units = check_groups(groups, times, n)
        if proba is not None:
            proba = check_proba(proba, given.votes.argmax(axis=1), self.classes_, names)
        seed = check_random_state(self.random_state).randint(2**31 - 100)
        settings = {"n_estimators": self.n_estimators or "auto", "n_jobs": self.n_jobs}
        fitted = fit_consensus(given, X, fixed, proba=proba, groups=units, seed=seed, **settings)
        self._units = np.arange(n) if units is None else units
        self._set_consensus(fitted)
        self._warn(given)
        # A verified label is compared with what annotators and inputs say without it.
        proba = fitted.unverified_proba
        labels = proba.argmax(axis=1)
        self._set_verified(found, labels)
        self.forest_, self.in_bag_, self.priors_ = None, None, ()
        self.out_of_sample_proba_ = proba
        X = np.zeros((n, 1)) if X is None else X
        embedded = embed_rows(X)
        counts = np.bincount(labels, minlength=len(self.classes_))
        self.error_model_ = prior_model(counts, basis=ANNOTATORS)
        rated = self.error_model_.rate(
            self.classes_, proba, labels, np.ones(n, dtype=bool),
            outlier_scores(embedded) > OUTLIER_FROM,
        )  # fmt: skip
        self._unverified = replace(rated, error_proba=1 - rated.label_quality)
        self._set_ratings(*self.rated_with(found))
        return X, embedded

    def _set_consensus(self, fitted: Consensus) -> None:
        given, self.consensus_record_ = fitted.annotations, fitted
        self.consensus_proba_, self.consensus_ = fitted.proba, self.classes_[fitted.labels]
        self.annotators_, self.confusion_ = fitted.annotator_table(), fitted.confusion
        self.input_weight_, self.agreement_ = fitted.tau, krippendorff_alpha(given.codes)
        names, at = self._row_names, np.arange(len(given.labels))
        columns = {
            "row": given.rows if names is None else pd.Index(names)[given.rows],
            "annotator": given.names[given.annotators],
            "label": self.classes_[given.labels],
            "error_probability": 1 - fitted.proba[given.rows, given.labels],
            "error_probability_by_others": 1 - fitted.without_annotation[at, given.labels],
        }
        self.annotations_ = pd.DataFrame(columns)

    def _warn(self, given: Annotations) -> None:
        """Warn of what no estimate can make up for."""
        table, both = self.annotators_, self.copies_[["annotator", "other"]].to_numpy(object)
        few = [repr(name) for name in table.index[table["n_labels"] < FEW_LABELS].tolist()]
        different = np.unique(given.cells) // len(given.classes)
        n_different = np.bincount(different, minlength=len(table))
        often = table["n_labels"] >= FEW_LABELS
        alike = [repr(name) for name in table.index[often & (n_different == 1)].tolist()]
        informed = np.average(table["information"], weights=table["n_labels"])
        pairs = [f"{a!r} and {b!r}" for a, b in both.tolist()]
        found = {
            "no row has two labels, so annotators are compared by the inputs alone; ask for a "
            "second label of some rows.": given.n_labels.max() < 2,
            f"{len(few)} annotator(s) gave fewer than {FEW_LABELS} labels ({listed(few, most=5)}); "
            "they count as typical ones.": few,
            f"{len(alike)} annotator(s) gave one label only ({listed(alike, most=5)}), which says "
            "nothing of the class: where they gave none is not used.": alike,
            "the labels say little more than chance about each other and about the inputs; the "
            "consensus is a guess. Verify some rows.": informed < LEAST_INFORMATION,
            f"{listed(pairs, most=5)} agree more than independent annotators would: copies, or "
            "rules for the same thing? groups_of_annotators= says who counts as one; without it, "
            "these do.": pairs,
        }
        for message, is_so in found.items():
            if is_so:
                warnings.warn(message, UserWarning, stacklevel=5)

    def _consensus_frame(self, index: Any) -> pd.DataFrame:
        """Return one row per row, in their order."""
        fitted, ratings = self._annotated(), self.ratings_
        given = fitted.annotations
        same = given.labels == fitted.labels[given.rows]
        n_same = np.bincount(given.rows, same, given.n_rows)
        sources = np.where(given.n_labels > 0, "annotators", "inputs")
        columns = {
            "consensus_label": self.consensus_,
            "error_probability": 1 - fitted.proba.max(axis=1),
            "n_annotations": given.n_labels,
            "agreement": n_same / np.where(given.n_labels > 0, given.n_labels, np.nan),
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
        fitted = self._annotated()
        if by not in ("annotator", "expert") or n < 1:
            raise ValueError(f"n={n!r} must be one or more, by={by!r} 'annotator' or 'expert'.")
        gain = 1 - fitted.proba.max(axis=1) if by == "expert" else fitted.gain_of_label()
        open_rows = np.flatnonzero(fitted.fixed < 0)
        rows = open_rows[np.argsort(-gain[open_rows], kind="stable")[:n]]
        shown = ["consensus_label", "error_probability", "n_annotations"]
        return self._consensus_frame(self._row_names).iloc[rows][shown].assign(gain=gain[rows])

    def training_rows(self) -> pd.DataFrame:
        """Return rows, labels, weights and groups to train any classifier on.

        A row counts for each of its probable classes, by their probability. Rows that nobody has
        labelled are left out.

        Returns
        -------
        DataFrame
            ``row`` (position in X), ``label``, ``weight``, and ``group``: keep its rows in one
            fold. Use it as ``model.fit(X[t.row], t.label, sample_weight=t.weight)``.
        """
        fitted = self._annotated()
        proba = fitted.proba
        known = (fitted.fixed >= 0) | (fitted.annotations.n_labels > 0)
        probable = proba >= np.minimum(LEAST_WEIGHT, proba.max(axis=1, keepdims=True))
        rows, codes = np.nonzero(probable & known[:, None])
        weights = proba[rows, codes] / np.where(probable, proba, 0).sum(axis=1)[rows]
        columns = {"row": rows, "label": self.classes_[codes], "weight": weights}
        return pd.DataFrame(columns | {"group": self._units[rows]})

    def _annotated(self) -> Consensus:
        if getattr(self, "consensus_record_", None) is None:
            raise AttributeError(
                "this audit knows no annotators; fit it with annotations=, one column per "
                "annotator."
            )
        return self.consensus_record_
