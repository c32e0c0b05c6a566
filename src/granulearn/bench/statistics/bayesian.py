"""The probability that one model is better, worse, or as good in practice."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from numpy.typing import ArrayLike

from granulearn._extras import check_installed
from granulearn.bench.statistics.score_checks import paired_scores


@dataclass(frozen=True, slots=True)
class BayesianComparison:
    """Posterior probabilities that sum to 1.

    Examples
    --------
    >>> from granulearn.bench.statistics import bayesian_signed_rank
    >>> said = bayesian_signed_rank([90, 85, 88, 79, 91], [80, 75, 78, 70, 82], rope=1.0)
    >>> said.first_better > 0.9
    True
    """

    first_better: float
    equivalent: float
    second_better: float


def bayesian_signed_rank(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rope: float,
    higher_is_better: bool = True,
    n_draws: int = 10_000,
    random_state: int = 0,
) -> BayesianComparison:
    """Compare two models by the Bayesian signed-rank test (Benavoli et al., 2014).

    The work is done by ``baycomp``, the library of the test's authors.

    Parameters
    ----------
    first, second : array-like of shape (n_sets,)
        Scores of the two models on the same sets.
    rope : float
        Region of practical equivalence: scores that differ by no more than this
        are as good as equal, in the unit of the scores (1.0 is one point of
        accuracy if accuracies are in percent). 0 leaves no room for equivalence.
    higher_is_better : bool, default=True
        False for errors and times.
    n_draws : int, default=10000
        Draws from the posterior; the probabilities are shares of these.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    BayesianComparison
        The three probabilities.

    Examples
    --------
    >>> from granulearn.bench.statistics import bayesian_signed_rank
    >>> said = bayesian_signed_rank([90, 85, 88, 79, 91], [90, 85, 88, 79, 91], rope=1.0)
    >>> said.equivalent > 0.9
    True
    """
    left, right = paired_scores(first, second)
    if not rope >= 0:
        raise ValueError(f"rope={rope!r} must not be negative; it is a width in score units.")
    sign = 1 if higher_is_better else -1
    probabilities = _signed_rank_test().probs(
        sign * left, sign * right, rope, nsamples=n_draws, random_state=random_state
    )
    if rope == 0:
        first_better, second_better = probabilities
        return BayesianComparison(float(first_better), 0.0, float(second_better))
    return BayesianComparison(*(float(p) for p in probabilities))


def _signed_rank_test() -> Any:
    # Imported when asked for: nothing else here needs it.
    check_installed("baycomp")
    return import_module("baycomp").SignedRankTest
