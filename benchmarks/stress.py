"""Outliers and rare classes, alone and with wrong labels: the tables of the study `stress`."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from benchmarks.harness import StudyBenchmark, markdown
from benchmarks.studies import ABOUT, complete, per_set
from granulearn.bench import Study, expand, holm_adjust, wilcoxon_p_value
from granulearn.bench.paper import (
    BASELINES,
    PROPOSED,
    Claim,
    check_claims,
    is_ahead,
    loses_least,
)
from granulearn.bench.runs import CLEAN, conditions

SCORES = {
    "balanced_accuracy": "Balanced accuracy",
    "roc_auc": "AUROC",
    "rare_average_precision": "Average precision of the smaller class",
}
MAIN, BASELINE, BALANCED = "balanced_accuracy", "RVFL", ", balanced"
# What disturbs the training rows, and its conditions, the hardest one last.
STRESSES = {
    "outliers": ["outliers 5 %", "outliers 10 %", "outliers 20 %"],
    "a rare class": ["rare 50 %", "rare 10 %", "rare 2 %"],
    "wrong labels beside outliers or a rare class": [
        "outliers+uniform 10 %", "rare+uniform 10 %", "rare+outliers+uniform 10 %",
    ],
}  # fmt: skip
PROMISE = """\
The abstract promises robustness to noise, outliers and class imbalance; the paper has figures for
wrong labels only. This table is about the others, in balanced accuracy, without class weights,
against the best baseline. The verdicts compare means over the sets of this study; the differences
may be due to chance."""


def under(table: pd.DataFrame, condition: str, score: str, methods: list[str]) -> pd.DataFrame:
    """Return the mean of a score over splits under one condition: sets by methods."""
    return per_set(table[table["condition"] == condition], score, methods)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check what the abstract promises; what a condition lacks is inconclusive."""
    models = [*PROPOSED, *BASELINES]
    found: list[Claim] = []
    for words, hard in STRESSES.items():
        wide = table[table["method"].isin(models)].pivot_table(
            MAIN, ["dataset", "condition"], "method", dropna=False
        )
        names = [CLEAN, *hard]
        sets = wide.index.get_level_values(0).unique()
        own = wide.reindex(pd.MultiIndex.from_product([sets, names]), columns=models)
        own.index = pd.MultiIndex.from_product([sets, range(len(names))])
        disturbed = own[own.index.get_level_values(1) > 0]
        ahead: list[tuple] = [
            ("abstract", f"With {words} {{}} is ahead of every baseline in the mean.", model,
             is_ahead, model) for model in PROPOSED
        ]  # fmt: skip
        stable: list[tuple] = [
            ("abstract", f"From clean rows to {hard[-1]} {{}} loses less than every baseline.",
             model, loses_least, model) for model in PROPOSED
        ]  # fmt: skip
        found += check_claims(ahead, None, disturbed)
        found += check_claims(stable, None, own)
    return found


def class_weights(table: pd.DataFrame, methods: list[str], names: list[str]) -> pd.DataFrame:
    """Return what class weights change, in points of each score."""
    return pd.DataFrame(
        {
            f"{name}: {title}": {
                method: (one[method + BALANCED] - one[method]).mean()
                for method in methods
                if method + BALANCED in methods
            }
            for name in names
            for score, title in SCORES.items()
            for one in [under(table, name, score, methods)]
        }
    ).map("{:+.1f}".format)


def against_baseline(table: pd.DataFrame, methods: list[str], names: list[str]) -> pd.DataFrame:
    """Return how far the proposed models are ahead of RVFL, with Holm's p over conditions."""
    lines = {}
    for model in PROPOSED:
        scores = [under(table, name, MAIN, methods) for name in names]
        p_values = holm_adjust([wilcoxon_p_value(one[model], one[BASELINE]) for one in scores])
        lines[model] = {
            name: f"{(one[model] - one[BASELINE]).mean():+.1f} (p {p:.2g})"
            for name, one, p in zip(names, scores, p_values, strict=True)
        }
    return pd.DataFrame(lines).T


def stress_tables(found: list[tuple[Study, pd.DataFrame]]) -> Iterator[str]:
    """Yield the claims and the tables of the study."""
    ((study, whole),) = found
    methods = [method.name for method in study.method]
    table = complete(whole, methods)
    present = set(table["condition"])
    names = [name for name in map(str, conditions(study)) if name in present]
    missing = len(expand(study)) - len(whole)
    yield study.question
    yield from study.notes
    yield (
        f"{table['dataset'].nunique()} sets, {len(methods)} methods, {len(names)} conditions. "
        f"{missing} of {len(expand(study))} runs are missing or failed."
    )
    yield "## The paper's promise"
    yield PROMISE
    yield markdown(
        pd.DataFrame(
            [[claim.ours, claim.verdict] for claim in claims(table)],
            index=pd.Index([claim.text for claim in claims(table)], name="the paper's promise"),
            columns=["measured here", "verdict"],
        )
    )
    yield f"## Against {BASELINE}, in points of balanced accuracy"
    yield markdown(against_baseline(table, methods, names).rename_axis("model"))
    for score, title in SCORES.items():
        means = pd.DataFrame(
            {name: under(table, name, score, methods).mean() for name in names}, index=methods
        )
        yield f"## {title}"
        yield markdown(means.rename_axis("method"), 1)
    rare = [name for name in names if name.startswith("rare ")]
    if rare:
        yield "## Effect of class weights, in points"
        yield markdown(class_weights(table, methods, rare).rename_axis("method"))


BENCHMARKS = {
    "stress": StudyBenchmark("Outliers and rare classes", ABOUT, ["stress"], stress_tables)
}
