"""Does a review pay? Wrong labels found in 100 decisions, and what correcting them brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from cleanlab.rank import get_label_quality_scores
from lightgbm import LGBMClassifier
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, average_precision_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split

from benchmarks.audit_sets import REAL_NOISE, SMALL, Labels, labels_of, names_of, unseen_proba
from benchmarks.harness import PAGES, Benchmark, Row, Task, markdown
from granulearn import RobustClassifier
from granulearn.audit import LabelAudit
from granulearn.bench import holm_adjust, wilcoxon_p_value
from granulearn.bench.figures import INK, SERIES, report_style
from granulearn.datasets import flip_labels

ABOUT = """\
![Wrong labels found against rows reviewed](../images/review_loop.png)

A simulated reviewer takes 100 decisions in four sittings of 25 about the training labels of a
set: 70 % of its rows, at most 2,000. Models are then trained on the given and on the corrected
labels, and scored once, on the other rows, by their true labels. Means over sets of means over
conditions; p-values are from Wilcoxon's test over sets, with Holm's correction within a column.

- *Worst first* is `next_to_review(25)` of an audit that is fitted again with `verified=` after
  each sitting; *no refits* keeps the first order; *half at random* is `random_fraction=0.5`.
- cleanlab's order is by self-confidence on five-fold probabilities, computed once: it has no loop.
  *Refitted by hand* trains the forest again on the corrected labels after each sitting.
