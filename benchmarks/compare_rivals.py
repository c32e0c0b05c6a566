"""Tables of the study `rivals`, from its store: ranks, and one method against each other.

    granulearn bench rivals --results out/rivals.sqlite
    python benchmarks/compare_rivals.py out/rivals.sqlite docs/results/rivals.md
    python benchmarks/compare_rivals.py out/rivals.sqlite docs/results/rivals_boosting.md \
        --splits 1 --methods LightGBM "LightGBM, stopped early" XGBoost ...

A data set counts with the splits for which every method of a table has a result,
so tables can be made while the study is still running; they say how many there are.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from granulearn.statistics import average_ranks, holm_adjust, wilcoxon_p_value, win_tie_loss
from granulearn.studies import Store, expand, load_study

OURS = "robust"
# Parts and variants of the robust classifier: shown, but no rivals of it. The
# committee is both: a part, and a method of its own.
ABLATION = [
    "committee alone",
    "ball forest alone",
    "committee + random forest",
    "robust, share chosen",
]
RIVAL_PARTS = ["committee alone"]
SHALLOW = "RVFL"
NETWORKS = [
    "RVFL, tuned by leave-one-out",
    "edRVFL",
    "edRVFL, tuned by accuracy",
    "dRVFL",
    "edGB-RVFL",
    "ball ensemble",
]


def scores_of(path: Path) -> pd.DataFrame:
    """Return one row per set, condition, split and method that is done."""
    study = load_study("rivals")
    cells = expand(study)
    with Store(path, readonly=True) as store:
        rows = store.rows(cell.key for cell in cells)
    return pd.DataFrame(
        {
            "dataset": cell.unit.dataset,
            "condition": str(cell.unit.condition),
            "split": str(cell.unit.part),
            "method": cell.method.name,
            "accuracy": 100 * rows[cell.key].outcome.scores["accuracy"],
            "seconds": rows[cell.key].outcome.fit_seconds,
        }
        for cell in cells
        if cell.key in rows and not rows[cell.key].outcome.reason
    )


def complete(table: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return the rows of some methods, for the splits that all of them have."""
    table = table[table["method"].isin(methods)]
    unit = table.groupby(["dataset", "condition", "split"])["method"]
    return table[unit.transform("nunique") == len(methods)]


