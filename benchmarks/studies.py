"""Pages of studies: their first method against each other one, under each condition."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from benchmarks.harness import StudyBenchmark, markdown
from granulearn.bench import Study, holm_adjust, wilcoxon_p_value
from granulearn.bench.scores import SHARES, TIMES, higher_is_better

ABOUT = """\
Scores are means over splits, then over sets, on test rows with clean labels; rates are in
percent. Ranks are among the methods of a table. p-values are from Wilcoxon's test over sets, with
Holm's correction for the comparisons of the first method with each other one. Times are
processor times."""

MOST_SETS_SHOWN, LEVEL = 12, 0.05


def complete(table: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return the runs of the splits that every method has."""
    unit = table.groupby(["dataset", "condition", "split"])["method"]
    return table[unit.transform("nunique") == len(methods)]


def per_set(table: pd.DataFrame, score: str, methods: list[str]) -> pd.DataFrame:
    """Return the mean of a score over splits: sets by methods."""
    means = table.groupby(["dataset", "method"], sort=False)[score].mean().unstack()
    return means[methods].astype(float)


def against_first(scores: pd.DataFrame) -> pd.DataFrame:
    """Return mean, rank, and the comparison of the first method with each other one."""
    first, *others = scores.columns
    pairs = [(scores[first], scores[other]) for other in others]
    wins = [f"{(a > b).sum()} / {(a == b).sum()} / {(a < b).sum()}" for a, b in pairs]
    p_values = holm_adjust([wilcoxon_p_value(*pair) for pair in pairs])
    return pd.DataFrame(
        {
            "mean rank": scores.rank(axis=1, ascending=False).mean(),
            f"{first} wins / ties / losses": ["", *wins],
            "Holm p": ["", *(f"{p:.2g}" for p in p_values)],
        },
        index=pd.Index(scores.columns, name="method"),
    )


def study_tables(found: list[tuple[Study, pd.DataFrame]]) -> Iterator[str]:
    """Yield the tables of a study, condition by condition."""
    ((study, whole),) = found
    methods = [method.name for method in study.method]
    table = complete(whole, methods)
    yield study.question
    yield from study.notes
    yield (
        f"{table['dataset'].nunique()} of {len(study.dataset_names)} sets, {len(methods)} methods, "
        f"{len(table):,} fits of splits that every method has."
    )
    score = study.compare.score
    yield "## In short"
    yield in_short(study, table, methods)
    shown = [name for name in (*study.scores, "fit_seconds") if table[name].notna().any()]
    for condition, part in table.groupby("condition", sort=False):
        if part["dataset"].nunique() < 2:
            continue
        means = pd.DataFrame(
            {named(name): rounded(per_set(part, name, methods).mean(), name) for name in shown}
        )
        yield f"## {condition}"
        compared = against_first(better_is_higher(part, score, methods))
        yield markdown(means.join(compared).rename_axis("method"), 2)
        if len(study.dataset_names) <= MOST_SETS_SHOWN:
            yield f"{named(score).capitalize()} by set:"
            by_set = per_set(part, score, methods).apply(rounded, name=score)
            yield markdown(by_set.rename_axis("set"))


def in_short(study: Study, table: pd.DataFrame, methods: list[str]) -> str:
    """Return, per condition, the first method, the best other one and insignificant differences."""
    score, first, lines = study.compare.score, methods[0], {}
    for condition, part in table.groupby("condition", sort=False):
        if part["dataset"].nunique() < 2:
            continue
        means = rounded(per_set(part, score, methods).mean(), score)
        compared = against_first(better_is_higher(part, score, methods))
        shown = means + compared["mean rank"].map(" ({:.2f})".format)
        others = compared.drop(first).sort_values("mean rank")
        level = others["Holm p"][others["Holm p"].astype(float) >= LEVEL]
        alike = ", ".join(f"{name} (p {p})" for name, p in level.items())
        lines[condition] = {
            f"{first}: {named(score)} (rank)": shown[first],
            "best other": f"{others.index[0]}: {shown[others.index[0]]}",
            "not significantly different": alike or "none",
        }
    return markdown(pd.DataFrame(lines).T.rename_axis("condition"))


