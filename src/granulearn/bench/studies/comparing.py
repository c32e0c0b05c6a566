"""The statistics of a study: its methods compared over its data sets."""

from __future__ import annotations

from typing import Any

import pandas as pd

from granulearn.bench.statistics import compare, describe_in_words
from granulearn.bench.studies.cells import conditions
from granulearn.bench.studies.score_tables import score_table
from granulearn.bench.studies.scores import higher_is_better
from granulearn.bench.studies.spec import Study


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
