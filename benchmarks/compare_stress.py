"""Tables of the study `stress`, from its store: outliers, rare classes, and both with wrong labels.

    GRANULEARN_DATA=DIRECTORY granulearn bench stress --results out/stress.db
    python benchmarks/compare_stress.py out/stress.db docs/results/stress.md

The promise of the paper's abstract gets a verdict by the code that judges its other claims; what
is not run to its end cannot be told. In the tables a data set counts with the splits for which all
methods have all results, so they can be made while the study is still running, and say how many
there are.
"""

import argparse
from pathlib import Path
from typing import Any

import pandas as pd
from made_by import made_by
from review_loop_page import markdown

from granulearn.bench import Store, expand, holm_adjust, load_study, summarize, wilcoxon_p_value
from granulearn.bench.paper import (
    BASELINES,
    PROPOSED,
    Claim,
    check_claims,
    is_ahead,
    loses_least,
)
from granulearn.bench.runs import CLEAN, conditions
from granulearn.bench.summary import run_table

SCORES = {
    "balanced_accuracy": "Balanced accuracy",
    "roc_auc": "AUROC",
    "rare_average_precision": "Average precision of the smaller class",
}
MAIN = "balanced_accuracy"
BASELINE = "RVFL"
BALANCED = ", balanced"
WORST_OUTLIERS, RARE, RAREST = "outliers 20 %", "rare 10 %", "rare 2 %"
# The conditions that a claim of the paper's abstract is held against, the hardest one last.
STRESSES = {
    "outliers": ["outliers 5 %", "outliers 10 %", WORST_OUTLIERS],
    "rare": ["rare 50 %", RARE, RAREST],
    "joined": ["outliers+uniform 10 %", "rare+uniform 10 %", "rare+outliers+uniform 10 %"],
}


STRESS_KINDS = {
    "outliers": "outliers",
    "rare": "a rare class",
    "joined": "wrong labels beside outliers or a rare class",
}


def claims_of_stress(ours: dict[str, pd.DataFrame], worst: dict[str, str]) -> list[Claim]:
    """Check the promise of the abstract, which prints no figures on it: robust to what disturbs.

    Parameters
    ----------
    ours : dict
        For each of `STRESS_KINDS`, balanced accuracy in percent, indexed by data set and how
        hard the condition is: 0 for clean rows, the largest number for the hardest one.
    worst : dict
        For each of these, the hardest condition in words.

    Returns
    -------
    list of Claim
        For each kind and each proposed model, that it is ahead of every baseline in the mean
        over all disturbed conditions, and that it loses least from clean rows to the hardest.
    """
    found = []
    for kind, words in STRESS_KINDS.items():
        disturbed = ours[kind][ours[kind].index.get_level_values(1) > 0]
        ahead: list[tuple] = [
            ("abstract", f"With {words} {{}} is more accurate (balanced accuracy) than every "
             "baseline, in the mean.", model, is_ahead(model)) for model in PROPOSED
        ]  # fmt: skip
        stable: list[tuple] = [
            ("abstract", f"{{}} is more stable: from clean rows to {worst[kind]} it loses less "
             "balanced accuracy than every baseline.", model, loses_least(model))
            for model in PROPOSED
        ]  # fmt: skip
        found += check_claims(kind, ahead, None, disturbed) + check_claims(
            kind, stable, None, ours[kind]
        )
    return found


def stress_cells(path: Path) -> tuple[pd.DataFrame, list[str], list[str], str]:
    """Return the splits that every method has, the methods, the conditions, what is missing."""
    study = load_study("stress")
    cells = expand(study)
    with Store(path, readonly=True) as store:
        rows = store.rows(cell.key for cell in cells)
    failed = [str(cell) for cell in cells if cell.key in rows and rows[cell.key].outcome.reason]
    n_missing = len(cells) - len(rows)
    said = f"**Not run yet: {n_missing} of {len(cells)} cells.** " if n_missing else ""
    said += f"**{len(failed)} cells failed, as {failed[0]}.** " if failed else ""
    methods = [method.name for method in study.method]
    names = [str(condition) for condition in conditions(study)]
    table = run_table(cells, rows)
    done = table.groupby(["dataset", "split"])["method"].transform("size")
    whole = table[done == len(methods) * len(names)]
    if whole.empty:
        raise SystemExit(f"{path}: no split has all methods under all conditions. {said}")
    return whole, methods, names, said