def better_is_higher(table: pd.DataFrame, score: str, methods: list[str]) -> pd.DataFrame:
    """Return the mean of a score over splits, its sign changed if lower is better."""
    return per_set(table, score, methods) * (1 if higher_is_better(score) else -1)


def named(score: str) -> str:
    """Return how a score is written in a table."""
    return {"roc_auc": "AUROC", "roc_auc_ovr": "AUROC"}.get(score, score.replace("_", " "))


def rounded(values: pd.Series, name: str) -> pd.Series:
    """Return the values of a score as text: shares are in percent."""
    digits = 2 if name in SHARES or name in TIMES else 3
    return values.map(lambda value: "" if pd.isna(value) else f"{value:.{digits}f}")


def rivals_tables(found: list[tuple[Study, pd.DataFrame]]) -> Iterator[str]:
    """Yield, for each study, a table per score: conditions by methods."""
    for study, whole in found:
        methods, main = [method.name for method in study.method], study.compare.score
        table = complete(whole, methods)
        if table.empty:
            continue
        parts = dict(list(table.groupby("condition", sort=False)))
        yield f"## {study.question}"
        yield "\n".join(f"- {note}" for note in study.notes)
        yield f"{table['dataset'].nunique()} sets, {len(table):,} fits."
        yield f"Mean {named(main)}, and mean rank:"
        yield by_condition({name: ranked(part, main, methods) for name, part in parts.items()})
        yield f"p-values of {methods[0]} against each other method:"
        yield by_condition({name: p_values(part, main, methods) for name, part in parts.items()})
        for score in study.scores:
            if score not in (main, *TIMES):
                yield f"Mean {named(score)}:"
                means = {name: shown(part, score, methods) for name, part in parts.items()}
                yield by_condition(means)
        yield "Time of a fit with its tuning, relative to LightGBM (median over sets):"
        yield by_condition({name: relative_times(part, methods) for name, part in parts.items()})


def by_condition(rows: dict[str, pd.Series]) -> str:
    """Return a table with a row for each condition."""
    return markdown(pd.DataFrame(rows).T.rename_axis("condition"))


def ranked(part: pd.DataFrame, score: str, methods: list[str]) -> pd.Series:
    """Return mean and rank of each method, as text."""
    ranks = against_first(better_is_higher(part, score, methods))["mean rank"]
    return shown(part, score, methods) + ranks.map(" ({:.1f})".format)


def p_values(part: pd.DataFrame, score: str, methods: list[str]) -> pd.Series:
    """Return the p-values of the first method against each other one, as text."""
    return against_first(per_set(part, score, methods))["Holm p"].drop(methods[0])


def shown(part: pd.DataFrame, score: str, methods: list[str]) -> pd.Series:
    """Return the mean of a score over sets, as text."""
    return rounded(per_set(part, score, methods).mean(), score)


def relative_times(part: pd.DataFrame, methods: list[str]) -> pd.Series:
    """Return the median over sets of the times of methods, relative to LightGBM, as text."""
    times = per_set(part, "fit_seconds", methods)
    return times.div(times["LightGBM"], axis=0).median().map("{:.1f}".format)


def study_benchmark(title: str, study: str) -> StudyBenchmark:
    """Return the benchmark of one study."""
    return StudyBenchmark(title, ABOUT, [study], study_tables)


BENCHMARKS = {
    "rivals": StudyBenchmark(
        "The robust classifier against its rivals",
        ABOUT,
        ["rivals", "rivals-large", "rivals-neural"],
        rivals_tables,
    ),
    "ablation": study_benchmark("What the parts of the robust classifier add", "ablation"),
    "deep": study_benchmark("Deep networks and other tuning against RVFL", "deep"),
    "generators": study_benchmark("Ball generators under the paper's models", "generators"),
    "rare": study_benchmark("Rare classes: costs of errors against class weights", "rare"),
    "real-noise-models": study_benchmark("Learning from real label noise", "real-noise"),
}
