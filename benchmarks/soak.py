"""Predict in a loop, and watch the memory of the process.

    python benchmarks/soak.py [MINUTES]

Single rows and small tables go through `predict`, `predict_proba` and `check` of a loaded model,
among them cells that training did not have, different ones each time. Prints the resident memory
20 times; after the first tenth of the time it must not grow by more than a few megabytes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.load_test import make_model, megabytes
from granulearn.cli.export import rows_to_compare
from granulearn.models import LoadedModel

ALLOWED = 16.0
"""Megabytes by which memory may differ: what allocators keep."""


def main() -> None:
    """Run for some minutes; print, and fail if memory grew."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with tempfile.TemporaryDirectory() as folder:
        sizes, n_calls = soak(make_model(Path(folder)), 60 * minutes, tell=print)
    settled = sizes[len(sizes) // 10 :]
    growth = max(settled) - settled[0]
    print(
        f"{n_calls} calls in {minutes:g} minutes; memory {settled[0]:.1f} MB, then at most "
        f"{growth:.1f} MB more, and {sizes[-1]:.1f} MB at the end"
    )
    if growth > ALLOWED:
        raise SystemExit("memory grew")


def soak(model: LoadedModel, seconds: float, tell=lambda said: None) -> tuple[list[float], int]:
    """Return the memory after each of 20 stretches of time, and how many calls were made."""
    rows = rows_to_compare(model).astype(object)
    records = [
        {name: None if cell != cell else cell for name, cell in row.items()}
        for row in rows.to_dict("records")
    ]
    text = next(card.name for card in model.card.columns if card.kind == "category")
    random, sizes, n_calls = np.random.default_rng(0), [], 0
    for stretch in range(20):
        end = time.monotonic() + seconds / 20
        while time.monotonic() < end:
            row = records[int(random.integers(len(records)))]
            model.predict_proba(row, warn=False)
            model.predict(row | {text: f"new {n_calls}"}, warn=False)
            if n_calls % 300 == 0:
                model.check(rows)
                model.predict_proba(rows, warn=False)
            n_calls += 2
        sizes.append(megabytes(os.getpid()))
        tell(f"{(stretch + 1) * seconds / 20:7.0f} s {n_calls:9d} calls {sizes[-1]:8.1f} MB")
    return sizes, n_calls


if __name__ == "__main__":
    main()