def counted(fewest: int, most: int) -> str:
    """Return a number of splits, or a range of them, in words."""
    if fewest < most:
        return f"{fewest} to {most} splits"
    return "1 split" if most == 1 else f"{most} splits"


def per_set(table: pd.DataFrame, condition: str, score: str, methods: list[str]) -> pd.DataFrame:
    """Return the mean of a score over splits under one condition: sets by methods."""
    own = table[table["condition"] == condition]
    return own.groupby(["dataset", "method"])[score].mean().unstack()[methods].astype(float)


def score_table(table: pd.DataFrame, score: str, methods: list[str], names: list[str]) -> str:
    """Return the mean over sets of every method under every condition, the best in bold."""
    means = pd.DataFrame({name: per_set(table, name, score, methods).mean() for name in names})
    best = means.round(1).max()
    rows: list = [["method", *names]]
    for method in methods:
        shown = [f"{means.loc[method, name]:.1f}" for name in names]
        bold = [means.loc[method].round(1)[name] == best[name] for name in names]
        cells = [
            f"**{text}**" if is_best else text for text, is_best in zip(shown, bold, strict=True)
        ]
        rows.append([method, *cells])
    return markdown(rows)


def weight_table(table: pd.DataFrame, methods: list[str], names: list[str]) -> str:
    """Return what class weights change, in points of each score."""
    plain = [name for name in methods if name + BALANCED in methods]
    rows: list = [["method", *(f"{name}: {SCORES[score].split()[0]}" for name in names
                               for score in SCORES)]]  # fmt: skip
    for method in plain:
        pair = [method, method + BALANCED]
        changes = [
            per_set(table, name, score, pair).diff(axis=1)[pair[1]].mean()
            for name in names
            for score in SCORES
        ]
        rows.append([method, *(f"{change:+.1f}" for change in changes)])
    return markdown(rows)


def against_baseline(table: pd.DataFrame, methods: list[str], names: list[str]) -> str:
    """Return how far the proposed models are ahead of RVFL under every condition."""
    rows: list = [["model", *names]]
    for model in PROPOSED:
        scores = [per_set(table, name, MAIN, methods) for name in names]
        gains = [(one[model] - one[BASELINE]).mean() for one in scores]
        p_values = holm_adjust([wilcoxon_p_value(one[model], one[BASELINE]) for one in scores])
        rows.append(
            [model, *(f"{g:+.1f} (p {p:.2g})" for g, p in zip(gains, p_values, strict=True))]
        )
    return markdown(rows)


def best_table(table: pd.DataFrame, methods: list[str], names: list[str]) -> str:
    """Return the best method under every condition, by each score."""
    rows: list = [["condition", *SCORES.values()]]
    for name in names:
        means = [per_set(table, name, score, methods).mean() for score in SCORES]
        rows.append([name, *(f"{one.idxmax()} ({one.max():.1f})" for one in means)])
    return markdown(rows)


def claims(summary: dict[str, Any]) -> list[Claim]:
    """Return what the paper's abstract promises, each with what this run says of it.

    A mean over some of the splits is no figure, and no verdict rests on it.
    """
    whole = summary["means"].where(summary["complete"])
    tables = {}
    for kind, names in STRESSES.items():
        places = [
            (dataset, name, hardness)
            for dataset in summary["datasets"]
            for hardness, name in enumerate([CLEAN, *names])
        ]
        table = whole.reindex(pd.MultiIndex.from_tuples([place[:2] for place in places]))
        table.index = pd.MultiIndex.from_tuples([(place[0], place[2]) for place in places])
        tables[kind] = table[[*PROPOSED, *BASELINES]]
    return claims_of_stress(tables, {kind: names[-1] for kind, names in STRESSES.items()})


