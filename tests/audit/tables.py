"""Samples with wrong labels that are known."""

import numpy as np

from granulearn.audit.ratings import FINE, WRONG, Ratings
from granulearn.datasets import flip_labels


def three_clouds(n=150, rate=0.1, seed=0):
    """Return inputs, labels with noise, and where they are wrong."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 4))
    X[:, :2] += 9 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    names = np.array(["cat", "dog", "emu"])
    noisy, wrong = flip_labels(names[y], rate, random_state=seed)
    return X, noisy, wrong


def ratings_of(audit, verified=None):
    """Return what a fitted audit says as ratings, its doubts taken as they are."""
    codes = np.searchsorted(audit.classes_, audit.given_)
    suggested = np.searchsorted(audit.classes_, audit.suggested_)
    return Ratings(
        classes=audit.classes_,
        codes=codes,
        proba=audit.proba_,
        reliability=audit.reliability_,
        wrong_proba=1 - audit.reliability_,
        suggested=suggested,
        verdicts=np.where(suggested != codes, WRONG, FINE),
        verified=np.zeros(len(codes), dtype=bool) if verified is None else verified,
    )
