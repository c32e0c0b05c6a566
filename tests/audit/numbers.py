"""Numbers with wrong ones among them that are known."""

import numpy as np


def curved(n=200, n_wrong=5, seed=0):
    """Return inputs, values of which some were changed, and where."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    y = 20 + 5 * X[:, 0] + 3 * np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=n)
    wrong = np.zeros(n, dtype=bool)
    wrong[rng.permutation(n)[:n_wrong]] = True
    return X, np.where(wrong, y + 8 * rng.choice([-1, 1], n), y), wrong
