"""Which method ranks wrong numbers first that were planted in the targets of regression."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from cleanlab.regression.learn import CleanLearning
from cleanlab.regression.rank import get_label_quality_scores
from lightgbm import LGBMRegressor
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import NearestNeighbors

from benchmarks.audit_sets import ranking_scores, ranking_table, verdict_scores
from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn.audit import audit_labels
from granulearn.datasets import load
from granulearn.preprocess import TablePreprocessor
from granulearn.rvfl import RVFLEnsembleRegressor

ABOUT = """\
Errors are planted in the targets of 22 sets of at most 1,000 rows, and each method rates all
values. There are four kinds of errors:

- *other row*: the value of another row;
- *outlier*: 2 to 5 standard deviations of the ten nearest rows added or subtracted;
- *decimal slip*: the decimal point moved by one digit;
- *swapped digits*: two neighbouring digits of the first four swapped, which often changes little.

Fifteen targets are columns of classification sets (the column with the most distinct values), four
are regression targets, three are synthetic. p-values are from Wilcoxon's test against the best
rival over sets, with Holm's correction for all pairs. `CleanLearning` is cleanlab's own search,
which fits a model many times (with 30 trees in its forest; the other forest has 100). *five folds*
is cleanlab's score of five-fold predictions. *residual* is the absolute leave-one-out residual of
the same ensemble, fitted once. All methods get the same scaled inputs. Settings of the audit were
chosen on every other set."""
MAX_ROWS = 1_000
CLASS_SETS = (
    "bupa", "churn", "covtype", "diamonds", "german", "glass5", "heart", "magic",
    "oocytes_merluccius_nucleus_4d", "phoneme", "saheart", "vehicle", "vertebral_column_2clases",
    "vowel", "wdbc",
)  # fmt: skip
GENERATED: dict[str, Callable] = {
    "friedman1": partial(make_friedman1, 600, noise=1.0, random_state=0),
    "friedman2": partial(make_friedman2, 600, noise=100.0, random_state=0),
    "friedman3": partial(make_friedman3, 600, noise=0.1, random_state=0),
}
NAMES = tuple(sorted((*CLASS_SETS, *GENERATED, "cancer", "diabetes", "engel", "star98")))
CHOSEN_ON = NAMES[::2]
# The same target with more rows, against rivals that are fast enough.
LARGE = {"diamonds": (5_000, 20_000, 53_940), "covtype": (100_000,)}


@lru_cache(maxsize=2)
def value_set(name: str, max_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scaled inputs and the numbers to predict."""
    frame, y = raw_set(name)
    known = np.isfinite(np.asarray(y, dtype=float))
    frame, y = frame[known].reset_index(drop=True), np.asarray(y, dtype=float)[known]
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:max_rows])
    X = TablePreprocessor(max_one_hot=None).fit_transform(frame.iloc[rows].reset_index(drop=True))
    return X[:, X.std(axis=0) > 0], y[rows]


