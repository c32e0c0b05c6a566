"""Checks of labels: errors of the count, coverage of its range, calibration and forecasts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from benchmarks.audit_sets import CHECKED, REAL_NOISE, SMALL, Labels, labels_of, names_of
from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn.audit import LabelAudit
from granulearn.audit.verified import VerifiedLabels

ABOUT = """\
A simulated reviewer, who knows the true labels, checks 0 to 80 labels of each table, half of them
the most doubtful and half drawn at random. The audit is fitted once; checks sharpen its numbers.
Tables of these kinds taught the audit its prior, so these are figures of development."""
CHECKS = (0, 10, 20, 40, 80)
PLANTED = (
    ("clean", 0.0), ("uniform", 0.1), ("uniform", 0.2), ("uniform", 0.3), ("pair", 0.2),
    ("boundary", 0.1), ("boundary", 0.2), ("one-way", 0.05), ("one-way", 0.12),
)  # fmt: skip
NEXT, N_BINS, MOST_ROWS = 20, 10, 2_000


def one_way(labels: Labels, rate: float) -> Labels:
    """Return the labels with mistakes that all turn one class into another."""
    truth = labels.truth
    order = np.argsort(np.bincount(truth), kind="stable")
    source, target = order[-1], order[0]
    at = np.flatnonzero(truth == source)
    n_wrong = min(round(rate * len(truth)), len(at) // 2)
    given = truth.copy()
    given[np.random.default_rng(1).choice(at, n_wrong, replace=False)] = target
    return Labels(labels.X, given, truth)


def table_of(name: str, group: str, noise: str, rate: float) -> Labels:
    """Return a table with its mistakes; of a large one `MOST_ROWS` rows."""
    labels = labels_of(name, group)
    if noise == "one-way":
        labels = one_way(labels, rate)
    elif noise not in ("real", "clean"):
        labels = labels.planted(noise, rate, 1)
    kept = np.random.default_rng(0).permutation(len(labels.given))[:MOST_ROWS]
    return Labels(labels.X[kept], labels.given[kept], labels.truth[kept])


def check(name: str, group: str, noise: str, rate: float) -> list[Row]:
    """Return the numbers of one table after each number of checks."""
    labels = table_of(name, group, noise, rate)
    given, wrong = labels.given, labels.wrong
    classes = np.unique(given)
    audit = LabelAudit(random_state=0).fit(labels.X, given)
    rows = []
    for n_checks in CHECKS:
        verified = None
        if n_checks:
            chosen = audit.next_to_review(min(n_checks, len(given)), random_fraction=0.5)
            at = np.sort(chosen.index.to_numpy())
            at_random = (chosen["drawn"].sort_index() == "random").to_numpy()
            # A true class that nobody gave counts as another class.
            truth = np.searchsorted(classes, labels.truth[at]).clip(max=len(classes) - 1)
            other = (np.searchsorted(classes, given[at]) + 1) % len(classes)
            truth = np.where(wrong[at] & (classes[truth] == given[at]), other, truth)
            verified = VerifiedLabels(at, truth, at_random)
        ratings = audit.ratings_
        summary = audit.summary()
        if verified is not None:
            ratings, summary = audit.rated_with(verified)
        P = ratings.error_proba
        known = ~np.isnan(P)
        following = ratings.open_rows[:NEXT]
        bins = np.minimum((P[known] * N_BINS).astype(int), N_BINS - 1)
        suspects = ratings.is_suspect
        hits = (suspects & wrong).sum()
        row = {
            "checks": n_checks, "truth": wrong.mean(), "estimate": summary.rate,
            "low": summary.low, "high": summary.high, "forecast": P[following].sum(),
            "found": wrong[following].sum(), "brier": ((P - wrong)[known] ** 2).mean(),
            "F1": 2 * hits / max(suspects.sum() + (wrong & ~ratings.verified).sum(), 1),
        }  # fmt: skip
        for name_of_sum, values in (("p", P[known]), ("wrong", wrong[known]), ("n", known[known])):
            sums = np.bincount(bins, values, minlength=N_BINS) / known.sum()
            row |= {f"{name_of_sum}{b}": value for b, value in enumerate(sums)}
        rows.append(row)
    if verified is not None:
        again = LabelAudit(random_state=0).fit(labels.X, given, verified=verified)
        rest = ~again.verified_ & ~np.isnan(again.label_quality_)
        if 0 < wrong[rest].sum() < rest.sum():
            for when, one in (("before", audit), ("after", again)):
                doubt = -np.nan_to_num(one.label_quality_[rest], nan=1)
                rows[-1][when] = average_precision_score(wrong[rest], doubt)
    return rows


def tasks(quick: bool) -> Iterator[Task]:
    """Yield tables: planted, real and clean."""
    for group in (SMALL, REAL_NOISE, CHECKED):
        conditions = PLANTED if group == SMALL else (("real", 0.0),)
        for name in names_of(group)[: 2 if quick else None]:
            for noise, rate in conditions:
                key = {"set": name, "group": group, "noise": noise, "rate": rate}
                yield key, partial(check, name, group, noise, rate)


def parts_of(found: pd.DataFrame, columns: dict[str, str]) -> dict[str, pd.DataFrame]:
    """Return all reviews, and the parts of equal values of some columns."""
    parts = {"all": found}
    for column, words in columns.items():
        parts |= {words.format(value): part for value, part in found.groupby(column)}
    return parts


def calibration(part: pd.DataFrame) -> tuple[float, list[tuple[float, float]]]:
    """Return the calibration error over all labels, each table counting once, and the curve."""
    sums = {
        name: part[[f"{name}{b}" for b in range(N_BINS)]].mean() for name in ("p", "wrong", "n")
    }
    p, wrong, n = (sums[name].to_numpy() for name in ("p", "wrong", "n"))
    filled = n > 0
    curve = list(zip(p[filled] / n[filled], wrong[filled] / n[filled], strict=True))
    return float(np.abs(p - wrong).sum() / n.sum()), curve


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield how honest the numbers are before and after checks."""
    judged = found[found["estimate"].notna()].astype({"truth": float})
    n_tables = len(found) // len(CHECKS)
    yield (
        f"{n_tables} tables of {found['set'].nunique()} sets; of "
        f"{n_tables - (judged['checks'] == 0).sum()} nothing can be said before checks, since "
        "similar rows do not have similar labels."
    )
    holds = (judged["low"] - 0.005 <= judged["truth"]) & (judged["truth"] <= judged["high"] + 0.005)
    judged = judged.assign(
        error=(judged["estimate"] - judged["truth"]).abs(), holds=holds,
        width=judged["high"] - judged["low"],
        miss=(judged["forecast"] - judged["found"]).abs(),
    )  # fmt: skip
    yield "## After how many checks?"
    lines = {}
    for n_checks, part in judged.groupby("checks"):
        lines[f"{n_checks} checks"] = {
            "error of the rate": part["error"].mean(),
            "range contains it": f"{part['holds'].mean():.1%}",
            "width of the range": part["width"].mean(),
            "calibration error": calibration(part)[0],
            "Brier score": part["brier"].mean(),
            f"forecast of the next {NEXT}, error": part["miss"].mean(),
        }
    yield markdown(pd.DataFrame(lines).T)
    yield "## By kind of mistakes"
    for n_checks in (0, 20):
        part = judged[judged["checks"] == n_checks]
        lines = {
            noise: {
                "tables": len(own),
                "wrong": own["truth"].mean(),
                "error of the rate": own["error"].mean(),
                "range contains it": f"{own['holds'].mean():.0%}",
                "width of the range": own["width"].mean(),
                "F1 of suspects": own["F1"].mean(),
            }
            for noise, own in part.groupby("noise")
        }
        yield f"{n_checks} checks:"
        yield markdown(pd.DataFrame(lines).T.rename_axis("mistakes"))
    yield "## Are the probabilities right?"
    yield "Labels by error probability: the mean of the probabilities, and the fraction wrong."
    curves = {
        f"{n_checks} checks": ", ".join(
            f"{p:.2f}: {wrong:.2f}" for p, wrong in calibration(part)[1]
        )
        for n_checks, part in judged.groupby("checks")
    }
    yield markdown(pd.Series(curves).to_frame("probability: fraction wrong"))
    yield "## Do verified rows help the others?"
    yield (
        "Average precision of label quality on the rows that were not checked, before 80 checks "
        "and after a fit with them."
    )
    lines = {}
    for name, part in parts_of(found[found["before"].notna()], {"noise": "{}"}).items():
        gain = part["after"] - part["before"]
        lines[name] = {
            "before": part["before"].mean(), "after": part["after"].mean(), "gain": gain.mean(),
            "tables that gain": f"{(gain > 0).mean():.0%}",
        }  # fmt: skip
    yield markdown(pd.DataFrame(lines).T)


BENCHMARKS = {"reviews": Benchmark("Checks and reviews, simulated", ABOUT, tasks, tables)}
