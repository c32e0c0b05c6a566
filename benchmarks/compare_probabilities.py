"""Compare ways from scores to probabilities by their log-loss on real data.

Scores are regressions on one-hot targets. Compared, on every benchmark set, by
5-fold cross-validation after a z-score: the softmax of the scores, and scores
clipped to [0, 1] and normalised (as they are, and with a floor of 0.01, because
a clipped zero makes the log-loss of one miss enormous).

    python benchmarks/compare_probabilities.py DIRECTORY

DIRECTORY is that of the sets: CSV files of numbers, the last column the class.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.special import softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from granulearn.rvfl import GBRVFLClassifier, RVFLClassifier, SDAPGBRVFLClassifier

MODELS = (RVFLClassifier, GBRVFLClassifier, SDAPGBRVFLClassifier)


def clip_and_normalise(scores, floor=0.0):
    """Return scores clipped to [floor, 1] and divided by their sum."""
    clipped = scores.clip(floor, 1)
    total = clipped.sum(axis=1, keepdims=True)
    uniform = np.full_like(clipped, 1 / clipped.shape[1])
    return np.divide(clipped, total, out=uniform, where=total > 0)


WAYS = {
    "softmax": lambda scores: softmax(scores, axis=1),
    "clip": clip_and_normalise,
    "clip, floor 0.01": lambda scores: clip_and_normalise(scores, floor=0.01),
}


def cross_validated_scores(model, X, y):
    """Return out-of-fold scores, one column per class."""
    scores = np.empty((len(X), len(np.unique(y))))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        fitted = model(random_state=0).fit(scaler.transform(X[train]), y[train])
        scores[test] = fitted._scores(scaler.transform(X[test]))
    return scores


def main():
    """Print the mean log-loss of each way for each model, and how often softmax won."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, help="folder of the sets, as CSV files")
    directory = parser.parse_args().directory
    paths = [path for path in sorted(directory.glob("*.csv")) if path.name != "manifest.csv"]
    if not paths:
        parser.error(f"{directory} has no sets: it should be a folder of CSV files.")
    losses = {(model, way): [] for model in MODELS for way in WAYS}
    for path in paths:
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        X, y = table[:, :-1], table[:, -1].astype(int)
        for model in MODELS:
            scores = cross_validated_scores(model, X, y)
            for way, probabilities in WAYS.items():
                losses[model, way].append(log_loss(y, probabilities(scores)))
    for model in MODELS:
        table = np.array([losses[model, way] for way in WAYS])
        for way, row in zip(WAYS, table, strict=True):
            print(
                f"{model.__name__:22} {way:18} mean {row.mean():.4f}  median {np.median(row):.4f}"
                f"  softmax is lower on {(table[0] < row).sum()} of {len(row)}"
            )


if __name__ == "__main__":
    main()
