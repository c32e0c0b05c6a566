"""Samples with wrong labels that are known."""

import numpy as np

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
