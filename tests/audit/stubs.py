"""What an audit says, made up: every verdict, issues, and texts that look like markup."""

from dataclasses import replace

import numpy as np
import pandas as pd

from granulearn.audit import LabelAudit
from granulearn.audit.page import summarize_audit
from granulearn.audit.page_facts import NoiseShare, page_facts
from tests.audit.tables import three_clouds

EVIL = "<script>alert(1)</script>"
NAMES = ["length", "width", f"{EVIL}", "x' onclick='alert(2)"]
ISSUES = (
    {"kind": "repeated rows", "score": 0.02, "rows": list(range(12)), "words": "12 rows repeat."},
    {"kind": EVIL, "score": np.nan, "rows": [], "words": f"Order matters {EVIL}"},
)
NOISE = NoiseShare(0.1, 0.07, 0.134, "sure regions", "Rests on regions where one class is sure.")
CANNOT = NoiseShare(np.nan, np.nan, np.nan, "none", "Classes overlap everywhere.")


def audited(n=150, rate=0.1, evil=False):
    """Return inputs and their audit; one class may look like markup."""
    X, y, _ = three_clouds(n, rate)
    y = y.astype(object)
    if evil:
        y[y == "emu"] = f"{EVIL}emu"
    return X, LabelAudit(random_state=0).fit(X, y)


def with_every_verdict(facts):
    """Return facts in which some labels are ambiguous, strange, unknown and verified."""
    verdicts = facts.verdicts.astype(object)
    fine = np.flatnonzero(verdicts == "fine")
    verdicts[fine[:8]], verdicts[fine[8:11]], verdicts[fine[11:13]] = (
        "ambiguous", "strange", "unknown",
    )  # fmt: skip
    unknown = verdicts == "unknown"
    return replace(
        facts,
        verdicts=verdicts,
        wrong_proba=np.where(unknown, np.nan, facts.wrong_proba),
        reliability=np.where(unknown, np.nan, facts.reliability),
        verified=np.isin(np.arange(len(verdicts)), fine[20:24]),
        noise=NOISE,
        issues=ISSUES,
    )


def summary_of(X, audit, facts=None, names=NAMES):
    """Return the summary of the page."""
    table = pd.DataFrame(X, columns=names).astype(object)
    table.iloc[:, 2] = [f"{EVIL}{k % 7}" for k in range(len(X))]
    rows = range(1, len(X) + 1)
    return summarize_audit(
        audit, X, table, title=f"animals{EVIL}.csv", row_numbers=rows, names=names, facts=facts
    )


def full_summary():
    """Return the summary of a page that shows everything."""
    X, audit = audited(evil=True)
    return summary_of(X, audit, with_every_verdict(page_facts(audit)))