def per_set(table: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return the mean accuracy over splits: sets by methods."""
    return table.pivot_table("accuracy", "dataset", "method")[methods]


def against_each(scores: pd.DataFrame, ours: str, others: list[str]) -> pd.DataFrame:
    """Return mean, rank, wins and Holm's p of one method against each of the others.

    Ranks are among all of them; Holm's correction is for these comparisons.
    """
    methods = [ours, *others]
    p_values = holm_adjust([wilcoxon_p_value(scores[ours], scores[other]) for other in others])
    wins = [win_tie_loss(scores[ours], scores[other]) for other in others]
    return pd.DataFrame(
        {
            "mean accuracy": scores[methods].mean(),
            "mean rank": average_ranks(scores[methods].to_numpy()),
            f"{ours} wins / ties / losses": ["", *("{} / {} / {}".format(*each) for each in wins)],
            "Holm p": [np.nan, *p_values],
        },
        index=methods,
    )


def comparison(table: pd.DataFrame, ours: str, others: list[str]) -> list[str]:
    """Return one table per condition as lines of Markdown."""
    lines = []
    for condition, part in complete(table, [ours, *others]).groupby("condition", sort=False):
        splits = part.groupby("dataset")["split"].nunique()
        if len(splits) < 2:
            continue
        done = f"{len(splits)} sets, {counted(splits.min(), splits.max())} each."
        found = against_each(per_set(part, [ours, *others]), ours, others)
        lines += ["", f"### {condition}", "", done, "", _markdown(found)]
    return lines


def report(path: Path, splits: list[int] | None = None, rivals: list[str] | None = None) -> str:
    """Return all tables as Markdown, of all splits or of some; or those of some rivals alone."""
    table = scores_of(path)
    if splits is not None:
        table = table[table["split"].isin([f"repeat {number}" for number in splits])]
    every = [method.name for method in load_study("rivals").method]
    others = [name for name in every if name not in (OURS, *ABLATION, *NETWORKS)] + RIVAL_PARTS
    lines = [
        "# The robust classifier against its rivals"
        + (", and deep networks against shallow ones" if rivals is None else ""),
        "",
        "Accuracy on clean test labels in percent, mean over splits. Made by `granulearn bench "
        "rivals` and `python benchmarks/compare_rivals.py`. Ranks are among the methods of a "
        "table. p-values are Wilcoxon's, over sets, corrected by Holm for the comparisons of the "
        "first method of the table with each other one.",
        "",
        _what_was_run(table, rivals),
        "",
        "## The robust classifier",
        *comparison(table, OURS, others if rivals is None else rivals),
        "",
    ]
    if rivals is not None:
        return "\n".join(lines)
    seconds = table.groupby("method")["seconds"].mean().reindex(every).dropna()
    lines += [
        "## What the balls add: mean accuracy",
        "",
        _ablation(complete(table, [OURS, *ABLATION])),
        "",
        "## Deep networks, ensembles and other tuning against RVFL as the paper tunes it",
        *comparison(table, SHALLOW, NETWORKS),
        "",
        "## Mean seconds to fit, tuning included",
        "",
        _row("method", "seconds"),
        "|---|---|",
        *(_row(str(name), f"{mean:.2f}") for name, mean in seconds.items()),
    ]
    return "\n".join(lines) + "\n"


def _what_was_run(table: pd.DataFrame, rivals: list[str] | None) -> str:
    """Return which part of the study the tables come from."""
    study = load_study("rivals")
    n_asked, n_splits = len(expand(study)), table["split"].nunique()
    methods = f"{table['method'].nunique()} of its {len(study.method)} methods"
    text = (
        f"The study asks for {n_asked:,} fits: {len(study.datasets)} sets, {study.split.repeats} "
        f"splits. These tables come from {len(table):,} of them: {table['dataset'].nunique()} "
        f"sets, {counted(n_splits, n_splits)}, {table['condition'].nunique()} conditions, "
        f"{methods}. `granulearn bench rivals` goes on where it was stopped."
    )
    if rivals is None:
        return text
    return text + " [rivals.md](rivals.md) is an earlier run with more splits and other rivals."


def _ablation(table: pd.DataFrame) -> str:
    methods = [OURS, *ABLATION]
    lines = [_row("noise", *methods), "|" + "---|" * (1 + len(methods))]
    for condition, part in table.groupby("condition", sort=False):
        scores = per_set(part, methods)
        p_values = [wilcoxon_p_value(scores[OURS], scores[name]) for name in ABLATION]
        cells = [f"{scores[OURS].mean():.2f}"]
        cells += [
            f"{scores[name].mean():.2f} (p {p_value:.2g})"
            for name, p_value in zip(ABLATION, p_values, strict=True)
        ]
        lines.append(_row(str(condition), *cells))
    return "\n".join(lines)


def _markdown(found: pd.DataFrame) -> str:
    lines = [_row("method", *found.columns), "|" + "---|" * (1 + len(found.columns))]
    for name, row in found.iterrows():
        p_value = "" if np.isnan(row["Holm p"]) else f"{row['Holm p']:.2g}"
        mean, rank = f"{row['mean accuracy']:.2f}", f"{row['mean rank']:.2f}"
        lines.append(_row(str(name), mean, rank, row.iloc[2], p_value))
    return "\n".join(lines)


def counted(fewest: int, most: int) -> str:
    """Return a number of splits, or a range of them, in words."""
    if fewest < most:
        return f"{fewest} to {most} splits"
    return "1 split" if most == 1 else f"{most} splits"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Read the store and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="result file of the study rivals")
    parser.add_argument("report", type=Path, help="Markdown file to write")
    parser.add_argument("--splits", type=int, nargs="+", help="count these only")
    parser.add_argument("--methods", nargs="+", help="these rivals of the robust classifier only")
    arguments = parser.parse_args()
    text = report(arguments.store, arguments.splits, arguments.methods)
    arguments.report.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
