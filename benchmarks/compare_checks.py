"""Faults planted in real tables, and which of them the checks beside labels find.

    GRANULEARN_DATA=DIRECTORY python benchmarks/compare_checks.py [PAGE] [--draws 3]

Beside ours are the checks of cleanlab's Datalab, on the same inputs and with the same class
probabilities. Datalab needs the package `datasets`; without it, its columns are empty.
"""

import argparse
import contextlib
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from granulearn.audit import LabelAudit
from granulearn.audit.label_audit import find_issues
from granulearn.datasets import load

try:
    from cleanlab.datalab.datalab import Datalab
except ImportError:
    Datalab = None

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
"""Tables that were looked at while settings were chosen."""
NEW = (
    "keel:balanced/segment",
    "keel:balanced/optdigits",
    "keel:balanced/texture",
    "keel:balanced/magic",
    "keel:balanced/marketing",
)
"""Tables that were looked at once, after all was decided."""
MOST_ROWS = 3_000
SHARE = 0.01
BLOCK = 50
SHARE_WRONG = 0.6
JITTER = 1e-3


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
    data = load(name, download=False)
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
        rows = rng.choice(len(X), max(3, round(SHARE * len(X))), replace=False)
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
    X, rows = X.copy(), rng.choice(len(X), max(3, round(SHARE * len(X))), replace=False)
    columns = rng.choice(np.flatnonzero(np.ptp(X, axis=0) > 0), len(rows))
    signs = rng.choice([-1, 1], len(rows))
    X[rows, columns] += 10 * signs * np.ptp(X, axis=0)[columns]
    return Case(X, codes, np.zeros(len(X)), frozenset(rows.tolist()))


def far_together(X, codes, rng) -> Case:
    """Put each column of a few rows at one of its ends, at random."""
    X, rows = X.copy(), rng.choice(len(X), max(3, round(SHARE * len(X))), replace=False)
    low, high = np.quantile(X, [0.01, 0.99], axis=0)
    X[rows] = np.where(rng.random((len(rows), X.shape[1])) < 0.5, low, high)
    return Case(X, codes, np.zeros(len(X)), frozenset(rows.tolist()))


def wrong_block(X, codes, rng) -> Case:
    """Give most labels of fifty consecutive rows to other classes."""
    codes = codes.copy()
    start = int(rng.integers(len(codes) - BLOCK))
    rows = start + np.flatnonzero(rng.random(BLOCK) < SHARE_WRONG)
    n_classes = codes.max() + 1
    codes[rows] = (codes[rows] + rng.integers(1, n_classes, size=len(rows))) % n_classes
    return Case(X, codes, np.zeros(len(X)), frozenset(range(start, start + BLOCK)))


def split_class(X, codes, rng) -> Case:
    """Make two classes of the most frequent one, at random."""
    largest, new = int(np.bincount(codes).argmax()), int(codes.max()) + 1
    codes = np.where((codes == largest) & (rng.random(len(codes)) < 0.5), new, codes)
    return Case(X, codes, np.zeros(len(X)), frozenset([largest, new]))


def leak(X, codes, rng) -> Case:
    """Append a column that is the target with some noise."""
    column = rng.permutation(codes.max() + 1)[codes] + 0.1 * rng.normal(size=len(codes))
    X = np.column_stack([X, column])
    return Case(X, codes, np.zeros(len(X)), frozenset([f"column {X.shape[1] - 1}"]))


PLANTED = {
    "nothing": (clean, ()),
    "copies, other label": (copies(0.0), ("contradictory duplicates",)),
    "near-copies, other label": (copies(JITTER), ("contradictory duplicates",)),
    "copies, other group": (copies(0.0), ("duplicates across groups",)),
    "near-copies, other group": (copies(JITTER), ("duplicates across groups",)),
    "rows far in one column": (far_in_one_column, ("outlier",)),
    "rows far in combination": (far_together, ("outlier",)),
    "block of wrong labels": (wrong_block, ("doubtful block",)),
    "class split in two": (split_class, ("overlapping classes",)),
    "column that is the target": (leak, ("target leakage",)),
}
KINDS = tuple(dict.fromkeys(kind for _, kinds in PLANTED.values() for kind in kinds))


def our_findings(case: Case, audit: LabelAudit) -> dict[str, set]:
    """Return what our checks report: rows, classes or columns of each kind."""
    found: dict[str, set] = {kind: set() for kind in KINDS}
    for issue in find_issues(case.X, audit.ratings_, groups=case.groups):
        whole = {"overlapping classes": issue.classes, "target leakage": issue.columns}
        found[issue.kind] |= set(whole.get(issue.kind, issue.rows))
    return found


