"""The label audit beside cleanlab, doubtlab and neighbours: ranking, verdicts, noise rate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from itertools import product

import numpy as np
import pandas as pd
from cleanlab.count import estimate_joint
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from benchmarks.audit_sets import (
    CHECKED,
    LARGER,
    MANY_CLASSES,
    REAL_NOISE,
    SMALL,
    Labels,
    labels_of,
    names_of,
    ranking_scores,
    ranking_table,
    unseen_proba,
    verdict_scores,
)
from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn.audit import LabelAudit

OURS = "granulearn"
MODELS: dict[str, Callable] = {
    "logistic": partial(LogisticRegression, max_iter=2000),
    "LightGBM": partial(LGBMClassifier, n_jobs=1, verbose=-1, deterministic=True),
    "random forest": partial(RandomForestClassifier, 100, n_jobs=1),
}
FILTERS = (
    "prune_by_class", "prune_by_noise_rate", "both", "confident_learning", "predicted_neq_given",
    "low_normalized_margin", "low_self_confidence",
)  # fmt: skip
Rater = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


# ---- Ranking -------------------------------------------------------------------------------


def by_audit(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the label quality of the audit."""
    return LabelAudit(random_state=seed).fit(X, y).label_quality_


def by_cleanlab(X: np.ndarray, y: np.ndarray, seed: int, *, model: Callable) -> np.ndarray:
    """Return cleanlab's self-confidence on five-fold probabilities of a model."""
    return get_label_quality_scores(y, unseen_proba(model(), X, y, seed))


