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
from typing import Any, NamedTuple

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
    leading_lengths,
    solve_factored,
    weight_lengths,
)

# With this factor on the condition number of M, and on a bound on that of P, differences on the
# benchmark sets are less than a third of what is allowed for.
CONDITION_FACTOR = 3


def is_nested(estimator: Any) -> bool:
    """Return whether the graph of a narrow network is made of leading columns of a wide one's."""
    return estimator.graph == "lda" and estimator.graph_form == "published"


@dataclass(frozen=True, eq=False)
class GraphRidge(RidgePath):
    r"""The ridge with a graph at one penalty, for the widths that it was factored for.

    ``projected``, of shape (p, n_widths, n_outputs), differs from width to width.

    Notes
    -----
    How far rounding moves the score of a row h: `fit` solves :math:`T \Theta = A'Y` with
    :math:`T = B + \tfrac{\gamma}{C} M^{-1} S_w`, and :math:`M T = \epsilon P + V Z'`. Let
    :math:`u = (M T)^{-T} h` and :math:`g = V'u`. The score is off by

    - :math:`(M u)' D \Theta` when T is off by D, a share of the trace of P,
    - :math:`u' E R` when M is off by E before it is inverted, where
      :math:`R = \tfrac{\gamma}{C} M^{-1} S_w \Theta`,
    - :math:`g'd` when the system of q is off by d.

    By the formula for q, :math:`g = (\epsilon I + Z'P^{-1}V)^{-T} V'P^{-1}h` and
    :math:`\epsilon u = P^{-1}(h - Z g)`. No eigenvalue of P is below 1/C, so that the latter is no
    longer than :math:`\sqrt{C} (|L^{-1}h| + |L^{-1}Z| |g|)`; and :math:`M u = V g + \epsilon u`.
    """

    systems: GraphSystems
    small: SmallSystems

    def _of_widths(self) -> np.ndarray:
        return self.projected

    def at_widths(self, which: np.ndarray) -> GraphRidge:
        """Return the path of some of its widths, by a mask of them."""
        return replace(self, projected=self.projected[:, which], small=self.small.at_widths(which))

    def scores(self, H: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the scores of the rows of `H` for each width; see `RidgePath`."""
        return self._scores_by_coefficients(H, columns)

    def moved_by_rounding(self, H: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return how far rounding can move the scores of rows, in units of eps; see `RidgePath`.

        Differences on the benchmark sets are less than a seventh of this.
        """
        small, theta = self.small, self.coefficients(columns)
        between_norms = np.square(leading_lengths(self.systems.between, columns)).sum(axis=1)
        roots = self.roots_of(H)
        g = np.linalg.norm(small.response_to(roots, columns), axis=1)
        u = leading_lengths(roots, columns) + small.Z_lengths[:, None] * g
        u *= np.sqrt(self.C)  # times epsilon
        system = self.traces(columns) * weight_lengths(theta)
        inverse = (1 + between_norms / BETWEEN_SHIFT) * self._pull_lengths(theta, columns)
        of_u, of_g = system + inverse, np.sqrt(between_norms) * system + small.q_terms
        return of_u[:, None] * u + of_g[:, None] * g

    def _pull_lengths(self, theta: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the lengths of R, with which the graph pulls at the weights of each width."""
        systems, used = self.systems, leading(len(theta), columns)[:, :, None]
        V = systems.between
        pull = np.tensordot(systems.within, theta, 1) / self.C
        pull = np.where(used, pull, 0)
        along = np.einsum("pr,pwo->wro", V, pull)
        squares = np.stack([V[:p].T @ V[:p] for p in columns])
        inner = squares + BETWEEN_SHIFT * np.eye(V.shape[1])
        pull -= np.where(used, np.einsum("pr,wro->pwo", V, np.linalg.solve(inner, along)), 0)
        return np.linalg.norm(pull, axis=(0, 2))


@dataclass(frozen=True, eq=False)
class SmallSystems:
    """The systems of q, one for each width."""

    V_root: np.ndarray
    """(p, rank) L^-1 V."""
    inverse: np.ndarray
    """(n_widths, rank, rank) inverses of epsilon I + Z'P^-1 V."""
    Z_lengths: np.ndarray
    """(n_widths,) lengths of L^-1 Z."""
    q_terms: np.ndarray
    """(n_widths,) no smaller than the sums of magnitudes in a system and its right-hand side."""
    growth: np.ndarray
    """(n_widths,) how much more than the factor alone the system of a width magnifies rounding."""

    def at_widths(self, which: np.ndarray) -> SmallSystems:
        """Return the systems of some of the widths, by a mask of them."""
        return replace(
            self,
            inverse=self.inverse[which],
            Z_lengths=self.Z_lengths[which],
            q_terms=self.q_terms[which],
            growth=self.growth[which],
        )

    def response_to(self, roots: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return g, of shape (n_widths, rank, n_rows), for rows whose L^-1 h is given."""
        used = leading(len(roots), columns)[:, :, None]
        sums = np.tensordot(np.where(used, self.V_root[:, None], 0), roots, (0, 0))
        return self.inverse.transpose(0, 2, 1) @ sums


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
        system = self.within / C
        system += self.equations.gram
        diagonal = system.diagonal() + 1 / C
        factor = factor_shifted(system, C)
        if factor is None:
            return None
        try:
            projected, small = self._solve(factor, C, columns)
        except np.linalg.LinAlgError:
            return None
        ridge = GraphRidge(factor, projected, C, diagonal, self, small)
        # No eigenvalue of P is below 1/C. Where this bound says too little, it is estimated.
        norm = self._norm(C)
        error = self._error(CONDITION_FACTOR * C * norm, small.growth)
        if not (error < limit).all():
            error = self._error(ridge.condition(norm), small.growth)
        # No lead is larger than infinity: the solver of `fit` decides at these widths.
        return Factored(ridge, np.where(error < limit, error, np.inf))

    def _norm(self, C: float) -> float:
        """Return a bound on the largest sum of magnitudes in a column of P."""
        gram_norm, within_norm = self.norms
        return gram_norm + (within_norm + 1) / C

    def _error(self, condition: float, growth: np.ndarray) -> np.ndarray:
        """Return how far the scores of each width may be from those of `fit`, which inverts M."""
        condition_of_inverse = 1 + np.square(self.between).sum() / BETWEEN_SHIFT
        condition += CONDITION_FACTOR * condition_of_inverse
        return np.array([rounding_error(condition * one) for one in growth])

    def _solve(
        self, factor: np.ndarray, C: float, columns: np.ndarray
    ) -> tuple[np.ndarray, SmallSystems]:
        """Return L^-1 (A'Y + V q), of shape (p, n_widths, n_outputs), and the systems of q."""
        p, rank = self.between.shape
        moment, fixed = self.equations.moment, self._without_penalty(columns)
        n_outputs = moment.shape[1]
        Z = fixed.product + fixed.V / C
        roots = np.concatenate([self.between, moment, Z.reshape(p, -1)], axis=1)
        solved = solve_factored(factor, np.asfortranarray(roots))
        V_root, moment_root = solved[:, :rank], solved[:, rank : rank + n_outputs]
        # For each width, what lies beyond its columns is left out of the sums.
        Z_root = solved[:, rank + n_outputs :].reshape(Z.shape) * fixed.used
        products = np.tensordot(Z_root, solved[:, : rank + n_outputs], (0, 0))
        inner = products[:, :, :rank] + BETWEEN_SHIFT * np.eye(rank)
        inverse = np.linalg.inv(inner)
        # Not by the inverse: where V is nearly of lower rank, that would lose three digits.
        q = np.linalg.solve(inner, fixed.target - products[:, :, rank:])
        projected = moment_root[:, None] + np.einsum("pr,wro->pwo", V_root, q)
        Z_lengths = np.sqrt(np.square(Z_root).sum(axis=(0, 2)))
        lengths = leading_lengths(solved[:, : rank + n_outputs], columns)
        V_lengths = np.linalg.norm(lengths[:, :rank], axis=1)
        moment_lengths = np.linalg.norm(lengths[:, rank:], axis=1)
        q_terms = Z_lengths * (V_lengths * np.linalg.norm(q, axis=(1, 2)) + moment_lengths)
        growth = 1 + V_lengths * Z_lengths * np.linalg.norm(inverse, axis=(1, 2))
        return projected, SmallSystems(V_root, inverse, Z_lengths, q_terms, growth)

    def _without_penalty(self, columns: np.ndarray) -> _WithoutPenalty:
        """Return what no penalty changes, zero beyond the columns of a width."""
        key = columns.tobytes()
        if key not in self._known_widths:
            p = len(self.between)
            used = leading(p, columns)[:, :, None]
            V = np.where(used, self.between[:, None], 0)
            product = (self.equations.gram @ V.reshape(p, -1)).reshape(V.shape)
            target = np.tensordot(V, self.equations.moment, (0, 0))
            self._known_widths[key] = _WithoutPenalty(used, V, np.where(used, product, 0), target)
        return self._known_widths[key]

    @cached_property
    def _known_widths(self) -> dict[bytes, _WithoutPenalty]:
        return {}


class _WithoutPenalty(NamedTuple):
    used: np.ndarray
    """(p, n_widths, 1) whether a column is one of a width's."""
    V: np.ndarray
    """(p, n_widths, rank) V."""
    product: np.ndarray
    """(p, n_widths, rank) A'A V."""
    target: np.ndarray
    """(n_widths, rank, n_outputs) V'A'Y."""


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
