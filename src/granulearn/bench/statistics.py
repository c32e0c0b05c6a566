"""Comparing models over data sets: ranks, Friedman, Nemenyi, Wilcoxon-Holm; in words."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.resources import as_file, files
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from granulearn._extras import check_installed


@dataclass(frozen=True, slots=True)
class OmnibusTest:
    """A test of whether all models are equally good."""

    statistic: float
    p_value: float
    degrees_of_freedom: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`; it prints as text.

    See Also
    --------
    granulearn.bench.compare : Makes one.
    granulearn.bench.describe : Describes it as text.
    granulearn.bench.plot_critical_difference : Draws it.

    Examples
    --------
    >>> from granulearn.bench import compare, paper_accuracy_table
    >>> comparison = compare(paper_accuracy_table())
    >>> comparison.ranks.round(2).tolist()
    [4.51, 5.22, 4.86, 5.16, 5.72, 5.26, 3.2, 2.07]
    >>> round(comparison.critical_difference, 2)
    1.73
    """

    means: pd.Series
    """Mean score of each model."""
    ranks: pd.Series
    """Average rank of each model; 1 is best."""
    friedman: OmnibusTest
    """Plain chi2, as papers print it."""
    iman_davenport: OmnibusTest
    """F of the plain chi2."""
    friedman_tie_corrected: OmnibusTest
    """chi2 corrected for equal scores: the one to trust when there are many."""
    iman_davenport_tie_corrected: OmnibusTest
    """F of the corrected chi2."""
    critical_difference: float
    """Nemenyi: average ranks this far apart differ at level `alpha`."""
    pairwise: pd.DataFrame
    """One row per pair: ``first``, ``second``; ``wins``, ``ties``, ``losses`` of the
    first; ``mean_difference`` (first minus second); ``rank_difference``;
    ``nemenyi_p``, ``nemenyi_separates``; ``wilcoxon_p``, ``holm_p``; and, if a
    region of practical equivalence was given, ``p_first_better``,
    ``p_equivalent`` and ``p_second_better``."""
    alpha: float
    """Level of the critical difference."""
    higher_is_better: bool
    """Whether a larger score is a better one."""
    sets: tuple
    """Sets that were compared."""
    dropped: tuple
    """Sets that were left out because a score is missing."""

    def __repr__(self) -> str:
        models, sets = len(self.means), len(self.sets)
        return f"<Comparison of {models} models on {sets} sets>\n{describe(self)}"

    def _repr_html_(self) -> str:
        table = pd.DataFrame({"mean score": self.means, "average rank": self.ranks})
        return table.loc[self.best_first].round(2).to_html()

    @property
    def best_first(self) -> list:
        """Models by average rank."""
        return list(self.ranks.sort_values(kind="stable").index)

    @property
    def separated_pairs(self) -> list[tuple[str, str]]:
        """Pairs that the Nemenyi test separates, the better one first."""
        found = self.pairwise[self.pairwise["nemenyi_separates"]]
        pairs = zip(found["first"], found["second"], found["rank_difference"], strict=True)
        return [(a, b) if gap < 0 else (b, a) for a, b, gap in pairs]

    def p_matrix(
        self, column: Literal["holm_p", "wilcoxon_p", "nemenyi_p"] = "holm_p"
    ) -> pd.DataFrame:
        """Return a p-value of all pairs as a symmetric table with ones on the diagonal."""
        models = list(self.means.index)
        matrix = pd.DataFrame(1.0, index=models, columns=models)
        for first, second, p_value in self.pairwise[["first", "second", column]].to_numpy():
            matrix.loc[first, second] = matrix.loc[second, first] = p_value
        return matrix


