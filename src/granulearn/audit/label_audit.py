"""LabelAudit and audit_labels: rate every label by trees that did not see it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from granulearn._sklearn_compat import Interval, StrOptions, fit_context, take_rows
from granulearn.audit.annotated_audit import AnnotatedAudit
from granulearn.audit.class_overlap import find_overlaps
from granulearn.audit.embedding import EmbeddedRows, embed_rows
from granulearn.audit.error_probability import (
    ErrorModel,
    expected_errors,
    fit_error_model,
    next_rows,
    rated_with,
)
from granulearn.audit.leakage import find_leaks
from granulearn.audit.near_duplicates import CONTRADICTION, SHARED, close_rows, find_mixed
from granulearn.audit.outliers import OUTLIER_FROM, find_outliers, outlier_scores
from granulearn.audit.ratings import AuditSummary, Issue, Ratings, noise_matrix
from granulearn.audit.scan_statistic import find_blocks
from granulearn.audit.validation import (
    check_groups,
    check_proba,
    is_raw_table,
    known_elsewhere,
    row_names,
)
from granulearn.audit.verified import VerifiedLabels, check_verified
from granulearn.forest.forest import TREE_SHARE, grow_forest, label_quality
from granulearn.forest.tree import ForestSettings, Prior
from granulearn.preprocess import TablePreprocessor
from granulearn.preprocess.table_inputs import TableInputs
from granulearn.preprocess.table_preprocessor import CATEGORY, TARGET_SHARE
from granulearn.utils.threads import effective_n_jobs
from granulearn.utils.validation import check_samples

if TYPE_CHECKING:
    import pandas as pd

# A tree of 8,000 rows knows the classes well enough; it rates the labels of all others.
MAX_TREE_ROWS = 8_000
MAX_TREE_VALUES, LEAST_TREE_ROWS = 10_000_000, 1_000
FEW_LABELS, FEW_LABELS_OF_TWO_CLASSES = 1_000, 3_000
# Fewer than the 37 of 100 small trees, since larger trees know more.
VOTES_PER_LABEL = 20
TASKS = ("classification", "regression")
_SHOWN = ["given_label", "predicted_label", "verdict", "error_probability"]


class LabelAudit(AnnotatedAudit, TableInputs):
    """Find labels that are probably wrong.

    A ball forest rates each label by the trees that did not see its sample, and
    each label gets the probability that it is wrong. Use it before you train:
    check the suspects, correct or drop them, and pass on what you found
    (``verified``): twenty verified labels, half of them drawn at random, tell how
    many are wrong. It works as the last step of a scikit-learn pipeline
    (``fit``), and as a step of imbalanced-learn's (``fit_resample``). Its weak
    point is samples where classes overlap: without verified labels, overlap
    cannot be told from mistakes.

    Parameters
    ----------
    action : {"drop", "relabel"}, default="drop"
        What `fit_resample` does with suspects: leave their samples out, or give them
        the predicted label.
    n_estimators : int or None, default=None
        Trees of the forest; None means 100,
        or enough for 20 votes on each label of data so large that a tree sees
        a small part of it.
    random_state : int, RandomState or None, default=None
        The same number gives the same audit, whatever `n_jobs` is.
    n_jobs : int or None, default=None
        Threads; None means 1 and -1 all cores. They change no result.
    categorical_features : "auto", array-like or None, default="auto"
        Columns of categories: "auto" takes them by dtype; names, numbers or a mask of columns
        add some. None says that X holds prepared numbers: they are used as they come, and
        neither filled nor scaled.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    given_label_ : ndarray of shape (n_samples,)
        The labels that were audited. After a fit with annotations, the consensus; of verified rows,
        what it is without their verification.
    verdict_ : ndarray of shape (n_samples,)
        "wrong": a suspect that is wrong with a probability of one half or more;
        "suspect"; "outlier": the inputs are far from all others; "fine"; or
        "unknown": nothing can be said. All are unknown where, among 1,000
        samples or more, similar ones do not have similar labels more often than
        by chance.
    is_label_issue_ : ndarray of shape (n_samples,)
        True for suspects: as many labels as are expected to be wrong among those that
        nobody has verified, the most probable ones.
    predicted_label_ : ndarray of shape (n_samples,)
        The most probable class, or the verified one; the given one where nothing
        is known.
    label_quality_ : ndarray of shape (n_samples,)
        Probability of each given label; NaN, with a warning, where it cannot
        be known: the only sample of its class, or one that every tree saw.
    error_proba_ : ndarray of shape (n_samples,)
        Probability that the true class is another one. `summary` adds it up;
        verified labels sharpen it, and have zero or one.
    noise_matrix_ : ndarray of shape (n_classes, n_classes)
        Expected probability of each given label (column) by true class (row).
    issues_ : list of Issue
        Further issues to check: near-duplicates with different labels
        or across groups, outliers, classes that may be one, windows of
        the file with many doubtful labels, columns that give the label away.
    verified_ : ndarray of shape (n_samples,)
        True where a person has confirmed or corrected the label.
    at_random_ : ndarray of shape (n_samples,)
        True where a verified row was drawn at random.
    alone_ : ndarray of shape (n_samples,)
        True where no other sample has the label and it is not verified: a
        misspelt one, perhaps.
    out_of_sample_proba_ : ndarray of shape (n_samples, n_classes)
        Class probabilities from the trees that did not see a sample, or those
        that were passed.
    error_model_ : ErrorModel
        Turns class probabilities into ratings.
    ratings_ : Ratings
        All of that, one row per label, with classes as numbers.
    sample_indices_ : ndarray
        Positions of the samples that `fit_resample` returned.
    forest_ : BallForest or None
        The trees; None where probabilities were passed.
    in_bag_ : ndarray of shape (n_estimators, n_samples) or None
        True where a tree saw a sample.
    priors_ : tuple of Prior
        How the balls of the trees were weighed; there is one way.
    learnt_ : ndarray of shape (n_samples,)
        Class number of each sample as the trees learnt it: verified labels count.
    consensus_ : ndarray of shape (n_samples,)
        Most probable class by all annotators and the inputs; of rows that nobody labelled, by
        the inputs alone. Like all that follows, after a fit with annotations only.
    consensus_proba_ : ndarray of shape (n_samples, n_classes)
        Probability of each class.
    annotators_ : DataFrame
        By annotator: ``n_labels``, ``accuracy`` from ``accuracy_low`` to ``accuracy_high`` (95 %),
        ``information`` (of one label, about the class: from 0, as by chance, to 1), ``agreement``
        (with the others on the same rows), ``cost_of_leaving_out`` (expected number of labels of
        the consensus that would become wrong).
    confusion_ : ndarray of shape (n_annotators, n_classes, n_classes)
        Probability of each label (last axis) by true class, for each annotator.
    annotations_ : DataFrame
        By label: ``row``, ``annotator``, ``label``, ``error_probability``, and the same without the
        label itself, ``error_probability_by_others``.
    input_weight_ : float
        Exponent of what the inputs say; zero means that they say nothing.
    agreement_ : Agreement
        Krippendorff's alpha: ``value``, from ``low`` to ``high``.
    copies_ : DataFrame
        Pairs of annotators who agree more than independent ones would.
    consensus_record_ : Consensus or None
        All of that, with classes as numbers; None after a fit with labels.
    preprocessor_ : TablePreprocessor or None
        Makes numbers of columns; None with ``categorical_features=None``, and without X.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.

    See Also
    --------
    audit_labels : The same as a function that returns a table.
    granulearn.dask.DaskLabelAudit : For Dask collections, which do not fit in memory.

    Notes
    -----
    Of more than 50,000 samples, that many are drawn, and stand for all where probabilities are
    calibrated, the noise rate is estimated, and typical inputs are learnt.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from granulearn.audit import LabelAudit
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[3, 5]] = 2  # two wrong labels
    >>> audit = LabelAudit(random_state=0).fit(X, y)
    >>> audit.verdict_[[3, 5]], int(audit.is_label_issue_.sum()) < 15
    (array(['wrong', 'wrong'], dtype='<U9'), True)
    """

    _parameter_constraints: ClassVar[dict] = {
        "action": [StrOptions({"drop", "relabel"})],
        "n_estimators": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        **TableInputs._parameter_constraints,
    }

    def __init__(
        self,
        action="drop",
        n_estimators=None,
        random_state=None,
        n_jobs=None,
        categorical_features="auto",
    ):
        self.action = action
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X, y=None, *, verified=None, groups=None, times=None, proba=None, names=None,
        rows=None, annotations=None, groups_of_annotators=None,
    ):  # fmt: skip
        """Rate every label.

        Parameters
        ----------
        X : frame of pandas or polars, array-like of shape (n_samples, n_features) or None
            Inputs. Missing numbers become the median, numbers are scaled, categories and dates
            encoded (`TablePreprocessor`). None, with ``proba``, leaves out
            outliers and the other checks of inputs; all else is the same.
        y : array-like of shape (n_samples,)
            Class labels.
        verified : mapping, Series, DataFrame or array-like, default=None
            True labels that a person has confirmed or corrected: by row (a
            position, or a name of X's index); or one entry per sample, None where
            not verified; or a frame by row with ``label`` and ``drawn``, as
            `next_to_review` gives it: rows drawn at "random" stand for others,
            all others count for themselves. They are never called wrong, and the
            trees learn their true labels.
        groups : array-like of shape (n_samples,), default=None
            Samples of one group, such as a patient, are rated by trees that saw
            none of it.
        times : array-like of shape (n_samples,), default=None
            When each sample came: it is rated by trees grown on other periods
            of time.
        proba : array-like of shape (n_samples, n_classes), default=None
            Class probabilities of another model, of samples that it did not see
            (`out_of_sample_proba`); no forest is grown then. An array has its columns in the
            order of the sorted classes. A frame is aligned by its column names, and by its
            index if that and the index of X differ; the default index names no rows.
        names : sequence, default=None
            Names of the features for `issues_`: texts, or (column, category) for
            one of zeros and ones.
        rows : array-like of shape (n_samples,), default=None
            Number by which a reader finds each sample, for `issues_`; it is also
            its position in the file. None numbers them from zero.
        annotations : DataFrame or array-like of shape (n_samples, n_annotators), default=None
            In the place of y, labels by several annotators: one column for each, missing where
            one was not asked; or a frame with the columns ``row``, ``annotator`` and ``label``.
            The audit is then about their consensus.
        groups_of_annotators : mapping or array-like of shape (n_annotators,), default=None
            Group of annotators by name, or of each: on a row, annotators of a group count as one.

        Returns
        -------
        self
            The fitted audit.
        """
        self.consensus_record_, self.preprocessor_ = None, None
        if hasattr(X, "__dask_graph__"):
            raise TypeError(
                f"X is a {type(X).__name__} in blocks; use granulearn.dask.DaskLabelAudit, or "
                "audit_labels."
            )
        self._row_names = row_names(X, y)
        has_inputs = X is not None
        if groups_of_annotators is not None and annotations is None:
            raise ValueError("groups_of_annotators goes with annotations, not with y.")
        if annotations is not None:
            if y is not None:
                raise ValueError("pass either y or annotations: the consensus takes y's place.")
            X, embedded = self._fit_annotations(
                X, annotations, groups_of_annotators, verified=verified, groups=groups,
                times=times, proba=proba,
            )  # fmt: skip
            return self._set_issues(X if has_inputs else None, groups, names, rows, embedded)
        if has_inputs:
            samples = self._check_table(X, y)
        elif proba is None:
            raise ValueError("X may be left out only where proba= gives class probabilities.")
        else:  # rows that are all alike, of which none is an outlier
            samples = check_samples(np.zeros((np.size(y), 1)), y, "LabelAudit")
        X, codes, self.classes_ = samples.X, samples.codes, samples.classes
        n_threads = effective_n_jobs(self.n_jobs)
        found = check_verified(verified, len(codes), self.classes_, self._row_names)
        units = check_groups(groups, times, len(codes))
        self._set_verified(found, codes)
        if proba is None:
            self._grow(X, units, n_threads)
        else:
            self.forest_: Any = None
            self.in_bag_: Any = None
            self.priors_: tuple = ()
            self.out_of_sample_proba_ = check_proba(proba, codes, self.classes_, self._row_names)
        proba = self.out_of_sample_proba_
        known = ~np.isnan(label_quality(proba, codes))
        if units is not None:
            known &= known_elsewhere(codes, units, self.classes_)
        embedded = embed_rows(X, n_threads)
        sample = embedded.sample
        self.error_model_ = fit_error_model(proba[sample], codes[sample], known[sample])
        outlier = outlier_scores(embedded) > OUTLIER_FROM
        self._unverified = self.error_model_.rate(self.classes_, proba, codes, known, outlier)
        self._set_ratings(*self.rated_with(found))
        return self._set_issues(X if has_inputs else None, groups, names, rows, embedded)

    def _set_issues(self, X, groups, names, rows, embedded) -> LabelAudit:
        if names is None and self.preprocessor_ is not None:
            names = input_names(self.preprocessor_)
        elif names is None:
            names = getattr(self, "feature_names_in_", None)
        if X is not None:
            self.issues_ = find_issues(
                X, self.ratings_, groups=groups, names=names, positions=rows, embedded=embedded
            )
        else:
            issues = find_overlaps(self.ratings_) + find_blocks(self.ratings_, rows)
            self.issues_ = sorted(issues, key=lambda issue: -issue.score)
        return self

    @classmethod
    def from_ratings(
        cls, ratings: Ratings, model: ErrorModel, verified: VerifiedLabels
    ) -> LabelAudit:
        """Return the audit that ratings made elsewhere are of; nothing is fitted.

        Parameters
        ----------
        ratings : Ratings
            What it says without verified labels.
        model : ErrorModel
            Its error probabilities.
        verified : VerifiedLabels
            What a person has found.
        """
        audit = cls()
        audit.classes_, audit.out_of_sample_proba_ = ratings.classes, ratings.proba
        audit.forest_, audit.in_bag_, audit.priors_ = None, None, ()
        audit.issues_, audit._row_names, audit.consensus_record_ = [], None, None
        audit._set_verified(verified, ratings.given)
        audit._unverified, audit.error_model_ = ratings, model
        audit._set_ratings(*audit.rated_with(verified))
        return audit

    def rated_with(self, verified: VerifiedLabels) -> tuple[Ratings, AuditSummary]:
        """Return ratings and summary with these verified labels; no tree is grown.

        Parameters
        ----------
        verified : VerifiedLabels
            All that are known now. The trees have learnt those that `fit` was given.
        """
        return rated_with(self.error_model_, self._unverified, verified)

    def _set_verified(self, verified: VerifiedLabels, codes: np.ndarray) -> None:
        self.learnt_ = codes.copy()
        self.learnt_[verified.rows] = verified.truth
        self.at_random_ = np.zeros(len(codes), dtype=bool)
        self.at_random_[verified.rows] = verified.at_random

    def _set_ratings(self, ratings: Ratings, summary: AuditSummary) -> None:
        """Set the attributes that hold the ratings, with class labels for their numbers."""
        self.ratings_, self._summary = ratings, summary
        self.noise_matrix_ = noise_matrix(ratings)
        self.given_label_ = ratings.classes[ratings.given]
        self.predicted_label_ = ratings.classes[ratings.predicted]
        self.label_quality_, self.error_proba_ = ratings.label_quality, ratings.error_proba
        self.verdict_, self.verified_ = ratings.verdicts, ratings.verified
        self.is_label_issue_ = ratings.is_suspect
        occur_once = np.bincount(ratings.given)[ratings.given] == 1
        self.alone_ = occur_once & ~ratings.verified

    def _grow(self, X: np.ndarray, units: np.ndarray | None, n_threads: int) -> None:
        settings = self._settings(*X.shape)
        n_classes = len(self.classes_)
        grown = grow_forest(X, self.learnt_, n_classes, settings, groups=units, n_threads=n_threads)
        self.forest_, self.in_bag_, self.priors_ = grown.forest, grown.in_bag, settings.priors
        self.out_of_sample_proba_ = self.forest_.posterior(X, n_threads, self.in_bag_)

    def _settings(self, n_samples: int, n_features: int) -> ForestSettings:
        most = min(MAX_TREE_ROWS, max(MAX_TREE_VALUES // n_features, LEAST_TREE_ROWS))
        share = min(TREE_SHARE, most / n_samples)
        # Rounded up to 100 where trees have the default fraction.
        votes = VOTES_PER_LABEL / (1 - share)
        n_estimators = self.n_estimators or (100 if share == TREE_SHARE else math.ceil(votes))
        seed = int(check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64))
        two = len(self.classes_) <= 2
        # Of few labels, the class means alone: more candidates would fit wrong labels.
        if n_samples <= (FEW_LABELS_OF_TWO_CLASSES if two else FEW_LABELS):
            return ForestSettings(n_estimators, share, seed=seed)
        # A direction between two of many classes says little about the others; axes do.
        return ForestSettings(
            n_estimators,
            share,
            n_directions=6 if two else 2,
            n_axes=0 if two else 8,
            n_thresholds=8,
            split_alpha=0.1,
            priors=(Prior(0.1, 0.9),),
            seed=seed,
        )

    @property
    def issues(self) -> pd.DataFrame:
        """Further issues to check, the worst first, as a table."""
        check_is_fitted(self)
        import pandas as pd

        columns = ["kind", "score", "rows", "columns", "classes", "message"]
        rows = [[getattr(issue, name) for name in columns] for issue in self.issues_]
        return pd.DataFrame(rows, columns=columns)

    def next_to_review(self, n: int, *, random_fraction: float = 0.0, index: Any = None):
        """Return which rows to verify next.

        Parameters
        ----------
        n : int
            How many.
        random_fraction : float, default=0.0
            Share of them drawn at random, all along the order, instead of the
            worst first. Half of each finds wrong labels, and estimates how many there
            are with an interval.
        index : sequence, default=None
            Names of the samples; None means those of X, or else their numbers.

        Returns
        -------
        DataFrame
            By row: ``given_label``, ``predicted_label``, ``verdict``, ``error_probability``,
            ``drawn``. Enter the true labels as ``label`` and pass it as ``verified``.
        """
        if n < 1:
            raise ValueError(f"n={n!r}: ask for one row or more.")
        if not 0 <= random_fraction <= 1:
            raise ValueError(f"random_fraction={random_fraction!r} must lie between 0 and 1.")
        # The seed depends on the number of verified rows, so that the next sample is another.
        check_is_fitted(self)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        random = np.random.RandomState((seed + int(self.verified_.sum())) % 2**32)
        rows, drawn = next_rows(self.ratings_, n, random_fraction, random)
        names = self._row_names if index is None else index
        return self.ratings_.to_frame(names).iloc[rows][_SHOWN].assign(drawn=drawn)

    def summary(self) -> AuditSummary:
        """Return how many labels are wrong, in which range, and what the figures rest on."""
        check_is_fitted(self)
        return self._summary

    def expected_errors(self, *counts: int) -> dict[int, float]:
        """Return how many wrong labels the next rows hold, worst first.

        Parameters
        ----------
        *counts : int
            Numbers of rows; none means 20, 50 and 100.
        """
        check_is_fitted(self)
        return expected_errors(self.ratings_, counts) if counts else expected_errors(self.ratings_)

    def fit_resample(self, X, y):
        """Return the samples without the suspects, or with predicted labels in their place.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Inputs, as for `fit`.
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
            self.sample_indices_ = np.arange(len(self.given_label_))
            labels = np.where(self.is_label_issue_, self.predicted_label_, self.given_label_)
            return X, _with_values(y, labels)
        self.sample_indices_ = np.flatnonzero(~self.is_label_issue_)
        kept = self.sample_indices_
        return take_rows(X, kept), take_rows(y, kept)

    def to_frame(self, index: Any = None) -> pd.DataFrame:
        """Return one row per sample, worst first, with the noise estimate in ``attrs``.

        Parameters
        ----------
        index : sequence, default=None
            Names of the samples; None means those of X, or else their numbers.

        Returns
        -------
        DataFrame
            Columns ``given_label``, ``predicted_label``, ``verdict``, ``error_probability``,
            ``label_quality``, ``is_label_issue``, ``verified``; open labels by error
            probability, then verified ones, then those that cannot be rated. ``attrs`` hold
            the figures of `summary`.
        """
        check_is_fitted(self)
        names = self._row_names if index is None else index
        is_annotated = self.consensus_record_ is not None
        table = self._consensus_frame(names) if is_annotated else self.ratings_.to_frame(names)
        table = table.iloc[self.ratings_.worst_first]
        table.attrs = self._summary.to_dict()
        return table

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def input_names(preprocessor: TablePreprocessor) -> list[str | tuple[str, str]]:
    """Return the names of inputs for messages; (column, category) for one of zeros and ones.

    Parameters
    ----------
    preprocessor : TablePreprocessor
        Fitted; it makes the inputs.
    """
    names: list[str | tuple[str, str]] = []
    for output in preprocessor.outputs():
        name: Any = output.name_for(output.column)
        if output.kind == CATEGORY:
            name = (output.column, output.detail)
        elif output.kind == TARGET_SHARE:
            name = f"share of {output.detail} by {output.column}"
        names.append(name)
    return names


def find_issues(
    X: np.ndarray,
    ratings: Ratings,
    *,
    groups: Any = None,
    names: Sequence[str | tuple[str, str]] | None = None,
    positions: Any = None,
    embedded: EmbeddedRows | None = None,
) -> list[Issue]:
    """Return further issues to check, beside single labels, the worst first.

    Nothing is fitted again: labels were rated, and rows are compared.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The inputs that were audited.
    ratings : Ratings
        What the audit says about each label.
    groups : array-like of shape (n_rows,), default=None
        Group of each row, such as a patient or the part of a split; equal rows in two groups
        are reported. None means that there are no groups.
    names : sequence of str or tuple, default=None
        Names of the features; (column, category) for one of zeros and ones. None numbers them.
    positions : array-like of shape (n_rows,), default=None
        Where each row is in its file, which is also how it is named; None means in the
        order they have, from 0.
    embedded : EmbeddedRows, default=None
        The rows as points, if they are known already.

    Returns
    -------
    list of Issue
        Of the kinds "contradictory duplicates", "duplicates across groups", "outlier",
        "overlapping classes", "doubtful block" and "target leakage".

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.audit import LabelAudit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> X[7], y[7] = X[3], 1 - y[3]  # one of the two is wrong
    >>> X[11, 2] = 200  # two digits too many
    >>> audit = LabelAudit(random_state=0).fit(X, y)
    >>> for issue in find_issues(X, audit.ratings_, names=["age", "height", "weight"]):
    ...     print(issue.kind, issue.rows)
    outlier (11,)
    contradictory duplicates (3, 7)
    """
    n_rows, n_features = X.shape
    if positions is not None:
        positions = np.asarray(positions)
        if positions.shape != (n_rows,):
            raise ValueError(
                f"rows has shape {positions.shape}, and X has {n_rows} rows; give one number for "
                "each row."
            )
    if names is None:
        names = [f"column {j}" for j in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"names has {len(names)} names, and X has {n_features} columns.")
    shown = [name if isinstance(name, str) else f"{name[0]} = {name[1]}" for name in names]
    sources = [name if isinstance(name, str) else name[0] for name in names]
    embedded = embed_rows(X) if embedded is None else embedded
    close = close_rows(X, embedded)
    found = find_mixed(close, ratings.classes[ratings.believed], CONTRADICTION, positions)
    if groups is not None:
        found += find_mixed(close, np.asarray(groups), SHARED, positions)
    found += find_outliers(X, embedded, shown, positions)
    found += find_overlaps(ratings)
    found += find_blocks(ratings, positions)
    found += find_leaks(X, ratings.believed, ratings.classes, shown, embedded.sample, sources)
    return sorted(found, key=lambda issue: -issue.score)


def audit_labels(
    X: Any,
    y: Any = None,
    *,
    task: str = "classification",
    verified: Any = None,
    groups: Any = None,
    times: Any = None,
    proba: Any = None,
    annotations: Any = None,
    n_estimators: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Rate every label of a table, and list the labels that are probably wrong first.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or a table
        Numbers, of which some may be missing. Or a table as it comes: a path, a frame of pandas
        or polars, an Arrow table, a list of dicts, a dict of columns; its cells are read as
        `TableClassifier` reads them, and a column that is left out is warned of. Or a Dask array
        or DataFrame of numbers, with y in blocks too: see `DaskLabelAudit`. None, with ``proba``,
        rates labels without inputs.
    y : array-like of shape (n_samples,), or str
        Labels, or the column of the table that holds them.
    task : {"classification", "regression"}, default="classification"
        Whether labels are classes or numbers. Numbers are rated by an RVFL ensemble fitted
        without their row (exact leave-one-out); the options of classes are refused then.
    verified : mapping, Series, DataFrame or array-like, default=None
        True labels that a person has confirmed or corrected, by row, see
        `LabelAudit.fit`. They are never called wrong, teach the forest, and say how many
        labels are wrong.
    groups : array-like of shape (n_samples,) or str, default=None
        Samples of one group, such as a patient, are rated by trees that saw none of it.
        A text names a column of the table, which is no input then.
    times : array-like of shape (n_samples,) or str, default=None
        When each sample came: it is rated by trees grown on other periods. A
        text names a column of the table.
    proba : array-like of shape (n_samples, n_classes), default=None
        Class probabilities of another model, of samples that it did not see
        (`out_of_sample_proba`); no forest is grown then. An array has its columns in the order
        of the sorted classes; a frame is aligned by its column names, see `LabelAudit.fit`.
    annotations : DataFrame or array-like of shape (n_samples, n_annotators), default=None
        In the place of y, labels by several annotators: one column for each, missing where one
        was not asked; or a frame with the columns ``row``, ``annotator`` and ``label``.
    n_estimators : int or None, default=None
        Trees of the ball forest; None takes enough for the data's size.
    random_state : int, RandomState or None, default=None
        The same number gives the same audit, whatever `n_jobs` is.
    n_jobs : int or None, default=None
        Threads; None means 1 and -1 all cores.

    Returns
    -------
    DataFrame
        Indexed like X or y, sorted worst first: ``given_label``, ``predicted_label``, ``verdict``
        ("wrong", "suspect", "outlier", "fine", "unknown"), ``error_probability``,
        ``label_quality`` (the probability of the given label; NaN, last, where it cannot be
        known), ``is_label_issue`` (as many labels as are expected to be wrong, the most
        probable ones), ``verified``. Its ``attrs`` hold what `LabelAudit.summary` says:
        ``n_labels``, ``n_errors``, ``noise_rate`` from ``noise_low`` to ``noise_high``, what
        it rests on (``basis``), ``expected_errors`` among the next rows, ``message`` and the
        counts of verified labels; of a raw table also its ``warnings``, worth reading before
        the rest. For Dask collections a lazy table in the order and the blocks of X, by
        number of the row, without ``verified`` and ``expected_errors``.

        Of annotations: ``consensus_label``, ``error_probability``, ``n_annotations``, ``agreement``
        (the share of annotators who say the same), ``source`` ("annotators"; "inputs", where
        nobody gave a label; "verified"), ``verdict``, ``is_label_issue``, ``verified``.

        Of numbers: ``given_label``, ``predicted_label`` (without the row), ``low`` and ``high``
        (about 95 % of right values lie between them), ``error_probability``,
        ``is_label_issue`` (as many values as are expected to be wrong). ``attrs`` hold
        ``n_labels``, ``n_errors``, ``noise_rate``, ``expected_errors``, ``message``,
        ``explained`` (R squared of the prediction without the row) and ``warnings``. Where
        ``explained`` is below 0.05 nothing can be judged: there is a warning, and probabilities
        are NaN.

    See Also
    --------
    granulearn.LabelAudit : The same as an object, which keeps everything.
    granulearn.Review : Leads through the doubtful labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from granulearn.audit import audit_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> y[10] = 2  # a wrong label
    >>> table = audit_labels(X, y, random_state=0)
    >>> int(table.index[0]), table["verdict"].iloc[0]
    (10, 'wrong')

    Numbers:

    >>> from sklearn.datasets import load_diabetes
    >>> X_numbers, numbers = load_diabetes(return_X_y=True)
    >>> numbers[10] = 1010.0  # a slipped point: it was 101
    >>> table = audit_labels(X_numbers, numbers, task="regression", random_state=0)
    >>> int(table.index[0]), bool(table["is_label_issue"].iloc[0])
    (10, True)

    In blocks, on whatever cluster Dask has:

    >>> import dask.array as da
    >>> blocks = audit_labels(da.from_array(X, chunks=50), da.from_array(y, chunks=50))
    >>> blocks.npartitions, blocks["verdict"].compute()[10]
    (3, 'wrong')
    """
    known = {"verified": verified, "groups": groups, "times": times, "proba": proba}
    if task not in TASKS:
        raise ValueError(f"task={task!r} must be one of {', '.join(TASKS)}.")
    if task == "regression":
        options = {**known, "annotations": annotations, "n_estimators": n_estimators}
        refused = [name for name, value in options.items() if value is not None]
        if refused:
            raise ValueError(f"{', '.join(refused)}: for classes only; leave it out.")
        from granulearn.audit.regression import audit_regression

        return audit_regression(X, y, random_state=random_state, n_jobs=n_jobs)
    if hasattr(X, "__dask_graph__"):
        if annotations is not None:
            raise ValueError("annotations need all rows in memory; pass X and them as frames.")
        from granulearn.dask.audit import audit_collection

        return audit_collection(X, y, known, n_estimators=n_estimators, random_state=random_state)
    settings = {"n_estimators": n_estimators, "random_state": random_state, "n_jobs": n_jobs}
    if annotations is not None:
        return LabelAudit(**settings).fit(X, y, annotations=annotations, **known).to_frame()
    by_name = any(isinstance(value, str) for value in (y, groups, times))
    if not by_name and not is_raw_table(X):
        return LabelAudit(**settings).fit(X, y, **known).to_frame()
    from granulearn.audit.table_audit import audit_raw_table

    return audit_raw_table(X, y, known, **settings)


def _with_values(y: Any, values: np.ndarray) -> Any:
    """Return values in the type of y."""
    if hasattr(y, "iloc") and getattr(y, "ndim", 0) == 1:
        return type(y)(values, index=y.index, name=y.name).astype(y.dtype)
    return values