- A reviewer who *errs* chooses another class in 5 % of the decisions.
- A *perfect order* shows all wrong labels first."""
DECISIONS, SITTING = 100, 25
DEPTHS = range(SITTING, DECISIONS + 1, SITTING)
LEAST_ROWS, MOST_ROWS, REVIEWER_ERRS = 200, 2_000, 0.05
CONDITIONS = [
    (REAL_NOISE, "real", 0.0), (SMALL, "uniform", 0.1), (SMALL, "uniform", 0.2),
    (SMALL, "uniform", 0.3), (SMALL, "pair", 0.2), (SMALL, "boundary", 0.2),
]  # fmt: skip
FOREST = partial(RandomForestClassifier, 100, n_jobs=1, random_state=0)
LOGISTIC = partial(LogisticRegression, max_iter=2000)
MODELS = {
    "robust": partial(RobustClassifier, random_state=0),
    "LightGBM": partial(LGBMClassifier, n_jobs=1, verbose=-1, deterministic=True, random_state=0),
    "logistic": LOGISTIC,
}
GIVEN, PERFECT, OURS, HALF = "labels as given", "perfect order", "worst first", "half at random"
CLEANLAB = "cleanlab, random forest"


@dataclass(frozen=True, eq=False)
class Review:
    """Rows in the order of the decisions, and the audit after the last one."""

    rows: np.ndarray
    audit: LabelAudit | None = None


def by_granulearn(
    labels: Labels, answers: np.ndarray, *, random_fraction: float = 0.0, refits: bool = True
) -> Review:
    """Review the rows that `next_to_review` names; with refits the audit learns from decisions."""
    audit = LabelAudit(random_state=0).fit(labels.X, labels.given)
    if not refits:
        return Review(audit.next_to_review(DECISIONS).index.to_numpy())
    verified: list[pd.DataFrame] = []
    for _ in DEPTHS:
        rows = audit.next_to_review(SITTING, random_fraction=random_fraction)
        verified.append(rows.assign(label=answers[rows.index]))
        known = pd.concat(verified)
        audit = LabelAudit(random_state=0).fit(labels.X, labels.given, verified=known)
    return Review(known.index.to_numpy(), audit)


def by_cleanlab(
    labels: Labels, answers: np.ndarray, *, model: Callable, refits: bool = False
) -> Review:
    """Review labels by self-confidence; with refits the model learns the corrected labels."""
    current, seen = labels.given.copy(), np.empty(0, dtype=np.intp)
    for n_rows in [SITTING] * len(DEPTHS) if refits else [DECISIONS]:
        proba = unseen_proba(model(), labels.X, current)
        order = np.argsort(get_label_quality_scores(labels.given, proba), kind="stable")
        rows = order[~np.isin(order, seen)][:n_rows]
        current[rows] = answers[rows]
        seen = np.append(seen, rows)
    return Review(seen)


ORDERS: dict[str, Callable[[Labels, np.ndarray], Review]] = {
    GIVEN: lambda labels, answers: Review(np.empty(0, dtype=np.intp)),
    OURS: by_granulearn,
    f"{OURS}, no refits": partial(by_granulearn, refits=False),
    HALF: partial(by_granulearn, random_fraction=0.5),
    "at random": partial(by_granulearn, random_fraction=1.0),
    CLEANLAB: partial(by_cleanlab, model=FOREST),
    f"{CLEANLAB}, refitted by hand": partial(by_cleanlab, model=FOREST, refits=True),
    "cleanlab, logistic": partial(by_cleanlab, model=LOGISTIC),
    f"{OURS}, reviewer errs": by_granulearn,
    f"{HALF}, reviewer errs": partial(by_granulearn, random_fraction=0.5),
    PERFECT: lambda labels, answers: Review(np.argsort(~labels.wrong, kind="stable")),
}


@lru_cache(maxsize=1)
def split(name: str, group: str, kind: str, rate: float) -> tuple[Labels, Labels]:
    """Return the rows to train on, with their doubtful labels, and the rows to score on."""
    whole = labels_of(name, group)
    n_train = min(MOST_ROWS, int(0.7 * len(whole.given)))
    train, new = train_test_split(
        np.arange(len(whole.given)), train_size=n_train, stratify=whole.given, random_state=0
    )
    own, held_out = (Labels(whole.X[r], whole.given[r], whole.truth[r]) for r in (train, new))
    return own if kind == "real" else own.planted(kind, rate, 0), held_out


def review(name: str, group: str, kind: str, rate: float, order: str) -> Row:
    """Review labels in an order; return what was found, and the scores of models trained on it."""
    labels, new = split(name, group, kind, rate)
    answers = labels.truth
    if order.endswith("reviewer errs"):
        answers = flip_labels(labels.truth, REVIEWER_ERRS, "uniform", 1).labels
    done = ORDERS[order](labels, answers)
    corrected = labels.given.copy()
    corrected[done.rows] = answers[done.rows]
    found = (labels.wrong & (answers == labels.truth))[done.rows]
    row: Row = {
        "rows": len(labels.given),
        "wrong": int(labels.wrong.sum()),
        **{f"found {depth}": int(found[:depth].sum()) for depth in DEPTHS},
        "left": int((corrected != labels.truth).sum()),
    }
    if done.audit is not None:
        row |= {"low": done.audit.summary().low, "high": done.audit.summary().high}
    for model, make in MODELS.items():
        proba = make().fit(labels.X, corrected).predict_proba(new.X)
        predicted = proba.argmax(axis=1)
        row |= {
            f"{model}: accuracy": accuracy_score(new.truth, predicted),
            f"{model}: balanced accuracy": balanced_accuracy_score(new.truth, predicted),
            f"{model}: average precision": average_precision_score(new.truth, proba[:, 1]),
        }
    return row


def tasks(quick: bool) -> Iterator[Task]:
    """Yield every condition, set and order; sets have 200 training rows or more."""
    for group, kind, rate in CONDITIONS[1:2] if quick else CONDITIONS:
        names = [
            n for n in names_of(group) if int(0.7 * len(labels_of(n, group).given)) >= LEAST_ROWS
        ]
        for name in names[:2] if quick else names:
            for order in ORDERS:
                key = {"set": name, "noise": kind, "rate": rate, "order": order}
                yield key, partial(review, name, group, kind, rate, order)


def per_set(table: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return the mean over conditions: sets by orders."""
    return table.pivot_table(value, "set", "order")[list(ORDERS)]


