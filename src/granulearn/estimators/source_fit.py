"""Members of the robust classifier on rows drawn of a large table: who pays, how they share.

Small members come first: they tell whether larger ones pay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from granulearn.balls.forest import GrownForest
from granulearn.balls.row_keys import DrawnRows
from granulearn.estimators.ball_forest import BallForestClassifier
from granulearn.estimators.boosting import BoostingFit, boosting_job, warn_without_boosting
from granulearn.estimators.committee import RVFLCommitteeClassifier
from granulearn.estimators.committee_fit import DrawnFit
from granulearn.estimators.row_source import (
    RowSource,
    factors_of_classes,
    job_of_judged,
    judging_weights,
    unseen_by_trees,
)
from granulearn.estimators.shares import shares_of_members, within_forest

# A member whose share of a first look at a large table is smaller does not share in the mean.
WORTH_ITS_SIZE = 0.1


@dataclass(frozen=True, eq=False)
class SourceFit:
    """Members that were fitted to rows drawn of a large table."""

    forest: BallForestClassifier
    grown: GrownForest
    committee: RVFLCommitteeClassifier
    networks: DrawnFit
    boosting: BoostingFit | None
    judged: DrawnRows
    """The rows by which members were judged, and which boosted trees did not see."""
    weights: np.ndarray
    """How much each of these counts."""
    unseen_by_weighing: np.ndarray
    """(n_weighings, n_judged, n_classes) what trees that did not see them predict."""
    unseen_by_others: list[np.ndarray]
    """The same of the committee and, if there are some, of boosted trees."""
    shares: np.ndarray
    """Shares of the weighings and of the others in the mean."""

    @property
    def shares_of_weighings(self) -> np.ndarray:
        """How the forest's weighings share in it."""
        return within_forest(self.shares[: len(self.unseen_by_weighing)])


def fit_members_of_source(
    source: RowSource,
    forest: BallForestClassifier,
    committee: RVFLCommitteeClassifier,
    *,
    chooses: bool,
    boosts: bool,
    n_threads: int,
) -> SourceFit:
    """Fit members to rows drawn of a large table, and choose how they share in the mean.

    All are judged by the same rows, which boosted trees did not see.

    Parameters
    ----------
    source : RowSource
        The table.
    forest, committee : BallForestClassifier, RVFLCommitteeClassifier
        Not fitted, of the same `class_weight`.
    chooses : bool
        Whether shares are chosen; if so, a member that does not pay stays small.
    boosts : bool
        Whether there are boosted trees, if they can be fitted.
    n_threads : int
        Threads; they change no result.
    """
    frame, factors = source.frame, factors_of_classes(forest.class_weight, source)
    of_judged = boosting_job(source, factors, n_threads) if boosts else job_of_judged(frame)
    jobs = [of_judged, committee._job(source, first_look=chooses)]
    (found, networks), grown = source.fit(jobs, forest._tree_job(source, chooses))
    boosting, judged = (found.fit, found.held_out) if boosts else (None, found)
    if boosts and boosting is None:
        warn_without_boosting(found.problem)
    weights = judging_weights(judged, frame, factors)

    def look_at_unseen() -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        by_weighing = unseen_by_trees(source, grown, judged)
        others = [committee._unseen(networks, judged)]
        if boosting is not None:
            others.append(boosting.out_of_sample)
        shares = shares_of_members(judged.codes, weights, by_weighing, others, chooses)
        return by_weighing, others, shares

    by_weighing, others, shares = look_at_unseen()
    if chooses:
        n_weighings = len(by_weighing)
        forest_pays = shares[:n_weighings].sum() >= WORTH_ITS_SIZE
        committee_pays = shares[n_weighings] >= WORTH_ITS_SIZE
        chosen = networks.fit.activation
        jobs = [committee._job(source, activation=chosen)] if committee_pays else []
        done, larger = source.fit(jobs, forest._tree_job(source) if forest_pays else None)
        networks, grown = done[0] if done else networks, larger or grown
        by_weighing, others, shares = look_at_unseen()
        shares[:n_weighings] *= forest_pays
        shares[n_weighings] *= committee_pays
        shares /= shares.sum()
    return SourceFit(
        forest, grown, committee, networks, boosting, judged, weights, by_weighing, others, shares
    )
