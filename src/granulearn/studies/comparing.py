"""The statistics of a study, in numbers and in words a reader understands."""

from __future__ import annotations

from typing import Any

import pandas as pd

from granulearn.statistics import Comparison, compare
from granulearn.studies.cells import conditions
from granulearn.studies.scores import higher_is_better
from granulearn.studies.spec import Study
from granulearn.studies.tables import score_table


def compare_methods(study: Study, table: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]]:
    """Compare the methods over the data sets: all, without duplicates, by condition.

    Variants of one method are left to the figures: they are settings of it, not
    methods to choose from.

    Parameters
    ----------
    study : Study
        Says what is compared, over what.
    table : DataFrame
        One line per cell, from `cell_table`.
    methods : list of str
        Names of the methods, variants too.

    Returns
    -------
    list of dict
        One per comparison that can be made; the first is the main one.
    """
    fixed = {method.name for method in study.method if not method.vary}
    methods = [name for name in methods if name in fixed]
    if table.empty or len(methods) < 2:
        return []
    by = ("dataset",) if study.compare.unit == "dataset" else ("dataset", "condition")
    main = score_table(table, study.compare.score, methods, by=by)
    unit = "data sets" if study.compare.unit == "dataset" else "pairs of data set and condition"
    wanted = [(f"all {unit}", unit, main)]
    twins = [name for group in study.duplicates for name in group[1:]]
    if twins:
        once = main[~main.index.get_level_values("dataset").isin(twins)]
        wanted.append((f"each data set once, without {', '.join(twins)}", unit, once))
    if len(conditions(study)) > 1:
        each = score_table(table, study.compare.score, methods, by=("dataset", "condition"))
        wanted += [
            (str(condition), "data sets", own.droplevel("condition"))
            for condition, own in each.groupby(level="condition", sort=False)
        ]
    found = [_comparison(study, title, unit, scores) for title, unit, scores in wanted]
    return [comparison for comparison in found if comparison is not None]


def _comparison(study: Study, title: str, unit: str, scores: pd.DataFrame) -> dict[str, Any] | None:
    scores = scores.dropna(axis="columns", how="all")
    if len(scores.dropna()) < 2 or scores.shape[1] < 2:
        return None
    better = higher_is_better(study.compare.score)
    scores.index = [" / ".join(i) if isinstance(i, tuple) else i for i in scores.index]
    result = compare(
        scores,
        alpha=study.compare.alpha,
        higher_is_better=better,
        missing="drop",
        rope=study.compare.rope,
    )
    return {
        "title": title,
        "unit": unit,
        "n_sets": len(result.sets),
        "table": scores.dropna().to_dict("split"),
        "dropped": [str(name) for name in result.dropped],
        "means": result.means.to_dict(),
        "ranks": result.ranks.to_dict(),
        "friedman": {"statistic": result.friedman.statistic, "p": result.friedman.p_value},
        "iman_davenport": {
            "statistic": result.iman_davenport.statistic,
            "p": result.iman_davenport.p_value,
        },
        "critical_difference": result.critical_difference,
        "pairs": result.pairwise.to_dict("records"),
        "words": describe_in_words(result, unit),
    }


def describe_in_words(result: Comparison, unit: str = "data sets") -> list[str]:
    """Return what the tests say, as sentences.

    Parameters
    ----------
    result : Comparison
        What `granulearn.statistics.compare` returned.
    unit : str, default="data sets"
        What the rows of the comparison are, in the plural.

    Returns
    -------
    list of str
        What was asked, what was found, what cannot be told.
    """
    order = list(result.ranks.sort_values(kind="stable").index)
    n_sets, n_methods = len(result.sets), len(order)
    test = result.iman_davenport_tie_corrected
    differ = test.p_value < result.alpha
    words = [
        f"On each of the {n_sets} {unit} the {n_methods} methods are ranked, 1 being best. "
        f"{order[0]} has the best average rank ({result.ranks[order[0]]:.2f}), "
        f"{order[-1]} the worst ({result.ranks[order[-1]]:.2f}).",
        f"Could all methods be equally good, and these ranks be chance? "
        f"{'Hardly' if differ else 'Yes, they could'}: "
        f"Iman and Davenport's test gives {_p(test.p_value)}.",
        f"Two methods can be told apart (Nemenyi's test, level {result.alpha:g}) if their average "
        f"ranks differ by at least {result.critical_difference:.2f}. {_separated(result, order)}",
        _pairs_in_words(result),
    ]
    if unit != "data sets":
        words.append(
            "The conditions of one data set are no independent trials, so these p-values are "
            "smaller than they should be."
        )
    if result.dropped:
        names = ", ".join(map(str, result.dropped))
        words.append(f"Left out, since a score is missing: {names}.")
    return words


def _separated(result: Comparison, order: list[str]) -> str:
    pairs = result.separated_pairs
    if not pairs:
        return "That is true of no pair here."
    clauses = [
        f"{better} is better than {', '.join(w for w in order if (better, w) in pairs)}"
        for better in order
        if any(first == better for first, _ in pairs)
    ]
    return f"That is true of {len(pairs)} of {len(result.pairwise)} pairs: {'; '.join(clauses)}."


def _pairs_in_words(result: Comparison) -> str:
    clear = result.pairwise[result.pairwise["holm_p"] < result.alpha]
    total = len(result.pairwise)
    if clear.empty:
        return (
            f"Comparing two at a time (Wilcoxon's signed ranks, Holm's correction for {total} "
            "comparisons), no difference is clear."
        )
    clauses = [
        f"{a} over {b} ({_p(p)})" if gap < 0 else f"{b} over {a} ({_p(p)})"
        for a, b, gap, p in clear[["first", "second", "rank_difference", "holm_p"]].to_numpy()
    ]
    return (
        f"Comparing two at a time (Wilcoxon's signed ranks, Holm's correction for {total} "
        f"comparisons), {len(clear)} differences are clear: {', '.join(clauses)}."
    )


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
