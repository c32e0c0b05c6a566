"""Ways to choose the committee's networks, judged on held-out parts of training parts.

    GRANULEARN_DATA=... python benchmarks/compare_committees.py

Noise is planted in seven tenths of each training part; the other three tenths,
with their true labels, judge. Test parts of the sets are not looked at. Prints
mean accuracies in percent of the committee averaged with a ball forest.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy.optimize import nnls
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from granulearn.datasets import load
from granulearn.estimators import BallForestClassifier
from granulearn.estimators.committee import (
    AUTO_ACTIVATIONS,
    AUTO_CS,
    draw_layers,
    layer_features,
    scores_to_proba,
)
from granulearn.network import one_hot
from granulearn.network.spectral_ridge import factor_spectral_ridge
from granulearn.statistics import wilcoxon_p_value
from granulearn.studies import load_study

LARGEST = 1_100
RATES = (0.0, 0.2, 0.3, 0.4)
N_LAYERS, N_HIDDEN = 10, 203
LINEAR = "linear"


class LinearFeatures:
    """The direct link and the bias, without hidden nodes."""

    dtype = np.dtype(np.float64)

    def __init__(self, n_features: int):
        self.bias_column, self.n_columns = n_features, n_features + 1

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the inputs and a column of ones."""
        return np.column_stack([X, np.ones(len(X))])


class Members:
    """Networks of one activation at the penalty of least leave-one-out error."""

    def __init__(self, maps: list, X: np.ndarray, Y: np.ndarray):
        weights = np.ones(len(X))
        ridges = [factor_spectral_ridge(each, X, Y, weights) for each in maps]
        left_out = np.mean(
            [
                np.concatenate([part for _, part in r.leave_out(X, Y, weights, AUTO_CS)], axis=1)
                for r in ridges
            ],
            axis=0,
        )
        errors = np.square(left_out - Y).sum(axis=2).mean(axis=1)
        best = int(errors.argmin())
        self.error, self.left_out = errors[best], left_out[best]
        self._networks = [(f, r.coef(AUTO_CS[best])) for f, r in zip(maps, ridges, strict=True)]

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the mean of the networks' outputs."""
        return np.mean([f(X) @ coef for f, coef in self._networks], axis=0)


def committees(X: np.ndarray, Y: np.ndarray, new: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Return the scores of new rows by each way to choose."""
    layers = draw_layers(X.shape[1], N_HIDDEN, N_LAYERS, seed)
    members = {
        name: Members([layer_features(layer, name) for layer in layers], X, Y)
        for name in AUTO_ACTIVATIONS
    }
    with_linear = {**members, LINEAR: Members([LinearFeatures(X.shape[1])], X, Y)}
    scores = {name: each.scores(new) for name, each in with_linear.items()}
    best = min(members, key=lambda name: members[name].error)
    best_with_linear = min(with_linear, key=lambda name: with_linear[name].error)
    shares = _stacking_shares([each.left_out for each in with_linear.values()], Y)
    return {
        "best activation": scores[best],
        "best, or linear": scores[best_with_linear],
        "mean of activations": np.mean([scores[name] for name in members], axis=0),
        "stacked": sum(s * scores[name] for s, name in zip(shares, with_linear, strict=True)),
    }


def _stacking_shares(predictions: list[np.ndarray], Y: np.ndarray) -> np.ndarray:
    """Return shares, not negative and of sum one, of least squared leave-one-out error."""
    columns = np.stack([each.ravel() for each in predictions], axis=1)
    sum_to_one = 1e3 * np.ones((1, len(predictions)))
    shares, _ = nnls(np.vstack([columns, sum_to_one]), np.append(Y.ravel(), 1e3))
    return shares / shares.sum()


def judge(name: str, draw: int) -> list[dict]:
    """Return the accuracies on one set and draw, at every rate."""
    data = load(name, download=False)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    X, _, y, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    classes, codes = np.unique(y, return_inverse=True)
    X, new, codes, truth = train_test_split(
        X, codes, test_size=0.3, stratify=codes, random_state=draw
    )
    scaler = StandardScaler().fit(X)
    X, new = scaler.transform(X), scaler.transform(new)
    rows = []
    for rate in RATES:
        rng = np.random.default_rng([draw, int(100 * rate)])
        flipped = rng.choice(len(codes), round(rate * len(codes)), replace=False)
        noisy = codes.copy()
        noisy[flipped] += rng.integers(1, len(classes), size=len(flipped))
        noisy %= len(classes)
        if len(np.unique(noisy)) < len(classes):
            continue
        forest = BallForestClassifier(random_state=draw).fit(X, noisy).predict_proba(new)
        Y = one_hot(noisy, len(classes)).astype(float)
        found = {
            way: float(((scores_to_proba(scores) + forest).argmax(axis=1) == truth).mean())
            for way, scores in committees(X, Y, new, draw).items()
        }
        rows.append({"set": name, "rate": rate, **found})
    return rows


def main() -> None:
    """Judge on all small sets of the collection and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of labels that no tree left out
    names = [n for n in load_study("rivals").datasets if len(load(n, download=False).X) <= LARGEST]
    rows = []
    with threadpool_limits(1):
        for name in names:
            for draw in range(arguments.draws):
                rows += judge(name, draw)
    table = 100 * pd.DataFrame(rows).set_index(["rate", "set"])
    per_set = table.groupby(level=["rate", "set"]).mean()
    first, *others = table.columns
    print(f"{len(names)} sets, {arguments.draws} draws; p is Wilcoxon's over sets")
    print(f"| noise | {first} | " + " | ".join(others) + " |")
    print("|---|---|" + "---|" * len(others))
    for rate in RATES:
        scores = per_set.loc[rate]
        cells = [
            f"{scores[way].mean():.2f} (p {wilcoxon_p_value(scores[way], scores[first]):.2g})"
            for way in others
        ]
        print(f"| {100 * rate:.0f} % | {scores[first].mean():.2f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
