"""One factorisation for every width of a random network.

With the columns of H in the order [direct link, bias, hidden 1..h], a narrow
network's columns are the leading ones of a wide network's. So its Gram matrix
G is a leading block, and the Cholesky factor of a leading block is the leading
block of the factor. With ``L L' = G + I/C`` of the widest network,
``z = L^-1 A'B`` and ``Q = H L^-T``, the network of the first p columns has

- output weights ``L_p^-T z_p``, which is ``L^-T`` times z cut off after p, and
- scores ``Q_p z_p``: the first p terms of one sum.

``'`` means the conjugate transpose when H is complex; scores are real parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from granulearn.network import NormalEquations

# Options of BLAS; the first means the plain transpose when the factor is real.
CONJUGATE_TRANSPOSE = 2
FROM_THE_RIGHT = 1

SUMMED_TOGETHER = 8

# With this factor, differences on the benchmark sets are less than a fifth of what is allowed for.
# Nearest to it are ball models of more columns than balls, which `fit` solves in the dual form.
ROW_FACTOR = 3


@dataclass(frozen=True, eq=False)
class RidgePath:
    """The ridge at one penalty, for every number of leading columns."""

    factor: np.ndarray
    """(p, p) the Cholesky factor L; only its lower triangle has a meaning."""
    projected: np.ndarray
    """(p, n_outputs) z."""
    C: float
    """Inverse of the penalty."""
    diagonal: np.ndarray
    """(p,) the diagonal of the system."""

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.projected.shape[-1]

    def difference(self) -> RidgePath:
        """Return the path of the second of two outputs minus the first."""
        return replace(self, projected=np.diff(self.projected))

    def condition(self, norm: float) -> float:
        """Estimate the condition number of the system; for fewer columns it is no larger.

        Parameters
        ----------
        norm : float
            Largest sum of magnitudes in a column of the system.
        """
        pocon: Any = linalg.get_lapack_funcs("pocon", (self.factor,))
        reciprocal, _ = pocon(self.factor, norm, uplo="L")
        return 1 / reciprocal if reciprocal > 0 else np.inf

    def coefficients(self, columns: np.ndarray) -> np.ndarray:
        """Return the output weights for each number of leading columns.

        Parameters
        ----------
        columns : ndarray of shape (n_widths,)
            Numbers of leading columns, ascending.

        Returns
        -------
        ndarray of shape (p, n_widths, n_outputs)
            Output weights; those beyond each number of columns are zero.
        """
        p = len(self.projected)
        cut_off = np.where(leading(p, columns)[:, :, None], self._of_widths(), 0)
        solved = solve_factored(self.factor, cut_off.reshape(p, -1), trans_a=CONJUGATE_TRANSPOSE)
        return solved.reshape(p, len(columns), self.n_outputs)

    def _of_widths(self) -> np.ndarray:
        """Return z with an axis for the widths, which share it."""
        return self.projected[:, None]

    def at_widths(self, which: np.ndarray) -> RidgePath:
        """Return the path of some of the widths that it is asked for, by a mask of them."""
        return self

    def sensitivities(self, H: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return how far rounding in the system ``K = G + I/C`` can move the scores of rows.

        When K is off by D, the score of a row h is off by ``h' K^-1 D Theta``. No eigenvalue of
        K is below 1/C, so that ``K^-1 h`` is no longer than the root of C times ``L^-1 h``. What
        is returned, times the length of Theta, times the share that D is of the trace of K, is
        more than the score is off by.

        Parameters
        ----------
        H : ndarray of shape (n_rows, p)
            Rows of features.
        columns : ndarray of shape (n_widths,)
            Numbers of leading columns, ascending.

        Returns
        -------
        ndarray of shape (n_widths, n_rows)
            The root of C times the length of ``L^-1 h`` times the trace of K.
        """
        lengths = leading_lengths(self.roots_of(H), columns)
        return np.sqrt(self.C) * lengths * self.traces(columns)[:, None]

    def moved_by_rounding(self, H: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return how far rounding can move the scores of rows, in units of eps.

        Two ways to compute a score differ by less.

        Parameters
        ----------
        H : ndarray of shape (n_rows, p)
            Rows of features.
        columns : ndarray of shape (n_widths,)
            Numbers of leading columns, ascending.

        Returns
        -------
        ndarray of shape (n_widths, n_rows)
            The sensitivities times the lengths of the output weights, and a factor.
        """
        lengths = weight_lengths(self.coefficients(columns))
        return ROW_FACTOR * lengths[:, None] * self.sensitivities(H, columns)

    def roots_of(self, H: np.ndarray) -> np.ndarray:
        """Return ``L^-1 h`` for each row, of shape (p, n_rows)."""
        return solve_factored(self.factor, np.asfortranarray(H.conj().T))

    def traces(self, columns: np.ndarray) -> np.ndarray:
        """Return the trace of the system for each number of leading columns."""
        return np.cumsum(self.diagonal)[columns - 1]

    def scores(self, H: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the scores of the rows of `H` for each number of leading columns.

        Parameters
        ----------
        H : ndarray of shape (n_rows, p)
            Rows of features.
        columns : ndarray of shape (n_widths,)
            Numbers of leading columns, ascending.

        Returns
        -------
        ndarray of shape (n_outputs, n_widths, n_rows)
            Real parts of the scores.
        """
        # Few widths: their weights cost less than Q. Many: Q serves them all.
        if len(columns) * self.n_outputs < len(H):
            return self._scores_by_coefficients(H, columns)
        return self._scores_by_sums(H, columns)

    def _scores_by_coefficients(self, H: np.ndarray, columns: np.ndarray) -> np.ndarray:
        weights = self.coefficients(columns).reshape(len(self.projected), -1)
        scores = (H @ weights).real
        return scores.reshape(len(H), len(columns), self.n_outputs).transpose(2, 1, 0)

    def _scores_by_sums(self, H: np.ndarray, columns: np.ndarray) -> np.ndarray:
        Q = solve_factored(self.factor, H, side=FROM_THE_RIGHT, trans_a=CONJUGATE_TRANSPOSE)
        # Transposed, so that the sums run down contiguous rows.
        sums = [_running_sums((Q.T * z[:, None]).real) for z in self.projected.T]
        return np.stack([rows[_last_terms(columns)] for rows in sums])


class Factored(NamedTuple):
    """A path, and how far it can be trusted."""

    ridge: RidgePath
    error: float | np.ndarray
    """How far rounding can move the outputs of the ridge, relative to the largest one; perhaps one
    number for each width."""


def factor_ridge(equations: NormalEquations, C: float) -> RidgePath | None:
    """Factor ``G + I/C``; None when it is not positive definite in floating point.

    Parameters
    ----------
    equations : NormalEquations
        Normal equations of the widest network.
    C : float
        Inverse of the penalty.
    """
    diagonal = equations.gram.diagonal().real + 1 / C
    factor = factor_shifted(np.array(equations.gram, order="F"), C)
    if factor is None:
        return None
    return RidgePath(factor, solve_factored(factor, equations.moment), C, diagonal)


def factor_shifted(gram: np.ndarray, C: float) -> np.ndarray | None:
    """Overwrite a matrix, its columns contiguous, by the factor of it plus I/C; None as above."""
    diagonal = np.einsum("ii->i", gram)  # a view
    diagonal += 1 / C
    potrf: Any = linalg.get_lapack_funcs("potrf", (gram,))
    factor, failed_at = potrf(gram, lower=True, clean=False, overwrite_a=True)
    return None if failed_at else factor


def leading(p: int, columns: np.ndarray) -> np.ndarray:
    """Return, of shape (p, n_widths), whether each column is one of a width's."""
    return np.arange(p)[:, None] < columns


def solve_factored(factor: np.ndarray, B: np.ndarray, **how: int) -> np.ndarray:
    """Solve a system with the lower triangle of the factor, by BLAS."""
    trsm: Any = linalg.get_blas_funcs("trsm", (factor, B))
    return trsm(1, factor, B, lower=True, **how)


def _last_terms(columns: np.ndarray) -> np.ndarray | slice:
    """Return the index of the last term of each sum; a slice, which copies nothing, if it can."""
    consecutive = (np.diff(columns) == 1).all()
    return slice(columns[0] - 1, columns[-1]) if consecutive else columns - 1


def weight_lengths(coefficients: np.ndarray) -> np.ndarray:
    """Return how long the output weights of each width are, those of a contrast at least.

    Parameters
    ----------
    coefficients : ndarray of shape (p, n_widths, n_outputs)
        Output weights, as `RidgePath.coefficients` returns them.
    """
    # Two outputs have one contrast. Their sum is fitted to ones, and no longer than the bias.
    return np.linalg.norm(coefficients, axis=(0, 2)) + 1


def leading_lengths(vectors: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the lengths of the columns of a matrix, cut off after each of some numbers of rows.

    Parameters
    ----------
    vectors : ndarray of shape (p, n)
        One vector in each column.
    columns : ndarray of shape (n_widths,)
        Numbers of leading rows, ascending.

    Returns
    -------
    ndarray of shape (n_widths, n)
        Lengths.
    """
    # A product with zeros and ones takes less time than running sums, unless widths are many.
    used = leading(len(vectors), columns).astype(np.float64)
    return np.sqrt(used.T @ np.square(np.abs(vectors)))


def _running_sums(terms: np.ndarray) -> np.ndarray:
    """Overwrite each row by the sum of the rows up to it.

    `numpy.cumsum` adds number by number; whole rows at once take half the time.
    """
    n_whole = len(terms) - len(terms) % SUMMED_TOGETHER
    blocks = terms[:n_whole].reshape(-1, SUMMED_TOGETHER, terms.shape[1])
    for at in range(1, SUMMED_TOGETHER):
        blocks[:, at] += blocks[:, at - 1]
    blocks[1:] += np.cumsum(blocks[:-1, -1], axis=0)[:, None]
    for at in range(max(n_whole, 1), len(terms)):
        terms[at] += terms[at - 1]
    return terms
