"""The audit of large tables: what all labels share is learnt from rows that are drawn.

How probabilities are calibrated, how many labels are wrong, and what is usual among inputs
is judged by a part of the rows, drawn by key. With that, any block of rows can be rated
alone, and gets the verdicts that it has in the table as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from granulearn.audit.noise_rate import NoiseRate, unverified_rate
from granulearn.audit.places import REFERENCES, Placing, place
from granulearn.audit.ratings import Ratings
from granulearn.audit.strangeness import STRANGE_FROM, StrangeRule, rule_of_places
from granulearn.audit.verdicts import Evidence, calibrated_evidence, rate_labels, weigh_evidence
from granulearn.balls.forest import BallForest
from granulearn.balls.row_keys import (
    Draw,
    DrawnRows,
    key_of_draw,
    least_draws,
    seen_by_trees,
)

# Up to so many labels all are looked at; of more, so many that are drawn stand for all.
TYPICAL_ROWS = 50_000
_KEY_NUMBER = 4


def typical_draw(n_rows: int) -> Draw:
    """Return the draw of rows that stand for all.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    """
    return Draw(key_of_draw(2**63, _KEY_NUMBER), (min(TYPICAL_ROWS, n_rows),), (n_rows,))


def typical_rows(keys: np.ndarray) -> np.ndarray | None:
    """Return rows of a large table that stand for all; None where all stand for themselves.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,)
        Of all rows, each of which counts once.
    """
    if len(keys) <= TYPICAL_ROWS:
        return None
    return least_draws(keys, typical_draw(len(keys)).key, TYPICAL_ROWS)[0]


def judged_evidence(
    proba: np.ndarray, given: np.ndarray, known: np.ndarray, drawn: np.ndarray | None
) -> tuple[Evidence, NoiseRate]:
    """Weigh class probabilities, and estimate the share of wrong labels.

    Parameters
    ----------
    proba, given, known : ndarray
        As for `weigh_evidence`.
    drawn : ndarray of int or None
        Rows that stand for all; None means all.
    """
    if drawn is None:
        evidence = weigh_evidence(proba, given, known)
        return evidence, unverified_rate(evidence)
    typical = weigh_evidence(proba[drawn], given[drawn], known[drawn])
    noise = unverified_rate(typical)
    return calibrated_evidence(proba, given, known, typical.skill, typical.power), noise


@dataclass(frozen=True, eq=False)
class RatingRule:
    """All that is needed to rate the labels of any rows of a large table."""

    classes: np.ndarray
    """(K,) the class labels, sorted."""
    forest: BallForest
    bags: np.ndarray
    """(n_trees, 2) which rows trees saw, see `seen_by_trees`."""
    alone: np.ndarray
    """(K,) true for a class of which there is a single row."""
    noise: NoiseRate
    power: float
    skill: float
    placing: Placing
    strange: StrangeRule | None
    references: np.ndarray
    """(m,) numbers of the rows that others are compared with."""

    def rate(
        self, X: np.ndarray, codes: np.ndarray, keys: np.ndarray, positions: np.ndarray
    ) -> Ratings:
        """Return what the audit says about some labels.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Inputs.
        codes : ndarray of shape (n_rows,)
            Number of the given class.
        keys : ndarray of shape (n_rows,)
            Key of each row.
        positions : ndarray of shape (n_rows,)
            Number of each row in the whole table.
        """
        proba = self.forest.out_of_bag_posterior(X, seen_by_trees(self.bags, keys))
        known = ~np.isnan(proba[:, 0]) & ~self.alone[codes]
        evidence = calibrated_evidence(proba, codes, known, self.skill, self.power)
        strange = self._is_strange(X, positions)
        return rate_labels(evidence, self.classes, self.noise.working_rates, strange)

    def _is_strange(self, X: np.ndarray, positions: np.ndarray) -> np.ndarray:
        if self.strange is None or len(X) == 0:
            return np.zeros(len(X), dtype=bool)
        order = np.argsort(self.references)
        at = np.searchsorted(self.references[order], positions).clip(max=len(order) - 1)
        own = np.where(self.references[order][at] == positions, order[at], -1)
        points = np.empty((len(X), self.placing.directions.shape[1]))
        rows = np.ascontiguousarray(X, dtype=np.float64)
        nearest, squares, _ = self.placing.compare(rows, own, points)
        return self.strange.scores(nearest, np.sqrt(squares)) > STRANGE_FROM


def rule_of_drawn(
    drawn: DrawnRows, classes: np.ndarray, forest: BallForest, bags: np.ndarray, alone: np.ndarray
) -> RatingRule:
    """Return how to rate all labels of a large table.

    Parameters
    ----------
    drawn : DrawnRows
        Rows that stand for all, from `typical_draw`.
    classes : ndarray of shape (n_classes,)
        The class labels, sorted.
    forest : BallForest
        The trees.
    bags : ndarray of shape (n_trees, 2)
        Which rows they saw.
    alone : ndarray of shape (n_classes,)
        True for a class of which there is a single row.
    """
    proba = forest.out_of_bag_posterior(drawn.X, seen_by_trees(bags, drawn.keys))
    known = ~np.isnan(proba[:, 0]) & ~alone[drawn.codes]
    evidence = weigh_evidence(proba, drawn.codes, known)
    places = place(drawn.X, drawn=np.arange(len(drawn)))
    return RatingRule(
        classes=classes,
        forest=forest,
        bags=bags,
        alone=alone,
        noise=unverified_rate(evidence),
        power=evidence.power,
        skill=evidence.skill,
        placing=places.placing,
        strange=rule_of_places(places),
        references=drawn.positions[:REFERENCES],
    )