def by_neighbours(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the share of the ten nearest other samples that have the same label."""
    near = NearestNeighbors(n_neighbors=10).fit(X).kneighbors()[1]
    return (y[near] == y[:, None]).mean(axis=1)


def by_doubtlab_fitted(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return minus the number of doubtlab's reasons, as its guide has it: models know the rows."""
    from doubtlab import ensemble, reason

    model, other = MODELS["logistic"]().fit(X, y), KNeighborsClassifier().fit(X, y)
    doubt = ensemble.DoubtEnsemble(
        proba=reason.ProbaReason(model),
        wrong=reason.WrongPredictionReason(model),
        short=reason.ShortConfidenceReason(model),
        long=reason.LongConfidenceReason(model),
        disagree=reason.DisagreeReason(model, other),
    )
    return -doubt.get_predicates(X, y).sum(axis=1).sort_index().to_numpy()


def by_doubtlab_unseen(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return minus the number of doubtlab's reasons, from five-fold probabilities."""
    from doubtlab import reason

    proba, classes = unseen_proba(MODELS["logistic"](), X, y, seed), np.unique(y)
    reasons = [
        reason.WrongPredictionReason.from_predict(classes[proba.argmax(axis=1)], y),
        reason.ShortConfidenceReason.from_proba(proba, y, classes),
        reason.LongConfidenceReason.from_proba(proba, y, classes, threshold=0.2),
    ]
    return -np.sum(reasons, axis=0)


RATERS: dict[str, Rater] = {
    OURS: by_audit,
    **{f"cleanlab, {name}": partial(by_cleanlab, model=model) for name, model in MODELS.items()},
    "10 nearest neighbours": by_neighbours,
}
if find_spec("doubtlab"):
    RATERS |= {
        "doubtlab, fitted models": by_doubtlab_fitted,
        "doubtlab, five folds": by_doubtlab_unseen,
    }


def rank(name: str, kind: str, rate: float, draw: int, method: str) -> Row:
    """Return how well one method ranks planted mistakes of a set."""
    labels = labels_of(name, SMALL).planted(kind, rate, draw)
    began = time.perf_counter()
    quality = RATERS[method](labels.X, labels.given, draw)
    seconds = time.perf_counter() - began
    return ranking_scores(labels.wrong, quality) | {"seconds": seconds}


def ranking_tasks(quick: bool) -> Iterator[Task]:
    """Yield three draws of wrong labels of nine kinds, for every set of the collection."""
    names, draws, kinds = names_of(SMALL), 3, ("uniform", "pair", "boundary")
    if quick:
        names, draws, kinds = names[:3], 1, ("uniform",)
    for draw, name, kind, rate, method in product(
        range(draws), names, kinds, (0.1, 0.2, 0.3), RATERS
    ):
        key = {"set": name, "noise": kind, "rate": rate, "draw": draw, "method": method}
        yield key, partial(rank, name, kind, rate, draw, method)


def ranking_tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield AUROC, average precision and seconds."""
    methods = [name for name in RATERS if name in set(found["method"])]
    yield f"{found['set'].nunique()} sets, {found['draw'].nunique()} draws of wrong labels each."
    for score in ("AUROC", "average precision"):
        yield f"## {score}"
        yield ranking_table(found, score, ["noise", "rate"], methods)
    yield "## Seconds per audit"
    seconds = found.groupby("method")["seconds"].mean()[methods]
    yield markdown(seconds.to_frame("seconds"), 2)


# ---- Verdicts and noise rate ---------------------------------------------------------------


def judge(labels: Labels) -> list[Row]:
    """Return what the audit and cleanlab's filters find."""
    X, given, wrong = labels.X, labels.given, labels.wrong
    audit = LabelAudit(random_state=1).fit(X, given)
    noise = audit.summary()
    ours = {
        "method": OURS,
        **ranking_scores(wrong, 1 - audit.error_proba_),
        **verdict_scores(wrong, audit.is_label_issue_),
        "truth": wrong.mean(), "estimate": noise.rate, "low": noise.low, "high": noise.high,
    }  # fmt: skip
    rows = [ours]
    for name, model in MODELS.items():
        proba = unseen_proba(model(), X, given)
        ranking = ranking_scores(wrong, proba[np.arange(len(given)), given])
        joint = float(1 - np.trace(estimate_joint(given, proba)))
        for rule in FILTERS:
            flagged = find_label_issues(given, proba, filter_by=rule, n_jobs=1)
            row = {"method": f"cleanlab, {name}: {rule}", "truth": wrong.mean(), "estimate": joint}
            rows.append(row | ranking | verdict_scores(wrong, flagged))
    return rows


@cache
def conditions_of(group: str) -> list[tuple[str, float]]:
    """Return kinds and rates of planted mistakes."""
    others = [("pair", 0.2), ("boundary", 0.2)]
    rates = (0.0, 0.1, 0.2, 0.3, 0.4) if group == SMALL else (0.0, 0.1)
    return [*(("uniform", rate) for rate in rates), *others]


def verdict_tasks(quick: bool) -> Iterator[Task]:
    """Yield all groups of sets with planted mistakes."""
    for group in [SMALL] if quick else [SMALL, LARGER, MANY_CLASSES]:
        for name in names_of(group)[: 2 if quick else None]:
            for kind, rate in conditions_of(group)[: 3 if quick else None]:
                key = {"set": name, "group": group, "noise": kind, "rate": rate}
                yield key, partial(judge_planted, name, group, kind, rate)


def judge_planted(name: str, group: str, kind: str, rate: float) -> list[Row]:
    """Plant mistakes and judge; cross-validation needs at least six rows of each class."""
    labels = labels_of(name, group).planted(kind, rate, 1)
    return judge(labels) if np.bincount(labels.given).min() >= 6 else []


def real_tasks(quick: bool) -> Iterator[Task]:
    """Yield the sets whose mistakes nobody planted."""
    for group in [CHECKED] if quick else [REAL_NOISE, CHECKED]:
        for name in names_of(group)[: 1 if quick else None]:
            key = {"set": name, "group": group, "noise": "real", "rate": 0.0}
            yield key, lambda name=name, group=group: judge(labels_of(name, group))


def set_means(table: pd.DataFrame, scores: list[str]) -> pd.DataFrame:
    """Return means over sets of means over conditions: methods by scores."""
    return table.groupby(["method", "set"])[scores].mean().groupby(level="method").mean()


def verdict_tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield verdicts, clean labels, noise rates and ranking, group by group."""
    wrong = found[(found["rate"] > 0) | (found["noise"] == "real")]
    for group, part in wrong.groupby("group", sort=False):
        yield f"## Suspects: {group}"
        yield f"{part['set'].nunique()} sets; of cleanlab the filters of best F1 and precision."
        means = set_means(part.fillna({"precision": 0.0}), ["precision", "recall", "F1"])
        best = [OURS]
        for model in MODELS:
            own = means[means.index.str.startswith(f"cleanlab, {model}:")]
            best += [own["F1"].idxmax(), own["precision"].idxmax()]
        yield markdown(means.loc[list(dict.fromkeys(best))])
        yield f"## Ranking: {group}"
        first = [OURS, *(f"cleanlab, {model}: {FILTERS[0]}" for model in MODELS)]
        scores = [name for name in part if name in RANKING]
        ranking = set_means(part[part["method"].isin(first)], scores).loc[first]
        yield markdown(ranking.rename(index=lambda name: name.partition(":")[0]))
    clean = found[(found["rate"] == 0) & (found["noise"] == "uniform")]
    if len(clean):
        overlap = clean[clean["method"] == "cleanlab, random forest: predicted_neq_given"]
        separable = overlap.set_index("set")["flagged"] < 0.02
        ours = clean[clean["method"] == OURS].set_index("set")["flagged"]
        yield "## Clean labels"
        yield (
            f"On average {ours.mean():.1%} of the labels are suspect; on the "
            f"{separable.sum()} sets with separable classes (error of a random forest below 2 %) "
            f"{ours[separable].mean():.2%}."
        )
    yield "## Noise rate without verified labels"
    yield (
        "Mean absolute error of the estimate and of cleanlab's confident joint with a random "
        "forest, and how often the range contains the true rate. Only tables that the audit can "
        "judge."
    )
    yield markdown(rate_table(found))


RANKING = ("AUROC", "average precision", "precision at 20", "precision at 50", "precision at 100")


def rate_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return the error of the estimated noise rate, by group and noise."""
    key = ["set", "group", "noise", "rate"]
    joint = found[found["method"] == f"cleanlab, random forest: {FILTERS[0]}"].set_index(key)
    ours = found[found["method"] == OURS].set_index(key).assign(joint=joint["estimate"])
    lines = {}
    for (group, noise, rate), part in ours.groupby(level=key[1:], sort=False):
        known = part[part["estimate"].notna()].astype({"truth": float})
        # Half a percent is what a reader sees as the same.
        holds = (known["low"] - 0.005 <= known["truth"]) & (known["truth"] <= known["high"] + 0.005)
        lines[f"{group}, {noise} {rate:.0%}" if noise != "real" else group] = {
            "judged": f"{len(known)} of {len(part)}",
            "error": (known["estimate"] - known["truth"]).abs().mean(),
            "confident joint": (known["joint"] - known["truth"]).abs().mean(),
            "range contains it": f"{holds.mean():.0%}" if len(known) else "",
            "width": (known["high"] - known["low"]).mean(),
        }
    return pd.DataFrame(lines).T.rename_axis("labels")


def real_tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield the tables of verdicts, and the range of every set."""
    yield from verdict_tables(found)
    ours = found[found["method"] == OURS].set_index("set")
    shown = ours[["truth", "estimate", "low", "high"]].astype(float)
    yield markdown(shown.map("{:.1%}".format))


BENCHMARKS = {
    "audit": Benchmark(
        "Finding planted wrong labels",
        "Wrong labels are planted in every set of the paper's collection, and each method rates "
        "all labels. Means over sets of means over draws. p-values are from Wilcoxon's test over "
        "sets, with Holm's correction for all pairs. cleanlab's score is self-confidence on "
        "five-fold probabilities; doubtlab's is the number of reasons. Seconds on one thread.",
        ranking_tasks,
        ranking_tables,
    ),
    "verdicts": Benchmark(
        "Verdicts of the label audit",
        "Wrong labels are planted in the sets of the paper's collection and in larger ones, cut to "
        "4,000 rows. Means over sets of means over conditions. If the audit cannot judge a table, "
        "the table counts as one without flags.",
        verdict_tasks,
        verdict_tables,
    ),
    "real-noise": Benchmark(
        "Real label noise",
        "15 releases of four Java projects, labelled by the usual heuristic, with known true "
        "labels (releases of a project repeat many files, so they are not independent); and "
        "tables whose labels were checked later: radiologists against biopsies, planet candidates "
        "against their final status, keyword rules against people.",
        real_tasks,
        real_tables,
    ),
}
