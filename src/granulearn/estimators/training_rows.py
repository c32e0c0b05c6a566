"""From what the user passes to `fit` to the weighted rows that are regressed on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array, check_consistent_length

from granulearn.balls import BallSet
from granulearn.memberships.base import check_memberships


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples that count, checked: those of weight zero are left out."""

    X: np.ndarray
    """(m, d) inputs."""
    codes: np.ndarray
    """(m,) class of each sample, as an index into the classes of y."""
    weights: np.ndarray | None
    """(m,) positive sample weights; None means one for each."""
    memberships: np.ndarray | None
    """(m,) memberships in [0, 1] that the user gave; None means none were given."""
    positions: np.ndarray | slice
    """Where these samples stand among those passed to `fit`."""
    n_passed: int
    """How many samples were passed to `fit`."""

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


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows of the regression, whatever the width, activation or penalty.

    Rows are samples, or the centres of balls.
    """

    X: np.ndarray
    """(k, d) inputs."""
    codes: np.ndarray
    """(k,) class of each row."""
    weights: np.ndarray | None
    """(k,) weight of each row's squared error; None means one for each."""
    balls: BallSet | None = None
    membership: np.ndarray | None = None


def check_fit_samples(X, codes, sample_weight, sample_membership) -> Samples:
    """Check what describes the samples of an already checked X.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    codes : ndarray of shape (n_samples,)
        Class of each sample.
    sample_weight : float, array-like of shape (n_samples,) or None
        Not negative, not all zero.
    sample_membership : array-like of shape (n_samples,) or None
        Numbers in [0, 1], not all zero.
    """
    samples = samples_that_count(X, codes, sample_weight, sample_membership)
    check_enough_to_learn(
        n_classes=int(np.count_nonzero(np.bincount(samples.codes))),
        any_membership=sample_membership is None or bool(np.any(sample_membership)),
    )
    return samples


def samples_that_count(X, codes, sample_weight, sample_membership) -> Samples:
    """Check each value that describes a sample, and leave out samples of weight zero.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    codes : ndarray of shape (n_samples,)
        Class of each sample.
    sample_weight : float, array-like of shape (n_samples,) or None
        Not negative.
    sample_membership : array-like of shape (n_samples,) or None
        Numbers in [0, 1].
    """
    memberships = None
    if sample_membership is not None:
        memberships = check_memberships(sample_membership, len(X), "sample_membership")
    everything = Samples(X, codes, None, memberships, slice(None), len(X))
    if sample_weight is None:
        return everything
    weights = _check_weights(sample_weight, len(X))
    everything = replace(everything, weights=weights)
    return everything if weights.all() else everything.take(np.flatnonzero(weights))


def check_enough_to_learn(*, n_classes: int, any_membership: bool) -> None:
    """Raise unless two classes have samples of positive weight, some of them trusted.

    Parameters
    ----------
    n_classes : int
        Classes with samples of positive weight.
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


def _check_weights(sample_weight, n_samples: int) -> np.ndarray:
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
    return weights


def sample_rows(samples: Samples) -> TrainingRows:
    """Return one row per sample; a membership counts squared, as in the paper."""
    memberships = samples.memberships
    trust = None if memberships is None else memberships**2
    return TrainingRows(samples.X, samples.codes, multiply_weights(samples.weights, trust))


def multiply_weights(*factors: np.ndarray | None) -> np.ndarray | None:
    """Return the product of those factors that are not None; None when all are."""
    given = [factor for factor in factors if factor is not None]
    return np.prod(given, axis=0) if given else None


def with_class_weight(rows: TrainingRows, class_weight, classes: np.ndarray) -> TrainingRows:
    """Multiply each row's weight by that of its class.

    ``"balanced"`` gives every class that has rows the same total weight.
    """
    if class_weight is None:
        return rows
    totals = np.bincount(rows.codes, rows.weights, minlength=len(classes))
    by_class = weight_of_each_class(class_weight, classes, totals)
    return replace(rows, weights=multiply_weights(rows.weights, by_class[rows.codes]))


def weight_of_each_class(class_weight, classes: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the factor on the weight of each class's rows.

    Parameters
    ----------
    class_weight : dict or "balanced"
        As the classifiers take it.
    classes : ndarray of shape (n_classes,)
        The class labels.
    totals : ndarray of shape (n_classes,)
        Weight that the rows of each class have together.
    """
    if class_weight != "balanced":
        return compute_class_weight(class_weight, classes=classes, y=classes)
    present = totals > 0
    by_class = np.zeros(len(classes))
    by_class[present] = totals.sum() / (present.sum() * totals[present])
    return by_class


@dataclass(frozen=True)
class Seeds:
    """Independent streams: how many numbers one stage draws changes no other."""

    network: int
    balls: int


def draw_seeds(random_state) -> Seeds:
    """Derive the seeds of all stages from the one that the user sets."""
    network, balls = check_random_state(random_state).randint(2**31 - 1, size=2)
    return Seeds(int(network), int(balls))