def p_values(values: pd.DataFrame, reference: str) -> pd.Series:
    """Return Wilcoxon's p of each order against a reference, corrected by Holm."""
    others = [order for order in ORDERS if order not in (reference, GIVEN)]
    raw = [wilcoxon_p_value(values[reference], values[other]) for other in others]
    return pd.Series(holm_adjust(raw), others).map("{:.2g}".format)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield wrong labels found, scores of models and intervals, for planted and real noise."""
    complete = found.groupby(["set", "noise", "rate"])["order"].transform("nunique") == len(ORDERS)
    found = found[complete]
    real = found["noise"] == "real"
    parts = {
        name: own
        for name, own in {"planted": found[~real], "real": found[real]}.items()
        if len(own)
    }
    if len(parts) == 2:
        draw(parts)
    for part, table in parts.items():
        yield f"## Wrong labels found, {part} noise"
        yield f"{table['set'].nunique()} sets."
        columns = {f"after {depth}": per_set(table, f"found {depth}").mean() for depth in DEPTHS}
        last = per_set(table, f"found {DECISIONS}")
        columns["wrong ones left"] = per_set(table, "left").mean()
        columns[f"p against {OURS}"] = p_values(last, OURS)
        yield markdown(pd.DataFrame(columns).loc[list(ORDERS)[1:]], 1)
        for score in ("accuracy", "balanced accuracy", "average precision"):
            yield f"## Models trained on the labels, {part} noise: {score}"
            columns = {}
            for model in MODELS:
                values = 100 * per_set(table, f"{model}: {score}")
                p, means = p_values(values, GIVEN), values.mean()
                gains = {o: f" ({means[o] - means[GIVEN]:+.2f}, p {p[o]})" for o in p.index}
                columns[model] = {o: f"{means[o]:.2f}{gains.get(o, '')}" for o in ORDERS}
            yield markdown(pd.DataFrame(columns))
    yield "## The 95 % interval of the noise rate"
    lines = {}
    for order in (HALF, "at random", f"{HALF}, reviewer errs"):
        for part, table in parts.items():
            own = table[table["order"] == order]
            truth = own["wrong"] / own["rows"]
            lines[f"{order}, {part}"] = {
                "reviews": len(own),
                "contains the true rate": f"{truth.between(own['low'], own['high']).mean():.0%}",
                "mean width": (own["high"] - own["low"]).mean(),
            }
    yield markdown(pd.DataFrame(lines).T)


DRAWN = {
    PERFECT: (None, ":"), OURS: (0, "o-"), f"{OURS}, no refits": (5, "s--"),
    "cleanlab, logistic": (4, "v-"), CLEANLAB: (1, "^-"), HALF: (3, "D-"), "at random": (7, "P-"),
}  # fmt: skip


def draw(parts: dict[str, pd.DataFrame]) -> None:
    """Draw wrong labels found against rows reviewed."""
    at = (0, *DEPTHS)
    with report_style():
        figure = Figure(figsize=(9.5, 4.3), layout="constrained", facecolor="white")
        panels = figure.subplots(1, len(parts), sharey=True, squeeze=False)[0]
        for axes, (part, table) in zip(panels, parts.items(), strict=True):
            for order, (colour, line) in DRAWN.items():
                means = [0, *(per_set(table, f"found {depth}")[order].mean() for depth in DEPTHS)]
                axes.plot(
                    at, means, line, color=INK if colour is None else SERIES[colour], label=order
                )
            axes.set_title(f"{part} noise, {table['set'].nunique()} sets")
            axes.set(xlabel="rows reviewed", xticks=at, ylim=(0, DECISIONS))
        panels[0].set_ylabel("wrong labels found")
        panels[0].legend(loc="upper left")
        figure.savefig(PAGES.parent / "images" / "review_loop.png", dpi=130)


BENCHMARKS = {"review-loop": Benchmark("Does a review pay?", ABOUT, tasks, tables)}
