"""How dear a split should be to the evidence maker, judged on planted noise in training parts.

    GRANULEARN_DATA=... python benchmarks/compare_split_odds.py [--draws 3] [--jobs 2]

For each prior odds of a split: how many balls there are, how many of them hold one
sample, how many samples have the true label of their ball (before labels were flipped),
and the accuracy of three models on samples kept aside, with their true labels. In
percent, mean over sets and draws. Two-means balls of the same models are the first row.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from training_parts import TrainingPart, judge_all, training_part

from granulearn.balls import EvidenceBalls, generate_balls
from granulearn.estimators import GBRVFLClassifier, GranularBallKNNClassifier
from granulearn.model_selection import PathSearchCV

RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
ODDS = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.001)
GRID = {"C": [1e-3, 1e-1, 1e1, 1e3], "n_hidden": [23, 103], "activation": ["relu", "sigmoid"]}


def tuned_network(**settings: Any) -> PathSearchCV:
    """Return GB-RVFL, tuned by cross-validation on the labels it is fitted to."""
    return PathSearchCV(GBRVFLClassifier(**settings), GRID, cv=3)


MODELS: dict[str, Callable] = {
    "nearest ball": GranularBallKNNClassifier,
    "gb-rvfl": GBRVFLClassifier,
    "gb-rvfl, tuned": tuned_network,
}
COLUMNS = ["balls", "of one sample", "true label of the ball", *MODELS]


def judge(name: str, draw: int) -> list[dict]:
    """Judge all odds at all noise rates on one draw of a set."""
    part = training_part(name, draw)
    makers = {"two-means": "two-means"} | {
        f"evidence, odds {odds:g}": EvidenceBalls(split_odds=odds) for odds in ODDS
    }
    return [
        {"rate": rate, "maker": maker} | facts(part, part.disturbed("uniform", rate), balls)
        for rate in RATES
        for maker, balls in makers.items()
    ]


def facts(part: TrainingPart, labels: np.ndarray, balls: str | EvidenceBalls) -> dict[str, float]:
    """Return what balls of some labels are worth."""
    made = generate_balls(part.X, labels, balls=balls, random_state=part.draw)
    found: dict[str, float] = {
        "balls": len(made) / len(labels),
        "of one sample": np.mean(made.counts == 1),
        "true label of the ball": np.mean(
            made.classes[made.labels][made.assignment] == part.labels
        ),
    }
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # a class without balls
        for name, model in MODELS.items():
            fitted = model(balls=balls, random_state=part.draw).fit(part.X, labels)
            found[name] = fitted.score(part.new, part.truth)
    return {name: 100 * value for name, value in found.items()}


def main() -> None:
    """Judge and print one table per noise rate."""
    rows = judge_all(judge, __doc__ or "", draws=3)
    for rate, some in rows.groupby("rate"):
        print(f"\n{100 * rate:.0f} % wrong labels\n")
        print(some.groupby("maker", sort=False)[COLUMNS].mean().round(2).to_string())


if __name__ == "__main__":
    main()
