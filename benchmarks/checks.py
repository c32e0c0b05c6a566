"""Leakage, duplicates, outliers and blocks planted in real tables, and which checks find them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn.audit import LabelAudit
from granulearn.audit.label_audit import find_issues
from granulearn.datasets import load

# Settings were chosen on the first tables; the new ones were looked at once, after all was decided.
SEEN = (
    "credit_approval",
    "ionosphere",
    "oocytes_merluccius_nucleus_4d",
    "statlog_german_credit",
    "vehicle2",
    "keel:balanced/phoneme",
    "keel:balanced/satimage",
    "keel:balanced/spambase",
    "keel:balanced/letter",
    "covtype",
)
NEW = (
    "keel:balanced/segment",
    "keel:balanced/optdigits",
    "keel:balanced/texture",
    "keel:balanced/magic",
    "keel:balanced/marketing",
)
MOST_ROWS = 3_000
FRACTION, BLOCK, FRACTION_WRONG, JITTER = 0.01, 50, 0.6, 1e-3


@dataclass(frozen=True, eq=False)
class Case:
    """A table with what was planted in it."""

    X: np.ndarray
    codes: np.ndarray
    groups: np.ndarray
    planted: frozenset
    """Rows, classes or columns to find."""


def read(name: str, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scaled inputs and class numbers, at most `MOST_ROWS` of them, in random order."""
    data = load(name)
    X, codes = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
    rows = np.random.default_rng(draw).permutation(len(codes))[:MOST_ROWS]
    codes = np.unique(codes[rows], return_inverse=True)[1]
    return StandardScaler().fit_transform(X[rows]), codes


def clean(X, codes, rng) -> Case:
    """Plant nothing."""
    return Case(X, codes, rng.integers(5, size=len(codes)), frozenset())


def copies(jitter: float) -> Callable:
    """Append rows that nearly repeat others, under another label and in another group."""

    def plant(X, codes, rng) -> Case:
        groups = rng.integers(5, size=len(codes))
        rows = rng.choice(len(X), max(3, round(FRACTION * len(X))), replace=False)
        near = X[rows] + jitter * X.std(axis=0) * rng.normal(size=(len(rows), X.shape[1]))
        n_classes = codes.max() + 1
        other = (codes[rows] + rng.integers(1, n_classes, size=len(rows))) % n_classes
        new = range(len(X), len(X) + len(rows))
        return Case(
            np.vstack([X, near]),
            np.append(codes, other),
            np.append(groups, (groups[rows] + 1) % 5),
            frozenset([*rows.tolist(), *new]),
        )

    return plant


def far_in_one_column(X, codes, rng) -> Case:
    """Move a few rows by ten times the range of a column."""
    X, rows = X.copy(), rng.choice(len(X), max(3, round(FRACTION * len(X))), replace=False)
    columns = rng.choice(np.flatnonzero(np.ptp(X, axis=0) > 0), len(rows))
    signs = rng.choice([-1, 1], len(rows))
    X[rows, columns] += 10 * signs * np.ptp(X, axis=0)[columns]
    return Case(X, codes, np.zeros(len(X)), frozenset(rows.tolist()))


def far_together(X, codes, rng) -> Case:
    """Put each column of a few rows at one of its ends, at random."""
    X, rows = X.copy(), rng.choice(len(X), max(3, round(FRACTION * len(X))), replace=False)
    low, high = np.quantile(X, [0.01, 0.99], axis=0)
    X[rows] = np.where(rng.random((len(rows), X.shape[1])) < 0.5, low, high)
    return Case(X, codes, np.zeros(len(X)), frozenset(rows.tolist()))


def wrong_block(X, codes, rng) -> Case:
    """Give most labels of fifty consecutive rows to other classes."""
    codes = codes.copy()
    start = int(rng.integers(len(codes) - BLOCK))
    rows = start + np.flatnonzero(rng.random(BLOCK) < FRACTION_WRONG)
    n_classes = codes.max() + 1
    codes[rows] = (codes[rows] + rng.integers(1, n_classes, size=len(rows))) % n_classes
    return Case(X, codes, np.zeros(len(X)), frozenset(range(start, start + BLOCK)))


def split_class(X, codes, rng) -> Case:
    """Make two classes of the most frequent one, at random."""
    largest, new = int(np.bincount(codes).argmax()), int(codes.max()) + 1
    codes = np.where((codes == largest) & (rng.random(len(codes)) < 0.5), new, codes)
    return Case(X, codes, np.zeros(len(X)), frozenset([largest, new]))


def leakage(X, codes, rng) -> Case:
    """Append a column that is the target with some noise."""
    column = rng.permutation(codes.max() + 1)[codes] + 0.1 * rng.normal(size=len(codes))
    X = np.column_stack([X, column])
    return Case(X, codes, np.zeros(len(X)), frozenset([f"column {X.shape[1] - 1}"]))


PLANTED = {
    "nothing": (clean, ()),
    "duplicates, other label": (copies(0.0), ("contradictory duplicates",)),
    "near-duplicates, other label": (copies(JITTER), ("contradictory duplicates",)),
    "duplicates, other group": (copies(0.0), ("duplicates across groups",)),
    "near-duplicates, other group": (copies(JITTER), ("duplicates across groups",)),
    "rows far in one column": (far_in_one_column, ("outlier",)),
    "rows far in combination": (far_together, ("outlier",)),
    "block of wrong labels": (wrong_block, ("doubtful block",)),
    "class split in two": (split_class, ("overlapping classes",)),
    "column that is the target": (leakage, ("target leakage",)),
}
KINDS = tuple(dict.fromkeys(kind for _, kinds in PLANTED.values() for kind in kinds))


