"""Speed of these sources against those of another checkout, in turns.

    python benchmarks/against.py OTHER/src

Each runs in a process of its own. Processor time on one thread, the least of several rounds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time

ROUNDS = 5
SIZES = (10_000, 100_000)
TASKS = ("balls", "forest fit", "forest predict", "audit", "neighbours")


def tasks_of(n_rows: int) -> dict[str, Callable[[], object]]:
    """Return what is measured on a table of two classes and 20 columns."""
    from sklearn.datasets import make_classification

    from granulearn import BallForestClassifier, audit_labels, generate_balls
    from granulearn.utils.neighbors import nearest_others

    X, y = make_classification(n_rows, 20, n_informative=8, flip_y=0.1, random_state=0)
    forest = BallForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    tasks = (
        lambda: generate_balls(X, y, random_state=0),
        lambda: BallForestClassifier(n_estimators=20, random_state=0).fit(X, y),
        lambda: forest.predict(X),
        lambda: audit_labels(X, y, random_state=0),
        lambda: nearest_others(X[:, :4], 3),
    )
    return dict(zip(TASKS, tasks, strict=True))


def answer() -> None:
    """Print the seconds of each task that is named on standard input."""
    warnings.simplefilter("ignore")
    tasks = {n_rows: tasks_of(n_rows) for n_rows in SIZES}
    for line in sys.stdin:
        n_rows, name = line.rstrip("\n").split(" ", 1)
        task = tasks[int(n_rows)][name]
        begin = process_time()
        task()
        print(process_time() - begin, flush=True)


def started(sources: Path) -> subprocess.Popen[str]:
    """Start a process that computes with these sources."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, __file__, "--answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=os.environ | threads | {"PYTHONPATH": str(sources)}, text=True,
    )  # fmt: skip


def seconds(process: subprocess.Popen[str], n_rows: int, name: str) -> float:
    """Return what one run of a task takes a process."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{n_rows} {name}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main() -> None:
    """Measure in turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", nargs="?", type=Path, default="src", help="another folder src")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.answer:
        answer()
        return
    ours, theirs = started(Path(__file__).resolve().parents[1] / "src"), started(asked.other)
    print("| task | rows | ours, ms | theirs, ms | ratio |\n|---|---|---|---|---|", flush=True)
    for n_rows in SIZES:
        for name in TASKS:
            # The first round loads what is not loaded yet.
            rounds = [
                (seconds(ours, n_rows, name), seconds(theirs, n_rows, name))
                for _ in range(ROUNDS + 1)
            ]
            a, b = (1000 * min(column) for column in zip(*rounds[1:], strict=True))
            print(f"| {name} | {n_rows:,} | {a:.1f} | {b:.1f} | {a / b:.2f} |", flush=True)
    for process in (ours, theirs):
        process.terminate()


if __name__ == "__main__":
    main()