def raw_set(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the inputs and the target of a set."""
    if name in GENERATED:
        X, y = GENERATED[name]()
        return pd.DataFrame(X).add_prefix("x"), y
    if name == "diabetes":
        return load_diabetes(return_X_y=True, as_frame=True)
    if name in CLASS_SETS:
        frame = load(name).X
        target = frame.select_dtypes("number").nunique().idxmax()
        return frame.drop(columns=target), frame[target].to_numpy()
    from statsmodels import datasets

    data = getattr(datasets, name).load_pandas().data
    if name == "star98":
        above, below = data.pop("NABOVE"), data.pop("NBELOW")
        return data, (above / (above + below)).to_numpy()
    target = {"engel": "foodexp", "cancer": "cancer"}[name]
    return data.drop(columns=target), data[target].to_numpy()


# ---- Planted errors ------------------------------------------------------------------------


def other_row(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the value of another row."""
    return rng.permutation(y)


def outlier(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Move values by 2 to 5 standard deviations of the ten nearest rows."""
    near = NearestNeighbors(n_neighbors=10).fit(X).kneighbors()[1]
    spread = np.maximum(y[near].std(axis=1), 0.05 * y.std())
    return y + rng.choice([-1.0, 1.0], len(y)) * rng.uniform(2, 5, len(y)) * spread


def decimal_slip(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Move the decimal point by one."""
    return np.where(rng.random(len(y)) < 0.5, 10 * y, y / 10)


def swapped_digits(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Swap two neighbouring digits of the first four."""
    power = np.floor(np.log10(np.abs(np.where(y == 0, 1, y)))) - 3
    digits = np.round(np.abs(y) / 10**power).astype(int)
    unit = 10 ** rng.integers(3, size=len(y))
    low, high = digits // unit % 10, digits // (10 * unit) % 10
    return y + np.sign(y) * (low - high) * 9 * unit * 10**power


KINDS = {
    "other row": other_row,
    "outlier": outlier,
    "decimal slip": decimal_slip,
    "swapped digits": swapped_digits,
}


def plant(X: np.ndarray, y: np.ndarray, kind: str, rate: float, seed: int):
    """Return the values with a share of them changed, and which."""
    wrong = np.zeros(len(y), dtype=bool)
    if not rate:
        return y, wrong
    rng = np.random.default_rng([seed, [*KINDS].index(kind), round(100 * rate)])
    changed = KINDS[kind](X, y, rng)
    able = np.flatnonzero(np.isfinite(changed) & (changed != y))
    wrong[rng.permutation(able)[: max(1, round(rate * len(y)))]] = True
    return np.where(wrong, changed, y), wrong


# ---- Methods -------------------------------------------------------------------------------


def seeded(model, seed: int):
    """Return a fresh model with a seed, if it takes one."""
    model = clone(model)
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


def unseen(model, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return five-fold predictions."""
    folds = KFold(5, shuffle=True, random_state=seed)
    return cross_val_predict(seeded(model, seed), X, y, cv=folds)


def by_ensemble_residual(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return minus the absolute leave-one-out residual of an ensemble, fitted once."""
    model = RVFLEnsembleRegressor(n_estimators="auto", n_hidden="auto", random_state=seed).fit(X, y)
    return -np.abs(y - model.loo_prediction_)


def by_clean_learning(X: np.ndarray, y: np.ndarray, seed: int, *, model) -> np.ndarray:
    """Return cleanlab's own search for wrong values."""
    found = CleanLearning(seeded(model, seed), seed=seed).find_label_issues(X, y)
    return found["label_quality"].to_numpy()


BOOSTED = LGBMRegressor(n_jobs=1, verbose=-1, deterministic=True)
FOREST = RandomForestRegressor(100)
OURS = "audit_labels"
RIVALS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "ensemble, residual": by_ensemble_residual,
    "CleanLearning, LightGBM": partial(by_clean_learning, model=BOOSTED),
    "CleanLearning, linear": partial(by_clean_learning, model=LinearRegression()),
    "CleanLearning, forest": partial(
        by_clean_learning, model=RandomForestRegressor(30, max_features=1 / 3)
    ),
    "five folds, LightGBM": lambda X, y, s: get_label_quality_scores(y, unseen(BOOSTED, X, y, s)),
    "five folds, forest": lambda X, y, s: get_label_quality_scores(y, unseen(FOREST, X, y, s)),
    "LightGBM, residual": lambda X, y, s: -np.abs(y - unseen(BOOSTED, X, y, s)),
}
LARGE_METHODS = (OURS, "CleanLearning, linear", "LightGBM, residual")
METHODS = (OURS, *[*RIVALS][:-1])


def rate_values(name: str, max_rows: int, kind: str, rate: float, draw: int, method: str) -> Row:
    """Return how well one method ranks planted errors; of the audit also its estimates."""
    X, y = value_set(name, max_rows)
    given, wrong = plant(X, y, kind, rate, draw)
    began = time.perf_counter()
    if method != OURS:
        quality, row = RIVALS[method](X, given, draw), {}
    else:
        listing = audit_labels(X, given, task="regression", random_state=draw)
        quality = np.empty(len(y))
        quality[listing.index] = np.arange(len(y))  # worst first
        rows = listing.sort_index()
        flagged = rows["is_label_issue"].to_numpy()
        inside = ((rows["low"] <= y) & (y <= rows["high"])).to_numpy()
        row = verdict_scores(wrong, flagged) | {
            "noise rate": listing.attrs["noise_rate"],
            "promised": float(rows["error_probability"][flagged].mean()),
            "in range": float(inside[~wrong].mean()),
        }
    return {"seconds": time.perf_counter() - began} | ranking_scores(wrong, quality) | row


def tasks(quick: bool) -> Iterator[Task]:
    """Yield all sets with two rates of each kind of error, clean ones, and larger tables."""
    planted = [(kind, rate) for kind in KINDS for rate in (0.05, 0.1)]
    wanted = [
        (name, MAX_ROWS, kind, rate, method)
        for name in NAMES
        for kind, rate in [*planted, ("none", 0.0)]
        for method in (METHODS if rate else [OURS])
    ]
    wanted += [
        (name, n_rows, kind, 0.05, method)
        for name, sizes in LARGE.items()
        for n_rows in sizes
        for kind in ("other row", "outlier")
        for method in LARGE_METHODS
    ]
    if quick:
        sets = ("diabetes", "friedman1")
        wanted = [one for one in wanted if one[0] in sets and one[2] in ("other row", "outlier")]
    for name, max_rows, kind, rate, method in wanted:
        key = {"set": name, "rows": max_rows, "errors": kind, "rate": rate, "method": method}
        yield key, partial(rate_values, name, max_rows, kind, rate, 0, method)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield both scores, sets, estimates of the audit, seconds and larger tables."""
    large = found["rows"] > MAX_ROWS
    small, larger = found[~large], found[large]
    planted = small[small["rate"] > 0]
    methods = list(METHODS)
    for score in ("AUROC", "average precision"):
        yield f"## {score}"
        yield ranking_table(planted, score, ["errors", "rate"], methods)
    by_set = planted.pivot_table("average precision", "set", "method")[methods]
    yield "## Average precision by set"
    halves = {
        "**settings chosen on**": by_set[by_set.index.isin(CHOSEN_ON)].mean(),
        "**other sets**": by_set[~by_set.index.isin(CHOSEN_ON)].mean(),
    }
    yield markdown(pd.concat([by_set, pd.DataFrame(halves).T]))
    yield "## Flags and estimates of the audit"
    yield (
        "Means over sets: the estimated noise rate; the share of flagged values; the precision "
        "that the error probabilities predict, and the true precision; the recall; the share of "
        "right values between `low` and `high`, which should be 95 %."
    )
    scores = ["noise rate", "flagged", "promised", "precision", "recall", "in range"]
    ours = small[small["method"] == OURS].groupby(["errors", "rate"], sort=False)[scores].mean()
    ours.index = [f"{kind} {rate:.0%}" for kind, rate in ours.index]
    ours = ours.rename(columns={"promised": "expected precision"})
    yield markdown(ours.map(lambda share: "" if np.isnan(share) else f"{share:.1%}"))
    yield "## Seconds per audit, of one thread"
    yield markdown(planted.groupby("method")["seconds"].mean()[methods].to_frame(), 2)
    if len(larger):
        yield "## Larger tables"
        wide = larger.pivot_table(
            ["average precision", "seconds"], ["set", "rows", "errors"], "method", sort=False
        )
        wide.columns = [f"{method}, {score}" for score, method in wide.columns]
        wide.index = [f"{name}, {n_rows:,} rows, {kind}" for name, n_rows, kind in wide.index]
        yield markdown(wide)


BENCHMARKS = {"values": Benchmark("Finding planted wrong numbers", ABOUT, tasks, tables)}
