"""Tables of a study that sets its first method against each other one, from its store.

    GRANULEARN_DATA=DIRECTORY granulearn bench rivals --results out/rivals.db
    python benchmarks/compare_rivals.py out/rivals.db docs/results/rivals.md

The studies `ablation` and `deep` have tables of the same form (`--study ablation`). A set counts
with the splits for which every method has a result, so tables can be made while a study is
running; they say what is missing.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from made_by import made_by
from review_loop_page import markdown

from granulearn.bench import (
    Store,
    Study,
    average_ranks,
    expand,
    holm_adjust,
    load_study,
    wilcoxon_p_value,
    win_tie_loss,
)

DEFAULT = "rivals"
TITLES = {
    DEFAULT: "The robust classifier against its rivals",
    "ablation": "What the parts of the robust classifier add",
    "deep": "Deep networks, ensembles and other tuning against RVFL",
}


def scores_of(path: Path, study: Study) -> pd.DataFrame:
    """Return one row per set, condition, split and method that is done."""
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


def against_each(scores: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return mean, rank, wins and Holm's p of the first method against each of the others.

    Ranks are among all of them; Holm's correction is for these comparisons.
    """
    first, *others = methods
    p_values = holm_adjust([wilcoxon_p_value(scores[first], scores[other]) for other in others])
    wins = [win_tie_loss(scores[first], scores[other]) for other in others]
    return pd.DataFrame(
        {
            "mean accuracy": scores[methods].mean(),
            "mean rank": average_ranks(scores[methods].to_numpy()),
            f"{first} wins / ties / losses": ["", *("{} / {} / {}".format(*each) for each in wins)],
            "Holm p": [np.nan, *p_values],
        },
        index=methods,
    )


def comparisons(table: pd.DataFrame, methods: list[str]) -> dict[str, pd.DataFrame]:
    """Return what is found under each condition, from the mean accuracy over splits."""
    found = {}
    for condition, part in table.groupby("condition", sort=False):
        scores = part.pivot_table("accuracy", "dataset", "method")[methods]
        if len(scores) > 1:
            found[str(condition)] = against_each(scores, methods)
    return found


def report(path: Path, name: str) -> str:
    """Return all tables of a study as Markdown."""
    study = load_study(name)
    methods = [method.name for method in study.method]
    whole = scores_of(path, study)
    table = complete(whole, methods)
    found = comparisons(table, methods)
    options = "" if name == DEFAULT else f"--study {name}"
    lines = [
        f"# {TITLES[name]}",
        "",
        study.question,
        "",
        made_by(Path(__file__).name, [name], name, name, options),
        "",
        "Accuracy on clean test labels in percent, mean over splits and sets. Ranks are "
        "among the methods of a table. p-values are Wilcoxon's, over "
        f"sets, corrected by Holm for the comparisons of {methods[0]} with each other method.",
        "",
        _what_was_run(study, whole, table),
        *(line for note in study.notes for line in ("", note)),
        "",
        "## In short",
        "",
        _in_short(found, methods),
    ]
    for condition, one in found.items():
        lines += ["", f"## {condition}", "", _table(one)]
    seconds = table.groupby("method")["seconds"].mean().reindex(methods)
    lines += ["", "## Mean seconds to fit, tuning included", ""]
    lines += ["On a busy machine: good for comparing methods, not for more.", ""]
    times = [[str(method), f"{mean:.2f}"] for method, mean in seconds.items()]
    return "\n".join([*lines, markdown([["method", "seconds"], *times])]) + "\n"


def _what_was_run(study: Study, whole: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return what the tables are made of, and what is missing."""
    n_asked = len(expand(study))
    counts = [
        f"{len(study.datasets)} sets",
        f"{whole['condition'].nunique()} conditions",
        f"{len(study.method)} methods",
        f"{study.split.repeats} random splits into 70 % training and 30 % test rows",
    ]
    text = f"The study has {n_asked:,} fits: {', '.join(counts)}."
    if len(whole) == n_asked:
        return f"{text} All of them are done."
    return (
        f"{text} {n_asked - len(whole):,} of them are missing; `granulearn bench {study.name}` "
        f"goes on where it was stopped. These tables are of the {len(table):,} fits of sets and "
        "splits that every method has."
    )


def _in_short(found: dict[str, pd.DataFrame], methods: list[str]) -> str:
    """Return one line per condition: the best ranks, and who cannot be told from the first."""
    first = methods[0]
    rows = [["condition", f"{first}: accuracy (rank)", "best other", "not beyond chance"]]
    for condition, one in found.items():
        others = one.drop(first).sort_values("mean rank")
        level = others[others["Holm p"] >= 0.05]
        named = ", ".join(f"{name} (p {p:.2g})" for name, p in level["Holm p"].items())
        best = f"{others.index[0]}: {_accuracy_and_rank(others.iloc[0])}"
        rows.append([condition, _accuracy_and_rank(one.loc[first]), best, named or "none"])
    return markdown(rows)


def _accuracy_and_rank(row: pd.Series) -> str:
    return f"{row['mean accuracy']:.2f} ({row['mean rank']:.2f})"


def _table(found: pd.DataFrame) -> str:
    rows = [["method", *found.columns]]
    for name, row in found.iterrows():
        p_value = "" if np.isnan(row["Holm p"]) else f"{row['Holm p']:.2g}"
        mean, rank = f"{row['mean accuracy']:.2f}", f"{row['mean rank']:.2f}"
        rows.append([str(name), mean, rank, row.iloc[2], p_value])
    return markdown(rows)


def main() -> None:
    """Read the store and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="result file of the study")
    parser.add_argument("report", type=Path, help="Markdown file to write")
    parser.add_argument("--study", choices=TITLES, default=DEFAULT)
    arguments = parser.parse_args()
    arguments.report.write_text(report(arguments.store, arguments.study), encoding="utf-8")


if __name__ == "__main__":
    main()