def datalab_findings(case: Case, audit: LabelAudit) -> dict[str, set]:
    """Return what Datalab reports of the kinds that it knows."""
    lab = Datalab(data={"y": case.codes}, label_name="y", verbosity=0)
    wanted = {"outlier": {}, "near_duplicate": {}, "non_iid": {}}
    with contextlib.redirect_stdout(io.StringIO()):
        lab.find_issues(
            features=case.X,
            pred_probs=np.nan_to_num(audit.out_of_sample_proba_),
            issue_types=wanted,
        )
    near = lab.get_issues("near_duplicate")
    of_labels, of_groups = set(), set()
    for row in np.flatnonzero(near["is_near_duplicate_issue"]):
        others = near["near_duplicate_sets"].iloc[row]
        if (case.codes[others] != case.codes[row]).any():
            of_labels |= {int(row)}
        if (case.groups[others] != case.groups[row]).any():
            of_groups |= {int(row)}
    outliers = np.flatnonzero(lab.get_issues("outlier")["is_outlier_issue"])
    not_even = np.flatnonzero(lab.get_issues("non_iid")["is_non_iid_issue"])
    return {
        "contradictory duplicates": of_labels,
        "duplicates across groups": of_groups,
        "outlier": set(outliers.tolist()),
        "doubtful block": set(not_even.tolist()),
    }


def judge(name: str, draw: int, methods: dict[str, Callable]) -> list[dict]:
    """Return one row per fault, method and kind for one draw of a set."""
    X, codes = read(name, draw)
    rows = []
    for fault, (plant, kinds) in PLANTED.items():
        case = plant(X, codes, np.random.default_rng(draw))
        audit = LabelAudit(random_state=draw).fit(case.X, case.codes)
        for method, findings in methods.items():
            for kind, found in findings(case, audit).items():
                if kind not in (kinds or KINDS):
                    continue
                hit = len(found & case.planted) / max(len(case.planted), 1)
                false = found - case.planted
                share = len(false) / len(case.codes)
                rows.append(
                    {"set": name, "fault": fault, "method": method, "kind": kind}
                    | {"recall": hit, "false": share, "any_false": bool(false)}
                )
    return rows


def page(table: pd.DataFrame, draws: int) -> str:
    """Return the findings as Markdown."""
    parts = [
        "# Faults beside labels, planted and found",
        "Made by:",
        "```\npip install datasets\n"
        "GRANULEARN_DATA=DIRECTORY python benchmarks/compare_checks.py docs/results/checks.md\n```",
        f"Tables of at most {MOST_ROWS:,} rows in random order, {draws} draws each: {len(SEEN)} "
        f"that were looked at while settings were chosen ({', '.join(SEEN)}), and {len(NEW)} that "
        f"were not ({', '.join(NEW)}). Planted are 1 % of the rows as copies, exact or with noise "
        f"of {JITTER:g} deviations; 1 % moved by ten times the range of a column, or with each "
        f"column at one of its ends; {BLOCK} consecutive rows, {SHARE_WRONG:.0%} of them with a "
        "wrong label; the largest class split at random; a column that is the target with some "
        "noise. Datalab is cleanlab's, with the same inputs and probabilities; of its "
        "near-duplicates those count that have another label or group, and for blocks its check "
        "of whether rows are independent, which looks at inputs and not at labels. It has no "
        "check for the last two.",
        "## Found",
        "Share of the planted rows, classes or columns that are reported; mean over tables.",
    ]
    planted = table[table["fault"] != "nothing"]
    methods = list(dict.fromkeys(table["method"]))
    header = "| planted | " + " | ".join(
        f"{method}, {which}" for which in ("seen", "new") for method in methods
    )
    parts.append("\n".join([header + " |", "|---|" + "---|" * 2 * len(methods), *_found(planted)]))
    parts += [
        "## False alarms",
        "Nothing is planted. Share of the rows that are reported, and tables (of all draws) with "
        "any report of the kind. Most copies are real: groups are drawn at random, and some of "
        "these tables have rows with equal inputs, a few also under different labels.",
    ]
    clean_rows = table[table["fault"] == "nothing"]
    header = "| kind | " + " | ".join(f"{m}, rows | {m}, tables" for m in methods) + " |"
    lines = [header, "|---|" + "---|" * 2 * len(methods)]
    for kind in KINDS:
        cells = []
        for method in methods:
            own = clean_rows[(clean_rows["kind"] == kind) & (clean_rows["method"] == method)]
            about_rows = kind not in ("overlapping classes", "target leakage")
            cells.append(f"{own['false'].mean():.2%}" if len(own) and about_rows else "")
            cells.append(f"{own['any_false'].sum()} of {len(own)}" if len(own) else "")
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _found(planted: pd.DataFrame) -> list[str]:
    lines = []
    for fault in dict.fromkeys(planted["fault"]):
        cells = []
        for names in (SEEN, NEW):
            for method in dict.fromkeys(planted["method"]):
                own = planted[
                    (planted["fault"] == fault)
                    & (planted["method"] == method)
                    & planted["set"].isin(names)
                ]
                cells.append(f"{own['recall'].mean():.2f}" if len(own) else "")
        lines.append(f"| {fault} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Judge all sets, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="?", type=Path, help="Markdown file to write")
    parser.add_argument("--draws", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of labels that no tree left out
    methods = {"ours": our_findings}
    if Datalab is not None:
        methods["Datalab"] = datalab_findings
    rows = []
    with threadpool_limits(1):
        for name in (*SEEN, *NEW):
            for draw in range(1, 1 + arguments.draws):
                rows += judge(name, draw, methods)
    table = pd.DataFrame(rows)
    text = page(table, arguments.draws)
    print(text)
    each = table.pivot_table("recall", ["set"], ["fault", "method"], sort=False)
    print(each.round(2).T.to_string())
    if arguments.page is not None:
        arguments.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
