"""Consensus of several annotators against votes, Dawid-Skene, GLAD, MACE and CROWDLAB."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from cleanlab.multiannotator import get_label_quality_multiannotator, get_majority_vote_label
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn import LabelAudit
from granulearn.datasets import load
from granulearn.preprocess import TablePreprocessor

ABOUT = """\
Annotators are simulated on three sets (breast cancer, 569 rows, 2 classes; vehicle, 846 rows, 4
classes; vowel, 990 rows, 11 classes), in ten scenarios:

- *mixed*: three of twelve annotators per row, right in 50 to 95 %;
- *good*: three of six, right in 85 to 95 %;
- *spammers*: five of fifteen, of whom nine give one class only, or any;
- *one label*: one of eight per row, right in 55 to 95 %;
- *many*: three of a hundred;
- *pairs*: three of ten, who mistake each class for the next one;
- *hard rows*: three of ten, who err where the classes overlap;
- *biased*: three of ten, of whom six tend to their favourite class;
- *rules*: seven rules, each right in 70 to 90 % and silent on two thirds of the rows;
- *colluding*: four of eight, of whom three copy one bad annotator.

*product pairs* are 8,315 pairs of offers with three labels each by 176 people, and a true label.
Inputs are scaled numbers. CROWDLAB gets five-fold probabilities of a random forest that learns the
majority vote; it refuses *one label*, so its means are over nine scenarios. There is one draw of
each scenario. Wrong labels are ranked by `error_probability_by_others`, or by the consensus.
Dawid-Skene, GLAD and MACE are those of crowd-kit (`pip install crowd-kit`)."""
SETS = ("breast cancer", "vehicle", "vowel")
PRODUCTS = "product pairs"
OURS, LABELS_ALONE, CROWDLAB = "LabelAudit", "LabelAudit, no inputs", "CROWDLAB"
BINS = 10


@lru_cache(maxsize=1)
def inputs_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return scaled inputs and the number of the true class."""
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        found = load(name)
        X, y = TablePreprocessor(max_one_hot=None).fit_transform(found.X), found.y
    return StandardScaler().fit_transform(X), np.unique(y, return_inverse=True)[1]


# ---- Simulated annotators ------------------------------------------------------------------


def some_of(n_rows: int, n_annotators: int, n_labels: int, rng: np.random.Generator) -> np.ndarray:
    """Return whether each annotator is asked about each row: so many per row."""
    return rng.random((n_rows, n_annotators)).argsort(axis=1).argsort(axis=1) < n_labels


def answers(z: np.ndarray, right: np.ndarray, wrong: np.ndarray, rng: np.random.Generator):
    """Return the true class with the probability `right`, and else a wrong label."""
    is_right = rng.random(wrong.shape) < right
    return np.where(is_right, z[:, None], wrong)


def other_class(z: np.ndarray, K: int, n_annotators: int, rng: np.random.Generator) -> np.ndarray:
    """Return another class for each row and annotator, all equally probable."""
    return (z[:, None] + rng.integers(1, K, (len(z), n_annotators))) % K


def simulate(scenario: str, X: np.ndarray, z: np.ndarray, seed: int) -> np.ndarray:
    """Return labels by row and annotator; -1 where an annotator was not asked."""
    n, K = len(z), int(z.max()) + 1
    rng = np.random.default_rng([seed, [*SCENARIOS].index(scenario)])
    A, n_labels, low, high = SCENARIOS[scenario]
    asked = some_of(n, A, n_labels, rng)
    right = rng.uniform(low, high, A)
    labels = answers(z, right, other_class(z, K, A, rng), rng)
    if scenario == "spammers":
        labels[:, :5] = rng.integers(0, K, (n, 5))
        labels[:, 5:9] = rng.integers(0, K, 4)
    elif scenario == "pairs":
        labels = answers(z, right, np.repeat((z[:, None] + 1) % K, A, axis=1), rng)
    elif scenario == "hard rows":
        proba = cross_val_predict(
            RandomForestClassifier(100, random_state=seed), X, z, cv=5, method="predict_proba"
        )
        proba[np.arange(n), z] -= 2
        rival, own = proba.argmax(axis=1), proba[np.arange(n), z] + 2
        error = np.clip(0.8 * (1 - own), 0.02, 0.9)[:, None] * (1.5 - right)
        wrong = np.where(rng.random((n, A)) < 0.8, rival[:, None], other_class(z, K, A, rng))
        labels = answers(z, 1 - np.clip(error, 0, 0.9), wrong, rng)
    elif scenario == "biased":
        labels = np.where(rng.random((n, A)) < np.r_[[0.5] * 6, [0.0] * (A - 6)],
                          rng.integers(0, K, A), labels)  # fmt: skip
    elif scenario == "rules":
        asked = rng.random((n, A)) < 1 / 3
    elif scenario == "colluding":
        copies = rng.random((n, 3)) < 0.95
        labels[:, 1:4] = np.where(copies, labels[:, :1], labels[:, 1:4])
    return np.where(asked, labels, -1)


