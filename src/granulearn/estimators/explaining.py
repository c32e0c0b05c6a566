"""Why a row gets its class: the members, the balls and the training rows that speak for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from granulearn._words import counted
from granulearn.balls import Samples
from granulearn.balls.forest import BallForest
from granulearn.balls.forest_voices import BallVoice, WeighedTree, strongest_balls
from granulearn.balls.records import describe_samples, repetitions
from granulearn.estimators.estimator import ScoreClassifier
from granulearn.memberships.base import nearest_points

NEAREST = 3
# The mean of the training rows is that of `fit` up to so much of their spread.
_SAME_MEAN = 1e-6


class MemberVoice(NamedTuple):
    """What a member of a model says of the class of a row."""

    share: float
    """How much the member counts in the mean."""
    probability: float
    """What it predicts for the class; that of a network may lie outside of 0 and 1."""


@dataclass(frozen=True)
class RowExplanation:
    """Why a row gets its class."""

    label: Any
    """The class that is predicted."""
    probability: float
    """Its probability."""
    members: Mapping[str, MemberVoice]
    """What each member of the model says of the class."""
    balls: tuple[BallVoice, ...]
    """The balls that add most to the forest's probability of the class, strongest first."""
    nearest: tuple[int, ...]
    """Positions of the nearest training rows, nearest first."""
    classes: tuple
    """All classes, in the order of the balls' counts."""
    knows_training: bool
    """Whether training rows were passed; without them there are no balls and no nearest rows."""

    def __str__(self) -> str:
        own = self.classes.index(self.label)
        lines = [f"class {self.label} with probability {self.probability:.3f}"]
        lines += [
            f"  {name} says {member.probability:.3f}, with a share of {member.share:.3f}"
            for name, member in self.members.items()
        ]
        mean = sum(member.share * member.probability for member in self.members.values())
        if f"{mean:.3f}" != f"{self.probability:.3f}":
            lines.append(f"  their mean, {mean:.3f}, is calibrated to {self.probability:.3f}")
        for ball in self.balls:
            way = ", ".join(f"{side} {_column(name)}" for name, side in ball.columns)
            lines.append(
                f"  ball of {ball.n_samples} samples, {ball.class_counts[own]} of them "
                f"{self.label}{': ' if way else ''}{way}"
            )
        if self.knows_training:
            lines.append(
                f"  nearest training rows, by position: {', '.join(map(str, self.nearest))}"
            )
        else:
            lines.append("  balls and nearest rows are not known: pass training=(X, y)")
        return "\n".join(lines)


class ExplainableForest(Protocol):
    """A ball forest that can weigh the balls of its trees once more."""

    forest_: BallForest
    in_bag_: np.ndarray
    oob_proba_: np.ndarray
    reliability_: np.ndarray

    def _weigh_trees(self, samples: Samples) -> list[WeighedTree]: ...


def explain_rows(
    model: ScoreClassifier,
    X: np.ndarray,
    scores: np.ndarray,
    members: Mapping[str, tuple[float, np.ndarray]],
    forest: ExplainableForest | None,
    training: Sequence[Any] | None,
) -> list[RowExplanation]:
    """Explain what a model predicts.

    Parameters
    ----------
    model : ScoreClassifier
        Fitted.
    X : ndarray of shape (n_samples, n_features)
        Rows to explain, checked.
    scores : ndarray of shape (n_samples, n_classes)
        The model's scores for them.
    members : mapping of str to (float, ndarray of shape (n_samples, n_classes))
        The share of each member, and what it predicts.
    forest : ball forest or None
        That of the model, if it has one that counts.
    training : (X, y), (X, y, sample_weight) or None
        What the model was fitted to.

    Returns
    -------
    list of RowExplanation
        One for each row.
    """
    samples = None if training is None else training_samples(model, training)
    codes = scores.argmax(axis=1)
    probabilities = model._probabilities(scores)[np.arange(len(X)), codes]
    balls: list[tuple[BallVoice, ...]] = [()] * len(X)
    nearest = np.empty((len(X), 0), dtype=int)
    if samples is not None:
        # Samples of weight zero were not learnt from, and explain nothing.
        learnt = np.arange(len(samples))
        if samples.weights is not None:
            learnt = np.flatnonzero(samples.weights > 0)
        nearest = learnt[nearest_points(samples.X[learnt], X, min(NEAREST, len(learnt)))]
        if forest is not None:
            if not hasattr(forest, "in_bag_"):
                raise ValueError(
                    "a model from a file does not know which rows its trees saw; leave out "
                    "training, or fit the model again."
                )
            balls = _speaking_balls(forest, samples, X, codes, _column_names(model))
    classes = tuple(model.classes_.tolist())
    return [
        RowExplanation(
            label=classes[code],
            probability=float(probabilities[i]),
            members={
                name: MemberVoice(float(share), float(says[i, code]))
                for name, (share, says) in members.items()
            },
            balls=balls[i],
            nearest=tuple(nearest[i].tolist()),
            classes=classes,
            knows_training=samples is not None,
        )
        for i, code in enumerate(codes.tolist())
    ]


