"""Ridge with an unpenalised intercept: one factor for every penalty and exact leave-one-out.

Minimises ``sum_i w_i |h_i' Theta + t - y_i|^2 + |Theta|^2 / C``. Without a
penalty on the intercept t that is a ridge on rows and targets from which the
weighted means are taken. With the eigenvectors V and eigenvalues of the
weighted Gram matrix of the centred rows A, and ``T = A V``, a fitted value is
``T (M / (values + 1/C))`` for the moment ``M = T' w Y``, and the influence of
one unit of weight at row i on its own fit is
``1/sum(w) + sum_j T_ij^2 / (values_j + 1/C)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from granulearn.network.blocks import row_blocks
from granulearn.network.ridge import FeatureMap, check_finite_system

# A row of influence one is fitted exactly, whatever the others say.
LARGEST_INFLUENCE = 1 - 1e-12


@dataclass(frozen=True, eq=False)
class CentredRidge:
    """Everything about features, inputs, targets and weights that no penalty changes."""

    features: FeatureMap
    column_mean: np.ndarray
    """(p,) weighted mean of the rows of H."""
    target_mean: np.ndarray
    """(n_outputs,) weighted mean of the targets."""
    total_weight: float
    values: np.ndarray
    """(r,) eigenvalues, ascending."""
    vectors: np.ndarray
    """(p, r) eigenvectors V."""
    moment: np.ndarray
    """(r, n_outputs) M."""

    def coef(self, C: float) -> np.ndarray:
        """Return Theta, of shape (p, n_outputs), with the intercept in the bias column."""
        theta = self.vectors @ (self.moment / (self.values + 1 / C)[:, None])
        # Centred, the bias column is zero and its weight is free.
        theta[self.features.bias_column] = 0
        theta[self.features.bias_column] = self.target_mean - self.column_mean @ theta
        return theta

    def leave_out(
        self, X: np.ndarray, Y: np.ndarray, removed: np.ndarray, Cs: Sequence[float]
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield, block by block of rows, what is predicted for a row without that row.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            The inputs that were fitted.
        Y : ndarray of shape (n_rows, n_outputs)
            Their targets.
        removed : ndarray of shape (n_rows,)
            How much of a row's weight is left out; its weight for all of it.
        Cs : sequence of float
            Inverse penalties.

        Yields
        ------
        block : slice
            Which rows.
        predictions : ndarray of shape (len(Cs), n_block_rows, n_outputs)
            One prediction for each penalty, row and output.
        """
        shrink = 1 / (self.values[:, None] + 1 / np.asarray(Cs, dtype=float))
        weights = shrink.T[:, :, None] * self.moment  # (len(Cs), r, n_outputs)
        for block in row_blocks(len(X), self.features.n_columns * 8):
            T = (self.features(X[block]) - self.column_mean) @ self.vectors
            fitted = T @ weights + self.target_mean
            influence = np.square(T) @ shrink + 1 / self.total_weight
            own = np.minimum(influence.T * removed[block], LARGEST_INFLUENCE)[:, :, None]
            yield block, (fitted - own * Y[block]) / (1 - own)


def factor_centred_ridge(
    features: FeatureMap, X: np.ndarray, Y: np.ndarray, weights: np.ndarray
) -> CentredRidge:
    """Factor the problem by the smaller of its two Gram matrices.

    Parameters
    ----------
    features : FeatureMap
        Turns rows of `X` into rows of H.
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    Y : ndarray of shape (n_rows, n_outputs)
        Targets.
    weights : ndarray of shape (n_rows,)
        Positive sample weights.
    """
    total = float(weights.sum())
    target_mean = weights @ Y / total
    if features.n_columns <= len(X):
        column_mean, gram, cross = _centred_sums(features, X, Y - target_mean, weights)
        check_finite_system(gram, cross)
        values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False)
    else:
        H = features(X)
        column_mean = weights @ H / total
        root = np.sqrt(weights)[:, None]
        A = root * (H - column_mean)
        cross = A.T @ (root * (Y - target_mean))
        gram = A @ A.T
        check_finite_system(gram, cross)
        values, rows = linalg.eigh(gram, overwrite_a=True, check_finite=False)
        known = values > len(values) * np.finfo(float).eps * max(values[-1], 0)
        values = values[known]
        vectors = A.T @ (rows[:, known] / np.sqrt(values))
    return CentredRidge(
        features, column_mean, target_mean, total, values.clip(min=0), vectors, vectors.T @ cross
    )


def _centred_sums(features, X, Y, weights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean of H, and A'wA and A'wY for centred A, in one pass over blocks."""
    p = features.n_columns
    gram, cross, mean_shift = np.zeros((p, p)), np.zeros((p, Y.shape[1])), np.zeros(p)
    origin = None
    for block in row_blocks(len(X), 8 * p):
        H = features(X[block])
        if origin is None:
            # Near the mean already, so that the correction below loses no digits.
            origin = H.mean(axis=0)
        H -= origin
        mean_shift += weights[block] @ H
        cross += H.T @ (weights[block, None] * Y[block])
        H *= np.sqrt(weights[block])[:, None]
        gram += H.T @ H
    total = weights.sum()
    mean_shift /= total
    gram -= total * np.outer(mean_shift, mean_shift)
    # Y is centred, so the cross product needs no correction.
    return origin + mean_shift, gram, cross
