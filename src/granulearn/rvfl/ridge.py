"""Weighted ridge regression in closed form, by Cholesky.

Minimises ``C/2 sum_i w_i |h_i' Theta - y_i|^2 + 1/2 |Theta|^2``. With
``A = sqrt(w) H`` (the paper's S H, for ``w = delta^2``) and ``B = sqrt(w) Y``:

- primal, for at most as many columns as rows: ``(A'A + I/C) Theta = A'B``;
- dual, otherwise: ``Theta = A' (A A' + I/C)^-1 B``.

The diagonal matrix S is never formed. In the primal case neither is H: the
normal equations are sums over blocks of rows. Rows may be complex; ``'`` then
means the conjugate transpose.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

# Blocks of rows are small enough to stay in the cache, and large enough that cores,
# which wait for each other at the end of each product, do so rarely.
BLOCK_BYTES = 4 * 2**20


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


class FeatureMap(Protocol):
    """A map from rows of inputs to rows of H.

    Examples
    --------
    >>> from granulearn.rvfl import draw_random_features
    >>> features = draw_random_features(2, 5, "relu", direct_link=True, seed=0)
    >>> features.n_columns, features.bias_column
    (8, 2)
    """

    @property
    def n_columns(self) -> int:
        """Number of columns of H."""

    @property
    def bias_column(self) -> int:
        """Index of the column of ones."""

    @property
    def dtype(self) -> np.dtype:
        """Type of H."""

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the rows of H for the rows of X."""

    def scores(self, X: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return the real part of ``H theta`` for the rows of X."""


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
    >>> from granulearn.rvfl.ridge import NormalEquations, solve_primal
    >>> equations = NormalEquations.zeros(2, 1, np.float64)
    >>> equations.add(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0], [3.0]]))
    >>> equations.add(np.array([[1.0, 2.0]]), np.array([[5.0]]))
    >>> solve_primal(equations, C=1e6).round(3).ravel()
    array([1., 2.])
    """

    gram: np.ndarray
    """(p, p) A'A."""
    moment: np.ndarray
    """(p, n_outputs) A'B."""

    @classmethod
    def zeros(cls, n_columns: int, n_outputs: int, dtype: np.dtype) -> NormalEquations:
        """Return the sums over no row."""
        gram = np.zeros((n_columns, n_columns), dtype=dtype)
        return cls(gram, np.zeros((n_columns, n_outputs), dtype=dtype))

    def add(self, A: np.ndarray, B: np.ndarray) -> None:
        """Add further rows, in place."""
        self.gram[...] += _adjoint(A) @ A
        self.moment[...] += _adjoint(A) @ B


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


def weighted_rows(
    features: FeatureMap, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B; `weights` None means one for every row.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_random_features
    >>> from granulearn.rvfl.ridge import weighted_rows
    >>> features = draw_random_features(1, 3, "tanh", direct_link=True, seed=0)
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [2.0]])
    >>> A, B = weighted_rows(features, X, Y, np.array([1.0, 1.0, 0.5]))
    >>> A[:, 0].tolist(), B.ravel().tolist()
    ([0.0, 1.0, 1.4142135623730951], [0.0, 1.0, 1.4142135623730951])
    """
    H, Y = features(X), Y.astype(np.float64)
    if weights is None:
        return H, Y
    root = np.sqrt(weights)[:, None]
    H *= root
    return H, root * Y


def normal_equations(
    features: FeatureMap, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> NormalEquations:
    """Sum A'A and A'B over blocks of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_random_features
    >>> from granulearn.rvfl.ridge import normal_equations
    >>> features = draw_random_features(1, 3, "tanh", direct_link=True, seed=0)
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [2.0]])
    >>> equations = normal_equations(features, X, Y, None)
    >>> equations.gram.shape, equations.moment.shape
    ((5, 5), (5, 1))
    """
    p = features.n_columns
    equations = NormalEquations.zeros(p, Y.shape[1], features.dtype)
    for block in row_blocks(len(X), p * features.dtype.itemsize):
        block_weights = None if weights is None else weights[block]
        equations.add(*weighted_rows(features, X[block], Y[block], block_weights))
    return equations


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
    if features.n_columns <= len(X):
        return solve_primal(normal_equations(features, X, Y, weights), C)
    return solve_dual(*weighted_rows(features, X, Y, weights), C)


def solve_rows(A: np.ndarray, B: np.ndarray, C: float) -> np.ndarray:
    """Return Theta for weighted rows in memory, by the cheaper of the two forms."""
    if A.shape[1] > len(A):
        return solve_dual(A, B, C)
    return solve_shifted(_adjoint(A) @ A, _adjoint(A) @ B, C)


def solve_primal(equations: NormalEquations, C: float) -> np.ndarray:
    """Solve ``(A'A + I/C) Theta = A'B``.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl.ridge import NormalEquations, solve_primal
    >>> A, B = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([[1.0], [3.0], [5.0]])
    >>> solve_primal(NormalEquations(A.T @ A, A.T @ B), C=1e6).round(3).ravel()
    array([1., 2.])
    """
    return solve_shifted(equations.gram, equations.moment, C)


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


def solve_dual(A: np.ndarray, B: np.ndarray, C: float) -> np.ndarray:
    """Return ``A' (A A' + I/C)^-1 B``.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl.ridge import solve_dual
    >>> A, B = np.array([[1.0, 0.0, 1.0]]), np.array([[2.0]])
    >>> solve_dual(A, B, C=1e9).round(3).ravel()  # three unknowns, one row: the shortest solution
    array([1., 0., 1.])
    """
    return _adjoint(A) @ solve_shifted(A @ _adjoint(A), B, C)


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
        scores[block] = features.scores(X[block], theta)
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
    """Say that rounding decides part of the solution, and what to do."""
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
