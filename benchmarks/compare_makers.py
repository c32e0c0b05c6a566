"""Tables of the study `makers`, from its store: every ball maker against RVFL.

    GRANULEARN_DATA=DIRECTORY granulearn bench makers --results out/makers.db
    python benchmarks/compare_makers.py out/makers.db docs/results/makers.md

A data set counts with the splits for which every method has a result, so tables can
be made while the study is still running; they say how many there are.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from made_by import made_by

from granulearn.bench import (
    Store,
    average_ranks,
    expand,
    holm_adjust,
    load_study,
    wilcoxon_p_value,
    win_tie_loss,
)
from granulearn.bench.summary import run_table

BASELINE = "RVFL"


def complete_cells(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of all splits that every method has, and the methods."""
    study = load_study("makers")
    cells = expand(study)
    with Store(path, readonly=True) as store:
        table = run_table(cells, store.rows(cell.key for cell in cells))
    methods = [method.name for method in study.method]
    n_methods = table.groupby(["dataset", "condition", "split"])["method"].transform("nunique")
    return table[n_methods == len(methods)], methods


def model_table(table: pd.DataFrame, names: list[str]) -> list[str]:
    """Return the table of one model on all makers, condition by condition, as Markdown."""
    lines = []
    for condition, part in table.groupby("condition", sort=False):
        own = part[part["method"].isin([BASELINE, *names])]
        scores = own.pivot_table("accuracy", "dataset", "method")[[BASELINE, *names]]
        p_values = holm_adjust([wilcoxon_p_value(scores[name], scores[BASELINE]) for name in names])
        ranks = average_ranks(scores.to_numpy())
        facts = own.groupby("method")[["n_balls", "single_balls"]].mean()
        rows = [[BASELINE, f"{scores[BASELINE].mean():.2f}", "", "", "", f"{ranks[0]:.2f}", "", ""]]
        for name, p_value, rank in zip(names, p_values, ranks[1:], strict=True):
            wins = win_tie_loss(scores[name], scores[BASELINE])
            rows.append(
                [
                    name.partition(", ")[2],
                    f"{scores[name].mean():.2f}",
                    f"{scores[name].mean() - scores[BASELINE].mean():+.2f}",
                    "{} / {} / {}".format(*wins),
                    f"{p_value:.2g}",
                    f"{rank:.2f}",
                    f"{facts.loc[name, 'n_balls']:.0f}",
                    f"{facts.loc[name, 'single_balls']:.0f}",
                ]
            )
        heads = ["balls", "accuracy", "less RVFL", "wins / ties / losses", "Holm p", "mean rank"]
        heads += ["number of balls", "of one sample, %"]
        lines += [f"**{condition}**", "", *_markdown(heads, rows), ""]
    return lines


def answer(table: pd.DataFrame, models: dict[str, list[str]]) -> list[str]:
    """Return what the comparison with RVFL says of each model and maker under noise."""
    lines = []
    noisy = table[table["rate"] > 0]
    for model, names in models.items():
        better, worse = [], []
        for condition, part in noisy.groupby("condition", sort=False):
            scores = part.pivot_table("accuracy", "dataset", "method")
            p_values = [wilcoxon_p_value(scores[name], scores[BASELINE]) for name in names]
            for name, p_value in zip(names, holm_adjust(p_values), strict=True):
                if p_value < 0.05:
                    gain = np.mean(scores[name] - scores[BASELINE])
                    found = f"{name.partition(', ')[2]} at {condition} ({gain:+.2f})"
                    (better if gain > 0 else worse).append(found)
        lines.append(
            f"- {model}: better than RVFL beyond chance with {', '.join(better) or 'no maker'}; "
            f"worse with {', '.join(worse) or 'no maker'}."
        )
    return lines


def report(path: Path) -> str:
    """Return all tables as Markdown."""
    table, methods = complete_cells(path)
    models: dict[str, list[str]] = {}
    for name in methods:
        model, comma, _ = name.partition(", ")
        if comma:
            models.setdefault(model, []).append(name)
    splits = table.groupby("dataset")["split"].nunique()
    lines = [
        "# Ball makers",
        "",
        load_study("makers").question,
        "",
        made_by("compare_makers.py", ["makers"], "makers", "makers"),
        "",
        "Accuracy on clean test labels in percent, mean over splits. p-values are Wilcoxon's, over "
        "sets, each maker against RVFL, corrected by Holm for the makers of a table; ranks are "
        f"within a table. {len(splits)} sets, {splits.min()} to {splits.max()} splits each. "
        "Times and larger data: [makers_time.md](makers_time.md).",
        "",
        "## What the tests say, with wrong labels",
        "",
        *answer(table, models),
    ]
    for model, names in models.items():
        lines += ["", f"## {model}", "", *model_table(table, names)]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(heads: list[str], rows: list[list[str]]) -> list[str]:
    rule = ["---"] * len(heads)
    return [f"| {' | '.join(cells)} |" for cells in [heads, rule, *rows]]


def main() -> None:
    """Read the store and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="result file of the study makers")
    parser.add_argument("report", type=Path, help="Markdown file to write")
    arguments = parser.parse_args()
    arguments.report.write_text(report(arguments.store), encoding="utf-8")


if __name__ == "__main__":
    main()
