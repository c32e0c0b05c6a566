r"""Penalties with a graph: one factorisation for every width here, too.

GE-GB-RVFL solves :math:`(B + \tfrac{\gamma}{C} M^{-1} S_w) \Theta = A'Y` with
:math:`B = A'A + I/C` and :math:`M = S_b + \epsilon I`. The scatter between the
classes of an "lda" graph has few dimensions, :math:`S_b = V V'` with a column
of V fewer than there are classes. Times :math:`M / \epsilon` the system is

.. math::
    (P + \tfrac{1}{\epsilon} V Z') \Theta = A'Y + \tfrac{1}{\epsilon} V V'A'Y,
    \quad P = B + \tfrac{\gamma}{\epsilon C} S_w, \quad Z = B V ,

and its solution is :math:`P^{-1}(A'Y + V q)` with

.. math::
    (\epsilon I + Z' P^{-1} V) q = V'A'Y - Z' P^{-1} A'Y .

P is symmetric and positive definite, and that of a narrower network is a leading
block. So one Cholesky factor serves all widths, and each width has a q of its own,
found by a system of a row per column of V. Only sums are divided here: to subtract
what :math:`M^{-1}` takes from :math:`I / \epsilon` would lose half of the digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from granulearn.network import NormalEquations, solve_graph_ridge
from granulearn.network.graph import BETWEEN_SHIFT, class_deviations
from granulearn.selection.candidates import ColumnsGroup, PenaltyGroup
from granulearn.selection.fold import OutcomeTable
from granulearn.selection.judging import rounding_error
from granulearn.selection.prepared_model import PreparedModel
from granulearn.selection.ridge_path import (
    Factored,
    RidgePath,
    factor_shifted,
    leading,
    solve_factored,
)

# With this factor on the condition number of M, differences on the benchmark sets are less than
# a third of what is allowed for.
INVERSE_FACTOR = 3


def is_nested(estimator: Any) -> bool:
    """Return whether the graph of a narrow network is made of leading columns of a wide one's."""
    return estimator.graph == "lda" and estimator.graph_form == "published"


