"""What a store says about a study, as one dictionary of plain values.

The report, the result tables and any other reader start here; nothing further
down looks at the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from msgspec.structs import asdict, replace

from granulearn.bench.methods import as_grids, variants
from granulearn.bench.running import drawing_key
from granulearn.bench.runs import CLEAN, Condition, Run, conditions, expand, parts
from granulearn.bench.scores import SHARES, TIMES, higher_is_better
from granulearn.bench.statistics import (
    compare,
    describe_in_words,
    paper_accuracy_table,
    paper_noise_table,
)
from granulearn.bench.store import Store, StoredOutcome
from granulearn.bench.study import Study, StudyError, hint_for
from granulearn.bench.study_files import list_studies

Rows = dict[str, StoredOutcome]
_FACTS = ["key", "dataset", "kind", "rate", "condition", "repeat", "split", "method", "n_balls"]
_OF_OUTCOME = (
    "reason", "scores", "chosen", "fold_scores", "seed", "n_balls", "n_train", "n_test",
    "n_disturbed", "fit_seconds", "predict_seconds", "notes", "source",
)  # fmt: skip


def summarize(store: Store, name: str | None = None, *, score: str | None = None) -> dict[str, Any]:
    """Summarise a study of a store.

    Parameters
    ----------
    store : Store
        Open, may be read-only.
    name : str, default=None
        Which study; may be left out if the store has only one.
    score : str, default=None
        One of the scores of the study, to compare methods by; by default the one it names.

    Returns
    -------
    dict
        Lists, dictionaries, texts and numbers; `None` where there is nothing.

    See Also
    --------
    granulearn.bench.run_study : Fills the store.
    granulearn.bench.write_page : Makes a page of it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench import Store, expand, load_study, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     summary = summarize(store)
    >>> sorted(summary)[:3]
    ['activations', 'comparisons', 'conditions']
    """
    found = _find_study(store, name)
    study = found
    if score is not None and score != found.compare.score:
        if score not in found.scores:
            hint = hint_for(score, found.scores, f"it has {', '.join(found.scores)}.")
            raise StudyError(f"{found.name} has no score {score!r}; {hint}")
        # The rope is a width in units of the study's own score.
        study = replace(found, compare=replace(found.compare, score=score, rope=None))
    runs = expand(study)
    rows = store.rows(run.key for run in runs)
    table = run_table(runs, rows)
    methods = [variant.name for method in study.method for variant in variants(method)]
    drawings = store.drawings()
    first = {run.unit.dataset: drawing_key(run.unit) for run in reversed(runs)}
    return {
        "study": _describe(found),
        "progress": _progress(runs, rows),
        "methods": methods,
        "datasets": list(study.dataset_names),
        "conditions": [str(condition) for condition in conditions(study)],
        "score": study.compare.score,
        "scores": list(study.scores),
        "higher_is_better": higher_is_better(study.compare.score),
        "in_percent": study.compare.score in SHARES,
        "ranking": _ranking(study, table, methods),
        "comparisons": compare_methods(study, table, methods),
        "per_set": _per_set(study, table, methods),
        "curves": _curves(study, table),
        "layers": _layers(study, table),
        "activations": _varied(study, table, ("activation",)),
        "surfaces": _varied(study, table, ("C", "n_hidden")),
        "paper": _paper(study, table, methods) if study is found else None,
        "runs": _details(runs, rows),
        "drawings": [drawings[first[name]] for name in study.draw if first[name] in drawings],
        "environments": [
            {**facts, "runs": len(times), "first": min(times), "last": max(times)}
            for identity, facts in store.environments().items()
            if (times := [row.finished for row in rows.values() if row.environment == identity])
        ],
    }


def run_table(runs: Sequence[Run], rows: Rows) -> pd.DataFrame:
    """Return one line per run that worked, with its scores as columns; shares in percent."""
    lines = []
    for run in runs:
        if run.key not in rows or rows[run.key].outcome.reason:
            continue
        unit, outcome = run.unit, rows[run.key].outcome
        facts = (
            run.key, unit.dataset, unit.condition.kind, unit.condition.rate, str(unit.condition),
            unit.part.repeat, str(unit.part), run.method.name, outcome.n_balls,
        )  # fmt: skip
        times = {name: getattr(outcome, name) for name in TIMES}
        lines.append({**dict(zip(_FACTS, facts, strict=True)), **times, **(outcome.scores or {})})
    columns = dict.fromkeys([*_FACTS, *TIMES, *(runs[0].scores if runs else ())])
    table = pd.DataFrame(lines, columns=list(columns))
    shares = [name for name in table if name in SHARES]
    return table.assign(**{name: 100 * table[name].astype(float) for name in shares})


def score_table(
    table: pd.DataFrame, score: str, methods: Sequence[str], *, by: Sequence[str] = ("dataset",)
) -> pd.DataFrame:
    """Return the mean score over splits: one line per data set, one column per method.

    A method that lacks a split of those that others have has no mean: means over
    different splits cannot be compared. Where a line joins several conditions, the
    conditions count alike, and the same holds of a method that lacks one of them.

    Parameters
    ----------
    table : DataFrame
        What `run_table` returned.
    score : str
        Name of a score.
    methods : sequence of str
        Columns, in this order.
    by : sequence of str, default=("dataset",)
        What a line is: ``dataset``, or also ``condition``.

    Returns
    -------
    DataFrame
        In the order of the study; NaN where a run is missing.
    """
    scored = table[table["method"].isin(methods)].dropna(subset=[score])
    place = ["dataset", "condition"]
    of_method = scored.groupby([*place, "method"], sort=False)[score]
    n_splits = scored.groupby(place, sort=False)["split"].nunique()
    means = of_method.mean().unstack().where(of_method.size().unstack().eq(n_splits, axis=0))
    means = means.reindex(columns=list(methods)).astype(float).dropna(how="all")
    if list(by) == place:
        return means
    grouped = means.groupby(level=list(by), sort=False)
    return grouped.mean().where(grouped.count().eq(grouped.size(), axis=0))


def mean_curves(table: pd.DataFrame, score: str, along: str) -> pd.DataFrame:
    """Return how a score changes along a column of numbers, for each set and for their mean.

    The columns are ``dataset`` (``mean of N sets`` for their mean, which comes first), ``method``,
    `along`, ``mean`` and ``error``: the standard error over repeated splits, NaN if there is one.
    """
    place = ["dataset", "method", along, "repeat"]
    of_repeats = table.dropna(subset=[score]).groupby(place, sort=False)[score].mean().reset_index()
    n_sets = of_repeats["dataset"].nunique()
    curves = [of_repeats]
    if n_sets > 1:
        # Each repeat gives one mean over the sets; its spread is what splits and noise do.
        joined = (
            of_repeats.groupby(place[1:], sort=False)[score].agg(["mean", "size"]).reset_index()
        )
        joined = joined[joined["size"] == n_sets].rename(columns={"mean": score})
        curves.insert(0, joined.drop(columns="size").assign(dataset=f"mean of {n_sets} sets"))
    points = pd.concat(curves).groupby(place[:3], sort=False)[score]
    return points.agg(["mean", "sem"]).reset_index().rename(columns={"sem": "error"})


def compare_methods(study: Study, table: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]]:
    """Compare the methods over the data sets: all, without duplicates, by condition.

    Variants of one method are left to the figures: they are settings of it, not methods to
    choose from. The first comparison is the main one; those that cannot be made are left out.
    """
    fixed = {method.name for method in study.method if not method.vary}
    methods = [name for name in methods if name in fixed]
    if table.empty or len(methods) < 2:
        return []
    of_sets = study.compare.unit == "dataset"
    by = ("dataset",) if of_sets else ("dataset", "condition")
    main = score_table(table, study.compare.score, methods, by=by)
    unit = "data sets" if of_sets else "pairs of data set and condition"
    wanted = [(f"all {unit}", unit, main)]
    if twins := [name for group in study.duplicates for name in group[1:]]:
        once = main[~main.index.get_level_values("dataset").isin(twins)]
        wanted.append((f"each data set once, without {', '.join(twins)}", unit, once))
    if len(conditions(study)) > 1:
        each = score_table(table, study.compare.score, methods, by=("dataset", "condition"))
        wanted += [
            (str(condition), "data sets", own.droplevel("condition"))
            for condition, own in each.groupby(level="condition", sort=False)
        ]
    return [found for item in wanted if (found := _comparison(study, *item)) is not None]


def _comparison(study: Study, title: str, unit: str, scores: pd.DataFrame) -> dict[str, Any] | None:
    scores = scores.dropna(axis="columns", how="all")
    if len(scores.dropna()) < 2 or scores.shape[1] < 2:
        return None
    scores.index = [" / ".join(i) if isinstance(i, tuple) else i for i in scores.index]
    result = compare(
        scores,
        alpha=study.compare.alpha,
        higher_is_better=higher_is_better(study.compare.score),
        missing="drop",
        rope=study.compare.rope,
    )
    return {
        "title": title,
        "unit": unit,
        "n_sets": len(result.sets),
        "table": scores.dropna().to_dict("split"),
        "ranks": result.ranks.to_dict(),
        "critical_difference": result.critical_difference,
        "pairs": result.pairwise.to_dict("records"),
        "words": describe_in_words(result, unit),
    }


def _find_study(store: Store, name: str | None) -> Study:
    known = store.studies()
    if not known:
        raise StudyError(f"{store.path} holds no study yet; fill it with: granulearn bench")
    if name is None and len(known) > 1:
        raise StudyError(f"{store.path} holds {', '.join(known)}; say which with --study.")
    wanted = name or next(iter(known))
    if wanted not in known:
        raise StudyError(f"{store.path} has no study {wanted!r}; it holds {', '.join(known)}.")
    return Study.from_json(known[wanted])


def _describe(study: Study) -> dict[str, Any]:
    shipped = study.name in list_studies()
    split = {key: value for key, value in asdict(study.split).items() if value is not None}
    return {
        "name": study.name,
        # A store keeps no folder of whoever ran a study.
        "file": study.name if shipped else f"FOLDER/{study.name}.toml",
        "shipped": shipped,
        "paper": study.paper,
        "question": study.question,
        "notes": list(study.notes),
        "seed": study.seed,
        "split": split,
        "n_splits": len(parts(study.split)),
        "tuning": asdict(study.tuning),
        "alpha": study.compare.alpha,
        "score": study.compare.score,
        "methods": [{**asdict(method), "grid": as_grids(method.grid)} for method in study.method],
    }


def _ranking(study: Study, table: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]]:
    """Return one line per method: means of all scores, balls and times."""
    numbers = list(dict.fromkeys([*study.scores, "n_balls", *TIMES]))
    means = table.astype(dict.fromkeys(numbers, float)).groupby("method")[numbers].mean()
    counts = table["method"].value_counts()
    return [
        {
            "method": method,
            "runs": int(counts[method]),
            "scores": {score: number(means.loc[method, score]) for score in study.scores},
            **{name: number(means.loc[method, name]) for name in ("n_balls", *TIMES)},
        }
        for method in methods
        if method in counts
    ]


def _per_set(study: Study, table: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]]:
    if table.empty:
        return []
    score = study.compare.score
    means = score_table(table, score, methods, by=("dataset", "condition"))
    grouped = table.groupby(["dataset", "condition", "method"])[score]
    spread, counts = grouped.std(), grouped.count()
    n_splits = len(parts(study.split))
    lines = []
    for place, values in zip(means.index, means.to_numpy(), strict=True):
        dataset, condition = map(str, place)
        best = np.nanmax(values) if higher_is_better(score) else np.nanmin(values)
        keys = [(dataset, condition, method) for method in methods]
        lines.append(
            {
                "dataset": dataset,
                "condition": condition,
                "values": [number(value) for value in values],
                "spreads": [number(spread.get(key, np.nan)) for key in keys],
                "complete": [bool(counts.get(key, 0) == n_splits) for key in keys],
                "best": [bool(value == best) for value in values],
                "ids": [_anchor(*key) for key in keys],
            }
        )
    return lines


def _curves(study: Study, table: pd.DataFrame) -> list[dict[str, Any]]:
    # Lines for all values of a varied setting would hide each other.
    fixed = [method.name for method in study.method if not method.vary]
    table = table[table["method"].isin(fixed)]
    found = []
    for noise in study.noise:
        if len(noise.rates) < 2 or table.empty:
            continue
        # Clean runs are rate 0 of every kind.
        of_kind = table[table["kind"].isin([CLEAN, noise.kind])]
        points = mean_curves(of_kind, study.compare.score, "rate")
        for dataset, of_set in points.groupby("dataset", sort=False):
            lines = _lines(of_set, "rate")
            found.append({"kind": noise.kind, "dataset": dataset, "lines": lines})
    return found


def _layers(study: Study, table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return, for each condition, the mean score over sets by the number of layers."""
    layers = {
        variant.name: (method.name, variant.fixed["n_layers"])
        for method in study.method
        if set(method.vary or ()) == {"n_layers"}
        for variant in variants(method)
    }
    table = table[table["method"].isin(layers)]
    named = [layers[name] for name in table["method"]]
    table = table.assign(method=[name for name, _ in named], n_layers=[n for _, n in named])
    found = []
    for condition, of_condition in table.groupby("condition", sort=False):
        points = mean_curves(of_condition, study.compare.score, "n_layers")
        if not points.empty:
            mean = points["dataset"].iloc[0]
            lines = _lines(points[points["dataset"] == mean], "n_layers")
            found.append({"condition": condition, "dataset": mean, "lines": lines})
    return found


