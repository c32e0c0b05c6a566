"""Tables of the study `rivals`, from its store: ranks, and the robust classifier against each.

    granulearn bench rivals --results out/rivals.sqlite
    python benchmarks/compare_rivals.py out/rivals.sqlite docs/results/rivals.md

A data set counts with the splits for which every method has a result, so the
table can be made while the study is still running; it says how many there are.
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


def scores_of(path: Path) -> pd.DataFrame:
    """Return one row per set, condition, split and method, for splits that are complete."""
    study = load_study("rivals")
    cells = expand(study)
    with Store(path, readonly=True) as store:
        rows = store.rows(cell.key for cell in cells)
    table = pd.DataFrame(
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
    unit = table.groupby(["dataset", "condition", "split"])["method"]
    return table[unit.transform("nunique") == len(study.method)]


def per_set(table: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return the mean accuracy over splits: sets by methods."""
    return table.pivot_table("accuracy", "dataset", "method")[methods]


def against_each(scores: pd.DataFrame, rivals: list[str]) -> pd.DataFrame:
    """Return mean, rank, wins and Holm's p of the robust classifier against each rival.

    Ranks are among the robust classifier and its rivals; Holm's correction is
    for the comparisons of the robust classifier with each of them.
    """
    methods = [OURS, *rivals]
    p_values = holm_adjust([wilcoxon_p_value(scores[OURS], scores[rival]) for rival in rivals])
    wins = [win_tie_loss(scores[OURS], scores[rival]) for rival in rivals]
    return pd.DataFrame(
        {
            "mean accuracy": scores[methods].mean(),
            "mean rank": average_ranks(scores[methods].to_numpy()),
            "robust wins / ties / losses": ["", *("{} / {} / {}".format(*each) for each in wins)],
            "Holm p": [np.nan, *p_values],
        },
        index=methods,
    )


def report(path: Path) -> str:
    """Return all tables as Markdown."""
    table = scores_of(path)
    every = [method.name for method in load_study("rivals").method]
    rivals = [name for name in every if name != OURS and name not in ABLATION] + RIVAL_PARTS
    splits = table.groupby("dataset")["split"].nunique()
    lines = [
        "# The robust classifier against its rivals",
        "",
        f"{len(splits)} sets, {splits.min()} to {splits.max()} of the "
        f"{load_study('rivals').split.repeats} splits that the study asks for, mean over splits; "
        "accuracy on clean test labels in percent. Made by `granulearn bench rivals` and "
        "`python benchmarks/compare_rivals.py`. Ranks are among the robust classifier and its "
        "rivals. p-values are Wilcoxon's, over sets, corrected by Holm for the comparisons of the "
        "robust classifier with each rival; below 0.05 with more wins than losses, it is better.",
    ]
    for condition, part in table.groupby("condition", sort=False):
        found = against_each(per_set(part, every), rivals)
        lines += ["", f"## {condition}", "", _markdown(found)]
    lines += ["", "## Ablation: mean accuracy", "", _ablation(table)]
    seconds = table.groupby("method")["seconds"].mean()[every]
    lines += ["", "## Mean seconds to fit, tuning included", ""]
    lines += [_row(*every), "|" + "---|" * len(every), _row(*(f"{s:.2f}" for s in seconds))]
    return "\n".join(lines) + "\n"


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
        lines.append(_row(str(name), mean, rank, row["robust wins / ties / losses"], p_value))
    return "\n".join(lines)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Read the store and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="result file of the study rivals")
    parser.add_argument("report", type=Path, help="Markdown file to write")
    arguments = parser.parse_args()
    arguments.report.write_text(report(arguments.store), encoding="utf-8")


if __name__ == "__main__":
    main()