def claim_table(found: list[Claim]) -> str:
    """Return the claims with what was measured and the verdicts."""
    rows = [["the paper's promise", "measured here", "verdict"]]
    return markdown([*rows, *([claim.text, claim.ours, claim.verdict] for claim in found)])


def _of_outliers(table: pd.DataFrame, methods: list[str]) -> list[str]:
    plain = [name for name in methods if not name.endswith(BALANCED)]
    clean, moved = (per_set(table, name, MAIN, plain).mean() for name in (CLEAN, WORST_OUTLIERS))
    losses = (clean - moved).sort_values()
    said = ", ".join(f"{name} {loss:.1f}" for name, loss in losses.items())
    return [f"- Points of balanced accuracy lost from clean to {WORST_OUTLIERS}: {said}."]


def _of_weights(table: pd.DataFrame, methods: list[str]) -> list[str]:
    plain = [name for name in methods if name + BALANCED in methods]
    parts = []
    for name in (RARE, RAREST):
        scores = per_set(table, name, MAIN, methods)
        gains = {one: (scores[one + BALANCED] - scores[one]).mean() for one in plain}
        helped = sum(gain > 0 for gain in gains.values())
        most = max(gains, key=lambda one: gains[one])
        parts.append(
            f"at {name} they help {helped} of {len(plain)} methods, by "
            f"{sum(gains.values()) / len(gains):+.1f} points in the mean (most: {most}, "
            f"{gains[most]:+.1f})"
        )
    return [f"- Class weights, in balanced accuracy: {'; '.join(parts)}."]


def report(path: Path) -> str:
    """Return all tables as Markdown."""
    table, methods, names, missing = stress_cells(path)
    splits = table.groupby(["dataset", "condition"])["split"].nunique()
    done = counted(splits.min(), splits.max())
    n_sets = table["dataset"].nunique()
    study = load_study("stress")
    rare = [name for name in names if name.startswith("rare ")]
    with Store(path, readonly=True) as store:
        found = claims(summarize(store, study.name))
    lines = [
        "# Outliers and rare classes, alone and with wrong labels",
        "",
        study.question,
        "",
        made_by(Path(__file__).name, [study.name], study.name, study.name),
        "",
        f"{n_sets} sets, {len(methods)} methods, {len(names)} conditions, {done} of each set, the "
        "same for every method. All figures are percent on test parts that nothing was done to, "
        f"means over splits and sets. {missing}".rstrip(),
        "",
        *(f"{note}\n" for note in study.notes),
        "## What becomes of the paper's promise",
        "",
        "The abstract promises robustness to noise, outliers and class imbalance; the paper prints "
        "figures for wrong labels alone. The others, as we read them, without class weights, each "
        "beside the best of the baselines. Verdicts are given by the code that judges the paper's "
        "other claims, and are about means over the sets of this study, which may be chance:",
        "",
        claim_table(found),
        "",
        "## What it says",
        "",
        *_of_outliers(table, methods),
        *_of_weights(table, methods),
        f"- {', '.join(PROPOSED)} against {BASELINE}: points of balanced accuracy ahead, with "
        "Wilcoxon's p over sets, corrected by Holm for the conditions:",
        "",
        against_baseline(table, methods, names),
        "",
        "- The best method under each condition:",
        "",
        best_table(table, methods, names),
        "",
        f"With {n_sets} sets and {done}, differences of a few points "
        "may be chance; nothing smaller should be read out of these tables.",
    ]
    for score, title in SCORES.items():
        lines += ["", f"## {title}", "", score_table(table, score, methods, names)]
    lines += ["", "## What class weights change, in points", "", weight_table(table, methods, rare)]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the store and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="result file of the study stress")
    parser.add_argument("report", type=Path, help="Markdown file to write")
    arguments = parser.parse_args()
    arguments.report.write_text(report(arguments.store), encoding="utf-8")


if __name__ == "__main__":
    main()
