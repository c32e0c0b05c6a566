"""What a store says about the paper as a whole: four studies, statistics, claims, one record."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from granulearn.bench.statistics import Comparison, compare, paper_accuracy_table, paper_noise_table
from granulearn.bench.studies.details import common_reasons
from granulearn.bench.studies.methods import build_estimator
from granulearn.bench.studies.paper_claims import (
    BASELINES,
    FOUND,
    NOT_FOUND,
    OPEN,
    PROPOSED,
    BySetting,
    claims_in_short,
    claims_of_noise,
    claims_of_sensitivity,
    claims_of_table1,
    mean_accuracy,
)
from granulearn.bench.studies.spec import Method, StudyError
from granulearn.bench.studies.store import Store
from granulearn.bench.studies.study_files import PAPER, PAPER_STUDIES
from granulearn.bench.studies.summary import summarize

VERDICTS = (FOUND, NOT_FOUND, OPEN)


def holds_the_paper(store: Store) -> bool:
    """Return whether a store was filled by ``granulearn bench paper``, in full or in part.

    Parameters
    ----------
    store : Store
        Open.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench.studies import Store, holds_the_paper
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     holds_the_paper(store)
    False
    """
    return set(PAPER_STUDIES) <= set(store.studies())


def summarize_paper(store: Store) -> dict[str, Any]:
    """Summarise all that the paper reports, each figure beside the paper's own.

    Parameters
    ----------
    store : Store
        Open, may be read-only; filled by ``granulearn bench paper``.

    Returns
    -------
    dict
        Plain values: ``studies`` (name to summary), ``progress``, ``table1``, ``noise``,
        ``statistics``, ``printed`` (two of the paper's own), ``claims``, ``verdicts`` (how
        many of each) and ``reasons``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench.studies import PAPER_STUDIES, Store, load_study, summarize_paper
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     for name in PAPER_STUDIES:
    ...         store.save_study(name, load_study(name).model_dump_json())
    ...     summary = summarize_paper(store)
    >>> summary["verdicts"]
    {'found again': 0, 'not found': 0, 'cannot be told': 27}
    """
    if not holds_the_paper(store):
        raise StudyError(f"{store.path} does not hold the paper; run: granulearn bench {PAPER}")
    studies = {name: summarize(store, name) for name in PAPER_STUDIES}
    methods = list(paper_accuracy_table().columns)
    table1, noise = _table1(studies["table1"], methods), _noise(studies["noise"], methods)
    theirs, theirs_noise = paper_accuracy_table(), paper_noise_table()
    claims = [
        *claims_of_table1(theirs, table1),
        *claims_of_noise(theirs_noise, noise),
        *claims_of_sensitivity(
            _by_setting(studies["sensitivity-activation"], "activations", 9),
            _by_setting(studies["sensitivity-C-h"], "surfaces", 121),
        ),
    ]
    counts = Counter(claim.verdict for claim in claims)
    return {
        "methods": methods,
        "proposed": list(PROPOSED),
        "studies": studies,
        "progress": _progress(studies),
        "table1": _beside(theirs.loc[table1.index], table1),
        "noise": _beside(theirs_noise.reindex(noise.index), noise),
        "statistics": _statistics(theirs, table1),
        "printed": _from_rounded_ranks(theirs),
        "noise_means": _noise_means(theirs_noise, noise),
        "claims": [asdict(claim) for claim in claims],
        "verdicts": {verdict: counts[verdict] for verdict in VERDICTS},
        "short": claims_in_short(claims),
        "reasons": _reasons(theirs, table1, studies["table1"]),
    }


def _table1(summary: dict[str, Any], methods: list[str]) -> pd.DataFrame:
    """Return our table 1: every set of the study, NaN where a cell is missing."""
    found = {line["dataset"]: whole_figures(line) for line in summary["per_set"]}
    empty = [None] * len(methods)
    table = pd.DataFrame.from_dict(
        {name: found.get(name, empty) for name in summary["datasets"]},
        orient="index",
        columns=methods,
    ).astype(float)
    table.index.name = "dataset"
    return table


def _noise(summary: dict[str, Any], methods: list[str]) -> pd.DataFrame:
    """Return our noise table, in the rows of the paper's; NaN where a cell is missing."""
    found = {
        (line["dataset"], line["condition"]): whole_figures(line) for line in summary["per_set"]
    }
    rows = {
        (dataset, rate): found.get((dataset, f"uniform {rate:g} %"), [None] * len(methods))
        for dataset, rate in paper_noise_table().index
    }
    index = pd.MultiIndex.from_tuples(rows, names=["dataset", "noise_percent"])
    return pd.DataFrame(list(rows.values()), index=index, columns=methods).astype(float)


