"""The results of a study, as tables: from the rows of a store to frames.

Pages, result tables and figures start here; none of them reads the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from msgspec.structs import replace

from granulearn.bench.methods import variants
from granulearn.bench.running import drawing_key
from granulearn.bench.runs import CLEAN, Condition, Run, conditions, expand, parts
from granulearn.bench.scores import SHARES, TIMES, check_score, higher_is_better
from granulearn.bench.statistics import compare, paper_accuracy_table, paper_noise_table
from granulearn.bench.store import Store, StoredOutcome
from granulearn.bench.study import Study, StudyError, hint_for
from granulearn.bench.study_files import list_studies

Rows = dict[str, StoredOutcome]
_PLACE = ["dataset", "condition"]
NOT_RUN = "not run yet"


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
        The study, its progress, and frames: ``table`` has one row per run that worked, ``means``
        the compared score of each data set, condition (rows) and method (columns).

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
    >>> summary["score"], summary["progress"]["done"]
    ('accuracy', 0)
    """
    found = _find_study(store, name)
    study = found
    if score is not None and score != found.compare.score:
        if score not in found.scores:
            hint = hint_for(score, found.scores, f"it has {', '.join(found.scores)}.")
            raise StudyError(f"{found.name} has no score {score!r}; {hint}")
        # The rope is a width in units of the study's own score.
        study = replace(found, compare=replace(found.compare, score=score, rope=None))
    score = study.compare.score
    runs = expand(study)
    rows = store.rows(run.key for run in runs)
    table = run_table(runs, rows)
    methods = [variant.name for method in study.method for variant in variants(method)]
    means = score_table(table, score, methods, by=_PLACE)
    of_method = table.groupby([*_PLACE, "method"])[score]
    drawings = store.drawings()
    first = {run.unit.dataset: drawing_key(run.unit) for run in reversed(runs)}
    return {
        "study": found,
        "shipped": found.name in list_studies(),
        "n_splits": len(parts(study.split)),
        "progress": _progress(runs, rows),
        "methods": methods,
        "datasets": list(study.dataset_names),
        "conditions": [str(condition) for condition in conditions(study)],
        "score": score,
        "higher_is_better": higher_is_better(score),
        "in_percent": score in SHARES,
        "ranking": _ranking(study, table, methods),
        "comparisons": compare_methods(study, table, methods),
        "table": table,
        "means": means,
        "spreads": of_method.std().unstack().reindex(means.index, columns=methods),
        # False where a split is missing, so that the mean is not that of the whole study.
        "complete": of_method.count().unstack().reindex(means.index, columns=methods)
        == len(parts(study.split)),
        "curves": _curves(study, table),
        "layers": _layers(study, table),
        "activations": _varied(study, table, ["activation"]),
        "surfaces": _varied(study, table, ["C", "n_hidden"]),
        "paper": _paper(study, means) if study is found else None,
        "runs": _by_method(runs, rows),
        "drawings": [drawings[first[name]] for name in study.draw if first[name] in drawings],
        "environments": [
            {**facts, "runs": len(times), "first": min(times), "last": max(times)}
            for identity, facts in store.environments().items()
            if (times := [row.finished for row in rows.values() if row.environment == identity])
        ],
    }


def run_table(runs: Sequence[Run], rows: Rows) -> pd.DataFrame:
    """Return one line per run that worked, with its scores as columns; shares in percent."""
    facts = ("n_balls", "n_train", *TIMES)
    lines = [
        {
            "key": run.key,
            "dataset": run.unit.dataset,
            "kind": run.unit.condition.kind,
            "rate": run.unit.condition.rate,
            "condition": str(run.unit.condition),
            "repeat": run.unit.part.repeat,
            "split": str(run.unit.part),
            "method": run.method.name,
            "source": rows[run.key].outcome.source,
            **{fact: getattr(rows[run.key].outcome, fact) for fact in facts},
            **{n: v for n, v in (rows[run.key].outcome.scores or {}).items() if n in run.scores},
        }
        for run in runs
        if run.key in rows and not rows[run.key].outcome.reason
    ]
    texts = ["key", "dataset", "kind", "condition", "split", "method", "source"]
    numbers = list(dict.fromkeys(["rate", "repeat", *facts, *(runs[0].scores if runs else ())]))
    table = pd.DataFrame(lines, columns=[*texts, *numbers]).astype(dict.fromkeys(numbers, float))
    return table.assign(**{name: 100 * table[name] for name in numbers if name in SHARES})


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
    ``at``, ``mean`` and ``error``: the standard error over repeated splits, NaN if there is one.
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
    return points.agg(["mean", "sem"]).reset_index().rename(columns={"sem": "error", along: "at"})


