"""Ridge by eigenvectors: one factor for every penalty and exact leave-one-out.

With a free intercept t it minimises
``sum_i w_i |h_i' Theta + t - y_i|^2 + |Theta|^2 / C``: a ridge on rows and
targets from which the weighted means are taken. Without one nothing is
centred, and the bias is a column of H like others. With the eigenvectors V and
eigenvalues of the weighted Gram matrix of the rows A, and ``T = A V``, a fitted
value is ``T (M / (values + 1/C))`` for the moment ``M = T' w Y``, and the
influence of one unit of weight at row i on its own fit is
``sum_j T_ij^2 / (values_j + 1/C)``, plus ``1/sum(w)`` for a free intercept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from granulearn.network.blocks import row_blocks
from granulearn.network.ridge import FeatureMap, check_finite_system, normal_equations

# A row of influence one is fitted exactly, whatever the others say.
LARGEST_INFLUENCE = 1 - 1e-12


@dataclass(frozen=True, eq=False)
class SpectralRidge:
    """Everything about features, inputs, targets and weights that no penalty changes."""

    features: FeatureMap
    column_mean: np.ndarray
    """(p,) weighted mean of the rows of H; zero without a free intercept."""
    target_mean: np.ndarray
    """(n_outputs,) weighted mean of the targets; zero without a free intercept."""
    total_weight: float
    """Infinite without a free intercept."""
    values: np.ndarray
    """(r,) eigenvalues, ascending."""
    vectors: np.ndarray
    """(p, r) eigenvectors V."""
    moment: np.ndarray
    """(r, n_outputs) M."""

    def coef(self, C: float) -> np.ndarray:
        """Return Theta, of shape (p, n_outputs), with the intercept in the bias column."""
        theta = self.vectors @ (self.moment / (self.values + 1 / C)[:, None])
        if np.isinf(self.total_weight):
            return theta
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


def factor_spectral_ridge(
    features: FeatureMap,
    X: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    *,
    free_intercept: bool = True,
) -> SpectralRidge:
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
        Sample weights, not all zero.
    free_intercept : bool, default=True
        Whether the bias is exempt from the penalty.
    """
    total = float(weights.sum()) if free_intercept else np.inf
    target_mean = weights @ Y / total
    if features.n_columns <= len(X):
        sums = _centred_sums if free_intercept else _plain_sums
        column_mean, gram, cross = sums(features, X, Y - target_mean, weights)
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
    return SpectralRidge(
        features, column_mean, target_mean, total, values.clip(min=0), vectors, vectors.T @ cross
    )


def _plain_sums(features, X, Y, weights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return zero for the mean of H, and H'wH and H'wY."""
    equations = normal_equations(features, X, Y, weights)
    return np.zeros(features.n_columns), equations.gram, equations.moment


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
