"""What a store says about a study, as one dictionary of plain values.

The report, the result tables and any other reader start here; nothing further
down looks at the store.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from granulearn.bench.statistics import paper_accuracy_table, paper_noise_table
from granulearn.bench.studies.cells import CLEAN, Cell, Condition, conditions, expand, parts
from granulearn.bench.studies.comparing import compare_methods
from granulearn.bench.studies.details import cell_id, describe_cells, describe_progress
from granulearn.bench.studies.drawings import drawing_key
from granulearn.bench.studies.methods import as_grids, variants
from granulearn.bench.studies.paper_claims import mean_accuracy
from granulearn.bench.studies.score_tables import cell_table, curve_table, mean_curves, score_table
from granulearn.bench.studies.scores import SHARES, higher_is_better
from granulearn.bench.studies.spec import Study, StudyError, hint_for
from granulearn.bench.studies.store import Store, StoredOutcome
from granulearn.bench.studies.study_files import list_studies


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
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     summary = summarize(store)
    >>> sorted(summary)[:3]
    ['activations', 'cells', 'comparisons']
    """
    found = _find_study(store, name)
    study = _compared_by(found, score)
    cells = expand(study)
    rows = store.rows(cell.key for cell in cells)
    table = cell_table(cells, rows)
    methods = [variant.name for method in study.method for variant in variants(method)]
    return {
        "study": _describe(found),
        "progress": describe_progress(cells, rows),
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
        "cells": describe_cells(cells, rows),
        "drawings": _drawings(study, cells, store),
        "environments": _environments(store, rows),
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
    return Study.model_validate_json(known[wanted])


def _compared_by(study: Study, score: str | None) -> Study:
    """Return the study with its methods compared by another of its scores."""
    own = study.compare
    if score is None or score == own.score:
        return study
    if score not in study.scores:
        hint = hint_for(score, study.scores, f"it has {', '.join(study.scores)}.")
        raise StudyError(f"{study.name} has no score {score!r}; {hint}")
    # The rope is a width in units of the study's own score.
    other = own.model_copy(update={"score": score, "rope": None})
    return study.model_copy(update={"compare": other})


def _describe(study: Study) -> dict[str, Any]:
    shipped = study.name in list_studies()
    return {
        "name": study.name,
        # A store keeps no folder of whoever ran a study.
        "file": study.name if shipped else f"FOLDER/{study.name}.toml",
        "shipped": shipped,
        "paper": study.paper,
        "question": study.question,
        "notes": list(study.notes),
        "seed": study.seed,
        "split": study.split.model_dump(exclude_none=True),
        "n_splits": len(parts(study.split)),
        "tuning": study.tuning.model_dump(),
        "alpha": study.compare.alpha,
        "score": study.compare.score,
        "noise": [noise.kind for noise in study.noise],
        "methods": [
            {
                "name": method.name,
                "estimator": method.estimator,
                "fixed": method.fixed,
                "grid": as_grids(method.grid),
                "candidates": method.candidates,
                "vary": method.vary,
            }
            for method in study.method
        ],
    }


def _ranking(study: Study, table: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]]:
    """Return one line per method: means of all scores, balls and times."""
    lines = []
    for method in methods:
        own = table[table["method"] == method]
        if own.empty:
            continue
        scores = {score: _number(own[score].astype(float).mean()) for score in study.scores}
        lines.append(
            {
                "method": method,
                "cells": len(own),
                "scores": scores,
                "n_balls": _number(own["n_balls"].astype(float).mean()),
                "fit_seconds": _number(own["fit_seconds"].mean()),
                "predict_seconds": _number(own["predict_seconds"].mean()),
            }
        )
    return lines


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
        lines.append(
            {
                "dataset": dataset,
                "condition": condition,
                "values": [_number(value) for value in values],
                "spreads": [
                    _number(spread.get((dataset, condition, method), np.nan)) for method in methods
                ],
                "complete": [
                    bool(counts.get((dataset, condition, method), 0) == n_splits)
                    for method in methods
                ],
                "best": [bool(value == best) for value in values],
                "ids": [cell_id(dataset, condition, method) for method in methods],
            }
        )
    return lines