def whole_figures(line: dict[str, Any]) -> list[float | None]:
    """Return the figures of a line; none where a split is missing, for it would be another.

    Parameters
    ----------
    line : dict
        One of ``per_set`` in a summary.
    """
    pairs = zip(line["values"], line["complete"], strict=True)
    return [value if complete else None for value, complete in pairs]


def _by_setting(summary: dict[str, Any], key: str, n_settings: int) -> dict[str, BySetting]:
    """Return the mean accuracy of the proposed models by setting, for each data set."""
    found = {}
    for dataset in summary["datasets"]:
        own = [item for item in summary[key] if item["dataset"] == dataset]
        columns = {
            item["method"]: {
                str(point["at"]): point["mean"] for point in item["points"] if point["complete"]
            }
            for item in own
        }
        errors = [point["error"] or 0.0 for item in own for point in item["points"]]
        table = pd.DataFrame(columns, dtype=float).reindex(columns=list(PROPOSED))
        missing = n_settings - len(table)
        blank = [f"not run {number}" for number in range(missing)]
        means = table.reindex([*table.index, *blank])
        found[dataset] = BySetting(means, float(np.mean(errors)) if errors else 0.0)
    return found


def _progress(studies: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Count what is done, failed and missing in all studies, and list what is missing where."""
    each = {name: summary["progress"] for name, summary in studies.items()}
    return {
        "cells": sum(item["cells"] for item in each.values()),
        "done": sum(item["done"] for item in each.values()),
        "failed": sum(len(item["failed"]) for item in each.values()),
        "missing": sum(item["missing"] for item in each.values()),
        "studies": [
            {
                "name": name,
                "cells": item["cells"],
                "done": item["done"],
                "failed": len(item["failed"]),
                "missing": item["missing"],
                "reasons": common_reasons(line["reason"] for line in item["failed"]),
            }
            for name, item in each.items()
        ],
    }


def _beside(theirs: pd.DataFrame, ours: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one line per row of the tables: the paper's figures and ours, best marked."""
    lines = []
    for place, paper, own in zip(ours.index, theirs.to_numpy(), ours.to_numpy(), strict=True):
        dataset, rate = place if isinstance(place, tuple) else (place, None)
        lines.append(
            {
                "dataset": str(dataset),
                "noise": None if rate is None else float(rate),
                "paper": [_number(value) for value in paper],
                "ours": [_number(value) for value in own],
                "best": _is_best(own),
            }
        )
    return lines


def _statistics(theirs: pd.DataFrame, ours: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the paper's statistics, those of its figures on the same sets, and ours."""
    complete = ours.dropna()
    tables = [("paper", theirs)]
    if len(complete) > 1:
        tables += [("paper, same sets", theirs.loc[complete.index]), ("this run", complete)]
    return [{"source": source, **_tests(compare(table))} for source, table in tables]


def _from_rounded_ranks(theirs: pd.DataFrame) -> dict[str, float]:
    """Return Friedman's chi² and F_F as the paper prints them: from ranks of two decimals."""
    ranks = compare(theirs).ranks.round(2)
    n_sets, n_methods = theirs.shape
    spread = float((ranks**2).sum()) - n_methods * (n_methods + 1) ** 2 / 4
    chi2 = 12 * n_sets / (n_methods * (n_methods + 1)) * spread
    f_f = (n_sets - 1) * chi2 / (n_sets * (n_methods - 1) - chi2)
    return {"friedman": chi2, "iman_davenport": f_f}


def _tests(result: Comparison) -> dict[str, Any]:
    return {
        "sets": len(result.sets),
        "means": {str(name): float(value) for name, value in result.means.items()},
        "ranks": {str(name): float(value) for name, value in result.ranks.items()},
        "friedman": result.friedman.statistic,
        "friedman_p": result.friedman.p_value,
        "iman_davenport": result.iman_davenport.statistic,
        "iman_davenport_p": result.iman_davenport.p_value,
        "critical_difference": result.critical_difference,
        "separated": [list(pair) for pair in result.separated_pairs],
    }


def _noise_means(theirs: pd.DataFrame, ours: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the mean over the sets at each rate, and over all rates: the paper's and ours."""
    lines = []
    rates = sorted(set(ours.index.get_level_values(1)))
    for rate in [*rates, None]:
        parts = {
            source: table if rate is None else table[table.index.get_level_values(1) == rate]
            for source, table in (("paper", theirs), ("ours", ours))
        }
        means = {source: _complete_mean(part) for source, part in parts.items()}
        lines.append(
            {
                "noise": None if rate is None else float(rate),
                **{source: [_number(value) for value in mean] for source, mean in means.items()},
                "best": _is_best(means["ours"]),
            }
        )
    return lines


def _complete_mean(table: Any) -> np.ndarray:
    """Return the mean of each method; NaN for one that lacks a figure."""
    return mean_accuracy(table).where(table.notna().all()).to_numpy()


def _is_best(values: np.ndarray) -> list[bool]:
    """Return which figures of a line are its highest; none of a line that is not complete."""
    return [bool(value == values.max()) for value in values]


def _reasons(theirs: pd.DataFrame, ours: pd.DataFrame, summary: dict[str, Any]) -> list[str]:
    """Say why claims are, or are not, found again, as far as the figures tell."""
    complete = ours.dropna()
    if len(complete) < 2 or summary["progress"]["missing"]:
        return []  # of a part of the sets, a reason could turn round
    gains = (complete - theirs.loc[complete.index]).mean()
    proposed, baselines = (gains[list(names)] for names in (PROPOSED, BASELINES))
    reasons = [
        f"On the {len(complete)} sets that both have, the proposed models differ from the paper by "
        f"{_signed(proposed)} points, the baselines by {_signed(baselines)}. CRVFL and ACRVFL have "
        "no public code: ours are other models of the same name."
    ]
    if baselines.mean() > proposed.mean():
        reasons.append(
            "So it is mostly the baselines that score higher than reported. Here every method is "
            "searched over its whole grid by cross-validation on training data only, and the test "
            "part is used once; we think that the paper's baselines were tuned with less care than "
            "its own models, which its text neither confirms nor rules out."
        )
    balls = {line["method"]: line["n_balls"] for line in summary["ranking"]}
    rows = _mean_rows(summary)
    if rows and balls.get(PROPOSED[0]):
        n_balls = balls[PROPOSED[0]]
        reasons.append(
            f"At a purity of {_purity(summary):g} {PROPOSED[0]} makes {n_balls:.0f} balls of "
            f"{rows:.0f} training rows in the mean: a ball stands for {rows / n_balls:.1f} rows, "
            "which is little to average noise away, or to tell a trusted ball from another."
        )
    return reasons


def _signed(gains: pd.Series) -> str:
    return ", ".join(f"{value:+.2f} ({name})" for name, value in gains.items())


def _purity(summary: dict[str, Any]) -> float:
    """Return the purity of the balls of the first proposed model, as the study has it."""
    (stated,) = [item for item in summary["study"]["methods"] if item["name"] == PROPOSED[0]]
    method = Method(**{key: stated[key] for key in ("name", "estimator", "fixed")})
    return float(build_estimator(method).get_params()["purity"])


def _mean_rows(summary: dict[str, Any]) -> float | None:
    """Return the mean number of training rows of the cells of the first proposed model."""
    rows = [
        line["n_train"]
        for group in summary["cells"]
        if group["method"] == PROPOSED[0]
        for line in group["splits"]
        if line["n_train"]
    ]
    return sum(rows) / len(rows) if rows else None


def _number(value: float) -> float | None:
    return None if pd.isna(value) else float(value)
