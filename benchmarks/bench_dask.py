"""How fitting on a local Dask cluster grows with the rows, and what a second worker brings.

The table is made block by block, where it is needed, and is never whole in
memory. Prints ratios measured in one run, beside the seconds they come from. The
ratio of processor time is the one to trust on a machine that others use too; the
gain of a second worker says something only where two cores are free.

The classes are fairly well separated (32 clouds, one label in a thousand wrong),
so a block of 100,000 rows becomes several hundred balls. Where classes overlap,
balls are many, and gathering and rating them takes its share.
"""

import argparse
import os
import resource
import time
from dataclasses import dataclass
from functools import partial

import dask.array as da
import numpy as np

from granulearn.dask import (
    DaskFGBRVFLClassifier,
    DaskGBRVFLClassifier,
    DaskRVFLClassifier,
    DaskSDAPGBRVFLClassifier,
    open_client,
)
from granulearn.estimators import GBRVFLClassifier

N_FEATURES = 20
N_CLOUDS = 32
BLOCK_ROWS = 100_000
MODELS = {
    "RVFL": DaskRVFLClassifier,
    "GB-RVFL": DaskGBRVFLClassifier,
    "F-GBRVFL": DaskFGBRVFLClassifier,
    "SDAP-GBRVFL": DaskSDAPGBRVFLClassifier,
}


@dataclass(frozen=True)
class Run:
    """What one fit cost."""

    seconds: float
    cpu_seconds: float
    balls: int | None
    accuracy: float


def make_block(block_info=None) -> np.ndarray:
    """Return the rows of one block, the label last."""
    shape = block_info[None]["chunk-shape"]
    clouds = np.random.default_rng(0).uniform(-2.8, 2.8, (N_CLOUDS, N_FEATURES))
    rng = np.random.default_rng([1, block_info[None]["chunk-location"][0]])
    cloud = rng.integers(0, N_CLOUDS, shape[0])
    rows = rng.standard_normal((shape[0], N_FEATURES + 1))
    rows[:, :-1] += clouds[cloud]
    rows[:, :-1] /= 1.9  # about unit variance, as after scaling
    rows[:, -1] = (cloud % 2) ^ (rng.random(shape[0]) < 0.001)
    return rows


def make_table(n_rows: int) -> tuple[da.Array, da.Array]:
    """Return lazy X and y."""
    chunks = da.core.normalize_chunks((BLOCK_ROWS, -1), (n_rows, N_FEATURES + 1), dtype=float)
    rows = da.map_blocks(make_block, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return rows[:, :-1], rows[:, -1].astype(int)


def measure(client, model, n_rows: int) -> Run:
    """Fit once, from cold memory but with compiled kernels."""
    X, y = make_table(n_rows)
    before = sum(client.run(time.process_time).values())
    began = time.perf_counter()
    fitted = model(random_state=0).fit(X, y)
    seconds = time.perf_counter() - began
    cpu = sum(client.run(time.process_time).values()) - before
    balls = len(fitted.balls_) if hasattr(fitted, "balls_") else None
    return Run(seconds, cpu, balls, fitted.score(*make_table(BLOCK_ROWS)))


def load_kernels() -> None:
    """Fit a little in this worker, so that no measured fit waits for compiled kernels."""
    X = np.random.default_rng(0).standard_normal((2000, N_FEATURES))
    GBRVFLClassifier().fit(X, X[:, 0] > 0)


def peak_memory(client) -> float:
    """Return the largest memory that a worker has used, in gigabytes."""
    usage = client.run(partial(resource.getrusage, resource.RUSAGE_SELF))
    return max(part.ru_maxrss for part in usage.values()) / 2**20


def growth(sizes: list[int], names: list[str], memory: str) -> None:
    """Print what more rows cost, with two workers."""
    print(f"\n## Two workers limited to {memory}, blocks of {BLOCK_ROWS:,} x {N_FEATURES}\n")
    print("| model | rows | seconds | times the first | processor time, times the first |", end="")
    print(" balls | peak of a worker, GB | accuracy |")
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        with open_client("local", n_workers=2, memory_limit=memory) as client:
            client.run(load_kernels)
            runs = [measure(client, MODELS[name], sizes[0])]
            for n_rows in sizes:
                run = runs[0] if n_rows == sizes[0] else measure(client, MODELS[name], n_rows)
                print(
                    f"| {name} | {n_rows:,} | {run.seconds:.1f} "
                    f"| {run.seconds / runs[0].seconds:.1f} "
                    f"| {run.cpu_seconds / runs[0].cpu_seconds:.1f} "
                    f"| {'' if run.balls is None else f'{run.balls:,}'} "
                    f"| {peak_memory(client):.2f} | {run.accuracy:.4f} |",
                    flush=True,
                )


def gain(n_rows: int, names: list[str], rounds: int) -> None:
    """Print how much faster two workers are than one, the best of several rounds in turn."""
    print(f"\n## One and two workers, {n_rows:,} rows\n")
    print("| model | one worker, seconds | two workers, seconds | gain | cores busy besides them |")
    print("|---|---|---|---|---|")
    with (
        open_client("local", n_workers=1) as one,
        open_client("local", n_workers=2) as two,
    ):
        for client in (one, two):
            client.run(load_kernels)
        for name in names:
            seconds, elsewhere = np.empty((rounds, 2)), np.empty((rounds, 2))
            for turn in range(rounds):
                for at, client in enumerate((one, two)):
                    with client.as_current():
                        began, wall = busy_seconds(), time.perf_counter()
                        run = measure(client, MODELS[name], n_rows)
                        wall = time.perf_counter() - wall
                    seconds[turn, at] = run.seconds
                    elsewhere[turn, at] = (busy_seconds() - began - run.cpu_seconds) / wall
            best = seconds.min(axis=0)
            others = elsewhere[seconds.argmin(axis=0), [0, 1]].max()
            print(
                f"| {name} | {best[0]:.1f} | {best[1]:.1f} | {best[0] / best[1]:.2f} "
                f"| {others:.1f} |",
                flush=True,
            )


def busy_seconds() -> float:
    """Return the time that all cores together have worked since the machine was started."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, interrupts, soft_interrupts, *_ = map(
            int, file.readline().split()[1:]
        )
    return (user + nice + system + interrupts + soft_interrupts) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_000, 20_000_000])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--gain-rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--part", choices=["growth", "gain", "both"], default="both")
    arguments = parser.parse_args()
    if arguments.part != "growth":
        gain(arguments.gain_rows, arguments.models, arguments.rounds)
    if arguments.part != "gain":
        growth(arguments.rows, arguments.models, arguments.memory)


if __name__ == "__main__":
    main()
