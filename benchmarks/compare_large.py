"""Tables of the studies `rivals-large` and `rivals-large-quick`, from a store.

    GRANULEARN_DATA=DIRECTORY granulearn bench rivals-large --results out/rivals-large.db
    python benchmarks/compare_large.py out/rivals-large.db docs/results/rivals_large.md

A data set counts with the splits for which every method has a result, so tables can be
made while the study is still running; they say how many there are.
"""

import argparse
from pathlib import Path

import pandas as pd
from compare_rivals import complete
from made_by import made_by

from granulearn.bench import (
    Store,
    Study,
    average_ranks,
    expand,
    holm_adjust,
    wilcoxon_p_value,
    win_tie_loss,
)
from granulearn.bench.scores import SHARES, TIMES, higher_is_better
from granulearn.bench.summary import run_table

OURS = "robust"


def read(path: Path) -> tuple[Study, pd.DataFrame, list[str]]:
    """Return the study of a store, its complete cells, and where and with what they were made."""
    with Store(path, readonly=True) as store:
        (content,) = store.studies().values()
        study = Study.model_validate_json(content)
        cells = expand(study)
        table = run_table(cells, store.rows(cell.key for cell in cells))
        machines = [
            f"{facts['processor']}, {facts['cores']} cores, Python {facts['python']}, "
            + ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
            for facts in store.environments().values()
        ]
    return study, complete(table, [method.name for method in study.method]), machines


def per_set(table: pd.DataFrame, score: str, methods: list[str]) -> pd.DataFrame:
    """Return the mean of a score over splits: sets by methods."""
    means = table.groupby(["dataset", "method"], sort=False)[score].mean().unstack()
    return means[methods].astype(float)


def condition_tables(study: Study, table: pd.DataFrame) -> list[str]:
    """Return, for each condition, the means of all scores, and ours against each other method."""
    lines = []
    for condition, part in table.groupby("condition", sort=False):
        splits = part.groupby("dataset")["split"].nunique()
        if len(splits) < 2:
            continue
        lines += [
            f"## {condition}",
            "",
            f"{len(splits)} sets, {splits_in_words(splits.min(), splits.max())} each.",
            "",
            *scores_table(study, part),
            "",
            f"{_named(study.compare.score)} by set:",
            "",
            *sets_table(study, part),
            "",
        ]
    return lines


def scores_table(study: Study, part: pd.DataFrame) -> list[str]:
    """Return means, ranks and tests of one condition."""
    methods = [method.name for method in study.method]
    shown = [score for score in study.scores if score not in TIMES]
    means = {score: per_set(part, score, methods).mean() for score in shown}
    main = per_set(part, study.compare.score, methods)
    if not higher_is_better(study.compare.score):
        main = -main
    others = [name for name in methods if name != OURS]
    p_values = holm_adjust([wilcoxon_p_value(main[OURS], main[other]) for other in others])
    tests = {
        other: ["{} / {} / {}".format(*win_tie_loss(main[OURS], main[other])), f"{p:.2g}"]
        for other, p in zip(others, p_values, strict=True)
    }
    ranks = dict(zip(methods, average_ranks(main.to_numpy()), strict=True))
    heads = ["method", *map(_named, shown), "mean rank", f"{OURS} wins / ties / losses", "Holm p"]
    return _table(
        heads,
        [
            [
                name,
                *(_shown(score, means[score][name]) for score in shown),
                f"{ranks[name]:.2f}",
                *tests.get(name, ["", ""]),
            ]
            for name in methods
        ],
    )


def sets_table(study: Study, part: pd.DataFrame) -> list[str]:
    """Return the compared score of every set and method, the best of a set in bold."""
    score, methods = study.compare.score, [method.name for method in study.method]
    rows = []
    for dataset, values in per_set(part, score, methods).iterrows():
        best = values.max() if higher_is_better(score) else values.min()
        cells = [(value, _shown(score, value)) for value in values]
        rows.append([str(dataset), *(f"**{s}**" if v == best else s for v, s in cells)])
    return _table(["set", *methods], rows)


def report(path: Path) -> str:
    """Return all tables as Markdown."""
    study, table, machines = read(path)
    page = study.name.replace("-", "_")
    lines = [
        f"# {study.name}",
        "",
        study.question,
        "",
        *(f"- {note}" for note in study.notes),
        "",
        made_by(Path(__file__).name, [study.name], study.name, page),
        "",
        "Scores are means over splits, then over sets; shares are in percent, and log loss and "
        "calibration error (top class, 15 bins of equal width) are better when lower. Ranks are by "
        f"{_named(study.compare.score)}. p-values are Wilcoxon's, over sets, corrected by Holm for "
        f"the comparisons of {OURS} with each other method; with few sets they cannot be small.",
        "",
        *condition_tables(study, table),
        "Times depend on the machine and on what else it did: the result file has them, and",
        "`benchmarks/bench_robust.py` measures ratios.",
        "",
        *(f"Made on {machine}." for machine in machines),
    ]
    return "\n".join(lines) + "\n"


def splits_in_words(least: int, most: int) -> str:
    """Return how many splits the sets have, as words."""
    if least == most:
        return f"{most} split" if most == 1 else f"{most} splits"
    return f"{least} to {most} splits"


def _named(score: str) -> str:
    return {"roc_auc": "area under ROC"}.get(score, score.replace("_", " "))


def _shown(score: str, value: float) -> str:
    return f"{value:.2f}" if score in SHARES else f"{value:.3f}"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    rule = ["---"] * len(heads)
    return [f"| {' | '.join(row)} |" for row in [heads, rule, *rows]]


def main() -> None:
    """Read the store and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="result file of one of the studies")
    parser.add_argument("report", type=Path, help="Markdown file to write")
    arguments = parser.parse_args()
    arguments.report.write_text(report(arguments.store), encoding="utf-8")


if __name__ == "__main__":
    main()