def compare(
    table: pd.DataFrame,
    *,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    missing: Literal["error", "drop"] = "error",
    rope: float | None = None,
    random_state: int = 0,
) -> Comparison:
    """Compare models over data sets.

    Parameters
    ----------
    table : DataFrame of shape (n_sets, n_models)
        Scores; the index names the sets.
    alpha : float, default=0.05
        Level of the critical difference.
    higher_is_better : bool, default=True
        Whether a larger score is a better one.
    missing : {"error", "drop"}, default="error"
        What to do with a set that lacks a score.
    rope : float, default=None
        Differences this small count as none; adds the Bayesian signed-rank test.
    random_state : int, default=0
        Seed of the Bayesian test.

    Returns
    -------
    Comparison
        Ranks, tests and pairs.

    References
    ----------
    Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Examples
    --------
    >>> from granulearn.bench import compare, paper_accuracy_table
    >>> result = compare(paper_accuracy_table())
    >>> round(result.iman_davenport.statistic, 2)
    12.36
    """
    scores, dropped = _complete_scores(table, missing)
    n_sets, n_models = scores.shape
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must lie strictly between 0 and 1; 0.05 is usual.")
    each = stats.rankdata(-scores if higher_is_better else scores, axis=1)
    ranks = pd.Series(each.mean(axis=0), index=scores.columns)
    plain, corrected = _friedman(each, 0.0), _friedman(each, _tied_fraction(each))
    # Both are quantities of the studentized range, which is in units of error / sqrt(2).
    error = np.sqrt(n_models * (n_models + 1) / (6 * n_sets)) / np.sqrt(2)
    difference = float(error * stats.studentized_range.ppf(1 - alpha, n_models, np.inf))
    pairs = pd.DataFrame(list(combinations(scores.columns, 2)), columns=["first", "second"])
    first, second = (scores[pairs[side]].to_numpy() for side in ("first", "second"))
    gains = first - second if higher_is_better else second - first
    gaps = ranks[pairs["first"]].to_numpy() - ranks[pairs["second"]].to_numpy()
    tails = stats.studentized_range.sf(np.abs(gaps) / error, n_models, np.inf)
    pairs = pairs.assign(
        wins=(gains > 0).sum(axis=0),
        ties=(gains == 0).sum(axis=0),
        losses=(gains < 0).sum(axis=0),
        mean_difference=(first - second).mean(axis=0),
        rank_difference=gaps,
        # Numerical integration may leave [0, 1] by a rounding error.
        nemenyi_p=np.clip(tails, 0, 1),
        nemenyi_separates=np.abs(gaps) >= difference,
        wilcoxon_p=[wilcoxon_p_value(a, b) for a, b in zip(first.T, second.T, strict=True)],
    )
    pairs["holm_p"] = holm_adjust(pairs["wilcoxon_p"])
    if rope is not None:
        pairs[["p_first_better", "p_equivalent", "p_second_better"]] = [
            _bayesian_signed_rank(gain, rope, random_state) for gain in gains.T
        ]
    return Comparison(
        means=scores.mean(),
        ranks=ranks,
        friedman=plain,
        iman_davenport=_iman_davenport(plain, n_sets, n_models),
        friedman_tie_corrected=corrected,
        iman_davenport_tie_corrected=_iman_davenport(corrected, n_sets, n_models),
        critical_difference=difference,
        pairwise=pairs,
        alpha=alpha,
        higher_is_better=higher_is_better,
        sets=tuple(scores.index),
        dropped=dropped,
    )


def _friedman(ranks: np.ndarray, tied_fraction: float) -> OmnibusTest:
    n_sets, n_models = ranks.shape
    spread = np.sum((ranks.mean(axis=0) - (n_models + 1) / 2) ** 2)
    chi2 = 12 * n_sets / (n_models * (n_models + 1)) * spread
    chi2 = chi2 / (1 - tied_fraction) if chi2 > 0 else chi2
    return OmnibusTest(float(chi2), float(stats.chi2.sf(chi2, n_models - 1)), (n_models - 1,))


def _tied_fraction(ranks: np.ndarray) -> float:
    n_sets, n_models = ranks.shape
    sizes = np.concatenate([np.unique(row, return_counts=True)[1] for row in ranks])
    return float(np.sum(sizes**3 - sizes) / (n_sets * n_models * (n_models**2 - 1)))


def _iman_davenport(friedman: OmnibusTest, n_sets: int, n_models: int) -> OmnibusTest:
    freedom, largest = (n_models - 1, (n_models - 1) * (n_sets - 1)), n_sets * (n_models - 1)
    # At full agreement rounding decides the sign of a zero denominator.
    room = largest - friedman.statistic
    statistic = np.inf if room <= 1e-9 * largest else (n_sets - 1) * friedman.statistic / room
    return OmnibusTest(float(statistic), float(stats.f.sf(statistic, *freedom)), freedom)


def wilcoxon_p_value(first: ArrayLike, second: ArrayLike) -> float:
    """Return the p-value of Wilcoxon's signed-rank test of two models on the same sets.

    Parameters
    ----------
    first, second : array-like of shape (n_sets,)
        Scores. Differences that are rounding errors count as none.

    Returns
    -------
    float
        1.0 if all scores are equal.

    Examples
    --------
    >>> from granulearn.bench import wilcoxon_p_value
    >>> round(wilcoxon_p_value([1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]), 3)
    0.031
    """
    left, right = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    largest = max(np.abs(left).max(), np.abs(right).max())
    digits = 9 - int(np.floor(np.log10(largest))) if largest else 0
    difference = np.round(left - right, min(digits, 300))
    if not difference.any():
        return 1.0
    with warnings.catch_warnings():
        # scipy says that a small sample makes the normal approximation rough
        # when ties rule out the exact distribution; the p-value stands.
        warnings.filterwarnings("ignore", message="Sample size too small", category=UserWarning)
        return float(stats.wilcoxon(difference, zero_method="zsplit").pvalue)


