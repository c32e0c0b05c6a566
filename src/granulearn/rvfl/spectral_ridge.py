"""Ridge by eigenvectors: one factor for every penalty and exact leave-one-out.

With a free intercept t it minimises
``sum_i w_i |h_i' Theta + t - y_i|^2 + |Theta|^2 / C``: a ridge on rows and
targets minus their weighted means. Without a free intercept nothing is centred,
and the bias is a column of H like others. With the eigenvectors V and
eigenvalues of the weighted Gram matrix of the rows A, and ``T = A V``, a fitted
value is ``T (M / (values + 1/C))`` for the moment ``M = T' w Y``, and the
influence of one unit of weight at row i on its own fit is
``sum_j T_ij^2 / (values_j + 1/C)``, plus ``1/sum(w)`` for a free intercept.

Leaving out a row divides by its freedom, one minus its influence, which vanishes
where a model passes through every target. With fewer rows than columns the freedom
is therefore summed from the eigenvectors of the rows, never by that subtraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg

from granulearn.rvfl.ridge import FeatureMap, check_finite_system, normal_equations, row_blocks

# Below this, the freedom of a row is rounding: nothing but the row itself says
# anything about it, so without it the mean of the targets is predicted.
SMALLEST_FREEDOM = 1e-9
SMALLEST_FREEDOM_BY_ROWS = 1e-12
MANY_COLUMNS = 500


@dataclass(frozen=True, eq=False)
class RowSpectrum:
    """The eigenvectors of the rows, where there are fewer of them than columns."""

    values: np.ndarray
    """(n_rows,) eigenvalues of A A', those of the null space exactly zero."""
    vectors: np.ndarray
    """(n_rows, n_rows) eigenvectors U."""
    roots: np.ndarray
    """(n_rows,) square roots of the weights."""


@dataclass(frozen=True, eq=False)
class SpectralRidge:
    """Everything about features, inputs, targets and weights that no penalty changes."""

    features: FeatureMap
    column_mean: np.ndarray
    """(p,) weighted mean of the rows of H; zero without a free intercept."""
    target_mean: np.ndarray
    """(n_outputs,) weighted mean of the targets; zero without a free intercept."""
    total_weight: float
    """Sum of the weights; infinite without a free intercept."""
    values: np.ndarray
    """(r,) eigenvalues, ascending."""
    vectors: np.ndarray
    """(p, r) eigenvectors V."""
    moment: np.ndarray
    """(r, n_outputs) M."""
    by_rows: RowSpectrum | None = None
    """Eigenvectors of the rows; None where there are at least as many rows as columns."""

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
        self,
        X: np.ndarray,
        Y: np.ndarray,
        removed: np.ndarray,
        Cs: Sequence[float] | np.ndarray,
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield, for each block of rows, the predictions for each row without that row.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            The inputs that were fitted.
        Y : ndarray of shape (n_rows, n_outputs)
            Their targets.
        removed : ndarray of shape (n_rows,)
            How much of each row's weight is left out; its whole weight removes the row.
        Cs : sequence of float
            Inverse penalties.

        Yields
        ------
        block : slice
            The rows of the block.
        predictions : ndarray of shape (len(Cs), n_block_rows, n_outputs)
            One prediction for each penalty, row and output.
        """
        Cs = np.asarray(Cs, dtype=float)
        if self.by_rows is not None:
            yield slice(0, len(X)), self._leave_out_by_rows(self.by_rows, X, Y, removed, Cs)
            return
        shrink = 1 / (self.values[:, None] + 1 / Cs)
        for block in row_blocks(len(X), self.features.n_columns * 8):
            fitted, T = self._fitted(X[block], shrink)
            influence = np.square(T) @ shrink + 1 / self.total_weight
            freedom = 1 - influence.T * removed[block]
            left_out = _left_out(Y[block], Y[block] - fitted, freedom, SMALLEST_FREEDOM)
            yield block, np.where(np.isnan(left_out), self.target_mean, left_out)

    def _fitted(self, X: np.ndarray, shrink: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the fitted values for each penalty, and T."""
        H = self.features(X)
        H -= self.column_mean
        T = H @ self.vectors
        # One product for all penalties: a product of few columns takes as long.
        weights = shrink[:, :, None] * self.moment[:, None, :]  # (r, len(Cs), n_outputs)
        fitted = (T @ weights.reshape(len(weights), -1)).reshape(len(T), *weights.shape[1:])
        return fitted.transpose(1, 0, 2) + self.target_mean, T

    def _leave_out_by_rows(self, rows: RowSpectrum, X, Y, removed, Cs) -> np.ndarray:
        U, weights = rows.vectors, np.square(rows.roots)
        # The share of each direction that is not fitted.
        unfitted = 1 / (1 + rows.values[:, None] * Cs)
        targets = U.T @ (rows.roots[:, None] * (Y - self.target_mean))
        residuals = U @ (unfitted.T[:, :, None] * targets)
        freedom = (np.square(U) @ unfitted).T - weights / self.total_weight
        known = weights > 0
        share = np.divide(removed, weights, out=np.zeros(len(X)), where=known)
        freedom = 1 - share + share * freedom
        roots = np.where(known, rows.roots, 1)[:, None]
        left_out = _left_out(Y, residuals / roots, freedom, SMALLEST_FREEDOM_BY_ROWS)
        left_out = np.where(np.isnan(left_out), self.target_mean, left_out)
        if not known.all():
            shrink = 1 / (self.values[:, None] + 1 / Cs)
            left_out[:, ~known] = self._fitted(X[~known], shrink)[0]
        return left_out


def _left_out(Y: np.ndarray, residuals, freedom, smallest: float) -> np.ndarray:
    """Return the predictions without each row; NaN where its freedom is only rounding."""
    freedom = np.where(freedom > smallest, freedom, np.nan)[:, :, None]
    return Y - residuals / freedom


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
    by_rows = None
    if features.n_columns <= len(X):
        sums = _centred_sums if free_intercept else _plain_sums
        column_mean, gram, cross = sums(features, X, Y - target_mean, weights)
        check_finite_system(gram, cross)
        # Of a large matrix, halves and then the whole take less time than the whole at once.
        driver: Literal["evd", "evr"] = "evd" if len(gram) > MANY_COLUMNS else "evr"
        values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver=driver)
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
        by_rows = RowSpectrum(np.where(known, values, 0), rows, root[:, 0])
        values = values[known]
        vectors = A.T @ (rows[:, known] / np.sqrt(values))
    return SpectralRidge(
        features,
        column_mean,
        target_mean,
        total,
        values.clip(min=0),
        vectors,
        vectors.T @ cross,
        by_rows,
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
            # The origin is near the mean, so that the correction below loses no digits.
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