def _curves(study: Study, table: pd.DataFrame) -> list[dict[str, Any]]:
    # Lines for all values of a varied setting would hide each other.
    varied = {
        variant.name for method in study.method if method.vary for variant in variants(method)
    }
    table = table[~table["method"].isin(varied)]
    found = []
    for noise in study.noise:
        if len(noise.rates) < 2 or table.empty:
            continue
        points = curve_table(table, study.compare.score, noise.kind)
        for dataset, of_set in points.groupby("dataset", sort=False):
            lines = _lines(of_set, "rate", "rates")
            found.append({"kind": noise.kind, "dataset": dataset, "lines": lines})
    return found


def _layers(study: Study, table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return, for each condition, the mean score over sets by the number of layers."""
    n_layers, methods = {}, {}
    for method in study.method:
        if set(method.vary or ()) == {"n_layers"}:
            for variant in variants(method):
                n_layers[variant.name] = variant.fixed["n_layers"]
                methods[variant.name] = method.name
    table = table[table["method"].isin(methods)]
    table = table.assign(
        n_layers=table["method"].map(n_layers), method=table["method"].map(methods)
    )
    found = []
    for condition, of_condition in table.groupby("condition", sort=False):
        points = mean_curves(of_condition, study.compare.score, "n_layers")
        if points.empty:
            continue
        mean = points["dataset"].iloc[0]
        lines = _lines(points[points["dataset"] == mean], "n_layers", "at")
        found.append({"condition": condition, "dataset": mean, "lines": lines})
    return found


def _lines(points: pd.DataFrame, along: str, name: str) -> dict[str, dict[str, list]]:
    """Return the places, means and errors of the points of each method."""
    return {
        str(method): {
            name: own[along].tolist(),
            "means": own["mean"].tolist(),
            "errors": [_number(error) for error in own["error"]],
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
                    "mean": _number(mean),
                    "error": _number(error),
                    "complete": bool(count == wanted),
                }
                for name, mean, error, count in grouped.agg(["mean", "sem", "count"]).itertuples()
            ]
            found.append(
                {"method": method.name, "dataset": dataset, "keys": list(keys), "points": points}
            )
    return found


def _paper(study: Study, table: pd.DataFrame, methods: list[str]) -> dict[str, Any] | None:
    """Return the paper's figures and ours for the cells that both have."""
    if study.paper is None or table.empty:
        return None
    ours = score_table(table, study.compare.score, methods, by=("dataset", "condition"))
    theirs = paper_accuracy_table() if study.paper == "table1" else paper_noise_table()
    points = []
    for place, values in zip(ours.index, ours.to_numpy(), strict=True):
        line = _paper_line(theirs, *place)
        points += [
            {
                "dataset": place[0],
                "condition": place[1],
                "method": method,
                "paper": line[method],
                "rerun": float(value),
            }
            for method, value in zip(methods, values, strict=True)
            if method in line and pd.notna(value)
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


def _paper_line(theirs: pd.DataFrame, dataset: str, condition: str) -> dict[str, float]:
    """Return the paper's figures for a data set and condition; nothing if it has none."""
    if theirs.index.nlevels == 1:
        place: Any = dataset if condition == CLEAN else None
    else:
        rates = {str(Condition("uniform", rate / 100)): rate for rate in (5, 10, 20, 30, 40)}
        place = (dataset, rates.get(condition))
    lines = theirs.to_dict("index")
    return {str(method): float(value) for method, value in lines.get(place, {}).items()}


def _drawings(study: Study, cells: list[Cell], store: Store) -> list[dict[str, Any]]:
    known = store.drawings()
    first = {cell.unit.dataset: drawing_key(cell.unit) for cell in reversed(cells)}
    return [known[first[name]] for name in study.draw if first.get(name) in known]


def _environments(store: Store, rows: dict[str, StoredOutcome]) -> list[dict[str, Any]]:
    found = []
    for identity, facts in store.environments().items():
        times = [row.finished for row in rows.values() if row.environment == identity]
        if times:
            found.append({**facts, "cells": len(times), "first": min(times), "last": max(times)})
    return found


def _number(value: float) -> float | None:
    return None if pd.isna(value) else float(value)