def training_samples(model: ScoreClassifier, training: Sequence[Any]) -> Samples:
    """Return the rows that a model was fitted to as samples, checked.

    Parameters
    ----------
    model : ScoreClassifier
        Fitted.
    training : (X, y) or (X, y, sample_weight)
        As they were passed to its `fit`.
    """
    if len(training) not in (2, 3):
        raise ValueError(
            "training must be (X, y) or (X, y, sample_weight), as they were passed to fit; got "
            f"{counted(len(training), 'part')}."
        )
    X, y = model._checked(training[0]), column_or_1d(training[1])
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, model.classes_)
    if len(unknown):
        raise ValueError(
            f"training holds the class {unknown.tolist()[0]!r}, which the model does not know; "
            "pass the labels that it was fitted to."
        )
    codes = np.searchsorted(model.classes_, y).astype(np.int32)
    return describe_samples(X, codes, model.classes_, *training[2:])


def check_fitted_rows(forest: ExplainableForest, samples: Samples) -> None:
    """Raise an error where a forest was grown on other rows.

    Parameters
    ----------
    forest : ball forest
        Fitted.
    samples : Samples
        What it should have been fitted to.
    """
    n_fitted = forest.in_bag_.shape[1]
    if len(samples) != n_fitted:
        raise ValueError(
            f"training has {counted(len(samples), 'row')}, and the model was fitted to {n_fitted}; "
            "pass the rows that were passed to fit, in their order."
        )
    rows = forest.forest_.rows(samples.X)
    copies = None if samples.weights is None else repetitions(samples.weights)
    mean, spread = np.average(rows, axis=0, weights=copies), np.abs(rows).max(axis=0)
    if (np.abs(mean) > _SAME_MEAN * (spread + np.abs(forest.forest_.shift))).any():
        raise ValueError(
            "training holds other rows than the model was fitted to; pass what was passed to fit: "
            "scaled, where it was scaled, and with its sample_weight as the third part."
        )
    known = ~np.isnan(forest.reliability_)
    rated = forest.oob_proba_[known, samples.codes[known]]
    if not np.array_equal(rated, forest.reliability_[known]):
        raise ValueError(
            "training holds other labels than the model was fitted to; pass the y that was passed "
            "to fit, in its order."
        )


def _speaking_balls(
    forest: ExplainableForest, samples: Samples, X, codes, names: Sequence[str] | None
) -> list[tuple[BallVoice, ...]]:
    check_fitted_rows(forest, samples)
    trees = forest._weigh_trees(samples)
    found = [
        strongest_balls(trees, row, code)
        for row, code in zip(forest.forest_.rows(X), codes.tolist(), strict=True)
    ]
    if names is None:
        return found
    return [tuple(_named(ball, names) for ball in balls) for balls in found]


def _column(name: int | str) -> str:
    return name if isinstance(name, str) else f"column {name}"


def _column_names(model: ScoreClassifier) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _named(ball: BallVoice, names: Sequence[str]) -> BallVoice:
    return replace(ball, columns=tuple((names[int(at)], side) for at, side in ball.columns))
