"""Noise matrices: from probabilities of the given label to scores of the true class."""

from __future__ import annotations

from numbers import Real

import numpy as np


def check_noise_matrix(noise, n_classes: int) -> np.ndarray | None:
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
                f"noise_matrix={share:g} must be below {1 - 1 / n_classes:g}: with {n_classes} "
                "classes and more wrong labels, the labels say nothing."
            )
        other = share / max(n_classes - 1, 1)
        return np.full((n_classes, n_classes), other) + (1 - share - other) * np.eye(n_classes)
    matrix = np.asarray(noise, dtype=float)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"noise_matrix has the shape {matrix.shape}; {n_classes} classes need a matrix of "
            f"{n_classes} by {n_classes}, one row for each true class."
        )
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise ValueError("noise_matrix must hold probabilities; some are negative or no numbers.")
    if not np.allclose(matrix.sum(axis=1), 1):
        raise ValueError(
            "noise_matrix must have rows that sum to one, the probabilities of the given labels of "
            f"a true class; they sum to {matrix.sum(axis=1).tolist()}."
        )
    if np.linalg.cond(matrix) > 1e8:
        raise ValueError(
            "noise_matrix cannot be inverted: given labels say nothing about some true classes."
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
