"""Ridge regression in closed form: by Cholesky, and by eigenvectors for exact leave-one-out.

Minimises ``C/2 sum_i w_i |h_i' Theta - y_i|^2 + 1/2 |Theta|^2``. With
``A = sqrt(w) H`` (the paper's S H, for ``w = delta^2``) and ``B = sqrt(w) Y``:

- primal, for at most as many columns as rows: ``(A'A + I/C) Theta = A'B``;
- dual, otherwise: ``Theta = A' (A A' + I/C)^-1 B``.

The diagonal matrix S is never formed. In the primal case neither is H: the
normal equations are sums over blocks of rows. Rows may be complex; ``'`` then
means the conjugate transpose.

`SpectralRidge` has a free intercept t: a ridge on rows and targets minus their weighted means.
With the eigenvectors V and eigenvalues of the weighted Gram matrix of these rows A and ``T = A V``
a fitted value is ``T (M / (values + 1/C))`` for the moment ``M = T' w Y``, and the influence of one
unit of weight at row i on its own fit is ``sum_j T_ij^2 / (values_j + 1/C)``, plus ``1/sum(w)``.
Leaving out a row divides by its freedom, one minus its influence, which vanishes where a model
passes through every target. With fewer rows than columns the freedom is therefore summed from the
eigenvectors of the rows, never by that subtraction.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg

from granulearn.rvfl.features import FeatureMap

# Blocks of rows are small enough to stay in the cache, and large enough that cores,
# which wait for each other at the end of each product, do so rarely.
BLOCK_BYTES = 4 * 2**20
# Below this, the freedom of a row is rounding: only the row itself determines its prediction, so
# without it the mean of the targets is predicted.
SMALLEST_FREEDOM = 1e-9
SMALLEST_FREEDOM_BY_ROWS = 1e-12


def row_blocks(n_rows: int, bytes_per_row: int) -> Iterator[slice]:
    """Yield slices that cover ``range(n_rows)`` in order, about `BLOCK_BYTES` each.

    Examples
    --------
    >>> from granulearn.rvfl.ridge import row_blocks
    >>> list(row_blocks(5, bytes_per_row=8))
    [slice(0, 5, None)]
    """
    step = max(1, BLOCK_BYTES // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


class IllConditionedWarning(UserWarning):
    """The linear system was solved, but its solution is not well determined.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from granulearn.rvfl.ridge import IllConditionedWarning, solve_shifted
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     _ = solve_shifted(np.ones((2, 2)), np.ones((2, 1)), C=1e300)
    >>> heard[0].category.__name__
    'IllConditionedWarning'
    """


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """Sums for the primal solution; their size grows with the columns, not with the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl.ridge import NormalEquations
    >>> equations = NormalEquations.zeros(2, 1, np.float64)
    >>> equations.add(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0], [3.0]]))
    >>> equations.add(np.array([[1.0, 2.0]]), np.array([[5.0]]))
    >>> equations.solve(C=1e6).round(3).ravel()
    array([1., 2.])
    """

    gram: np.ndarray
    """(p, p) A'A."""
    moment: np.ndarray
    """(p, n_outputs) A'B."""

    @classmethod
    def zeros(cls, n_columns: int, n_outputs: int, dtype: np.dtype) -> NormalEquations:
        """Return the sums over no row."""
        moment = np.zeros((n_columns, n_outputs), dtype=dtype)
        return cls(np.zeros((n_columns, n_columns), dtype=dtype), moment)

    def add(self, A: np.ndarray, B: np.ndarray) -> None:
        """Add further rows, in place."""
        self.gram[...] += _adjoint(A) @ A
        self.moment[...] += _adjoint(A) @ B

    def solve(self, C: float) -> np.ndarray:
        """Return Theta, of shape (p, n_outputs)."""
        return solve_shifted(self.gram, self.moment, C)