def _lines(points: pd.DataFrame, along: str) -> dict[str, dict[str, list]]:
    """Return the places, means and errors of the points of each method."""
    return {
        str(method): {
            "at": own[along].tolist(),
            "means": own["mean"].tolist(),
            "errors": [number(error) for error in own["error"]],
        }
        for method, own in points.sort_values(along, kind="stable").groupby("method", sort=False)
    }


def _varied(study: Study, table: pd.DataFrame, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the mean score by varied values, for methods that vary exactly these keys."""
    found = []
    wanted = len(parts(study.split)) * len(conditions(study))
    for method in study.method:
        if set(method.vary or ()) != set(keys):
            continue
        values = {
            variant.name: [variant.fixed[key] for key in keys] for variant in variants(method)
        }
        own = table[table["method"].isin(values)]
        for dataset, of_set in own.groupby("dataset", sort=False):
            grouped = of_set.groupby("method", sort=False)[study.compare.score]
            points = [
                {
                    "at": values[str(name)],
                    "mean": number(mean),
                    "error": number(error),
                    "complete": bool(count == wanted),
                }
                for name, mean, error, count in grouped.agg(["mean", "sem", "count"]).itertuples()
            ]
            found.append({"method": method.name, "dataset": dataset, "points": points})
    return found


def mean_accuracy(table: pd.DataFrame) -> pd.Series:
    """Return the mean of each method, the way the paper has it.

    Of lines per data set and noise, each set is averaged and rounded first.
    """
    if table.index.nlevels == 1:
        return table.mean()
    return table.groupby(level=0, sort=False).mean().round(2).mean()


def _paper(study: Study, table: pd.DataFrame, methods: list[str]) -> dict[str, Any] | None:
    """Return the paper's figures and ours for the runs that both have."""
    if study.paper is None or table.empty:
        return None
    ours = score_table(table, study.compare.score, methods, by=("dataset", "condition"))
    theirs = paper_accuracy_table() if study.paper == "table1" else paper_noise_table()
    conditions_of = (
        theirs.index.map(lambda place: (place[0], str(Condition("uniform", place[1] / 100))))
        if theirs.index.nlevels == 2
        else [(name, CLEAN) for name in theirs.index]
    )
    lines = dict(zip(conditions_of, theirs.to_dict("records"), strict=True))
    points = [
        {
            "dataset": place[0],
            "condition": place[1],
            "method": method,
            "paper": lines[place][method],
            "rerun": float(value),
        }
        for place, values in zip(ours.index, ours.to_numpy(), strict=True)
        for method, value in zip(methods, values, strict=True)
        if method in lines.get(place, ()) and pd.notna(value)
    ]
    frame = pd.DataFrame(points, columns=["dataset", "condition", "method", "paper", "rerun"])
    # A set of several conditions counts once, as in the paper's own averages.
    place = ["dataset", "condition"] if theirs.index.nlevels == 2 else ["dataset"]
    means = {
        source: mean_accuracy(frame.pivot(index=place, columns="method", values=source))
        for source in ("paper", "rerun")
    }
    return {
        "points": points,
        "means": [
            {"method": method, **{source: float(means[source][method]) for source in means}}
            for method in frame["method"].unique()
        ],
        "within_one": int((frame["paper"] - frame["rerun"]).abs().le(1).sum()),
    }


def _progress(runs: list[Run], rows: Rows) -> dict[str, Any]:
    """Count what is done, failed and missing; failures with their reasons; where gaps are."""
    failed = [
        {
            "dataset": run.unit.dataset,
            "condition": str(run.unit.condition),
            "split": str(run.unit.part),
            "method": run.method.name,
            "reason": rows[run.key].outcome.reason,
        }
        for run in runs
        if run.key in rows and rows[run.key].outcome.reason
    ]
    missing = sum(run.key not in rows for run in runs)
    return {
        "runs": len(runs),
        "done": len(runs) - missing - len(failed),
        "failed": failed,
        "missing": missing,
        "gaps": _gaps(runs, rows),
    }


def common_reasons(reasons: Iterable[str], most: int = 3) -> list[dict[str, Any]]:
    """Count the reasons of failures, the most common first; rare ones are one without a name."""
    counts = Counter(reasons).most_common()
    named = [{"reason": reason, "runs": count} for reason, count in counts[:most]]
    others = sum(count for _, count in counts[most:])
    return [*named, {"reason": "", "runs": others}] if others else named


def _gaps(runs: list[Run], rows: Rows) -> list[dict[str, Any]]:
    """Say which sets and methods lack how many runs; those that lack the same are one line."""
    found: dict[tuple[str, str], list[str | None]] = {}
    for run in runs:
        reason = rows[run.key].outcome.reason if run.key in rows else None
        found.setdefault((run.unit.dataset, run.method.name), []).append(reason)
    of_set: dict[tuple, list[str]] = {}  # set and state to the methods
    for (dataset, method), reasons in found.items():
        failed = tuple(sorted(reason for reason in reasons if reason))
        state = (len(reasons), reasons.count(None), failed)
        if any(state[1:]):
            of_set.setdefault((dataset, state), []).append(method)
    joined: dict[tuple, list[str]] = {}  # state and methods to the sets
    for (dataset, state), methods in of_set.items():
        joined.setdefault((state, tuple(methods)), []).append(dataset)
    return [
        {
            "datasets": datasets,
            "methods": list(methods),
            "runs": n_runs,
            "missing": missing,
            "failed": len(failed),
            "reasons": common_reasons(failed),
        }
        for ((n_runs, missing, failed), methods), datasets in joined.items()
    ]


def _details(runs: list[Run], rows: Rows) -> list[dict[str, Any]]:
    """Group runs by data set, noise and method, one line per split; those not run are left out."""
    groups: dict[str, dict[str, Any]] = {}
    for run in runs:
        if run.key not in rows:
            continue
        place = (run.unit.dataset, str(run.unit.condition), run.method.name)
        names = dict(zip(("dataset", "condition", "method"), place, strict=True))
        group = groups.setdefault(_anchor(*place), {"id": _anchor(*place), **names, "splits": []})
        outcome = {name: getattr(rows[run.key].outcome, name) for name in _OF_OUTCOME}
        outcome["notes"] = list(outcome["notes"])
        group["splits"].append({"key": run.key, "split": str(run.unit.part), **outcome})
    return list(groups.values())


def _anchor(dataset: str, condition: str, method: str) -> str:
    """Return the name of a place on a page: letters, digits and hyphens only."""
    text = f"{dataset}--{condition}--{method}"
    return "run-" + "".join(c if c.isalnum() and c.isascii() else f"-{ord(c):x}-" for c in text)


def number(value: Any) -> float | None:
    """Return a number as a plain float; None for NaN."""
    return None if pd.isna(value) else float(value)
