"""Checks of the arguments of `fit`: inputs, labels, weights and memberships."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_X_y
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

# A weight above one repeats a sample; more repetitions than this, on average, are a mistake.
MAX_REPETITION = 100
SPARSE = (
    "X is sparse, and must be dense; pass X.toarray(), or, if that is too large, fewer columns, "
    "for instance of sklearn.decomposition.TruncatedSVD."
)
LARGEST_WEIGHT = 1e100
"""Of a sample, or of a class: products and sums of weights and squares must stay finite."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Labelled samples, checked and encoded, so that later stages need no checks.

    There are ``m`` samples of ``d`` features and ``K`` classes. `check_samples`
    makes them, and a function of `Samples` can serve as a ball generator.

    Examples
    --------
    >>> from granulearn.utils.validation import check_samples
    >>> samples = check_samples([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> samples.codes.tolist(), samples.classes.tolist()
    ([0, 0, 1], ['a', 'b'])
    """

    X: np.ndarray
    """(m, d) inputs: finite, float32 or float64, row by row in memory."""
    codes: np.ndarray
    """(m,) class of each sample, as an index into `classes`."""
    classes: np.ndarray
    """(K,) the class labels, sorted."""
    weights: np.ndarray | None
    """(m,) sample weights, not negative; None means one for each."""
    memberships: np.ndarray | None
    """(m,) memberships in [0, 1] that the user gave; None means none were given."""
    positions: np.ndarray | slice
    """Positions of these samples among those passed to `fit`."""
    n_passed: int
    """Number of samples passed to `fit`."""

    def __len__(self) -> int:
        return len(self.X)

    def take(self, index: np.ndarray) -> Samples:
        """Return the samples of an index array, in its order, with repetitions."""
        return replace(
            self,
            X=self.X[index],
            codes=self.codes[index],
            weights=None if self.weights is None else self.weights[index],
            memberships=None if self.memberships is None else self.memberships[index],
            positions=np.arange(self.n_passed)[self.positions][index],
        )

    def that_count(self) -> Samples:
        """Return the samples of positive weight."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))

    def for_balls(self) -> Samples:
        """Return the samples that balls are made of, and only classes that occur.

        Samples of positive weight are kept and repeated by weight. They are ordered by their
        projection on some direction, so that the same samples in another order make the same balls.
        """
        counting = self.that_count()
        direction = np.random.default_rng(0).standard_normal(counting.X.shape[1])
        with np.errstate(all="ignore"):
            order = np.lexsort((counting.codes, counting.X @ direction))
        if counting.weights is not None:
            order = np.repeat(order, repetitions(counting.weights[order]))
        counting = counting.take(order)
        present, codes = np.unique(counting.codes, return_inverse=True)
        codes = codes.astype(counting.codes.dtype)
        return replace(counting, codes=codes, classes=self.classes[present])


def check_samples(
    X: Any,
    y: Any,
    estimator: BaseEstimator | str = "generate_balls",
    sample_weight: Any = None,
    sample_membership: Any = None,
) -> Samples:
    """Check and encode all that describes labelled samples, once.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Labels of two or more classes.
    estimator : estimator or str, default="generate_balls"
        The caller, for messages. An estimator also gets ``n_features_in_`` and
        ``feature_names_in_``.
    sample_weight : float, array-like of shape (n_samples,) or None, default=None
        Not negative, and positive for samples of two or more classes.
    sample_membership : array-like of shape (n_samples,) or None, default=None
        Numbers in [0, 1], not all zero.

    Examples
    --------
    >>> from granulearn.utils.validation import check_samples
    >>> len(check_samples([[0.0], [1.0], [5.0]], ["a", "a", "b"], sample_weight=[1, 2, 0.5]))
    3
    """
    X, y = check_inputs(X, y, estimator)
    samples = describe_samples(X, *encode_labels(y), sample_weight, sample_membership)
    if len(samples.classes) < 2:
        raise ValueError(
            f"y holds only one class ({samples.classes.tolist()[0]!r}), and there must be two or "
            "more to tell apart; check that y is the column of labels."
        )
    weights, memberships = samples.weights, samples.memberships
    counting = samples.codes if weights is None else samples.codes[weights > 0]
    check_enough_to_learn(
        n_classes=int(np.count_nonzero(np.bincount(counting))),
        any_membership=memberships is None or bool(memberships.any()),
    )
    class_cost = getattr(estimator, "class_cost", None)
    if isinstance(class_cost, dict):  # used after the fit, but checked before it
        _check_class_cost(class_cost, samples.classes)
    return samples


def check_inputs(
    X: Any, y: Any, estimator: BaseEstimator | str, **wanted: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets as scikit-learn checks them; a column of text is named."""
    wanted = {"dtype": [np.float64, np.float32], "order": "C", **wanted}
    try:
        if isinstance(estimator, str):
            return check_X_y(X, y, estimator=estimator, **wanted)
        return validate_data(estimator, X, y, **wanted)
    except ValueError as error:
        column = _first_text_column(X)
        if column is None and str(error).startswith("Input X contains NaN"):
            raise ValueError(
                "Input X contains NaN, a missing cell; fill it by TablePreprocessor, or use "
                "TableClassifier, which does."
            ) from error
        if column is None:
            raise
        raise ValueError(
            f"column {column!r} of X holds text, and inputs must be numbers; encode it by "
            "TablePreprocessor, use TableClassifier, or leave it out."
        ) from error


def _first_text_column(X: Any) -> str | int | None:
    """Return the name of the first column of a table without numbers; None if there is none."""
    if not hasattr(X, "columns"):
        return None
    for name in X.columns:
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            return name
    return None


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each label's index into the sorted classes, and the classes."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int32), classes


def describe_samples(
    X: np.ndarray,
    codes: np.ndarray,
    classes: np.ndarray,
    sample_weight: Any = None,
    sample_membership: Any = None,
) -> Samples:
    """Return `Samples` of checked inputs and labels; weights and memberships are checked here.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    codes : ndarray of shape (n_samples,)
        Class of each sample, as an index into `classes`.
    classes : ndarray of shape (n_classes,)
        The class labels, sorted.
    sample_weight : float, array-like of shape (n_samples,) or None, default=None
        Not negative.
    sample_membership : array-like of shape (n_samples,) or None, default=None
        Numbers in [0, 1].
    """
    memberships = None
    if sample_membership is not None:
        memberships = check_memberships(sample_membership, len(X), "sample_membership")
    weights = None if sample_weight is None else check_weights(sample_weight, len(X))
    return Samples(X, codes, classes, weights, memberships, slice(None), len(X))


def check_weights(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Return one weight per sample, none negative or huge; a number is the weight of each."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError(
            f"sample_weight must be one number per sample, got shape {weights.shape}; "
            "pass a one-dimensional array."
        )
    check_consistent_length(weights, np.empty(n_samples))
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative, got {weights.min():g}; "
            "use 0 to leave a sample out."
        )
    if (weights > LARGEST_WEIGHT).any():
        raise ValueError(
            f"sample_weight must be at most {LARGEST_WEIGHT:g}, got {weights.max():g}; divide it "
            "so that a typical weight is near one."
        )
    return weights


def check_memberships(values: Any, expected_length: int, origin: str) -> np.ndarray:
    """Return `values` as floats in [0, 1], one for each of `expected_length` items."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (expected_length,):
        raise ValueError(
            f"{origin}: expected {expected_length} memberships in one dimension, "
            f"got an array of shape {values.shape}; give exactly one number for each."
        )
    outside = ~((values >= 0) & (values <= 1))  # also true where a value is NaN
    if outside.any():
        raise ValueError(
            f"{origin}: memberships must lie in [0, 1], got {values[outside][0]:g} at position "
            f"{np.flatnonzero(outside)[0]} ({outside.sum()} such values); rescale them."
        )
    return values


def check_enough_to_learn(*, n_classes: int, any_membership: bool) -> None:
    """Raise unless two classes have samples of positive weight, some of them trusted.

    Parameters
    ----------
    n_classes : int
        Number of classes with samples of positive weight.
    any_membership : bool
        Whether a sample has a membership above zero, or none were given.
    """
    if not any_membership:
        raise ValueError(
            "sample_membership is zero for every sample, so nothing is left to learn from; "
            "trust at least some samples."
        )
    if n_classes == 0:
        raise ValueError(
            "sample_weight is zero for every sample, so nothing is left to learn from; "
            "at least some weights must be positive."
        )
    if n_classes == 1:
        raise ValueError(
            "only one class has samples of positive sample_weight, and a classifier needs two or "
            "more classes; give samples of other classes weight too."
        )


def repetitions(weights: np.ndarray) -> np.ndarray:
    """Return how many samples each weight w stands for: round(w), at least one; zero for zero.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,)
        Not negative.
    """
    counts = np.where(weights > 0, np.maximum(np.rint(weights), 1), 0)
    if counts.sum() > MAX_REPETITION * np.count_nonzero(counts):
        raise ValueError(
            f"sample_weight stands for repeated samples in a ball model, and its mean is "
            f"{weights.mean():g}; divide it so that a typical weight is near one."
        )
    return counts.astype(np.intp)


def _check_class_cost(class_cost: dict, classes: np.ndarray) -> None:
    """Raise for costs of unknown classes, and for costs that are no finite number or negative."""
    for label in class_cost.keys() - {*classes.tolist()}:
        raise ValueError(f"class_cost names {label!r}, no class of y; name some of {classes}.")
    weight_of_each_class(class_cost, classes, np.ones(len(classes)), "class_cost")


def weight_of_each_class(
    class_weight, classes: np.ndarray, totals: np.ndarray, name: str = "class_weight"
) -> np.ndarray:
    """Return the factor on the weight of each class's rows.

    Parameters
    ----------
    class_weight : dict or "balanced"
        As the classifiers take it; "balanced" gives every class that has rows
        the same total weight.
    classes : ndarray of shape (n_classes,)
        The class labels.
    totals : ndarray of shape (n_classes,)
        Total weight of each class's rows.
    name : str, default="class_weight"
        The parameter, for messages.
    """
    if class_weight != "balanced":
        _check_class_weight(class_weight, name)
        by_class = compute_class_weight(class_weight, classes=classes, y=classes)
        if not by_class.any():
            raise ValueError(f"{name} is zero for every class; some must have a positive one.")
        return by_class
    present = totals > 0
    by_class = np.zeros(len(classes))
    by_class[present] = totals.sum() / (present.sum() * totals[present])
    return by_class


def total_weights(class_weight, samples: Samples) -> np.ndarray:
    """Return the weight of each sample, times the factor of its class."""
    weights = np.ones(len(samples)) if samples.weights is None else samples.weights
    if class_weight is None:
        return weights
    totals = np.bincount(samples.codes, weights, minlength=len(samples.classes))
    return weights * weight_of_each_class(class_weight, samples.classes, totals)[samples.codes]


def _check_class_weight(class_weight: dict, name: str) -> None:
    """Raise for a weight that is no finite number, a negative or a huge one."""
    for label, weight in class_weight.items():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not is_number or not 0 <= weight <= LARGEST_WEIGHT:
            raise ValueError(
                f"{name} must give numbers from 0 to {LARGEST_WEIGHT:g}, got {weight!r} for "
                f"class {label!r}; use 0 to leave a class out."
            )


def ranks_of(values: Any, name: str, n_samples: int, is_order: bool = True) -> np.ndarray:
    """Return the rank of each value among the distinct ones; refuse missing values.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Groups or times.
    name : str
        Name of the argument.
    n_samples : int
        Number of samples.
    is_order : bool, default=True
        Whether the order of values matters, so that they must have one.
    """
    import pandas as pd

    column = pd.Series(np.asarray(values, dtype=None) if not hasattr(values, "iloc") else values)
    if len(column) != n_samples:
        raise ValueError(f"{name} has {len(column)} entries and there are {n_samples} samples.")
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(f"{name} has {n_missing} missing entries; fill them or drop the rows.")
    try:
        ranks = pd.factorize(column, sort=is_order)[0]
    except TypeError as error:
        raise ValueError(f"{name} holds values that cannot be ordered: {error}.") from error
    if is_order and ranks.max(initial=0) == 0:
        raise ValueError(f"{name} has the same value everywhere, and so no order.")
    return ranks.astype(np.intp)