# Annotators, labels per row, range of their accuracy.
SCENARIOS = {
    "mixed": (12, 3, 0.5, 0.95),
    "good": (6, 3, 0.85, 0.95),
    "spammers": (15, 5, 0.6, 0.95),
    "one label": (8, 1, 0.55, 0.95),
    "many": (100, 3, 0.5, 0.95),
    "pairs": (10, 3, 0.55, 0.95),
    "hard rows": (10, 3, 0.5, 0.95),
    "biased": (10, 3, 0.6, 0.95),
    "rules": (7, 7, 0.7, 0.9),
    "colluding": (8, 4, 0.45, 0.8),
}


@lru_cache(maxsize=1)
def crowd_of(name: str, scenario: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, true classes and labels by row and annotator, -1 where there is none."""
    if name != PRODUCTS:
        X, z = inputs_of(name)
        return X, z, simulate(scenario, X, z, seed)
    table = pd.read_csv(Path(os.environ["GRANULEARN_DATA"], "crowd", "product_pairs_crowd.csv.gz"))
    who = table[[f"annotator_id_{j}" for j in (1, 2, 3)]].to_numpy()
    names, number = np.unique(who, return_inverse=True)
    labels = np.full((len(table), len(names)), -1)
    given = table[[f"annotation_{j}" for j in (1, 2, 3)]].to_numpy()
    labels[np.arange(len(table))[:, None], number.reshape(who.shape)] = given
    inputs = table.loc[:, "cos_name":"price_ratio"]
    return TablePreprocessor().fit_transform(inputs), table["true_label"].to_numpy(), labels


# ---- Methods -------------------------------------------------------------------------------


def by_audit(X, W: np.ndarray, K: int, seed: int, *, inputs: bool):
    """Return consensus probabilities and the probability that each label is wrong."""
    table = pd.DataFrame(W).replace(-1, np.nan)
    audit = LabelAudit(random_state=seed).fit(X if inputs else None, annotations=table)
    proba = np.full((len(W), K), 1e-9)
    proba[:, audit.classes_.astype(int)] = audit.consensus_proba_
    return proba, audit.annotations_["error_probability_by_others"].to_numpy()


def by_votes(X, W: np.ndarray, K: int, seed: int):
    """Return shares of votes, smoothed by all of them."""
    votes = np.stack([(k == W).sum(axis=1) for k in range(K)], axis=1) + 0.0
    votes += 1e-3 * votes.sum(axis=0) / votes.sum()
    return votes / votes.sum(axis=1, keepdims=True), None


def by_crowd_kit(X, W: np.ndarray, K: int, seed: int, *, name: str):
    """Return the probabilities of a method of crowd-kit; equal ones for rows without a label."""
    from crowdkit.aggregation import GLAD, MACE, DawidSkene

    row, annotator = np.nonzero(W >= 0)
    long = pd.DataFrame({"task": row, "worker": annotator, "label": W[row, annotator]})
    model = {
        "Dawid-Skene": lambda: DawidSkene(n_iter=100),
        "GLAD": lambda: GLAD(n_iter=30, silent=True),
        "MACE": lambda: MACE(n_iter=30, n_restarts=3, random_state=seed),
    }[name]()
    found = model.fit_predict_proba(long)
    proba = np.zeros((len(W), K))
    proba[np.ix_(found.index, found.columns.astype(int))] = found.fillna(0)
    totals = proba.sum(axis=1, keepdims=True)
    return np.where(totals > 0, proba / np.maximum(totals, 1e-300), 1 / K), None


def by_crowdlab(X, W: np.ndarray, K: int, seed: int):
    """Return cleanlab's consensus with the rest spread over the other classes, and its ratings."""
    table = pd.DataFrame(W).replace(-1, np.nan)
    rows = np.flatnonzero(table.notna().any(axis=1))
    table = table.iloc[rows].reset_index(drop=True).dropna(axis=1, how="all")
    vote = np.asarray(get_majority_vote_label(table, verbose=False), int)
    unseen = cross_val_predict(
        RandomForestClassifier(200, random_state=seed), X[rows], vote,
        cv=StratifiedKFold(5, shuffle=True, random_state=seed), method="predict_proba",
    )  # fmt: skip
    predicted = np.zeros((len(rows), K))
    predicted[:, np.unique(vote)] = unseen
    found = get_label_quality_multiannotator(table, predicted, verbose=False)
    best = found["label_quality"]["consensus_label"].to_numpy(int)
    quality = found["label_quality"]["consensus_quality_score"].to_numpy(float).clip(1 / K, 1)
    proba = np.full((len(W), K), 1 / K)
    proba[rows] = ((1 - quality) / (K - 1))[:, None]
    proba[rows, best] = quality
    ratings = np.full(W.shape, np.nan)
    columns = table.columns.to_numpy(int)
    ratings[np.ix_(rows, columns)] = found["detailed_label_quality"].to_numpy(float)
    return proba, 1 - ratings[W >= 0]


METHODS: dict[str, Callable] = {
    OURS: partial(by_audit, inputs=True),
    LABELS_ALONE: partial(by_audit, inputs=False),
    "majority": by_votes,
    CROWDLAB: by_crowdlab,
}
if find_spec("crowdkit"):
    METHODS |= {name: partial(by_crowd_kit, name=name) for name in ("Dawid-Skene", "GLAD", "MACE")}


def aggregate(name: str, scenario: str, draw: int, method: str) -> Row:
    """Return how good the consensus of a method is, and how well it ranks wrong labels."""
    X, z, W = crowd_of(name, scenario, draw)
    K = int(z.max()) + 1
    began = time.perf_counter()
    try:
        proba, wrong = METHODS[method](X, W, K, draw)
    except ValueError as error:  # CROWDLAB takes no rows with one label each
        return {"refused": str(error)[:200]}
    seconds = time.perf_counter() - began
    best, sure = proba.argmax(axis=1), proba.max(axis=1)
    right = best == z
    row, annotator = np.nonzero(W >= 0)
    if wrong is None:
        wrong = 1 - proba[row, W[row, annotator]]
    parts = np.array_split(np.argsort(sure, kind="stable"), BINS)
    gaps = [len(part) * abs(sure[part].mean() - right[part].mean()) for part in parts]
    is_wrong = W[row, annotator] != z[row]
    likely = np.clip(proba, 1e-4, None)
    likely /= likely.sum(axis=1, keepdims=True)
    return {
        "accuracy": right.mean(),
        "log loss": log_loss(
            z,
            np.clip(proba, 1e-4, None) / np.clip(proba, 1e-4, None).sum(axis=1, keepdims=True),
            labels=range(K),
        ),
        "calibration error": sum(gaps) / len(z),
        "AUROC of wrong labels": roc_auc_score(is_wrong, wrong),
        "AUROC of wrong consensus": roc_auc_score(~right, -sure) if not right.all() else np.nan,
        "seconds": seconds,
    }


def tasks(quick: bool) -> Iterator[Task]:
    """Yield all scenarios on three sets, and the product pairs."""
    wanted = [(name, scenario) for name in SETS for scenario in SCENARIOS]
    wanted = wanted[:2] if quick else [*wanted, (PRODUCTS, "three labels")]
    for name, scenario in wanted:
        for method in METHODS:
            key = {"set": name, "scenario": scenario, "draw": 0, "method": method}
            yield key, partial(aggregate, name, scenario, 0, method)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield each score by scenario and method, and all scores of the product pairs."""
    methods = [method for method in METHODS if method in set(found["method"])]
    simulated = found[found["set"] != PRODUCTS]
    scores = ("accuracy", "calibration error", "log loss", "AUROC of wrong labels",
              "AUROC of wrong consensus", "seconds")  # fmt: skip
    for score in scores:
        by_scenario = simulated.pivot_table(score, "scenario", "method", sort=False)[methods]
        by_scenario.loc["**mean**"] = by_scenario.mean()
        yield f"## {score[0].upper()}{score[1:]}"
        yield markdown(by_scenario)
    products = found[found["set"] == PRODUCTS]
    if len(products):
        yield "## Product pairs"
        yield markdown(products.set_index("method")[list(scores)].loc[methods])


BENCHMARKS = {"annotators": Benchmark("Several annotators", ABOUT, tasks, tables)}
