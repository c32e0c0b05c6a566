"""Work on a local Dask cluster: what more rows cost, and what a sample loses against all rows.

The tables of `growth` are made block by block and never whole in memory. The ratio of processor
time is the one to trust on a machine that others use too.

    python benchmarks/bench_dask.py --part growth --rows 1000000 10000000
    python benchmarks/bench_dask.py --part quality --data-dir ../shared/data
"""

import argparse
import resource
import tempfile
import time
from functools import partial
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from granulearn.audit import LabelAudit
from granulearn.dask import (
    DaskLabelAudit,
    DaskRobustClassifier,
    DaskRVFLClassifier,
    DaskSDAPGBRVFLClassifier,
    open_client,
)
from granulearn.ensemble import RobustClassifier
from granulearn.rvfl import RVFLClassifier, SDAPGBRVFLClassifier

N_FEATURES = 20
N_CLOUDS = 32
BLOCK_ROWS = 100_000
MODELS = {
    "RVFL": (DaskRVFLClassifier, RVFLClassifier),
    "SDAP-GBRVFL": (DaskSDAPGBRVFLClassifier, SDAPGBRVFLClassifier),
    "robust": (DaskRobustClassifier, RobustClassifier),
}
COVTYPE = Path("large") / "covtype.parquet"


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


def fit(model: type, X: da.Array, y: da.Array) -> str:
    """Fit a classifier; return its accuracy on the first block."""
    fitted = model(random_state=0).fit(X, y)
    return f"{fitted.score(X[:BLOCK_ROWS], y[:BLOCK_ROWS]):.4f}"


def audit(X: da.Array, y: da.Array) -> str:
    """Rate every label, and write the ratings; return the share of labels called wrong."""
    with tempfile.TemporaryDirectory() as folder:
        DaskLabelAudit(random_state=0).fit(X, y).ratings_.to_parquet(folder)
        return f"{pd.read_parquet(folder, columns=['is_label_issue'])['is_label_issue'].mean():.4f}"


WORK = {name: partial(fit, model) for name, (model, _) in MODELS.items()} | {"audit": audit}


def growth(sizes: list[int], memory: str) -> None:
    """Print what more rows cost, with two workers."""
    print(f"\nTwo workers limited to {memory}, blocks of {BLOCK_ROWS:,} x {N_FEATURES}\n")
    print(
        "| work | rows | seconds | processor time, times the first | peak of a worker, GB |", end=""
    )
    print(" accuracy, or labels called wrong |\n|---|---|---|---|---|---|")
    for name, work in WORK.items():
        first = None
        with open_client("local", n_workers=2, memory_limit=memory) as client:
            work(*make_table(2 * BLOCK_ROWS))  # modules are imported
            for n_rows in sizes:
                before, began = sum(client.run(time.process_time).values()), time.perf_counter()
                found = work(*make_table(n_rows))
                seconds = time.perf_counter() - began
                busy = sum(client.run(time.process_time).values()) - before
                first = first or busy
                usage = client.run(partial(resource.getrusage, resource.RUSAGE_SELF))
                peak = max(part.ru_maxrss for part in usage.values()) / 2**20
                print(
                    f"| {name} | {n_rows:,} | {seconds:.1f} | {busy / first:.1f} | {peak:.2f} "
                    f"| {found} |",
                    flush=True,
                )


def quality(data: Path, n_rows: int, n_blocks: int) -> None:
    """Print accuracy on forest cover types and audit AUROC, in memory and in blocks."""
    frame = pd.read_parquet(data / COVTYPE)
    X, y = frame.drop(columns="target").to_numpy(float), frame["target"].to_numpy()
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    mean, deviation = X[:n_rows].mean(axis=0), X[:n_rows].std(axis=0)
    X = (X - mean) / np.where(deviation > 0, deviation, 1)
    new, truth = X[n_rows:][:80_000], y[n_rows:][:80_000]
    X, y = X[:n_rows], y[:n_rows]
    blocks = -(-n_rows // n_blocks)
    lazy = da.from_array(X, chunks=(blocks, X.shape[1])), da.from_array(y, chunks=blocks)
    print(f"\nForest cover types, {n_rows:,} rows, {len(new):,} to score\n")
    print(f"| work | in memory, all rows | in {n_blocks} blocks |\n|---|---|---|")
    for name, (on_dask, plain) in MODELS.items():
        alone = plain(random_state=0).fit(X, y).score(new, truth)
        ours = on_dask(random_state=0).fit(*lazy).estimator_.score(new, truth)
        print(f"| {name}, accuracy | {alone:.4f} | {ours:.4f} |", flush=True)
    rng = np.random.default_rng(1)
    wrong = rng.random(n_rows) < 0.05
    noisy = np.where(wrong, rng.permutation(y), y)
    wrong = noisy != y
    alone = LabelAudit(random_state=0, n_jobs=2).fit(X, noisy).label_quality_
    rated = DaskLabelAudit(random_state=0).fit(lazy[0], da.from_array(noisy, chunks=blocks))
    ours = rated.ratings_["label_quality"].compute().to_numpy()
    scores = [roc_auc_score(wrong, 1 - np.nan_to_num(own, nan=0.5)) for own in (alone, ours)]
    print(f"| audit, AUROC | {scores[0]:.4f} | {scores[1]:.4f} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_000, 20_000_000])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--quality-rows", type=int, default=500_000)
    parser.add_argument("--data-dir", type=Path, default=Path("../shared/data"))
    parser.add_argument("--part", choices=["growth", "quality", "all"], default="all")
    arguments = parser.parse_args()
    if arguments.part != "growth":
        quality(arguments.data_dir, arguments.quality_rows, 50)
    if arguments.part != "quality":
        growth(arguments.rows, arguments.memory)


if __name__ == "__main__":
    main()