def one_hot(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return Y: one row per code, true in the column of that code.

    It holds booleans, because Y is the one array that is kept for all rows at once.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl.ridge import one_hot
    >>> one_hot(np.array([0, 2]), 3).astype(int)
    array([[1, 0, 0],
           [0, 0, 1]])
    """
    return codes[:, None] == np.arange(n_classes)


def normal_equations(
    features: FeatureMap, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> list[NormalEquations]:
    """Sum A'A and A'B over blocks of rows, for each design of `features`."""
    widths = features.design_widths
    sums = [NormalEquations.zeros(p, Y.shape[1], features.dtype) for p in widths]
    # A deep layer and the one before it are in memory together.
    for block in row_blocks(len(X), 2 * max(widths) * features.dtype.itemsize):
        root = _roots(weights, block)
        for equations, H in zip(sums, features.designs(X[block]), strict=True):
            equations.add(root * H, root * Y[block])
    return sums


def _roots(weights: np.ndarray | None, block: slice) -> np.ndarray | float:
    return 1.0 if weights is None else np.sqrt(weights[block])[:, None]


def ridge_solvers(
    features: FeatureMap, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> list[Callable[[float], np.ndarray]]:
    """Return, for each design of `features`, the function from C to Theta; one pass over the rows.

    Everything that no penalty changes is computed once.
    """
    if max(features.design_widths) > len(X):
        root = _roots(weights, slice(None))
        return [_row_solver(root * H, root * Y) for H in features.designs(X)]
    return [equations.solve for equations in normal_equations(features, X, Y, weights)]


def _row_solver(A: np.ndarray, B: np.ndarray) -> Callable[[float], np.ndarray]:
    """Return the function from C to Theta for weighted rows in memory."""
    if A.shape[1] <= len(A):
        return NormalEquations(_adjoint(A) @ A, _adjoint(A) @ B).solve
    return partial(_solve_dual, A, A @ _adjoint(A), B)


def _solve_dual(A: np.ndarray, gram: np.ndarray, B: np.ndarray, C: float) -> np.ndarray:
    return _adjoint(A) @ solve_shifted(gram, B, C)


def solve_weighted_ridge(
    features: FeatureMap,
    X: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray | None,
    C: float,
) -> np.ndarray:
    """Return Theta, of shape (n_columns, n_outputs), by the cheaper of the two forms.

    Parameters
    ----------
    features : FeatureMap
        Turns rows of `X` into rows of H.
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    Y : ndarray of shape (n_rows, n_outputs)
        Targets.
    weights : ndarray of shape (n_rows,) or None
        Sample weights (the squares of the paper's memberships); None means one.
    C : float
        Inverse of the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_random_features
    >>> from granulearn.rvfl.ridge import solve_weighted_ridge
    >>> features = draw_random_features(1, 3, "tanh", direct_link=True, seed=0)
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [2.0]])
    >>> theta = solve_weighted_ridge(features, X, Y, np.array([1.0, 1.0, 0.5]), C=10.0)
    >>> theta.shape  # the direct link, the bias and three nodes
    (5, 1)
    """
    return ridge_solvers(features, X, Y, weights)[-1](C)


def solve_graph_ridge(equations: NormalEquations, G: np.ndarray, C: float) -> np.ndarray:
    """Solve ``(A'A + (I + G)/C) Theta = A'B`` for a regulariser G that need not be symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl.ridge import NormalEquations, solve_graph_ridge
    >>> A, B = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([[1.0], [3.0], [5.0]])
    >>> equations = NormalEquations(A.T @ A, A.T @ B)
    >>> solve_graph_ridge(equations, np.diag([0.0, 1e6]), C=1.0).round(2).ravel()  # no slope
    array([2.25, 0.  ])
    """
    system = equations.gram + G / C
    check_finite_system(system, equations.moment)
    if np.allclose(system, system.T, rtol=1e-12, atol=0):
        return solve_shifted((system + system.T) / 2, equations.moment, C)
    system.flat[:: len(G) + 1] += 1 / C
    with warnings.catch_warnings(action="error", category=linalg.LinAlgWarning):
        try:
            return linalg.solve(system, equations.moment)
        except (linalg.LinAlgError, linalg.LinAlgWarning):
            pass
    warn_ill_conditioned(C)
    return linalg.lstsq(system, equations.moment)[0]


def predict_scores(features: FeatureMap, X: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return the real part of ``H theta``, block by block.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_random_features
    >>> from granulearn.rvfl.ridge import predict_scores, solve_weighted_ridge
    >>> features = draw_random_features(1, 3, "tanh", direct_link=True, seed=0)
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [2.0]])
    >>> theta = solve_weighted_ridge(features, X, Y, None, C=1e4)
    >>> predict_scores(features, np.array([[1.5]]), theta).round(2)
    array([[1.5]])
    """
    scores = np.empty((len(X), theta.shape[1]))
    for block in row_blocks(len(X), features.n_columns * features.dtype.itemsize):
        scores[block] = (features(X[block]) @ theta).real
    return scores


def solve_shifted(G: np.ndarray, rhs: np.ndarray, C: float) -> np.ndarray:
    """Solve ``(G + I/C) Z = rhs`` for G symmetric (Hermitian), positive semi-definite.

    It is solved by Cholesky. When that fails, or the system is singular to working
    precision, it is solved with the eigenvectors of G whose eigenvalues can be told
    from zero, and an `IllConditionedWarning` is given.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl.ridge import solve_shifted
    >>> solve_shifted(np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([[4.0], [2.0]]), C=1.0)
    array([[1.],
           [1.]])
    """
    check_finite_system(G, rhs)
    shifted = G.copy()
    shifted.flat[:: len(G) + 1] += 1 / C
    norm = np.abs(shifted).sum(axis=0).max()
    try:
        factor = linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return _solve_by_eigenvectors(G, rhs, C)
    pocon = linalg.lapack.zpocon if np.iscomplexobj(G) else linalg.lapack.dpocon
    reciprocal_condition, _ = pocon(factor[0], norm, uplo="L")
    if reciprocal_condition < np.finfo(np.float64).eps:
        return _solve_by_eigenvectors(G, rhs, C)
    return linalg.cho_solve(factor, rhs, check_finite=False)


def check_finite_system(G: np.ndarray, rhs: np.ndarray) -> None:
    """Raise when inputs were so large that their squares left the float range."""
    if not (np.isfinite(G).all() and np.isfinite(rhs).all()):
        raise ValueError(
            "the normal equations overflow: some features are too large to be squared; "
            "scale them first, for example with StandardScaler."
        )


def warn_ill_conditioned(C: float) -> None:
    """Warn that rounding decides part of the solution."""
    warnings.warn(
        f"the linear system is singular to working precision at C={C:g}; directions that cannot "
        "be told from zero were left out of the solution. Lower C or scale the features.",
        IllConditionedWarning,
        stacklevel=2,
    )


def _solve_by_eigenvectors(G: np.ndarray, rhs: np.ndarray, C: float) -> np.ndarray:
    warn_ill_conditioned(C)
    values, vectors = linalg.eigh(G)
    known = values > len(G) * np.finfo(np.float64).eps * values[-1]
    values, vectors = values[known], vectors[:, known]
    return vectors @ ((_adjoint(vectors) @ rhs) / (values + 1 / C)[:, None])


def _adjoint(A: np.ndarray) -> np.ndarray:
    # NumPy sees that a real A.T @ A is symmetric and computes half of it;
    # conj() of a real array would hide that behind a copy.
    return A.conj().T if np.iscomplexobj(A) else A.T


@dataclass(frozen=True, eq=False)
class SpectralRidge:
    """Everything about features, inputs, targets and weights that no penalty changes."""

    features: Callable[[np.ndarray], np.ndarray]
    column_mean: np.ndarray
    """(p,) weighted mean of the rows of H; zero without a free intercept."""
    target_mean: np.ndarray
    """(n_outputs,) weighted mean of the targets; zero without a free intercept."""
    weights: np.ndarray
    """(n_rows,) sample weights."""
    total_weight: float
    """Sum of the weights; infinite without a free intercept."""
    values: np.ndarray
    """(r,) eigenvalues, ascending."""
    vectors: np.ndarray
    """(p, r) eigenvectors V."""
    moment: np.ndarray
    """(r, n_outputs) M."""
    by_rows: tuple[np.ndarray, np.ndarray] | None = None
    """(n_rows,) eigenvalues of A A' and (n_rows, n_rows) eigenvectors U; None where there are at
    least as many rows as columns."""

    def coef(self, C: float, bias_column: int | None = None) -> np.ndarray:
        """Return Theta, of shape (p, n_outputs), with a free intercept in the bias column."""
        theta = self.vectors @ (self.moment / (self.values + 1 / C)[:, None])
        if bias_column is not None:
            # Centred, the bias column is zero and its weight is free.
            theta[bias_column] = 0
            theta[bias_column] = self.target_mean - self.column_mean @ theta
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
            yield slice(0, len(X)), self._leave_out_by_rows(*self.by_rows, X, Y, removed, Cs)
            return
        shrink = 1 / (self.values[:, None] + 1 / Cs)
        for block in row_blocks(len(X), len(self.column_mean) * 8):
            fitted, T = self._fitted(X[block], shrink)
            influence = np.square(T) @ shrink + 1 / self.total_weight
            freedom = 1 - influence.T * removed[block]
            yield block, self._left_out(Y[block], Y[block] - fitted, freedom, SMALLEST_FREEDOM)

    def _fitted(self, X: np.ndarray, shrink: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the fitted values for each penalty, and T."""
        T = (self.features(X) - self.column_mean) @ self.vectors
        # One product for all penalties: a product of few columns takes as long.
        weights = shrink[:, :, None] * self.moment[:, None, :]  # (r, len(Cs), n_outputs)
        fitted = (T @ weights.reshape(len(weights), -1)).reshape(len(T), *weights.shape[1:])
        return fitted.transpose(1, 0, 2) + self.target_mean, T

    def _leave_out_by_rows(self, values, U, X, Y, removed, Cs) -> np.ndarray:
        known = self.weights > 0
        roots = np.sqrt(self.weights)[:, None]
        # The fraction of each direction that is not fitted.
        unfitted = 1 / (1 + values[:, None] * Cs)
        residuals = U @ (unfitted.T[:, :, None] * (U.T @ (roots * (Y - self.target_mean))))
        freedom = (np.square(U) @ unfitted).T - self.weights / self.total_weight
        share = np.divide(removed, self.weights, out=np.zeros(len(X)), where=known)
        freedom = 1 - share + share * freedom
        residuals /= np.where(known[:, None], roots, 1)
        left_out = self._left_out(Y, residuals, freedom, SMALLEST_FREEDOM_BY_ROWS)
        if not known.all():
            shrink = 1 / (self.values[:, None] + 1 / Cs)
            left_out[:, ~known] = self._fitted(X[~known], shrink)[0]
        return left_out

    def _left_out(self, Y: np.ndarray, residuals, freedom, smallest: float) -> np.ndarray:
        """Return the predictions without each row; the mean where its freedom is only rounding."""
        is_free = (freedom > smallest)[:, :, None]
        freedom = np.where(is_free, freedom[:, :, None], 1)
        return np.where(is_free, Y - residuals / freedom, self.target_mean)


def factor_spectral_ridge(
    features: Callable[[np.ndarray], np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    *,
    free_intercept: bool = True,
) -> SpectralRidge:
    """Factor the problem by the smaller of its two Gram matrices.

    Parameters
    ----------
    features : callable
        Turns rows of `X` into rows of H, a new array.
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
    n_columns = features(X[:1]).shape[1]
    if n_columns <= len(X):
        column_mean, gram, cross = _centred_sums(features, X, Y - target_mean, weights, total)
        check_finite_system(gram, cross)
        values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
    else:
        H = features(X)
        column_mean = weights @ H / total
        root = np.sqrt(weights)[:, None]
        A = root * (H - column_mean)
        cross = A.T @ (root * (Y - target_mean))
        gram = A @ A.T
        check_finite_system(gram, cross)
        values, U = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
        known = values > len(values) * np.finfo(float).eps * max(values[-1], 0)
        by_rows = np.where(known, values, 0), U
        values = values[known]
        vectors = A.T @ (U[:, known] / np.sqrt(values))
    moment = vectors.T @ cross
    values = values.clip(min=0)
    return SpectralRidge(
        features, column_mean, target_mean, weights, total, values, vectors, moment, by_rows
    )


def _centred_sums(features, X, Y, weights, total) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean of H, and A'wA and A'wY for centred A, in one pass over blocks.

    An infinite total means that nothing is centred.
    """
    origin = np.zeros(features(X[:1]).shape[1])
    p = len(origin)
    gram, cross, shift = np.zeros((p, p)), np.zeros((p, Y.shape[1])), np.zeros(p)
    for block in row_blocks(len(X), 8 * p):
        H = features(X[block])
        if block.start == 0 and np.isfinite(total):
            # The origin is near the mean, so that the correction below loses no digits.
            origin = H.mean(axis=0)
        H -= origin
        shift += weights[block] @ H
        cross += H.T @ (weights[block, None] * Y[block])
        H *= np.sqrt(weights[block])[:, None]
        gram += H.T @ H
    gram -= np.outer(shift, shift) / total
    # Y is centred, so the cross product needs no correction.
    return origin + shift / total, gram, cross
