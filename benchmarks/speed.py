"""Speed of balls, forest, neighbours, audit and robust classifier, as ratios to everyday rivals."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import NearestNeighbors

from benchmarks.harness import Benchmark, Row, Task, least_times, markdown
from granulearn import BallForestClassifier, LabelAudit, RobustClassifier, generate_balls
from granulearn.datasets import flip_labels, load
from granulearn.models import save_model
from granulearn.preprocess import TablePreprocessor
from granulearn.utils.neighbors import nearest_others

ABOUT = """\
Processor time on one thread, the least of a few rounds in which both take turns. Figures are ratios
unless a unit is given. LightGBM has default settings; scikit-learn's random forest has 100 trees,
as the ball forest. The census-like table has 400 one-hot columns. Growth is relative to a tenth of
the rows. The memory of a fit excludes that of a process that only loads the rows."""
PURITY = 0.985
CATEGORY_SIZES = (2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 22, 28, 38, 60, 140)


def noisy_table(n_samples: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Return 20 features and two classes, with a tenth of the labels flipped."""
    X, y = make_classification(
        n_samples, 20, n_informative=10, n_redundant=2, n_clusters_per_class=4, class_sep=1.5,
        flip_y=0, random_state=0,
    )  # fmt: skip
    flipped = np.random.RandomState(1).choice(n_samples, n_samples // 10, replace=False)
    y[flipped] = 1 - y[flipped]
    return np.ascontiguousarray(X, dtype=dtype), y


def ratio(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> float:
    """Return the processor time of one task over that of another."""
    times = least_times({"ours": ours, "theirs": theirs}, rounds)
    return times["ours"] / times["theirs"]


# ---- Balls, forest, neighbours -------------------------------------------------------------


def one_kmeans_call_per_split(X: np.ndarray, y: np.ndarray) -> tuple[int, float]:
    """Make balls as published scripts do; return their number and the weighted purity."""
    pending, n_balls, n_right = [np.arange(len(X))], 0, 0
    while pending:
        rows = pending.pop()
        top = np.bincount(y[rows]).max()
        if top / len(rows) < PURITY and len(np.unique(X[rows], axis=0)) > 1:
            side = KMeans(2, n_init=1, random_state=0).fit(X[rows]).labels_ == 1
            pending += [rows[~side], rows[side]]
        else:
            n_balls += 1
            n_right += top
    return n_balls, n_right / len(X)


def balls_against_kmeans(n_rows: int) -> list[Row]:
    """Return how much faster balls are than one k-means call per split, and how pure."""
    X, y = noisy_table(n_rows)
    make = partial(generate_balls, X, y, purity=PURITY, random_state=0, n_jobs=1)
    balls = make()
    _, purity = one_kmeans_call_per_split(X, y)
    times = least_times({"ours": make}, 5) | least_times(
        {"k-means": lambda: one_kmeans_call_per_split(X, y)}, 1
    )
    return [
        {"measure": "k-means calls / balls", "value": times["k-means"] / times["ours"]},
        {"measure": "purity, ours", "value": np.average(balls.purities, weights=balls.counts)},
        {"measure": "purity, k-means calls", "value": purity},
    ]


def balls_growth(n_rows: int) -> list[Row]:
    """Return growth and memory of balls."""
    X, y = noisy_table(n_rows, "float32")
    few = n_rows // 10
    growth = ratio(
        lambda: generate_balls(X, y, random_state=0, n_jobs=1),
        lambda: generate_balls(X[:few], y[:few], random_state=0, n_jobs=1),
        2,
    )
    tracemalloc.start()
    generate_balls(X, y, random_state=0, n_jobs=1)
    memory = tracemalloc.get_traced_memory()[1] / X.nbytes
    tracemalloc.stop()
    return [
        {"measure": "growth of balls", "value": growth},
        {"measure": "peak memory of balls / table", "value": memory},
    ]


def forest(n_rows: int) -> list[Row]:
    """Return the time of a ball forest over scikit-learn's random forest, and its growth."""
    X, y = noisy_table(n_rows)
    few = n_rows // 10
    ours, theirs = (
        partial(BallForestClassifier, 100, random_state=0, n_jobs=1),
        partial(RandomForestClassifier, 100, random_state=0, n_jobs=1),
    )
    against = ratio(lambda: ours().fit(X, y), lambda: theirs().fit(X, y), 1)
    growth = ratio(lambda: ours().fit(X, y), lambda: ours().fit(X[:few], y[:few]), 1)
    return [
        {"measure": "forest / random forest, fit", "value": against},
        {"measure": "growth of the forest", "value": growth},
    ]


def neighbors(n_rows: int) -> Row:
    """Return the time of nearest other rows over scikit-learn's."""
    X, _ = noisy_table(n_rows)
    value = ratio(
        lambda: nearest_others(X, 4), lambda: NearestNeighbors(n_neighbors=4).fit(X).kneighbors(), 2
    )
    return {"measure": "nearest rows / scikit-learn's", "value": value}


# ---- Audit ---------------------------------------------------------------------------------


def audit(n_rows: int) -> list[Row]:
    """Return the time of cleanlab over that of the audit."""
    from cleanlab.filter import find_label_issues
    from lightgbm import LGBMClassifier

    X, y = noisy_table(n_rows)

    def ours() -> None:
        LabelAudit(random_state=0, n_jobs=1).fit(X, y)

    def theirs() -> None:
        model = LGBMClassifier(n_jobs=1, verbose=-1)
        find_label_issues(y, cross_val_predict(model, X, y, cv=5, method="predict_proba"), n_jobs=1)

    return [{"measure": "cleanlab with LightGBM / audit", "value": ratio(theirs, ours, 2)}]


# ---- Robust classifier ---------------------------------------------------------------------


def set_rows(name: str, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return prepared rows of a set, drawn without replacement, or a census-like table."""
    if name == "census-like":
        return census_like(n_rows)
    data = load(name)
    rows = np.random.RandomState(0).permutation(len(data.y))[:n_rows]
    X = TablePreprocessor(max_one_hot=None).fit_transform(data.X.iloc[rows])
    return np.ascontiguousarray(X, dtype=np.float64), data.y[rows]


def census_like(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return categories as one-hot columns; effects on the log odds add up.

    As in a census, a few values of a category are common and most are rare.
    """
    rng = np.random.RandomState(0)
    X = np.zeros((n_rows, sum(CATEGORY_SIZES)))
    log_odds = np.full(n_rows, -1.0)
    begin = 0
    for size in CATEGORY_SIZES:
        weights = 1 / np.arange(1, size + 1)
        values = rng.choice(size, n_rows, p=weights / weights.sum())
        X[np.arange(n_rows), begin + values] = 1
        log_odds += rng.normal(0, 0.5, size)[values]
        begin += size
    return X, (rng.uniform(size=n_rows) < 1 / (1 + np.exp(-log_odds))).astype(int)


def robust_model() -> RobustClassifier:
    """Return the classifier that is measured."""
    return RobustClassifier(random_state=0, n_jobs=1)


def robust(name: str, n_rows: int, noise: float, rounds: int) -> list[Row]:
    """Return times over LightGBM's, and the size of the model file."""
    from lightgbm import LGBMClassifier

    X, y = set_rows(name, n_rows)
    if noise:
        y = flip_labels(y, noise, random_state=0).labels
    models: dict[str, object] = {}

    def fit(make: Callable) -> Callable[[], None]:
        return lambda: models.update({make.__name__: make().fit(X, y)})

    def theirs() -> LGBMClassifier:
        return LGBMClassifier(n_jobs=1, verbose=-1)

    fitted = ratio(fit(robust_model), fit(theirs), rounds)
    ours, other = models["robust_model"], models["theirs"]
    predicted = ratio(lambda: ours.predict(X), lambda: other.predict(X), rounds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.granulearn"
        save_model(ours, path)
        megabytes = path.stat().st_size / 1e6
    return [
        {"measure": "fit / LightGBM", "value": fitted},
        {"measure": "predict / LightGBM", "value": predicted},
        {"measure": "model file, MB", "value": megabytes},
    ]


def robust_growth(n_rows: int) -> Row:
    """Return the time of a fit over that of a tenth of the rows."""
    X, y = set_rows("covtype", n_rows)
    few = n_rows // 10
    value = ratio(lambda: robust_model().fit(X, y), lambda: robust_model().fit(X[:few], y[:few]), 1)
    return {"measure": "growth of a fit", "value": value}


PEAK = """
import json, resource, sys
from pathlib import Path
import numpy as np
from granulearn import RobustClassifier
X, y = np.load(sys.argv[1] + "/X.npy"), np.load(sys.argv[1] + "/y.npy")
if sys.argv[2] == "fit":
    RobustClassifier(random_state=0, n_jobs=1).fit(X, y)
# The usage of Linux has the peak of the parent process, too.
status = Path("/proc/self/status")
if status.exists():
    peak = int(status.read_text().partition("VmHWM:")[2].split()[0])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps(peak))
"""


def robust_memory(n_rows: int) -> Row:
    """Return the peak memory of a fit above that of a process that only loads its rows."""
    with tempfile.TemporaryDirectory() as folder:
        X, y = set_rows("covtype", n_rows)
        np.save(f"{folder}/X.npy", X)
        np.save(f"{folder}/y.npy", y)
        del X, y
        peaks = []
        for step in ("load", "fit"):
            command = [sys.executable, "-c", PEAK, folder, step]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            peaks.append(json.loads(done.stdout) * (1 if sys.platform == "darwin" else 1024))
    return {"measure": "peak memory of a fit, GB", "value": (peaks[1] - peaks[0]) / 1e9}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield all measurements."""
    scale = 20 if quick else 1

    def task(part: str, measure: Callable, *sizes) -> Task:
        return {"part": part, "of": ", ".join(map(str, sizes))}, partial(measure, *sizes)

    yield task("balls", balls_against_kmeans, 10_000 // scale)
    for n_rows in (100_000, 1_000_000):
        yield task("balls", balls_growth, n_rows // scale)
    yield task("forest", forest, 100_000 // scale)
    yield task("neighbours", neighbors, 20_000 // scale)
    yield task("audit", audit, 100_000 // scale)
    for name in ("census-like",) if quick else ("covtype", "adult", "census-like"):
        for n_rows in (5_000, 39_000 if name == "adult" else 100_000):
            for noise in (0.0, 0.2):
                yield task("robust", robust, name, n_rows // scale, noise, 1 if quick else 2)
    if not quick:
        for n_rows in (100_000, 500_000):
            yield task("robust", robust_growth, n_rows)
    yield task("memory", robust_memory, 500_000 // scale)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield all measurements as one table."""
    for part, own in found.groupby("part", sort=False):
        yield f"## {str(part).capitalize()}"
        yield markdown(own.set_index("measure")[["of", "value"]], 2)


BENCHMARKS = {"speed": Benchmark("How fast it is", ABOUT, tasks, tables)}