def compare_methods(study: Study, table: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]]:
    """Compare the methods over the data sets: all, without duplicates, by condition.

    Variants of one method are left to the figures: they are settings of it, not methods to
    choose from. The first comparison is the main one; those that cannot be made are left out.
    """
    fixed = {method.name for method in study.method if not method.vary}
    methods = [name for name in methods if name in fixed]
    each = score_table(table, study.compare.score, methods, by=_PLACE)
    main = score_table(table, study.compare.score, methods)
    wanted = {"all data sets": main}
    if copies := [name for group in study.duplicates for name in group[1:]]:
        once = main.drop(index=copies, errors="ignore")
        wanted[f"each data set once, without {', '.join(copies)}"] = once
    if len(conditions(study)) > 1:
        for condition, own in each.groupby(level="condition", sort=False):
            wanted[str(condition)] = own.droplevel("condition")
    found = []
    for title, scores in wanted.items():
        scores = scores.dropna(axis="columns", how="all")
        if len(scores.dropna()) > 1 and scores.shape[1] > 1:
            result = compare(
                scores,
                alpha=study.compare.alpha,
                higher_is_better=higher_is_better(study.compare.score),
                missing="drop",
                rope=study.compare.rope,
            )
            found.append({"title": title, "result": result})
    return found


def _find_study(store: Store, name: str | None) -> Study:
    known = store.studies()
    if not known:
        raise StudyError(f"{store.path} holds no study yet; fill it with: granulearn bench")
    if name is None and len(known) > 1:
        raise StudyError(f"{store.path} holds {', '.join(known)}; say which with --study.")
    wanted = name or next(iter(known))
    if wanted not in known:
        raise StudyError(f"{store.path} has no study {wanted!r}; it holds {', '.join(known)}.")
    study = store.decoded(Study, known[wanted])
    for score in study.scores:
        check_score(score)
    return study


