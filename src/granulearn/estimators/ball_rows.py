"""From samples to weighted balls: the rows that ball classifiers regress on."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from granulearn.balls import BallSet, generate_balls
from granulearn.estimators.training_rows import Samples, TrainingRows, multiply_weights
from granulearn.memberships import GivenMembership, Membership, resolve_membership

# Weights above one are repetitions; far more of them than samples are a mistake.
MAX_REPETITION = 100


def ball_rows(samples: Samples, membership, classes: np.ndarray, **ball_settings) -> TrainingRows:
    """Make balls of the samples, rate them, and return one row per ball.

    A sample of weight w counts as round(w) samples, at least one, each trusted
    as far as min(w, 1) goes: integer weights are repeated rows, and weights
    below one reach the ridge as the mean over the ball.

    Parameters
    ----------
    samples : Samples
        Checked samples.
    membership : str, Membership or callable
        How balls are rated; overruled by memberships that samples came with.
    classes : ndarray
        The labels that the samples' codes stand for.
    **ball_settings
        Passed to `generate_balls`.
    """
    scheme = resolve_membership(membership)
    repeated = in_ball_order(samples)
    balls = generate_balls(repeated.X, repeated.codes, **ball_settings)
    codes = balls.classes[balls.labels]
    check_classes_kept(
        classes,
        present=np.unique(repeated.codes),
        of_balls=np.unique(codes),
        dropped=np.unique(repeated.codes[balls.assignment < 0]),
        min_ball_size=ball_settings["min_ball_size"],
    )
    if repeated.memberships is not None:
        scheme = GivenMembership(repeated.memberships)
    delta = scheme(balls, repeated.X, repeated.codes)
    trust = trust_of_weights(balls, repeated)
    return rated_rows(for_user(balls, repeated, classes), codes, trust, delta, scheme)


def in_ball_order(samples: Samples) -> Samples:
    """Return the samples as balls are made of them: repeated by weight, in canonical order."""
    ordered = samples.take(_canonical_order(samples))
    return ordered if ordered.weights is None else ordered.take(_repetitions(ordered.weights))


def rated_rows(
    balls: BallSet,
    codes: np.ndarray,
    trust: np.ndarray | None,
    delta: np.ndarray,
    scheme: Membership,
) -> TrainingRows:
    """Return one row per ball, weighted by its membership and the weights of its samples.

    Parameters
    ----------
    balls : BallSet
        The balls.
    codes : ndarray of shape (n_balls,)
        Class of each ball, as an index into the model's classes.
    trust : ndarray of shape (n_balls,) or None
        As `trust_of_weights` returns it.
    delta : ndarray of shape (n_balls,)
        Membership of each ball.
    scheme : Membership
        What gave them; named in the message when all are zero.
    """
    _check_some_trust(delta, scheme)
    weights = multiply_weights(trust, _squares(delta))
    return TrainingRows(balls.centers, codes, weights, balls, delta)


def _canonical_order(samples: Samples) -> np.ndarray:
    """Return an order that depends on the rows, not on how they were arranged.

    Seeding draws rows by their position, so without it a permutation of the
    data would be another data set.
    """
    first = samples.X[:, 0]
    order = np.argsort(first)
    if (np.diff(first[order]) > 0).all():  # no ties: the other columns change nothing
        return order
    return np.lexsort((samples.codes, *samples.X.T[::-1]))


def _repetitions(weights: np.ndarray) -> np.ndarray:
    counts = np.maximum(np.rint(weights), 1)
    if counts.sum() > MAX_REPETITION * len(counts):
        raise ValueError(
            f"sample_weight stands for repeated samples in a ball model, and its mean is "
            f"{weights.mean():g}; divide it so that a typical weight is near one."
        )
    return np.repeat(np.arange(len(counts)), counts.astype(np.intp))


def trust_of_weights(balls: BallSet, samples: Samples) -> np.ndarray | None:
    """Return the mean over each ball of the weights below one; None if there are no weights."""
    if samples.weights is None:
        return None
    return balls.sample_mean(np.minimum(samples.weights, 1))


def _squares(delta: np.ndarray) -> np.ndarray | None:
    """Return the weights that memberships stand for; None, the cheap way, for all ones."""
    return None if (delta == 1).all() else delta**2


def check_classes_kept(
    classes: np.ndarray,
    *,
    present: np.ndarray,
    of_balls: np.ndarray,
    dropped: np.ndarray,
    min_ball_size: int,
) -> None:
    """Raise when a class lost all its balls for their size, warn when to other classes.

    Parameters
    ----------
    classes : ndarray
        The labels that the codes stand for.
    present, of_balls, dropped : ndarray of int
        Codes of the samples, of the balls' labels, and of the samples in dropped balls.
    min_ball_size : int
        Below which balls were dropped.
    """
    lost = np.setdiff1d(present, of_balls)
    if len(lost) == 0:
        return
    dropped_classes = np.intersect1d(lost, dropped)
    if len(dropped_classes):
        raise ValueError(
            f"every ball of class {classes[dropped_classes].tolist()} has fewer than "
            f"min_ball_size={min_ball_size} samples and was dropped, so nothing is left to learn "
            "it from; lower min_ball_size."
        )
    if len(of_balls) > 1:
        warnings.warn(
            f"class {classes[lost].tolist()} is the majority of no ball and will hardly be "
            "predicted; raise purity to get smaller balls.",
            UserWarning,
            stacklevel=2,
        )


def _check_some_trust(delta: np.ndarray, scheme: Membership) -> None:
    if not delta.any():
        raise ValueError(
            f"{scheme!r} gives every one of the {len(delta)} balls membership zero, so nothing is "
            "left to learn from; use another membership, for instance SDAPMembership(spread='rms')."
        )


def for_user(balls: BallSet, samples: Samples, classes: np.ndarray) -> BallSet:
    """Return the balls with the user's labels, and one assignment per sample passed to fit."""
    assignment = np.full(samples.n_passed, -1)
    assignment[samples.positions] = balls.assignment
    return replace(balls, assignment=assignment, classes=classes[balls.classes])