def holm_adjust(p_values: ArrayLike) -> np.ndarray:
    """Return p-values corrected for their number by Holm's step-down procedure.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        In [0, 1].

    Returns
    -------
    ndarray of shape (n,)
        In the same order.

    Examples
    --------
    >>> from granulearn.bench import holm_adjust
    >>> holm_adjust([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p_values, dtype=float)
    if not ((raw >= 0) & (raw <= 1)).all():
        raise ValueError(f"p-values must lie in [0, 1], got {raw.tolist()}.")
    order = np.argsort(raw, kind="stable")
    adjusted = np.empty_like(raw)
    steps = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    adjusted[order] = np.minimum(steps, 1)
    return adjusted


def _bayesian_signed_rank(gain: np.ndarray, rope: float, random_state: int) -> list[float]:
    """Return the probabilities that the first is better, both are equivalent, the second is better.

    The test of Benavoli et al. (ICML 2014), as its authors publish it in baycomp.
    """
    if not rope >= 0:
        raise ValueError(f"rope={rope!r} must not be negative; it is a width in score units.")
    check_installed("baycomp")
    from baycomp import SignedRankTest

    found = SignedRankTest.probs(
        gain, np.zeros_like(gain), rope, nsamples=10_000, random_state=random_state
    )
    return [float(found[0]), float(found[1]) if rope else 0.0, float(found[-1])]


def _complete_scores(table: pd.DataFrame, missing: str) -> tuple[pd.DataFrame, tuple]:
    """Return the table as numbers without incomplete sets, and the sets left out."""
    if missing not in ("error", "drop"):
        raise ValueError(f"missing={missing!r} must be 'error' or 'drop'.")
    for axis, names in (("model", table.columns), ("data set", table.index)):
        if names.has_duplicates:
            raise ValueError(f"{axis} {names[names.duplicated()][0]!r} is in the table twice.")
    try:
        scores = table.astype(float)
    except ValueError as error:
        raise ValueError(
            f"the table holds a text ({error}); a column that is no model belongs to the index."
        ) from error
    scores = scores.where(np.isfinite(scores))
    incomplete = scores.isna().any(axis=1)
    dropped = tuple(scores.index[incomplete])
    if dropped and missing == "error":
        model = scores.columns[scores.loc[incomplete].iloc[0].isna()][0]
        raise ValueError(
            f"{len(dropped)} of {len(scores)} sets lack a score, first {dropped[0]!r} "
            f"(model {model!r}); fill the cells, or pass missing='drop' to leave those sets out."
        )
    n_sets, n_models = len(scores) - len(dropped), scores.shape[1]
    if n_sets < 2 or n_models < 2:
        raise ValueError(
            f"the table has {n_sets} complete set(s) and {n_models} model(s); a comparison needs "
            "at least 2 of each."
        )
    return scores.loc[~incomplete], dropped


def describe(comparison: Comparison) -> str:
    """Return a comparison as text: means, ranks, tests and separated pairs.

    Parameters
    ----------
    comparison : Comparison
        What `granulearn.bench.compare` returned.

    Returns
    -------
    str
        Several lines.

    Examples
    --------
    >>> from granulearn.bench import compare, describe, paper_accuracy_table
    >>> print(describe(compare(paper_accuracy_table())).splitlines()[1])
    SDAP-GBRVFL       84.46          2.07
    """
    order = comparison.best_first
    width = max(len("model"), *(len(str(model)) for model in order))
    lines = [f"{'model':<{width}}  {'mean score':>10}  {'average rank':>12}"]
    for model in order:
        mean, rank = comparison.means[model], comparison.ranks[model]
        lines.append(f"{model!s:<{width}}  {mean:>10.2f}  {rank:>12.2f}")
    lines.append("")
    for name, test in (
        ("Friedman chi2", comparison.friedman),
        ("Iman-Davenport F", comparison.iman_davenport),
        ("Friedman chi2, tie-corrected", comparison.friedman_tie_corrected),
        ("Iman-Davenport F, tie-corrected", comparison.iman_davenport_tie_corrected),
    ):
        lines.append(f"{name:<32} {test.statistic:>8.2f}   p = {test.p_value:.2g}")
    name = f"Nemenyi critical difference ({comparison.alpha:g})"
    lines += [f"{name:<32} {comparison.critical_difference:>7.3f}", ""]
    clauses, total = _better_than(comparison), len(comparison.pairwise)
    found = f"{len(comparison.separated_pairs)} of the" if clauses else "none of the"
    lines.append(f"Nemenyi separates {found} {total} pairs{':' if clauses else '.'}")
    lines += [f"  {clause}" for clause in clauses]
    if comparison.dropped:
        names = ", ".join(map(str, comparison.dropped))
        lines += ["", f"Left out, because a score is missing: {names}"]
    return "\n".join(lines)


def describe_in_words(comparison: Comparison) -> list[str]:
    """Return a comparison as sentences for a reader who knows no statistics.

    Parameters
    ----------
    comparison : Comparison
        What `granulearn.bench.compare` returned.

    Returns
    -------
    list of str
        Ranks, the test of all, Nemenyi's pairs, Wilcoxon's pairs, and caveats.

    Examples
    --------
    >>> from granulearn.bench import compare, describe_in_words, paper_accuracy_table
    >>> describe_in_words(compare(paper_accuracy_table()))[0][:61]
    'The 8 methods are ranked on each of the 37 data sets (1 is be'
    """
    ranks, order = comparison.ranks, comparison.best_first
    test = comparison.iman_davenport_tie_corrected
    n_pairs, total = len(comparison.separated_pairs), len(comparison.pairwise)
    separated = "It separates no pair."
    if n_pairs:
        clauses = "; ".join(_better_than(comparison))
        separated = f"It separates {n_pairs} of {total} pairs: {clauses}."
    clear = comparison.pairwise[comparison.pairwise["holm_p"] < comparison.alpha]
    pairs = "no difference is significant."
    if len(clear):
        clauses = ", ".join(
            f"{a} over {b} ({_p(p)})" if gap < 0 else f"{b} over {a} ({_p(p)})"
            for a, b, gap, p in clear[["first", "second", "rank_difference", "holm_p"]].to_numpy()
        )
        are = "difference is" if len(clear) == 1 else "differences are"
        pairs = f"{len(clear)} {are} significant: {clauses}."
    words = [
        f"The {len(order)} methods are ranked on each of the {len(comparison.sets)} data sets "
        f"(1 is best). {order[0]} has the best average rank ({ranks[order[0]]:.2f}), "
        f"{order[-1]} the worst ({ranks[order[-1]]:.2f}).",
        f"Overall, the methods {'differ' if test.p_value < comparison.alpha else 'do not differ'} "
        f"significantly (Iman and Davenport's test, {_p(test.p_value)}).",
        "Nemenyi's test separates two methods if their average ranks differ by at least "
        f"{comparison.critical_difference:.2f} (level {comparison.alpha:g}). {separated}",
        f"By Wilcoxon's signed-rank test with Holm's correction for {total} pairs, {pairs}",
    ]
    if comparison.dropped:
        names = ", ".join(map(str, comparison.dropped))
        words.append(f"Excluded, since a score is missing: {names}.")
    return words


def _better_than(comparison: Comparison) -> list[str]:
    order, pairs = comparison.best_first, comparison.separated_pairs
    return [
        f"{better} is better than {', '.join(worse)}"
        for better in order
        if (worse := [str(model) for model in order if (better, model) in pairs])
    ]


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def paper_accuracy_table() -> pd.DataFrame:
    """Return the paper's Table 1: accuracy in percent of eight models on 37 data sets.

    Returns
    -------
    DataFrame of shape (37, 8)
        Indexed by data set.

    Examples
    --------
    >>> from granulearn.bench import paper_accuracy_table
    >>> paper_accuracy_table().shape
    (37, 8)
    """
    return _read_paper("table1_accuracy.csv", ["dataset"])


def paper_noise_table() -> pd.DataFrame:
    """Return the paper's Table S.1: accuracy in percent under label noise.

    Returns
    -------
    DataFrame of shape (25, 8)
        Indexed by data set and noise in percent.

    Examples
    --------
    >>> from granulearn.bench import paper_noise_table
    >>> paper_noise_table().index.names
    FrozenList(['dataset', 'noise_percent'])
    """
    return _read_paper("table_s1_noise.csv", ["dataset", "noise_percent"])


def _read_paper(name: str, index: list[str]) -> pd.DataFrame:
    with as_file(files("granulearn.bench") / "paper" / name) as path:
        return pd.read_csv(path, index_col=index)