def _ranking(study: Study, table: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return one line per method: means of all scores, balls and times, and its runs."""
    numbers = list(dict.fromkeys([*study.scores, "n_balls", *TIMES]))
    grouped = table.groupby("method")[numbers]
    ranking = grouped.mean().assign(runs=grouped.size())
    return ranking.loc[[method for method in methods if method in ranking.index]]


def _curves(study: Study, table: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the mean score by rate, for each kind of noise and data set."""
    # Lines for all values of a varied setting would hide each other.
    table = table[table["method"].isin([m.name for m in study.method if not m.vary])]
    found: dict[tuple[str, str], pd.DataFrame] = {}
    for noise in study.noise:
        # Clean runs are rate 0 of every kind.
        own = table[table["kind"].isin([CLEAN, noise.kind])]
        points = mean_curves(own, study.compare.score, "rate") if len(noise.rates) > 1 else own[:0]
        for dataset, of_set in points.groupby("dataset", sort=False):
            found[noise.kind, str(dataset)] = of_set
    return found


def _of_variants(study: Study, table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the runs of methods that vary exactly these keys, with the values as columns."""
    values = pd.DataFrame(
        [
            [method.name, variant.name, *(variant.fixed[key] for key in keys)]
            for method in study.method
            if set(method.vary or ()) == set(keys)
            for variant in variants(method)
        ],
        columns=["varied", "method", *keys],
    )
    found = table.merge(values, on="method")
    return found.drop(columns="method").rename(columns={"varied": "method"})


def _layers(study: Study, table: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Return, for each condition, the mean score over sets by the number of layers."""
    own = _of_variants(study, table, ["n_layers"])
    found = {}
    for condition, of_condition in own.groupby("condition", sort=False):
        points = mean_curves(of_condition, study.compare.score, "n_layers")
        for mean in points["dataset"][:1]:
            found[str(condition), mean] = points[points["dataset"] == mean]
    return found


def _varied(study: Study, table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the mean score by varied values, for methods that vary exactly these keys."""
    own = _of_variants(study, table, keys)
    grouped = own.groupby(["method", "dataset", *keys], sort=False)[study.compare.score]
    points = grouped.agg(["mean", "sem", "count"]).reset_index().rename(columns={"sem": "error"})
    wanted = len(parts(study.split)) * len(conditions(study))
    return points.assign(complete=points["count"] == wanted)


def mean_accuracy(table: pd.DataFrame) -> pd.Series:
    """Return the mean of each method, the way the paper has it.

    Of lines per data set and noise, each set is averaged and rounded first.
    """
    if table.index.nlevels == 1:
        return table.mean()
    return table.groupby(level=0, sort=False).mean().round(2).mean()


def _paper(study: Study, means: pd.DataFrame) -> dict[str, Any] | None:
    """Return the paper's figures beside ours, for the runs that both have."""
    if study.paper is None:
        return None
    theirs = paper_table(study)
    long = {
        source: frame.melt(var_name="method", value_name=source, ignore_index=False)
        .set_index("method", append=True)
        .dropna()
        for source, frame in [("paper", theirs), ("rerun", means)]
    }
    points = long["rerun"].join(long["paper"], how="inner").reset_index()
    # A set of several conditions counts once, as in the paper's own averages.
    place = _PLACE if study.paper == "table_s1" else ["dataset"]
    sources = {
        source: mean_accuracy(points.pivot(index=place, columns="method", values=source))
        for source in ("paper", "rerun")
    }
    return {
        "points": points,
        "means": pd.DataFrame(sources).reindex(points["method"].unique()),
        "within_one": int((points["paper"] - points["rerun"]).abs().le(1).sum()),
    }


def paper_table(study: Study) -> pd.DataFrame:
    """Return the paper's table of a study, by data set and condition."""
    if study.paper == "table1":
        return paper_accuracy_table().assign(condition=CLEAN).set_index("condition", append=True)
    table = paper_noise_table()
    places = [(name, str(Condition("uniform", rate / 100))) for name, rate in table.index]
    return table.set_axis(pd.MultiIndex.from_tuples(places, names=_PLACE))


def _progress(runs: list[Run], rows: Rows) -> dict[str, Any]:
    """Count the runs that are done, failed and missing; name failures and gaps."""

    def state(run: Run) -> str:
        return rows[run.key].outcome.reason if run.key in rows else NOT_RUN

    columns = ["dataset", "condition", "split", "method", "reason"]
    lines = [
        [run.unit.dataset, str(run.unit.condition), str(run.unit.part), run.method.name, state(run)]
        for run in runs
    ]
    frame = pd.DataFrame(lines, columns=columns)
    lacking, is_missing = frame[frame["reason"] != ""], frame["reason"] == NOT_RUN
    # Methods that lack as many runs for the same reason are one line, and so are such data sets.
    gaps = lacking.groupby(["dataset", "reason", "method"], sort=False).size().reset_index(name="n")
    for joined, same in (("method", "dataset"), ("dataset", "method")):
        gaps = gaps.groupby([same, "reason", "n"], sort=False)[joined].agg(tuple).reset_index()
    return {
        "runs": len(runs),
        "done": len(runs) - len(lacking),
        "failed": frame[(frame["reason"] != "") & ~is_missing],
        "missing": int(is_missing.sum()),
        "gaps": gaps,
    }


def _by_method(runs: list[Run], rows: Rows) -> dict[tuple[str, str, str], list[tuple[str, Any]]]:
    """Return data set, condition and method to the split and outcome of each run."""
    found: dict[tuple[str, str, str], list[tuple[str, Any]]] = {}
    for run in runs:
        if run.key in rows:
            place = (run.unit.dataset, str(run.unit.condition), run.method.name)
            found.setdefault(place, []).append((str(run.unit.part), rows[run.key].outcome))
    return found