def our_findings(case: Case, audit: LabelAudit) -> dict[str, set]:
    """Return the findings of our checks: rows, classes or columns of each kind."""
    found: dict[str, set] = {kind: set() for kind in KINDS}
    for issue in find_issues(case.X, audit.ratings_, groups=case.groups):
        whole = {"overlapping classes": issue.classes, "target leakage": issue.columns}
        found[issue.kind] |= set(whole.get(issue.kind, issue.rows))
    return found


def datalab_findings(case: Case, audit: LabelAudit) -> dict[str, set]:
    """Return the findings of Datalab, of the kinds that it has a check for."""
    from cleanlab.datalab.datalab import Datalab

    lab = Datalab(data={"y": case.codes}, label_name="y", verbosity=0)
    with contextlib.redirect_stdout(io.StringIO()):
        lab.find_issues(
            features=case.X,
            pred_probs=np.nan_to_num(audit.out_of_sample_proba_),
            issue_types={"outlier": {}, "near_duplicate": {}, "non_iid": {}},
        )
    near = lab.get_issues("near_duplicate")
    of_labels, of_groups = set(), set()
    for row in np.flatnonzero(near["is_near_duplicate_issue"]):
        others = near["near_duplicate_sets"].iloc[row]
        if (case.codes[others] != case.codes[row]).any():
            of_labels.add(int(row))
        if (case.groups[others] != case.groups[row]).any():
            of_groups.add(int(row))
    outliers = np.flatnonzero(lab.get_issues("outlier")["is_outlier_issue"])
    dependent = np.flatnonzero(lab.get_issues("non_iid")["is_non_iid_issue"])
    return {
        "contradictory duplicates": of_labels,
        "duplicates across groups": of_groups,
        "outlier": set(outliers.tolist()),
        "doubtful block": set(dependent.tolist()),
    }


METHODS: dict[str, Callable] = {"ours": our_findings}
if find_spec("datasets"):  # Datalab needs it
    METHODS["Datalab"] = datalab_findings


def judge(name: str, draw: int, fault: str) -> list[Row]:
    """Return one row per method and kind of finding."""
    plant, kinds = PLANTED[fault]
    case = plant(*read(name, draw), np.random.default_rng(draw))
    audit = LabelAudit(random_state=draw).fit(case.X, case.codes)
    rows = []
    for method, findings in METHODS.items():
        for kind, found in findings(case, audit).items():
            if kind in (kinds or KINDS):
                false = found - case.planted
                rows.append(
                    {
                        "method": method,
                        "kind": kind,
                        "recall": len(found & case.planted) / max(len(case.planted), 1),
                        "false": len(false) / len(case.codes),
                        "any false": bool(false),
                    }
                )
    return rows


def tasks(quick: bool) -> Iterator[Task]:
    """Yield three draws of every table and fault."""
    for draw in range(1, 2 if quick else 4):
        for name in SEEN[:2] if quick else (*SEEN, *NEW):
            for fault in PLANTED:
                key = {"set": name, "draw": draw, "planted": fault}
                yield key, partial(judge, name, draw, fault)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield which faults are found, and false alarms."""
    seen = np.where(found["set"].isin(SEEN), "seen", "new")
    found = found.assign(column=found["method"] + ", " + seen)
    planted = found[found["planted"] != "nothing"]
    yield "## Found"
    yield "Share of the planted rows, classes or columns that is reported; mean over tables."
    yield markdown(planted.pivot_table("recall", "planted", "column", sort=False), 2)
    yield "## False alarms"
    yield (
        "Nothing is planted. Share of the rows that is reported, and tables (of all draws) with "
        "any report. Most reported copies are real: groups are drawn at random, and some tables "
        "have rows with equal inputs, a few also with different labels."
    )
    clean = found[found["planted"] == "nothing"].groupby(["kind", "method"], sort=False)
    lines = pd.DataFrame(
        {
            "rows": clean["false"].mean().map("{:.2%}".format),
            "tables": clean["any false"].agg(lambda any_: f"{any_.sum()} of {len(any_)}"),
        }
    ).unstack()
    lines.columns = [f"{method}, {what}" for what, method in lines.columns]
    yield markdown(lines.fillna(""))


ABOUT = f"""\
Tables of at most {MOST_ROWS:,} rows in random order: {len(SEEN)} that settings were chosen on
("seen") and {len(NEW)} others ("new"). Planted faults:

- 1 % of the rows as copies, exact or with noise of {JITTER:g} standard deviations, under another
  label or in another group;
- 1 % of the rows moved by ten times the range of a column, or with each column at one of its ends;
- {BLOCK} consecutive rows, {FRACTION_WRONG:.0%} of them with a wrong label;
- the largest class split in two at random;
- a column that is the target with some noise.

Datalab is cleanlab's (`pip install datasets`), with the same inputs and probabilities. Its
near-duplicates count if they have another label or group. For blocks, its check of independent
rows counts, which uses the inputs and not the labels. It has no check for the last two faults."""
BENCHMARKS = {"checks": Benchmark("Leakage, duplicates, outliers and blocks", ABOUT, tasks, tables)}