class GraphRidge(RidgePath):
    """The ridge with a graph at one penalty, for the widths that it was factored for.

    ``projected``, of shape (p, n_widths, n_outputs), differs from width to width.
    """

    # What M adds is not in the factor; differences on the benchmark sets are less than a ninth
    # of this, too.
    row_factor = 3

    def _of_widths(self) -> np.ndarray:
        return self.projected

    def at_widths(self, which: np.ndarray) -> GraphRidge:
        """Return the path of some of its widths, by a mask of them."""
        return replace(self, projected=self.projected[:, which])

    def scores(self, H: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the scores of the rows of `H` for each width; see `RidgePath`."""
        return self._scores_by_coefficients(H, columns)


@dataclass(frozen=True, eq=False)
class GraphSystems:
    """The systems of the widest network, at any penalty."""

    equations: NormalEquations
    """Normal equations: A'A, its columns contiguous, and A'Y."""
    within: np.ndarray
    """(p, p) gamma / epsilon times S_w, its columns contiguous."""
    between: np.ndarray
    """(p, rank) V."""

    @cached_property
    def norms(self) -> tuple[float, float]:
        """Largest sums of magnitudes in a column of A'A and of the scatter."""
        both = (self.equations.gram, self.within)
        gram, within = (float(np.abs(matrix).sum(axis=0).max()) for matrix in both)
        return gram, within

    def factored(self, C: float, columns: np.ndarray, limit: float) -> Factored | None:
        """Return the ridge of a penalty, as `RidgeSystems.factored` does."""
        factor = factor_shifted(self.equations.gram + self.within / C, C)
        if factor is None:
            return None
        try:
            solved = self._solve(factor, C, columns)
        except np.linalg.LinAlgError:
            return None
        ridge = GraphRidge(factor, solved.projected, C)
        condition = ridge.condition(self._norm(C))
        error = self._error(condition, solved.growth)
        # No lead is larger than infinity: the solver of `fit` decides at these widths.
        return Factored(ridge, np.where(error < limit, error, np.inf))

    def _norm(self, C: float) -> float:
        """Return a bound on the largest sum of magnitudes in a column of P."""
        gram_norm, within_norm = self.norms
        return gram_norm + (within_norm + 1) / C

    def _error(self, condition: float, growth: np.ndarray) -> np.ndarray:
        """Return how far the scores of each width may be from those of `fit`, which inverts M."""
        condition_of_inverse = 1 + np.square(self.between).sum() / BETWEEN_SHIFT
        condition += INVERSE_FACTOR * condition_of_inverse
        return np.array([rounding_error(condition * one) for one in growth])

    def _solve(self, factor: np.ndarray, C: float, columns: np.ndarray) -> _Solved:
        p, rank = self.between.shape
        V, moment = self.between, self.equations.moment
        used = leading(p, columns)[:, :, None]
        nested = np.where(used, V[:, None], 0)
        Z = self._gram_times_between(columns) + nested / C
        roots = [V, moment, Z.reshape(p, -1)]
        solved = solve_factored(factor, np.asfortranarray(np.column_stack(roots)))
        V_root, moment_root, Z_root = np.split(solved, [rank, rank + moment.shape[1]], axis=1)
        # For each width, what lies beyond its columns is left out of the sums.
        Z_root = np.where(used, Z_root.reshape(p, len(columns), rank), 0)
        products = np.tensordot(Z_root, solved[:, : rank + moment.shape[1]], (0, 0))
        inner = products[:, :, :rank] + BETWEEN_SHIFT * np.eye(rank)
        target = np.tensordot(nested, moment, (0, 0)) - products[:, :, rank:]
        inverse = np.linalg.inv(inner)
        projected = moment_root[:, None] + np.einsum("pr,wro->pwo", V_root, inverse @ target)
        V_norms = np.sqrt(np.square(np.where(used, V_root[:, None], 0)).sum(axis=(0, 2)))
        Z_norms = np.sqrt(np.square(Z_root).sum(axis=(0, 2)))
        growth = 1 + V_norms * Z_norms * np.linalg.norm(inverse, axis=(1, 2))
        return _Solved(projected, growth)

    def _gram_times_between(self, columns: np.ndarray) -> np.ndarray:
        """Return A'A V of each width, of shape (p, n_widths, rank), zero beyond its columns."""
        key = columns.tobytes()
        if key not in self._products:
            p, rank = self.between.shape
            used = leading(p, columns)[:, :, None]
            nested = np.where(used, self.between[:, None], 0).reshape(p, -1)
            product = (self.equations.gram @ nested).reshape(p, len(columns), rank)
            self._products[key] = np.where(used, product, 0)
        return self._products[key]

    @cached_property
    def _products(self) -> dict[bytes, np.ndarray]:
        return {}


@dataclass(frozen=True, eq=False)
class _Solved:
    projected: np.ndarray
    """(p, n_widths, n_outputs) L^-1 (A'Y + V q)."""
    growth: np.ndarray
    """(n_widths,) how much more than the factor alone the system of a width magnifies rounding."""


def open_graph_systems(
    equations: NormalEquations, H: np.ndarray, codes: np.ndarray, gamma: float
) -> GraphSystems:
    """Return the systems of a network on rows H of classes `codes`.

    Parameters
    ----------
    equations : NormalEquations
        Normal equations of the widest network.
    H : ndarray of shape (k, p)
        Features of the rows.
    codes : ndarray of shape (k,)
        Class of each row.
    gamma : float
        Strength of the graph.
    """
    deviations, spread = class_deviations(H, codes)
    # The spreads of the classes, each times the root of its size, sum to zero.
    basis = linalg.null_space(np.sqrt(np.bincount(codes))[None])
    return GraphSystems(
        NormalEquations(np.asfortranarray(equations.gram), equations.moment),
        np.asfortranarray(deviations.T @ deviations) * (gamma / BETWEEN_SHIFT),
        spread.T @ basis,
    )


@dataclass(frozen=True, eq=False)
class GraphsByWidth:
    """Networks whose graphs differ from width to width; penalties share one."""

    model: PreparedModel
    same_columns: ColumnsGroup

    def evaluate(self, group: PenaltyGroup, table: OutcomeTable) -> np.ndarray:
        """Add the outcomes of candidates of one penalty; return which candidates have one."""
        for place, size in zip(group.places.tolist(), group.sizes.tolist(), strict=True):
            equations, G = self._system(size)
            coef = solve_graph_ridge(equations, G, group.C)
            fitted = self.model.fitted(self.same_columns.network(group.C, size), coef)
            table.add(place, self.model.score(fitted))
        return np.ones(len(group.sizes), dtype=bool)

    def _system(self, size: int) -> tuple[NormalEquations, np.ndarray]:
        if size not in self._systems:
            model, network = self.model, self.same_columns.network(1.0, size)
            features = model.features(network)
            self._systems[size] = model.estimator._graph_system(
                features, model.rows, model.targets.Y
            )
        return self._systems[size]

    @cached_property
    def _systems(self) -> dict[int, tuple[NormalEquations, np.ndarray]]:
        return {}
