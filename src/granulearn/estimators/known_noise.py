"""What is known of wrong labels, and the true class behind the given label."""

from __future__ import annotations

from numbers import Real

import numpy as np


def noise_matrix(noise, n_classes: int) -> np.ndarray | None:
    """Return the probability of each given label (column) where a class is true (row).

    Parameters
    ----------
    noise : float, array-like or None
        The share of wrong labels, spread evenly over the other classes, or the matrix.
    n_classes : int
        Number of classes.
    """
    if noise is None:
        return None
    if isinstance(noise, Real):
        share = float(noise)
        if share >= 1 - 1 / n_classes:
            raise ValueError(
                f"noise={share:g}: with {n_classes} classes, labels of which so many are wrong say "
                f"nothing; it must be below {1 - 1 / n_classes:g}."
            )
        other = share / max(n_classes - 1, 1)
        return np.full((n_classes, n_classes), other) + (1 - share - other) * np.eye(n_classes)
    matrix = np.asarray(noise, dtype=float)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"noise has the shape {matrix.shape}; {n_classes} classes need a matrix of "
            f"{n_classes} by {n_classes}, one row for each true class."
        )
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise ValueError("noise must hold probabilities; some are negative or no numbers.")
    if not np.allclose(matrix.sum(axis=1), 1):
        raise ValueError(
            "noise must have rows that sum to one: the probabilities of the given labels where a "
            f"class is true; they sum to {matrix.sum(axis=1).tolist()}."
        )
    if np.linalg.cond(matrix) > 1e8:
        raise ValueError(
            "noise cannot be undone: given labels say nothing about some true classes."
        )
    return matrix


def true_scores(proba: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return scores of the true class, of sum one, from probabilities of the given label.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Probabilities of the given label.
    noise : ndarray of shape (n_classes, n_classes)
        Probability of each given label (column) where a class is true (row).

    Notes
    -----
    ``P(given k | x) = sum_j P(true j | x) noise[j, k]`` is solved for the true class.
    Where a prediction is surer than the noise allows, some scores are below zero.
    """
    return np.linalg.solve(noise.T, proba.T).T
