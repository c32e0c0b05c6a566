"""Work on a local Dask cluster: growth with the rows, and quality beside a fit in memory."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from functools import partial

import dask.array as da
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn import LabelAudit, RobustClassifier
from granulearn.dask import (
    DaskLabelAudit,
    DaskRobustClassifier,
    DaskRVFLClassifier,
    DaskSDAPGBRVFLClassifier,
    open_client,
)
from granulearn.datasets import load
from granulearn.rvfl import RVFLClassifier, SDAPGBRVFLClassifier

ABOUT = """\
Quality: forest cover types, in memory and in 50 blocks, scored on 80,000 other rows; the audit
ranks 5 % planted mistakes. Growth: two workers limited to 2 GB, blocks of 100,000 x 20, made
block by block and never whole in memory. On a busy machine the ratio of processor times is the
one to trust."""
N_FEATURES, N_CLOUDS, BLOCK_ROWS, N_BLOCKS = 20, 32, 100_000, 50
MODELS = {
    "RVFL": (DaskRVFLClassifier, RVFLClassifier),
    "SDAP-GBRVFL": (DaskSDAPGBRVFLClassifier, SDAPGBRVFLClassifier),
    "robust": (DaskRobustClassifier, RobustClassifier),
}


def make_block(block_info=None) -> np.ndarray:
    """Return the rows of one block, the label last; one label in twenty is wrong."""
    shape = block_info[None]["chunk-shape"]
    clouds = np.random.default_rng(0).uniform(-2.8, 2.8, (N_CLOUDS, N_FEATURES))
    rng = np.random.default_rng([1, block_info[None]["chunk-location"][0]])
    cloud = rng.integers(0, N_CLOUDS, shape[0])
    rows = rng.standard_normal((shape[0], N_FEATURES + 1))
    rows[:, :-1] += clouds[cloud]
    rows[:, :-1] /= 1.9  # about unit variance, as after scaling
    rows[:, -1] = (cloud % 2) ^ (rng.random(shape[0]) < 0.05)
    return rows


def make_table(n_rows: int) -> tuple[da.Array, da.Array]:
    """Return lazy X and y."""
    chunks = da.core.normalize_chunks((BLOCK_ROWS, -1), (n_rows, N_FEATURES + 1), dtype=float)
    rows = da.map_blocks(make_block, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return rows[:, :-1], rows[:, -1].astype(int)


def fit(model: type, X: da.Array, y: da.Array) -> float:
    """Fit a classifier; return its accuracy on the first block."""
    return model(random_state=0).fit(X, y).score(X[:BLOCK_ROWS], y[:BLOCK_ROWS])


def audit(X: da.Array, y: da.Array) -> float:
    """Rate every label, and write the ratings; return the share of labels called wrong."""
    with tempfile.TemporaryDirectory() as folder:
        DaskLabelAudit(random_state=0).fit(X, y).ratings_.to_parquet(folder)
        return float(pd.read_parquet(folder, columns=["is_label_issue"])["is_label_issue"].mean())


WORK = {name: partial(fit, model) for name, (model, _) in MODELS.items()} | {"audit": audit}


def growth(name: str, sizes: tuple[int, ...]) -> list[Row]:
    """Return the cost of ever more rows, with two workers."""
    rows = []
    with open_client("local", n_workers=2, memory_limit="2GB") as client:
        WORK[name](*make_table(2 * BLOCK_ROWS))  # the workers import what they need
        for n_rows in sizes:
            before, began = sum(client.run(time.process_time).values()), time.perf_counter()
            found = WORK[name](*make_table(n_rows))
            busy = sum(client.run(time.process_time).values()) - before
            usage = client.run(partial(resource.getrusage, resource.RUSAGE_SELF))
            rows.append(
                {
                    "rows": f"{n_rows:,}",
                    "seconds": time.perf_counter() - began,
                    "processor time": busy,
                    "peak of a worker, GB": max(u.ru_maxrss for u in usage.values()) / 2**20,
                    "accuracy, or share called wrong": found,
                }
            )
    return rows


def quality(name: str, n_rows: int) -> Row:
    """Return accuracy, or AUROC of the audit, in memory and in blocks."""
    data = load("covtype")
    order = np.random.default_rng(0).permutation(len(data.y))
    X, y = np.asarray(data.X, dtype=float)[order], np.asarray(data.y)[order]
    mean, deviation = X[:n_rows].mean(axis=0), X[:n_rows].std(axis=0)
    X = (X - mean) / np.where(deviation > 0, deviation, 1)
    new, new_y = X[n_rows:][:80_000], y[n_rows:][:80_000]
    X, y = X[:n_rows], y[:n_rows]
    block = -(-n_rows // N_BLOCKS)
    lazy = da.from_array(X, chunks=(block, X.shape[1]))
    if name != "audit":
        on_dask, plain = MODELS[name]
        alone = plain(random_state=0).fit(X, y).score(new, new_y)
        fitted = on_dask(random_state=0).fit(lazy, da.from_array(y, chunks=block))
        return {"in memory": alone, "in blocks": fitted.estimator_.score(new, new_y)}
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(n_rows) < 0.05, rng.permutation(y), y)
    alone = LabelAudit(random_state=0).fit(X, noisy).label_quality_
    rated = DaskLabelAudit(random_state=0).fit(lazy, da.from_array(noisy, chunks=block))
    ours = rated.ratings_["label_quality"].compute().to_numpy()
    scores = [roc_auc_score(noisy != y, -np.nan_to_num(own, nan=0.5)) for own in (alone, ours)]
    return dict(zip(("in memory", "in blocks"), scores, strict=True))


def tasks(quick: bool) -> Iterator[Task]:
    """Yield quality and growth of each kind of work."""
    n_rows, sizes = (2_000, (100_000,)) if quick else (200_000, (500_000, 2_000_000))
    names = ["RVFL", "audit"] if quick else [*WORK]
    for name in names:
        yield {"part": "quality", "work": name, "of": n_rows}, partial(quality, name, n_rows)
    for name in names:
        yield {"part": "growth", "work": name, "of": sizes[-1]}, partial(growth, name, sizes)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield both tables."""
    for part, own in found.groupby("part", sort=False):
        yield f"## {str(part).capitalize()}"
        yield markdown(own.drop(columns=["part", "of"]).dropna(axis=1, how="all").set_index("work"))


BENCHMARKS = {"dask": Benchmark("On a Dask cluster", ABOUT, tasks, tables)}
