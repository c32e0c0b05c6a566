"""What an audit says, made up: every verdict, issues, and texts that look like markup."""

from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd

from granulearn.audit import LabelAudit
from granulearn.audit.explanation import Origin
from granulearn.audit.ratings import AuditSummary, Issue
from granulearn.review.audit_page import summarize_audit
from tests.audit.tables import three_clouds

EVIL = "<script>alert(1)</script>"
NAMES = ["length", "width", f"{EVIL}", "x' onclick='alert(2)"]
ISSUES = [
    Issue("repeated rows", 0.02, tuple(range(12)), "12 rows repeat."),
    Issue(EVIL, 0.01, (), f"Order matters {EVIL}"),
]
SUMMARY = AuditSummary(150, 26.2, 0.07, 0.234, "verified labels", 4, 1, 3, {20: 12.3})
CANNOT = AuditSummary(150, np.nan, np.nan, np.nan, "none", 0, 0, 0, {})


def audited(n=150, rate=0.1, evil=False):
    """Return inputs and their audit; one class may look like markup."""
    X, y, _ = three_clouds(n, rate)
    y = y.astype(object)
    if evil:
        y[y == "emu"] = f"{EVIL}emu"
    return X, LabelAudit(random_state=0).fit(X, y)


def saying(audit, ratings=None, summary=None, issues=None):
    """Return an audit that says something else."""
    other = copy(audit)
    other.ratings_ = audit.ratings_ if ratings is None else ratings
    other._summary = audit.summary() if summary is None else summary
    other.issues_ = audit.issues_ if issues is None else issues
    return other


def with_every_verdict(ratings):
    """Return ratings in which some labels are suspect, outlier, unknown and verified."""
    verdicts = np.where(ratings.verdicts == "wrong", "wrong", "fine").astype(object)
    fine = np.flatnonzero(verdicts == "fine")
    verdicts[fine[:8]], verdicts[fine[8:11]], verdicts[fine[11:13]] = (
        "suspect", "outlier", "unknown",
    )  # fmt: skip
    unknown = verdicts == "unknown"
    return replace(
        ratings,
        verdicts=verdicts,
        error_proba=np.where(unknown, np.nan, ratings.error_proba),
        label_quality=np.where(unknown, np.nan, ratings.label_quality),
        verified=np.isin(np.arange(len(verdicts)), fine[20:24]),
    )


def summary_of(X, audit, names=NAMES):
    """Return the summary of the page."""
    table = pd.DataFrame(X, columns=names).astype(object)
    table.iloc[:, 2] = [f"{EVIL}{k % 7}" for k in range(len(X))]
    rows = np.arange(len(X))
    labels = audit.given_label_.astype(str).tolist()
    shown = SimpleNamespace(
        target="animal",
        rows=rows,
        hashes=[f"h{row}" for row in rows],
        label_cells=labels,
        classes=None,
    )
    done = SimpleNamespace(
        audit=audit, X=X, origins=list(map(Origin, names)), table=shown, shown_cells=lambda: table
    )
    return summarize_audit(done, f"animals{EVIL}.csv")


def full_summary():
    """Return the summary of a page that shows everything."""
    X, audit = audited(evil=True)
    return summary_of(X, saying(audit, with_every_verdict(audit.ratings_), SUMMARY, ISSUES))
