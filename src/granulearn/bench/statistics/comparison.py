"""Compare models over data sets: one table in, one record out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from granulearn.bench.statistics.bayesian import bayesian_signed_rank
from granulearn.bench.statistics.friedman import OmnibusTest, friedman_test, iman_davenport_test
from granulearn.bench.statistics.nemenyi import critical_difference, nemenyi_p_values
from granulearn.bench.statistics.pairwise import holm_adjust, wilcoxon_p_value, win_tie_loss
from granulearn.bench.statistics.ranks import average_ranks


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Everything `compare` found; printed, it says so in words.

    See Also
    --------
    granulearn.bench.compare : Makes one.
    granulearn.bench.describe : Says it in words.
    granulearn.bench.plot_critical_difference : Draws it.

    Examples
    --------
    >>> from granulearn.bench.statistics import compare, paper_accuracy_table
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
    """Whether a higher score is a better one."""
    sets: tuple
    """The data sets that were compared."""
    dropped: tuple
    """The data sets left out because a score was missing."""

    def __repr__(self) -> str:
        from granulearn.bench.statistics.description import describe

        return (
            f"<Comparison of {len(self.means)} models on {len(self.sets)} sets>\n{describe(self)}"
        )

    def _repr_html_(self) -> str:
        from granulearn.bench.statistics.description import describe_as_html

        return describe_as_html(self)

    @property
    def separated_pairs(self) -> list[tuple[str, str]]:
        """The pairs that Nemenyi separates, each as (better, worse)."""
        found = self.pairwise[self.pairwise["nemenyi_separates"]]
        return [
            (a, b) if gap < 0 else (b, a)
            for a, b, gap in zip(
                found["first"], found["second"], found["rank_difference"], strict=True
            )
        ]

    def p_matrix(self, column: str = "holm_p") -> pd.DataFrame:
        """Return one p-value of `pairwise` as a square table, 1 on the diagonal.

        Parameters
        ----------
        column : {"holm_p", "wilcoxon_p", "nemenyi_p"}, default="holm_p"
            Which p-value.

        Returns
        -------
        DataFrame
            Models by models, symmetric.
        """
        known = ("holm_p", "wilcoxon_p", "nemenyi_p")
        if column not in known:
            raise ValueError(f"column={column!r} is no p-value of a pair; use one of {known}.")
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
    """Compare models over data sets by the usual battery of tests.

    Parameters
    ----------
    table : DataFrame of shape (n_sets, n_models)
        One row per data set, one column per model, one score per cell.
    alpha : float, default=0.05
        Level of Nemenyi's critical difference.
    higher_is_better : bool, default=True
        False for errors and times.
    missing : {"error", "drop"}, default="error"
        What to do with a set that lacks the score of some model: refuse, or
        leave the whole set out and list it in ``dropped``.
    rope : float, default=None
        Region of practical equivalence, in score units. If given, each pair
        also gets the probabilities of the Bayesian signed-rank test.
    random_state : int, default=0
        Seed of the Bayesian draws; nothing else is random.

    Returns
    -------
    Comparison
        Means, ranks, tests and pairs.

    See Also
    --------
    granulearn.bench.Comparison : What is returned.
    granulearn.bench.describe : Says it in words.
    granulearn.bench.plot_critical_difference : Draws it.

    Examples
    --------
    >>> import pandas as pd
    >>> from granulearn.bench.statistics import compare
    >>> table = pd.DataFrame({"a": [9, 8, 7], "b": [5, 6, 7]}, index=["x", "y", "z"])
    >>> result = compare(table)
    >>> result.ranks.to_dict()
    {'a': 1.1666666666666667, 'b': 1.8333333333333333}
    """
    scores, dropped = _complete_scores(table, missing)
    values = scores.to_numpy()
    n_sets, n_models = values.shape
    ranks = average_ranks(values, higher_is_better=higher_is_better)
    plain = friedman_test(values)
    corrected = friedman_test(values, tie_corrected=True)
    difference = critical_difference(n_models, n_sets, alpha=alpha)
    pairs = _pairs(scores, ranks, difference, higher_is_better)
    if rope is not None:
        pairs = pairs.join(_bayesian_pairs(scores, rope, higher_is_better, random_state))
    return Comparison(
        means=scores.mean(),
        ranks=pd.Series(ranks, index=scores.columns),
        friedman=plain,
        iman_davenport=iman_davenport_test(plain.statistic, n_sets, n_models),
        friedman_tie_corrected=corrected,
        iman_davenport_tie_corrected=iman_davenport_test(corrected.statistic, n_sets, n_models),
        critical_difference=difference,
        pairwise=pairs,
        alpha=alpha,
        higher_is_better=higher_is_better,
        sets=tuple(scores.index),
        dropped=dropped,
    )


def _pairs(scores, ranks, difference, higher_is_better) -> pd.DataFrame:
    nemenyi = nemenyi_p_values(ranks, len(scores))
    rows = []
    for i, j in combinations(range(scores.shape[1]), 2):
        first, second = scores.iloc[:, i], scores.iloc[:, j]
        wins, ties, losses = win_tie_loss(first, second, higher_is_better=higher_is_better)
        rows.append(
            {
                "first": scores.columns[i],
                "second": scores.columns[j],
                "wins": wins,
                "ties": ties,
                "losses": losses,
                "mean_difference": float((first - second).mean()),
                "rank_difference": float(ranks[i] - ranks[j]),
                "nemenyi_p": float(nemenyi[i, j]),
                "nemenyi_separates": bool(abs(ranks[i] - ranks[j]) >= difference),
                "wilcoxon_p": wilcoxon_p_value(first, second),
            }
        )
    pairs = pd.DataFrame(rows)
    return pairs.assign(holm_p=holm_adjust(pairs["wilcoxon_p"]))


def _bayesian_pairs(scores, rope, higher_is_better, random_state) -> pd.DataFrame:
    results = [
        bayesian_signed_rank(
            scores[a],
            scores[b],
            rope=rope,
            higher_is_better=higher_is_better,
            random_state=random_state,
        )
        for a, b in combinations(scores.columns, 2)
    ]
    return pd.DataFrame(
        {
            "p_first_better": [result.first_better for result in results],
            "p_equivalent": [result.equivalent for result in results],
            "p_second_better": [result.second_better for result in results],
        }
    )


def _complete_scores(table: pd.DataFrame, missing: str) -> tuple[pd.DataFrame, tuple]:
    """Return the table as floats without incomplete sets, and the sets left out."""
    if missing not in ("error", "drop"):
        raise ValueError(f"missing={missing!r} must be 'error' or 'drop'.")
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"table must be a pandas DataFrame (rows data sets, columns models), "
            f"got {type(table).__name__}; wrap it in pandas.DataFrame(...)."
        )
    _refuse_repeated(table)
    scores = _as_numbers(table)
    incomplete = scores.isna().any(axis=1)
    dropped = tuple(scores.index[incomplete])
    if dropped and missing == "error":
        model = scores.columns[scores.loc[incomplete].iloc[0].isna()][0]
        raise ValueError(
            f"{len(dropped)} of {len(scores)} sets lack a score, first {dropped[0]!r} "
            f"(model {model!r}); fill the cells, or pass missing='drop' to leave those sets out."
        )
    if len(scores) - len(dropped) < 2:
        raise ValueError(
            f"{len(scores) - len(dropped)} complete set(s) of {len(scores)}; "
            "a comparison needs at least 2."
        )
    return scores.loc[~incomplete], dropped


def _refuse_repeated(table: pd.DataFrame) -> None:
    # A model twice makes a column ambiguous; a set twice would count double.
    for axis, labels in (("model", table.columns), ("data set", table.index)):
        if labels.has_duplicates:
            raise ValueError(
                f"{axis} {labels[labels.duplicated()][0]!r} is in the table more than once; "
                "name each only once."
            )
    if table.shape[1] < 2:
        raise ValueError(
            f"the table has {table.shape[1]} model column(s) and a comparison needs at least 2."
        )


def _as_numbers(table: pd.DataFrame) -> pd.DataFrame:
    scores = {}
    for model in table.columns:
        numbers = pd.to_numeric(table[model], errors="coerce").astype(float)
        wrong = (numbers.isna() & table[model].notna()) | np.isinf(numbers)
        if wrong.any():
            raise ValueError(
                f"column {model!r} holds {table[model][wrong].iloc[0]!r} for set "
                f"{table.index[wrong][0]!r}, which is no finite number; "
                "if the column is no model, make it part of the index."
            )
        scores[model] = numbers
    return pd.DataFrame(scores, index=table.index, columns=table.columns)
